/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/workload.h"

#include "workload/source.h"

static struct workload_job job_plain(uint64_t index)
{
    return (struct workload_job){ .index = index, .number = index, .limit_ns = WORKLOAD_NO_LIMIT,
                                  .priority = WORKLOAD_PRIORITY };
}

bool workload_next(struct workload *w, struct workload_job *job, GError **error)
{
    if (w->ended)
        return false;
    *job = job_plain(w->yielded);
    if (!w->type->next(w, job, error)) {
        w->ended = true;
        return false;
    }
    w->yielded++;
    return true;
}

void workload_ended(struct workload *w, uint64_t index, int64_t now_ns)
{
    if (w->type->ended != NULL)
        w->type->ended(w, index, now_ns);
}

bool workload_released(struct workload *w, struct workload_job *job, GError **error)
{
    if (w->type->released == NULL || w->held == 0)
        return false;
    *job = job_plain(0);
    return w->type->released(w, job, error);
}

uint64_t workload_held(const struct workload *w)
{
    return w->held;
}

const struct workload_count *workload_counts(const struct workload *w, size_t *number)
{
    *number = w->counts_number;
    return w->counts;
}

uint64_t workload_jobs(const struct workload *w)
{
    return w->jobs;
}

struct workload_extent workload_extent(const struct workload *w)
{
    return w->extent;
}

void workload_free(struct workload *w)
{
    if (w != NULL)
        w->type->free(w);
}
