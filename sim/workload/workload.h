/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where jobs come from.
 *
 * A workload yields descriptions of jobs one after the other, in the order in which they are to be submitted. It has
 * no clock and gives no job ids: the client that reads it submits the jobs, and the job system names them.
 *
 *     struct workload *w = workload_jobspec_new("jobspec/flux-bulksubmit", 64, &error);
 *     struct workload_job job;
 *     while (workload_next(w, &job, &error))
 *         ... submit job at job.submit_ns ...
 *     if (error != NULL) ...
 *     workload_free(w);
 *
 * Sources: workload_bulk_new (workload/bulk.h), workload_jobspec_new (jobspec.h), workload_swf_new (swf.h),
 * workload_batsim_new (batsim.h). A source says all that it can say about bad input when it is made, before anything
 * runs; a file that is streamed may still fail later, in workload_next. Errors are TIERCEL_ERROR_INPUT for what a
 * person can mend in the file, TIERCEL_ERROR_RUNTIME for a failing disk. All functions are local.
 */
#ifndef TIERCEL_WORKLOAD_WORKLOAD_H
#define TIERCEL_WORKLOAD_WORKLOAD_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORKLOAD_NO_LIMIT INT64_MAX     /* limit_ns of a job that states none */
#define WORKLOAD_UNKNOWN UINT64_MAX     /* workload_jobs() of a source that cannot know */
#define WORKLOAD_PRIORITY 16            /* Flux's default */

struct workload_job {
    uint64_t index;             /* 0, 1, 2 ... in the order of this source */
    uint64_t number;            /* the source's own number of the job (an SWF job number); else index */
    const char *name;           /* the source's own name of the job (a Batsim id), or NULL; the workload's */
    const char *profile;        /* name of the profile that it follows (Batsim), or NULL; the workload's */
    int64_t submit_ns;          /* 0 or above, never less than the job before */
    int64_t duration_ns;        /* how long it runs when nothing stops it, 0 or above */
    int64_t limit_ns;           /* requested time, or WORKLOAD_NO_LIMIT */
    uint32_t priority;          /* higher first */

    /* Resources: `slots` slots of `cores_per_slot` cores: in total when nodes = 0, else on each of `nodes` nodes. */
    uint32_t nodes;
    uint32_t slots;
    uint32_t cores_per_slot;
    bool exclusive;             /* whole nodes */

    const char *spec;           /* jobspec text as it is submitted: spec_size bytes, no terminator counted; the
                                 * workload's, until the next call */
    size_t spec_size;
};

struct workload;

/* The next job: TRUE. FALSE at the end, and on failure with *error set. After FALSE it stays FALSE. */
bool workload_next(struct workload *w, struct workload_job *job, GError **error);

/*
 * Jobs that wait for others (an SWF log's dependencies). workload_ended() tells that the job with this index ended, or
 * will never run, at `now_ns`; then workload_released() yields the jobs that waited for it, to be submitted at their
 * submit_ns (now or later), until it returns FALSE. Sources without dependencies ignore the one and never yield by the
 * other, so that a client may always call both. workload_next() does not wait for them: after its end, more jobs come
 * as long as workload_held() is above 0.
 */
void workload_ended(struct workload *w, uint64_t index, int64_t now_ns);
bool workload_released(struct workload *w, struct workload_job *job, GError **error);
uint64_t workload_held(const struct workload *w);

/* What a source did to its input, by kind: cleaned, clipped, dropped. For the summary. */
struct workload_count {
    const char *name;           /* [a-z_]+ */
    const char *text;           /* one line for people */
    uint64_t count;
};

/* The counts and, in *number, how many there are (0 for sources that change nothing). */
const struct workload_count *workload_counts(const struct workload *w, size_t *number);

/* How many jobs it yields in all, or WORKLOAD_UNKNOWN. */
uint64_t workload_jobs(const struct workload *w);

/* What a log that was looked at holds: for estimates. All 0 for other sources. */
struct workload_extent {
    double last_submit_ns;
    double core_ns;             /* durations times cores */
};
struct workload_extent workload_extent(const struct workload *w);

void workload_free(struct workload *w);

#endif
