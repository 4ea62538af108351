/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tree objects: what a directory of the key-value store holds under a name (Flux RFC 11).
 *
 *     value                 the bytes, in place
 *     value reference       a list of blobs whose bytes, one after the other, are the value
 *     directory             names and objects, in place
 *     directory reference   the blob of a directory
 *     symlink               another key, optionally in another namespace
 *
 * An object exists only as canonical bytes, and `struct treeobj` is a view into them: nothing is parsed into a tree,
 * looking a name up is a binary search in the bytes of the blob. Equal objects have equal bytes, so equal references.
 *
 *     bytes of an object: type (8 bits), then
 *         value                 size (32 bits), the bytes
 *         value reference       size = 20 x count (32 bits), the references
 *         directory             size (32 bits); count (32 bits), count offsets (32 bits each, from the count on),
 *                               entries: length of the name (8 bits, above 0), name, object; by rising name
 *         directory reference   the reference
 *         symlink               size (32 bits); length of the namespace (16 bits, 0: the same one), namespace, key
 *
 * Names hold no '.' and no NUL and are ordered by their bytes. Whatever comes from outside goes through treeobj_read or
 * treeobj_from_blob first, which check it to the bottom; all else may then rely on it. All functions are local.
 */
#ifndef TIERCEL_KVS_TREEOBJ_H
#define TIERCEL_KVS_TREEOBJ_H

#include "kvs/content.h"

enum treeobj_type {
    TREEOBJ_VALUE = 1,
    TREEOBJ_VALUE_REFERENCE = 2,
    TREEOBJ_DIRECTORY = 3,
    TREEOBJ_DIRECTORY_REFERENCE = 4,
    TREEOBJ_SYMLINK = 5
};

enum {
    TREEOBJ_NAME_MAX = 255,         /* characters of one name */
    TREEOBJ_DEPTH_MAX = 64,         /* directories in place within one another */
    TREEOBJ_IN_PLACE_MAX = 54       /* raw bytes of a value that stays in its directory: 72 characters of base64 */
};

struct treeobj {
    enum treeobj_type type;
    uint32_t size;          /* of data: what follows the type and size */
    const uint8_t *data;
};

/* The next object of the cursor. False when its bytes are not a valid object; the cursor has failed then. */
bool treeobj_read(struct cursor *c, struct treeobj *object);

/* The directory that a blob holds; false when it holds something else. The blob remembers the answer. */
bool treeobj_from_blob(struct blob *blob, struct treeobj *directory);

/* Writing. Directories are written by directory.h; treeobj_put copies any object that was read. */
void treeobj_put(struct bytes *b, const struct treeobj *object);
void treeobj_put_value(struct bytes *b, const void *data, size_t size);
void treeobj_put_value_reference(struct bytes *b, const struct blobref *refs, uint32_t count);
void treeobj_put_directory_reference(struct bytes *b, const struct blobref *ref);
void treeobj_put_symlink(struct bytes *b, const char *namespace_name, const char *key);    /* namespace or NULL */
void treeobj_put_empty_directory(struct bytes *b);

/* The reference of the empty directory: the root of every new namespace. */
struct blobref treeobj_empty_reference(void);

/* Reference `index` of a value reference or directory reference; how many there are. */
struct blobref treeobj_reference(const struct treeobj *object, uint32_t index);
uint32_t treeobj_reference_count(const struct treeobj *object);

/* A symlink's two texts, in place and without terminators; *namespace_size is 0 for a link within its namespace. */
void treeobj_symlink(const struct treeobj *object, const char **namespace_name, size_t *namespace_size,
                     const char **key, size_t *key_size);

/* The order of names: below, 0 or above 0, as memcmp. */
static inline int treeobj_name_compare(const void *a, size_t a_size, const void *b, size_t b_size)
{
    int order = memcmp(a, b, MIN(a_size, b_size));
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

/* A directory's entries, by rising name. treeobj_find: false when there is no such name. */
uint32_t treeobj_count(const struct treeobj *directory);
void treeobj_entry(const struct treeobj *directory, uint32_t index, const char **name, size_t *name_size,
                   struct treeobj *object);
bool treeobj_find(const struct treeobj *directory, const char *name, size_t name_size, struct treeobj *object);

#endif
