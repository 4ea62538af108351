/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "kvs/jobid.h"

#include "test_kvs_store.h"
#include "suite.h"

/* A text of `size` characters. */
static char *text_of(unsigned size)
{
    char *text = g_malloc(size + 1);
    for (unsigned i = 0; i < size; i++)
        text[i] = (char)('a' + i % 26);
    text[size] = '\0';
    return text;
}

static void test_put(void)
{
    struct store s;
    store_init(&s);
    CU_ASSERT_EQUAL(store_put(&s, "a", "1"), 0);
    CU_ASSERT_EQUAL(s.sequence, 1);
    CU_ASSERT_EQUAL(s.stored, 1);
    CU_ASSERT_EQUAL(store_put(&s, "b.c.d", "2"), 0);
    CU_ASSERT_EQUAL(s.stored, 3);       /* root, b, c */
    CU_ASSERT_EQUAL(store_put(&s, ".b..c.e.", "3"), 0);
    store_check(&s, "a", "1", 0);
    store_check(&s, "b.c.d", "2", 0);
    store_check(&s, "b.c.e", "3", 0);
    CU_ASSERT_EQUAL(store_put(&s, "a.x", "4"), 0);      /* a directory takes a value's place */
    store_check(&s, "a", NULL, EISDIR);
    store_check(&s, "a.x", "4", 0);
    CU_ASSERT_EQUAL(store_put(&s, "b", "5"), 0);
    store_check(&s, "b", "5", 0);
    CU_ASSERT_EQUAL(s.sequence, 5);
    store_release(&s);
}

static void test_same_root(void)
{
    struct store s, t;
    store_init(&s);
    store_init(&t);
    store_put(&s, "a", "1");
    store_put(&s, "b", "2");
    store_put(&t, "b", "1");
    store_put(&t, "a", "1");
    store_put(&t, "b", "2");
    CU_ASSERT_TRUE(blobref_equal(&s.root, &t.root));
    /* The same value again: nothing is new, so nothing is stored, yet it is a step. */
    CU_ASSERT_EQUAL(store_put(&s, "a", "1"), 0);
    CU_ASSERT_EQUAL(s.stored, 0);
    CU_ASSERT_EQUAL(s.sequence, 3);
    store_release(&s);
    store_release(&t);
}

static void test_in_place(void)
{
    struct store s;
    store_init(&s);
    char *short_text = text_of(54), *long_text = text_of(55);
    CU_ASSERT_EQUAL(store_put(&s, "a", short_text), 0);
    CU_ASSERT_EQUAL(s.stored, 1);
    CU_ASSERT_EQUAL(store_type(&s, "a"), TREEOBJ_VALUE);
    CU_ASSERT_EQUAL(store_put(&s, "b", long_text), 0);
    CU_ASSERT_EQUAL(s.stored, 2);
    CU_ASSERT_EQUAL(store_type(&s, "b"), TREEOBJ_VALUE_REFERENCE);
    store_check(&s, "a", short_text, 0);
    store_check(&s, "b", long_text, 0);
    g_free(short_text);
    g_free(long_text);
    store_release(&s);
}

static uint32_t reference_count(struct store *s, const char *key)
{
    struct lookup *l = lookup_new(&s->root, key, LOOKUP_OBJECT);
    store_walk(s, l);
    uint32_t count = l->state == LOOKUP_DONE ? treeobj_reference_count(&l->object) : 0;
    lookup_free(l);
    return count;
}

static void test_append(void)
{
    struct store s;
    store_init(&s);
    CU_ASSERT_EQUAL(store_append(&s, "log", "one\n"), 0);
    CU_ASSERT_EQUAL(store_type(&s, "log"), TREEOBJ_VALUE);
    CU_ASSERT_EQUAL(store_append(&s, "log", "two\n"), 0);
    CU_ASSERT_EQUAL(s.stored, 3);       /* both values become blobs, and the root */
    CU_ASSERT_EQUAL(reference_count(&s, "log"), 2);
    CU_ASSERT_EQUAL(store_append(&s, "log", "three\n"), 0);
    CU_ASSERT_EQUAL(s.stored, 2);
    CU_ASSERT_EQUAL(reference_count(&s, "log"), 3);
    /* The same line again adds its reference, but no blob. */
    CU_ASSERT_EQUAL(store_append(&s, "log", "one\n"), 0);
    CU_ASSERT_EQUAL(s.stored, 1);
    CU_ASSERT_EQUAL(reference_count(&s, "log"), 4);
    store_check(&s, "log", "one\ntwo\nthree\none\n", 0);

    /* A long first append goes to a blob, and the next adds one. */
    char *line = text_of(60);
    CU_ASSERT_EQUAL(store_append(&s, "long", line), 0);
    CU_ASSERT_EQUAL(reference_count(&s, "long"), 1);
    CU_ASSERT_EQUAL(store_append(&s, "long", "!"), 0);
    CU_ASSERT_EQUAL(reference_count(&s, "long"), 2);

    /* Several in one transaction, on top of a put. */
    struct transaction *t = store_transaction(&s);
    transaction_put(t, "x", line, 60);
    transaction_append(t, "x", "A", 1);
    transaction_append(t, "x", "", 0);
    transaction_append(t, "x", "B", 1);
    CU_ASSERT_EQUAL(store_commit(&s, t), 0);
    CU_ASSERT_EQUAL(reference_count(&s, "x"), 4);
    char *expected = g_strconcat(line, "AB", NULL);
    store_check(&s, "x", expected, 0);
    g_free(expected);
    g_free(line);
    store_release(&s);
}

static void test_unlink(void)
{
    struct store s;
    store_init(&s);
    store_put(&s, "a.b", "1");
    store_put(&s, "a.c", "2");
    struct transaction *t = store_transaction(&s);
    transaction_unlink(t, "a.b");
    CU_ASSERT_EQUAL(store_commit(&s, t), 0);
    store_check(&s, "a.b", NULL, ENOENT);
    store_check(&s, "a.c", "2", 0);
    /* What is not there is unlinked with success, and makes no directory. */
    struct blobref before = s.root;
    static const char *const absent[] = { "a.b", "x", "x.y.z", "a.c.d" };
    for (unsigned i = 0; i < G_N_ELEMENTS(absent); i++) {
        t = store_transaction(&s);
        transaction_unlink(t, absent[i]);
        CU_ASSERT_EQUAL(store_commit(&s, t), 0);
        CU_ASSERT_TRUE(blobref_equal(&s.root, &before));
    }
    t = store_transaction(&s);
    transaction_unlink(t, "a");
    CU_ASSERT_EQUAL(store_commit(&s, t), 0);
    struct blobref empty = treeobj_empty_reference();
    CU_ASSERT_TRUE(blobref_equal(&s.root, &empty));
    store_release(&s);
}

static void test_symlinks(void)
{
    struct store s;
    store_init(&s);
    struct transaction *t = store_transaction(&s);
    transaction_mkdir(t, "real.deep");
    transaction_symlink(t, "link", NULL, "real.deep");
    transaction_symlink(t, "guest", "job-17", ".");
    CU_ASSERT_EQUAL(store_commit(&s, t), 0);
    CU_ASSERT_EQUAL(s.stored, 2);       /* root and real; the empty directory is known */
    CU_ASSERT_EQUAL(store_put(&s, "link.x", "1"), 0);
    store_check(&s, "real.deep.x", "1", 0);
    store_check(&s, "link.x", "1", 0);
    CU_ASSERT_EQUAL(store_type(&s, "link"), TREEOBJ_SYMLINK);
    CU_ASSERT_EQUAL(store_put(&s, "guest.x", "1"), EINVAL);
    CU_ASSERT_EQUAL(store_append(&s, "guest", "1"), EOPNOTSUPP);
    CU_ASSERT_EQUAL(store_append(&s, "link", "1"), EOPNOTSUPP);
    CU_ASSERT_EQUAL(store_put(&s, "link", "value"), 0);     /* the link itself is replaced */
    store_check(&s, "link", "value", 0);
    store_check(&s, "real.deep.x", "1", 0);

    char name[16], target[16];
    for (int i = 0; i < 12; i++) {
        g_snprintf(name, sizeof name, "l%d", i);
        g_snprintf(target, sizeof target, i == 0 ? "real" : "l%d", i - 1);
        t = store_transaction(&s);
        transaction_symlink(t, name, NULL, target);
        CU_ASSERT_EQUAL(store_commit(&s, t), 0);
    }
    CU_ASSERT_EQUAL(store_put(&s, "l9.y", "2"), 0);         /* ten links */
    CU_ASSERT_EQUAL(store_put(&s, "l10.y", "2"), ELOOP);
    store_check(&s, "l9.y", "2", 0);
    store_check(&s, "l10.y", NULL, ELOOP);
    t = store_transaction(&s);
    transaction_symlink(t, "self", NULL, "self");
    CU_ASSERT_EQUAL(store_commit(&s, t), 0);
    CU_ASSERT_EQUAL(store_put(&s, "self.y", "2"), ELOOP);
    store_release(&s);
}

static void test_errors(void)
{
    struct store s;
    store_init(&s);
    store_put(&s, "d.x", "1");
    struct blobref before = s.root;
    CU_ASSERT_EQUAL(store_put(&s, ".", "1"), EINVAL);
    CU_ASSERT_EQUAL(store_put(&s, "", "1"), EINVAL);
    CU_ASSERT_EQUAL(store_append(&s, "d", "1"), EISDIR);
    char *name = text_of(256);
    CU_ASSERT_EQUAL(store_put(&s, name, "1"), EINVAL);
    name[255] = '\0';
    CU_ASSERT_TRUE(blobref_equal(&s.root, &before));
    CU_ASSERT_EQUAL(s.sequence, 1);
    CU_ASSERT_EQUAL(store_put(&s, name, "1"), 0);
    store_check(&s, name, "1", 0);
    g_free(name);

    /* One failing operation fails the whole transaction. */
    before = s.root;
    struct transaction *t = store_transaction(&s);
    transaction_put(t, "good", "1", 1);
    transaction_append(t, "d", "1", 1);
    CU_ASSERT_EQUAL(store_commit(&s, t), EISDIR);
    CU_ASSERT_TRUE(blobref_equal(&s.root, &before));
    store_check(&s, "good", NULL, ENOENT);

    /* A reference to what is no directory. */
    struct blob *blob = content_put(&s.cache, "junk", 4, 0, NULL);
    struct treeobj object = { TREEOBJ_DIRECTORY_REFERENCE, BLOBREF_SIZE, blob->ref.bytes };
    t = store_transaction(&s);
    transaction_put_object(t, "junk", &object);
    CU_ASSERT_EQUAL(store_commit(&s, t), 0);
    CU_ASSERT_EQUAL(store_put(&s, "junk.x", "1"), ENOTRECOVERABLE);
    store_check(&s, "junk.x", NULL, ENOTRECOVERABLE);
    struct blobref nowhere = blobref_of("nowhere", 7);
    object.data = nowhere.bytes;
    t = store_transaction(&s);
    transaction_put_object(t, "nowhere", &object);
    CU_ASSERT_EQUAL(store_commit(&s, t), 0);
    CU_ASSERT_EQUAL(store_put(&s, "nowhere.x", "1"), ENOENT);
    store_check(&s, "nowhere.x", NULL, ENOENT);

    /* A namespace that is being removed. */
    commit_queue_push(&s.queue, store_transaction(&s));
    struct commit *head = commit_queue_head(&s.queue);
    CU_ASSERT_EQUAL(commit_apply(head, &s.root, true, &s.cache, 0), COMMIT_FAILED);
    CU_ASSERT_EQUAL(head->errnum, ENOTSUP);
    commit_queue_pop(&s.queue);
    store_release(&s);
}

/* --- stages --- */

static void test_loading(void)
{
    struct store s;
    store_init(&s);
    store_put(&s, "a.x", "1");
    store_put(&s, "b.c.x", "2");
    content_clear(&s.cache);
    struct transaction *t = store_transaction(&s);
    transaction_append(t, "a.x", "!", 1);
    transaction_append(t, "a.x", "?", 1);
    transaction_put(t, "b.c.y", "3", 1);
    commit_queue_push(&s.queue, t);
    struct commit *head = commit_queue_head(&s.queue);
    /* First the root, then a and b at once, then c: each application starts over. */
    static const unsigned missing[] = { 1, 2, 1 };
    for (unsigned i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL_FATAL(commit_apply(head, &s.root, false, &s.cache, 0), COMMIT_LOADING);
        CU_ASSERT_EQUAL(head->missing->len, missing[i]);
        CU_ASSERT_FALSE(commit_queue_ready(&s.queue));
        CU_ASSERT_EQUAL(commit_apply(head, &s.root, false, &s.cache, 0), COMMIT_LOADING);
        CU_ASSERT_EQUAL(head->outstanding, missing[i]);
        store_serve(&s, head);
        CU_ASSERT_TRUE(commit_queue_ready(&s.queue));
    }
    CU_ASSERT_EQUAL(commit_apply(head, &s.root, false, &s.cache, 0), COMMIT_STORING);
    /* Root, a, b, c, and three values of the log. */
    CU_ASSERT_EQUAL(head->stores->len, 7);
    CU_ASSERT_EQUAL(head->outstanding, 7);
    CU_ASSERT_EQUAL(s.cache.dirty, 7);
    for (guint i = 0; i < 7; i++) {
        CU_ASSERT_FALSE(commit_queue_ready(&s.queue));
        CU_ASSERT_EQUAL(commit_arrived(head), i == 6);
    }
    CU_ASSERT_EQUAL(commit_apply(head, &s.root, false, &s.cache, 0), COMMIT_DONE);
    CU_ASSERT_EQUAL(head->keys->len, 2);
    CU_ASSERT_STRING_EQUAL(head->keys->pdata[0], "a.x");
    CU_ASSERT_STRING_EQUAL(head->keys->pdata[1], "b.c.y");
    s.root = head->root;
    CU_ASSERT_PTR_NOT_NULL(content_find(&s.cache, &s.root));
    commit_queue_pop(&s.queue);
    store_check(&s, "a.x", "1!?", 0);
    store_release(&s);
}

static void test_shared_dirty(void)
{
    struct store s;
    store_init(&s);
    struct commit_queue other;
    commit_queue_init(&other);
    char *value = text_of(100);
    struct transaction *t = store_transaction(&s);
    transaction_put(t, "a", value, 100);
    commit_queue_push(&s.queue, t);
    t = store_transaction(&s);
    transaction_put(t, "b", value, 100);
    commit_queue_push(&other, t);
    struct commit *one = commit_queue_head(&s.queue), *two = commit_queue_head(&other);
    CU_ASSERT_EQUAL(commit_apply(one, &s.root, false, &s.cache, 0), COMMIT_STORING);
    CU_ASSERT_EQUAL(commit_apply(two, &s.root, false, &s.cache, 0), COMMIT_STORING);
    CU_ASSERT_EQUAL(one->stores->len, 2);
    CU_ASSERT_EQUAL(two->stores->len, 1);       /* its root; the value is on its way already */
    CU_ASSERT_EQUAL(two->awaited->len, 2);      /* and is waited for */
    CU_ASSERT_EQUAL(two->outstanding, 2);
    g_free(value);
    commit_queue_release(&other);
    store_release(&s);
}

static void test_failed_store(void)
{
    struct store s;
    store_init(&s);
    struct transaction *t = store_transaction(&s);
    transaction_put(t, "a.b", "1", 1);
    commit_queue_push(&s.queue, t);
    struct commit *head = commit_queue_head(&s.queue);
    CU_ASSERT_EQUAL(commit_apply(head, &s.root, false, &s.cache, 0), COMMIT_STORING);
    CU_ASSERT_FALSE(commit_fail(head, EIO));
    CU_ASSERT_FALSE(commit_queue_ready(&s.queue));      /* the other blob is still under way */
    CU_ASSERT_TRUE(commit_arrived(head));
    CU_ASSERT_EQUAL(commit_apply(head, &s.root, false, &s.cache, 0), COMMIT_FAILED);
    CU_ASSERT_EQUAL(head->errnum, EIO);
    CU_ASSERT_FALSE(commit_queue_retry(&s.queue));
    commit_queue_pop(&s.queue);
    store_release(&s);
}

/* --- merge --- */

static void push_put(struct store *s, const char *key, uint32_t flags)
{
    struct transaction *t = store_transaction(s);
    t->flags = flags;
    transaction_put(t, key, key, strlen(key));
    commit_queue_push(&s->queue, t);
}

static void test_merge(void)
{
    struct store s;
    store_init(&s);
    push_put(&s, "a", 0);
    push_put(&s, "b", 0);
    push_put(&s, "a", 0);
    push_put(&s, "c", TRANSACTION_SYNC);
    push_put(&s, "d", 0);
    push_put(&s, "e", TRANSACTION_NO_MERGE);
    push_put(&s, "f", TRANSACTION_NO_MERGE);
    CU_ASSERT_EQUAL(commit_queue_merge(&s.queue), 2);       /* up to other flags */
    CU_ASSERT_EQUAL(commit_queue_merge(&s.queue), 0);
    CU_ASSERT_EQUAL(s.queue.commits.length, 5);
    CU_ASSERT_EQUAL(s.queue.transactions, 7);
    CU_ASSERT_EQUAL(store_run_head(&s), COMMIT_DONE);
    CU_ASSERT_EQUAL(s.sequence, 1);
    struct commit *head = commit_queue_head(&s.queue);
    CU_ASSERT_EQUAL(head->keys->len, 2);
    CU_ASSERT_EQUAL_FATAL(head->transactions->len, 3);
    for (guint i = 0; i < 3; i++) {
        const struct transaction *t = head->transactions->pdata[i];
        CU_ASSERT_EQUAL(t->name.node, 3);
        CU_ASSERT_EQUAL(t->name.counter, i);
    }
    commit_queue_pop(&s.queue);
    CU_ASSERT_EQUAL(s.queue.transactions, 4);
    for (unsigned i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(commit_queue_merge(&s.queue), 0);
        CU_ASSERT_EQUAL(store_run_head(&s), COMMIT_DONE);
        commit_queue_pop(&s.queue);
    }
    CU_ASSERT_PTR_NULL(commit_queue_head(&s.queue));
    CU_ASSERT_EQUAL(s.sequence, 5);
    store_check(&s, "f", "f", 0);
    store_release(&s);
}

static void test_merge_stage(void)
{
    struct store s;
    store_init(&s);
    content_clear(&s.cache);
    push_put(&s, "a", 0);
    struct commit *head = commit_queue_head(&s.queue);
    CU_ASSERT_EQUAL(commit_apply(head, &s.root, false, &s.cache, 0), COMMIT_LOADING);
    push_put(&s, "b", 0);
    CU_ASSERT_EQUAL(commit_queue_merge(&s.queue), 0);       /* not while it waits */
    store_serve(&s, head);
    CU_ASSERT_EQUAL(commit_queue_merge(&s.queue), 1);       /* not applied yet: may still grow */
    CU_ASSERT_EQUAL(commit_apply(head, &s.root, false, &s.cache, 0), COMMIT_STORING);
    push_put(&s, "c", 0);
    push_put(&s, "d", 0);
    CU_ASSERT_EQUAL(commit_queue_merge(&s.queue), 0);
    store_serve(&s, head);
    CU_ASSERT_EQUAL(commit_queue_merge(&s.queue), 0);       /* applied: closed, though ready */
    CU_ASSERT_EQUAL(commit_apply(head, &s.root, false, &s.cache, 0), COMMIT_DONE);
    s.root = head->root;
    commit_queue_pop(&s.queue);
    CU_ASSERT_EQUAL(commit_queue_merge(&s.queue), 1);       /* those that came meanwhile go together */
    CU_ASSERT_EQUAL(store_run_head(&s), COMMIT_DONE);
    commit_queue_pop(&s.queue);
    CU_ASSERT_EQUAL(s.queue.commits.length, 0);
    store_check(&s, "b", "b", 0);
    store_check(&s, "d", "d", 0);
    store_release(&s);
}

static void test_merge_retry(void)
{
    struct store s;
    store_init(&s);
    store_put(&s, "d.x", "1");
    push_put(&s, "a", 0);
    struct transaction *t = store_transaction(&s);
    transaction_append(t, "d", "1", 1);
    commit_queue_push(&s.queue, t);
    push_put(&s, "b", 0);
    push_put(&s, "c", TRANSACTION_SYNC);
    CU_ASSERT_EQUAL(commit_queue_merge(&s.queue), 2);
    CU_ASSERT_EQUAL(store_run_head(&s), COMMIT_FAILED);
    CU_ASSERT_EQUAL(s.errnum, EISDIR);
    CU_ASSERT_TRUE(commit_queue_retry(&s.queue));
    CU_ASSERT_EQUAL(s.queue.commits.length, 4);
    push_put(&s, "e", 0);
    static const int expected[] = { 0, EISDIR, 0 };
    for (unsigned i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(commit_queue_merge(&s.queue), 0);
        struct transaction *first = commit_queue_head(&s.queue)->transactions->pdata[0];
        CU_ASSERT_EQUAL(first->name.counter, 1 + i);
        store_run_head(&s);
        CU_ASSERT_EQUAL(s.errnum, expected[i]);
        if (expected[i] != 0)
            CU_ASSERT_FALSE(commit_queue_retry(&s.queue));
        commit_queue_pop(&s.queue);
    }
    CU_ASSERT_EQUAL(s.queue.transactions, 2);
    store_check(&s, "a", "a", 0);
    store_check(&s, "b", "b", 0);
    /* ENOTSUP is final for a whole set. */
    store_run_head(&s);
    commit_queue_pop(&s.queue);
    push_put(&s, "f", 0);
    CU_ASSERT_EQUAL(commit_queue_merge(&s.queue), 1);
    CU_ASSERT_EQUAL(commit_apply(commit_queue_head(&s.queue), &s.root, true, &s.cache, 0), COMMIT_FAILED);
    CU_ASSERT_FALSE(commit_queue_retry(&s.queue));
    store_release(&s);
}

/* --- known answers: the blobs of a job (flux-core 0.17) --- */

static void test_job_blobs(void)
{
    struct store s;
    store_init(&s);
    uint64_t id = (uint64_t)600000 << 24;
    char key[64];
    char *jobspec = text_of(400);
    struct transaction *t = store_transaction(&s);
    jobid_to_entry(id, "J", key, sizeof key);
    transaction_put(t, key, jobspec, 300);
    jobid_to_entry(id, "jobspec", key, sizeof key);
    transaction_put(t, key, jobspec, 400);
    jobid_to_entry(id, "eventlog", key, sizeof key);
    transaction_append(t, key, jobspec, 100);
    CU_ASSERT_EQUAL(store_commit(&s, t), 0);
    CU_ASSERT_EQUAL(s.stored, 9);       /* six directories (root, job, four levels), three values */
    CU_ASSERT_EQUAL(store_append(&s, key, "depend"), 0);
    CU_ASSERT_EQUAL(s.stored, 7);       /* "a primary job key rewrites 6 directories + value blobs" */
    jobid_to_entry(id, "R", key, sizeof key);
    t = store_transaction(&s);
    transaction_put(t, key, jobspec, 200);
    CU_ASSERT_EQUAL(store_commit(&s, t), 0);
    CU_ASSERT_EQUAL(s.stored, 7);
    jobid_to_entry(id, "guest", key, sizeof key);
    t = store_transaction(&s);
    transaction_symlink(t, key, "job-10066329600000", ".");
    CU_ASSERT_EQUAL(store_commit(&s, t), 0);
    CU_ASSERT_EQUAL(s.stored, 6);
    store_release(&s);

    struct store guest;
    store_init(&guest);
    char *init = text_of(46), *finish = text_of(55);
    CU_ASSERT_EQUAL(store_append(&guest, "exec.eventlog", init), 0);
    CU_ASSERT_EQUAL(guest.stored, 2);   /* root, exec: "init" stays in place */
    CU_ASSERT_EQUAL(store_append(&guest, "exec.eventlog", finish), 0);
    CU_ASSERT_EQUAL(guest.stored, 4);   /* "a guest append 3-4": the first turns the value into a list */
    init[0] = 'X';
    CU_ASSERT_EQUAL(store_append(&guest, "exec.eventlog", init), 0);
    CU_ASSERT_EQUAL(guest.stored, 3);
    g_free(init);
    g_free(finish);
    g_free(jobspec);
    store_release(&guest);
}

/* --- against a plain table --- */

static void random_operation(GRand *random, struct transaction *t, GHashTable *model)
{
    char key[32], value[80];
    int depth = g_rand_int_range(random, 1, 5);
    key[0] = '\0';
    /* Directories d0..d2 above values v0..v3: no key is both. */
    for (int i = 1; i < depth; i++)
        g_snprintf(key + strlen(key), sizeof key - strlen(key), "d%d.", g_rand_int_range(random, 0, 3));
    g_snprintf(key + strlen(key), sizeof key - strlen(key), "v%d", g_rand_int_range(random, 0, 4));
    int size = g_rand_int_range(random, 0, 79);
    memset(value, 'a' + g_rand_int_range(random, 0, 26), (size_t)size);
    value[size] = '\0';
    const char *present = g_hash_table_lookup(model, key);
    switch (g_rand_int_range(random, 0, 4)) {
    case 0:
        transaction_unlink(t, key);
        g_hash_table_remove(model, key);
        break;
    case 1:
        transaction_put(t, key, value, (size_t)size);
        g_hash_table_insert(model, g_strdup(key), g_strdup(value));
        break;
    default:
        transaction_append(t, key, value, (size_t)size);
        g_hash_table_insert(model, g_strdup(key), g_strconcat(present == NULL ? "" : present, value, NULL));
        break;
    }
}

static void test_random(void)
{
    for (uint32_t seed = 1; seed <= 10; seed++) {
        GRand *random = g_rand_new_with_seed(seed);
        GHashTable *model = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        struct store s;
        store_init(&s);
        uint64_t applied = 0;
        int wrong = 0;
        for (int i = 0; i < 150; i++) {
            for (int n = g_rand_int_range(random, 1, 4); n > 0; n--) {
                struct transaction *t = store_transaction(&s);
                for (int operations = g_rand_int_range(random, 1, 5); operations > 0; operations--)
                    random_operation(random, t, model);
                struct bytes travelled = BYTES_INIT;
                transaction_pack(t, &travelled);
                transaction_free(t);
                struct cursor c = cursor_init(travelled.data, travelled.size);
                t = transaction_unpack(&c);
                wrong += t == NULL || !cursor_done(&c);
                commit_queue_push(&s.queue, t);
                bytes_release(&travelled);
            }
            if (g_rand_boolean(random))
                commit_queue_merge(&s.queue);
            if (g_rand_int_range(random, 0, 5) == 0)
                content_clear(&s.cache);
            while (commit_queue_head(&s.queue) != NULL) {
                wrong += store_run_head(&s) != COMMIT_DONE;
                applied++;
                commit_queue_pop(&s.queue);
            }
            CU_ASSERT_EQUAL(s.cache.dirty, 0);
        }
        CU_ASSERT_EQUAL(wrong, 0);
        CU_ASSERT_EQUAL(s.sequence, applied);
        GHashTableIter iter;
        gpointer key, value;
        g_hash_table_iter_init(&iter, model);
        while (g_hash_table_iter_next(&iter, &key, &value))
            store_check(&s, key, value, 0);
        CU_ASSERT_TRUE(g_hash_table_size(model) > 20);
        store_release(&s);
        g_hash_table_destroy(model);
        g_rand_free(random);
    }
}

static void test_bad_bytes(void)
{
    struct store s;
    store_init(&s);
    struct transaction *t = store_transaction(&s);
    transaction_put(t, "a.b", "value", 5);
    transaction_append(t, "log", "line", 4);
    transaction_unlink(t, "c");
    transaction_symlink(t, "d", "job-1", "x");
    transaction_mkdir(t, "e");
    struct bytes b = BYTES_INIT;
    transaction_pack(t, &b);
    struct cursor c;
    for (size_t size = 0; size < b.size; size++) {
        uint8_t *copy = g_memdup2(b.data, size);
        c = cursor_init(copy, size);
        CU_ASSERT_PTR_NULL(transaction_unpack(&c));
        CU_ASSERT_FALSE(cursor_ok(&c));
        g_free(copy);
    }
    /* A changed byte gives another transaction or none, and never a crash; what is accepted can be applied. */
    for (size_t i = 0; i < b.size; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            uint8_t *copy = g_memdup2(b.data, b.size);
            copy[i] ^= (uint8_t)(1u << bit);
            c = cursor_init(copy, b.size);
            struct transaction *other = transaction_unpack(&c);
            if (other != NULL)
                store_commit(&s, other);
            g_free(copy);
        }
    }
    bytes_release(&b);
    transaction_free(t);
    /* A count that hides an operation with a key that is not normal. */
    t = store_transaction(&s);
    transaction_put(t, "ab", "1", 1);
    t->operations.data[6] = '.';
    transaction_pack(t, &b);
    c = cursor_init(b.data, b.size);
    CU_ASSERT_PTR_NULL(transaction_unpack(&c));
    bytes_clear(&b);
    t->count = 0;
    transaction_pack(t, &b);
    c = cursor_init(b.data, b.size);
    CU_ASSERT_PTR_NULL(transaction_unpack(&c));
    bytes_release(&b);
    transaction_free(t);
    store_release(&s);
}

static void test_save(void)
{
    struct store s;
    store_init(&s);
    push_put(&s, "a", 0);
    struct bytes one = BYTES_INIT, two = BYTES_INIT;
    commit_queue_save(&s.queue, &one);
    commit_queue_save(&s.queue, &two);
    CU_ASSERT_EQUAL(one.size, two.size);
    CU_ASSERT_EQUAL(memcmp(one.data, two.data, one.size), 0);
    bytes_clear(&two);
    commit_apply(commit_queue_head(&s.queue), &s.root, false, &s.cache, 0);
    commit_queue_save(&s.queue, &two);
    CU_ASSERT_EQUAL(two.size, one.size + BLOBREF_SIZE);     /* it waits for one blob now */
    bytes_release(&one);
    bytes_release(&two);
    store_release(&s);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "values are put, directories made on the way", test_put },
        { "equal trees have equal roots, and nothing is stored twice", test_same_root },
        { "54 bytes stay in place, 55 become a blob", test_in_place },
        { "each append adds one reference", test_append },
        { "unlinking removes, and succeeds for what is absent", test_unlink },
        { "writes follow symlinks, ten at most, and not into another namespace", test_symlinks },
        { "a failing operation fails its transaction and changes nothing", test_errors },
        { "missing directories are reported level by level, then blobs awaited", test_loading },
        { "a blob that another commit is storing is awaited, not stored again", test_shared_dirty },
        { "a commit that fails while storing waits for the rest first", test_failed_store },
        { "adjacent transactions of equal flags merge into one step", test_merge },
        { "a head merges until its operations are applied", test_merge_stage },
        { "the members of a failed set are retried singly", test_merge_retry },
        { "a job's commits store the known number of blobs", test_job_blobs },
        { "random transactions do what a plain table does", test_random },
        { "bytes that are no transaction are refused", test_bad_bytes },
        { "saving shows what a commit waits for", test_save },
        { NULL, NULL },
    };
    return suite_run("kvs commit", tests);
}
