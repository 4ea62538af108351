/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conservative backfilling: every waiting job has a promised start, the first that fits behind all promises made
 * before. When a job ends (or is withdrawn), each waiting job in the order of the queue is taken out of the plan and
 * put back where it fits first while the others keep their places; so no promise ever gets worse. After an arrival only
 * the new job is planned. These are batsched's rules. A new job of higher priority than some that wait, a running job
 * that is overdue, and a promised start that has passed (because such a job has only ended now, or because the driver's
 * messages take time) make all promises void: then all are planned anew, in order. A job that is late alone would find
 * the places behind it taken, and go behind everybody.
 */
#include "sched/plan.h"

struct conservative {
    struct plan plan;
    GSequenceIter *at;      /* the next job of the queue to plan; at its end: all are */
    uint64_t pass_begin;    /* plan.freed.happened when the pass over all began; UINT64_MAX when it is over */
    bool stale;             /* look at all places again */
    bool void_all;          /* first drop all promises */
};

static void conservative_init(struct policy *policy)
{
    struct conservative *c = g_new0(struct conservative, 1);
    plan_init(policy, &c->plan, true);
    c->at = g_sequence_get_end_iter(policy->queue);
    c->pass_begin = UINT64_MAX;
}

static void conservative_release(struct policy *policy)
{
    struct conservative *c = policy->plan;
    plan_release(&c->plan);
    g_free(c);
}

static void conservative_submitted(struct policy *policy, struct waiting *job)
{
    struct conservative *c = policy->plan;
    policy->ready = true;
    if (!g_sequence_iter_is_end(g_sequence_iter_next(job->at)))
        c->stale = c->void_all = true;      /* it stands before others */
    else if (g_sequence_iter_is_end(c->at))
        c->at = job->at;
}

static void conservative_cancelled(struct policy *policy, struct waiting *job)
{
    struct conservative *c = policy->plan;
    plan_advance(policy);
    plan_drop(policy, job);
    if (c->at == job->at)
        c->at = g_sequence_iter_next(job->at);
    c->stale = true;
    policy->ready = true;
}

static void conservative_ended(struct policy *policy, struct running *job)
{
    struct conservative *c = policy->plan;
    plan_ended(policy, job);
    c->stale = true;
    policy->ready = true;
}

static struct waiting *conservative_next(struct policy *policy, struct allocation **allocation)
{
    struct conservative *c = policy->plan;
    plan_advance(policy);
    const struct promise *first = plan_first(policy);
    bool missed = first != NULL && first->start_ns < policy->now_ns;
    if (plan_overdue(policy) || missed || c->void_all) {
        plan_drop_all(policy);
        plan_extend(policy);
        c->stale = true;
        c->void_all = false;
    }
    if (c->stale) {
        c->at = g_sequence_get_begin_iter(policy->queue);
        c->pass_begin = c->plan.freed.happened;
        c->stale = false;
    }
    while (!g_sequence_iter_is_end(c->at)) {
        struct waiting *job = g_sequence_get(c->at);
        c->at = g_sequence_iter_next(c->at);
        *allocation = job->plan != NULL ? plan_improve(policy, job) : plan_start_or_promise(policy, job);
        if (*allocation != NULL)
            return job;
    }
    if (c->pass_begin != UINT64_MAX) {
        plan_forget(policy, c->pass_begin);
        c->pass_begin = UINT64_MAX;
    }
    for (struct promise *due = plan_first(policy); due != NULL && due->start_ns <= policy->now_ns;
         due = plan_first(policy)) {
        struct waiting *job = due->job;
        plan_drop(policy, job);
        *allocation = plan_start_or_promise(policy, job);
        if (*allocation != NULL)
            return job;
    }
    policy->ready = false;
    return NULL;
}

const struct policy_rule policy_rule_conservative = {
    .name = "conservative",
    .compare = policy_job_compare,
    .init = conservative_init,
    .release = conservative_release,
    .submitted = conservative_submitted,
    .cancelled = conservative_cancelled,
    .started = plan_started,
    .ended = conservative_ended,
    .wake = plan_wake,
    .save = plan_save,
    .next = conservative_next,
};
