/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/provisioner.h"
#include "ranks/task_queue.h"
#include "ranks/task_service.h"
#include "suite.h"

static void test_runs(void)
{
    struct task_queue q = TASK_QUEUE_INIT;
    task_queue_push(&q, 0, UINT64_C(1) << 40);
    task_queue_push(&q, 0, 1);
    CU_ASSERT_EQUAL(q.count, 1);
    CU_ASSERT_EQUAL(q.tasks, (UINT64_C(1) << 40) + 1);
    task_queue_push(&q, 7, 0);
    CU_ASSERT_EQUAL(q.count, 1);
    task_queue_push(&q, 7, 2);
    CU_ASSERT_EQUAL(q.count, 2);
    CU_ASSERT_EQUAL(task_queue_pop(&q), 0);
    CU_ASSERT_EQUAL(q.tasks, (UINT64_C(1) << 40) + 2);
    task_queue_release(&q);
}

static void test_order(void)
{
    struct task_queue q = TASK_QUEUE_INIT;
    uint64_t next = 0, pushed = 0;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 3; i++)
            task_queue_push(&q, pushed++, 1);
        CU_ASSERT_EQUAL(task_queue_pop(&q), next++);
    }
    while (q.tasks != 0)
        CU_ASSERT_EQUAL(task_queue_pop(&q), next++);
    CU_ASSERT_EQUAL(next, pushed);
    CU_ASSERT_EQUAL(q.count, 0);
    task_queue_release(&q);
}

static void test_thief(void)
{
    struct task_queue q = TASK_QUEUE_INIT;
    uint64_t word = 99;
    CU_ASSERT_EQUAL(task_queue_take_last(&q, 5, &word), 0);
    task_queue_push(&q, 1, 4);
    task_queue_push(&q, 2, 10);
    CU_ASSERT_EQUAL(task_queue_take_last(&q, 0, &word), 0);
    CU_ASSERT_EQUAL(task_queue_take_last(&q, 7, &word), 7);
    CU_ASSERT_EQUAL(word, 2);
    CU_ASSERT_EQUAL(task_queue_take_last(&q, 7, &word), 3);
    CU_ASSERT_EQUAL(q.count, 1);
    CU_ASSERT_EQUAL(q.tasks, 4);
    CU_ASSERT_EQUAL(task_queue_pop(&q), 1);
    task_queue_release(&q);
}

static void test_save(void)
{
    struct task_queue a = TASK_QUEUE_INIT, b = TASK_QUEUE_INIT;
    struct bytes x = BYTES_INIT, y = BYTES_INIT;
    task_queue_push(&a, 3, 5);
    for (int i = 0; i < 9; i++)
        task_queue_push(&b, (uint64_t)i, 1);
    while (b.tasks != 0)
        task_queue_pop(&b);
    task_queue_push(&b, 3, 2);
    task_queue_push(&b, 3, 3);
    task_queue_save(&a, &x);
    task_queue_save(&b, &y);
    CU_ASSERT_EQUAL(x.size, y.size);
    CU_ASSERT_EQUAL(memcmp(x.data, y.data, x.size), 0);
    bytes_release(&x);
    bytes_release(&y);
    task_queue_release(&a);
    task_queue_release(&b);
}

static void test_notice(void)
{
    struct notice_counts n = { 32767, 32766, 32765, 32764, true };
    struct notice_counts m = notice_unpack(notice_pack(&n));
    CU_ASSERT_EQUAL(m.completed, n.completed);
    CU_ASSERT_EQUAL(m.failed, n.failed);
    CU_ASSERT_EQUAL(m.lost, n.lost);
    CU_ASSERT_EQUAL(m.newest, n.newest);
    CU_ASSERT_TRUE(m.odd_bundle);
}

static void test_layout(void)
{
    struct task_service t;
    struct task_place place;
    uint32_t dispatchers = 0, executors = 0;
    task_service_init(&t);
    t.clients = 2;
    t.services = 3;
    t.executors = 4;
    t.provision = PROVISION_ALL;
    CU_ASSERT_EQUAL(task_service_actors(&t), 2 + 3 * 5 + 3);
    for (uint32_t id = 0; id < task_service_actors(&t); id++) {
        task_service_place(&t, id, &place);
        dispatchers += place.role == &role_dispatcher;
        if (place.role == &role_dispatcher)
            CU_ASSERT_EQUAL(task_service_dispatcher(&t, place.service), id);
        executors += place.role == &role_task_executor;
        if (place.role == &role_provisioner)
            CU_ASSERT_EQUAL(task_service_provisioner(&t, place.service), id);
    }
    CU_ASSERT_EQUAL(dispatchers, 3);
    CU_ASSERT_EQUAL(executors, 12);
    CU_ASSERT_EQUAL(task_share(10, 3, 0) + task_share(10, 3, 1) + task_share(10, 3, 2), 10);
    CU_ASSERT_EQUAL(task_share(10, 3, 0), 4);
}

static void test_slower(void)
{
    struct task_service t;
    task_service_init(&t);
    t.services = 5;
    t.slowest_percent = 300;
    CU_ASSERT_EQUAL(task_service_scaled(&t, 0, 1000), 1000);
    CU_ASSERT_EQUAL(task_service_scaled(&t, 2, 1000), 2000);
    CU_ASSERT_EQUAL(task_service_scaled(&t, 4, 1000), 3000);
}

static uint32_t requests(enum provision_policy policy, uint32_t hosts)
{
    uint32_t count = 0;
    while (hosts != 0) {
        uint32_t size = provisioner_request_size(policy, count++, hosts);
        CU_ASSERT(size != 0 && size <= hosts);
        hosts -= size;
    }
    return count;
}

static void test_requests(void)
{
    CU_ASSERT_EQUAL(requests(PROVISION_ONE, 98), 98);
    CU_ASSERT_EQUAL(requests(PROVISION_ADDITIVE, 98), 14);      /* ceil((sqrt(785) - 1) / 2) */
    CU_ASSERT_EQUAL(requests(PROVISION_ADDITIVE, 10), 4);
    CU_ASSERT_EQUAL(requests(PROVISION_EXPONENTIAL, 98), 7);    /* ceil(log2(99)) */
    CU_ASSERT_EQUAL(requests(PROVISION_EXPONENTIAL, 7), 3);
    CU_ASSERT_EQUAL(requests(PROVISION_ALL, 98), 1);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "equal tasks make one run, however many", test_runs },
        { "tasks come out in the order in which they came", test_order },
        { "a thief takes from the end, one run at a time", test_thief },
        { "equal queues are saved alike", test_save },
        { "a notice keeps its counts", test_notice },
        { "actors lie where the layout says", test_layout },
        { "costs grow evenly from the first service to the last", test_slower },
        { "hosts are asked for as the policies say", test_requests },
        { NULL, NULL }
    };
    return suite_run("task queue", tests);
}
