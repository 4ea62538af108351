/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/namespaces.h"

#include <errno.h>

static void root_free(struct namespace_root *ns)
{
    commit_queue_release(&ns->queue);
    sequence_waits_release(&ns->waits);
    g_free(ns->name);
    g_free(ns);
}

void namespaces_init(struct namespaces *t)
{
    *t = (struct namespaces){ 0 };
    t->by_name = g_hash_table_new(g_str_hash, g_str_equal);
    t->order = g_ptr_array_new();
    t->ready = g_ptr_array_new();
}

void namespaces_release(struct namespaces *t)
{
    if (t->by_name == NULL)
        return;
    for (guint i = 0; i < t->order->len; i++)
        root_free(t->order->pdata[i]);
    g_hash_table_destroy(t->by_name);
    g_ptr_array_free(t->ready, TRUE);
    g_ptr_array_free(t->order, TRUE);
    *t = (struct namespaces){ 0 };
}

/* The index of the first root of the list whose id is `id` or above. */
static guint list_search(const GPtrArray *list, uint64_t id)
{
    guint low = 0;
    guint high = list->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (((const struct namespace_root *)list->pdata[middle])->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int namespaces_create(struct namespaces *t, const char *name, uint32_t owner, uint32_t flags,
                      struct namespace_root **ns)
{
    *ns = NULL;
    if (flags != 0 || name[0] == '\0')
        return EINVAL;
    if (g_hash_table_contains(t->by_name, name))
        return EEXIST;
    struct namespace_root *made = g_new0(struct namespace_root, 1);
    made->id = t->next_id++;
    made->name = g_strdup(name);
    made->owner = owner;
    made->flags = flags;
    made->root = treeobj_empty_reference();
    commit_queue_init(&made->queue);
    g_hash_table_insert(t->by_name, made->name, made);
    g_ptr_array_add(t->order, made);
    *ns = made;
    return 0;
}

int namespaces_remove(struct namespaces *t, const char *name, struct namespace_root **ns)
{
    *ns = NULL;
    if (strcmp(name, NAMESPACES_PRIMARY) == 0)
        return ENOTSUP;
    struct namespace_root *found = namespaces_find(t, name);
    if (found == NULL || found->removing)
        return 0;
    found->removing = true;
    t->removing++;
    *ns = found;
    return 0;
}

struct namespace_root *namespaces_find(const struct namespaces *t, const char *name)
{
    return g_hash_table_lookup(t->by_name, name);
}

struct namespace_root *namespaces_by_id(const struct namespaces *t, uint64_t id)
{
    guint index = list_search(t->order, id);
    if (index == t->order->len)
        return NULL;
    struct namespace_root *ns = t->order->pdata[index];
    return ns->id == id ? ns : NULL;
}

int namespaces_use(const struct namespaces *t, const char *name, uint32_t user, struct namespace_root **ns)
{
    *ns = NULL;
    struct namespace_root *found = namespaces_find(t, name);
    if (found == NULL || found->removing)
        return ENOTSUP;
    if (user != NAMESPACES_INSTANCE_OWNER && user != found->owner)
        return EPERM;
    *ns = found;
    return 0;
}

void namespaces_push(struct namespaces *t, struct namespace_root *ns, struct transaction *transaction)
{
    commit_queue_push(&ns->queue, transaction);
    namespaces_update(t, ns);
}

void namespaces_update(struct namespaces *t, struct namespace_root *ns)
{
    bool ready = commit_queue_ready(&ns->queue);
    if (ready == ns->listed)
        return;
    guint index = list_search(t->ready, ns->id);
    if (ready)
        g_ptr_array_insert(t->ready, (gint)index, ns);
    else
        g_ptr_array_remove_index(t->ready, index);
    ns->listed = ready;
}

void namespaces_advance(struct namespaces *t, struct namespace_root *ns)
{
    const struct commit *head = commit_queue_head(&ns->queue);
    g_assert(head != NULL && head->state == COMMIT_DONE);
    ns->root = head->root;
    ns->sequence++;
}

struct namespace_root *namespaces_ready(const struct namespaces *t, const struct namespace_root *after)
{
    guint index = after == NULL ? 0 : list_search(t->ready, after->id + 1);
    return index < t->ready->len ? t->ready->pdata[index] : NULL;
}

uint32_t namespaces_walk_length(const struct namespaces *t)
{
    const struct namespace_root *first = namespaces_ready(t, NULL);
    return first == NULL ? t->order->len : list_search(t->order, first->id) + 1;
}

uint32_t namespaces_count(const struct namespaces *t)
{
    return t->order->len;
}

static bool can_go(const struct namespace_root *ns)
{
    return ns->removing && ns->queue.commits.length == 0 && ns->waits.length == 0;
}

void namespaces_reap(struct namespaces *t, GPtrArray *names)
{
    if (t->removing == 0)
        return;
    guint kept = 0;
    for (guint i = 0; i < t->order->len; i++) {
        struct namespace_root *ns = t->order->pdata[i];
        if (!can_go(ns)) {
            t->order->pdata[kept++] = ns;
            continue;
        }
        g_assert(!ns->listed);
        g_hash_table_remove(t->by_name, ns->name);
        g_ptr_array_add(names, g_steal_pointer(&ns->name));
        root_free(ns);
        t->removing--;
    }
    g_ptr_array_set_size(t->order, (gint)kept);
}

void namespaces_save(const struct namespaces *t, struct bytes *sink)
{
    bytes_put_u64(sink, t->next_id);
    bytes_put_u32(sink, t->order->len);
    for (guint i = 0; i < t->order->len; i++) {
        const struct namespace_root *ns = t->order->pdata[i];
        bytes_put_u64(sink, ns->id);
        bytes_put_text(sink, ns->name);
        bytes_put_u32(sink, ns->owner);
        bytes_put_u32(sink, ns->flags);
        bytes_put_u64(sink, ns->sequence);
        blobref_put(sink, &ns->root);
        bytes_put_u8(sink, ns->removing);
        commit_queue_save(&ns->queue, sink);
        sequence_waits_save(&ns->waits, sink);
    }
}
