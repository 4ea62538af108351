/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a sweep plays: its deck, and for each point the settings that make it a trial (trial.h).
 *
 *     struct sweep_plan plan;
 *     if (!sweep_plan_init(&plan, options, share, &status)) return status;     problems were printed
 *     g_autoptr(GArray) settings = sweep_plan_request(&plan, point, &request);
 *     ... trial_run(&request, ...) ...
 *     sweep_plan_release(&plan);
 *
 * The deck and what it builds on are read once: that somebody edits them while a sweep goes on changes nothing.
 */
#ifndef TIERCEL_SWEEP_PLAN_H
#define TIERCEL_SWEEP_PLAN_H

#include "options.h"
#include "share.h"
#include "trial.h"

struct check_needs;

struct sweep_plan {
    const struct options *options;
    struct share *share;            /* while files are read for all; NULL later */
    struct deck *deck;
    GHashTable *files;              /* path -> GBytes */
    struct deck_reader reader;
};

/* Collective; FALSE on all, with the exit status, when the deck has problems, or no [sweep], or an option sets a key
 * that is swept, or --point is none. Process 0 has then said so. */
gboolean sweep_plan_init(struct sweep_plan *plan, const struct options *options, struct share *share, int *status);
void sweep_plan_release(struct sweep_plan *plan);

/* The trial of a point, without a folder; it holds pointers into the plan, and into the settings returned, which are
 * the caller's (g_array_unref). Local. */
GArray *sweep_plan_request(struct sweep_plan *plan, unsigned point, struct trial_request *request);

/* The seed of a point of a deck with [sweep]. */
uint64_t sweep_plan_seed(const struct deck *deck, unsigned point);

/* What makes two sweeps the same one: a line with the version and a checksum of the workload's files, then the
 * effective deck, and that with each cost profile that is swept. Free with g_free. */
char *sweep_plan_identity(struct sweep_plan *plan);

/* The deck of a point, not yet checked, on either clock. Collective. Free with deck_free. */
struct deck *sweep_plan_deck(struct sweep_plan *plan, unsigned point, struct share *share);

/* What the point needs, played by one process, and its seed. NULL, or the first of its deck's problems, to be freed;
 * the needs are then NAN. Local; `alone` is a share of this process alone. */
char *sweep_plan_needs(struct sweep_plan *plan, unsigned point, struct share *alone, struct check_needs *needs,
                       int64_t *seed);

/* "cluster.nodes=4 cluster.fanout=2, repeat 3". Free with g_free. */
char *sweep_plan_point_text(const struct sweep_plan *plan, unsigned point);

#endif
