/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/collective.h"

#include <glib.h>

#define MIB (UINT64_C(1) << 20)

enum { OMPIO_INDIVIDUAL_MOST = 2, OMPIO_WRITERS_PER_AGGREGATOR = 8 };
enum { OMPIO_OPERATIONS = 4, ROMIO_OPERATIONS = 2, ROMIO_TWO_PHASE_OPERATIONS = 5, ROMIO_CYCLE_OPERATIONS = 1 };

static void plan_ompio(const struct collective *c, struct collective_plan *plan)
{
    if (c->writers <= OMPIO_INDIVIDUAL_MOST)
        return;
    plan->meets = true;
    plan->aggregators = c->aggregators != 0 ? c->aggregators : MAX(c->writers / OMPIO_WRITERS_PER_AGGREGATOR, 1);
    plan->cycle_bytes = MAX((c->buffer != 0 ? c->buffer : 32 * MIB) / 2, 1);
}

static void plan_romio(const struct collective *c, struct collective_plan *plan)
{
    /* The last node may have fewer. */
    uint64_t nodes = c->writers / c->writers_per_node, rest = c->writers % c->writers_per_node;
    uint64_t allowed = nodes * MIN(c->aggregators_per_node, c->writers_per_node) + MIN(c->aggregators_per_node, rest);

    plan->meets = true;
    plan->operations = ROMIO_OPERATIONS;
    if (c->pieces < 2)
        return;
    plan->cycle_operations = ROMIO_CYCLE_OPERATIONS;
    plan->operations = ROMIO_TWO_PHASE_OPERATIONS + ROMIO_CYCLE_OPERATIONS;
    plan->aggregators = (uint32_t)MIN(c->aggregators != 0 ? c->aggregators : c->writers, allowed);
    plan->aggregators_per_node = MIN(c->aggregators_per_node, c->writers_per_node);
    plan->cycle_bytes = c->buffer != 0 ? c->buffer : 16 * MIB;
}

void collective_plan_make(const struct collective *c, struct collective_plan *plan)
{
    *plan = (struct collective_plan){ .cycles = 1, .call_bytes = c->block * c->pieces * c->writers };
    if (c->kind == COLLECTIVE_OMPIO)
        plan_ompio(c, plan);
    else if (c->kind == COLLECTIVE_ROMIO)
        plan_romio(c, plan);
    if (plan->aggregators == 0)
        return;
    plan->aggregators = MIN(plan->aggregators, c->writers);
    if (c->kind == COLLECTIVE_OMPIO)
        plan->operations = OMPIO_OPERATIONS + plan->aggregators;
    plan->domain_bytes = (plan->call_bytes + plan->aggregators - 1) / plan->aggregators;
    plan->cycles = (plan->domain_bytes + plan->cycle_bytes - 1) / plan->cycle_bytes;
}

int64_t collective_aggregator(const struct collective *c, const struct collective_plan *plan, uint32_t writer)
{
    if (plan->aggregators == 0)
        return -1;
    if (plan->aggregators_per_node != 0) {
        uint32_t place = writer % c->writers_per_node;
        uint64_t index = (uint64_t)(writer / c->writers_per_node) * plan->aggregators_per_node + place;
        return place < plan->aggregators_per_node && index < plan->aggregators ? (int64_t)index : -1;
    }
    /* Aggregator a is the first writer w with w x aggregators / writers = a. */
    uint64_t index = (uint64_t)writer * plan->aggregators / c->writers;
    bool first = writer == 0 || (uint64_t)(writer - 1) * plan->aggregators / c->writers != index;
    return first ? (int64_t)index : -1;
}

bool collective_share(const struct collective_plan *plan, uint64_t call, uint64_t cycle, uint32_t aggregator,
                      uint64_t *offset, uint64_t *length)
{
    uint64_t first = MIN(aggregator * plan->domain_bytes, plan->call_bytes);
    uint64_t end = MIN(first + plan->domain_bytes, plan->call_bytes);
    uint64_t from = MIN(first + cycle * plan->cycle_bytes, end);

    *offset = call * plan->call_bytes + from;
    *length = MIN(from + plan->cycle_bytes, end) - from;
    return *length != 0;
}
