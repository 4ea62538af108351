/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/content.h"

enum { FIRST_CAPACITY = 16 };

static inline struct blob *slot_blob(const struct content *c, const struct content_slot *slot)
{
    return blob_pool_get(c->pool, (slot->handle_dirty >> 1) - 1);
}

static inline bool slot_dirty(const struct content_slot *slot)
{
    return (slot->handle_dirty & 1) != 0;
}

/* Where the reference is, or would go; the table must not be empty of slots. */
static struct content_slot *slot_of(const struct content *c, const struct blobref *ref)
{
    uint32_t mask = c->capacity - 1;
    uint32_t slot = (uint32_t)blobref_key(ref) & mask;
    while (c->slots[slot].handle_dirty != 0 && !blobref_equal(&slot_blob(c, &c->slots[slot])->ref, ref))
        slot = (slot + 1) & mask;
    return &c->slots[slot];
}

static struct content_slot *slot_find(const struct content *c, const struct blobref *ref)
{
    if (c->blobs == 0)
        return NULL;
    struct content_slot *slot = slot_of(c, ref);
    return slot->handle_dirty != 0 ? slot : NULL;
}

static void table_resize(struct content *c, uint32_t capacity)
{
    struct content_slot *old = c->slots;
    uint32_t old_capacity = c->capacity;
    c->capacity = capacity;
    c->slots = g_new0(struct content_slot, capacity);
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i].handle_dirty != 0)
            *slot_of(c, &slot_blob(c, &old[i])->ref) = old[i];
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
    *slot_of(c, &blob->ref) = (struct content_slot){ (blob->handle + 1) << 1, epoch };
    c->blobs++;
    c->bytes += blob->size;
}

static inline void tell(bool *is_new, bool value)
{
    if (is_new != NULL)
        *is_new = value;
}

struct blob *content_insert(struct content *c, const struct blobref *ref, const void *data, size_t size,
                            uint32_t epoch, bool *is_new)
{
    struct blob *blob = content_use(c, ref, epoch);
    tell(is_new, blob == NULL);
    if (blob == NULL) {
        blob = blob_pool_take(c->pool, ref, data, size);
        insert_new(c, blob, epoch);
    }
    return blob;
}

struct blob *content_put(struct content *c, const void *data, size_t size, uint32_t epoch, bool *is_new)
{
    struct blobref ref = blobref_of(data, size);
    return content_insert(c, &ref, data, size, epoch, is_new);
}

void content_add(struct content *c, struct blob *blob, uint32_t epoch, bool *is_new)
{
    g_assert(blob_pool_get(c->pool, blob->handle) == blob);
    bool absent = content_use(c, &blob->ref, epoch) == NULL;
    tell(is_new, absent);
    if (absent)
        insert_new(c, blob_ref(blob), epoch);
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
        uint32_t home = (uint32_t)blobref_key(&slot_blob(c, &c->slots[i])->ref) & mask;
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

static int compare_slots(gconstpointer a, gconstpointer b, gpointer data)
{
    return blobref_compare(&slot_blob(data, *(struct content_slot *const *)a)->ref,
                           &slot_blob(data, *(struct content_slot *const *)b)->ref);
}

void content_save(const struct content *c, struct bytes *sink)
{
    GPtrArray *sorted = g_ptr_array_sized_new(c->blobs);
    for (uint32_t i = 0; i < c->capacity; i++)
        if (c->slots[i].handle_dirty != 0)
            g_ptr_array_add(sorted, &c->slots[i]);
    g_ptr_array_sort_with_data(sorted, compare_slots, (gpointer)c);
    bytes_put_u32(sink, c->blobs);
    for (guint i = 0; i < sorted->len; i++) {
        const struct content_slot *slot = sorted->pdata[i];
        const struct blob *blob = slot_blob(c, slot);
        blobref_put(sink, &blob->ref);
        bytes_put_u32(sink, blob->size);
        bytes_put_u32(sink, slot->epoch);
        bytes_put_u8(sink, slot_dirty(slot));
    }
    g_ptr_array_free(sorted, TRUE);
}
