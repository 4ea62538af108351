/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "test_kvs_store.h"
#include "suite.h"

static void fill(struct store *s)
{
    store_init(s);
    struct transaction *t = store_transaction(s);
    transaction_put(t, "a.b.c", "deep", 4);
    transaction_put(t, "a.v", "value", 5);
    transaction_symlink(t, "link", NULL, "a.b");
    transaction_symlink(t, "a.up", NULL, "link.c");
    transaction_symlink(t, "guest", "job-1", ".");
    transaction_symlink(t, "root", NULL, ".");
    transaction_mkdir(t, "empty");
    store_commit(s, t);
    store_append(s, "log", "one ");
    store_append(s, "log", "two ");
    store_append(s, "log", "one ");
}

static void check_type(struct store *s, const char *key, enum lookup_type type, int object, int errnum)
{
    struct lookup *l = lookup_new(&s->root, key, type);
    store_walk(s, l);
    CU_ASSERT_EQUAL(l->errnum, errnum);
    CU_ASSERT_EQUAL(l->state, errnum == 0 ? LOOKUP_DONE : LOOKUP_FAILED);
    CU_ASSERT_EQUAL((int)l->object.type, object);
    lookup_free(l);
}

static void test_values(void)
{
    struct store s;
    fill(&s);
    store_check(&s, "a.b.c", "deep", 0);
    store_check(&s, ".a..b.c.", "deep", 0);
    store_check(&s, "link.c", "deep", 0);
    store_check(&s, "a.up", "deep", 0);
    store_check(&s, "root.a.v", "value", 0);
    store_check(&s, "root.root.link.c", "deep", 0);
    store_check(&s, "log", "one two one ", 0);
    store_check(&s, "a.x", NULL, ENOENT);
    store_check(&s, "x.y", NULL, ENOENT);
    store_check(&s, "a.v.x", NULL, ENOTDIR);
    store_check(&s, "log.x", NULL, ENOTDIR);
    store_check(&s, "a", NULL, EISDIR);
    store_check(&s, "empty", NULL, EISDIR);
    store_check(&s, "link", NULL, EISDIR);
    store_check(&s, "root", NULL, EISDIR);
    store_check(&s, ".", NULL, EISDIR);
    store_release(&s);
}

static void test_objects(void)
{
    struct store s;
    fill(&s);
    check_type(&s, "a", LOOKUP_DIRECTORY, TREEOBJ_DIRECTORY, 0);
    check_type(&s, "link", LOOKUP_DIRECTORY, TREEOBJ_DIRECTORY, 0);
    check_type(&s, ".", LOOKUP_DIRECTORY, TREEOBJ_DIRECTORY, 0);
    check_type(&s, "empty", LOOKUP_DIRECTORY, TREEOBJ_DIRECTORY, 0);
    check_type(&s, "a.v", LOOKUP_DIRECTORY, 0, ENOTDIR);
    check_type(&s, "log", LOOKUP_DIRECTORY, 0, ENOTDIR);
    check_type(&s, "x", LOOKUP_DIRECTORY, 0, ENOENT);
    check_type(&s, "link", LOOKUP_LINK, TREEOBJ_SYMLINK, 0);
    check_type(&s, "guest", LOOKUP_LINK, TREEOBJ_SYMLINK, 0);
    check_type(&s, "a", LOOKUP_LINK, 0, EINVAL);
    check_type(&s, ".", LOOKUP_LINK, 0, EINVAL);
    check_type(&s, "a", LOOKUP_OBJECT, TREEOBJ_DIRECTORY_REFERENCE, 0);
    check_type(&s, "a.v", LOOKUP_OBJECT, TREEOBJ_VALUE, 0);
    check_type(&s, "log", LOOKUP_OBJECT, TREEOBJ_VALUE_REFERENCE, 0);
    check_type(&s, "link", LOOKUP_OBJECT, TREEOBJ_SYMLINK, 0);
    check_type(&s, "link.c", LOOKUP_OBJECT, TREEOBJ_VALUE, 0);
    store_release(&s);
}

static void test_loading(void)
{
    struct store s;
    fill(&s);
    content_clear(&s.cache);
    struct lookup *l = lookup_new(&s.root, "a.b.c", LOOKUP_VALUE);
    CU_ASSERT_EQUAL(lookup_walk(l, &s.cache, 0), LOOKUP_LOADING);
    CU_ASSERT_EQUAL(l->missing->len, 1);
    CU_ASSERT_TRUE(blobref_equal(&g_array_index(l->missing, struct blobref, 0), &s.root));
    CU_ASSERT_EQUAL(lookup_walk(l, &s.cache, 0), LOOKUP_LOADING);
    CU_ASSERT_EQUAL(store_walk(&s, l), LOOKUP_DONE);
    CU_ASSERT_EQUAL(s.loaded, 3);       /* root, a, b */
    CU_ASSERT_EQUAL(l->loads, 3);
    lookup_free(l);
    l = lookup_new(&s.root, "a.v", LOOKUP_VALUE);
    CU_ASSERT_EQUAL(lookup_walk(l, &s.cache, 0), LOOKUP_DONE);
    lookup_free(l);
    /* A list misses all its blobs at once, each once. */
    l = lookup_new(&s.root, "log", LOOKUP_VALUE);
    CU_ASSERT_EQUAL(lookup_walk(l, &s.cache, 0), LOOKUP_LOADING);
    CU_ASSERT_EQUAL(l->missing->len, 2);
    CU_ASSERT_EQUAL(store_walk(&s, l), LOOKUP_DONE);
    CU_ASSERT_EQUAL(l->value.size, 12);
    lookup_free(l);
    store_release(&s);
}

static void test_snapshot(void)
{
    struct store s;
    fill(&s);
    content_clear(&s.cache);
    struct lookup *l = lookup_new(&s.root, "a.b.c", LOOKUP_VALUE);
    CU_ASSERT_EQUAL(lookup_walk(l, &s.cache, 0), LOOKUP_LOADING);
    CU_ASSERT_EQUAL(store_put(&s, "a.b.c", "newer"), 0);
    CU_ASSERT_EQUAL(store_walk(&s, l), LOOKUP_DONE);
    CU_ASSERT_EQUAL(l->value.size, 4);
    CU_ASSERT_EQUAL(memcmp(l->value.data, "deep", 4), 0);
    lookup_free(l);
    store_check(&s, "a.b.c", "newer", 0);
    store_release(&s);
}

static void test_namespaces(void)
{
    struct store s, guest;
    fill(&s);
    store_init(&guest);
    store_put(&guest, "exec.eventlog", "init\n");
    struct lookup *l = lookup_new(&s.root, "guest.exec.eventlog", LOOKUP_VALUE);
    CU_ASSERT_EQUAL(store_walk(&s, l), LOOKUP_NAMESPACE);
    CU_ASSERT_STRING_EQUAL(l->namespace_name, "job-1");
    CU_ASSERT_EQUAL(lookup_walk(l, &s.cache, 0), LOOKUP_NAMESPACE);
    lookup_enter(l, &guest.root);
    CU_ASSERT_EQUAL(store_walk(&guest, l), LOOKUP_DONE);
    CU_ASSERT_EQUAL(memcmp(l->value.data, "init\n", 5), 0);
    lookup_free(l);
    l = lookup_new(&s.root, "guest", LOOKUP_VALUE);
    CU_ASSERT_EQUAL(store_walk(&s, l), LOOKUP_NAMESPACE);
    lookup_fail(l, ENOTSUP);
    CU_ASSERT_EQUAL(lookup_walk(l, &s.cache, 0), LOOKUP_FAILED);
    CU_ASSERT_EQUAL(l->errnum, ENOTSUP);
    lookup_free(l);

    /* The copy of a guest namespace: its root as a reference, without loading it, becomes an entry of primary. */
    content_clear(&s.cache);
    l = lookup_new(&guest.root, ".", LOOKUP_OBJECT);
    CU_ASSERT_EQUAL(lookup_walk(l, &s.cache, 0), LOOKUP_DONE);
    CU_ASSERT_EQUAL(l->object.type, TREEOBJ_DIRECTORY_REFERENCE);
    struct transaction *t = store_transaction(&s);
    transaction_put_object(t, "guest", &l->object);
    lookup_free(l);
    CU_ASSERT_EQUAL(store_commit(&s, t), 0);
    CU_ASSERT_EQUAL(s.stored, 1);
    CU_ASSERT_EQUAL(store_type(&s, "guest"), TREEOBJ_DIRECTORY_REFERENCE);
    /* Its blobs are in the other service only, here: with primary's root at hand there the key reads through. */
    l = lookup_new(&s.root, "guest.exec.eventlog", LOOKUP_VALUE);
    CU_ASSERT_EQUAL(store_walk(&s, l), LOOKUP_FAILED);
    CU_ASSERT_EQUAL(l->errnum, ENOENT);
    lookup_free(l);
    l = lookup_new(&s.root, "guest.exec.eventlog", LOOKUP_VALUE);
    const struct blob *root = content_find(&s.cache, &s.root);
    content_put(&guest.cache, root->bytes, root->size, 0, NULL);
    CU_ASSERT_EQUAL(store_walk(&guest, l), LOOKUP_DONE);
    CU_ASSERT_EQUAL(memcmp(l->value.data, "init\n", 5), 0);
    lookup_free(l);
    store_release(&guest);
    store_release(&s);
}

static void test_save(void)
{
    struct store s;
    fill(&s);
    content_clear(&s.cache);
    struct lookup *l = lookup_new(&s.root, "a.b.c", LOOKUP_VALUE);
    struct lookup *m = lookup_new(&s.root, "a.b..c", LOOKUP_VALUE);
    lookup_walk(l, &s.cache, 0);
    lookup_walk(m, &s.cache, 0);
    struct bytes one = BYTES_INIT, two = BYTES_INIT;
    lookup_save(l, &one);
    lookup_save(m, &two);
    CU_ASSERT_EQUAL(one.size, two.size);
    CU_ASSERT_EQUAL(memcmp(one.data, two.data, one.size), 0);
    content_add(&s.cache, content_find(&s.content, &s.root), 0, NULL);
    lookup_arrived(l);
    lookup_walk(l, &s.cache, 0);
    bytes_clear(&one);
    lookup_save(l, &one);
    CU_ASSERT_FALSE(one.size == two.size && memcmp(one.data, two.data, one.size) == 0);
    bytes_release(&one);
    bytes_release(&two);
    lookup_free(l);
    lookup_free(m);
    store_release(&s);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "values are found, or missed with the known errors", test_values },
        { "directories, links and objects are told apart", test_objects },
        { "what is missing is reported, and the walk goes on where it stood", test_loading },
        { "a lookup stays with its root", test_snapshot },
        { "a link leads into another namespace, whose root can be copied", test_namespaces },
        { "saving shows where a lookup stands", test_save },
        { NULL, NULL },
    };
    return suite_run("kvs lookup", tests);
}
