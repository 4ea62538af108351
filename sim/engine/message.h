/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages and their payloads.
 *
 * A message is a record of 32 bytes that is copied, never shared. What it carries is one 64-bit word, or a payload:
 * immutable canonical bytes (base/bytes.h) that live in a pool of the engine, counted, hashed once for the digest.
 * A payload that goes to many receivers is made once and referenced once per send:
 *
 *     struct payload *p = actor_payload(self, bytes.data, bytes.size);
 *     for (i = 0; i < n; i++)
 *         actor_send_payload(self, child[i], KIND, payload_ref(p));
 *     actor_payload_unref(self, p);
 *
 * In a handler the message and its payload belong to the engine and live until the handler returns; to keep a payload
 * longer, take a reference.
 *
 * Kinds are 16 bits, one number space for the whole program: the high byte is the number of the role that serves the
 * request (or sends the notice), the low byte counts within that role. A role's header lists its kinds.
 */
#ifndef TIERCEL_ENGINE_MESSAGE_H
#define TIERCEL_ENGINE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* What a message's flags say. Roles only ever look at MESSAGE_CALL, through request_of(). */
enum message_flag {
    MESSAGE_PAYLOAD = 1 << 0,       /* carries a payload instead of a word */
    MESSAGE_BACKGROUND = 1 << 1,    /* a timer that does not keep the run alive */
    MESSAGE_CALL = 1 << 2,          /* the sender is blocked until this is replied to */
    MESSAGE_REPLY = 1 << 3          /* ends the receiver's call */
};

enum { PAYLOAD_MOST_BYTES = 1 << 30 };  /* with its message it must fit into a count of MPI */

struct payload {
    uint64_t hash;                  /* of the bytes: XXH3, 64 bits */
    uint32_t references;
    uint32_t size;                  /* bytes */
    uint8_t bytes[];
};

struct message {
    int64_t time_ns;                /* arrival */
    uint32_t to;                    /* actor ids */
    uint32_t from;
    uint32_t sequence;              /* the sender's count of sends, its low 32 bits */
    uint16_t kind;
    uint8_t order_class;            /* 0; 1 for a message of an actor to itself at the end of the same instant */
    uint8_t flags;                  /* enum message_flag */
    union {
        uint64_t word;
        struct payload *payload;
    };
};

static inline bool message_has_payload(const struct message *m)
{
    return (m->flags & MESSAGE_PAYLOAD) != 0;
}

/* A cursor over the message's payload; an empty one when it carries a word. */
static inline struct cursor message_cursor(const struct message *m)
{
    if (message_has_payload(m))
        return cursor_init(m->payload->bytes, m->payload->size);
    return cursor_init(NULL, 0);
}

static inline struct payload *payload_ref(struct payload *p)
{
    p->references++;
    return p;
}

/* What is needed to answer a request later: keep it by value. */
struct request {
    uint32_t from;
    bool is_call;
};

static inline struct request request_of(const struct message *m)
{
    return (struct request){ m->from, (m->flags & MESSAGE_CALL) != 0 };
}

#endif
