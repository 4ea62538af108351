/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/directory.h"
#include "kvs/key.h"

#include "suite.h"

/* --- keys --- */

static void test_keys(void)
{
    static const char *const pairs[][2] = {
        { "a.b.c", "a.b.c" }, { ".a..b.", "a.b" }, { "", "." }, { ".", "." }, { "...", "." }, { "a", "a" },
        { "a...", "a" }, { "...a", "a" },
    };
    char out[16];
    for (unsigned i = 0; i < G_N_ELEMENTS(pairs); i++) {
        CU_ASSERT_EQUAL(key_normalize(pairs[i][0], out), strlen(pairs[i][1]));
        CU_ASSERT_STRING_EQUAL(out, pairs[i][1]);
        strcpy(out, pairs[i][0]);
        key_normalize(out, out);
        CU_ASSERT_STRING_EQUAL(out, pairs[i][1]);
    }
    const char *key = "ab.c";
    size_t size;
    const char *name = key_next(&key, &size);
    CU_ASSERT_EQUAL(size, 2);
    CU_ASSERT_EQUAL(memcmp(name, "ab", 2), 0);
    name = key_next(&key, &size);
    CU_ASSERT_EQUAL(size, 1);
    CU_ASSERT_EQUAL(*name, 'c');
    CU_ASSERT_PTR_NULL(key_next(&key, &size));
    key = ".";
    CU_ASSERT_PTR_NULL(key_next(&key, &size));
}

static void test_texts(void)
{
    struct bytes b = BYTES_INIT;
    key_put_text(&b, "abc");
    key_put_text(&b, "");
    bytes_put_span(&b, "a\0b", 4);
    struct cursor c = cursor_init(b.data, b.size);
    CU_ASSERT_STRING_EQUAL(key_get_text(&c), "abc");
    CU_ASSERT_STRING_EQUAL(key_get_text(&c), "");
    CU_ASSERT_PTR_NULL(key_get_text(&c));
    CU_ASSERT_FALSE(cursor_ok(&c));
    bytes_clear(&b);
    bytes_put_span(&b, "abc", 3);
    c = cursor_init(b.data, b.size);
    CU_ASSERT_PTR_NULL(key_get_text(&c));
    bytes_clear(&b);
    bytes_put_u32(&b, 0);
    c = cursor_init(b.data, b.size);
    CU_ASSERT_PTR_NULL(key_get_text(&c));
    bytes_release(&b);
}

/* --- objects --- */

static bool is_valid(const struct bytes *b)
{
    struct cursor c = cursor_init(b->data, b->size);
    struct treeobj object;
    return treeobj_read(&c, &object) && cursor_done(&c);
}

static void test_objects(void)
{
    struct blobref refs[2] = { blobref_of("a", 1), blobref_of("b", 1) };
    struct bytes b = BYTES_INIT;
    treeobj_put_value(&b, "v\0w", 3);
    treeobj_put_value(&b, NULL, 0);
    treeobj_put_value_reference(&b, refs, 2);
    treeobj_put_directory_reference(&b, &refs[1]);
    treeobj_put_symlink(&b, NULL, "x.y");
    treeobj_put_symlink(&b, "job-1", ".");
    treeobj_put_empty_directory(&b);
    struct cursor c = cursor_init(b.data, b.size);
    struct treeobj o;
    struct bytes again = BYTES_INIT;
    CU_ASSERT_TRUE(treeobj_read(&c, &o));
    CU_ASSERT_EQUAL(o.type, TREEOBJ_VALUE);
    CU_ASSERT_EQUAL(o.size, 3);
    CU_ASSERT_EQUAL(memcmp(o.data, "v\0w", 3), 0);
    treeobj_put(&again, &o);
    CU_ASSERT_TRUE(treeobj_read(&c, &o));
    CU_ASSERT_EQUAL(o.size, 0);
    treeobj_put(&again, &o);
    CU_ASSERT_TRUE(treeobj_read(&c, &o));
    CU_ASSERT_EQUAL(treeobj_reference_count(&o), 2);
    struct blobref ref = treeobj_reference(&o, 1);
    CU_ASSERT_TRUE(blobref_equal(&ref, &refs[1]));
    treeobj_put(&again, &o);
    CU_ASSERT_TRUE(treeobj_read(&c, &o));
    CU_ASSERT_EQUAL(o.type, TREEOBJ_DIRECTORY_REFERENCE);
    ref = treeobj_reference(&o, 0);
    CU_ASSERT_TRUE(blobref_equal(&ref, &refs[1]));
    treeobj_put(&again, &o);
    const char *space, *key;
    size_t space_size, key_size;
    CU_ASSERT_TRUE(treeobj_read(&c, &o));
    treeobj_symlink(&o, &space, &space_size, &key, &key_size);
    CU_ASSERT_EQUAL(space_size, 0);
    CU_ASSERT_EQUAL(key_size, 3);
    CU_ASSERT_EQUAL(memcmp(key, "x.y", 3), 0);
    treeobj_put(&again, &o);
    CU_ASSERT_TRUE(treeobj_read(&c, &o));
    treeobj_symlink(&o, &space, &space_size, &key, &key_size);
    CU_ASSERT_EQUAL(space_size, 5);
    CU_ASSERT_EQUAL(memcmp(space, "job-1", 5), 0);
    CU_ASSERT_EQUAL(key_size, 1);
    treeobj_put(&again, &o);
    CU_ASSERT_TRUE(treeobj_read(&c, &o));
    CU_ASSERT_EQUAL(treeobj_count(&o), 0);
    CU_ASSERT_FALSE(treeobj_find(&o, "a", 1, &o));
    treeobj_put(&again, &o);
    CU_ASSERT_TRUE(cursor_done(&c));
    CU_ASSERT_EQUAL(again.size, b.size);
    CU_ASSERT_EQUAL(memcmp(again.data, b.data, b.size), 0);
    bytes_release(&again);
    bytes_release(&b);
}

static void test_refused(void)
{
    static const uint8_t bad[][40] = {
        { 0, 0, 0, 0, 0 },                                                      /* no type */
        { 6, 0, 0, 0, 0 },
        { 1, 2, 0, 0, 0, 'x' },                                                 /* short value */
        { 2, 0, 0, 0, 0 },                                                      /* empty list */
        { 2, 19, 0, 0, 0, 0 },                                                  /* not whole references */
        { 4, 0, 0, 0 },                                                         /* short reference */
        { 5, 1, 0, 0, 0, 0 },                                                   /* symlink without its length */
        { 5, 2, 0, 0, 0, 0, 0 },                                                /* without a key */
        { 5, 3, 0, 0, 0, 1, 0, 'n' },                                           /* all namespace, no key */
        { 5, 4, 0, 0, 0, 0, 0, 'k', 0 },                                        /* NUL in the key */
        { 3, 3, 0, 0, 0, 0, 0, 0 },                                             /* directory without its count */
        { 3, 4, 0, 0, 0, 1, 0, 0, 0 },                                          /* an entry too few */
        { 3, 5, 0, 0, 0, 0, 0, 0, 0, 0 },                                       /* something behind the entries */
        { 3, 4, 0, 0, 0, 255, 255, 255, 255 },
        { 3, 15, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 1, 'a', 1, 0, 0, 0, 0 },      /* offset wrong */
        { 3, 14, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 1, 0, 0, 0, 0 },           /* empty name */
        { 3, 15, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 1, '.', 1, 0, 0, 0, 0 },      /* name with a dot */
    };
    static const uint8_t sizes[] = { 5, 5, 6, 5, 24, 4, 6, 7, 8, 9, 8, 9, 10, 9, 20, 19, 20 };
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        uint8_t *copy = g_memdup2(bad[i], sizes[i]);
        struct bytes b = { copy, sizes[i], sizes[i] };
        CU_ASSERT_FALSE(is_valid(&b));
        g_free(copy);
    }
    uint8_t good[] = { 3, 15, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 1, 'a', 1, 0, 0, 0, 0 };
    struct bytes b = { good, sizeof good, sizeof good };
    CU_ASSERT_TRUE(is_valid(&b));
    /* Two entries, in order, out of order, and twice the same name. */
    uint8_t two[] = { 3, 26, 0, 0, 0, 2, 0, 0, 0, 12, 0, 0, 0, 19, 0, 0, 0,
                      1, 'a', 1, 0, 0, 0, 0, 1, 'b', 1, 0, 0, 0, 0 };
    b = (struct bytes){ two, sizeof two, sizeof two };
    CU_ASSERT_TRUE(is_valid(&b));
    two[18] = 'b';
    CU_ASSERT_FALSE(is_valid(&b));
    two[18] = 'c';
    CU_ASSERT_FALSE(is_valid(&b));
}

static void test_depth(void)
{
    /* Directories in place within one another: 64 are allowed, and a thousand do not exhaust the stack. */
    for (unsigned depth = 63; depth <= 1000; depth += depth == 63 ? 1 : 936) {
        struct bytes inner = BYTES_INIT;
        treeobj_put_empty_directory(&inner);
        for (unsigned i = 0; i < depth; i++) {
            struct bytes outer = BYTES_INIT;
            bytes_put_u8(&outer, TREEOBJ_DIRECTORY);
            bytes_put_u32(&outer, (uint32_t)(10 + inner.size));
            bytes_put_u32(&outer, 1);
            bytes_put_u32(&outer, 8);
            bytes_put_u8(&outer, 1);
            bytes_put_u8(&outer, 'd');
            bytes_put(&outer, inner.data, inner.size);
            bytes_release(&inner);
            inner = outer;
        }
        CU_ASSERT_EQUAL(is_valid(&inner), depth == 63);
        bytes_release(&inner);
    }
}

/* --- directories under change --- */

struct stored {
    struct blob_pool *pool;
    GPtrArray *blobs;
};

static void note(void *data, struct blob *blob)
{
    g_ptr_array_add(((struct stored *)data)->blobs, blob);
}

static void stored_clear(struct stored *s)
{
    for (guint i = 0; i < s->blobs->len; i++)
        blob_pool_unref(s->pool, s->blobs->pdata[i]);
    g_ptr_array_set_size(s->blobs, 0);
}

static void put_text(struct directory *d, const char *name, const char *text)
{
    struct treeobj value = { TREEOBJ_VALUE, (uint32_t)strlen(text), (const uint8_t *)text };
    directory_put(d, name, strlen(name), &value);
}

static void test_directory_random(void)
{
    struct stored s = { blob_pool_new(), g_ptr_array_new() };
    GRand *random = g_rand_new_with_seed(11);
    GTree *model = g_tree_new_full((GCompareDataFunc)(void (*)(void))strcmp, NULL, g_free, g_free);
    struct directory *d = directory_new(s.pool);
    struct blob *blob = NULL;
    int wrong = 0;
    for (int round = 0; round < 200; round++) {
        for (int i = g_rand_int_range(random, 0, 12); i > 0; i--) {
            char *name = g_strdup_printf("%d", g_rand_int_range(random, 0, 150));
            if (g_rand_int_range(random, 0, 3) == 0) {
                directory_remove(d, name, strlen(name));
                g_tree_remove(model, name);
                g_free(name);
            } else {
                char *text = g_strdup_printf("value %d", g_rand_int_range(random, 0, 1000));
                put_text(d, name, text);
                g_tree_insert(model, name, text);
            }
        }
        if (blob != NULL)
            blob_pool_unref(s.pool, blob);
        blob = directory_store(d, note, &s);
        directory_free(d);
        stored_clear(&s);
        struct treeobj view;
        blob->form = BLOB_UNCHECKED;
        CU_ASSERT_TRUE_FATAL(treeobj_from_blob(blob, &view));
        wrong += treeobj_count(&view) != (uint32_t)g_tree_nnodes(model);
        uint32_t index = 0;
        for (GTreeNode *node = g_tree_node_first(model); node != NULL; node = g_tree_node_next(node)) {
            const char *name = g_tree_node_key(node), *text = g_tree_node_value(node), *other;
            size_t size;
            struct treeobj object;
            wrong += !treeobj_find(&view, name, strlen(name), &object) || object.size != strlen(text) ||
                     memcmp(object.data, text, object.size) != 0;
            treeobj_entry(&view, index++, &other, &size, &object);
            wrong += size != strlen(name) || memcmp(other, name, size) != 0;
        }
        struct treeobj object;
        wrong += treeobj_find(&view, "150", 3, &object) || treeobj_find(&view, "", 0, &object);
        d = directory_open(s.pool, blob, &view);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_PTR_EQUAL(directory_store(d, note, &s), blob);    /* nothing changed: the same blob, nothing stored */
    CU_ASSERT_EQUAL(s.blobs->len, 0);
    blob_pool_unref(s.pool, blob);
    blob_pool_unref(s.pool, blob);
    directory_free(d);
    g_tree_destroy(model);
    g_rand_free(random);
    g_ptr_array_free(s.blobs, TRUE);
    blob_pool_free(s.pool);
}

static void test_directory_tree(void)
{
    struct stored s = { blob_pool_new(), g_ptr_array_new() };
    struct directory *root = directory_new(s.pool), *a = directory_new(s.pool), *b = directory_new(s.pool);
    directory_put_below(root, "a", 1, a);
    directory_put_below(a, "b", 1, b);
    put_text(b, "x", "1");
    put_text(b, "y", "more than fifty-four characters, so that it becomes a blob");
    struct treeobj object;
    struct directory *below;
    CU_ASSERT_TRUE(directory_get(root, "a", 1, &object, &below));
    CU_ASSERT_PTR_EQUAL(below, a);
    CU_ASSERT_FALSE(directory_get(root, "b", 1, &object, &below));
    struct blob *blob = directory_store(root, note, &s);
    CU_ASSERT_EQUAL_FATAL(s.blobs->len, 4);
    /* Bottom-up: the value, b, a, the root. */
    CU_ASSERT_EQUAL(((struct blob *)s.blobs->pdata[0])->bytes[0], 'm');
    CU_ASSERT_PTR_EQUAL(s.blobs->pdata[3], blob);
    struct treeobj view;
    CU_ASSERT_TRUE_FATAL(treeobj_from_blob(blob, &view));
    CU_ASSERT_TRUE(treeobj_find(&view, "a", 1, &object));
    CU_ASSERT_EQUAL(object.type, TREEOBJ_DIRECTORY_REFERENCE);
    struct blobref ref = treeobj_reference(&object, 0);
    CU_ASSERT_TRUE(blobref_equal(&ref, &((struct blob *)s.blobs->pdata[2])->ref));
    directory_free(root);

    /* Passing through without a change stores nothing; one below changes all above. */
    root = directory_open(s.pool, blob, &view);
    struct blob *a_blob = s.blobs->pdata[2], *b_blob = s.blobs->pdata[1];
    CU_ASSERT_TRUE(treeobj_from_blob(a_blob, &view));
    a = directory_open(s.pool, a_blob, &view);
    directory_put_below(root, "a", 1, a);
    CU_ASSERT_TRUE(treeobj_from_blob(b_blob, &view));
    b = directory_open(s.pool, b_blob, &view);
    directory_put_below(a, "b", 1, b);
    struct stored more = { s.pool, g_ptr_array_new() };
    struct blob *same = directory_store(root, note, &more);
    CU_ASSERT_PTR_EQUAL(same, blob);
    CU_ASSERT_EQUAL(more.blobs->len, 0);
    blob_pool_unref(s.pool, same);
    directory_remove(b, "x", 1);
    same = directory_store(root, note, &more);
    CU_ASSERT_PTR_NOT_EQUAL(same, blob);
    CU_ASSERT_EQUAL(more.blobs->len, 3);
    directory_free(root);
    blob_pool_unref(s.pool, same);
    blob_pool_unref(s.pool, blob);
    stored_clear(&more);
    stored_clear(&s);
    g_ptr_array_free(more.blobs, TRUE);
    g_ptr_array_free(s.blobs, TRUE);
    blob_pool_free(s.pool);
}

static void test_directory_copy(void)
{
    /* A directory in place, with one within it, becomes blobs of its own. */
    uint8_t bytes[] = { 3, 19, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 1, 'd', 3, 4, 0, 0, 0, 0, 0, 0, 0 };
    struct cursor c = cursor_init(bytes, sizeof bytes);
    struct treeobj view;
    CU_ASSERT_TRUE_FATAL(treeobj_read(&c, &view));
    struct stored s = { blob_pool_new(), g_ptr_array_new() };
    struct directory *d = directory_copy(s.pool, &view);
    struct blob *blob = directory_store(d, note, &s);
    CU_ASSERT_EQUAL(s.blobs->len, 2);
    struct blobref empty = treeobj_empty_reference();
    CU_ASSERT_TRUE(blobref_equal(&((struct blob *)s.blobs->pdata[0])->ref, &empty));
    blob_pool_unref(s.pool, blob);
    stored_clear(&s);
    directory_free(d);
    g_ptr_array_free(s.blobs, TRUE);
    blob_pool_free(s.pool);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "keys are normalised and walked name by name", test_keys },
        { "texts inside bytes end with their only NUL", test_texts },
        { "objects are read back as they were written", test_objects },
        { "bytes that are no object are refused", test_refused },
        { "directories in place nest 64 deep at most", test_depth },
        { "a directory under random change is what a plain table is", test_directory_random },
        { "a tree is stored bottom-up, and only what changed", test_directory_tree },
        { "a directory in place becomes blobs of its own", test_directory_copy },
        { NULL, NULL },
    };
    return suite_run("kvs treeobj", tests);
}
