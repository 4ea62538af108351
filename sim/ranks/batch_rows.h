/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a job of the batch scheduler leaves behind: its row, its machines, the texts that rows refer to, and its part of
 * the metrics. For batch.c. All functions are local.
 */
#ifndef TIERCEL_RANKS_BATCH_ROWS_H
#define TIERCEL_RANKS_BATCH_ROWS_H

#include "ranks/batch.h"

/* A job between its submission and its end. */
struct batch_job {
    uint64_t index;             /* in the workload; also its id for the policy */
    uint64_t number;
    int64_t submit_ns;
    int64_t start_ns;           /* JOB_NEVER while it waits */
    int64_t end_ns;
    int64_t run_ns;             /* when nothing stops it */
    int64_t limit_ns;           /* or WORKLOAD_NO_LIMIT */
    uint32_t requested;         /* processors */
    uint32_t cores;             /* that it holds: more, when it gets whole nodes */
    uint32_t name;              /* numbers of texts; 0: none */
    uint32_t profile;
    uint8_t result;             /* enum job_result */
};

/* Texts that were recorded, with their numbers. */
struct batch_texts {
    GHashTable *known;          /* profiles: few, and many jobs share one */
    uint32_t count;
};

void batch_texts_init(struct batch_texts *texts);
void batch_texts_release(struct batch_texts *texts);

/* The number of a text, which is recorded in pieces unless it is known. A shared one is remembered. NULL: 0. */
uint32_t batch_texts_record(struct actor *self, struct batch_texts *texts, const char *text, bool shared);

/* The row of a job that ended or was rejected. */
void batch_job_record(struct actor *self, const struct batch_job *job);

/* Its machines, as spans that are not adjacent. */
void batch_machines_record(struct actor *self, const struct batch_job *job, const struct allocation *allocation,
                           uint32_t cores_per_node);

/* Its part of the metrics, when it ended. */
void batch_job_measure(struct actor *self, const struct batch_job *job, int64_t slowdown_bound_ns);

#endif
