/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What limits the rate of a run, and what the rate would be if that part cost nothing.
 *
 *     struct rate_limits limits;
 *     rate_limits_init(&limits, steady, scenario, &run);
 *     rate_limits_summarise(&limits, summary);  rate_limits_print(&limits, verbose, stdout);
 *     rate_limits_release(&limits);
 *
 * Over the steady part of the run (steady.h) X jobs ended a second, and each thread k was busy for the share U_k of
 * the time: a job demands D_k = U_k / X of it (the utilisation law). No thread can work for more than all of the
 * time, so X <= 1 / D_k for every k. A pool of c things, each of which a job holds for R seconds if it never waits,
 * allows at most c / R. Part i costing nothing, its own bound is gone and what it does within R takes no time; the
 * least of the other bounds is left:
 *
 *     rate_if_free(i) = min( 1 / D_k for all k of other roles,  c / (R - R_i) for all other pools )
 *
 * These are the asymptotic bounds of operational analysis (P. J. Denning, J. P. Buzen: The Operational Analysis of
 * Queueing Network Models, Computing Surveys 10(3), 1978). They hold as bounds whatever the distributions; the rate
 * is reached where work is always queued, as with jobs that were all submitted before, else it is somewhat less.
 * Where the least bound lies below X, X is told: nothing is gained.
 *
 * A thread that is blocked in a call can do nothing else: that counts in its share, which says what limits now. It
 * counts in no bound, since it is another's work that it waits for.
 *
 * One entry a role, that of its busiest thread; it is freed with all of its role, as a cost of the deck is. Process
 * 0.
 */
#ifndef TIERCEL_RATE_LIMITS_H
#define TIERCEL_RATE_LIMITS_H

#include <stdbool.h>
#include <stdio.h>

#include "scenario.h"
#include "steady.h"

struct rate_limit {
    char *what;                     /* "kvs-root", "broker on node 0", "slots" */
    double share;                   /* of the time, or of the pool */
    double rate_if_free;            /* NAN where nothing else is known to limit */
    char *next;                     /* what limits then; NULL: nothing known */
};

struct rate_limits {
    GArray *entries;                /* struct rate_limit, the largest share first; empty when nothing is known */
    double rate;                    /* X, jobs a second */
    double span_s;                  /* the steady part */
};

/* `steady` may be NULL, and nothing may have been done: then there are no entries. */
void rate_limits_init(struct rate_limits *limits, const struct steady *steady, const struct scenario *scenario,
                      const struct scenario_run *run);
void rate_limits_release(struct rate_limits *limits);

void rate_limits_summarise(const struct rate_limits *limits, struct summary *summary);
/* One line, or all entries. */
void rate_limits_print(const struct rate_limits *limits, bool all, FILE *out);

#endif
