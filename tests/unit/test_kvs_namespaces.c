/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "kvs/namespaces.h"
#include "kvs/replicas.h"

#include "suite.h"

/* --- waiters for a sequence --- */

static void test_sequence(void)
{
    struct sequence_waits w = SEQUENCE_WAITS_INIT;
    uint64_t token;
    CU_ASSERT_FALSE(sequence_woken(&w, UINT64_MAX, &token));
    sequence_wait(&w, 5, 50);
    sequence_wait(&w, 3, 30);
    sequence_wait(&w, 5, 51);
    sequence_wait(&w, 3, 31);
    sequence_wait(&w, 9, 90);
    struct bytes saved = BYTES_INIT;
    sequence_waits_save(&w, &saved);
    CU_ASSERT_EQUAL(saved.size, 4 + 5 * 16);
    bytes_release(&saved);
    CU_ASSERT_FALSE(sequence_woken(&w, 2, &token));
    static const uint64_t order[] = { 30, 31, 50, 51 };
    for (unsigned i = 0; i < 4; i++) {
        CU_ASSERT_TRUE(sequence_woken(&w, 5, &token));
        CU_ASSERT_EQUAL(token, order[i]);
    }
    CU_ASSERT_FALSE(sequence_woken(&w, 8, &token));
    CU_ASSERT_TRUE(sequence_woken(&w, UINT64_MAX, &token));
    CU_ASSERT_EQUAL(token, 90);
    sequence_waits_release(&w);
}

/* --- the roots on node 0 --- */

struct fixture {
    struct namespaces t;
    struct namespace_root *primary;
    struct content cache;
};

static void setup(struct fixture *f)
{
    namespaces_init(&f->t);
    content_init(&f->cache, NULL);
    struct bytes empty = BYTES_INIT;
    treeobj_put_empty_directory(&empty);
    content_put(&f->cache, empty.data, empty.size, 0, NULL);
    bytes_release(&empty);
    CU_ASSERT_EQUAL_FATAL(namespaces_create(&f->t, NAMESPACES_PRIMARY, 0, 0, &f->primary), 0);
}

static void teardown(struct fixture *f)
{
    namespaces_release(&f->t);
    content_release(&f->cache);
}

static struct namespace_root *make(struct fixture *f, const char *name)
{
    struct namespace_root *ns;
    CU_ASSERT_EQUAL_FATAL(namespaces_create(&f->t, name, 7, 0, &ns), 0);
    return ns;
}

static void push(struct fixture *f, struct namespace_root *ns, const char *key)
{
    struct transaction *t = transaction_new(0, 0, 0);
    transaction_put(t, key, key, strlen(key));
    namespaces_push(&f->t, ns, t);
}

static enum commit_state apply(struct fixture *f, struct namespace_root *ns)
{
    enum commit_state state = commit_apply(commit_queue_head(&ns->queue), &ns->root, ns->removing, &f->cache, 0);
    namespaces_update(&f->t, ns);
    return state;
}

/* All blobs that the head awaits are acknowledged. */
static void acknowledge(struct fixture *f, struct namespace_root *ns)
{
    struct commit *head = commit_queue_head(&ns->queue);
    for (guint i = 0; i < head->awaited->len; i++) {
        content_set_dirty(&f->cache, &g_array_index(head->awaited, struct blobref, i), false);
        commit_arrived(head);
    }
    namespaces_update(&f->t, ns);
}

static void pop(struct fixture *f, struct namespace_root *ns)
{
    commit_queue_pop(&ns->queue);
    namespaces_update(&f->t, ns);
}

static guint reap(struct fixture *f)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    namespaces_reap(&f->t, names);
    guint count = names->len;
    g_ptr_array_free(names, TRUE);
    return count;
}

static void test_create(void)
{
    struct fixture f;
    setup(&f);
    struct namespace_root *ns = make(&f, "job-1"), *other;
    struct blobref empty = treeobj_empty_reference();
    CU_ASSERT_EQUAL(ns->sequence, 0);
    CU_ASSERT_TRUE(blobref_equal(&ns->root, &empty));
    CU_ASSERT_EQUAL(namespaces_create(&f.t, "job-1", 7, 0, &other), EEXIST);
    CU_ASSERT_PTR_NULL(other);
    CU_ASSERT_EQUAL(namespaces_create(&f.t, "job-2", 7, 1, &other), EINVAL);
    CU_ASSERT_EQUAL(namespaces_create(&f.t, "", 7, 0, &other), EINVAL);
    CU_ASSERT_EQUAL(namespaces_count(&f.t), 2);
    CU_ASSERT_PTR_EQUAL(namespaces_find(&f.t, "job-1"), ns);
    CU_ASSERT_PTR_EQUAL(namespaces_by_id(&f.t, ns->id), ns);
    CU_ASSERT_PTR_NULL(namespaces_by_id(&f.t, 2));
    CU_ASSERT_EQUAL(namespaces_use(&f.t, "job-1", 7, &other), 0);
    CU_ASSERT_EQUAL(namespaces_use(&f.t, "job-1", NAMESPACES_INSTANCE_OWNER, &other), 0);
    CU_ASSERT_PTR_EQUAL(other, ns);
    CU_ASSERT_EQUAL(namespaces_use(&f.t, "job-1", 8, &other), EPERM);
    CU_ASSERT_PTR_NULL(other);
    CU_ASSERT_EQUAL(namespaces_use(&f.t, "job-2", 7, &other), ENOTSUP);
    teardown(&f);
}

static void test_remove(void)
{
    struct fixture f;
    setup(&f);
    struct namespace_root *ns = make(&f, "job-1"), *other;
    CU_ASSERT_EQUAL(namespaces_remove(&f.t, NAMESPACES_PRIMARY, &other), ENOTSUP);
    CU_ASSERT_EQUAL(namespaces_remove(&f.t, "job-9", &other), 0);
    CU_ASSERT_PTR_NULL(other);
    CU_ASSERT_EQUAL(reap(&f), 0);
    CU_ASSERT_EQUAL(namespaces_remove(&f.t, "job-1", &other), 0);
    CU_ASSERT_PTR_EQUAL(other, ns);
    CU_ASSERT_EQUAL(namespaces_remove(&f.t, "job-1", &other), 0);
    CU_ASSERT_PTR_NULL(other);
    CU_ASSERT_EQUAL(namespaces_use(&f.t, "job-1", 7, &other), ENOTSUP);
    CU_ASSERT_EQUAL(namespaces_create(&f.t, "job-1", 7, 0, &other), EEXIST);
    CU_ASSERT_EQUAL(namespaces_count(&f.t), 2);
    CU_ASSERT_EQUAL(reap(&f), 1);
    CU_ASSERT_EQUAL(namespaces_count(&f.t), 1);
    /* The name is free again, and is another namespace. */
    ns = make(&f, "job-1");
    CU_ASSERT_EQUAL(ns->id, 2);
    teardown(&f);
}

static void test_reap_waits(void)
{
    struct fixture f;
    setup(&f);
    struct namespace_root *ns = make(&f, "job-1"), *other;
    push(&f, ns, "a");
    push(&f, ns, "b");
    CU_ASSERT_EQUAL(apply(&f, ns), COMMIT_STORING);
    sequence_wait(&ns->waits, 4, 77);
    namespaces_remove(&f.t, "job-1", &other);
    CU_ASSERT_EQUAL(reap(&f), 0);
    uint64_t token;
    CU_ASSERT_TRUE(sequence_woken(&ns->waits, UINT64_MAX, &token));
    CU_ASSERT_EQUAL(reap(&f), 0);
    /* The stalled head fails when its blobs have come, the next at once. */
    CU_ASSERT_EQUAL(apply(&f, ns), COMMIT_STORING);
    acknowledge(&f, ns);
    for (unsigned i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(apply(&f, ns), COMMIT_FAILED);
        CU_ASSERT_EQUAL(commit_queue_head(&ns->queue)->errnum, ENOTSUP);
        CU_ASSERT_FALSE(commit_queue_retry(&ns->queue));
        CU_ASSERT_EQUAL(reap(&f), 0);
        pop(&f, ns);
    }
    CU_ASSERT_EQUAL(reap(&f), 1);
    CU_ASSERT_EQUAL(namespaces_count(&f.t), 1);
    teardown(&f);
}

static void test_ready(void)
{
    struct fixture f;
    setup(&f);
    struct namespace_root *ns[4];
    char name[16];
    for (int i = 0; i < 4; i++) {
        g_snprintf(name, sizeof name, "job-%d", i);
        ns[i] = make(&f, name);
    }
    CU_ASSERT_PTR_NULL(namespaces_ready(&f.t, NULL));
    CU_ASSERT_EQUAL(namespaces_walk_length(&f.t), 5);
    push(&f, ns[3], "a");
    push(&f, ns[1], "a");
    push(&f, ns[1], "b");
    CU_ASSERT_PTR_EQUAL(namespaces_ready(&f.t, NULL), ns[1]);
    CU_ASSERT_PTR_EQUAL(namespaces_ready(&f.t, ns[1]), ns[3]);
    CU_ASSERT_PTR_NULL(namespaces_ready(&f.t, ns[3]));
    CU_ASSERT_EQUAL(namespaces_walk_length(&f.t), 3);       /* primary, job-0, job-1 */
    /* A stalled head takes its namespace off the list, others stay. */
    CU_ASSERT_EQUAL(apply(&f, ns[1]), COMMIT_STORING);
    CU_ASSERT_PTR_EQUAL(namespaces_ready(&f.t, NULL), ns[3]);
    CU_ASSERT_EQUAL(namespaces_walk_length(&f.t), 5);
    acknowledge(&f, ns[1]);
    CU_ASSERT_PTR_EQUAL(namespaces_ready(&f.t, NULL), ns[1]);
    CU_ASSERT_EQUAL(apply(&f, ns[1]), COMMIT_DONE);
    namespaces_advance(&f.t, ns[1]);
    CU_ASSERT_EQUAL(ns[1]->sequence, 1);
    CU_ASSERT_TRUE(blobref_equal(&ns[1]->root, &commit_queue_head(&ns[1]->queue)->root));
    pop(&f, ns[1]);
    CU_ASSERT_PTR_EQUAL(namespaces_ready(&f.t, NULL), ns[1]);       /* "b" */
    teardown(&f);
}

static void test_ready_random(void)
{
    struct fixture f;
    setup(&f);
    GRand *random = g_rand_new_with_seed(3);
    int created = 0, removed = 0, reaped = 0, wrong = 0;
    char name[16];
    for (int step = 0; step < 3000; step++) {
        struct namespace_root *ns = f.t.order->pdata[g_rand_int_range(random, 0, (gint32)f.t.order->len)];
        const struct commit *head = commit_queue_head(&ns->queue);
        switch (g_rand_int_range(random, 0, 6)) {
        case 0:
            g_snprintf(name, sizeof name, "job-%d", created++);
            make(&f, name);
            break;
        case 1:
            namespaces_remove(&f.t, ns->name, &ns);
            removed += ns != NULL;
            break;
        case 2:
            g_snprintf(name, sizeof name, "k%d", step);
            if (!ns->removing)
                push(&f, ns, name);
            break;
        case 3:
            if (g_rand_int_range(random, 0, 10) == 0)
                reaped += (int)reap(&f);
            break;
        case 4:
            if (head != NULL && head->outstanding != 0)
                acknowledge(&f, ns);
            break;
        case 5:
            if (head != NULL && apply(&f, ns) == COMMIT_DONE)
                namespaces_advance(&f.t, ns);
            if (head != NULL && (head->state == COMMIT_DONE || head->state == COMMIT_FAILED))
                pop(&f, ns);
            break;
        }
        /* The list of ready ones is what a walk over all roots finds. */
        const struct namespace_root *ready = NULL;
        uint32_t first = 0;
        for (guint i = 0; i < f.t.order->len; i++) {
            const struct namespace_root *root = f.t.order->pdata[i];
            if (!commit_queue_ready(&root->queue))
                continue;
            ready = namespaces_ready(&f.t, ready);
            wrong += ready != root;
            first = first == 0 ? i + 1 : first;
        }
        wrong += namespaces_ready(&f.t, ready) != NULL && ready != NULL;
        wrong += namespaces_walk_length(&f.t) != (first == 0 ? f.t.order->len : first);
        wrong += namespaces_count(&f.t) != (uint32_t)(1 + created - reaped);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(reaped > 20 && removed > reaped);
    g_rand_free(random);
    teardown(&f);
}

static void test_save(void)
{
    struct fixture f, g;
    setup(&f);
    setup(&g);
    struct namespace_root *a = make(&f, "a"), *b = make(&g, "a");
    make(&f, "b");
    make(&g, "b");
    push(&f, a, "k");
    push(&g, b, "k");
    struct bytes x = BYTES_INIT, y = BYTES_INIT;
    namespaces_save(&f.t, &x);
    namespaces_save(&g.t, &y);
    CU_ASSERT_EQUAL_FATAL(x.size, y.size);
    CU_ASSERT_EQUAL(memcmp(x.data, y.data, x.size), 0);
    namespaces_remove(&g.t, "b", &b);
    bytes_clear(&y);
    namespaces_save(&g.t, &y);
    CU_ASSERT_NOT_EQUAL(memcmp(x.data, y.data, x.size), 0);
    bytes_release(&x);
    bytes_release(&y);
    teardown(&f);
    teardown(&g);
}

/* --- the roots on followers --- */

static guint replicas_gone(struct replicas *t, uint32_t heartbeat)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    replicas_reap(t, heartbeat, names);
    guint count = names->len;
    g_ptr_array_free(names, TRUE);
    return count;
}

static void test_replica_moves_forward(void)
{
    struct replicas t;
    replicas_init(&t);
    struct blobref one = blobref_of("1", 1), two = blobref_of("2", 1);
    CU_ASSERT_PTR_NULL(replicas_find(&t, "job-1"));
    struct replica *r = replicas_add(&t, "job-1", 7, 4, &one, 10);
    CU_ASSERT_PTR_EQUAL(replicas_find(&t, "job-1"), r);
    CU_ASSERT_FALSE(replica_advance(r, 4, &two, 11));
    CU_ASSERT_FALSE(replica_advance(r, 3, &two, 11));
    CU_ASSERT_TRUE(blobref_equal(&r->root, &one));
    CU_ASSERT_EQUAL(r->changed, 10);
    CU_ASSERT_TRUE(replica_advance(r, 9, &two, 11));    /* a gap is not noticed */
    CU_ASSERT_TRUE(blobref_equal(&r->root, &two));
    CU_ASSERT_EQUAL(r->changed, 11);
    CU_ASSERT_TRUE(replica_advance(r, 0, &one, 12));
    CU_ASSERT_EQUAL(r->sequence, 0);
    replicas_release(&t);
}

static void test_replica_goes(void)
{
    struct replicas t;
    replicas_init(&t);
    struct blobref ref = blobref_of("1", 1);
    replicas_add(&t, NAMESPACES_PRIMARY, 0, 0, &ref, 0);
    struct replica *old = replicas_add(&t, "old", 7, 0, &ref, 0);
    struct replica *fresh = replicas_add(&t, "fresh", 7, 0, &ref, 0);
    struct replica *removed = replicas_add(&t, "removed", 7, 0, &ref, 0);
    CU_ASSERT_EQUAL(replicas_gone(&t, 5), 0);
    removed->removing = true;
    removed->held = 1;
    CU_ASSERT_EQUAL(replicas_gone(&t, 6), 0);
    removed->held = 0;
    sequence_wait(&removed->waits, 3, 1);
    CU_ASSERT_EQUAL(replicas_gone(&t, 7), 0);
    uint64_t token;
    sequence_woken(&removed->waits, UINT64_MAX, &token);
    CU_ASSERT_EQUAL(replicas_gone(&t, 8), 1);
    CU_ASSERT_EQUAL(replicas_count(&t), 3);
    CU_ASSERT_TRUE(replica_advance(fresh, 1, &ref, 900));
    old->held = 1;
    CU_ASSERT_EQUAL(replicas_gone(&t, 1001), 0);
    old->held = 0;
    CU_ASSERT_EQUAL(replicas_gone(&t, 1000), 0);
    CU_ASSERT_EQUAL(replicas_gone(&t, 1001), 1);
    CU_ASSERT_EQUAL(replicas_gone(&t, 1900), 0);
    CU_ASSERT_EQUAL(replicas_gone(&t, 1901), 1);
    CU_ASSERT_EQUAL(replicas_gone(&t, 100000), 0);
    CU_ASSERT_PTR_NOT_NULL(replicas_find(&t, NAMESPACES_PRIMARY));
    struct bytes saved = BYTES_INIT;
    replicas_save(&t, &saved);
    CU_ASSERT_EQUAL(saved.size, 8 + 4 + 8 + 4 + 7 + 4 + 1 + 4 + 8 + 20 + 4 + 4);
    bytes_release(&saved);
    replicas_release(&t);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "waiters wake by sequence, then in order", test_sequence },
        { "a namespace is made once and used by its owner", test_create },
        { "a removed namespace keeps its name until the heartbeat", test_remove },
        { "nothing goes while transactions or waiters are left", test_reap_waits },
        { "ready namespaces are walked in order of creation", test_ready },
        { "the list of ready ones is what a walk would find", test_ready_random },
        { "saving shows the roots in order", test_save },
        { "a replica moves forward only", test_replica_moves_forward },
        { "a replica goes when removed or long unchanged", test_replica_goes },
        { NULL, NULL },
    };
    return suite_run("kvs namespaces", tests);
}
