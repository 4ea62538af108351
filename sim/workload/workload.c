/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/workload.h"

#include "workload/source.h"

bool workload_next(struct workload *w, struct workload_job *job, GError **error)
{
    if (w->ended)
        return false;
    *job = (struct workload_job){ .index = w->yielded, .number = w->yielded, .limit_ns = WORKLOAD_NO_LIMIT,
                                  .priority = WORKLOAD_PRIORITY };
    if (!w->type->next(w, job, error)) {
        w->ended = true;
        return false;
    }
    w->yielded++;
    return true;
}

uint64_t workload_jobs(const struct workload *w)
{
    return w->jobs;
}

void workload_free(struct workload *w)
{
    if (w != NULL)
        w->type->free(w);
}
