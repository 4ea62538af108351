/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/pool.h"

#include <glib.h>
#include <xxhash.h>

enum { SMALLEST = 32, BLOCK_BYTES = 64 * 1024 };

/* A free payload's bytes are not in use: they hold the list. */
static struct payload **link_of(struct payload *payload)
{
    return (struct payload **)(void *)&payload->hash;
}

static unsigned class_of(size_t size)
{
    size_t need = size + sizeof(struct payload);
    unsigned class = 0;
    for (size_t fits = SMALLEST; fits < need && class < POOL_CLASSES; fits *= 2)
        class++;
    return class;
}

void pool_init(struct pool *p)
{
    *p = (struct pool){ 0 };
}

void pool_release(struct pool *p)
{
    for (size_t i = 0; i < p->block_count; i++)
        g_free(p->blocks[i]);
    g_free(p->blocks);
    *p = (struct pool){ 0 };
}

static void class_refill(struct pool *p, unsigned class)
{
    size_t each = (size_t)SMALLEST << class;
    char *block = g_malloc(BLOCK_BYTES);
    p->blocks = g_renew(void *, p->blocks, p->block_count + 1);
    p->blocks[p->block_count++] = block;
    p->bytes += BLOCK_BYTES;
    for (size_t at = 0; at + each <= BLOCK_BYTES; at += each) {
        struct payload *payload = (struct payload *)(void *)(block + at);
        *link_of(payload) = p->free[class];
        p->free[class] = payload;
    }
}

struct payload *pool_take(struct pool *p, size_t size)
{
    struct payload *payload;
    unsigned class = class_of(size);
    if (class == POOL_CLASSES) {
        payload = g_malloc(sizeof *payload + size);
        p->bytes += sizeof *payload + size;
    } else {
        if (p->free[class] == NULL)
            class_refill(p, class);
        payload = p->free[class];
        p->free[class] = *link_of(payload);
    }
    payload->references = 1;
    payload->size = (uint32_t)size;
    return payload;
}

void pool_give(struct pool *p, struct payload *payload)
{
    unsigned class = class_of(payload->size);
    if (class == POOL_CLASSES) {
        p->bytes -= sizeof *payload + payload->size;
        g_free(payload);
        return;
    }
    *link_of(payload) = p->free[class];
    p->free[class] = payload;
}

uint64_t payload_hash(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}
