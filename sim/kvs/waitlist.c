/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/waitlist.h"

static void list_free(gpointer list)
{
    g_array_unref(list);
}

void waitlist_init(struct waitlist *w)
{
    w->lists = g_hash_table_new_full(blobref_hash, blobref_same, g_free, list_free);
}

void waitlist_release(struct waitlist *w)
{
    if (w->lists != NULL)
        g_hash_table_destroy(w->lists);
    w->lists = NULL;
}

bool waitlist_add(struct waitlist *w, const struct blobref *ref, uint64_t token)
{
    GArray *list = g_hash_table_lookup(w->lists, ref);
    bool first = list == NULL;
    if (first) {
        list = g_array_new(FALSE, FALSE, sizeof token);
        g_hash_table_insert(w->lists, g_memdup2(ref, sizeof *ref), list);
    }
    g_array_append_val(list, token);
    return first;
}

GArray *waitlist_take(struct waitlist *w, const struct blobref *ref)
{
    gpointer key, list;
    if (!g_hash_table_steal_extended(w->lists, ref, &key, &list))
        return NULL;
    g_free(key);
    return list;
}

static int compare_keys(gconstpointer a, gconstpointer b)
{
    return blobref_compare(*(const struct blobref *const *)a, *(const struct blobref *const *)b);
}

void waitlist_save(const struct waitlist *w, struct bytes *sink)
{
    guint count;
    gpointer *keys = g_hash_table_get_keys_as_array(w->lists, &count);
    qsort(keys, count, sizeof *keys, compare_keys);
    bytes_put_u32(sink, count);
    for (guint i = 0; i < count; i++) {
        const GArray *list = g_hash_table_lookup(w->lists, keys[i]);
        blobref_put(sink, keys[i]);
        bytes_put_u32(sink, list->len);
        bytes_put(sink, list->data, list->len * sizeof(uint64_t));
    }
    g_free(keys);
}
