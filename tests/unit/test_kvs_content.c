/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/content.h"
#include "kvs/waitlist.h"

#include "suite.h"

static struct blobref ref_of_number(uint32_t n)
{
    return blobref_of(&n, sizeof n);
}

static void test_known_hashes(void)
{
    char text[BLOBREF_TEXT_SIZE];
    struct blobref ref = blobref_of("abc", 3);
    blobref_to_text(&ref, text);
    CU_ASSERT_STRING_EQUAL(text, "sha1-a9993e364706816aba3e25717850c26c9cd0d89d");    /* FIPS 180-1, appendix A */
    ref = blobref_of(NULL, 0);
    blobref_to_text(&ref, text);
    CU_ASSERT_STRING_EQUAL(text, "sha1-da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

static void test_text(void)
{
    struct blobref ref = ref_of_number(1), back = ref_of_number(2);
    char text[BLOBREF_TEXT_SIZE];
    blobref_to_text(&ref, text);
    CU_ASSERT_FALSE(blobref_equal(&ref, &back));
    CU_ASSERT_TRUE(blobref_from_text(&back, text));
    CU_ASSERT_TRUE(blobref_equal(&ref, &back));
    static const char *const bad[] = {
        "", "sha1-", "sha1-A9993e364706816aba3e25717850c26c9cd0d89d", "sha1-a9993e364706816aba3e25717850c26c9cd0d89",
        "sha1-a9993e364706816aba3e25717850c26c9cd0d89dd", "sha2-a9993e364706816aba3e25717850c26c9cd0d89d",
        "sha1-a9993e364706816aba3e25717850c26c9cd0d89g", "sha1-a9993e364706816aba3e25717850c26c9cd0d8 9d",
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++)
        CU_ASSERT_FALSE(blobref_from_text(&back, bad[i]));
    CU_ASSERT_TRUE(blobref_equal(&ref, &back));
}

static void test_insert(void)
{
    struct content c;
    content_init(&c, NULL);
    bool is_new;
    struct blobref ref = blobref_of("hello", 5);
    CU_ASSERT_PTR_NULL(content_find(&c, &ref));
    struct blob *blob = content_put(&c, "hello", 5, 1, &is_new);
    CU_ASSERT_TRUE(is_new);
    CU_ASSERT_EQUAL(blob->size, 5);
    CU_ASSERT_EQUAL(memcmp(blob->bytes, "hello", 5), 0);
    CU_ASSERT_TRUE(blobref_equal(&blob->ref, &ref));
    CU_ASSERT_PTR_EQUAL(content_put(&c, "hello", 5, 2, &is_new), blob);
    CU_ASSERT_FALSE(is_new);
    content_put(&c, NULL, 0, 1, &is_new);
    CU_ASSERT_TRUE(is_new);
    CU_ASSERT_EQUAL(c.blobs, 2);
    CU_ASSERT_EQUAL(c.bytes, 5);
    CU_ASSERT_TRUE(content_remove(&c, &ref));
    CU_ASSERT_FALSE(content_remove(&c, &ref));
    CU_ASSERT_EQUAL(c.blobs, 1);
    CU_ASSERT_EQUAL(c.bytes, 0);
    content_release(&c);
    content_release(&c);
}

static void test_pool(void)
{
    struct blob_pool *pool = blob_pool_new();
    struct content a, b;
    content_init(&a, pool);
    content_init(&b, pool);
    size_t empty = blob_pool_memory_bytes(pool);
    struct blob *one = content_put(&a, "shared", 6, 0, NULL);
    size_t with_one = blob_pool_memory_bytes(pool);
    CU_ASSERT_TRUE(with_one > empty);
    CU_ASSERT_PTR_EQUAL(content_put(&b, "shared", 6, 0, NULL), one);
    CU_ASSERT_EQUAL(blob_pool_memory_bytes(pool), with_one);
    CU_ASSERT_EQUAL(blob_pool_count(pool), 1);
    content_clear(&a);
    CU_ASSERT_EQUAL(blob_pool_count(pool), 1);
    CU_ASSERT_EQUAL(memcmp(content_find(&b, &one->ref)->bytes, "shared", 6), 0);
    content_add(&a, one, 3, NULL);
    content_release(&b);
    CU_ASSERT_EQUAL(blob_pool_count(pool), 1);
    content_release(&a);
    CU_ASSERT_EQUAL(blob_pool_count(pool), 0);
    blob_pool_free(pool);
}

static bool keep_root(void *data, const struct blob *blob)
{
    return blobref_equal(&blob->ref, data);
}

static void test_expire(void)
{
    struct content c;
    content_init(&c, NULL);
    for (uint32_t i = 0; i < 1000; i++)
        content_put(&c, &i, sizeof i, i % 10, NULL);
    struct blobref dirty = ref_of_number(0), used = ref_of_number(10), root = ref_of_number(20);
    CU_ASSERT_TRUE(content_set_dirty(&c, &dirty, true));
    CU_ASSERT_TRUE(content_set_dirty(&c, &dirty, true));
    CU_ASSERT_EQUAL(c.dirty, 1);
    CU_ASSERT_PTR_NOT_NULL(content_use(&c, &used, 9));
    /* Epochs 0 to 4 go: 500, but for the dirty one, the one used since, and the root. */
    CU_ASSERT_EQUAL(content_expire(&c, 5, keep_root, &root), 497);
    CU_ASSERT_EQUAL(c.blobs, 503);
    CU_ASSERT_EQUAL(c.bytes, 503 * 4);
    CU_ASSERT_EQUAL(content_expire(&c, 5, keep_root, &root), 0);
    int wrong = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        struct blobref ref = ref_of_number(i);
        bool kept = i % 10 >= 5 || i == 0 || i == 10 || i == 20;
        wrong += (content_find(&c, &ref) != NULL) != kept;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(content_is_dirty(&c, &dirty));
    CU_ASSERT_TRUE(content_set_dirty(&c, &dirty, false));
    CU_ASSERT_EQUAL(c.dirty, 0);
    CU_ASSERT_EQUAL(content_expire(&c, 5, NULL, NULL), 2);
    CU_ASSERT_FALSE(content_set_dirty(&c, &dirty, true));
    content_release(&c);
}

static void test_random_content(void)
{
    GRand *random = g_rand_new_with_seed(5);
    struct content c;
    content_init(&c, NULL);
    bool present[300] = { false };
    bool dirty[300] = { false };
    int wrong = 0;
    uint32_t count = 0, dirty_count = 0;
    for (int i = 0; i < 60000; i++) {
        uint32_t n = (uint32_t)g_rand_int_range(random, 0, 300);
        struct blobref ref = ref_of_number(n);
        bool is_new;
        switch (g_rand_int_range(random, 0, 4)) {
        case 0:
            content_put(&c, &n, sizeof n, 0, &is_new);
            wrong += is_new == present[n];
            count += is_new;
            present[n] = true;
            break;
        case 1:
            wrong += content_remove(&c, &ref) != present[n];
            count -= present[n];
            dirty_count -= dirty[n];
            present[n] = dirty[n] = false;
            break;
        case 2:
            wrong += (content_find(&c, &ref) != NULL) != present[n] || content_is_dirty(&c, &ref) != dirty[n];
            break;
        case 3:
            wrong += content_set_dirty(&c, &ref, true) != present[n];
            dirty_count += present[n] && !dirty[n];
            dirty[n] = present[n];
            break;
        }
        wrong += c.blobs != count || c.dirty != dirty_count || c.bytes != 4 * count;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    content_release(&c);
    g_rand_free(random);
}

static void test_save(void)
{
    struct content a, b;
    content_init(&a, NULL);
    content_init(&b, NULL);
    struct bytes x = BYTES_INIT, y = BYTES_INIT;
    content_save(&a, &x);
    CU_ASSERT_EQUAL(x.size, 4);
    bytes_clear(&x);
    for (uint32_t i = 0; i < 200; i++)
        content_put(&a, &i, sizeof i, 3, NULL);
    for (uint32_t i = 400; i-- > 0;)
        content_put(&b, &i, sizeof i, 3, NULL);
    for (uint32_t i = 200; i < 400; i++) {
        struct blobref ref = ref_of_number(i);
        content_remove(&b, &ref);
    }
    content_save(&a, &x);
    content_save(&b, &y);
    CU_ASSERT_EQUAL(x.size, 4 + 200 * (BLOBREF_SIZE + 9));
    CU_ASSERT_EQUAL_FATAL(x.size, y.size);
    CU_ASSERT_EQUAL(memcmp(x.data, y.data, x.size), 0);
    struct blobref ref = ref_of_number(7);
    content_use(&b, &ref, 4);
    bytes_clear(&y);
    content_save(&b, &y);
    CU_ASSERT_NOT_EQUAL(memcmp(x.data, y.data, x.size), 0);
    bytes_release(&x);
    bytes_release(&y);
    content_release(&a);
    content_release(&b);
}

static void test_waitlist(void)
{
    struct waitlist w;
    waitlist_init(&w);
    struct blobref one = ref_of_number(1), two = ref_of_number(2);
    CU_ASSERT_TRUE(waitlist_add(&w, &one, 7));
    CU_ASSERT_FALSE(waitlist_add(&w, &one, 5));
    CU_ASSERT_TRUE(waitlist_add(&w, &two, 9));
    CU_ASSERT_FALSE(waitlist_add(&w, &one, 7));
    struct bytes saved = BYTES_INIT;
    waitlist_save(&w, &saved);
    CU_ASSERT_EQUAL(saved.size, 4 + 2 * (BLOBREF_SIZE + 4) + 4 * 8);
    CU_ASSERT_EQUAL(memcmp(saved.data + 4, blobref_compare(&one, &two) < 0 ? &one : &two, BLOBREF_SIZE), 0);
    bytes_release(&saved);
    GArray *tokens = waitlist_take(&w, &one);
    CU_ASSERT_PTR_NOT_NULL_FATAL(tokens);
    CU_ASSERT_EQUAL(tokens->len, 3);
    CU_ASSERT_EQUAL(g_array_index(tokens, uint64_t, 0), 7);
    CU_ASSERT_EQUAL(g_array_index(tokens, uint64_t, 1), 5);
    CU_ASSERT_EQUAL(g_array_index(tokens, uint64_t, 2), 7);
    g_array_unref(tokens);
    CU_ASSERT_PTR_NULL(waitlist_take(&w, &one));
    CU_ASSERT_TRUE(waitlist_add(&w, &one, 1));
    waitlist_release(&w);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "references are SHA-1 as published", test_known_hashes },
        { "a reference has exactly one text", test_text },
        { "a blob is inserted once and removed once", test_insert },
        { "contents of one pool share the bytes", test_pool },
        { "only clean blobs that nobody used or keeps expire", test_expire },
        { "random operations do what a plain table does", test_random_content },
        { "saving gives the same bytes, however the content was reached", test_save },
        { "waiters come back in order, and only the first asks", test_waitlist },
        { NULL, NULL },
    };
    return suite_run("kvs content", tests);
}
