/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pending messages of one process, in the defined order: (time, class, sender, sender's sequence number).
 *
 *     struct queue q;
 *     queue_init(&q);
 *     queue_push(&q, &message);
 *     while (queue_next_ns(&q) < end) { struct message m = queue_pop(&q); ... queue_push ... }
 *     queue_release(&q);
 *
 * A wheel of unsorted buckets, each one span of time wide: a message is put where its time belongs, and a bucket is
 * sorted only when its time has come (lazily sorted buckets; engine facts in doc/performance.md). A message for the
 * bucket that is being drained is put where it belongs in that sorted row, or, when many are left in it, in a heap
 * beside it; one beyond the wheel's reach goes to a far heap. Width and number of buckets follow the traffic. The order
 * that comes out is total, so it does not depend on any of this.
 *
 * A few pending messages need none of this: up to QUEUE_FEW_MOST of them are one sorted row, into which each is put
 * where it belongs.
 *
 * Nothing is allocated once the sizes have settled. Invariant: nothing may be pushed whose place in the order is
 * before the message popped last.
 */
#ifndef TIERCEL_ENGINE_QUEUE_H
#define TIERCEL_ENGINE_QUEUE_H

#include "engine/message.h"

struct message_heap {
    struct message *items;
    size_t count;
    size_t capacity;
};

struct queue_chunk;

enum { QUEUE_FEW_MOST = 64, QUEUE_DELAY = 16, QUEUE_SLAB_CHUNKS = 8192 };

struct queue_bucket {
    uint32_t chunk;                 /* the first, with room or full; the rest are full */
    uint32_t count;                 /* messages */
};

struct queue {
    /* The bucket being drained: sorted; items[at..count) are left. */
    struct message *items;
    size_t at;
    size_t count;
    size_t capacity;
    struct message_heap side;       /* for times in or before the bucket being drained */
    int64_t bucket;                 /* its number: time >> shift */
    bool few;                       /* items holds all that is pending: nothing in the wheel and the heaps */

    /* The wheel: numbers bucket+1 .. bucket+buckets-1. */
    unsigned shift;
    size_t buckets;                 /* a power of two */
    struct queue_bucket *bucket_of; /* by number modulo buckets */
    uint64_t *occupied;             /* a bit per bucket */
    size_t in_wheel;
    struct queue_chunk **slabs;     /* chunks, QUEUE_SLAB_CHUNKS in each */
    uint32_t slab_count;
    uint32_t chunks_used;
    uint32_t free_chunk;

    /* The messages pushed last, on their way into the wheel: their buckets' memory is being fetched meanwhile. */
    struct message delayed[QUEUE_DELAY];
    unsigned delayed_first, delayed_count;

    struct message_heap far;        /* for times beyond the wheel */

    unsigned narrow;                /* halvings of the width, learned from where new messages go */
    /* Since the shape was chosen last. */
    size_t shaped_for;              /* messages in the wheel and the far heap then */
    uint64_t loads, loaded, near_pushes, far_pushes, pushes;
};

void queue_init(struct queue *q);
void queue_release(struct queue *q);

void queue_push(struct queue *q, const struct message *m);

/* When the bucket is drained or the side heap holds something. */
int64_t queue_look_further(struct queue *q);
struct message queue_pop_further(struct queue *q);

/* The time of the first message, INT64_MAX when there is none. Not before it is asked is the next bucket sorted. */
static inline int64_t queue_next_ns(struct queue *q)
{
    return q->at < q->count && q->side.count == 0 ? q->items[q->at].time_ns : queue_look_further(q);
}

/* The first message; there must be one. */
static inline struct message queue_pop(struct queue *q)
{
    return q->at < q->count && q->side.count == 0 ? q->items[q->at++] : queue_pop_further(q);
}

/* A message about to come, `ahead` places behind the next, to be prefetched for; NULL when it is not known. */
static inline const struct message *queue_peek(const struct queue *q, size_t ahead)
{
    return q->at + ahead < q->count ? &q->items[q->at + ahead] : NULL;
}

size_t queue_count(const struct queue *q);
size_t queue_memory_bytes(const struct queue *q);

/* Calls visit for every message, in no particular order. */
void queue_each(struct queue *q, void (*visit)(void *data, const struct message *m), void *data);

/* The defined order. Sequence numbers are compared as a difference, so they may wrap. */
static inline bool message_before(const struct message *a, const struct message *b)
{
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    if (a->order_class != b->order_class)
        return a->order_class < b->order_class;
    if (a->from != b->from)
        return a->from < b->from;
    return (int32_t)(a->sequence - b->sequence) < 0;
}

#endif
