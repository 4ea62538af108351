/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blobs: immutable bytes with their reference, counted, each once a process.
 *
 * Many caches of one process hold the same blobs (every follower faults every job's directories). So their bytes live
 * in a pool that the scenario makes, one a process, and hands to every content (kvs/content.h) of that process. The
 * pool is invisible to the model: what a content finds depends only on what was put into it.
 *
 *     struct blob_pool *pool = blob_pool_new();
 *     struct blob *blob = blob_pool_take(pool, &ref, data, size);
 *     blob_ref(blob) ... blob_pool_unref(pool, blob) for each reference
 *     blob_pool_free(pool);
 *
 * All functions are local. One thread at a time.
 */
#ifndef TIERCEL_KVS_BLOB_H
#define TIERCEL_KVS_BLOB_H

#include "kvs/blobref.h"

struct blob_pool;

enum blob_form {
    BLOB_UNCHECKED,     /* nobody has looked yet */
    BLOB_DIRECTORY,     /* a valid directory object */
    BLOB_OPAQUE         /* anything else */
};

struct blob {
    struct blobref ref;
    uint32_t references;
    uint32_t size;          /* bytes */
    uint32_t handle : 30;   /* index in the pool */
    uint32_t form : 2;      /* enum blob_form, remembered by treeobj_from_blob */
    uint8_t bytes[];
};

struct blob_pool *blob_pool_new(void);
/* Every content of the pool must have been released, and every reference given back. */
void blob_pool_free(struct blob_pool *pool);
/* What the pool takes, tables included. */
size_t blob_pool_memory_bytes(const struct blob_pool *pool);
/* How many different blobs it holds. */
uint32_t blob_pool_count(const struct blob_pool *pool);
/* The blob with this reference, which stays the pool's; NULL when no one in this process has it. */
struct blob *blob_pool_find(const struct blob_pool *pool, const struct blobref *ref);
/* The blob of these bytes, found or made, with one reference for the caller. */
struct blob *blob_pool_take(struct blob_pool *pool, const struct blobref *ref, const void *data, size_t size);
void blob_pool_unref(struct blob_pool *pool, struct blob *blob);
/* The blob with this handle, which must be in use. */
struct blob *blob_pool_get(const struct blob_pool *pool, uint32_t handle);

static inline struct blob *blob_ref(struct blob *blob)
{
    blob->references++;
    return blob;
}

#endif
