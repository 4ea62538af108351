/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/kvs_fence.h"

#include <errno.h>

#include "kvs/key.h"
#include "ranks/kvs_module.h"
#include "ranks/protocol.h"

struct fence {
    char *key;                  /* in by_name */
    char *ns;
    uint32_t participants;
    uint32_t flags;
    GArray *callers;            /* struct envelope */
    struct transaction *all;    /* of those who have come; NULL once complete */
};

static gint key_compare(gconstpointer a, gconstpointer b, gpointer unused)
{
    (void)unused;
    return strcmp(a, b);
}

static void fence_free(gpointer data)
{
    struct fence *fence = data;
    if (fence->all != NULL)
        transaction_free(fence->all);
    g_array_unref(fence->callers);
    g_free(fence->ns);
    g_free(fence->key);
    g_free(fence);
}

void kvs_fences_init(struct kvs_fences *f)
{
    f->by_name = g_tree_new_full(key_compare, NULL, NULL, fence_free);
    pending_init(&f->complete, NULL);
    pending_init(&f->syncs, g_free);
}

void kvs_fences_release(struct kvs_fences *f)
{
    pending_release(&f->syncs);
    pending_release(&f->complete);
    g_tree_destroy(f->by_name);
}

static void fence_answer(struct actor *self, const struct fence *fence, uint16_t error, uint64_t sequence)
{
    struct bytes body = BYTES_INIT;
    bytes_put_u64(&body, sequence);
    for (guint i = 0; i < fence->callers->len; i++)
        route_reply(self, &g_array_index(fence->callers, struct envelope, i), KVS_FENCE, error, &body);
    bytes_release(&body);
}

/* The transaction's operations join those of the others. */
static void fence_join(struct fence *fence, const struct envelope *env, const struct transaction *t)
{
    bytes_put(&fence->all->operations, t->operations.data, t->operations.size);
    fence->all->count += t->count;
    g_array_append_val(fence->callers, *env);
}

/* May the user do this in this namespace? Counts who may not. */
static int use(struct actor *self, const struct namespaces *t, const char *name, uint32_t user,
               struct namespace_root **ns)
{
    int error = namespaces_use(t, name, user, ns);
    if (error == EPERM)
        actor_count(self, KVS_REFUSED, 1);
    return error;
}

void kvs_fence_serve(struct actor *self, struct kvs_fences *f, struct namespaces *t, const struct envelope *env,
                     struct cursor *c)
{
    const char *name = key_get_text(c);
    uint32_t user = cursor_u32(c);
    const char *fence_name = key_get_text(c);
    uint32_t participants = cursor_u32(c);
    struct transaction *mine = transaction_unpack(c);
    if (name == NULL || fence_name == NULL || mine == NULL || !cursor_done(c)) {
        if (mine != NULL)
            transaction_free(mine);
        actor_fail(self, "fence of actor %u is malformed", env->origin);
        return;
    }
    struct namespace_root *ns;
    int error = use(self, t, name, user, &ns);
    g_autofree char *key = g_strdup_printf("%s\n%s", name, fence_name);
    struct fence *fence = error == 0 ? g_tree_lookup(f->by_name, key) : NULL;
    if (error == 0 && participants == 0)
        error = EINVAL;
    if (fence != NULL && (fence->participants != participants || fence->flags != mine->flags))
        error = EINVAL;
    else if (fence != NULL && fence->all == NULL)
        error = EOVERFLOW;
    if (error != 0) {
        transaction_free(mine);
        route_reply(self, env, KVS_FENCE, (uint16_t)error, NULL);
        return;
    }
    if (fence == NULL) {
        fence = g_new0(struct fence, 1);
        fence->key = g_steal_pointer(&key);
        fence->ns = g_strdup(name);
        fence->participants = participants;
        fence->flags = mine->flags;
        fence->callers = g_array_new(FALSE, FALSE, sizeof(struct envelope));
        fence->all = transaction_new(0, 0, mine->flags);
        g_tree_insert(f->by_name, fence->key, fence);
    }
    fence_join(fence, env, mine);
    transaction_free(mine);
    if (fence->callers->len < participants)
        return;
    struct transaction *all = g_steal_pointer(&fence->all);
    all->name = (struct transaction_name){ UINT32_MAX, pending_add(&f->complete, fence) };
    actor_count(self, KVS_TRANSACTIONS, 1);
    actor_count(self, KVS_FENCES, 1);
    namespaces_push(t, ns, all);
}

void kvs_sync_serve(struct actor *self, struct kvs_fences *f, struct namespaces *t, const struct envelope *env,
                    struct cursor *c)
{
    const char *name = key_get_text(c);
    uint32_t user = cursor_u32(c);
    uint64_t sequence = cursor_u64(c);
    if (!cursor_done(c)) {
        actor_fail(self, "sync of actor %u is malformed", env->origin);
        return;
    }
    struct namespace_root *ns;
    int error = use(self, t, name, user, &ns);
    if (error != 0) {
        route_reply(self, env, KVS_SYNC, (uint16_t)error, NULL);
        return;
    }
    actor_count(self, KVS_SYNCS, 1);
    sequence_wait(&ns->waits, sequence, pending_add(&f->syncs, g_memdup2(env, sizeof *env)));
    kvs_syncs_wake(self, f, ns, 0);
}

void kvs_fences_answer(struct actor *self, struct kvs_fences *f, const struct event_names *names, uint16_t error,
                       uint64_t sequence)
{
    for (uint32_t i = 0; i < names->count; i++) {
        struct transaction_name name = event_name(names, i);
        struct fence *fence = name.node == UINT32_MAX ? pending_take(&f->complete, name.counter) : NULL;
        if (fence == NULL)
            continue;
        fence_answer(self, fence, error, sequence);
        g_tree_remove(f->by_name, fence->key);
    }
}

void kvs_syncs_wake(struct actor *self, struct kvs_fences *f, struct namespace_root *ns, uint16_t error)
{
    struct bytes body = BYTES_INIT;
    uint64_t token;
    bytes_put_u64(&body, ns->sequence);
    while (sequence_woken(&ns->waits, error != 0 ? UINT64_MAX : ns->sequence, &token)) {
        struct envelope *env = pending_take(&f->syncs, token);
        route_reply(self, env, KVS_SYNC, error, &body);
        g_free(env);
    }
    bytes_release(&body);
}

struct removal {
    const char *ns;
    GPtrArray *ended;
};

static gboolean collect_ended(gpointer key, gpointer value, gpointer data)
{
    (void)key;
    const struct fence *fence = value;
    const struct removal *removal = data;
    if (fence->all != NULL && g_str_equal(fence->ns, removal->ns))
        g_ptr_array_add(removal->ended, value);
    return FALSE;
}

void kvs_fences_remove(struct actor *self, struct kvs_fences *f, const char *ns)
{
    struct removal removal = { ns, g_ptr_array_new() };
    g_tree_foreach(f->by_name, collect_ended, &removal);
    for (guint i = 0; i < removal.ended->len; i++) {
        const struct fence *fence = g_ptr_array_index(removal.ended, i);
        fence_answer(self, fence, ENOTSUP, 0);
        g_tree_remove(f->by_name, fence->key);
    }
    g_ptr_array_unref(removal.ended);
}

static gboolean fence_save(gpointer key, gpointer value, gpointer sink)
{
    const struct fence *fence = value;
    key_put_text(sink, key);
    bytes_put_u32(sink, fence->participants);
    bytes_put_u32(sink, fence->callers->len);
    for (guint i = 0; i < fence->callers->len; i++)
        envelope_put(sink, &g_array_index(fence->callers, struct envelope, i));
    bytes_put_u8(sink, fence->all != NULL);
    if (fence->all != NULL)
        transaction_pack(fence->all, sink);
    return FALSE;
}

void kvs_fences_save(const struct kvs_fences *f, struct bytes *sink)
{
    bytes_put_u32(sink, (uint32_t)g_tree_nnodes(f->by_name));
    g_tree_foreach(f->by_name, fence_save, sink);
    uint64_t *ids = pending_ids(&f->complete);
    bytes_put_u64(sink, f->complete.last);
    bytes_put_u32(sink, pending_length(&f->complete));
    for (guint i = 0; i < pending_length(&f->complete); i++) {
        bytes_put_u64(sink, ids[i]);
        key_put_text(sink, ((const struct fence *)pending_find(&f->complete, ids[i]))->key);
    }
    g_free(ids);
    ids = pending_ids(&f->syncs);
    bytes_put_u64(sink, f->syncs.last);
    bytes_put_u32(sink, pending_length(&f->syncs));
    for (guint i = 0; i < pending_length(&f->syncs); i++) {
        bytes_put_u64(sink, ids[i]);
        envelope_put(sink, pending_find(&f->syncs, ids[i]));
    }
    g_free(ids);
}
