/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/job_limits.h"

struct deadline {
    int64_t time_ns;
    uint64_t key;
};

static gint deadline_compare(gconstpointer first, gconstpointer second, gpointer unused)
{
    (void)unused;
    const struct deadline *a = first, *b = second;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

void job_limits_init(struct job_limits *l)
{
    l->deadlines = g_tree_new_full(deadline_compare, NULL, g_free, NULL);
    l->armed_ns = JOB_LIMITS_NONE;
}

void job_limits_release(struct job_limits *l)
{
    g_tree_unref(l->deadlines);
}

static const struct deadline *deadline_first(const struct job_limits *l)
{
    GTreeNode *node = g_tree_node_first(l->deadlines);
    return node == NULL ? NULL : g_tree_node_key(node);
}

bool job_limits_add(struct job_limits *l, int64_t deadline_ns, uint64_t key)
{
    g_assert(deadline_ns < JOB_LIMITS_NONE);
    struct deadline *d = g_new(struct deadline, 1);
    *d = (struct deadline){ deadline_ns, key };
    g_tree_insert(l->deadlines, d, d);
    if (deadline_ns >= l->armed_ns)
        return false;
    l->armed_ns = deadline_ns;
    return true;
}

bool job_limits_remove(struct job_limits *l, int64_t deadline_ns, uint64_t key)
{
    struct deadline d = { deadline_ns, key };
    return g_tree_remove(l->deadlines, &d);
}

bool job_limits_expired(struct job_limits *l, int64_t now_ns, uint64_t *key)
{
    const struct deadline *first = deadline_first(l);
    if (first == NULL || first->time_ns > now_ns)
        return false;
    *key = first->key;
    g_tree_remove(l->deadlines, first);
    return true;
}

int64_t job_limits_rearm(struct job_limits *l, int64_t now_ns)
{
    if (l->armed_ns <= now_ns)
        l->armed_ns = JOB_LIMITS_NONE;
    const struct deadline *first = deadline_first(l);
    if (first == NULL || first->time_ns >= l->armed_ns)
        return JOB_LIMITS_NONE;
    l->armed_ns = first->time_ns;
    return l->armed_ns;
}

void job_limits_save(const struct job_limits *l, struct bytes *sink)
{
    bytes_put_i64(sink, l->armed_ns);
    bytes_put_u32(sink, (uint32_t)g_tree_nnodes(l->deadlines));
    for (GTreeNode *node = g_tree_node_first(l->deadlines); node != NULL; node = g_tree_node_next(node)) {
        const struct deadline *d = g_tree_node_key(node);
        bytes_put_i64(sink, d->time_ns);
        bytes_put_u64(sink, d->key);
    }
}
