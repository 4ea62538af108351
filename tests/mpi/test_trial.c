/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many runs in one program, shared out over the processes: the figures are those of a run by itself whoever plays it,
 * an error of one process is the error of all, and nothing is written unless a folder is asked for.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "run.h"
#include "sweep_order.h"
#include "trial.h"

enum { TRIALS = 6, FIRST_SEED = 11 };

static struct share share;
static char *deck;
static int failures;

static void check(bool good, const char *what, const GError *error)
{
    if (!good) {
        failures++;
        printf("not ok - process %d of %d: %s%s%s\n", share.process, share.processes, what,
               error != NULL ? ": " : "", error != NULL ? error->message : "");
    } else if (share.process == 0) {
        printf("ok - %s\n", what);
    }
}

static void test_figures(void)
{
    struct trial_request request = { .deck = deck, .seeded = true, .test = true };
    double values[TRIALS] = { 0 };
    struct trial_round round;
    GError *local = NULL;
    GError *error = NULL;
    unsigned i;
    int status;

    check(trial_check(&request, &share, &status) && status == TIERCEL_OK, "a good deck passes", NULL);
    trial_begin(&round, &share, TRIALS, "test", 0);
    while (local == NULL && trial_next(&round, &i)) {
        request.seed = FIRST_SEED + i;
        struct summary *summary = trial_run(&request, &local);
        if (summary != NULL)
            summary_lookup(summary, "jobs.makespan_s", &values[i], &local);
        summary_free(summary);
    }
    bool good = trial_end(&round, local, values, TRIALS, &error);
    check(good, "all trials are played", error);
    for (i = 0; good && i < TRIALS; i++) {
        double alone = NAN;
        request.seed = FIRST_SEED + i;
        struct summary *summary = trial_run(&request, &error);
        if (summary != NULL)
            summary_lookup(summary, "jobs.makespan_s", &alone, NULL);
        check(alone == values[i] && alone > 0, "a trial has the figures of a run by itself", error);
        summary_free(summary);
    }
    check(values[0] != values[1], "another seed has other figures", NULL);
    check(g_access("runs", F_OK) != 0, "nothing was written", NULL);
}

static void test_error(void)
{
    static const struct deck_setting wrong[] = { { (char *)"--set a", (char *)"scheduler.queue-depth-limit=3" } };
    struct trial_request request = { .deck = deck, .test = true };
    struct trial_round round;
    GError *local = NULL;
    GError *error = NULL;
    unsigned i;

    /* Trial 2 fails: on one process of several. */
    trial_begin(&round, &share, TRIALS, "test", 0);
    while (local == NULL && trial_next(&round, &i)) {
        request.settings = wrong;
        request.setting_count = i == 2;
        summary_free(trial_run(&request, &local));
    }
    bool good = trial_end(&round, local, NULL, 0, &error);
    check(!good && error != NULL && error->code == TIERCEL_ERROR_INPUT &&
          strstr(error->message, "unknown key") != NULL, "one process's error is the error of all", error);
    g_clear_error(&error);
}

static void test_folder(const char *scratch)
{
    g_autofree char *name = g_strdup_printf("trial-%d", share.process);
    g_autofree char *folder = g_build_filename(scratch, name, NULL);
    struct trial_request request = { .deck = deck, .test = true, .folder = folder, .command_line = "test" };
    GError *error = NULL;
    struct summary *summary = trial_run(&request, &error);
    static const char *const files[] = { "trace.h5", "summary.json", "effective.deck" };

    check(summary != NULL, "a trial with a folder is played", error);
    summary_free(summary);
    g_clear_error(&error);
    summary = trial_run(&request, &error);
    check(summary == NULL && error->code == RUN_UNWRITTEN, "a folder that is there is not touched", error);
    g_clear_error(&error);
    g_autofree char *below_file = g_build_filename(folder, files[0], "run", NULL);
    request.folder = below_file;
    summary = trial_run(&request, &error);
    check(summary == NULL && error->code == RUN_UNWRITTEN, "what cannot be written is told from what cannot be run",
          error);
    g_clear_error(&error);
    for (unsigned i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = g_build_filename(folder, files[i], NULL);
        check(g_unlink(path) == 0, "it leaves what a run leaves", NULL);
    }
    g_rmdir(folder);
}

/* Longest first, where there is somebody to share with. */
static void test_order(const char *scratch)
{
    static const char text[] = "[deck]\nformat = 1\nbase = %s/tests/decks/tiny.deck\n"
                               "[sweep]\nworkload.jobs = 2; 16; 8\nrepeats = 2\n";
    static const unsigned longest_first[] = { 2, 3, 4, 5, 0, 1 };
    g_autofree char *swept = g_build_filename(scratch, "swept.deck", NULL);
    g_autofree char *content = g_strdup_printf(text, g_getenv("top_srcdir"));
    char *words[] = { (char *)"tiercel", (char *)"sweep", swept, NULL };
    struct sweep_folder nothing = { .path = (char *)scratch };
    struct options options;
    struct sweep_plan plan;
    GError *error = NULL;
    int status;

    if (share.process == 0)
        g_file_set_contents(swept, content, -1, NULL);
    check(options_parse(&options, 3, words, &error) && sweep_plan_init(&plan, &options, &share, &status),
          "a sweep is read", error);
    unsigned *order = sweep_order_new(&plan, &nothing, 0, 6, &share);
    for (unsigned i = 0; i < 6; i++)
        check(order[i] == (share.processes == 1 ? i : longest_first[i]), "a sweep begins with what takes longest",
              NULL);
    g_free(order);
    order = sweep_order_new(&plan, &nothing, 4, 5, &share);
    check(order[0] == 4, "one point is that point", NULL);
    g_free(order);
    sweep_plan_release(&plan);
    options_release(&options);
    if (share.process == 0)
        g_unlink(swept);
}

int main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;

    MPI_Init(&argc, &argv);
    share_init(&share, MPI_COMM_WORLD);
    g_autofree char *made = share.process == 0 ? g_dir_make_tmp("tiercel-trial-XXXXXX", &error) : NULL;
    g_autofree char *scratch = share_text(&share, made == NULL ? "" : made);
    if (*scratch == '\0' || chdir(scratch) != 0) {
        printf("not ok - no folder to write in\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    deck = g_build_filename(g_getenv("top_srcdir"), "inputs", "flux-counts.deck", NULL);
    test_figures();
    test_error();
    test_folder(scratch);
    test_order(scratch);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, share.comm);
    if (share.process == 0)
        g_rmdir(scratch);
    share_release(&share);
    g_free(deck);
    MPI_Finalize();
    return failures != 0;
}
