/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/directory.h"

/* An entry that differs from the base. Both object.size == 0 and below == NULL: removed. */
struct change {
    struct directory *below;
    struct bytes object;
    uint8_t name_size;
    char name[];
};

struct directory {
    struct blob_pool *pool;
    struct blob *blob;          /* the base is this blob's; NULL: there is none, or it is in `copy` */
    struct treeobj base;        /* only when has_base */
    bool has_base;
    bool changed;               /* not counting what is below */
    GPtrArray *changes;         /* of struct change, by name */
};

static void change_clear(struct change *change)
{
    directory_free(change->below);
    change->below = NULL;
    bytes_release(&change->object);
}

static void change_free(gpointer change)
{
    change_clear(change);
    g_free(change);
}

struct directory *directory_new(struct blob_pool *pool)
{
    struct directory *d = g_new0(struct directory, 1);
    d->pool = pool;
    d->changed = true;
    d->changes = g_ptr_array_new_with_free_func(change_free);
    return d;
}

struct directory *directory_open(struct blob_pool *pool, struct blob *blob, const struct treeobj *view)
{
    struct directory *d = directory_new(pool);
    d->blob = blob_ref(blob);
    d->base = *view;
    d->has_base = true;
    d->changed = false;
    return d;
}

struct directory *directory_copy(struct blob_pool *pool, const struct treeobj *view)
{
    struct directory *d = directory_new(pool);
    uint32_t count = treeobj_count(view);
    for (uint32_t i = 0; i < count; i++) {
        const char *name;
        size_t name_size;
        struct treeobj object;
        treeobj_entry(view, i, &name, &name_size, &object);
        if (object.type == TREEOBJ_DIRECTORY)
            directory_put_below(d, name, name_size, directory_copy(pool, &object));
        else
            directory_put(d, name, name_size, &object);
    }
    return d;
}

void directory_free(struct directory *d)
{
    if (d == NULL)
        return;
    g_ptr_array_free(d->changes, TRUE);
    if (d->blob != NULL)
        blob_pool_unref(d->pool, d->blob);
    g_free(d);
}

/* The index of the name's change, or where it belongs. */
static bool change_search(const struct directory *d, const char *name, size_t name_size, guint *index)
{
    guint low = 0;
    guint high = d->changes->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        const struct change *change = d->changes->pdata[middle];
        int order = treeobj_name_compare(name, name_size, change->name, change->name_size);
        if (order == 0) {
            *index = middle;
            return true;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    *index = low;
    return false;
}

/* The name's change, emptied, made when there is none yet. */
static struct change *change_take(struct directory *d, const char *name, size_t name_size)
{
    guint index;
    g_assert(name_size >= 1 && name_size <= TREEOBJ_NAME_MAX);
    if (change_search(d, name, name_size, &index)) {
        change_clear(d->changes->pdata[index]);
        return d->changes->pdata[index];
    }
    struct change *change = g_malloc0(sizeof *change + name_size);
    change->name_size = (uint8_t)name_size;
    memcpy(change->name, name, name_size);
    g_ptr_array_insert(d->changes, (gint)index, change);
    return change;
}

bool directory_get(const struct directory *d, const char *name, size_t name_size, struct treeobj *object,
                   struct directory **below)
{
    guint index;
    *below = NULL;
    if (change_search(d, name, name_size, &index)) {
        const struct change *change = d->changes->pdata[index];
        *below = change->below;
        if (change->below != NULL)
            return true;
        struct cursor c = cursor_init(change->object.data, change->object.size);
        return change->object.size != 0 && treeobj_read(&c, object);
    }
    return d->has_base && treeobj_find(&d->base, name, name_size, object);
}

void directory_put(struct directory *d, const char *name, size_t name_size, const struct treeobj *object)
{
    g_assert(object->type != TREEOBJ_DIRECTORY);
    /* The object may be a view into the entry that it replaces. */
    struct bytes copy = BYTES_INIT;
    treeobj_put(&copy, object);
    change_take(d, name, name_size)->object = copy;
    d->changed = true;
}

void directory_put_below(struct directory *d, const char *name, size_t name_size, struct directory *below)
{
    change_take(d, name, name_size)->below = below;
}

void directory_remove(struct directory *d, const char *name, size_t name_size)
{
    change_take(d, name, name_size);
    d->changed = true;
}

/* --- storing --- */

struct storing {
    directory_stored_fn stored;
    void *data;
};

static struct blob *store_bytes(struct directory *d, const void *bytes, size_t size, const struct storing *storing)
{
    struct blobref ref = blobref_of(bytes, size);
    struct blob *blob = blob_pool_take(d->pool, &ref, bytes, size);
    storing->stored(storing->data, blob_ref(blob));
    return blob;
}

/* Directories below and long values become references. */
static void change_settle(struct directory *d, struct change *change, const struct storing *storing)
{
    struct blob *blob = NULL;
    enum treeobj_type type = TREEOBJ_DIRECTORY_REFERENCE;
    if (change->below != NULL) {
        blob = directory_store(change->below, storing->stored, storing->data);
    } else if (change->object.size != 0) {
        struct cursor c = cursor_init(change->object.data, change->object.size);
        struct treeobj object;
        treeobj_read(&c, &object);
        type = TREEOBJ_VALUE_REFERENCE;
        if (object.type == TREEOBJ_VALUE && object.size > TREEOBJ_IN_PLACE_MAX)
            blob = store_bytes(d, object.data, object.size, storing);
    }
    if (blob == NULL)
        return;
    change_clear(change);
    if (type == TREEOBJ_VALUE_REFERENCE)
        treeobj_put_value_reference(&change->object, &blob->ref, 1);
    else
        treeobj_put_directory_reference(&change->object, &blob->ref);
    blob_pool_unref(d->pool, blob);
}

static void write_entry(struct bytes *entries, GArray *offsets, const char *name, size_t name_size, const void *object,
                        size_t object_size)
{
    uint32_t offset = (uint32_t)entries->size;
    g_array_append_val(offsets, offset);
    bytes_put_u8(entries, (uint8_t)name_size);
    bytes_put(entries, name, name_size);
    bytes_put(entries, object, object_size);
}

/* Base and changes side by side, both by rising name. */
static void write_entries(const struct directory *d, struct bytes *entries, GArray *offsets)
{
    uint32_t base_count = d->has_base ? treeobj_count(&d->base) : 0;
    uint32_t i = 0;
    guint j = 0;
    while (i < base_count || j < d->changes->len) {
        const struct change *change = j < d->changes->len ? d->changes->pdata[j] : NULL;
        const char *name;
        size_t name_size;
        struct treeobj object;
        int order = 1;
        if (i < base_count) {
            treeobj_entry(&d->base, i, &name, &name_size, &object);
            order = change == NULL ? -1 : treeobj_name_compare(name, name_size, change->name, change->name_size);
        }
        if (order < 0) {
            size_t start = object.type == TREEOBJ_DIRECTORY_REFERENCE ? 1 : 5;
            write_entry(entries, offsets, name, name_size, object.data - start, object.size + start);
        } else if (change->object.size != 0) {
            write_entry(entries, offsets, change->name, change->name_size, change->object.data, change->object.size);
        }
        i += order <= 0;
        j += order >= 0;
    }
}

static void write_directory(const struct directory *d, struct bytes *b)
{
    struct bytes entries = BYTES_INIT;
    GArray *offsets = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    write_entries(d, &entries, offsets);
    uint32_t head = 4 + 4 * offsets->len;
    g_assert(entries.size <= UINT32_MAX - head);
    bytes_put_u8(b, TREEOBJ_DIRECTORY);
    bytes_put_u32(b, (uint32_t)(head + entries.size));
    bytes_put_u32(b, offsets->len);
    for (guint i = 0; i < offsets->len; i++)
        bytes_put_u32(b, head + g_array_index(offsets, uint32_t, i));
    bytes_put(b, entries.data, entries.size);
    g_array_free(offsets, TRUE);
    bytes_release(&entries);
}

static bool is_changed(const struct directory *d)
{
    if (d->changed)
        return true;
    for (guint i = 0; i < d->changes->len; i++) {
        const struct change *change = d->changes->pdata[i];
        if (change->below != NULL && is_changed(change->below))
            return true;
    }
    return false;
}

struct blob *directory_store(struct directory *d, directory_stored_fn stored, void *data)
{
    if (!is_changed(d))
        return blob_ref(d->blob);
    const struct storing storing = { stored, data };
    for (guint i = 0; i < d->changes->len; i++)
        change_settle(d, d->changes->pdata[i], &storing);
    struct bytes b = BYTES_INIT;
    write_directory(d, &b);
    struct blob *blob = store_bytes(d, b.data, b.size, &storing);
    blob->form = BLOB_DIRECTORY;
    bytes_release(&b);
    return blob;
}
