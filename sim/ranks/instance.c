/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/instance.h"

#include <glib.h>

#include "ranks/protocol.h"

const struct cost_name instance_cost_names[] = {
#define INSTANCE_COST_NAME(field, key, fixed, byte, entry, text) \
    { key, text, { fixed, byte, entry }, offsetof(struct instance_costs, field) },
    INSTANCE_COSTS(INSTANCE_COST_NAME)
#undef INSTANCE_COST_NAME
    { NULL, NULL, { 0, 0, 0 }, 0 }
};

void instance_init(struct instance *inst)
{
    memset(inst, 0, sizeof *inst);
    inst->nodes = 1;
    inst->fanout = 2;
    inst->cores_per_node = 1;
    inst->scheme = scheme_find("pr2792");
    cost_names_init(&inst->costs, instance_cost_names);
    inst->heartbeat_ns = 2000000000;
    inst->cache_age = 5;
    inst->merge = true;
    inst->ingest_batch_ns = 10000000;
    inst->ingest_validators = 4;
    inst->event_batch_ns = 10000000;
    inst->alloc_limit = 1;
    inst->queue_stopped = true;
    inst->age_ns = 600 * INT64_C(1000000000);
    inst->epoch_ns = INT64_C(1583400000) * 1000000000;  /* 5 March 2020, 09:20 UTC */
}

uint32_t instance_node(const struct instance *inst, uint32_t id)
{
    uint32_t offset = id - inst->first_actor;
    uint32_t stride = SERVICES + inst->cores_per_node;
    g_assert(id >= inst->first_actor && offset < instance_actors(inst));
    return offset < stride + INSTANCE_CENTRAL_ACTORS ? 0 : (offset - INSTANCE_CENTRAL_ACTORS) / stride;
}

void instance_place(const struct instance *inst, uint32_t id, struct instance_place *place)
{
    static const uint8_t services[SERVICES] = {
        [SERVICE_BROKER] = ROLE_BROKER,
        [SERVICE_KVS] = ROLE_KVS,
        [SERVICE_WATCHER] = ROLE_WATCHER,
        [SERVICE_JOB_INFO] = ROLE_JOB_INFO,
        [SERVICE_INGEST] = ROLE_INGEST,
        [SERVICE_CONTENT] = ROLE_CONTENT,
    };
    static const uint8_t central[INSTANCE_CENTRAL_ACTORS] = {
        ROLE_JOB_MANAGER, ROLE_SCHEDULER, ROLE_JOB_EXEC, ROLE_CLIENT
    };
    place->node = instance_node(inst, id);
    place->slot = 0;
    uint32_t index = id - instance_node_base(inst, place->node);
    place->is_service = index < SERVICES;
    if (place->is_service) {
        place->role = services[index];
    } else if (index < SERVICES + inst->cores_per_node) {
        place->role = ROLE_EXECUTOR;
        place->slot = index - SERVICES;
    } else {
        place->role = central[index - SERVICES - inst->cores_per_node];
    }
}

uint32_t instance_children(const struct instance *inst, uint32_t node, uint32_t *first)
{
    uint64_t lowest = (uint64_t)node * inst->fanout + 1;
    if (lowest >= inst->nodes) {
        *first = 0;
        return 0;
    }
    *first = (uint32_t)lowest;
    return MIN(inst->fanout, inst->nodes - *first);
}

uint32_t instance_depth(const struct instance *inst, uint32_t node)
{
    uint32_t depth = 0;
    for (; node > 0; node = instance_parent(inst, node))
        depth++;
    return depth;
}

/* Numbers grow downwards, so the path from `to` up to the root passes `from` unless it gets below it. */
uint32_t instance_next_hop(const struct instance *inst, uint32_t from, uint32_t to)
{
    g_assert(from != to);
    while (to > from) {
        uint32_t parent = instance_parent(inst, to);
        if (parent == from)
            return to;
        to = parent;
    }
    return instance_parent(inst, from);
}
