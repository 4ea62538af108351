/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/heap.h"
#include "suite.h"

static const struct heap_setup plain = { .size_bytes = 1000, .base_bytes = 400, .pause_fixed_ns = 5,
                                         .pause_per_byte_ps = 2000 };

static void test_fills(void)
{
    struct heap heap;
    heap_init(&heap, &plain);
    CU_ASSERT_EQUAL(heap_allocate(&heap, 0, 600, 0), 0);        /* exactly full */
    CU_ASSERT_EQUAL(heap.collections, 0);
    CU_ASSERT_EQUAL(heap_allocate(&heap, 1, 1, 0), 5 + 400 * 2);
    CU_ASSERT_EQUAL(heap.collections, 1);
    CU_ASSERT_EQUAL(heap.used_bytes, 401);
    CU_ASSERT_EQUAL(heap_allocate(&heap, 2, 599, 0), 0);
    CU_ASSERT_EQUAL(heap_allocate(&heap, 3, 1, 0), 805);
    CU_ASSERT_EQUAL(heap.paused_ns, 2 * 805);
    CU_ASSERT_FALSE(heap.exhausted);
}

static void test_held(void)
{
    struct heap heap;
    heap_init(&heap, &plain);
    CU_ASSERT_EQUAL(heap_allocate(&heap, 0, 600, 600), 0);
    CU_ASSERT_EQUAL(heap_allocate(&heap, 0, 100, 300), 5 + 700 * 2);
    CU_ASSERT_EQUAL(heap.used_bytes, 800);
    CU_ASSERT_EQUAL(heap_free_bytes(&heap, 300), 300);
    CU_ASSERT_EQUAL(heap_free_bytes(&heap, 700), 0);
}

static void test_leak(void)
{
    struct heap heap;
    heap_init(&heap, &plain);
    heap_leak(&heap, 150);
    CU_ASSERT_EQUAL(heap_free_bytes(&heap, 0), 450);
    CU_ASSERT_EQUAL(heap_allocate(&heap, 0, 601, 0), 5 + 550 * 2);     /* longer: more is alive */
    CU_ASSERT_TRUE(heap.exhausted);                                    /* 550 + 601 do not fit */
}

static void test_more_often(void)
{
    struct heap heap;
    heap_init(&heap, &plain);
    uint64_t first = 0, then = 0;
    for (int i = 0; i < 6000; i++)
        first += heap_allocate(&heap, i, 1, 0) != 0;
    heap_leak(&heap, 300);
    for (int i = 0; i < 6000; i++)
        then += heap_allocate(&heap, i, 1, 0) != 0;
    CU_ASSERT_EQUAL(first, 9);
    CU_ASSERT_EQUAL(then, 20);      /* 600 bytes free before, 300 now */
}

static void test_no_room(void)
{
    struct heap heap;
    heap_init(&heap, &plain);
    heap_leak(&heap, 600);
    CU_ASSERT_EQUAL(heap_free_bytes(&heap, 0), 0);
    heap_allocate(&heap, 0, 601, 0);
    CU_ASSERT_TRUE(heap.exhausted);
}

static uint64_t collections_until_exhausted(bool limit, int64_t between_ns)
{
    struct heap_setup setup = plain;
    struct heap heap;
    int64_t now_ns = 0;
    setup.overhead_limit = limit;
    setup.pause_fixed_ns = 1000000;
    heap_init(&heap, &setup);
    heap_leak(&heap, 585);          /* 1.5 % free */
    while (!heap.exhausted && heap.collections < 50)
        now_ns += between_ns + heap_allocate(&heap, now_ns, 10, 0);
    return heap.collections;
}

static void test_overhead(void)
{
    CU_ASSERT_EQUAL(collections_until_exhausted(true, 1000), 6);     /* the first came after a while */
    CU_ASSERT_EQUAL(collections_until_exhausted(false, 1000), 50);
    CU_ASSERT_EQUAL(collections_until_exhausted(true, 100000), 50);     /* 9 % of the time is left */
}

static void test_none(void)
{
    static const struct heap_setup none = { .size_bytes = 0, .pause_fixed_ns = 5 };
    struct heap heap;
    heap_init(&heap, &none);
    CU_ASSERT_EQUAL(heap_allocate(&heap, 0, UINT64_MAX, UINT64_MAX), 0);
    CU_ASSERT_FALSE(heap.exhausted);
    CU_ASSERT_EQUAL(heap_free_bytes(&heap, 0), 0);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "a collection comes when an allocation does not fit, and takes its time by what is alive", test_fills },
        { "what the caller holds is alive", test_held },
        { "what has leaked is alive for ever", test_leak },
        { "a heap with less free is collected more often", test_more_often },
        { "an allocation that never fits exhausts the heap", test_no_room },
        { "five collections that leave neither room nor time exhaust it", test_overhead },
        { "no heap costs nothing", test_none },
        { NULL, NULL }
    };
    return suite_run("heap", tests);
}
