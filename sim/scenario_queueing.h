/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * [system] kind = queueing: a network of queues (ranks/queueing.h).
 *
 *     scenario_queueing.c            from the deck to stations and their actors
 *     scenario_queueing_next.c       from the names of `next` to actors
 *     scenario_queueing_estimate.c   from the deck to how much there will be to do
 *     scenario_queueing_result.c     from the figures to the summary and the terminal
 *
 * Actor 0 is the source; the copies of each [station.NAME] follow in the order of the groups, each on a node of its
 * own. Each group has a role of its own, named after it, so that trace and summary tell stations apart.
 */
#ifndef TIERCEL_SCENARIO_QUEUEING_H
#define TIERCEL_SCENARIO_QUEUEING_H

#include "ranks/queueing.h"
#include "scenario.h"

extern const struct scenario_kind scenario_queueing;

enum { QUEUEING_SOURCE = -1 };          /* in place of the index of a group */

/* One name of `next`. */
struct queueing_target {
    int group;                          /* index, or QUEUEING_SOURCE */
    uint32_t parts;                     /* the probability times 10^9; 0: not stated */
};

/* [station.NAME]: `count` actors from `first` on. */
struct queueing_group {
    const char *deck_group;             /* the deck's: "station.disk" */
    const char *name;                   /* "disk" */
    uint32_t first;
    uint32_t count;
    bool own;                           /* reach = own */
    struct role role;
    struct queueing_station *stations;  /* the setup of all copies, or with reach = own of each */
    GArray *targets;                    /* struct queueing_target */
};

struct queueing {
    struct queueing_source source;
    GArray *source_targets;             /* struct queueing_target */
    GArray *groups;                     /* struct queueing_group */
    const struct role **roles;          /* the source's, the groups', NULL */
    GPtrArray *arrays;                  /* what struct queueing_next points to */
    int64_t latency_ns;
    uint32_t actors;
    bool by_role;                       /* placement */
};

static inline struct queueing_group *queueing_group_at(const struct queueing *q, unsigned i)
{
    return &g_array_index(q->groups, struct queueing_group, i);
}

static inline const struct queueing_target *queueing_target_at(const GArray *targets, unsigned i)
{
    return &g_array_index(targets, struct queueing_target, i);
}

/* The names of `next` in a group of the deck (struct queueing_target), whose groups of stations are all known; empty
 * after a complaint. The caller frees the array. */
GArray *queueing_targets_read(const struct queueing *q, struct deck *deck, const char *group);

/* Complains of ways that jobs cannot take: copies that cannot be divided, stations that nobody reaches or leaves. */
void queueing_next_check(const struct queueing *q, struct deck *deck);

/* Where copy i of `count` sends its jobs: `own` as in struct queueing_group. What it points to is q's. */
struct queueing_next queueing_next_make(struct queueing *q, const GArray *targets, bool cyclic, bool own, uint32_t i,
                                        uint32_t count);

/* Of copy 0 of a group, or of the source (NULL): the probability that a job goes on to each group, in order, and at
 * last to the source. The caller frees the array. */
double *queueing_probabilities(const struct queueing *q, const struct queueing_group *group);

/* scenario_kind.estimate. */
void queueing_estimate(const void *data, struct scenario_estimate *estimate);

/* scenario_kind.summarise, .headline and .details. */
void queueing_summarise(const void *data, const struct scenario_run *run, struct summary *summary, GArray *balances);
void queueing_headline(const void *data, const struct summary *summary, FILE *out);
void queueing_details(const void *data, const struct summary *summary, FILE *out);

#endif
