/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tiercel run`: one deck from its scenario to its results.
 *
 * The engine plays the scenario; what it observes goes to the trace; the merged figures become the summary, the
 * balances are checked, process 0 prints. While it runs, process 0 writes progress lines to stderr; signals and the
 * wall limit are looked at between windows, and all processes act on them in the same window (signals.h).
 *
 * A run with too little work for its processes (run.spread = auto) is begun again on half of them, as often as needed;
 * the others sleep until the end.
 */
#ifndef TIERCEL_RUN_H
#define TIERCEL_RUN_H

#include "base/error.h"

/* The code of an error of run_keep: the run was well, and what it leaves could not be written. It is no exit status. */
enum { RUN_UNWRITTEN = 101 };

struct deck;
struct options;
struct run_result;
struct scenario;
struct share;

/* The deck must be without problems. Collective; returns the exit status, the same on all processes. */
int run_deck(const struct deck *deck, const struct scenario *scenario, const struct options *options,
             const char *command_line, struct share *share);

/*
 * The same for one of many runs in one program (trial.h): nothing is printed, and the result is the caller's
 * (run_result_release). With a folder, which must not be there yet, it receives what a run leaves; with NULL nothing is
 * written. FALSE with *error when the run failed (RUNTIME), what it leaves in the folder could not be written
 * (RUN_UNWRITTEN, whatever the run was like) or a signal stopped it (STOPPED). The share is one process alone.
 */
gboolean run_keep(const struct deck *deck, const struct scenario *scenario, const char *folder,
                  const char *command_line, struct share *share, struct run_result *result, GError **error);

#endif
