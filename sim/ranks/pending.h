/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a role has begun and not finished: items under numbers that are never used again.
 *
 *     struct pending p;
 *     pending_init(&p, g_free);
 *     uint64_t id = pending_add(&p, item);            1, 2, 3 ...: a good tag for a request
 *     item = pending_find(&p, id);                    NULL: finished, or never begun
 *     pending_remove(&p, id);                         frees it
 *     pending_release(&p);
 *
 * Walks are by rising number, so they may reach messages and saved state. All functions are local.
 */
#ifndef TIERCEL_RANKS_PENDING_H
#define TIERCEL_RANKS_PENDING_H

#include <glib.h>
#include <stdint.h>

struct pending {
    GHashTable *items;
    uint64_t last;          /* number given out last */
};

/* `free_item` may be NULL. */
void pending_init(struct pending *p, GDestroyNotify free_item);
void pending_release(struct pending *p);

uint64_t pending_add(struct pending *p, void *item);
void *pending_find(const struct pending *p, uint64_t id);
void pending_remove(struct pending *p, uint64_t id);
/* The same, but gives the item to the caller; NULL when there is none. */
void *pending_take(struct pending *p, uint64_t id);

static inline guint pending_length(const struct pending *p)
{
    return g_hash_table_size(p->items);
}

/* All numbers, rising; as many as pending_length. The caller frees the array with g_free. */
uint64_t *pending_ids(const struct pending *p);

#endif
