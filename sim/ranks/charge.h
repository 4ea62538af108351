/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Costs as the roles of a brokered instance pay them: with the jitter that the deck states.
 *
 *     role_charge(self, cost_ns(&inst->costs.kvs_lookup, size, names));
 *     actor_perform(self, (struct act){ ACT_WORK, role_jitter(self, cost_ns(...)) }, ...);
 *
 * No two handlings take the same time. Each cost is drawn anew, uniformly within instance.jitter_ppm of what is stated,
 * from a random stream of the actor that pays it; without jitter nothing is drawn. So a run with another seed is
 * another measurement of the same system. The role's `streams` is INSTANCE_STREAMS, its setup a struct instance.
 */
#ifndef TIERCEL_RANKS_CHARGE_H
#define TIERCEL_RANKS_CHARGE_H

#include "engine/actor.h"
#include "engine/random.h"
#include "ranks/instance.h"

/* Streams of the roles; the first is a role's own. */
enum { INSTANCE_STREAM_OWN, INSTANCE_STREAM_JITTER, INSTANCE_STREAMS };

/* `length_ns`, 0 or above, with jitter. */
static inline int64_t role_jitter(struct actor *self, int64_t length_ns)
{
    const struct instance *inst = (const struct instance *)actor_setup(self);
    if (inst->jitter_ppm == 0 || length_ns == 0)
        return length_ns;
    int64_t most_ns = (int64_t)((__int128)length_ns * inst->jitter_ppm / 1000000);
    uint64_t bits = actor_draw(self, INSTANCE_STREAM_JITTER);
    return length_ns - most_ns + (int64_t)random_below(bits, 2 * (uint64_t)most_ns + 1);
}

static inline void role_charge(struct actor *self, int64_t cost_ns)
{
    actor_charge(self, role_jitter(self, cost_ns));
}

#endif
