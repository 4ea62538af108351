/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "trial.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "installed.h"
#include "run.h"
#include "run_result.h"
#include "scenario.h"
#include "signals.h"

/* --- one trial --- */

static struct deck *load(const struct trial_request *request, const struct deck_reader *reader)
{
    GArray *settings = g_array_new(FALSE, FALSE, sizeof(struct deck_setting));
    g_autofree char *where = g_strdup_printf("--seed %" G_GUINT64_FORMAT, request->seed);
    g_autofree char *assignment = g_strdup_printf("run.seed=%" G_GUINT64_FORMAT, request->seed);
    struct deck_setting seed = { where, assignment };

    if (request->setting_count > 0)
        g_array_append_vals(settings, request->settings, request->setting_count);
    if (request->seeded)
        g_array_append_val(settings, seed);
    struct deck_request deck_request = {
        .path = request->deck,
        .installed_dir = installed_inputs(),
        .settings = (const struct deck_setting *)settings->data,
        .setting_count = settings->len,
        .test = request->test,
        .reader = *reader
    };
    struct deck *deck = deck_load(&deck_request);
    g_array_free(settings, TRUE);
    if (request->swept)
        deck_drop_sweep(deck);
    deck_refuse_sweep(deck);
    if (deck_problem_count(deck) == 0 && deck_is_live(deck))
        deck_complain(deck, "run", "clock", "'live' plays a deck once, by real processes, and this plays it many "
                      "times, each time on one; expected virtual");
    return deck;
}

struct deck *trial_deck(const struct trial_request *request, struct share *share)
{
    const struct deck_reader joint = { share_read, share };

    return load(request, request->reader != NULL ? request->reader : &joint);
}

gboolean trial_check(const struct trial_request *request, struct share *share, int *status)
{
    struct deck *deck = trial_deck(request, share);
    struct scenario *scenario = scenario_new(deck, share);
    unsigned count = deck_problem_count(deck);

    if (share->process == 0)
        deck_print_problems(deck, "nothing was run", stderr);
    scenario_free(scenario);
    deck_free(deck);
    *status = count == 0 ? TIERCEL_OK : TIERCEL_ERROR_INPUT;
    return count == 0;
}

/* The result's summary, or the first balance that does not hold. */
static struct summary *judge(struct run_result *result, const struct deck *deck, GError **error)
{
    for (unsigned i = 0; i < result->balances->len; i++) {
        const struct scenario_balance *b = &g_array_index(result->balances, struct scenario_balance, i);
        if (b->left == b->right)
            continue;
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_BALANCE, "%s with seed %" G_GINT64_FORMAT ": balance %s does "
                    "not hold: %s %" G_GUINT64_FORMAT ", %s %" G_GUINT64_FORMAT, deck_path(deck),
                    deck_integer(deck, "run", "seed"), b->name, b->left_text, b->left, b->right_text, b->right);
        return NULL;
    }
    return g_steal_pointer(&result->summary);
}

struct summary *trial_run(const struct trial_request *request, GError **error)
{
    const struct deck_reader plain = { deck_file_read, NULL };
    struct deck *deck = load(request, request->reader != NULL ? request->reader : &plain);
    struct summary *summary = NULL;
    struct run_result result;
    struct share alone;

    share_init(&alone, MPI_COMM_SELF);
    struct scenario *scenario = scenario_new(deck, &alone);
    if (deck_problem_count(deck) > 0) {
        g_autofree char *text = deck_problems_text(deck);
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s", g_strchomp(text));
    } else if (run_keep(deck, scenario, request->folder, request->command_line, &alone, &result, error)) {
        summary = judge(&result, deck, error);
        run_result_release(&result);
    } else {
        g_prefix_error(error, "%s: ", deck_path(deck));
    }
    scenario_free(scenario);
    share_release(&alone);
    deck_free(deck);
    return summary;
}

/* --- many --- */

void trial_begin(struct trial_round *round, struct share *share, unsigned count, const char *what, int64_t progress_s)
{
    *round = (struct trial_round){
        .share = share, .count = count, .next = (unsigned)share->process, .what = what
    };
    progress_begin(&round->progress, progress_s);
    signals_watch();                    /* a signal ends the run that it meets, and with it the round */
}

static void tell(struct trial_round *round)
{
    unsigned stride = (unsigned)round->share->processes;

    if (round->share->process != 0 || !progress_due(&round->progress))
        return;
    fprintf(stderr, "tiercel: %s: %u of %u runs of process 0, after %.0f s\n", round->what, round->next / stride,
            (round->count + stride - 1) / stride, progress_elapsed_s(&round->progress));
    fflush(stderr);
}

bool trial_next(struct trial_round *round, unsigned *trial)
{
    tell(round);
    if (round->next >= round->count)
        return false;
    *trial = round->next;
    round->next += (unsigned)round->share->processes;
    return true;
}

gboolean trial_end(struct trial_round *round, GError *local, double *values, size_t value_count, GError **error)
{
    signals_unwatch();
    if (!share_agree(round->share, local, error))
        return FALSE;
    g_assert(value_count < INT_MAX);
    if (value_count > 0)
        MPI_Allreduce(MPI_IN_PLACE, values, (int)value_count, MPI_DOUBLE, MPI_SUM, round->share->comm);
    return TRUE;
}
