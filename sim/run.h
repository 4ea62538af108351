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

struct deck;
struct options;
struct scenario;
struct share;

/* The deck must be without problems. Collective; returns the exit status, the same on all processes. */
int run_deck(const struct deck *deck, const struct scenario *scenario, const struct options *options,
             const char *command_line, struct share *share);

#endif
