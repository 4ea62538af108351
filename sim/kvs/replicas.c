/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/replicas.h"

#include "kvs/namespaces.h"

static void replica_free(struct replica *r)
{
    sequence_waits_release(&r->waits);
    g_free(r->name);
    g_free(r);
}

void replicas_init(struct replicas *t)
{
    *t = (struct replicas){ 0 };
    t->by_name = g_hash_table_new(g_str_hash, g_str_equal);
    t->order = g_ptr_array_new();
}

void replicas_release(struct replicas *t)
{
    if (t->by_name == NULL)
        return;
    for (guint i = 0; i < t->order->len; i++)
        replica_free(t->order->pdata[i]);
    g_ptr_array_free(t->order, TRUE);
    g_hash_table_destroy(t->by_name);
    *t = (struct replicas){ 0 };
}

struct replica *replicas_find(const struct replicas *t, const char *name)
{
    return g_hash_table_lookup(t->by_name, name);
}

struct replica *replicas_add(struct replicas *t, const char *name, uint32_t owner, uint64_t sequence,
                             const struct blobref *root, uint32_t heartbeat)
{
    g_assert(replicas_find(t, name) == NULL);
    struct replica *r = g_new0(struct replica, 1);
    r->id = t->next_id++;
    r->name = g_strdup(name);
    r->owner = owner;
    r->sequence = sequence;
    r->root = *root;
    r->changed = heartbeat;
    g_hash_table_insert(t->by_name, r->name, r);
    g_ptr_array_add(t->order, r);
    return r;
}

bool replica_advance(struct replica *r, uint64_t sequence, const struct blobref *root, uint32_t heartbeat)
{
    if (sequence != 0 && sequence <= r->sequence)
        return false;
    r->sequence = sequence;
    r->root = *root;
    r->changed = heartbeat;
    return true;
}

uint32_t replicas_count(const struct replicas *t)
{
    return t->order->len;
}

static bool can_go(const struct replica *r, uint32_t heartbeat)
{
    if (r->held != 0 || r->waits.length != 0)
        return false;
    return r->removing ||
           (heartbeat - r->changed > REPLICAS_AGE_MAX && strcmp(r->name, NAMESPACES_PRIMARY) != 0);
}

void replicas_reap(struct replicas *t, uint32_t heartbeat, GPtrArray *names)
{
    guint kept = 0;
    for (guint i = 0; i < t->order->len; i++) {
        struct replica *r = t->order->pdata[i];
        if (!can_go(r, heartbeat)) {
            t->order->pdata[kept++] = r;
            continue;
        }
        g_hash_table_remove(t->by_name, r->name);
        g_ptr_array_add(names, g_steal_pointer(&r->name));
        replica_free(r);
    }
    g_ptr_array_set_size(t->order, (gint)kept);
}

void replicas_save(const struct replicas *t, struct bytes *sink)
{
    bytes_put_u64(sink, t->next_id);
    bytes_put_u32(sink, t->order->len);
    for (guint i = 0; i < t->order->len; i++) {
        const struct replica *r = t->order->pdata[i];
        bytes_put_u64(sink, r->id);
        bytes_put_text(sink, r->name);
        bytes_put_u32(sink, r->owner);
        bytes_put_u8(sink, r->removing);
        bytes_put_u32(sink, r->held);
        bytes_put_u64(sink, r->sequence);
        blobref_put(sink, &r->root);
        bytes_put_u32(sink, r->changed);
        sequence_waits_save(&r->waits, sink);
    }
}
