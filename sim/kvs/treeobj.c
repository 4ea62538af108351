/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/treeobj.h"

static uint32_t u32_at(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static bool object_read(struct cursor *c, struct treeobj *object, unsigned depth);

static bool name_valid(const uint8_t *name, size_t size)
{
    return name != NULL && size != 0 && memchr(name, '.', size) == NULL && memchr(name, '\0', size) == NULL;
}

/* Entries must stand one behind the other where the offsets say, by rising name, and fill the body. */
static bool directory_valid(const uint8_t *data, uint32_t size, unsigned depth)
{
    struct cursor c = cursor_init(data, size);
    uint32_t count = cursor_u32(&c);
    if (!cursor_ok(&c) || count > (size - 4) / 4 || depth == TREEOBJ_DEPTH_MAX)
        return false;
    cursor_take(&c, (size_t)count * 4);
    const uint8_t *before = NULL;
    size_t before_size = 0;
    for (uint32_t i = 0; i < count; i++) {
        if ((size_t)(c.at - data) != u32_at(data + 4 + 4 * i))
            return false;
        size_t name_size = cursor_u8(&c);
        const uint8_t *name = cursor_take(&c, name_size);
        struct treeobj entry;
        if (!name_valid(name, name_size) || !object_read(&c, &entry, depth + 1))
            return false;
        if (before != NULL && treeobj_name_compare(before, before_size, name, name_size) >= 0)
            return false;
        before = name;
        before_size = name_size;
    }
    return cursor_done(&c);
}

static bool symlink_valid(const uint8_t *data, uint32_t size)
{
    struct cursor c = cursor_init(data, size);
    size_t namespace_size = cursor_u16(&c);
    cursor_take(&c, namespace_size);
    return cursor_ok(&c) && c.at != c.end && memchr(data + 2, '\0', size - 2) == NULL;
}

static bool object_read(struct cursor *c, struct treeobj *object, unsigned depth)
{
    object->type = cursor_u8(c);
    object->size = object->type == TREEOBJ_DIRECTORY_REFERENCE ? BLOBREF_SIZE : cursor_u32(c);
    object->data = cursor_take(c, object->size);
    bool valid = false;
    if (object->data != NULL) {
        switch (object->type) {
        case TREEOBJ_VALUE:
        case TREEOBJ_DIRECTORY_REFERENCE:
            valid = true;
            break;
        case TREEOBJ_VALUE_REFERENCE:
            valid = object->size % BLOBREF_SIZE == 0 && object->size != 0;
            break;
        case TREEOBJ_DIRECTORY:
            valid = directory_valid(object->data, object->size, depth);
            break;
        case TREEOBJ_SYMLINK:
            valid = symlink_valid(object->data, object->size);
            break;
        }
    }
    if (!valid)
        c->failed = true;
    return valid;
}

bool treeobj_read(struct cursor *c, struct treeobj *object)
{
    return object_read(c, object, 0);
}

/* The view of an object that is known to be valid. */
static struct treeobj object_at(const uint8_t *at)
{
    struct treeobj object = { .type = *at };
    if (object.type == TREEOBJ_DIRECTORY_REFERENCE) {
        object.size = BLOBREF_SIZE;
        object.data = at + 1;
    } else {
        object.size = u32_at(at + 1);
        object.data = at + 5;
    }
    return object;
}

bool treeobj_from_blob(struct blob *blob, struct treeobj *directory)
{
    if (blob->form == BLOB_UNCHECKED) {
        struct cursor c = cursor_init(blob->bytes, blob->size);
        bool valid = treeobj_read(&c, directory) && cursor_done(&c) && directory->type == TREEOBJ_DIRECTORY;
        blob->form = valid ? BLOB_DIRECTORY : BLOB_OPAQUE;
    }
    if (blob->form == BLOB_OPAQUE)
        return false;
    *directory = object_at(blob->bytes);
    return true;
}

void treeobj_put(struct bytes *b, const struct treeobj *object)
{
    bytes_put_u8(b, (uint8_t)object->type);
    if (object->type != TREEOBJ_DIRECTORY_REFERENCE)
        bytes_put_u32(b, object->size);
    bytes_put(b, object->data, object->size);
}

void treeobj_put_value(struct bytes *b, const void *data, size_t size)
{
    g_assert(size <= UINT32_MAX);
    bytes_put_u8(b, TREEOBJ_VALUE);
    bytes_put_span(b, data, size);
}

void treeobj_put_value_reference(struct bytes *b, const struct blobref *refs, uint32_t count)
{
    g_assert(count != 0);
    bytes_put_u8(b, TREEOBJ_VALUE_REFERENCE);
    bytes_put_span(b, refs, (size_t)count * BLOBREF_SIZE);
}

void treeobj_put_directory_reference(struct bytes *b, const struct blobref *ref)
{
    bytes_put_u8(b, TREEOBJ_DIRECTORY_REFERENCE);
    blobref_put(b, ref);
}

void treeobj_put_symlink(struct bytes *b, const char *namespace_name, const char *key)
{
    size_t namespace_size = namespace_name == NULL ? 0 : strlen(namespace_name);
    size_t key_size = strlen(key);
    g_assert(namespace_size <= UINT16_MAX && key_size != 0);
    bytes_put_u8(b, TREEOBJ_SYMLINK);
    bytes_put_u32(b, (uint32_t)(2 + namespace_size + key_size));
    bytes_put_u16(b, (uint16_t)namespace_size);
    bytes_put(b, namespace_name, namespace_size);
    bytes_put(b, key, key_size);
}

void treeobj_put_empty_directory(struct bytes *b)
{
    bytes_put_u8(b, TREEOBJ_DIRECTORY);
    bytes_put_u32(b, 4);
    bytes_put_u32(b, 0);
}

struct blobref treeobj_empty_reference(void)
{
    struct bytes b = BYTES_INIT;
    treeobj_put_empty_directory(&b);
    struct blobref ref = blobref_of(b.data, b.size);
    bytes_release(&b);
    return ref;
}

uint32_t treeobj_reference_count(const struct treeobj *object)
{
    g_assert(object->type == TREEOBJ_VALUE_REFERENCE || object->type == TREEOBJ_DIRECTORY_REFERENCE);
    return object->size / BLOBREF_SIZE;
}

struct blobref treeobj_reference(const struct treeobj *object, uint32_t index)
{
    struct blobref ref;
    g_assert(index < treeobj_reference_count(object));
    memcpy(ref.bytes, object->data + (size_t)index * BLOBREF_SIZE, BLOBREF_SIZE);
    return ref;
}

void treeobj_symlink(const struct treeobj *object, const char **namespace_name, size_t *namespace_size,
                     const char **key, size_t *key_size)
{
    uint16_t size;
    g_assert(object->type == TREEOBJ_SYMLINK);
    memcpy(&size, object->data, sizeof size);
    *namespace_name = (const char *)object->data + 2;
    *namespace_size = size;
    *key = (const char *)object->data + 2 + size;
    *key_size = object->size - 2 - size;
}

uint32_t treeobj_count(const struct treeobj *directory)
{
    g_assert(directory->type == TREEOBJ_DIRECTORY);
    return u32_at(directory->data);
}

void treeobj_entry(const struct treeobj *directory, uint32_t index, const char **name, size_t *name_size,
                   struct treeobj *object)
{
    g_assert(index < treeobj_count(directory));
    const uint8_t *at = directory->data + u32_at(directory->data + 4 + 4 * (size_t)index);
    *name_size = *at;
    *name = (const char *)at + 1;
    *object = object_at(at + 1 + *name_size);
}

bool treeobj_find(const struct treeobj *directory, const char *name, size_t name_size, struct treeobj *object)
{
    uint32_t low = 0;
    uint32_t high = treeobj_count(directory);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const char *other;
        size_t other_size;
        treeobj_entry(directory, middle, &other, &other_size, object);
        int order = treeobj_name_compare(name, name_size, other, other_size);
        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}
