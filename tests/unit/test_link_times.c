/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of links against GLib's.
 */
#include "engine/link_times.h"
#include "engine/random.h"
#include "suite.h"

static uint64_t key_of(uint32_t from, uint32_t to)
{
    return (uint64_t)from << 32 | to;
}

static void test_first_use(void)
{
    struct link_times t = LINK_TIMES_INIT;
    CU_ASSERT_EQUAL(*link_times_find(&t, 3, 4), 0);
    *link_times_find(&t, 3, 4) = 17;
    CU_ASSERT_EQUAL(*link_times_find(&t, 3, 4), 17);
    CU_ASSERT_EQUAL(*link_times_find(&t, 4, 3), 0);
    CU_ASSERT_EQUAL(*link_times_find(&t, 3, 3), 0);
    *link_times_find(&t, 3, 3) = 18;
    *link_times_find(&t, 0, 0) = 19;
    CU_ASSERT_EQUAL(*link_times_find(&t, 3, 3), 18);
    CU_ASSERT_EQUAL(*link_times_find(&t, 3, 4), 17);
    CU_ASSERT_EQUAL(*link_times_find(&t, 0, 0), 19);
    link_times_release(&t);
    CU_ASSERT_EQUAL(*link_times_find(&t, 3, 4), 0);
    link_times_release(&t);
}

/* A tree's links, where neighbours follow each other, and links between any two, ids up to the largest among them. */
static void test_against_hash_table(void)
{
    struct link_times t = LINK_TIMES_INIT;
    GHashTable *known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    uint64_t drawn = 0;
    unsigned wrong = 0;
    for (int64_t time_ns = 1; time_ns <= 100000; time_ns++) {
        uint32_t from, to;
        if (time_ns % 2 == 0) {
            from = (uint32_t)random_below(random_bits(1, 1, 0, drawn++), 1000);
            to = 16 * from + 1 + (uint32_t)(time_ns / 2 % 16);
        } else {
            from = UINT32_MAX - (uint32_t)random_below(random_bits(1, 1, 0, drawn++), 100);
            to = UINT32_MAX - (uint32_t)random_below(random_bits(1, 1, 0, drawn++), 100);
        }
        uint64_t key = key_of(from, to);
        int64_t *free_ns = link_times_find(&t, from, to);
        const int64_t *before = g_hash_table_lookup(known, &key);
        wrong += *free_ns != (before != NULL ? *before : 0);
        *free_ns = time_ns;
        g_hash_table_replace(known, g_memdup2(&key, sizeof key), g_memdup2(&time_ns, sizeof time_ns));
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(t.used, g_hash_table_size(known));
    CU_ASSERT_TRUE(t.size <= 4 * t.used);
    link_times_release(&t);
    g_hash_table_destroy(known);
}

/* Who looks and leaves 0 behind takes no room for ever. */
static void test_looking_only(void)
{
    struct link_times t = LINK_TIMES_INIT;
    for (unsigned i = 0; i < 100000; i++)
        *link_times_find(&t, 1, 2) = 0;
    *link_times_find(&t, 1, 2) = 5;
    CU_ASSERT_EQUAL(*link_times_find(&t, 1, 2), 5);
    CU_ASSERT_TRUE(t.size <= 1024);
    link_times_release(&t);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "a link's time is 0 at first and then what was put there, for each direction, also to itself", test_first_use },
        { "100,000 uses of two kinds of links find what a hash table finds", test_against_hash_table },
        { "links left at 0 are not kept", test_looking_only },
        { NULL, NULL },
    };
    return suite_run("link_times", tests);
}
