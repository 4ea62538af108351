/* SPDX-License-Identifier: BSD-3-Clause */
/* The points of [sweep], the folder of a sweep with its claims, and the table of results. */
#include "sweep_states.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "deck.h"
#include "scratch.h"
#include "suite.h"
#include "trace/results.h"
#include "trace/summary.h"

/* --- [sweep] --- */

#define HEAD "[deck]\nformat = 1\n[system]\nkind = brokered\n[workload]\nsource = bulk\n"

static GBytes *read_text(void *data, const char *path, GError **error)
{
    if (strcmp(path, "decks/x.deck") == 0)
        return g_bytes_new_static(data, strlen(data));
    g_set_error(error, TIERCEL_ERROR, DECK_READ_ABSENT, "cannot be read");
    return NULL;
}

static struct deck *load(const char *text)
{
    struct deck_request request = { .path = "decks/x.deck", .reader = { read_text, (char *)text } };

    return deck_load(&request);
}

static void expect_values(const char *entry, const char *expected)
{
    g_autofree char *text = g_strdup_printf(HEAD "[sweep]\n%s\n", entry);
    struct deck *deck = load(text);
    GString *values = g_string_new(NULL);
    g_autofree char *problems = deck_problems_text(deck);

    CU_ASSERT_STRING_EQUAL(problems, "");
    for (unsigned i = 0; i < deck_axis_values(deck, 0); i++)
        g_string_append_printf(values, "%s%s", i == 0 ? "" : " ", deck_axis_value(deck, 0, i));
    CU_ASSERT_STRING_EQUAL(values->str, expected);
    CU_ASSERT_EQUAL(deck_sweep_points(deck), deck_axis_values(deck, 0));
    g_string_free(values, TRUE);
    deck_free(deck);
}

static void test_values(void)
{
    expect_values("cluster.nodes = 3", "3");
    expect_values("cluster.nodes = 1; 2 ;  7", "1 2 7");
    expect_values("cluster.nodes = 1..4", "1 2 3 4");
    expect_values("cluster.nodes = 1..100 *10", "1 10 100");
    expect_values("cluster.nodes = 2..20 *3", "2 6 18");
    expect_values("cluster.nodes = 5..16 +5", "5 10 15");
    expect_values("cluster.nodes = 7..7 *2", "7");
    expect_values("cluster.nodes = 1; 16..64 *2; 100..104 +2", "1 16 32 64 100 102 104");
    expect_values("network.hop-latency = 1us..1ms *10", "1us 10us 100us 1ms");
    expect_values("network.hop-latency = 1500ns..3us +500ns", "1500ns 2us 2500ns 3us");
    expect_values("events.scheme = v0.16; pr2792", "v0.16 pr2792");
    expect_values("workload.dir = a; /b", "decks/a /b");
    expect_values("workload.jobs = 999999999998..999999999999", "999999999998 999999999999");
}

static void expect_point(const struct deck *deck, unsigned point, const char *a, const char *b, const char *c,
                         unsigned repeat)
{
    CU_ASSERT_STRING_EQUAL(deck_point_value(deck, 0, point), a);
    CU_ASSERT_STRING_EQUAL(deck_point_value(deck, 1, point), b);
    CU_ASSERT_STRING_EQUAL(deck_point_value(deck, 2, point), c);
    CU_ASSERT_EQUAL(deck_point_repeat(deck, point), repeat);
}

static void test_product(void)
{
    struct deck *deck = load(HEAD "[sweep]\ncluster.nodes = 1; 2\ncluster.fanout = 2; 3; 4\nworkload.jobs = 5; 6\n"
                             "repeats = 2\n");

    CU_ASSERT_EQUAL_FATAL(deck_sweep_points(deck), 24);
    expect_point(deck, 0, "1", "2", "5", 0);
    expect_point(deck, 1, "1", "2", "5", 1);
    expect_point(deck, 2, "1", "2", "6", 0);
    expect_point(deck, 4, "1", "3", "5", 0);
    expect_point(deck, 12, "2", "2", "5", 0);
    expect_point(deck, 23, "2", "4", "6", 1);
    deck_free(deck);
    /* Keys that go on together, whatever their order in the list. */
    deck = load(HEAD "[sweep]\ncluster.nodes = 1; 2\ncluster.fanout = 2; 3; 4\nworkload.jobs = 5; 6\n"
                "zip = workload.jobs, cluster.nodes\n");
    CU_ASSERT_EQUAL_FATAL(deck_sweep_points(deck), 6);
    expect_point(deck, 0, "1", "2", "5", 0);
    expect_point(deck, 1, "1", "3", "5", 0);
    expect_point(deck, 3, "2", "2", "6", 0);
    expect_point(deck, 5, "2", "4", "6", 0);
    deck_free(deck);
    deck = load(HEAD "[sweep]\nrepeats = 3\n");
    CU_ASSERT_EQUAL(deck_sweep_points(deck), 3);
    CU_ASSERT_EQUAL(deck_point_repeat(deck, 2), 2);
    deck_drop_sweep(deck);
    deck_refuse_sweep(deck);
    CU_ASSERT_EQUAL(deck_problem_count(deck), 0);
    deck_free(deck);
    deck = load(HEAD);
    CU_ASSERT_EQUAL(deck_sweep_points(deck), 0);
    deck_free(deck);
}

static void expect_refused(const char *entries, const char *expected)
{
    g_autofree char *text = g_strdup_printf(HEAD "[sweep]\n%s\n", entries);
    struct deck *deck = load(text);
    g_autofree char *problems = deck_problems_text(deck);

    CU_ASSERT_PTR_NOT_NULL(strstr(problems, expected));
    CU_ASSERT_EQUAL(deck_problem_count(deck), 1);
    if (strstr(problems, expected) == NULL || deck_problem_count(deck) != 1)
        printf("\n%s", problems);
    deck_free(deck);
}

static void test_refused(void)
{
    expect_refused("cluster.nodes = 1; ; 2", "decks/x.deck:8: [sweep] cluster.nodes: ''");
    expect_refused("workload.jobs = 1..1000000", "has more than 100000 values");
    expect_refused("workload.jobs = 1..1000\ncluster.nodes = 1..1000", "has 1000000 points; expected at most 100000");
    expect_refused("network.hop-latency = 1us..5us", "it has no step (+STEP or *FACTOR)");
    expect_refused("network.hop-latency = 1us..5us +2", "its step is not +STEP or *FACTOR");
    expect_refused("network.hop-latency = 0s..5us *2", "begins at 1 or above");
    expect_refused("cluster.nodes = 1..5 +0", "its step is 0");
    expect_refused("repeats = 0", "[sweep] repeats: '0' is not in its range");
    expect_refused("repeats = many", "[sweep] repeats: 'many' is not a count");
    expect_refused("run.seed = 1; 2\nrepeats = 2", "[sweep] run.seed: has values of its own");
    expect_refused("cluster.nodes = 1; 2\ncluster.fanout = 2; 3; 4\nzip = cluster.nodes, cluster.fanout",
                   "'cluster.fanout' has 3 values and 'cluster.nodes' 2");
    expect_refused("cluster.nodes = 1; 2\nzip = cluster.nodes", "is not a list of keys");
    expect_refused("cluster.nodes = 1; 2\nzip = cluster.nodes, cluster.fanout",
                   "'cluster.fanout' is not a key of this [sweep]");
    expect_refused("cluster.nodes = 1; 2\nworkload.jobs = 1; 2\nzip = cluster.nodes, workload.jobs, cluster.nodes",
                   "'cluster.nodes' stands there twice");
    expect_refused("deck.format = 1", "can only stand in a deck");
    expect_refused("test.nodes = 1", "can only stand in a deck");
}

/* --- the folder --- */

static char *scratch;

static void open_folder(struct sweep_folder *folder, const char *name)
{
    g_autofree char *path = g_build_filename(scratch, name, NULL);
    GError *error = NULL;

    CU_ASSERT_TRUE_FATAL(sweep_folder_open(folder, path, "# a sweep\nthis = 1\n", false, &error));
    CU_ASSERT_PTR_NULL(error);
    sweep_folder_introduce(folder, "1a", 1);
}

static enum sweep_outcome claim_point(const struct sweep_folder *folder, unsigned point, bool retry,
                                      struct sweep_claim *claim)
{
    GError *error = NULL;
    enum sweep_outcome outcome = sweep_folder_claim(folder, point, retry, claim, &error);

    CU_ASSERT_PTR_NULL(error);
    return outcome;
}

static void write_part(const struct sweep_claim *claim)
{
    g_autofree char *file = g_build_filename(claim->part, "summary.json", NULL);

    CU_ASSERT_EQUAL(g_mkdir(claim->part, 0777), 0);
    CU_ASSERT_TRUE(g_file_set_contents(file, "{}\n", -1, NULL));
}

/* Another process: its exit status is what the claim came to. With `die` it dies while it holds the claim. */
static int outcome_elsewhere(const struct sweep_folder *folder, unsigned point, bool retry, bool die)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        struct sweep_claim claim;
        enum sweep_outcome outcome = sweep_folder_claim(folder, point, retry, &claim, NULL);
        if (outcome == SWEEP_CLAIMED && die)
            g_mkdir(claim.part, 0777);
        else if (outcome == SWEEP_CLAIMED)
            sweep_claim_release(&claim);
        _exit((int)outcome);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static unsigned settled(const struct sweep_folder *folder)
{
    struct sweep_states states;

    sweep_states_init(&states, folder, 8);
    unsigned count = states.done + states.failed;
    CU_ASSERT_EQUAL(states.open, 8 - count);
    sweep_states_release(&states);
    return count;
}

static void test_claims(void)
{
    struct sweep_folder folder;
    struct sweep_claim claim;

    open_folder(&folder, "claims");
    CU_ASSERT_EQUAL(sweep_folder_state(&folder, 0), SWEEP_OPEN);
    CU_ASSERT_EQUAL_FATAL(claim_point(&folder, 0, false, &claim), SWEEP_CLAIMED);
    CU_ASSERT_EQUAL(outcome_elsewhere(&folder, 0, false, false), SWEEP_BUSY);
    CU_ASSERT_EQUAL(outcome_elsewhere(&folder, 0, true, false), SWEEP_BUSY);
    CU_ASSERT_EQUAL(outcome_elsewhere(&folder, 1, false, false), SWEEP_CLAIMED);
    write_part(&claim);
    CU_ASSERT_EQUAL(sweep_folder_state(&folder, 0), SWEEP_OPEN);
    CU_ASSERT_TRUE(sweep_claim_finish(&folder, &claim, NULL));
    CU_ASSERT_EQUAL(sweep_folder_state(&folder, 0), SWEEP_DONE);
    g_autofree char *stale = g_build_filename(folder.path, "points", "00001.claim", NULL);
    CU_ASSERT_TRUE(g_file_set_contents(stale, "process 1\n", -1, NULL));
    CU_ASSERT_EQUAL(outcome_elsewhere(&folder, 0, true, false), SWEEP_SETTLED);
    CU_ASSERT_NOT_EQUAL(g_access(stale, F_OK), 0);
    /* One that was let go of is as if it had never been begun. */
    CU_ASSERT_EQUAL_FATAL(claim_point(&folder, 1, false, &claim), SWEEP_CLAIMED);
    write_part(&claim);
    sweep_claim_release(&claim);
    CU_ASSERT_EQUAL_FATAL(claim_point(&folder, 1, false, &claim), SWEEP_CLAIMED);
    CU_ASSERT_EQUAL(claim.before, 0);
    CU_ASSERT_NOT_EQUAL(g_access(claim.part, F_OK), 0);
    CU_ASSERT_TRUE(sweep_claim_fail(&folder, &claim, "it was wrong", NULL));
    CU_ASSERT_EQUAL(sweep_folder_state(&folder, 1), SWEEP_FAILED);
    CU_ASSERT_EQUAL(claim_point(&folder, 1, true, &claim), SWEEP_SETTLED);
    g_autofree char *reason = sweep_folder_reason(&folder, 1);
    CU_ASSERT_STRING_EQUAL(reason, "it was wrong");
    CU_ASSERT_EQUAL(settled(&folder), 2);
    sweep_folder_retry(&folder, 1);
    CU_ASSERT_EQUAL(sweep_folder_state(&folder, 1), SWEEP_OPEN);
    sweep_folder_release(&folder);
}

static void test_deaths(void)
{
    struct sweep_folder folder;
    struct sweep_claim claim;

    open_folder(&folder, "deaths");
    CU_ASSERT_EQUAL(outcome_elsewhere(&folder, 3, false, true), SWEEP_CLAIMED);
    CU_ASSERT_EQUAL(claim_point(&folder, 3, false, &claim), SWEEP_INTERRUPTED);
    CU_ASSERT_EQUAL_FATAL(claim_point(&folder, 3, true, &claim), SWEEP_CLAIMED);
    CU_ASSERT(claim.before > 0);
    CU_ASSERT_NOT_EQUAL(g_access(claim.part, F_OK), 0);
    sweep_claim_release(&claim);
    /* The process that died is not forgotten. */
    CU_ASSERT_EQUAL(claim_point(&folder, 3, false, &claim), SWEEP_INTERRUPTED);
    CU_ASSERT_EQUAL(outcome_elsewhere(&folder, 3, true, true), SWEEP_CLAIMED);
    CU_ASSERT_EQUAL(sweep_folder_state(&folder, 3), SWEEP_OPEN);
    CU_ASSERT_EQUAL(claim_point(&folder, 3, true, &claim), SWEEP_SETTLED);
    CU_ASSERT_EQUAL(sweep_folder_state(&folder, 3), SWEEP_FAILED);
    g_autofree char *reason = sweep_folder_reason(&folder, 3);
    CU_ASSERT_STRING_EQUAL(reason, "its process died twice while it played this point");
    sweep_folder_release(&folder);
}

/* Processes of one command, of which so many die while they play a point each. */
static void die_together(const char *name, unsigned processes, unsigned dead, enum sweep_outcome expected)
{
    g_autofree char *path = g_build_filename(scratch, name, NULL);
    struct sweep_folder folder;
    struct sweep_claim claim;

    for (unsigned time = 0; time < 3; time++) {
        g_autofree char *session = g_strdup_printf("%u", time);
        CU_ASSERT_TRUE_FATAL(sweep_folder_open(&folder, path, "# a sweep\n", false, NULL));
        sweep_folder_forgive(&folder);
        sweep_folder_introduce(&folder, session, processes);
        for (unsigned point = 0; point < dead; point++)
            CU_ASSERT_EQUAL(outcome_elsewhere(&folder, point, true, true), time < 2 ? SWEEP_CLAIMED : expected);
        sweep_folder_release(&folder);
    }
    CU_ASSERT_TRUE_FATAL(sweep_folder_open(&folder, path, "# a sweep\n", false, NULL));
    sweep_folder_forgive(&folder);
    sweep_folder_introduce(&folder, "1a", 1);
    CU_ASSERT_EQUAL(claim_point(&folder, 0, false, &claim), expected);
    if (expected == SWEEP_CLAIMED)
        sweep_claim_release(&claim);
    sweep_folder_release(&folder);
}

static void test_killed_together(void)
{
    die_together("all", 3, 3, SWEEP_CLAIMED);
    die_together("two", 3, 2, SWEEP_SETTLED);
    die_together("alone", 1, 1, SWEEP_SETTLED);
}

/* What may stand in the folder, however it came there. */
static void test_states(void)
{
    static const char *const names[] = { "00001", "00001.claim", "00001.failed", "00002.failed", "00003.claim",
                                         "00003.part", "00004.failed", "00005", "00008", "00000", "notes" };
    static const enum sweep_state expected[] = { SWEEP_DONE, SWEEP_FAILED, SWEEP_OPEN, SWEEP_FAILED, SWEEP_DONE,
                                                 SWEEP_OPEN };
    struct sweep_folder folder;
    struct sweep_states states;

    open_folder(&folder, "states");
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder.path, "points", names[i], NULL);
        CU_ASSERT_TRUE(g_file_set_contents(path, "", -1, NULL));
    }
    sweep_states_init(&states, &folder, G_N_ELEMENTS(expected));
    for (unsigned point = 0; point < G_N_ELEMENTS(expected); point++) {
        CU_ASSERT_EQUAL(states.state[point], expected[point]);
        CU_ASSERT_EQUAL(states.state[point], sweep_folder_state(&folder, point));
        CU_ASSERT_EQUAL(states.claimed[point], point == 0 || point == 2);
    }
    CU_ASSERT_EQUAL(states.points, 6);
    CU_ASSERT_EQUAL(states.done, 2);
    CU_ASSERT_EQUAL(states.failed, 2);
    CU_ASSERT_EQUAL(states.open, 2);
    sweep_states_release(&states);
    sweep_states_release(&states);
    sweep_folder_release(&folder);
}

static gboolean try_open(const char *path, const char *identity, bool force, char **why)
{
    struct sweep_folder folder;
    GError *error = NULL;
    gboolean good = sweep_folder_open(&folder, path, identity, force, &error);

    *why = g_strdup(error == NULL ? "" : error->message);
    CU_ASSERT_EQUAL(good, error == NULL);
    g_clear_error(&error);
    sweep_folder_release(&folder);
    return good;
}

static void expect_open(const char *path, const char *identity, bool force, const char *expected)
{
    g_autofree char *why = NULL;

    CU_ASSERT_EQUAL(try_open(path, identity, force, &why), *expected == '\0');
    CU_ASSERT_PTR_NOT_NULL(strstr(why, expected));
}

static void test_folders(void)
{
    g_autofree char *path = g_build_filename(scratch, "folders", NULL);
    g_autofree char *stranger = g_build_filename(path, "thesis.tex", NULL);
    g_autofree char *run = g_build_filename(scratch, "run", NULL);
    g_autofree char *trace = g_build_filename(run, "trace.h5", NULL);
    struct sweep_folder folder;
    struct sweep_claim claim;

    expect_open(path, "# a sweep\n# from here\nthis = 1\n", false, "");
    expect_open(path, "# a sweep\n\n# from there\nthis = 1\n", false, "");
    expect_open(path, "# a sweep\nthis = 2\n", false, "this is '1' there and '2' here");
    expect_open(path, "# another\nthis = 1\n", false, "another version of tiercel began it");
    expect_open(path, "# a sweep, files\nthis = 1\n", false, "the files of its workload have other contents");
    expect_open(path, "# another\n[deck]\ncomparable = false\n[a]\nthis = 1\n", false,
                "this is '1' there and not stated here");
    open_folder(&folder, "folders");
    CU_ASSERT_EQUAL_FATAL(claim_point(&folder, 0, false, &claim), SWEEP_CLAIMED);
    write_part(&claim);
    CU_ASSERT_TRUE(sweep_claim_finish(&folder, &claim, NULL));
    CU_ASSERT_EQUAL_FATAL(claim_point(&folder, 1, false, &claim), SWEEP_CLAIMED);
    expect_open(path, "# a sweep\nthis = 2\n", true, "is at work in another process");
    CU_ASSERT_EQUAL(settled(&folder), 1);
    sweep_claim_release(&claim);
    sweep_folder_release(&folder);
    CU_ASSERT_TRUE(g_file_set_contents(stranger, "", -1, NULL));
    expect_open(path, "# a sweep\nthis = 1\n", false, "");
    expect_open(path, "# a sweep\nthis = 2\n", true, "holds 'thesis.tex', which is not of a sweep");
    g_unlink(stranger);
    expect_open(path, "# a sweep\nthis = 2\n", true, "");
    open_folder(&folder, "other");
    CU_ASSERT_EQUAL(settled(&folder), 0);
    sweep_folder_release(&folder);
    g_mkdir(run, 0777);
    CU_ASSERT_TRUE(g_file_set_contents(trace, "", -1, NULL));
    expect_open(run, "# a sweep\n", true, "holds 'trace.h5'");
    expect_open(trace, "# a sweep\n", true, "cannot be made");
}

/* --- the table --- */

static void test_table(void)
{
    g_autofree char *path = g_build_filename(scratch, "results.tsv", NULL);
    g_autofree char *hdf5 = g_build_filename(scratch, "results.h5", NULL);
    g_autofree char *again = g_build_filename(scratch, "again.h5", NULL);
    g_autofree char *nowhere = g_build_filename(scratch, "nowhere", "results.h5", NULL);
    struct results *r = results_new("a title", "1.0", 2);
    unsigned nodes = results_column(r, RESULTS_PARAMETERS, "cluster.nodes", false, "1", "nodes");
    unsigned rate = results_column(r, RESULTS_RESULTS, "jobs.run_rate", false, "1/s", "rate");
    unsigned digest = results_column(r, RESULTS_RESULTS, "run.digest", true, "1", "digest");
    g_autofree char *text = NULL;
    char *first = NULL;
    char *second = NULL;
    size_t first_size = 0;
    size_t second_size = 0;
    GError *error = NULL;

    CU_ASSERT_EQUAL(results_find(r, "jobs.run_rate"), (int)rate);
    CU_ASSERT_EQUAL(results_find(r, "jobs"), -1);
    results_number(r, nodes, 0, 16);
    results_number(r, nodes, 1, 1024);
    results_number(r, rate, 1, 0.1);
    results_text(r, digest, 0, "a\tb\nc");
    CU_ASSERT_TRUE(results_write_tsv(r, path, NULL));
    g_file_get_contents(path, &text, NULL, NULL);
    CU_ASSERT_STRING_EQUAL(text, "cluster.nodes\tjobs.run_rate\trun.digest\n16\t\ta b c\n1024\t0.1\t\n");
    CU_ASSERT_TRUE(results_write_hdf5(r, hdf5, NULL));
    sleep(1);                       /* HDF5 counts times in seconds */
    CU_ASSERT_TRUE(results_write_hdf5(r, again, NULL));
    g_file_get_contents(hdf5, &first, &first_size, NULL);
    g_file_get_contents(again, &second, &second_size, NULL);
    CU_ASSERT_TRUE(first_size > 0 && first_size == second_size && memcmp(first, second, first_size) == 0);
    CU_ASSERT_FALSE(results_write_hdf5(r, nowhere, &error));
    CU_ASSERT_TRUE(g_error_matches(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME));
    g_clear_error(&error);
    results_free(r);
    g_free(first);
    g_free(second);
}

static void test_units(void)
{
    CU_ASSERT_STRING_EQUAL(summary_key_unit("jobs.run_rate"), "1/s");
    CU_ASSERT_STRING_EQUAL(summary_key_unit("stages.alloc.p99_s"), "s");
    CU_ASSERT_STRING_EQUAL(summary_key_unit("io.bandwidth_bytes_per_s"), "B/s");
    CU_ASSERT_STRING_EQUAL(summary_key_unit("files.a.mib_per_s"), "MiB/s");
    CU_ASSERT_STRING_EQUAL(summary_key_unit("queueing.throughput_per_s"), "1/s");
    CU_ASSERT_STRING_EQUAL(summary_key_unit("io.bytes"), "B");
    CU_ASSERT_STRING_EQUAL(summary_key_unit("jobs.completed"), "1");
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "values are lists and ranges", test_values },
        { "points are the product of the keys", test_product },
        { "a sweep that makes no sense is refused", test_refused },
        { "a point is one process's", test_claims },
        { "one look tells the states of all points", test_states },
        { "a point whose process dies twice has failed", test_deaths },
        { "points are not blamed when all processes are killed", test_killed_together },
        { "a folder of something else is not touched", test_folders },
        { "the table has the same bytes each time", test_table },
        { "units follow from names", test_units },
        { NULL, NULL }
    };

    scratch = g_dir_make_tmp("tiercel-sweep-XXXXXX", NULL);
    int status = suite_run("sweep", tests);
    scratch_remove(scratch);
    g_free(scratch);
    return status;
}
