/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For the tests of kvs/: one namespace with its queue, the module's cache and the content service behind it, and what
 * a role does with messages done at once.
 */
#ifndef TIERCEL_TESTS_KVS_STORE_H
#define TIERCEL_TESTS_KVS_STORE_H

#include <CUnit/Basic.h>

#include "kvs/commit_queue.h"
#include "kvs/lookup.h"

struct store {
    struct blob_pool *pool;
    struct content cache;       /* the module's */
    struct content content;     /* the service's */
    struct commit_queue queue;
    struct blobref root;
    uint64_t sequence;
    unsigned stored;            /* blobs sent to the service by the last commit */
    unsigned loaded;            /* blobs loaded for the last commit or lookup */
    int errnum;                 /* of the last commit */
    uint64_t counter;
};

static inline void store_init(struct store *s)
{
    memset(s, 0, sizeof *s);
    s->pool = blob_pool_new();
    content_init(&s->cache, s->pool);
    content_init(&s->content, s->pool);
    commit_queue_init(&s->queue);
    struct bytes empty = BYTES_INIT;
    treeobj_put_empty_directory(&empty);
    content_put(&s->cache, empty.data, empty.size, 0, NULL);
    content_put(&s->content, empty.data, empty.size, 0, NULL);
    bytes_release(&empty);
    s->root = treeobj_empty_reference();
}

static inline void store_release(struct store *s)
{
    commit_queue_release(&s->queue);
    content_release(&s->cache);
    content_release(&s->content);
    blob_pool_free(s->pool);
}

static inline struct transaction *store_transaction(struct store *s)
{
    return transaction_new(3, s->counter++, 0);
}

/* Gives the waiting head what it waits for; one that the service lacks fails it. */
static inline void store_serve(struct store *s, struct commit *head)
{
    if (head->state == COMMIT_LOADING) {
        for (guint i = 0; i < head->missing->len; i++) {
            struct blob *blob = content_find(&s->content, &g_array_index(head->missing, struct blobref, i));
            s->loaded++;
            if (blob == NULL) {
                commit_fail(head, ENOENT);
                continue;
            }
            content_add(&s->cache, blob, 0, NULL);
            commit_arrived(head);
        }
    } else {
        s->stored += head->stores->len;
        for (guint i = 0; i < head->stores->len; i++)
            content_add(&s->content, head->stores->pdata[i], 0, NULL);
        for (guint i = 0; i < head->awaited->len; i++) {
            content_set_dirty(&s->cache, &g_array_index(head->awaited, struct blobref, i), false);
            commit_arrived(head);
        }
    }
}

/* Brings the head of the queue to its end, which it returns; the head stays. */
static inline enum commit_state store_run_head(struct store *s)
{
    struct commit *head = commit_queue_head(&s->queue);
    enum commit_state state;
    s->stored = s->loaded = 0;
    while ((state = commit_apply(head, &s->root, false, &s->cache, 0)) == COMMIT_LOADING || state == COMMIT_STORING)
        store_serve(s, head);
    s->errnum = head->errnum;
    if (state == COMMIT_DONE) {
        s->root = head->root;
        s->sequence++;
    }
    return state;
}

/* Commits one transaction; its errno value, 0 when it was applied. */
static inline int store_commit(struct store *s, struct transaction *t)
{
    commit_queue_push(&s->queue, t);
    store_run_head(s);
    commit_queue_pop(&s->queue);
    return s->errnum;
}

static inline int store_put(struct store *s, const char *key, const char *value)
{
    struct transaction *t = store_transaction(s);
    transaction_put(t, key, value, strlen(value));
    return store_commit(s, t);
}

static inline int store_append(struct store *s, const char *key, const char *value)
{
    struct transaction *t = store_transaction(s);
    transaction_append(t, key, value, strlen(value));
    return store_commit(s, t);
}

/* Walks a lookup to its end, loading what it misses; stops at another namespace. */
static inline enum lookup_state store_walk(struct store *s, struct lookup *l)
{
    s->loaded = 0;
    while (lookup_walk(l, &s->cache, 0) == LOOKUP_LOADING) {
        bool woken = false;
        for (guint i = 0; i < l->missing->len && !woken; i++) {
            struct blob *blob = content_find(&s->content, &g_array_index(l->missing, struct blobref, i));
            if (blob == NULL) {
                lookup_fail(l, ENOENT);
                break;
            }
            s->loaded++;
            content_add(&s->cache, blob, 0, NULL);
            woken = lookup_arrived(l);
        }
    }
    return l->state;
}

/* The value of a key as a text (g_free), or NULL and *errnum. */
static inline char *store_get(struct store *s, const char *key, int *errnum)
{
    struct lookup *l = lookup_new(&s->root, key, LOOKUP_VALUE);
    store_walk(s, l);
    *errnum = l->errnum;
    char *text = l->state == LOOKUP_DONE ? g_strndup(l->value.data == NULL ? "" : (char *)l->value.data, l->value.size)
                                         : NULL;
    lookup_free(l);
    return text;
}

/* Asserts that a key has this value, or (value NULL) that reading it gives this errno value. */
static inline void store_check(struct store *s, const char *key, const char *value, int errnum)
{
    int got;
    char *text = store_get(s, key, &got);
    CU_ASSERT_EQUAL(got, errnum);
    CU_ASSERT_EQUAL(g_strcmp0(text, value), 0);
    g_free(text);
}

/* The type of what stands under a key; 0 when there is nothing. */
static inline int store_type(struct store *s, const char *key)
{
    struct lookup *l = lookup_new(&s->root, key, LOOKUP_OBJECT);
    store_walk(s, l);
    int type = l->state == LOOKUP_DONE ? (int)l->object.type : 0;
    lookup_free(l);
    return type;
}

#endif
