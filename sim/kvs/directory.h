/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A directory under change: what it was, which stays as bytes, and the entries that differ.
 *
 *     struct directory *d = directory_open(pool, blob, &view);        or directory_copy, or directory_new
 *     directory_put(d, "a", 1, &object);
 *     directory_put_below(d, "b", 1, directory_new(pool));
 *     struct blob *blob = directory_store(d, stored, data);           the whole changed tree, bottom-up
 *     directory_free(d);
 *
 * Changing one entry of a directory of hundreds costs a copy of its bytes, not a tree of hundreds of objects. All
 * functions are local.
 */
#ifndef TIERCEL_KVS_DIRECTORY_H
#define TIERCEL_KVS_DIRECTORY_H

#include "kvs/treeobj.h"

struct directory;

/* An empty one, counted as changed: it did not exist before. */
struct directory *directory_new(struct blob_pool *pool);

/* The directory of a blob; takes a reference of its own. `view` is what treeobj_from_blob gave. Unchanged. */
struct directory *directory_open(struct blob_pool *pool, struct blob *blob, const struct treeobj *view);

/* A directory in place, and those in place within it; the bytes are copied. Counted as changed, since in the store
 * every directory is a blob of its own. */
struct directory *directory_copy(struct blob_pool *pool, const struct treeobj *view);

void directory_free(struct directory *d);

/* What stands under the name. Gives *below (with *object untouched) for a directory that is under change as well, else
 * *below NULL and the object: a view that is valid until the entry changes. False when there is nothing. */
bool directory_get(const struct directory *d, const char *name, size_t name_size, struct treeobj *object,
                   struct directory **below);

/* Replaces the entry by an object that is no directory in place; its bytes are copied. Names have 1 to
 * TREEOBJ_NAME_MAX characters. */
void directory_put(struct directory *d, const char *name, size_t name_size, const struct treeobj *object);
/* The same with a directory under change, which `d` then owns. Alone it does not make `d` a changed one. */
void directory_put_below(struct directory *d, const char *name, size_t name_size, struct directory *below);
/* Removes the entry, if it is there. */
void directory_remove(struct directory *d, const char *name, size_t name_size);

/* Makes blobs of every changed directory of the tree, bottom-up, and of every changed value that is too long to stay
 * in place; reports each through stored(data, blob), which takes over one reference. Returns the directory's own blob,
 * reported last if it changed, with one more reference for the caller. */
typedef void (*directory_stored_fn)(void *data, struct blob *blob);
struct blob *directory_store(struct directory *d, directory_stored_fn stored, void *data);

#endif
