/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/resource.h"

#include <glib.h>
#include <string.h>

#include "sched/idset.h"

enum { SIZE_MAX_OF_DIMENSION = 1 << 24 };

/* A node that an allocation under construction will use. */
struct pick {
    uint32_t node;
    uint32_t cores;
};

static bool size_is_valid(uint32_t nodes, uint32_t cores_per_node)
{
    return nodes >= 1 && nodes <= SIZE_MAX_OF_DIMENSION && cores_per_node >= 1 &&
           cores_per_node <= SIZE_MAX_OF_DIMENSION;
}

static uint64_t *node_mask(const struct resource_pool *pool, uint32_t node)
{
    return pool->mask + (size_t)node * pool->words;
}

/* --- the index: which nodes have how many free cores --- */

static void index_add(struct resource_pool *pool, uint32_t node)
{
    uint32_t n = pool->free_of_node[node];
    if (pool->by_free[n] == NULL)
        pool->by_free[n] = idset_new(pool->nodes);
    idset_add(pool->by_free[n], node);
    idset_add(pool->counts, n);
}

static void index_remove(struct resource_pool *pool, uint32_t node)
{
    uint32_t n = pool->free_of_node[node];
    idset_remove(pool->by_free[n], node);
    if (!idset_empty(pool->by_free[n]))
        return;
    idset_remove(pool->counts, n);
    /* A flat machine of many cores passes through all counts: do not keep a set for each. */
    if (pool->nodes <= 64)
        g_clear_pointer(&pool->by_free[n], idset_free);
}

/* The node that the fit puts first among those in the index with at least `cores` free, or IDSET_NONE. */
static uint32_t index_find(const struct resource_pool *pool, uint32_t cores)
{
    uint32_t count = idset_next(pool->counts, cores);
    if (count == IDSET_NONE)
        return IDSET_NONE;
    switch (pool->fit) {
    case RESOURCE_WORST_FIT:
        count = idset_last(pool->counts);
        break;
    case RESOURCE_BEST_FIT:
        break;
    case RESOURCE_FIRST_FIT: {
        uint32_t lowest = IDSET_NONE;
        for (; count != IDSET_NONE; count = idset_next(pool->counts, count + 1))
            lowest = MIN(lowest, idset_next(pool->by_free[count], 0));
        return lowest;
    }
    }
    return idset_next(pool->by_free[count], 0);
}

/* --- making and ending a pool --- */

static void pool_allocate(struct resource_pool *pool, uint32_t nodes, uint32_t cores_per_node, enum resource_fit fit)
{
    *pool = (struct resource_pool){ .nodes = nodes, .cores_per_node = cores_per_node, .fit = fit };
    pool->words = (cores_per_node + 63) / 64;
    pool->mask = g_new0(uint64_t, (size_t)nodes * pool->words);
    pool->free_of_node = g_new0(uint32_t, nodes);
    pool->by_free = g_new0(struct idset *, (size_t)cores_per_node + 1);
    pool->counts = idset_new(cores_per_node + 1);
}

void resource_pool_init(struct resource_pool *pool, uint32_t nodes, uint32_t cores_per_node, enum resource_fit fit)
{
    g_assert(size_is_valid(nodes, cores_per_node));
    pool_allocate(pool, nodes, cores_per_node, fit);
    pool->free_cores = (uint64_t)nodes * cores_per_node;
    for (uint32_t node = 0; node < nodes; node++) {
        uint64_t *mask = node_mask(pool, node);
        memset(mask, 0xff, pool->words * sizeof mask[0]);
        if (cores_per_node % 64 != 0)
            mask[pool->words - 1] = (1ull << cores_per_node % 64) - 1;
        pool->free_of_node[node] = cores_per_node;
        index_add(pool, node);
    }
}

void resource_pool_release(struct resource_pool *pool)
{
    for (size_t n = 0; n <= pool->cores_per_node; n++)
        idset_free(pool->by_free[n]);
    idset_free(pool->counts);
    g_free(pool->by_free);
    g_free(pool->free_of_node);
    g_free(pool->mask);
    memset(pool, 0, sizeof *pool);
}

/* --- what a request needs --- */

/* Cores that each chosen node must have free; 0 when the request is malformed. Saturates. */
static uint64_t cores_of_a_node(const struct resource_pool *pool, const struct resource_request *request)
{
    if (request->slots == 0 || request->cores_per_slot == 0)
        return 0;
    if (request->nodes == 0)
        return request->exclusive ? 0 : request->cores_per_slot;
    uint64_t cores = (uint64_t)request->slots * request->cores_per_slot;
    return request->exclusive ? MAX(cores, pool->cores_per_node) : cores;
}

bool resource_pool_fits(const struct resource_pool *pool, const struct resource_request *request)
{
    uint64_t cores = cores_of_a_node(pool, request);
    if (cores == 0 || cores > pool->cores_per_node)
        return false;
    if (request->nodes > 0)
        return request->nodes <= pool->nodes;
    return request->slots <= (uint64_t)(pool->cores_per_node / request->cores_per_slot) * pool->nodes;
}

uint64_t resource_pool_cores(const struct resource_pool *pool, const struct resource_request *request)
{
    uint64_t cores = cores_of_a_node(pool, request);
    uint64_t times = request->nodes == 0 ? request->slots : request->nodes;
    return cores != 0 && times > UINT64_MAX / cores ? UINT64_MAX : cores * times;
}

/* --- taking and giving back --- */

/* Flips a span's bits; they must all be `taken` (clear) or all free (set) before. */
static void span_flip(struct resource_pool *pool, const struct core_span *span, bool taken)
{
    g_assert(span->node < pool->nodes && span->cores >= 1 && span->cores <= pool->cores_per_node &&
             span->first_core <= pool->cores_per_node - span->cores);
    uint64_t *mask = node_mask(pool, span->node);
    uint32_t core = span->first_core;
    uint32_t end = core + span->cores;
    while (core < end) {
        uint32_t in_word = MIN(end - core, 64 - core % 64);
        uint64_t bits = (in_word == 64 ? UINT64_MAX : (1ull << in_word) - 1) << core % 64;
        g_assert((mask[core / 64] & bits) == (taken ? 0 : bits));
        mask[core / 64] ^= bits;
        core += in_word;
    }
}

static void allocation_apply(struct resource_pool *pool, const struct allocation *allocation, bool give_back)
{
    for (uint32_t s = 0; s < allocation->count; s++) {
        const struct core_span *span = &allocation->spans[s];
        span_flip(pool, span, give_back);
        index_remove(pool, span->node);
        if (give_back) {
            pool->free_of_node[span->node] += span->cores;
            pool->free_cores += span->cores;
        } else {
            pool->free_of_node[span->node] -= span->cores;
            pool->free_cores -= span->cores;
        }
        index_add(pool, span->node);
    }
}

void resource_pool_take(struct resource_pool *pool, const struct allocation *allocation)
{
    allocation_apply(pool, allocation, false);
}

void resource_pool_free(struct resource_pool *pool, const struct allocation *allocation)
{
    allocation_apply(pool, allocation, true);
}

/* --- allocating --- */

/* Chooses nodes, which leave the index meanwhile so that none is chosen twice. False when there are not enough. */
static bool nodes_pick(struct resource_pool *pool, const struct resource_request *request, GArray *picks)
{
    uint32_t need = (uint32_t)cores_of_a_node(pool, request);
    uint32_t missing = request->nodes == 0 ? request->slots : request->nodes;
    while (missing > 0) {
        uint32_t node = index_find(pool, need);
        if (node == IDSET_NONE)
            return false;
        struct pick pick = { node, need };
        if (request->nodes == 0) {
            uint32_t slots = MIN(missing, pool->free_of_node[node] / need);
            pick.cores = slots * need;
            missing -= slots;
        } else {
            missing--;
        }
        index_remove(pool, node);
        g_array_append_val(picks, pick);
    }
    return true;
}

static int pick_compare(gconstpointer a, gconstpointer b)
{
    uint32_t x = ((const struct pick *)a)->node;
    uint32_t y = ((const struct pick *)b)->node;
    return (x > y) - (x < y);
}

/* Appends the spans of the `cores` lowest free cores of a node. */
static void spans_append(const struct resource_pool *pool, uint32_t node, uint32_t cores, GArray *spans)
{
    const uint64_t *mask = node_mask(pool, node);
    struct core_span span = { node, 0, 0 };
    for (uint32_t w = 0; w < pool->words && cores > 0; w++) {
        uint64_t rest = mask[w];
        while (rest != 0 && cores > 0) {
            uint32_t first = (uint32_t)__builtin_ctzll(rest);
            uint64_t from_first = rest >> first;
            uint32_t run = from_first == UINT64_MAX ? 64 : (uint32_t)__builtin_ctzll(~from_first);
            uint32_t take = MIN(run, cores);
            if (span.cores > 0 && span.first_core + span.cores == w * 64 + first) {
                span.cores += take;
            } else {
                if (span.cores > 0)
                    g_array_append_val(spans, span);
                span.first_core = w * 64 + first;
                span.cores = take;
            }
            cores -= take;
            rest &= first + run == 64 ? 0 : ~(((1ull << run) - 1) << first);
        }
    }
    g_assert(cores == 0);
    g_array_append_val(spans, span);
}

struct allocation *allocation_new(const struct core_span *spans, uint32_t count)
{
    struct allocation *a = g_malloc(sizeof *a + count * sizeof a->spans[0]);
    a->count = count;
    memcpy(a->spans, spans, count * sizeof a->spans[0]);
    return a;
}

struct allocation *resource_pool_alloc(struct resource_pool *pool, const struct resource_request *request)
{
    if (!resource_pool_fits(pool, request) || resource_pool_cores(pool, request) > pool->free_cores)
        return NULL;

    GArray *picks = g_array_new(FALSE, FALSE, sizeof(struct pick));
    bool enough = nodes_pick(pool, request, picks);
    for (guint i = 0; i < picks->len; i++)
        index_add(pool, g_array_index(picks, struct pick, i).node);

    struct allocation *result = NULL;
    if (enough) {
        g_array_sort(picks, pick_compare);
        GArray *spans = g_array_sized_new(FALSE, FALSE, sizeof(struct core_span), picks->len);
        for (guint i = 0; i < picks->len; i++) {
            const struct pick *pick = &g_array_index(picks, struct pick, i);
            spans_append(pool, pick->node, pick->cores, spans);
        }
        result = allocation_new((const struct core_span *)spans->data, spans->len);
        g_array_free(spans, TRUE);
        resource_pool_take(pool, result);
    }
    g_array_free(picks, TRUE);
    return result;
}

/* --- descriptions --- */

void allocation_free(struct allocation *allocation)
{
    g_free(allocation);
}

uint64_t allocation_cores(const struct allocation *allocation)
{
    uint64_t cores = 0;
    for (uint32_t s = 0; s < allocation->count; s++)
        cores += allocation->spans[s].cores;
    return cores;
}

uint32_t allocation_nodes(const struct allocation *allocation)
{
    uint32_t nodes = 0;
    for (uint32_t s = 0; s < allocation->count; s++)
        if (s == 0 || allocation->spans[s].node != allocation->spans[s - 1].node)
            nodes++;
    return nodes;
}

void allocation_put(const struct allocation *allocation, struct bytes *sink)
{
    bytes_put_u32(sink, allocation->count);
    for (uint32_t s = 0; s < allocation->count; s++) {
        bytes_put_u32(sink, allocation->spans[s].node);
        bytes_put_u32(sink, allocation->spans[s].first_core);
        bytes_put_u32(sink, allocation->spans[s].cores);
    }
}

struct allocation *allocation_get(struct cursor *source)
{
    uint32_t count = cursor_u32(source);
    if (!cursor_ok(source) || count == 0 || count > (size_t)(source->end - source->at) / sizeof(struct core_span))
        return NULL;
    struct allocation *a = g_malloc(sizeof *a + count * sizeof a->spans[0]);
    a->count = count;
    for (uint32_t s = 0; s < count; s++) {
        struct core_span *span = &a->spans[s];
        span->node = cursor_u32(source);
        span->first_core = cursor_u32(source);
        span->cores = cursor_u32(source);
        const struct core_span *before = s == 0 ? NULL : span - 1;
        bool in_order = before == NULL || span->node > before->node ||
                        (span->node == before->node && span->first_core > before->first_core + before->cores);
        if (span->cores == 0 || span->first_core > UINT32_MAX - span->cores || !in_order) {
            g_free(a);
            return NULL;
        }
    }
    return a;
}

/* --- saved states --- */

void resource_pool_save(const struct resource_pool *pool, struct bytes *sink)
{
    bytes_put_u32(sink, pool->nodes);
    bytes_put_u32(sink, pool->cores_per_node);
    bytes_put_u8(sink, (uint8_t)pool->fit);
    bytes_put(sink, pool->mask, (size_t)pool->nodes * pool->words * sizeof pool->mask[0]);
}

bool resource_pool_load(struct resource_pool *pool, struct cursor *source)
{
    uint32_t nodes = cursor_u32(source);
    uint32_t cores_per_node = cursor_u32(source);
    uint8_t fit = cursor_u8(source);
    if (!cursor_ok(source) || !size_is_valid(nodes, cores_per_node) || fit > RESOURCE_BEST_FIT)
        return false;
    size_t size = (size_t)nodes * ((cores_per_node + 63) / 64) * sizeof(uint64_t);
    const uint8_t *masks = cursor_take(source, size);
    if (masks == NULL)
        return false;

    pool_allocate(pool, nodes, cores_per_node, (enum resource_fit)fit);
    memcpy(pool->mask, masks, size);
    uint64_t beyond = cores_per_node % 64 == 0 ? 0 : ~((1ull << cores_per_node % 64) - 1);
    bool valid = true;
    for (uint32_t node = 0; node < nodes; node++) {
        const uint64_t *mask = node_mask(pool, node);
        valid = valid && (mask[pool->words - 1] & beyond) == 0;
        for (uint32_t w = 0; w < pool->words && valid; w++)
            pool->free_of_node[node] += (uint32_t)__builtin_popcountll(mask[w]);
        pool->free_cores += pool->free_of_node[node];
        index_add(pool, node);
    }
    if (!valid)
        resource_pool_release(pool);
    return valid;
}
