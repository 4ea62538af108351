/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kinds of system have in common, for the files scenario_KIND*.c: placement in blocks, and keys that several read
 * alike. All functions are local.
 */
#ifndef TIERCEL_SCENARIO_PARTS_H
#define TIERCEL_SCENARIO_PARTS_H

#include "scenario.h"
#include "sched/policy.h"

/* The process that plays number `index` of `count` neighbours: one block after the other, as even as possible. */
static inline uint32_t scenario_block(uint32_t index, uint32_t count, uint32_t processes)
{
    return (uint32_t)((uint64_t)index * processes / count);
}

/* [scheduler] policy, fit, by and depth; the machine is the caller's. The name is the deck's. */
void scenario_policy_read(struct policy_config *policy, const struct deck *deck);

#endif
