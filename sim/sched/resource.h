/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The resources of a cluster: nodes with cores, and which of them are free.
 *
 *     struct resource_pool pool;
 *     resource_pool_init(&pool, 16, 4, RESOURCE_WORST_FIT);
 *     struct resource_request request = { .slots = 1, .cores_per_slot = 1 };
 *     if (!resource_pool_fits(&pool, &request))
 *         ... it can never run: reject the job ...
 *     struct allocation *a = resource_pool_alloc(&pool, &request);
 *     if (a == NULL)
 *         ... no room now: try again after something was freed ...
 *     resource_pool_free(&pool, a);
 *     allocation_free(a);
 *     resource_pool_release(&pool);
 *
 * A request is made of slots; a slot is some cores of one node and never spans two. Two forms:
 *
 *     nodes = 0   `slots` slots anywhere. Nodes are taken in the order of the fit and each is filled with as many
 *                 slots as it holds, as rlist_alloc() of Flux's sched-simple does.
 *     nodes > 0   `slots` slots on each of exactly `nodes` different nodes; with `exclusive`, nodes of which no core
 *                 is in use, and all of their cores.
 *
 * The order of the fit, as in sched-simple: worst fit takes the node with the most free cores first, best fit the
 * one with the fewest that suffice, first fit the lowest node. Ties always go to the lowest node; within a node the
 * lowest free cores are taken. So the same calls give the same allocations on every machine.
 *
 * A flat machine of P processors without nodes is a pool of one node with P cores.
 *
 * Invariant: each core is free or in exactly one allocation; resource_pool_free() asserts that what comes back was
 * taken. Cost: choosing a node takes a few word operations a level of a 64-ary tree (3 levels for 16,384 nodes), and
 * one more per possible number of free cores for first fit. Memory: about one bit a core for the cores, one bit a
 * node and possible number of free cores for the index.
 *
 * All functions are local.
 */
#ifndef TIERCEL_SCHED_RESOURCE_H
#define TIERCEL_SCHED_RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum resource_fit {
    RESOURCE_WORST_FIT,     /* sched-simple's default: spreads jobs over the nodes */
    RESOURCE_FIRST_FIT,
    RESOURCE_BEST_FIT       /* packs jobs on few nodes */
};

struct resource_request {
    uint32_t nodes;             /* 0: anywhere */
    uint32_t slots;             /* in total when nodes = 0, else on each node; at least 1 */
    uint32_t cores_per_slot;    /* at least 1 */
    bool exclusive;             /* whole nodes; only with nodes > 0 */
};

/* Cores first_core .. first_core + cores - 1 of a node. */
struct core_span {
    uint32_t node;
    uint32_t first_core;
    uint32_t cores;
};

/* What a job holds: spans in ascending (node, first core), none adjacent to the next of its node. */
struct allocation {
    uint32_t count;             /* of spans, at least 1 */
    struct core_span spans[];
};

struct idset;

struct resource_pool {
    uint32_t nodes;
    uint32_t cores_per_node;
    enum resource_fit fit;
    uint32_t words;             /* 64-bit words of one node's mask */
    uint64_t free_cores;        /* in all */
    uint64_t *mask;             /* `words` a node: bit c is set while core c is free */
    uint32_t *free_of_node;     /* free cores of each node */
    struct idset **by_free;     /* [n]: the nodes with exactly n free cores; NULL until there was one */
    struct idset *counts;       /* the n for which by_free[n] is not empty */
};

/* All cores free. 1 <= nodes, 1 <= cores_per_node, both at most 2^24. */
void resource_pool_init(struct resource_pool *pool, uint32_t nodes, uint32_t cores_per_node, enum resource_fit fit);
void resource_pool_release(struct resource_pool *pool);

/* False when the request is malformed (a zero, exclusive without nodes) or larger than the whole, empty pool. */
bool resource_pool_fits(const struct resource_pool *pool, const struct resource_request *request);

/* How many cores the request takes of this pool: whole nodes counted in full. Saturates at UINT64_MAX. */
uint64_t resource_pool_cores(const struct resource_pool *pool, const struct resource_request *request);

/* Takes what is asked for, or returns NULL and takes nothing when there is no room now. The caller owns the result
 * (allocation_free), which is only a description: freeing it does not give the cores back. */
struct allocation *resource_pool_alloc(struct resource_pool *pool, const struct resource_request *request);

/* Takes exactly these cores, all of which must be free (a plan's named machines; a saved state's allocations). */
void resource_pool_take(struct resource_pool *pool, const struct allocation *allocation);

/* Gives an allocation's cores back. The description stays the caller's. */
void resource_pool_free(struct resource_pool *pool, const struct allocation *allocation);

/* Writes size, fit and free cores; two pools with the same free cores write the same bytes, however they got there. */
void resource_pool_save(const struct resource_pool *pool, struct bytes *sink);

/* The reverse: initialises `pool` from saved bytes. False, with nothing to release, when they are not a pool's. */
bool resource_pool_load(struct resource_pool *pool, struct cursor *source);

/* Of at least one span, copied. The caller owns it. */
struct allocation *allocation_new(const struct core_span *spans, uint32_t count);
void allocation_free(struct allocation *allocation);

/* Number of cores in all spans, and of different nodes. */
uint64_t allocation_cores(const struct allocation *allocation);
uint32_t allocation_nodes(const struct allocation *allocation);

/* Canonical bytes of an allocation, and back: NULL when they are not an allocation's (the pool's bounds are not
 * checked: resource_pool_take asserts them). The caller owns the result. */
void allocation_put(const struct allocation *allocation, struct bytes *sink);
struct allocation *allocation_get(struct cursor *source);

#endif
