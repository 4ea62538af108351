/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/blob.h"

enum { FIRST_CAPACITY = 64, HANDLES_MAX = 1 << 30 };

/* The tag, which is also where a slot belongs, spares looking at most blobs that are not meant. */
struct pool_slot {
    uint32_t tag;
    uint32_t handle_plus_one;   /* 0: empty */
};

struct blob_pool {
    struct blob **blobs;        /* by handle; NULL where a handle is free */
    uint32_t *free_handles;     /* a stack */
    uint32_t handles;           /* in use or free */
    uint32_t handles_capacity;
    uint32_t free_count;
    struct pool_slot *table;    /* open addressing, linear */
    uint32_t capacity;          /* of the table: a power of two */
    size_t bytes;               /* of the blobs, with their headers */
};

struct blob_pool *blob_pool_new(void)
{
    struct blob_pool *pool = g_new0(struct blob_pool, 1);
    pool->capacity = FIRST_CAPACITY;
    pool->table = g_new0(struct pool_slot, pool->capacity);
    return pool;
}

void blob_pool_free(struct blob_pool *pool)
{
    if (pool == NULL)
        return;
    g_assert(blob_pool_count(pool) == 0);
    g_free(pool->blobs);
    g_free(pool->free_handles);
    g_free(pool->table);
    g_free(pool);
}

uint32_t blob_pool_count(const struct blob_pool *pool)
{
    return pool->handles - pool->free_count;
}

size_t blob_pool_memory_bytes(const struct blob_pool *pool)
{
    return pool->bytes + pool->capacity * sizeof *pool->table +
           pool->handles_capacity * (sizeof *pool->blobs + sizeof *pool->free_handles);
}

struct blob *blob_pool_get(const struct blob_pool *pool, uint32_t handle)
{
    g_assert(handle < pool->handles);
    return pool->blobs[handle];
}

/* Where the reference is, or would go. */
static struct pool_slot *slot_of(const struct blob_pool *pool, const struct blobref *ref)
{
    uint32_t mask = pool->capacity - 1;
    uint32_t tag = (uint32_t)blobref_key(ref);
    uint32_t i = tag & mask;
    while (pool->table[i].handle_plus_one != 0 &&
           (pool->table[i].tag != tag || !blobref_equal(&pool->blobs[pool->table[i].handle_plus_one - 1]->ref, ref)))
        i = (i + 1) & mask;
    return &pool->table[i];
}

static void table_grow(struct blob_pool *pool)
{
    struct pool_slot *old = pool->table;
    uint32_t old_capacity = pool->capacity;
    pool->capacity *= 2;
    pool->table = g_new0(struct pool_slot, pool->capacity);
    uint32_t mask = pool->capacity - 1;
    for (uint32_t k = 0; k < old_capacity; k++) {
        if (old[k].handle_plus_one == 0)
            continue;
        uint32_t i = old[k].tag & mask;
        while (pool->table[i].handle_plus_one != 0)
            i = (i + 1) & mask;
        pool->table[i] = old[k];
    }
    g_free(old);
}

static uint32_t handle_take(struct blob_pool *pool)
{
    if (pool->free_count != 0)
        return pool->free_handles[--pool->free_count];
    g_assert(pool->handles < HANDLES_MAX - 1);
    if (pool->handles == pool->handles_capacity) {
        pool->handles_capacity = pool->handles_capacity == 0 ? FIRST_CAPACITY : pool->handles_capacity * 2;
        pool->blobs = g_renew(struct blob *, pool->blobs, pool->handles_capacity);
        pool->free_handles = g_renew(uint32_t, pool->free_handles, pool->handles_capacity);
    }
    return pool->handles++;
}

struct blob *blob_pool_find(const struct blob_pool *pool, const struct blobref *ref)
{
    const struct pool_slot *slot = slot_of(pool, ref);
    return slot->handle_plus_one == 0 ? NULL : pool->blobs[slot->handle_plus_one - 1];
}

struct blob *blob_pool_take(struct blob_pool *pool, const struct blobref *ref, const void *data, size_t size)
{
    struct pool_slot *slot = slot_of(pool, ref);
    if (slot->handle_plus_one != 0)
        return blob_ref(pool->blobs[slot->handle_plus_one - 1]);
    g_assert(size <= UINT32_MAX);
    if (blob_pool_count(pool) >= pool->capacity / 4 * 3) {
        table_grow(pool);
        slot = slot_of(pool, ref);
    }
    struct blob *blob = g_malloc(sizeof *blob + size);
    blob->ref = *ref;
    blob->references = 1;
    blob->size = (uint32_t)size;
    blob->handle = handle_take(pool);
    blob->form = BLOB_UNCHECKED;
    if (size != 0)
        memcpy(blob->bytes, data, size);
    pool->blobs[blob->handle] = blob;
    *slot = (struct pool_slot){ (uint32_t)blobref_key(ref), blob->handle + 1u };
    pool->bytes += sizeof *blob + size;
    return blob;
}

/* Empties a slot of the table; later members of its run move up, so that no search ends too early. */
static void table_remove(struct blob_pool *pool, const struct blob *blob)
{
    uint32_t mask = pool->capacity - 1;
    uint32_t hole = (uint32_t)blobref_key(&blob->ref) & mask;
    while (pool->table[hole].handle_plus_one != blob->handle + 1u)
        hole = (hole + 1) & mask;
    for (uint32_t i = (hole + 1) & mask; pool->table[i].handle_plus_one != 0; i = (i + 1) & mask) {
        if (((i - pool->table[i].tag) & mask) >= ((i - hole) & mask)) {
            pool->table[hole] = pool->table[i];
            hole = i;
        }
    }
    pool->table[hole].handle_plus_one = 0;
}

void blob_pool_unref(struct blob_pool *pool, struct blob *blob)
{
    g_assert(blob->references > 0);
    if (--blob->references != 0)
        return;
    table_remove(pool, blob);
    pool->blobs[blob->handle] = NULL;
    pool->free_handles[pool->free_count++] = blob->handle;
    pool->bytes -= sizeof *blob + blob->size;
    g_free(blob);
}
