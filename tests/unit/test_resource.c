/* SPDX-License-Identifier: BSD-3-Clause */
#include <glib.h>

#include "sched/idset.h"
#include "sched/resource.h"
#include "suite.h"

/* --- a naive model: one flag a core, every choice by looking at all nodes --- */

struct model {
    uint32_t nodes;
    uint32_t cores;
    enum resource_fit fit;
    bool taken[80][80];
};

static uint32_t model_free(const struct model *m, uint32_t node)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < m->cores; c++)
        n += !m->taken[node][c];
    return n;
}

/* The node that the fit prefers, with at least `need` free and not used yet; or -1. */
static int model_choose(const struct model *m, uint32_t need, const bool *used)
{
    int best = -1;
    for (uint32_t node = 0; node < m->nodes; node++) {
        uint32_t n = model_free(m, node);
        if (used[node] || n < need)
            continue;
        if (best < 0 || (m->fit == RESOURCE_WORST_FIT && n > model_free(m, (uint32_t)best)) ||
            (m->fit == RESOURCE_BEST_FIT && n < model_free(m, (uint32_t)best)))
            best = (int)node;
    }
    return best;
}

/* Marks what the request takes in `now`, or returns false. */
static bool model_alloc(struct model *m, const struct resource_request *r, bool now[80][80])
{
    bool used[80] = { false };
    uint32_t taking[80] = { 0 };
    uint32_t missing = r->nodes > 0 ? r->nodes : r->slots;
    while (missing > 0) {
        uint32_t need = r->nodes == 0 ? r->cores_per_slot : r->exclusive ? m->cores : r->slots * r->cores_per_slot;
        int node = model_choose(m, need, used);
        if (node < 0)
            return false;
        used[node] = true;
        if (r->nodes > 0) {
            taking[node] = need;
            missing--;
        } else {
            for (uint32_t n = model_free(m, (uint32_t)node); missing > 0 && n >= need; n -= need, missing--)
                taking[node] += need;
        }
    }
    for (uint32_t node = 0; node < m->nodes; node++)
        for (uint32_t c = 0; c < m->cores; c++) {
            now[node][c] = taking[node] > 0 && !m->taken[node][c];
            if (now[node][c]) {
                m->taken[node][c] = true;
                taking[node]--;
            }
        }
    return true;
}

static bool same(const struct allocation *a, bool now[80][80], const struct model *m)
{
    uint64_t expected = 0;
    for (uint32_t node = 0; node < m->nodes; node++)
        for (uint32_t c = 0; c < m->cores; c++)
            expected += now[node][c];
    if (allocation_cores(a) != expected)
        return false;
    for (uint32_t s = 0; s < a->count; s++)
        for (uint32_t c = 0; c < a->spans[s].cores; c++)
            if (!now[a->spans[s].node][a->spans[s].first_core + c])
                return false;
    return true;
}

static bool in_canonical_order(const struct allocation *a)
{
    for (uint32_t s = 1; s < a->count; s++) {
        const struct core_span *x = &a->spans[s - 1], *y = &a->spans[s];
        if (x->node > y->node || (x->node == y->node && x->first_core + x->cores >= y->first_core))
            return false;
    }
    return true;
}

/* Random allocations and releases, compared call by call; returns how many allocations were refused for want of
 * room. */
static unsigned compare_with_model(uint32_t nodes, uint32_t cores, enum resource_fit fit, uint32_t seed)
{
    struct model *m = g_new0(struct model, 1);
    m->nodes = nodes;
    m->cores = cores;
    m->fit = fit;
    struct resource_pool pool;
    resource_pool_init(&pool, nodes, cores, fit);
    GRand *rand = g_rand_new_with_seed(seed);
    GPtrArray *held = g_ptr_array_new();
    unsigned refused = 0;

    for (int step = 0; step < 600; step++) {
        if (held->len > 0 && g_rand_int_range(rand, 0, 100) < 40) {
            guint i = (guint)g_rand_int_range(rand, 0, (gint32)held->len);
            struct allocation *a = g_ptr_array_remove_index(held, i);
            for (uint32_t s = 0; s < a->count; s++)
                for (uint32_t c = 0; c < a->spans[s].cores; c++)
                    m->taken[a->spans[s].node][a->spans[s].first_core + c] = false;
            resource_pool_free(&pool, a);
            allocation_free(a);
            continue;
        }
        struct resource_request r = { .nodes = (uint32_t)g_rand_int_range(rand, 0, 4),
                                      .slots = (uint32_t)g_rand_int_range(rand, 1, 6),
                                      .cores_per_slot = (uint32_t)g_rand_int_range(rand, 1, 4) };
        r.exclusive = r.nodes > 0 && g_rand_int_range(rand, 0, 4) == 0;
        if (!resource_pool_fits(&pool, &r)) {
            CU_ASSERT_PTR_NULL(resource_pool_alloc(&pool, &r));
            continue;
        }
        bool now[80][80];
        bool expected = model_alloc(m, &r, now);
        struct allocation *a = resource_pool_alloc(&pool, &r);
        CU_ASSERT_EQUAL_FATAL(a != NULL, expected);
        if (a == NULL) {
            refused++;
            continue;
        }
        CU_ASSERT_TRUE(same(a, now, m));
        CU_ASSERT_TRUE(in_canonical_order(a));
        CU_ASSERT_EQUAL(allocation_cores(a), resource_pool_cores(&pool, &r));
        g_ptr_array_add(held, a);
    }

    uint64_t free_cores = 0;
    for (uint32_t node = 0; node < nodes; node++)
        free_cores += model_free(m, node);
    CU_ASSERT_EQUAL(pool.free_cores, free_cores);

    for (guint i = 0; i < held->len; i++)
        allocation_free(held->pdata[i]);
    g_ptr_array_free(held, TRUE);
    g_rand_free(rand);
    resource_pool_release(&pool);
    g_free(m);
    return refused;
}

static void test_model(void)
{
    unsigned refused = 0;
    for (int fit = RESOURCE_WORST_FIT; fit <= RESOURCE_BEST_FIT; fit++) {
        refused += compare_with_model(7, 5, (enum resource_fit)fit, 1);
        refused += compare_with_model(1, 70, (enum resource_fit)fit, 2);
        refused += compare_with_model(70, 3, (enum resource_fit)fit, 3);
        refused += compare_with_model(3, 64, (enum resource_fit)fit, 4);
        refused += compare_with_model(5, 65, (enum resource_fit)fit, 5);
    }
    CU_ASSERT_TRUE(refused > 100);
}

/* --- single rules --- */

static uint32_t node_of_one_core(struct resource_pool *pool)
{
    struct resource_request one = { .slots = 1, .cores_per_slot = 1 };
    struct allocation *a = resource_pool_alloc(pool, &one);
    uint32_t node = a == NULL ? IDSET_NONE : a->spans[0].node;
    allocation_free(a);
    return node;
}

static void test_fits(void)
{
    struct resource_pool pool;
    resource_pool_init(&pool, 3, 2, RESOURCE_WORST_FIT);
    const uint32_t spread[] = { 0, 1, 2, 0, 1, 2, IDSET_NONE };
    for (int i = 0; i < 7; i++)
        CU_ASSERT_EQUAL(node_of_one_core(&pool), spread[i]);
    resource_pool_release(&pool);

    resource_pool_init(&pool, 3, 2, RESOURCE_FIRST_FIT);
    const uint32_t packed[] = { 0, 0, 1, 1, 2, 2, IDSET_NONE };
    for (int i = 0; i < 7; i++)
        CU_ASSERT_EQUAL(node_of_one_core(&pool), packed[i]);
    resource_pool_release(&pool);

    /* best fit prefers the node that is in use already, even when a lower one is free */
    resource_pool_init(&pool, 3, 2, RESOURCE_BEST_FIT);
    struct allocation *held = g_malloc(sizeof *held + sizeof held->spans[0]);
    held->count = 1;
    held->spans[0] = (struct core_span){ 2, 1, 1 };
    resource_pool_take(&pool, held);
    CU_ASSERT_EQUAL(node_of_one_core(&pool), 2);
    CU_ASSERT_EQUAL(node_of_one_core(&pool), 0);
    CU_ASSERT_EQUAL(node_of_one_core(&pool), 0);
    CU_ASSERT_EQUAL(node_of_one_core(&pool), 1);
    allocation_free(held);
    resource_pool_release(&pool);
}

static void test_impossible(void)
{
    struct resource_pool pool;
    resource_pool_init(&pool, 2, 4, RESOURCE_WORST_FIT);
    const struct { struct resource_request request; bool fits; } cases[] = {
        { { 0, 8, 1, false }, true },       { { 0, 9, 1, false }, false },
        { { 0, 2, 3, false }, true },       { { 0, 3, 3, false }, false },
        { { 0, 1, 4, false }, true },       { { 0, 1, 5, false }, false },
        { { 2, 2, 2, false }, true },       { { 2, 2, 3, false }, false },
        { { 2, 1, 1, true }, true },        { { 3, 1, 1, false }, false },
        { { 0, 1, 1, true }, false },       { { 0, 0, 1, false }, false },
        { { 1, 1, 0, false }, false },      { { 1, UINT32_MAX, UINT32_MAX, false }, false },
        { { 0, UINT32_MAX, 1, false }, false },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        CU_ASSERT_EQUAL(resource_pool_fits(&pool, &cases[i].request), cases[i].fits);
        struct allocation *a = resource_pool_alloc(&pool, &cases[i].request);
        CU_ASSERT_EQUAL(a != NULL, cases[i].fits);
        if (a != NULL)
            resource_pool_free(&pool, a);
        allocation_free(a);
        CU_ASSERT_EQUAL(pool.free_cores, 8);
    }
    struct resource_request huge = { UINT32_MAX, UINT32_MAX, UINT32_MAX, false };
    CU_ASSERT_EQUAL(resource_pool_cores(&pool, &huge), UINT64_MAX);
    resource_pool_release(&pool);
}

static void test_whole_nodes(void)
{
    struct resource_pool pool;
    resource_pool_init(&pool, 4, 4, RESOURCE_WORST_FIT);
    CU_ASSERT_EQUAL(node_of_one_core(&pool), 0);
    struct resource_request whole = { .nodes = 3, .slots = 1, .cores_per_slot = 1, .exclusive = true };
    struct allocation *a = resource_pool_alloc(&pool, &whole);
    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    CU_ASSERT_EQUAL(allocation_nodes(a), 3);
    CU_ASSERT_EQUAL(allocation_cores(a), 12);
    CU_ASSERT_EQUAL(a->spans[0].node, 1);
    CU_ASSERT_EQUAL(pool.free_cores, 3);
    whole.nodes = 1;
    CU_ASSERT_PTR_NULL(resource_pool_alloc(&pool, &whole));
    resource_pool_free(&pool, a);
    allocation_free(a);
    resource_pool_release(&pool);
}

static void test_save(void)
{
    struct resource_pool a, b;
    resource_pool_init(&a, 5, 66, RESOURCE_BEST_FIT);
    resource_pool_init(&b, 5, 66, RESOURCE_BEST_FIT);
    struct resource_request small = { .slots = 3, .cores_per_slot = 1 }, wide = { .slots = 65, .cores_per_slot = 1 };
    struct allocation *x = resource_pool_alloc(&a, &small);
    struct allocation *y = resource_pool_alloc(&a, &wide);
    resource_pool_free(&a, x);
    resource_pool_take(&b, y);
    struct bytes save_a = BYTES_INIT, save_b = BYTES_INIT;
    resource_pool_save(&a, &save_a);
    resource_pool_save(&b, &save_b);
    CU_ASSERT_EQUAL_FATAL(save_a.size, save_b.size);
    CU_ASSERT_EQUAL(memcmp(save_a.data, save_b.data, save_a.size), 0);

    struct resource_pool c;
    struct cursor source = cursor_init(save_a.data, save_a.size);
    CU_ASSERT_TRUE_FATAL(resource_pool_load(&c, &source));
    CU_ASSERT_TRUE(cursor_done(&source));
    CU_ASSERT_EQUAL(c.free_cores, a.free_cores);
    struct allocation *from_a = resource_pool_alloc(&a, &small), *from_c = resource_pool_alloc(&c, &small);
    CU_ASSERT_EQUAL(from_a->spans[0].node, from_c->spans[0].node);
    CU_ASSERT_EQUAL(from_a->spans[0].first_core, from_c->spans[0].first_core);

    /* truncated, and with cores that the node does not have */
    for (size_t size = 0; size < save_a.size; size++) {
        struct resource_pool d;
        source = cursor_init(save_a.data, size);
        CU_ASSERT_FALSE(resource_pool_load(&d, &source));
    }
    save_a.data[save_a.size - 1] = 0xff;
    struct resource_pool d;
    source = cursor_init(save_a.data, save_a.size);
    CU_ASSERT_FALSE(resource_pool_load(&d, &source));

    allocation_free(x);
    allocation_free(y);
    allocation_free(from_a);
    allocation_free(from_c);
    bytes_release(&save_a);
    bytes_release(&save_b);
    resource_pool_release(&a);
    resource_pool_release(&b);
    resource_pool_release(&c);
}

static void test_description(void)
{
    struct resource_pool pool;
    resource_pool_init(&pool, 3, 8, RESOURCE_WORST_FIT);
    struct resource_request request = { .nodes = 2, .slots = 2, .cores_per_slot = 2 };
    struct allocation *a = resource_pool_alloc(&pool, &request);
    struct bytes b = BYTES_INIT;
    allocation_put(a, &b);
    struct cursor source = cursor_init(b.data, b.size);
    struct allocation *copy = allocation_get(&source);
    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    CU_ASSERT_TRUE(cursor_done(&source));
    CU_ASSERT_EQUAL(copy->count, a->count);
    CU_ASSERT_EQUAL(memcmp(copy->spans, a->spans, a->count * sizeof a->spans[0]), 0);
    for (size_t size = 0; size < b.size; size++) {
        source = cursor_init(b.data, size);
        CU_ASSERT_PTR_NULL(allocation_get(&source));
    }
    b.data[4] = 2;  /* the first span's node: now out of order */
    source = cursor_init(b.data, b.size);
    CU_ASSERT_PTR_NULL(allocation_get(&source));
    allocation_free(a);
    allocation_free(copy);
    bytes_release(&b);
    resource_pool_release(&pool);
}

static void test_idset(void)
{
    const uint32_t sizes[] = { 1, 63, 64, 65, 4096, 4097, 300000 };
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        uint32_t size = sizes[i];
        struct idset *set = idset_new(size);
        CU_ASSERT_TRUE(idset_empty(set));
        CU_ASSERT_EQUAL(idset_next(set, 0), IDSET_NONE);
        CU_ASSERT_EQUAL(idset_last(set), IDSET_NONE);
        idset_add(set, size - 1);
        CU_ASSERT_EQUAL(idset_next(set, 0), size - 1);
        CU_ASSERT_EQUAL(idset_next(set, size), IDSET_NONE);
        idset_add(set, 0);
        idset_add(set, size / 2);
        CU_ASSERT_EQUAL(idset_next(set, 0), 0);
        CU_ASSERT_EQUAL(idset_last(set), size - 1);
        CU_ASSERT_EQUAL(idset_next(set, size / 2), size / 2);
        if (size > 2)
            CU_ASSERT_EQUAL(idset_next(set, 1), size / 2);
        idset_remove(set, size - 1);
        if (size > 2)
            CU_ASSERT_EQUAL(idset_last(set), size / 2);
        idset_remove(set, 0);
        idset_remove(set, size / 2);
        CU_ASSERT_TRUE(idset_empty(set));
        idset_free(set);
    }
}

/* 65,536 jobs on 16,384 nodes are a matter of milliseconds; a scan of all nodes for each would take seconds. */
static void test_large(void)
{
    for (int fit = RESOURCE_WORST_FIT; fit <= RESOURCE_BEST_FIT; fit++) {
        struct resource_pool pool;
        resource_pool_init(&pool, 16384, 4, (enum resource_fit)fit);
        gint64 start = g_get_monotonic_time();
        uint64_t allocated = 0;
        while (node_of_one_core(&pool) != IDSET_NONE)
            allocated++;
        CU_ASSERT_EQUAL(allocated, 65536);
        CU_ASSERT_TRUE(g_get_monotonic_time() - start < 2 * G_USEC_PER_SEC);
        resource_pool_release(&pool);
    }
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "an id set finds its lowest, next and highest member", test_idset },
        { "the pool does what a naive model does", test_model },
        { "worst, first and best fit choose their node, ties the lowest", test_fits },
        { "a request that can never be met is told from one that must wait", test_impossible },
        { "whole nodes take only unused nodes, with all their cores", test_whole_nodes },
        { "equal pools save equal bytes, and load from them", test_save },
        { "an allocation survives its canonical bytes", test_description },
        { "16,384 nodes are allocated core by core at once", test_large },
        { NULL, NULL },
    };
    return suite_run("resource", tests);
}
