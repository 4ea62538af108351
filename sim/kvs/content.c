/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/content.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 16 };

static inline struct blob *slot_blob(const struct content *c, const struct content_slot *slot)
{
    return blob_pool_get(c->pool, (slot->handle_dirty >> 1) - 1);
}

static inline bool slot_dirty(const struct content_slot *slot)
{
    return (slot->handle_dirty & 1) != 0;
}

static inline uint32_t home_of(const struct content *c, uint32_t handle)
{
    /* Handles are given out one after the other: a multiplication (by 2^32 over the golden ratio) spreads them. */
    return (handle * 2654435769u) >> c->shift;
}

/* Where the blob with this handle is, or would go; the table must have an empty slot. Blobs of the pool are told apart
 * by their handles, so no blob is looked at. */
static struct content_slot *slot_of(const struct content *c, uint32_t handle)
{
    uint32_t mask = c->capacity - 1;
    uint32_t i = home_of(c, handle);
    while (c->slots[i].handle_dirty != 0 && c->slots[i].handle_dirty >> 1 != handle + 1)
        i = (i + 1) & mask;
    return &c->slots[i];
}

static struct content_slot *slot_of_blob(const struct content *c, const struct blob *blob)
{
    if (blob == NULL || c->blobs == 0)
        return NULL;
    struct content_slot *slot = slot_of(c, blob->handle);
    return slot->handle_dirty != 0 ? slot : NULL;
}

static struct content_slot *slot_find(const struct content *c, const struct blobref *ref)
{
    return c->blobs == 0 ? NULL : slot_of_blob(c, blob_pool_find(c->pool, ref));
}

static void table_resize(struct content *c, uint32_t capacity)
{
    struct content_slot *old = c->slots;
    uint32_t old_capacity = c->capacity;
    c->capacity = capacity;
    c->shift = 32 - (uint32_t)g_bit_nth_lsf(capacity, -1);
    c->slots = g_new0(struct content_slot, capacity);
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i].handle_dirty != 0)
            *slot_of(c, (old[i].handle_dirty >> 1) - 1) = old[i];
    g_free(old);
}

void content_init(struct content *c, struct blob_pool *pool)
{
    *c = (struct content){ .pool = pool };
    if (pool == NULL) {
        c->pool = blob_pool_new();
        c->owns_pool = true;
    }
}

void content_clear(struct content *c)
{
    for (uint32_t i = 0; i < c->capacity; i++)
        if (c->slots[i].handle_dirty != 0)
            blob_pool_unref(c->pool, slot_blob(c, &c->slots[i]));
    g_free(c->slots);
    c->slots = NULL;
    c->capacity = c->blobs = c->dirty = 0;
    c->bytes = 0;
}

void content_release(struct content *c)
{
    if (c->pool == NULL)
        return;
    content_clear(c);
    if (c->owns_pool)
        blob_pool_free(c->pool);
    *c = (struct content){ 0 };
}

struct blob *content_find(const struct content *c, const struct blobref *ref)
{
    const struct content_slot *slot = slot_find(c, ref);
    return slot == NULL ? NULL : slot_blob(c, slot);
}

struct blob *content_use(struct content *c, const struct blobref *ref, uint32_t epoch)
{
    struct content_slot *slot = slot_find(c, ref);
    if (slot == NULL)
        return NULL;
    slot->epoch = epoch;
    return slot_blob(c, slot);
}

/* Takes over one reference of the blob, which is not here yet. */
static void insert_new(struct content *c, struct blob *blob, uint32_t epoch)
{
    if (c->blobs >= c->capacity / 4 * 3)
        table_resize(c, c->capacity == 0 ? FIRST_CAPACITY : c->capacity * 2);
    *slot_of(c, blob->handle) = (struct content_slot){ (blob->handle + 1u) << 1, epoch };
    c->blobs++;
    c->bytes += blob->size;
}

/* Takes over one reference of the blob. */
static struct blob *insert(struct content *c, struct blob *blob, uint32_t epoch, bool *is_new)
{
    struct content_slot *slot = slot_of_blob(c, blob);
    if (is_new != NULL)
        *is_new = slot == NULL;
    if (slot != NULL) {
        slot->epoch = epoch;
        blob_pool_unref(c->pool, blob);
    } else {
        insert_new(c, blob, epoch);
    }
    return blob;
}

struct blob *content_insert(struct content *c, const struct blobref *ref, const void *data, size_t size,
                            uint32_t epoch, bool *is_new)
{
    return insert(c, blob_pool_take(c->pool, ref, data, size), epoch, is_new);
}

struct blob *content_put(struct content *c, const void *data, size_t size, uint32_t epoch, bool *is_new)
{
    struct blobref ref = blobref_of(data, size);
    return content_insert(c, &ref, data, size, epoch, is_new);
}

void content_add(struct content *c, struct blob *blob, uint32_t epoch, bool *is_new)
{
    g_assert(blob_pool_get(c->pool, blob->handle) == blob);
    insert(c, blob_ref(blob), epoch, is_new);
}

bool content_set_dirty(struct content *c, const struct blobref *ref, bool dirty)
{
    struct content_slot *slot = slot_find(c, ref);
    if (slot == NULL)
        return false;
    c->dirty += (uint32_t)dirty - (uint32_t)slot_dirty(slot);
    slot->handle_dirty = (slot->handle_dirty & ~1u) | dirty;
    return true;
}

bool content_is_dirty(const struct content *c, const struct blobref *ref)
{
    const struct content_slot *slot = slot_find(c, ref);
    return slot != NULL && slot_dirty(slot);
}

/* What a blob's leaving changes, but for its slot. */
static void forget(struct content *c, const struct content_slot *slot)
{
    struct blob *blob = slot_blob(c, slot);
    c->blobs--;
    c->dirty -= slot_dirty(slot);
    c->bytes -= blob->size;
    blob_pool_unref(c->pool, blob);
}

bool content_remove(struct content *c, const struct blobref *ref)
{
    const struct content_slot *found = slot_find(c, ref);
    if (found == NULL)
        return false;
    uint32_t mask = c->capacity - 1;
    uint32_t hole = (uint32_t)(found - c->slots);
    forget(c, found);
    /* Later members of the run move up, so that no search ends too early. */
    for (uint32_t i = (hole + 1) & mask; c->slots[i].handle_dirty != 0; i = (i + 1) & mask) {
        uint32_t home = home_of(c, (c->slots[i].handle_dirty >> 1) - 1);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            c->slots[hole] = c->slots[i];
            hole = i;
        }
    }
    c->slots[hole] = (struct content_slot){ 0, 0 };
    return true;
}

uint32_t content_expire(struct content *c, uint32_t oldest, content_keep_fn keep, void *data)
{
    uint32_t before = c->blobs;
    for (uint32_t i = 0; i < c->capacity; i++) {
        struct content_slot *slot = &c->slots[i];
        if (slot->handle_dirty == 0 || slot_dirty(slot) || slot->epoch >= oldest ||
            (keep != NULL && keep(data, slot_blob(c, slot))))
            continue;
        forget(c, slot);
        slot->handle_dirty = 0;
    }
    if (c->blobs != before) {
        /* The holes broke the runs: all find their place again. */
        uint32_t capacity = FIRST_CAPACITY;
        while (c->blobs >= capacity / 4 * 3)
            capacity *= 2;
        table_resize(c, capacity);
    }
    return before - c->blobs;
}

struct saved {
    uint64_t order;     /* the first eight bytes of the reference, as a big number: orders most pairs alone */
    const struct content_slot *slot;
    const struct blob *blob;
};

static int compare_saved(const void *a, const void *b)
{
    const struct saved *x = a;
    const struct saved *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return blobref_compare(&x->blob->ref, &y->blob->ref);
}

void content_save(const struct content *c, struct bytes *sink)
{
    struct saved *sorted = g_new(struct saved, c->blobs);
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->capacity; i++) {
        if (c->slots[i].handle_dirty == 0)
            continue;
        const struct blob *blob = slot_blob(c, &c->slots[i]);
        sorted[count++] = (struct saved){ GUINT64_FROM_BE(blobref_key(&blob->ref)), &c->slots[i], blob };
    }
    if (count > 1)      /* without blobs there is no array */
        qsort(sorted, count, sizeof *sorted, compare_saved);
    bytes_put_u32(sink, count);
    for (uint32_t i = 0; i < count; i++) {
        blobref_put(sink, &sorted[i].blob->ref);
        bytes_put_u32(sink, sorted[i].blob->size);
        bytes_put_u32(sink, sorted[i].slot->epoch);
        bytes_put_u8(sink, slot_dirty(sorted[i].slot));
    }
    g_free(sorted);
}
