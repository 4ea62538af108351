/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strict order: only the job at the head of the queue may start, and it waits until it fits. fcfs takes jobs in the
 * order of arrival (what Flux's sched-simple did in 2020), sjf the one with the shortest limit first.
 */
#include "sched/rule.h"

static void strict_submitted(struct policy *policy, struct waiting *job)
{
    if (g_sequence_iter_is_begin(job->at))
        policy->ready = true;
}

static void strict_cancelled(struct policy *policy, struct waiting *job)
{
    if (g_sequence_iter_is_begin(job->at))
        policy->ready = true;
}

static void strict_ended(struct policy *policy, struct running *job)
{
    policy->ready = true;
}

static struct waiting *strict_next(struct policy *policy, struct allocation **allocation)
{
    struct waiting *head = policy_first(policy);
    if (head != NULL && policy->ready)
        *allocation = resource_pool_alloc(&policy->pool, &head->job.request);
    policy->ready = *allocation != NULL;
    return *allocation == NULL ? NULL : head;
}

const struct policy_rule policy_rule_fcfs = {
    .name = "fcfs",
    .compare = policy_job_compare,
    .submitted = strict_submitted,
    .cancelled = strict_cancelled,
    .ended = strict_ended,
    .next = strict_next,
};

const struct policy_rule policy_rule_sjf = {
    .name = "sjf",
    .compare = policy_job_compare_limit,
    .submitted = strict_submitted,
    .cancelled = strict_cancelled,
    .ended = strict_ended,
    .next = strict_next,
};
