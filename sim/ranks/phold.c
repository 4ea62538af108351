/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/phold.h"

#include "engine/random.h"

struct phold_state {
    const struct phold *setup;
    uint64_t events;
};

static void phold_send(struct actor *self, const struct phold *p, bool stay)
{
    uint32_t to = actor_id(self);
    if (!stay && actor_draw(self, 0) <= p->remote)
        to = (uint32_t)random_below(actor_draw(self, 0), p->actors);
    int64_t delay_ns = random_exponential(actor_draw(self, 0), p->mean_ns - p->lookahead_ns);
    actor_send_later(self, to, PHOLD_EVENT, 0, delay_ns);
}

static void phold_init(struct actor *self, const void *setup)
{
    struct phold_state *s = actor_state(self);
    s->setup = setup;
    for (uint32_t i = 0; i < s->setup->events_per_actor; i++)
        phold_send(self, s->setup, true);
}

static void phold_handle(struct actor *self, const struct message *m)
{
    struct phold_state *s = actor_state(self);
    s->events++;
    phold_send(self, s->setup, false);
}

static void phold_save(const struct actor *self, struct bytes *sink)
{
    const struct phold_state *s = actor_state(self);
    bytes_put_u64(sink, s->events);
}

static const struct kind_name kinds[] = {
    { PHOLD_EVENT, "event", "one of the population; hops on when handled" },
    { 0, NULL, NULL },
};

const struct role role_phold = {
    .name = "phold",
    .text = "an actor of the PHOLD benchmark",
    .state_size = sizeof(struct phold_state),
    .streams = 1,
    .kinds = kinds,
    .init = phold_init,
    .handle = phold_handle,
    .save = phold_save,
};
