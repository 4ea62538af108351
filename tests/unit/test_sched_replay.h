/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small driver of policies for the tests: plays jobs through a policy on a flat machine with a clock of its own.
 * Within an instant all ends come first, then the submissions, then the policy.
 */
#ifndef TIERCEL_TESTS_SCHED_REPLAY_H
#define TIERCEL_TESTS_SCHED_REPLAY_H

#include <glib.h>

#include "sched/policy.h"

struct replay_job {
    int64_t submit;
    uint32_t width;             /* processors */
    int64_t limit;
    int64_t run;
    int64_t start;              /* result; -1: rejected, -2: never started */
    int64_t end;
    struct allocation *machines; /* result, when asked for */
};

struct replay {
    struct policy_config config;
    bool kill;                  /* at the limit */
    bool one_by_one;            /* asks the policy after each single event */
    bool keep_machines;
    uint64_t passes;
    uint64_t widest_use;        /* most processors in use at once */
};

static inline int replay_end_compare(gconstpointer a, gconstpointer b, gpointer data)
{
    const struct replay_job *jobs = data;
    guint x = GPOINTER_TO_UINT(a), y = GPOINTER_TO_UINT(b);
    if (jobs[x].end != jobs[y].end)
        return jobs[x].end < jobs[y].end ? -1 : 1;
    return (x > y) - (x < y);
}

static inline void replay_decide(struct replay *r, struct policy *policy, int64_t now, struct replay_job *jobs,
                                 GSequence *running)
{
    struct policy_start start;
    r->passes++;
    while (policy_next(policy, now, &start)) {
        struct replay_job *job = &jobs[start.id];
        job->start = now;
        job->end = now + (r->kill ? MIN(job->run, job->limit) : job->run);
        if (r->keep_machines) {
            struct bytes b = BYTES_INIT;
            allocation_put(start.allocation, &b);
            struct cursor c = cursor_init(b.data, b.size);
            job->machines = allocation_get(&c);
            bytes_release(&b);
        }
        g_sequence_insert_sorted(running, GUINT_TO_POINTER((guint)start.id), replay_end_compare, jobs);
    }
    const struct resource_pool *pool = policy_pool(policy);
    uint64_t used = (uint64_t)pool->nodes * pool->cores_per_node - pool->free_cores;
    r->widest_use = MAX(r->widest_use, used);
}

/* Plays `count` jobs, sorted by submit time. Fills start, end and machines. */
static inline void replay_run(struct replay *r, struct replay_job *jobs, guint count)
{
    struct policy *policy = policy_new(&r->config, NULL);
    GSequence *running = g_sequence_new(NULL);
    guint next = 0;
    for (guint i = 0; i < count; i++)
        jobs[i].start = -2;
    for (;;) {
        GSequenceIter *first = g_sequence_get_begin_iter(running);
        int64_t end = g_sequence_iter_is_end(first) ? INT64_MAX :
                      jobs[GPOINTER_TO_UINT(g_sequence_get(first))].end;
        int64_t submit = next < count ? jobs[next].submit : INT64_MAX;
        int64_t wake = policy_waiting(policy) > 0 ? policy_wake(policy) : INT64_MAX;
        int64_t now = MIN(MIN(end, submit), wake);
        if (now == INT64_MAX)
            break;
        for (; end == now; first = g_sequence_get_begin_iter(running),
                           end = g_sequence_iter_is_end(first) ? INT64_MAX :
                                 jobs[GPOINTER_TO_UINT(g_sequence_get(first))].end) {
            policy_end(policy, now, GPOINTER_TO_UINT(g_sequence_get(first)));
            g_sequence_remove(first);
            if (r->one_by_one)
                replay_decide(r, policy, now, jobs, running);
        }
        for (; next < count && jobs[next].submit == now; next++) {
            struct policy_job job = { .id = next, .submit_ns = now, .limit_ns = jobs[next].limit, .priority = 16,
                                      .request = { .slots = jobs[next].width, .cores_per_slot = 1 } };
            if (!policy_submit(policy, now, &job))
                jobs[next].start = -1;
            if (r->one_by_one)
                replay_decide(r, policy, now, jobs, running);
        }
        replay_decide(r, policy, now, jobs, running);
    }
    g_sequence_free(running);
    policy_free(policy);
}

#endif
