/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a source of jobs is made of, for the files of this folder that are one (bulk.c, ...). Others include
 * workload/workload.h only.
 *
 * A source's struct begins with a struct workload; its _new function allocates it with g_new0 and sets `type`,
 * `jobs`, and `extent` where it knows it. workload.c counts, and stops asking after the end or a failure.
 */
#ifndef TIERCEL_WORKLOAD_SOURCE_H
#define TIERCEL_WORKLOAD_SOURCE_H

#include "workload/workload.h"

struct workload_type {
    /* Fills *job, of which everything is zero but index, number (= index), limit_ns (none), priority (the default).
     * FALSE at the end, or with *error set. Not asked again after FALSE. */
    bool (*next)(struct workload *w, struct workload_job *job, GError **error);
    /* For sources with dependencies, else NULL; as workload_ended and workload_released. */
    void (*ended)(struct workload *w, uint64_t index, int64_t now_ns);
    bool (*released)(struct workload *w, struct workload_job *job, GError **error);
    void (*free)(struct workload *w);
};

struct workload {
    const struct workload_type *type;
    uint64_t jobs;              /* in all, or WORKLOAD_UNKNOWN */
    uint64_t yielded;           /* by next */
    uint64_t held;              /* jobs that wait for others and were not released yet */
    struct workload_extent extent;
    const struct workload_count *counts;
    size_t counts_number;
    bool ended;
};

#endif
