/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trial: one run among many, of a deck with overrides and a seed, played quietly by one process alone; its figures
 * are the summary. What commands that run decks many times (compare, fit, sweep) are made of.
 *
 *     struct trial_request request = { .deck = "inputs/x.deck", .settings = ..., .setting_count = ... };
 *     if (!trial_check(&request, share, &status)) return status;          all problems of the deck, printed once
 *     trial_begin(&round, share, count, "compare", progress_s);
 *     while (trial_next(&round, &i)) {                                    trials i of this process
 *         request.seed = first + i;
 *         summary = trial_run(&request, &error);
 *         if (summary == NULL) break;
 *         summary_lookup(summary, "jobs.run_rate", &values[i], NULL);
 *     }
 *     if (!trial_end(&round, error, values, count, &joint)) ...           all values on all processes, or one error
 *
 * The same deck, settings and seed give the same figures whichever process plays them, so results do not depend on the
 * number of processes.
 */
#ifndef TIERCEL_TRIAL_H
#define TIERCEL_TRIAL_H

#include <stdint.h>

#include "deck.h"
#include "progress.h"
#include "share.h"
#include "trace/summary.h"

struct trial_request {
    const char *deck;               /* a path, or the name of an installed deck */
    const struct deck_setting *settings;
    unsigned setting_count;
    bool seeded;                    /* with `seed` instead of the deck's */
    uint64_t seed;
    bool test;                      /* apply [test] */
    bool swept;                     /* the deck may have a [sweep], whose values are among the settings */
    const char *folder;             /* receives trace, summary and effective deck, as that of a run; must not be there
                                     * yet. NULL: nothing is written */
    const char *command_line;       /* for the trace; NULL without a folder */
    const struct deck_reader *reader;   /* NULL: files as they are now */
};

/*
 * Reads the deck as a trial would. TRUE on all processes, or FALSE with the exit status (INPUT), after process 0
 * has said on stderr what is wrong. Collective.
 */
gboolean trial_check(const struct trial_request *request, struct share *share, int *status);

/*
 * Reads and plays the deck on this process alone, whatever the others do. The summary is the caller's (summary_free).
 * NULL with *error: the deck has problems (INPUT, all of them), the run failed (RUNTIME), what it leaves in its folder
 * could not be written (RUN_UNWRITTEN, run.h), a balance does not hold (BALANCE), or a signal asked for the end
 * (STOPPED). Local.
 */
struct summary *trial_run(const struct trial_request *request, GError **error);

/* The deck as a trial would have it, not yet checked for problems; never NULL. Collective: process 0 reads the files,
 * so that all have the same. */
struct deck *trial_deck(const struct trial_request *request, struct share *share);

/* --- many trials, shared out over the processes --- */

struct trial_round {
    struct share *share;
    unsigned count;
    unsigned next;
    struct progress progress;
    const char *what;
};

/* Trials 0 .. count - 1; every process-th is this process's. `what` names the command in progress lines on stderr, of
 * which process 0 prints one every `progress_s` seconds (0: none). Local. */
void trial_begin(struct trial_round *round, struct share *share, unsigned count, const char *what, int64_t progress_s);
bool trial_next(struct trial_round *round, unsigned *trial);

/*
 * Ends a round. `local` is this process's error or NULL, and is taken over. `values`, `value_count` of them, hold 0
 * where another process has a number; all processes leave with all of them. FALSE on all with the first failing
 * process's error. Collective.
 */
gboolean trial_end(struct trial_round *round, GError *local, double *values, size_t value_count, GError **error);

#endif
