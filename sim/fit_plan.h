/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fit file: which costs are free, and what was measured.
 *
 *     [fit]
 *     format = 1
 *     title = our cluster, June
 *     profile = flux-2020                         begin with this cost profile; not stated: that of each deck
 *     seeds = 4                                   runs of each row, with the seeds 1, 2, ...; default 4
 *     step = 10%                                  by which a cost is changed to see what that does; default 10 %
 *
 *     [free]
 *     store = 0.25..4 costs.kvs-apply costs.kvs-store     one common factor of these costs, and its range
 *
 *     [start]                                     optional: values to begin with, instead of the profile's
 *     costs.kvs-apply = 100us + 40us/queued
 *
 *     [row.burst]                                 as many as were measured
 *     deck = ../flux-namespaces.deck              relative to this file; without '/' and ".deck": an installed one
 *     set = workload.namespaces=500; kvs.merge=false      optional: overrides
 *     key = kvs.create_rate                       of the summary
 *     value = 2950/s
 *     uncertainty = 5%                            standard uncertainty (one sigma) of the value
 *     source = where it comes from
 *
 * Lines, comments and what is refused are those of a deck (deck_file.h); all problems are collected, each one line.
 * Reading goes through the given reader only. Local.
 */
#ifndef TIERCEL_FIT_PLAN_H
#define TIERCEL_FIT_PLAN_H

#include <stdint.h>

#include "deck.h"

struct fit_free {
    char *name;
    double low;                     /* of the factor: above 0, at most 1 */
    double high;                    /* at least 1 */
    GPtrArray *keys;                /* char *: "costs.kvs-apply" */
};

struct fit_row {
    char *name;
    char *deck;                     /* as deck_load takes it */
    GArray *settings;               /* struct deck_setting: the plan's [start] and profile, then the row's own */
    char *key;
    double value;                   /* in the summary's unit; above 0 */
    double uncertainty;             /* relative, above 0 */
    char *stated;                   /* value and uncertainty as typed */
    char *source;                   /* "" when none is stated */
};

struct fit_plan {
    char *path;
    char *title;                    /* "" when none is stated */
    unsigned seeds;
    double step;                    /* of the logarithm of a factor */
    GArray *frees;                  /* struct fit_free */
    GArray *rows;                   /* struct fit_row */
    GPtrArray *problems;            /* char *, each a line without its end */
};

/* Never NULL; a plan with problems can only be freed. */
struct fit_plan *fit_plan_load(const char *path, const struct deck_reader *reader);
void fit_plan_free(struct fit_plan *plan);

#endif
