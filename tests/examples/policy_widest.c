/* SPDX-License-Identifier: BSD-3-Clause */
/* A scheduling policy: the widest job first; narrower ones pass while that does not fit. */
#include "examples.h"

static uint64_t width(const struct resource_request *request)
{
    return (uint64_t)MAX(request->nodes, 1) * request->slots * request->cores_per_slot;
}

static int widest_compare(const struct policy_job *a, const struct policy_job *b)
{
    uint64_t width_a = width(&a->request), width_b = width(&b->request);

    if (width_a != width_b)
        return width_a > width_b ? -1 : 1;
    return policy_job_compare(a, b);
}

static void widest_submitted(struct policy *policy, struct waiting *job)
{
    policy->ready = true;
}

static void widest_ended(struct policy *policy, struct running *job)
{
    policy->ready = true;
}

static struct waiting *widest_next(struct policy *policy, struct allocation **allocation)
{
    for (GSequenceIter *i = g_sequence_get_begin_iter(policy->queue); !g_sequence_iter_is_end(i);
         i = g_sequence_iter_next(i)) {
        struct waiting *job = g_sequence_get(i);
        *allocation = resource_pool_alloc(&policy->pool, &job->job.request);
        if (*allocation != NULL)
            return job;
    }
    policy->ready = false;
    return NULL;
}

const struct policy_rule policy_rule_widest = {
    .name = "widest-first",
    .compare = widest_compare,
    .submitted = widest_submitted,
    .ended = widest_ended,
    .next = widest_next,
};
