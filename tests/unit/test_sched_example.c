/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worked example of sim/sched/README.md: a policy of one's own. It takes the widest job first, and lets narrower
 * ones pass while that does not fit.
 */
#include <glib.h>

#include "sched/rule.h"
#include "suite.h"

static int widest_compare(const struct policy_job *a, const struct policy_job *b)
{
    if (a->request.slots != b->request.slots)
        return a->request.slots > b->request.slots ? -1 : 1;
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

static const struct policy_rule widest_first = {
    .name = "widest-first",
    .compare = widest_compare,
    .submitted = widest_submitted,
    .ended = widest_ended,
    .next = widest_next,
};

static void test_example(void)
{
    struct policy_config config = { .nodes = 1, .cores_per_node = 4 };
    struct policy *policy = policy_new_with_rule(&widest_first, &config);
    const uint32_t widths[] = { 1, 3, 4, 2, 1 };
    for (uint64_t id = 0; id < 5; id++) {
        struct policy_job job = { id, 0, POLICY_NO_LIMIT, 16, { .slots = widths[id], .cores_per_slot = 1 } };
        CU_ASSERT_TRUE(policy_submit(policy, 0, &job));
    }
    struct policy_start start;
    CU_ASSERT_TRUE(policy_next(policy, 0, &start));
    CU_ASSERT_EQUAL(start.id, 2);
    CU_ASSERT_FALSE(policy_next(policy, 0, &start));
    CU_ASSERT_FALSE(policy_ready(policy));
    policy_end(policy, 5, 2);
    const uint64_t then[] = { 1, 0 };
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_TRUE(policy_next(policy, 5, &start));
        CU_ASSERT_EQUAL(start.id, then[i]);
    }
    CU_ASSERT_FALSE(policy_next(policy, 5, &start));    /* 3 needs two, one is left, and 0 has the other */
    CU_ASSERT_EQUAL(policy_waiting(policy), 2);
    policy_free(policy);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "a policy of one's own takes the widest job first", test_example },
        { NULL, NULL },
    };
    return suite_run("example", tests);
}
