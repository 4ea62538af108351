/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The jobs of a trace as logs have them, whatever the kind of system. For the export_*.c that write logs.
 *
 *     struct export_jobs jobs;
 *     if (!export_jobs_load(&jobs, reader, &error)) ...
 *     for (i = 0; i < jobs.count; i++)
 *         ... jobs.job[i] ...
 *     export_jobs_release(&jobs);
 *
 * In a batch run a job holds its processors from start to end. In a brokered instance it holds them from the event
 * "alloc" until the scheduler has them back: that is its start and end here. All functions are local.
 */
#ifndef TIERCEL_EXPORT_JOBS_H
#define TIERCEL_EXPORT_JOBS_H

#include <stdio.h>

#include "ranks/jobs.h"
#include "trace/reader.h"

struct export_job {
    uint64_t index;
    uint64_t number;
    int64_t submit_ns;
    int64_t start_ns;               /* JOB_NEVER: it never started */
    int64_t end_ns;
    int64_t run_ns;                 /* when nothing stops it; -1: unknown */
    int64_t limit_ns;               /* WORKLOAD_NO_LIMIT: none; -1: unknown */
    uint32_t requested;
    uint32_t cores;                 /* held */
    uint32_t name;                  /* texts; 0: none */
    uint32_t profile;
    uint8_t result;                 /* enum job_result */
    uint64_t first_span;            /* of its machines */
    uint32_t spans;
};

struct export_span {
    uint64_t job;                   /* its index */
    uint32_t first;
    uint32_t last;
};

struct export_jobs {
    struct export_job *job;         /* by submission time, then place in the workload */
    uint64_t count;
    struct export_span *span;
    GPtrArray *texts;               /* text i at i - 1 */
};

/* FALSE when the trace has no jobs, or was written at level stats. */
gboolean export_jobs_load(struct export_jobs *jobs, struct reader *r, GError **error);
void export_jobs_release(struct export_jobs *jobs);

/* The text with that number, or NULL. */
const char *export_jobs_text(const struct export_jobs *jobs, uint32_t number);

/* Seconds with as many decimals as they need, at least `decimals`. */
void export_put_seconds(FILE *out, int64_t time_ns, unsigned decimals);

#endif
