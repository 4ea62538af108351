/* SPDX-License-Identifier: BSD-3-Clause */
#include <glib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/pool.h"
#include "suite.h"

static struct payload *take_filled(struct pool *pool, size_t size)
{
    struct payload *p = pool_take(pool, size);
    memset(p->bytes, (int)(size * 7 % 251), size);
    p->hash = payload_hash(p->bytes, size);
    return p;
}

static bool intact(const struct payload *p, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (p->bytes[i] != (uint8_t)(size * 7 % 251))
            return false;
    return p->size == size && p->hash == payload_hash(p->bytes, size);
}

/* The sizes around each class (32, 64, ... bytes with a head of 16), and large ones. */
static size_t size_at(unsigned i)
{
    static const int around[] = { -1, 0, 1 };
    if (i < 33) {
        long size = (16l << (i / 3)) - 16 + around[i % 3];
        return size < 0 ? 0 : (size_t)size;
    }
    return i < 40 ? (i - 33) * 1000 : 20000 * (size_t)(i - 39);
}

static void test_sizes(void)
{
    enum { SIZES = 45 };
    struct pool pool;
    struct payload *held[SIZES];
    unsigned wrong = 0;
    pool_init(&pool);
    CU_ASSERT_EQUAL(size_at(SIZES - 1), 100000);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < SIZES; i++) {
            held[i] = take_filled(&pool, size_at(i));
            wrong += held[i]->references != 1 || (uintptr_t)held[i] % 8 != 0;
        }
        for (unsigned i = 0; i < SIZES; i++)
            wrong += !intact(held[i], size_at(i));
        for (unsigned i = 0; i < SIZES; i++)
            pool_unref(&pool, held[(i * 7 + round) % SIZES]);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    pool_release(&pool);
}

static void test_references(void)
{
    struct pool pool;
    pool_init(&pool);
    struct payload *p = take_filled(&pool, 100);
    for (unsigned i = 0; i < 1000; i++)
        CU_ASSERT_PTR_EQUAL(payload_ref(p), p);
    CU_ASSERT_EQUAL(p->references, 1001);
    for (unsigned i = 0; i < 1000; i++)
        pool_unref(&pool, p);
    CU_ASSERT_EQUAL(p->references, 1);
    CU_ASSERT(intact(p, 100));
    struct payload *other = pool_take(&pool, 100);
    CU_ASSERT_PTR_NOT_EQUAL(other, p);
    pool_unref(&pool, p);
    struct payload *again = pool_take(&pool, 100);
    CU_ASSERT_PTR_EQUAL(again, p);
    CU_ASSERT_EQUAL(again->references, 1);
    pool_unref(&pool, again);
    pool_unref(&pool, other);
    pool_release(&pool);
}

/* What has been in use once is used again; large payloads go back at once. */
static void test_steady(void)
{
    struct pool pool;
    GPtrArray *held = g_ptr_array_new();
    size_t peak = 0;
    pool_init(&pool);
    for (unsigned round = 0; round < 50; round++) {
        for (unsigned i = 0; i < 500; i++)
            g_ptr_array_add(held, take_filled(&pool, i * 37 % 16000));
        if (round == 0)
            peak = pool.bytes;
        CU_ASSERT_EQUAL(pool.bytes, peak);
        for (unsigned i = 0; i < held->len; i++)
            pool_unref(&pool, g_ptr_array_index(held, i));
        g_ptr_array_set_size(held, 0);
    }
    struct payload *large = take_filled(&pool, 100000);
    CU_ASSERT(pool.bytes >= peak + 100000);
    pool_unref(&pool, large);
    CU_ASSERT_EQUAL(pool.bytes, peak);
    g_ptr_array_free(held, TRUE);
    pool_release(&pool);
    CU_ASSERT_EQUAL(pool.bytes, 0);
}

static void test_hash(void)
{
    CU_ASSERT_EQUAL(payload_hash("", 0), XXH3_64bits("", 0));
    CU_ASSERT_EQUAL(payload_hash("abc", 3), XXH3_64bits("abc", 3));
    CU_ASSERT_NOT_EQUAL(payload_hash("abc", 3), payload_hash("abd", 3));
    /* The test vector that xxHash publishes for no bytes and no seed. */
    CU_ASSERT_EQUAL(payload_hash(NULL, 0), 0x2d06800538d394c2ull);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "payloads of 0 to 100,000 bytes keep their bytes", test_sizes },
        { "a payload lives as long as it is referenced", test_references },
        { "a steady state allocates nothing", test_steady },
        { "the hash is XXH3", test_hash },
        { NULL, NULL },
    };
    return suite_run("pool", tests);
}
