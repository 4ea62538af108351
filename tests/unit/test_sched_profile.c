/* SPDX-License-Identifier: BSD-3-Clause */
/* The profile against a naive one: an array of what is free in each of the next HORIZON nanoseconds. */
#include <glib.h>
#include <string.h>

#include "sched/profile.h"
#include "suite.h"

enum { HORIZON = 120, MACHINES = 12 };

struct model {
    bool named;
    int64_t now;
    uint32_t nodes, cores;
    int64_t count[2 * HORIZON];
    uint64_t set[2 * HORIZON];
};

static uint64_t model_both(const struct model *m, int64_t start, int64_t end)
{
    uint64_t both = UINT64_MAX;
    for (int64_t t = start; t < MIN(end, 2 * HORIZON); t++)
        both &= m->set[t];
    return both;
}

/* The lowest machines of a set that satisfy the request, or 0. */
static uint64_t model_choose(const struct model *m, const struct resource_request *r, uint64_t set)
{
    uint64_t chosen = 0;
    uint32_t missing = r->nodes > 0 ? r->nodes : r->slots;
    uint32_t each = r->nodes == 0 ? r->cores_per_slot : r->exclusive ? m->cores : r->slots * r->cores_per_slot;
    for (uint32_t node = 0; node < m->nodes; node++) {
        uint32_t here = 0, take;
        for (uint32_t c = 0; c < m->cores; c++)
            here += set >> (node * m->cores + c) & 1;
        take = here / each;
        take = MIN(take, r->nodes > 0 ? 1 : missing);
        take = MIN(take, missing);
        missing -= take;
        take *= each;
        for (uint32_t c = 0; c < m->cores && take > 0; c++) {
            uint64_t bit = 1ull << (node * m->cores + c);
            if ((set & bit) != 0) {
                chosen |= bit;
                take--;
            }
        }
    }
    return missing == 0 ? chosen : 0;
}

static int64_t model_find(const struct model *m, const struct need *need, int64_t length, uint64_t *set)
{
    for (int64_t start = m->now; start < 2 * HORIZON; start++) {
        int64_t end = MIN(start + length, 2 * HORIZON);
        if (m->named) {
            *set = model_choose(m, &need->request, model_both(m, start, end));
            if (*set != 0)
                return start;
        } else {
            bool fits = true;
            for (int64_t t = start; t < end && fits; t++)
                fits = m->count[t] >= (int64_t)need->cores;
            if (fits)
                return start;
        }
    }
    return PROFILE_NEVER;
}

static void model_change(struct model *m, int64_t start, int64_t end, int64_t cores, uint64_t set)
{
    for (int64_t t = MAX(start, m->now); t < MIN(end, 2 * HORIZON); t++) {
        m->count[t] += cores;
        m->set[t] ^= set;
    }
}

struct held {
    int64_t start, end;
    uint64_t cores, set;
};

/* Returns how many searches found nothing. */
static unsigned compare_with_model(uint32_t nodes, uint32_t cores, enum profile_kind kind, bool for_ever,
                                   uint32_t seed)
{
    const bool named = kind == PROFILE_NAMED;
    struct model m = { .named = named, .nodes = nodes, .cores = cores };
    for (int t = 0; t < 2 * HORIZON; t++) {
        m.count[t] = (int64_t)nodes * cores;
        m.set[t] = (1ull << nodes * cores) - 1;
    }
    struct profile *p = profile_new(nodes, cores, kind, 0);
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    g_autoptr(GArray) held = g_array_new(FALSE, FALSE, sizeof(struct held));
    unsigned never = 0;
    for (int step = 0; step < 400; step++) {
        int what = g_rand_int_range(rand, 0, 100);
        if (what < 8 && m.now < HORIZON) {
            m.now += g_rand_int_range(rand, 0, 4);
            profile_advance(p, m.now);
        } else if (what < 40 && held->len > 0) {
            guint i = (guint)g_rand_int_range(rand, 0, (gint32)held->len);
            struct held h = g_array_index(held, struct held, i);
            g_array_remove_index_fast(held, i);
            profile_give(p, h.start, h.end, h.cores, &h.set);
            model_change(&m, h.start, h.end, (int64_t)h.cores, h.set);
        } else {
            struct need need = { 0, { .slots = (uint32_t)g_rand_int_range(rand, 1, 5), .cores_per_slot = 1 } };
            if (cores > 1 && named) {
                need.request.nodes = (uint32_t)g_rand_int_range(rand, 0, 3);
                need.request.slots = (uint32_t)g_rand_int_range(rand, 1, 3);
                need.request.cores_per_slot = (uint32_t)g_rand_int_range(rand, 1, 3);
                need.request.exclusive = need.request.nodes > 0 && g_rand_boolean(rand);
            }
            const struct resource_request *r = &need.request;
            need.cores = r->nodes == 0 ? r->slots * r->cores_per_slot :
                         r->nodes * (r->exclusive ? cores : r->slots * r->cores_per_slot);
            int64_t length = for_ever && g_rand_int_range(rand, 0, 10) == 0 ? INT64_MAX :
                             g_rand_int_range(rand, 1, 30);
            uint64_t set = 0, expected_set = 0;
            int64_t expected = model_find(&m, &need, length > HORIZON ? 2 * HORIZON : length, &expected_set);
            bool now = profile_fits_now(p, &need, length, &set);
            CU_ASSERT_EQUAL(now, expected == m.now);
            int64_t start = profile_find(p, &need, length, &set);
            CU_ASSERT_EQUAL_FATAL(start, expected);
            if (start == PROFILE_NEVER) {
                never++;
                continue;
            }
            if (named)
                CU_ASSERT_EQUAL(set, expected_set);
            if (start > HORIZON + HORIZON / 2)
                continue;
            struct held h = { start, length == INT64_MAX ? INT64_MAX : start + length, need.cores, named ? set : 0 };
            profile_take(p, h.start, h.end, h.cores, &h.set);
            model_change(&m, h.start, h.end, -(int64_t)h.cores, h.set);
            g_array_append_val(held, h);
        }
        int64_t t = m.now + g_rand_int_range(rand, 0, HORIZON / 2);
        CU_ASSERT_EQUAL((int64_t)profile_free_at(p, t), m.count[t]);
    }
    /* all given back: one step is left */
    for (guint i = 0; i < held->len; i++) {
        struct held *h = &g_array_index(held, struct held, i);
        profile_give(p, h->start, h->end, h->cores, &h->set);
    }
    CU_ASSERT_EQUAL(profile_steps(p), 1);
    CU_ASSERT_EQUAL(profile_free_at(p, m.now), nodes * cores);
    profile_free(p);
    return never;
}

static void compare_all(uint32_t nodes, uint32_t cores, enum profile_kind kind)
{
    unsigned never = 0;
    for (uint32_t seed = 1; seed <= 20; seed++)
        never += compare_with_model(nodes, cores, kind, seed > 10, seed);
    CU_ASSERT_TRUE(never > 0);
}

static void test_count(void)
{
    compare_all(1, MACHINES, PROFILE_SHORT);
}

static void test_stretches(void)
{
    compare_all(1, MACHINES, PROFILE_LONG);
    compare_all(1, 3, PROFILE_LONG);
}

static void test_named(void)
{
    compare_all(1, MACHINES, PROFILE_NAMED);
}

static void test_nodes(void)
{
    compare_all(4, 3, PROFILE_NAMED);
}

/* Two machines free at any time, but never the same two for 20 ns: naming them makes the job wait. */
static void test_names_matter(void)
{
    struct need two = { 2, { .slots = 2, .cores_per_slot = 1 } };
    for (enum profile_kind kind = PROFILE_SHORT; kind <= PROFILE_NAMED; kind++) {
        struct profile *p = profile_new(1, 3, kind, 0);
        for (int64_t t = 0; t < 100; t += 10) {
            uint64_t machine = 1ull << t / 10 % 3;
            profile_take(p, t, t + 10, 1, &machine);
        }
        uint64_t set = 0;
        CU_ASSERT_EQUAL(profile_find(p, &two, 20, &set), kind == PROFILE_NAMED ? 90 : 0);
        if (kind == PROFILE_NAMED)
            CU_ASSERT_EQUAL(set, 6);
        profile_free(p);
    }
}

static void test_allocations(void)
{
    struct profile *p = profile_new(3, 70, PROFILE_NAMED, 0);
    struct need need = { 3 * 65, { .nodes = 3, .slots = 65, .cores_per_slot = 1 } };
    g_autofree uint64_t *set = g_new0(uint64_t, profile_words(p)), *back = g_new0(uint64_t, profile_words(p));
    CU_ASSERT_EQUAL(profile_find(p, &need, 5, set), 0);
    struct allocation *a = profile_allocation(p, set);
    CU_ASSERT_EQUAL_FATAL(a->count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(a->spans[i].node, i);
        CU_ASSERT_EQUAL(a->spans[i].first_core, 0);
        CU_ASSERT_EQUAL(a->spans[i].cores, 65);
    }
    profile_set(p, a, back);
    CU_ASSERT_EQUAL(memcmp(set, back, profile_words(p) * sizeof set[0]), 0);
    allocation_free(a);
    profile_free(p);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "counting: the profile does what an array of instants does", test_count },
        { "counting with known stretches: the same", test_stretches },
        { "naming machines: the same", test_named },
        { "naming machines of nodes: the same", test_nodes },
        { "two machines that change are not two machines", test_names_matter },
        { "sets of machines are allocations", test_allocations },
        { NULL, NULL },
    };
    return suite_run("profile", tests);
}
