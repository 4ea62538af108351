/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the policies that promise starts have in common: the profile of the future, in which running jobs hold their
 * processors until their limit and promised jobs from their promised start on.
 *
 * In a plan a job is at least 1 ns long. A running job that has outlived its limit is overdue: it holds its processors
 * for the next nanosecond, and before that is written down all promises must be dropped (they were made without it).
 * For the rules of this folder; `policy->plan` points to a struct that begins with a struct plan. Functions are local.
 */
#ifndef TIERCEL_SCHED_PLAN_H
#define TIERCEL_SCHED_PLAN_H

#include "sched/profile.h"
#include "sched/rule.h"

/* Intervals in which something became free, in the order in which that happened; see plan_improve. */
struct freed {
    uint64_t happened;      /* so many in all */
    GArray *starts;         /* struct freed_bound: from each place on, the earliest start behind it */
    GArray *ends;           /* and the latest end */
};

struct plan {
    struct profile *profile;
    struct freed freed;
    GSequence *ends;        /* struct hold of the running jobs, by expected end */
    GSequence *promises;    /* struct promise of waiting jobs, by promised start */
    uint64_t *set;          /* of machines, for passing on */
};

/* What waiting->plan points to, once a start was promised. */
struct promise {
    struct waiting *job;
    GSequenceIter *at;
    int64_t start_ns;
    int64_t end_ns;
    uint64_t looked;        /* freed.happened when it was last looked at */
    uint64_t set[];
};

/* With `all`, every waiting job will have a promise. */
void plan_init(struct policy *policy, struct plan *plan, bool all);
void plan_release(struct plan *plan);

/* Brings the profile to the present. First in every hook. */
void plan_advance(struct policy *policy);

/* Whether running jobs are overdue; and, with all promises dropped, holding them for 1 ns more. */
bool plan_overdue(const struct policy *policy);
void plan_extend(struct policy *policy);

/* Takes the job's promise back, where it has one. */
void plan_drop(struct policy *policy, struct waiting *job);
void plan_drop_all(struct policy *policy);

/* The promise with the earliest start, or NULL. */
struct promise *plan_first(const struct policy *policy);

/* Takes the processors from pool and profile if the job, which has no promise, can start now and run to its limit:
 * its allocation, or NULL. */
struct allocation *plan_start(struct policy *policy, struct waiting *job);

/* As plan_start where that is possible; else promises the first start that is, where there is one. */
struct allocation *plan_start_or_promise(struct policy *policy, struct waiting *job);

/*
 * For a job with a promise: takes it out of the plan and puts it back where it fits first, or starts it now. It is what
 * plan_drop and plan_start_or_promise do, at less cost: what did not fit before can only fit where something became
 * free since this job was last looked at.
 */
struct allocation *plan_improve(struct policy *policy, struct waiting *job);

/* After all waiting jobs were looked at since `happened`: what became free before is of no more interest. */
void plan_forget(struct policy *policy, uint64_t happened);

/* The hooks `started`, `ended`, `wake` and `save` of a rule. */
void plan_started(struct policy *policy, struct running *job);
void plan_ended(struct policy *policy, struct running *job);
int64_t plan_wake(const struct policy *policy);
void plan_save(const struct policy *policy, struct bytes *sink);

#endif
