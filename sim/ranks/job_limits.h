/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time limits of running jobs, so that one timer is enough for all of them.
 *
 *     if (job_limits_add(l, deadline_ns, key))        it is the earliest now:
 *         ... start a timer for it ...
 *     when a timer comes:
 *         while (job_limits_expired(l, now_ns, &key))
 *             ... that job's limit is over ...
 *         if ((deadline_ns = job_limits_rearm(l, now_ns)) != JOB_LIMITS_NONE)
 *             ... start a timer for it ...
 *     job_limits_remove(l, deadline_ns, key)          a job ended in time
 *
 * Timers that were started for deadlines no longer there come and find nothing. All functions are local.
 */
#ifndef TIERCEL_RANKS_JOB_LIMITS_H
#define TIERCEL_RANKS_JOB_LIMITS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

#define JOB_LIMITS_NONE INT64_MAX

struct job_limits {
    GTree *deadlines;       /* by (deadline, key) */
    int64_t armed_ns;       /* the earliest timer that is on its way; JOB_LIMITS_NONE: none */
};

void job_limits_init(struct job_limits *l);
void job_limits_release(struct job_limits *l);

/* `deadline_ns` below JOB_LIMITS_NONE. True when no timer is on its way that comes as early. */
bool job_limits_add(struct job_limits *l, int64_t deadline_ns, uint64_t key);

/* False when it is not there. */
bool job_limits_remove(struct job_limits *l, int64_t deadline_ns, uint64_t key);

/* Takes out the earliest deadline that is not after `now_ns`. */
bool job_limits_expired(struct job_limits *l, int64_t now_ns, uint64_t *key);

/* A timer came: the deadline that the next one is to be started for, or JOB_LIMITS_NONE. */
int64_t job_limits_rearm(struct job_limits *l, int64_t now_ns);

void job_limits_save(const struct job_limits *l, struct bytes *sink);

#endif
