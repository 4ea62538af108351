/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PHOLD, the field's benchmark of parallel event simulators (Fujimoto, "Performance of Time Warp under synthetic
 * workloads", 1990; with the lookahead of ROSS's phold): a fixed population of events hops between actors. An event
 * that is handled sends one on: with probability `remote` to an actor drawn from all (itself included), else to its
 * own, after lookahead + exponential(mean - lookahead).
 *
 * The lookahead is the latency of the links (the scenario sets it); first events start at their own actor.
 */
#ifndef TIERCEL_RANKS_PHOLD_H
#define TIERCEL_RANKS_PHOLD_H

#include "engine/actor.h"

enum phold_kind { PHOLD_EVENT = 0xf000 };

struct phold {
    uint32_t actors;                /* all of the run */
    uint32_t events_per_actor;      /* population / actors */
    uint64_t remote;                /* probability, a random_bound */
    int64_t lookahead_ns;           /* as the links' latency */
    int64_t mean_ns;                /* of the whole increment; above lookahead_ns */
};

extern const struct role role_phold;

#endif
