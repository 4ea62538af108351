/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routed messages: how the parts of an instance talk to each other.
 *
 * A module or client hands what it sends to its own node's broker; brokers pass it along the tree, the same payload by
 * reference, and the destination's broker hands it over. The payload is an envelope and a body (ranks/protocol.h):
 *
 *     struct bytes body = BYTES_INIT;
 *     key_put_text(&body, ns);
 *     route_send(self, instance_kvs(inst, node), KVS_GETROOT, tag, &body);           a request, or a notice
 *     bytes_release(&body);
 *
 *     struct envelope env;
 *     struct cursor c = route_open(m, &env);                                          the receiver
 *     ...
 *     route_reply(self, &env, m->kind, 0, &body);                                     now, or later with a kept env
 *
 * A request may be answered more than once (a stream). `tag` is the requester's, any number; answers carry it back.
 *
 * A client that has to wait makes a blocking request with route_call, its handler's last act. The answer ends the
 * call: it is the next message that the handler sees, and looks like any other answer.
 *
 * Both an answer and what it answers have the same kind, but for the bit KIND_REPLY.
 */
#ifndef TIERCEL_RANKS_ROUTE_H
#define TIERCEL_RANKS_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "engine/actor.h"

enum envelope_flag {
    ENVELOPE_CALL = 1 << 0,     /* the requester is blocked in a call; the last broker ends it */
    ENVELOPE_REPLY = 1 << 1     /* on its way back: `destination` asked, `origin` answers */
};

enum { ENVELOPE_BYTES = 19 };

struct envelope {
    uint32_t origin;            /* actor that sent it */
    uint32_t destination;       /* actor that it is for */
    uint64_t tag;
    uint16_t error;             /* 0, or an errno value of Linux (ENOENT 2 ...); only in answers */
    uint8_t flags;              /* enum envelope_flag */
};

/* As it stands in a payload, and in what a role saves. */
void envelope_put(struct bytes *b, const struct envelope *env);

/* Reads the envelope; the cursor that is returned stands at the body. A payload without a complete envelope ends the
 * run (actor_fail), env is then all 0. */
struct cursor route_open(struct actor *self, const struct message *m, struct envelope *env);

/* Sends to `destination` through the own broker. `body` may be NULL: empty. Not for a broker's own use. */
void route_send(struct actor *self, uint32_t destination, uint16_t kind, uint64_t tag, const struct bytes *body);

/* The same as a blocking request; must be the handler's last act. The role declares "broker" in its calls. */
void route_call(struct actor *self, uint32_t destination, uint16_t kind, uint64_t tag, const struct bytes *body);

/* Answers the request that came with `env`. `kind` is the request's (KIND_REPLY is added), `error` 0 or an errno. */
void route_reply(struct actor *self, const struct envelope *env, uint16_t kind, uint16_t error,
                 const struct bytes *body);

/* The payload of such an answer, with one reference: for a broker, which sends it itself. */
struct payload *route_answer(struct actor *self, const struct envelope *request, uint16_t error,
                             const struct bytes *body);

/* Sends a subscribe or unsubscribe call to the own broker; must be the handler's last act. Ends with BROKER_SUBSCRIBE
 * or BROKER_UNSUBSCRIBE with KIND_REPLY set, word 0 or an errno. */
void route_subscribe(struct actor *self, const char *topic);
void route_unsubscribe(struct actor *self, const char *topic);

/* The same as a request that nobody waits for; the answer comes all the same. */
void route_subscribe_send(struct actor *self, const char *topic, bool subscribe);

/* Publishes an event through the own broker, without an answer. `event_class` is enum event_class. */
void route_publish(struct actor *self, uint8_t event_class, const char *topic, const struct bytes *body);

/* What a delivered event carries; topic and body live as long as the message. */
struct event {
    uint64_t sequence;
    uint8_t event_class;
    const char *topic;
    struct cursor body;
};

/* Reads a BROKER_EVENT; fails the run when it is malformed. */
bool route_event(struct actor *self, const struct message *m, struct event *event);

#endif
