/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many jobs of one kind: submitted at once, such as flux-core's bulksubmit test and the dispatcher's bag of tasks, or
 * as a stream (a Poisson stream, when the gaps are drawn from an exponential distribution).
 *
 * Durations that are drawn come from a function of the caller, because random numbers belong to the model (the client
 * that submits), not to the source of jobs. Each job's text is a jobspec of jobspec_write(); jobs of one duration share
 * one text.
 */
#ifndef TIERCEL_WORKLOAD_BULK_H
#define TIERCEL_WORKLOAD_BULK_H

#include "workload/workload.h"

/* A time of job number `index`, 0 or above, in ns. Called once a job, in ascending order; a job's gap before its
 * duration. */
typedef int64_t (*workload_draw_fn)(void *context, uint64_t index);

struct workload_bulk {
    uint64_t jobs;              /* how many; 0 is allowed */
    uint32_t nodes;             /* resources as in struct workload_job; slots and cores_per_slot at least 1 */
    uint32_t slots;
    uint32_t cores_per_slot;
    bool exclusive;
    int64_t duration_ns;        /* of every job, when draw is NULL */
    int64_t limit_ns;           /* WORKLOAD_NO_LIMIT for none */
    workload_draw_fn draw;      /* or NULL */
    void *draw_context;
    workload_draw_fn gap;       /* time between a job's submission and the one before (the first: and 0); or NULL: all
                                 * at time 0. Exponential gaps make a Poisson stream */
    void *gap_context;
    bool without_text;          /* no spec: for a job system that never looks at one */
};

/* Cannot fail. The description is copied. */
struct workload *workload_bulk_new(const struct workload_bulk *bulk);

#endif
