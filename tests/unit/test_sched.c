/* SPDX-License-Identifier: BSD-3-Clause */
#include <glib.h>

#include "base/error.h"
#include "sched/policy.h"
#include "suite.h"

static struct policy *make(const char *name, uint32_t nodes, uint32_t cores)
{
    struct policy_config config = { .name = name, .nodes = nodes, .cores_per_node = cores };
    return policy_new(&config, NULL);
}

static struct policy_job job(uint64_t id, int64_t submit, uint32_t cores, int64_t limit, uint32_t priority)
{
    return (struct policy_job){ id, submit, limit, priority, { .slots = 1, .cores_per_slot = cores } };
}

static uint64_t next_id(struct policy *policy, int64_t now)
{
    struct policy_start start;
    return policy_next(policy, now, &start) ? start.id : 0;
}

static void submit(struct policy *policy, int64_t now, struct policy_job j)
{
    CU_ASSERT_TRUE(policy_submit(policy, now, &j));
}

static void test_order(void)
{
    struct policy *p = make("fcfs", 1, 1);
    CU_ASSERT_FALSE(policy_ready(p));
    submit(p, 0, job(9, 0, 1, 5, 16));
    CU_ASSERT_EQUAL(next_id(p, 0), 9);
    submit(p, 1, job(7, 1, 1, 5, 16));
    submit(p, 1, job(5, 1, 1, 5, 16));
    submit(p, 1, job(3, 0, 1, 5, 16));
    submit(p, 1, job(8, 1, 1, 5, 31));
    const uint64_t order[] = { 8, 3, 5, 7 };
    uint64_t running = 9;
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(next_id(p, 2 + i), 0);
        CU_ASSERT_FALSE(policy_ready(p));
        policy_end(p, 2 + i, running);
        CU_ASSERT_TRUE(policy_ready(p));
        running = next_id(p, 2 + i);
        CU_ASSERT_EQUAL(running, order[i]);
    }
    CU_ASSERT_EQUAL(policy_waiting(p), 0);
    CU_ASSERT_EQUAL(policy_running(p), 1);
    policy_free(p);
}

static void test_strict(void)
{
    struct policy *p = make("fcfs", 2, 2);
    submit(p, 0, job(1, 0, 1, 5, 16));
    struct policy_job wide = { 2, 0, 5, 16, { .slots = 4, .cores_per_slot = 1 } };
    submit(p, 0, wide);
    submit(p, 0, job(3, 0, 1, 5, 16));
    CU_ASSERT_EQUAL(next_id(p, 0), 1);
    CU_ASSERT_TRUE(policy_ready(p));
    CU_ASSERT_EQUAL(next_id(p, 0), 0);          /* 2 blocks 3, though 3 would fit */
    CU_ASSERT_FALSE(policy_ready(p));
    submit(p, 0, job(4, 0, 1, 5, 16));
    CU_ASSERT_FALSE(policy_ready(p));           /* the head is still the same */
    struct policy_job head;
    CU_ASSERT_TRUE(policy_head(p, &head));
    CU_ASSERT_EQUAL(head.id, 2);
    CU_ASSERT_TRUE(policy_cancel(p, 1, 2));
    CU_ASSERT_FALSE(policy_cancel(p, 1, 2));
    CU_ASSERT_FALSE(policy_cancel(p, 1, 1));
    CU_ASSERT_TRUE(policy_ready(p));
    CU_ASSERT_EQUAL(next_id(p, 1), 3);
    CU_ASSERT_EQUAL(next_id(p, 1), 4);
    CU_ASSERT_EQUAL(next_id(p, 1), 0);
    CU_ASSERT_FALSE(policy_head(p, &head));
    policy_free(p);
}

static void test_sjf(void)
{
    struct policy *p = make("sjf", 1, 1);
    submit(p, 0, job(1, 0, 1, 30, 16));
    submit(p, 0, job(2, 0, 1, POLICY_NO_LIMIT, 16));
    submit(p, 0, job(3, 0, 1, 10, 16));
    submit(p, 0, job(4, 0, 1, 10, 16));
    const uint64_t order[] = { 3, 4, 1, 2 };
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(next_id(p, i), order[i]);
        policy_end(p, i, order[i]);
    }
    policy_free(p);
}

static void test_allocations(void)
{
    struct policy *p = make("fcfs", 3, 2);
    for (uint64_t id = 1; id <= 6; id++)
        submit(p, 0, job(id, 0, 1, 0, 16));
    for (uint64_t id = 1; id <= 6; id++) {
        struct policy_start start;
        CU_ASSERT_TRUE_FATAL(policy_next(p, 0, &start));
        CU_ASSERT_EQUAL(start.id, id);
        CU_ASSERT_EQUAL(start.allocation->spans[0].node, (id - 1) % 3);     /* worst fit */
        CU_ASSERT_PTR_EQUAL(policy_allocation(p, id), start.allocation);
    }
    CU_ASSERT_EQUAL(policy_pool(p)->free_cores, 0);
    for (uint64_t id = 1; id <= 6; id++)
        policy_end(p, 0, id);
    CU_ASSERT_PTR_NULL(policy_allocation(p, 1));
    CU_ASSERT_EQUAL(policy_pool(p)->free_cores, 6);
    policy_free(p);
}

static void test_reject(void)
{
    struct policy *p = make("fcfs", 2, 2);
    struct policy_job wide = job(1, 0, 3, 5, 16);
    CU_ASSERT_FALSE(policy_submit(p, 0, &wide));
    CU_ASSERT_EQUAL(policy_waiting(p), 0);
    submit(p, 0, job(1, 0, 2, 5, 16));          /* its id is free again, and it does not wait behind the wide one */
    CU_ASSERT_EQUAL(next_id(p, 0), 1);
    policy_free(p);
}

static void test_unknown(void)
{
    struct policy_config config = { .name = "fifo", .nodes = 1, .cores_per_node = 1 };
    GError *error = NULL;
    CU_ASSERT_PTR_NULL(policy_new(&config, &error));
    CU_ASSERT_TRUE_FATAL(g_error_matches(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "\"fifo\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "fcfs, "));
    g_clear_error(&error);
    config.name = NULL;
    CU_ASSERT_PTR_NULL(policy_new(&config, NULL));
}

/* The same knowledge by different ways: ids in another order, a job that came and went. */
static void test_save(void)
{
    struct bytes saved[2] = { BYTES_INIT, BYTES_INIT };
    for (int way = 0; way < 2; way++) {
        struct policy *p = make("fcfs", 2, 4);
        for (uint64_t i = 1; i <= 8; i++)
            submit(p, 0, job(way == 0 ? i : 9 - i, 0, 1, 5, 16));
        if (way == 1) {
            submit(p, 0, job(99, 0, 1, 5, 0));
            CU_ASSERT_TRUE(policy_cancel(p, 0, 99));
        }
        for (uint64_t i = 1; i <= 5; i++)
            CU_ASSERT_EQUAL(next_id(p, 1), i);
        policy_end(p, 2, 2);
        policy_save(p, &saved[way]);
        policy_free(p);
    }
    CU_ASSERT_EQUAL_FATAL(saved[0].size, saved[1].size);
    CU_ASSERT_EQUAL(memcmp(saved[0].data, saved[1].data, saved[0].size), 0);
    bytes_release(&saved[0]);
    bytes_release(&saved[1]);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "the queue stands in the order of priority, submit time and id", test_order },
        { "in strict order the head blocks the rest until something ends or it is withdrawn", test_strict },
        { "sjf takes the shortest limit first, no limit last", test_sjf },
        { "jobs start on the pool's nodes and give them back", test_allocations },
        { "a job wider than the machine is rejected and blocks nothing", test_reject },
        { "an unknown policy is refused with the known names", test_unknown },
        { "equal knowledge saves equal bytes", test_save },
        { NULL, NULL },
    };
    return suite_run("sched", tests);
}
