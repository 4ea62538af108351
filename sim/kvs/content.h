/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blobs by reference: a content store, or a cache of one.
 *
 *     struct content c;
 *     content_init(&c, pool);
 *     struct blob *blob = content_put(&c, data, size, epoch, &is_new);        hashes, then inserts
 *     blob = content_insert(&c, &ref, data, size, epoch, &is_new);            when the sender has hashed already
 *     blob = content_use(&c, &ref, epoch);                                    NULL: not here, ask the parent
 *     content_expire(&c, epoch - 5, NULL, NULL);
 *     content_release(&c);
 *
 * The bytes live in a pool (kvs/blob.h) that the contents of a process share; a content keeps 8 bytes a blob beside it.
 * Give NULL for a pool of its own.
 *
 * Each blob in a content carries the epoch of its last use (heartbeats, as a rule), and a dirty mark: being stored
 * elsewhere, not yet acknowledged. Dirty blobs never expire. What to evict, and when, is the caller's rule.
 *
 * A blob that was found stays valid until it leaves the content; take a reference (blob_ref) to keep it longer.
 * All functions are local.
 */
#ifndef TIERCEL_KVS_CONTENT_H
#define TIERCEL_KVS_CONTENT_H

#include "kvs/blob.h"

struct content_slot {
    uint32_t handle_dirty;  /* 0: empty; else handle + 1, shifted left by one, and the dirty mark */
    uint32_t epoch;         /* of the last use */
};

struct content {
    struct blob_pool *pool;
    bool owns_pool;
    struct content_slot *slots;     /* open addressing by the handle; capacity is a power of two or 0 */
    uint32_t capacity;
    uint32_t shift;                 /* 32 - log2 of the capacity */
    uint32_t blobs;                 /* how many */
    uint32_t dirty;                 /* how many of them are dirty */
    uint64_t bytes;                 /* sum of their sizes */
};

void content_init(struct content *c, struct blob_pool *pool);
void content_release(struct content *c);
/* Forgets all blobs, dirty ones too. */
void content_clear(struct content *c);

/* NULL when it is not here. content_use also sets the epoch of its last use. */
struct blob *content_find(const struct content *c, const struct blobref *ref);
struct blob *content_use(struct content *c, const struct blobref *ref, uint32_t epoch);

/* Inserts a copy of the bytes, clean, or finds the blob that is there and renews its epoch; *is_new (may be NULL) says
 * which. `ref` must be the reference of the bytes. */
struct blob *content_insert(struct content *c, const struct blobref *ref, const void *data, size_t size,
                            uint32_t epoch, bool *is_new);
struct blob *content_put(struct content *c, const void *data, size_t size, uint32_t epoch, bool *is_new);
/* The same for a blob of the same pool; takes a reference of its own. */
void content_add(struct content *c, struct blob *blob, uint32_t epoch, bool *is_new);

/* False when the blob is not here. */
bool content_set_dirty(struct content *c, const struct blobref *ref, bool dirty);
bool content_is_dirty(const struct content *c, const struct blobref *ref);
bool content_remove(struct content *c, const struct blobref *ref);

/* Removes the clean blobs whose last use is before `oldest`, unless keep(data, blob) says true (keep may be NULL).
 * Returns how many went. Walks the whole content. */
typedef bool (*content_keep_fn)(void *data, const struct blob *blob);
uint32_t content_expire(struct content *c, uint32_t oldest, content_keep_fn keep, void *data);

/* Canonical: the number of blobs, then by rising reference: reference, size, epoch, dirty mark. Not the bytes: the
 * reference stands for them. */
void content_save(const struct content *c, struct bytes *sink);

#endif
