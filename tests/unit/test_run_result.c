/* SPDX-License-Identifier: BSD-3-Clause */
#include "run_result.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

static const char *expected = "jobs.run_rate = 67.6/s 2% \"a paper\"";

/* Exit status and text of a result with these balances and no expectations but the deck's. */
static int complain(const struct scenario_balance *balances, unsigned count, const struct summary_expectation *row,
                    bool strict, char *said, size_t size)
{
    g_autofree char *text = g_strconcat("[deck]\nformat = 1\n[system]\nkind = brokered\n[workload]\nsource = bulk\n"
                                        "[expect]\n", expected, "\n", NULL);
    g_autofree char *folder = g_dir_make_tmp("tiercel-test-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "x.deck", NULL);
    struct run_result result = {
        .balances = g_array_new(FALSE, FALSE, sizeof(struct scenario_balance)),
        .expectations = g_array_new(FALSE, FALSE, sizeof(struct summary_expectation))
    };
    struct deck_request request = { .path = path, .reader = { deck_file_read, NULL } };
    FILE *out = fmemopen(said, size, "w");

    CU_ASSERT_TRUE_FATAL(g_file_set_contents(path, text, -1, NULL));
    struct deck *deck = deck_load(&request);
    CU_ASSERT_EQUAL(deck_problem_count(deck), 0);
    g_array_append_vals(result.balances, balances, count);
    g_array_append_val(result.expectations, *row);
    int status = run_result_complain(&result, deck, strict, out);
    fclose(out);
    deck_free(deck);
    remove(path);
    remove(folder);
    g_array_free(result.balances, TRUE);
    g_array_free(result.expectations, TRUE);
    return status;
}

static const struct scenario_balance good = { "jobs", "submitted", "ended", 7, 7 };
static const struct scenario_balance bad = { "messages", "sent", "handled", 7, 6 };
static const struct summary_expectation met = { 67.6, 68, 68 / 67.6 - 1, true, true };
static const struct summary_expectation missed = { 67.6, 70, 70 / 67.6 - 1, false, true };
static const struct summary_expectation incomparable = { 67.6, 70, 70 / 67.6 - 1, false, false };

static void test_good(void)
{
    char said[1000] = "";

    CU_ASSERT_EQUAL(complain(&good, 1, &met, true, said, sizeof said), TIERCEL_OK);
    CU_ASSERT_STRING_EQUAL(said, "");
    CU_ASSERT_EQUAL(complain(&good, 1, &missed, false, said, sizeof said), TIERCEL_OK);
    CU_ASSERT_EQUAL(complain(&good, 1, &incomparable, true, said, sizeof said), TIERCEL_OK);
    CU_ASSERT_STRING_EQUAL(said, "");
}

static void test_balance(void)
{
    struct scenario_balance both[] = { bad, good };
    char said[1000] = "";

    CU_ASSERT_EQUAL(complain(both, 2, &met, false, said, sizeof said), TIERCEL_ERROR_BALANCE);
    CU_ASSERT_STRING_EQUAL(said, "tiercel: balance messages does not hold: sent 7, handled 6\n");
}

static void test_expectation(void)
{
    char said[1000] = "";

    CU_ASSERT_EQUAL(complain(&good, 1, &missed, true, said, sizeof said), TIERCEL_ERROR_BALANCE);
    CU_ASSERT_STRING_EQUAL(said,
                           "tiercel: expected jobs.run_rate = 67.6/s within 2% (a paper): 70/s, +3.55%: missed\n");
}

static void test_expected_nothing(void)
{
    const struct summary_expectation some = { 0, 12, 12, false, true };
    char said[1000] = "";

    expected = "jobs.failed = 0 0% \"a paper\"";
    CU_ASSERT_EQUAL(complain(&good, 1, &some, true, said, sizeof said), TIERCEL_ERROR_BALANCE);
    CU_ASSERT_STRING_EQUAL(said, "tiercel: expected jobs.failed = 0 (a paper): 12: missed\n");
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "what holds is not spoken of", test_good },
        { "a balance that does not hold is status 3", test_balance },
        { "a missed expectation is one when strict", test_expectation },
        { "what is off from nothing has no percentage", test_expected_nothing },
        { NULL, NULL }
    };
    return suite_run("run_result", tests);
}
