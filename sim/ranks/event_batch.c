/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/event_batch.h"

#include "kvs/jobid.h"

struct event_batch *event_batch_new(uint64_t serial)
{
    struct event_batch *b = g_new0(struct event_batch, 1);
    b->serial = serial;
    b->transaction = transaction_new(0, 0, 0);
    return b;
}

void event_batch_free(struct event_batch *b)
{
    if (b->transaction != NULL)
        transaction_free(b->transaction);
    bytes_release(&b->transitions);
    g_free(b);
}

void event_batch_append(struct event_batch *b, uint64_t id, const char *line, size_t size)
{
    char key[64];
    jobid_to_entry(id, "eventlog", key, sizeof key);
    transaction_append(b->transaction, key, line, size);
    b->entries++;
}

void event_batch_transition(struct event_batch *b, uint64_t id, enum job_state state)
{
    bytes_put_u64(&b->transitions, id);
    bytes_put_u8(&b->transitions, (uint8_t)state);
    b->transition_count++;
}

struct transaction *event_batch_take(struct event_batch *b)
{
    struct transaction *t = b->transaction;
    b->transaction = NULL;
    return t;
}

void event_batch_put_transitions(const struct event_batch *b, struct bytes *sink)
{
    bytes_put_u32(sink, b->transition_count);
    bytes_put(sink, b->transitions.data, b->transitions.size);
}

void event_batch_save(const struct event_batch *b, struct bytes *sink)
{
    bytes_put_u64(sink, b->serial);
    bytes_put_u32(sink, b->entries);
    event_batch_put_transitions(b, sink);
    bytes_put_u8(sink, b->transaction != NULL);
    if (b->transaction != NULL)
        transaction_pack(b->transaction, sink);
}
