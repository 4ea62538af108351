/* SPDX-License-Identifier: BSD-3-Clause */
/* A role: asks the next of its kind every period, answers the one before it, and tells how long a round trip took. */
#include "examples.h"

enum ping_metric { PING_SENT, PING_ROUND_TRIP };

struct ping {
    const struct ping_setup *setup;
    uint64_t asked;                     /* so far */
    int64_t since_ns;                   /* the question under way was sent */
};

static void ping_ask(struct actor *self, struct ping *p)
{
    uint32_t next = (actor_id(self) + 1) % p->setup->actors;

    p->asked++;
    p->since_ns = actor_now(self);
    actor_count(self, PING_SENT, 1);
    actor_send(self, next, PING_QUESTION, p->asked);
}

static void ping_init(struct actor *self, const void *setup)
{
    struct ping *p = actor_state(self);

    p->setup = setup;
    actor_timer(self, p->setup->period_ns, PING_DUE, 0);
}

static void ping_handle(struct actor *self, const struct message *m)
{
    struct ping *p = actor_state(self);

    switch (m->kind) {
    case PING_DUE:
        ping_ask(self, p);
        break;
    case PING_QUESTION:
        actor_charge(self, p->setup->cost_ns);
        actor_send(self, m->from, PING_ANSWER, m->word);
        break;
    case PING_ANSWER:
        actor_sample(self, PING_ROUND_TRIP, actor_now(self) - p->since_ns);
        if (p->asked < p->setup->questions)
            actor_timer(self, p->setup->period_ns, PING_DUE, 0);
        break;
    default:
        actor_fail(self, "a ping got a message of kind 0x%04x, which it does not serve", m->kind);
    }
}

/* All that it knows. The setup is the same for ever, and has no place here. */
static void ping_save(const struct actor *self, struct bytes *sink)
{
    const struct ping *p = actor_state(self);

    bytes_put_u64(sink, p->asked);
    bytes_put_i64(sink, p->since_ns);
}

static const struct kind_name ping_kinds[] = {
    { PING_DUE, "due", "the period is over" },
    { PING_QUESTION, "question", "asks for an answer" },
    { PING_ANSWER, "answer", "the answer" },
    { 0, NULL, NULL }
};

static const struct metric ping_metrics[] = {
    [PING_SENT] = { "sent", "1", "questions sent", METRIC_SERIES },
    [PING_ROUND_TRIP] = { "round_trip", "ns", "from a question to its answer", METRIC_SAMPLE },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_ping = {
    .name = "ping",
    .text = "asks its neighbour for a sign of life",
    .state_size = sizeof(struct ping),
    .kinds = ping_kinds,
    .metrics = ping_metrics,
    .init = ping_init,
    .handle = ping_handle,
    .save = ping_save,
};
