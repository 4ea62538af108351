/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/topics_glance.h"

#include <string.h>

#include "suite.h"

static void check(const struct topics *t, const char *topic, bool matched, uint32_t scanned)
{
    struct topics_match m = topics_match(t, topic);
    CU_ASSERT_EQUAL(m.matched, matched);
    CU_ASSERT_EQUAL(m.scanned, scanned);
}

static void test_empty(void)
{
    struct topics t = TOPICS_INIT;
    check(&t, "hb", false, 0);
    check(&t, "", false, 0);
    CU_ASSERT_FALSE(topics_unsubscribe(&t, "hb"));
    CU_ASSERT_EQUAL(topics_length(&t), 0);
    topics_release(&t);
}

static void test_prefix(void)
{
    struct topics t = TOPICS_INIT;
    topics_subscribe(&t, "kvs.namespace-job-12");
    check(&t, "kvs.namespace-job-12-setroot", true, 1);
    check(&t, "kvs.namespace-job-12", true, 1);
    check(&t, "kvs.namespace-job-123-setroot", true, 1);    /* the prefix hazard is part of the model */
    check(&t, "kvs.namespace-job-1", false, 1);
    check(&t, "kvs.namespace-job-2-setroot", false, 1);
    topics_release(&t);
}

static void test_order(void)
{
    struct topics t = TOPICS_INIT;
    topics_subscribe(&t, "a");
    topics_subscribe(&t, "b");
    topics_subscribe(&t, "c");
    check(&t, "c1", true, 1);
    check(&t, "b1", true, 2);
    check(&t, "a1", true, 3);
    check(&t, "d1", false, 3);
    topics_subscribe(&t, "");
    check(&t, "d1", true, 1);
    topics_release(&t);
}

static void test_duplicates(void)
{
    struct topics t = TOPICS_INIT;
    topics_subscribe(&t, "a");
    topics_subscribe(&t, "b");
    topics_subscribe(&t, "a");
    topics_subscribe(&t, "c");
    CU_ASSERT_EQUAL(topics_length(&t), 4);
    CU_ASSERT_EQUAL(topics_count(&t, "a"), 2);
    check(&t, "a", true, 2);
    /* The first equal entry goes: the newest, so the old one is found behind b. */
    CU_ASSERT_TRUE(topics_unsubscribe(&t, "a"));
    CU_ASSERT_EQUAL(topics_count(&t, "a"), 1);
    check(&t, "a", true, 3);
    CU_ASSERT_TRUE(topics_unsubscribe(&t, "a"));
    CU_ASSERT_FALSE(topics_unsubscribe(&t, "a"));
    CU_ASSERT_FALSE(topics_unsubscribe(&t, "ab"));
    check(&t, "a", false, 2);
    topics_release(&t);
}

static void test_save(void)
{
    struct topics t = TOPICS_INIT, u = TOPICS_INIT;
    topics_subscribe(&t, "x");
    topics_subscribe(&t, "y");
    topics_subscribe(&u, "x");
    for (int i = 0; i < 100; i++)
        topics_subscribe(&u, "z");
    topics_subscribe(&u, "y");
    for (int i = 0; i < 100; i++)
        topics_unsubscribe(&u, "z");
    struct bytes a = BYTES_INIT, b = BYTES_INIT;
    topics_save(&t, &a);
    topics_save(&u, &b);
    static const uint8_t expected[] = { 2, 0, 0, 0, 1, 0, 0, 0, 'y', 1, 0, 0, 0, 'x' };
    CU_ASSERT_EQUAL_FATAL(a.size, sizeof expected);
    CU_ASSERT_EQUAL(memcmp(a.data, expected, a.size), 0);
    /* The same list, reached by another way through an index and holes. */
    CU_ASSERT_EQUAL_FATAL(b.size, a.size);
    CU_ASSERT_EQUAL(memcmp(a.data, b.data, a.size), 0);
    bytes_release(&a);
    bytes_release(&b);
    topics_release(&t);
    topics_release(&u);
}

/* --- against a plain list --- */

static struct topics_match naive_match(const GPtrArray *list, const char *topic)
{
    struct topics_match m = { false, 0 };
    for (guint i = list->len; i-- > 0 && !m.matched;) {
        m.scanned++;
        m.matched = g_str_has_prefix(topic, list->pdata[i]);
    }
    return m;
}

static bool naive_unsubscribe(GPtrArray *list, const char *prefix)
{
    for (guint i = list->len; i-- > 0;)
        if (strcmp(list->pdata[i], prefix) == 0) {
            g_ptr_array_remove_index(list, i);
            return true;
        }
    return false;
}

static char *random_text(GRand *random, int values)
{
    static const char *const forms[] = { "kvs.setroot-job-%d", "kvs.error-job-%d", "kvs.namespace-%d", "%d", "kvs.%d" };
    return g_strdup_printf(forms[g_rand_int_range(random, 0, 5)], g_rand_int_range(random, 0, values));
}

static void compare_with_naive(uint32_t seed, int operations, int values, double adding)
{
    GRand *random = g_rand_new_with_seed(seed);
    struct topics t = TOPICS_INIT;
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    int wrong = 0;
    for (int i = 0; i < operations; i++) {
        char *text = random_text(random, values);
        double kind = g_rand_double(random);
        if (kind < 0.4) {
            struct topics_match m = topics_match(&t, text);
            struct topics_match n = naive_match(list, text);
            wrong += m.matched != n.matched || m.scanned != n.scanned;
            g_free(text);
        } else if (kind < 0.4 + 0.6 * adding) {
            topics_subscribe(&t, text);
            g_ptr_array_add(list, text);
        } else {
            wrong += topics_unsubscribe(&t, text) != naive_unsubscribe(list, text);
            g_free(text);
        }
        wrong += topics_length(&t) != list->len;
    }
    struct bytes saved = BYTES_INIT, expected = BYTES_INIT;
    topics_save(&t, &saved);
    bytes_put_u32(&expected, list->len);
    for (guint i = list->len; i-- > 0;)
        bytes_put_text(&expected, list->pdata[i]);
    wrong += saved.size != expected.size || memcmp(saved.data, expected.data, saved.size) != 0;
    CU_ASSERT_EQUAL(wrong, 0);
    bytes_release(&saved);
    bytes_release(&expected);
    g_ptr_array_free(list, TRUE);
    topics_release(&t);
    g_rand_free(random);
}

static void test_random(void)
{
    for (uint32_t seed = 1; seed <= 30; seed++) {
        compare_with_naive(seed, 2000, 3, 0.5);
        compare_with_naive(seed, 2000, 30, 0.6);
        compare_with_naive(seed, 2000, 300, 0.9);
    }
}

/* One leaked entry a namespace, as in flux-core 0.16: 100,000 jobs later the walk is that long, the match is not. */
static void test_leaked(void)
{
    struct topics t = TOPICS_INIT;
    char text[64];
    topics_subscribe(&t, "hb");
    for (int i = 0; i < 100000; i++) {
        static const char *const forms[] = { "kvs.setroot-job-%d", "kvs.error-job-%d", "kvs.namespace-removed-job-%d" };
        for (int form = 0; form < 3; form++) {
            g_snprintf(text, sizeof text, forms[form], i);
            topics_subscribe(&t, text);
        }
        for (int form = 0; form < 2; form++) {
            g_snprintf(text, sizeof text, forms[form], i);
            topics_unsubscribe(&t, text);
        }
    }
    CU_ASSERT_EQUAL(topics_length(&t), 100001);
    gint64 start_us = g_get_monotonic_time();
    uint64_t scanned = 0;
    for (int i = 0; i < 100000; i++)
        scanned += topics_match(&t, i % 2 == 0 ? "hb" : "kvs.setroot-job-7").scanned;
    gint64 spent_us = g_get_monotonic_time() - start_us;
    CU_ASSERT_EQUAL(scanned, 100000ull * 100001);
    /* A walk would take 10^10 steps, a minute; the bound is generous for a loaded machine and a sanitizer. */
    CU_ASSERT_TRUE(spent_us < 10 * 1000 * 1000);
    check(&t, "kvs.namespace-removed-job-99999", true, 1);
    /* Prefixes of it are those of job-5, job-50 ... job-50000: the newest of them is met first. */
    check(&t, "kvs.namespace-removed-job-500000", true, 50000);
    topics_release(&t);
}

static void test_heads(void)
{
    struct topics a = TOPICS_INIT, b = TOPICS_INIT;
    struct topics_heads heads;
    topics_heads_clear(&heads);
    CU_ASSERT_FALSE(topics_heads_may_match(&heads, "kvs"));
    topics_subscribe(&a, "hb");
    topics_subscribe(&a, "kvs.stats.clear");
    topics_subscribe(&b, "kvs.stats.clear");
    topics_heads_add(&heads, &a);
    topics_heads_add(&heads, &b);
    CU_ASSERT_EQUAL(heads.entries, 3);
    CU_ASSERT_EQUAL(heads.count, 2);
    CU_ASSERT_TRUE(topics_heads_may_match(&heads, "hb"));
    CU_ASSERT_TRUE(topics_heads_may_match(&heads, "hbx"));
    CU_ASSERT_FALSE(topics_heads_may_match(&heads, "h"));
    CU_ASSERT_FALSE(topics_heads_may_match(&heads, ""));
    CU_ASSERT_TRUE(topics_heads_may_match(&heads, "kvs.stats.clear"));
    CU_ASSERT_TRUE(topics_heads_may_match(&heads, "kvs.stat"));     /* only may */
    CU_ASSERT_FALSE(topics_heads_may_match(&heads, "kvs.namespace-job-1-setroot"));
    topics_subscribe(&b, "");
    topics_heads_add(&heads, &b);
    CU_ASSERT_TRUE(topics_heads_may_match(&heads, ""));
    topics_release(&a);
    topics_release(&b);
}

static void test_many_heads(void)
{
    struct topics t = TOPICS_INIT;
    struct topics_heads heads;
    char prefix[8];
    for (int i = 0; i <= TOPICS_HEADS; i++) {
        topics_heads_clear(&heads);
        g_snprintf(prefix, sizeof prefix, "topic%d", i);
        topics_subscribe(&t, prefix);
        topics_heads_add(&heads, &t);
        CU_ASSERT_EQUAL(topics_heads_may_match(&heads, "other"), i == TOPICS_HEADS);
    }
    CU_ASSERT_TRUE(topics_unsubscribe(&t, "topic3"));
    topics_heads_clear(&heads);
    topics_heads_add(&heads, &t);
    CU_ASSERT_FALSE(topics_heads_may_match(&heads, "topic3"));
    CU_ASSERT_TRUE(topics_heads_may_match(&heads, "topic4.x"));
    topics_release(&t);
}

/* Prefixes and topics of few letters, so that most are met. */
static void few_letters(GRand *r, char *text, int most)
{
    int size = g_rand_int_range(r, 0, most);
    for (int i = 0; i < size; i++)
        text[i] = (char)g_rand_int_range(r, 'a', 'c');
    text[size] = '\0';
}

static void test_glance(void)
{
    enum { LISTS = 4 };
    GRand *r = g_rand_new_with_seed(7);
    struct topics lists[LISTS] = { TOPICS_INIT, TOPICS_INIT, TOPICS_INIT, TOPICS_INIT };
    const struct topics *all[LISTS] = { &lists[0], &lists[1], &lists[2], &lists[3] };
    uint32_t usable = 0;
    char text[16];
    for (uint64_t round = 0; round < 20000; round++) {
        struct topics *t = &lists[g_rand_int_range(r, 0, LISTS)];
        struct topics_glance glance;
        struct topics_match matches[LISTS];
        few_letters(r, text, 5);
        if (g_rand_int_range(r, 0, 14) == 0)
            topics_subscribe(t, text);
        else
            topics_unsubscribe(t, text);
        topics_glance_renew(&glance, all, LISTS);
        if (!topics_glance_usable(&glance))
            continue;
        usable++;
        few_letters(r, text, 8);
        topics_glance_match(&glance, topics_prefixes_of(round, text), matches);
        for (uint32_t i = 0; i < LISTS; i++)
            check(&lists[i], text, matches[i].matched, matches[i].scanned);
    }
    CU_ASSERT(usable > 5000 && usable < 19000);
    for (uint32_t i = 0; i < LISTS; i++)
        topics_release(&lists[i]);
    g_rand_free(r);
}

static void test_glance_bounds(void)
{
    struct topics t = TOPICS_INIT;
    const struct topics *list = &t;
    struct topics_glance glance;
    struct topics_match match;
    char text[TOPICS_GLANCE_TEXT + 2];
    memset(text, 'x', sizeof text);
    text[TOPICS_GLANCE_TEXT + 1] = '\0';
    CU_ASSERT_PTR_NULL(topics_prefixes_of(1 << 21, text));
    CU_ASSERT_PTR_NULL(topics_prefixes_of(1 << 21, text));     /* nor remembered */
    topics_subscribe(&t, text);
    topics_glance_renew(&glance, &list, 1);
    CU_ASSERT_FALSE(topics_glance_usable(&glance));
    topics_unsubscribe(&t, text);

    text[TOPICS_GLANCE_TEXT] = '\0';
    topics_subscribe(&t, text);
    for (uint32_t i = 1; i < TOPICS_GLANCE_ENTRIES; i++)
        topics_subscribe(&t, "y");
    topics_glance_renew(&glance, &list, 1);
    CU_ASSERT_TRUE(topics_glance_usable(&glance));
    topics_glance_match(&glance, topics_prefixes_of(1 << 20, text), &match);
    CU_ASSERT(match.matched && match.scanned == TOPICS_GLANCE_ENTRIES);
    topics_glance_match(&glance, topics_prefixes_of((1 << 20) + 64, "x"), &match);  /* takes the other's place */
    CU_ASSERT(!match.matched && match.scanned == TOPICS_GLANCE_ENTRIES);
    topics_subscribe(&t, "z");
    topics_glance_renew(&glance, &list, 1);
    CU_ASSERT_FALSE(topics_glance_usable(&glance));
    topics_release(&t);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "an empty table matches nothing and scans nothing", test_empty },
        { "an entry matches by its leading characters", test_prefix },
        { "newer entries are scanned first", test_order },
        { "duplicates need one unsubscribe each, the newest first", test_duplicates },
        { "saving gives the list, however it was reached", test_save },
        { "random operations do what a plain list does", test_random },
        { "a quick look tells what no list can match", test_heads },
        { "a quick look at too many entries tells nothing", test_many_heads },
        { "a glance at several short lists gives what a walk gives", test_glance },
        { "a glance takes so many entries and no longer texts", test_glance_bounds },
        { "a list of 100,000 leaked entries is matched without a walk", test_leaked },
        { NULL, NULL },
    };
    return suite_run("topics", tests);
}
