/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pool that payloads live in: free lists by size, so that a run in its steady state allocates nothing. Local to
 * one engine on one process; not for threads.
 */
#ifndef TIERCEL_ENGINE_POOL_H
#define TIERCEL_ENGINE_POOL_H

#include "engine/message.h"

enum { POOL_CLASSES = 10 };         /* 32, 64, ... 16384 bytes; larger ones are allocated alone */

struct pool {
    struct payload *free[POOL_CLASSES];
    void **blocks;                  /* what was allocated for the classes */
    size_t block_count;
    size_t bytes;                   /* allocated, large payloads included */
};

void pool_init(struct pool *p);
/* Frees the blocks; payloads larger than the classes must have been given back. */
void pool_release(struct pool *p);

/* A payload with one reference and room for `size` bytes, below 2^32; the caller fills bytes and hash. */
struct payload *pool_take(struct pool *p, size_t size);
void pool_give(struct pool *p, struct payload *payload);

/* The hash that the digest takes over a payload. */
uint64_t payload_hash(const void *bytes, size_t size);

static inline void pool_unref(struct pool *p, struct payload *payload)
{
    if (--payload->references == 0)
        pool_give(p, payload);
}

#endif
