/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scheduler, on node 0: gives resources to jobs (flux-core 0.15 to 0.17, src/modules/sched-simple and
 * src/common/libschedutil).
 *
 * A request's jobspec is looked up, then the job enters the queue of a policy (sched/policy.h; "fcfs" with worst fit is
 * sched-simple). One turn tries the head once; after "no space" there are no more tries until something is freed. What
 * was allocated is committed as R to the primary namespace, and only then answered. To free, R is looked up first.
 *
 * A job that needs more than one node, or more than the pool has, is denied: its slots are always on one node.
 */
#ifndef TIERCEL_RANKS_SCHEDULER_H
#define TIERCEL_RANKS_SCHEDULER_H

#include "engine/actor.h"

/* The metrics of role "scheduler", by index in its table. */
enum scheduler_metric {
    SCHEDULER_REQUESTS,     /* for an allocation */
    SCHEDULER_TRIES,        /* turns that tried the head */
    SCHEDULER_DENIALS,
    SCHEDULER_ALLOCATIONS,
    SCHEDULER_FREED,
    SCHEDULER_COMMITS       /* of R: one a job, its own */
};

#endif
