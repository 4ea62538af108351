/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/pending.h"

#include <stdlib.h>

void pending_init(struct pending *p, GDestroyNotify free_item)
{
    p->items = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_item);
    p->last = 0;
}

void pending_release(struct pending *p)
{
    g_hash_table_destroy(p->items);
    p->items = NULL;
}

uint64_t pending_add(struct pending *p, void *item)
{
    g_hash_table_insert(p->items, GSIZE_TO_POINTER(++p->last), item);
    return p->last;
}

void *pending_find(const struct pending *p, uint64_t id)
{
    return g_hash_table_lookup(p->items, GSIZE_TO_POINTER(id));
}

void pending_remove(struct pending *p, uint64_t id)
{
    g_hash_table_remove(p->items, GSIZE_TO_POINTER(id));
}

void *pending_take(struct pending *p, uint64_t id)
{
    gpointer item = NULL;
    g_hash_table_steal_extended(p->items, GSIZE_TO_POINTER(id), NULL, &item);
    return item;
}

static int id_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

uint64_t *pending_ids(const struct pending *p)
{
    uint64_t *ids = g_new(uint64_t, pending_length(p));
    size_t count = 0;
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, p->items);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        ids[count++] = GPOINTER_TO_SIZE(key);
    if (count > 1)
        qsort(ids, count, sizeof *ids, id_compare);
    return ids;
}
