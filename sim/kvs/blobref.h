/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * References to blobs: the SHA-1 of their bytes, 20 bytes in memory and in canonical bytes, "sha1-" and 40 lower-case
 * hex digits as text. Equal bytes have equal references, and the model relies on the reverse too, as the real store
 * does. All functions are local and cannot fail unless they say so.
 */
#ifndef TIERCEL_KVS_BLOBREF_H
#define TIERCEL_KVS_BLOBREF_H

#include <glib.h>

#include "base/bytes.h"

enum {
    BLOBREF_SIZE = 20,
    BLOBREF_TEXT_SIZE = 5 + 2 * BLOBREF_SIZE + 1    /* with the terminator */
};

struct blobref {
    uint8_t bytes[BLOBREF_SIZE];
};

/* The reference of `size` bytes (0 is allowed; `data` may be NULL then). */
struct blobref blobref_of(const void *data, size_t size);

/* Below, equal to or above 0, by the bytes: the canonical order. */
static inline int blobref_compare(const struct blobref *a, const struct blobref *b)
{
    return memcmp(a->bytes, b->bytes, BLOBREF_SIZE);
}

static inline bool blobref_equal(const struct blobref *a, const struct blobref *b)
{
    return blobref_compare(a, b) == 0;
}

/* 64 bits of the reference: already uniform, so good for any hash table. Never shows in output or order. */
static inline uint64_t blobref_key(const struct blobref *ref)
{
    uint64_t key;
    memcpy(&key, ref->bytes, sizeof key);
    return key;
}

/* The same two for GHashTable; the keys are `struct blobref *`. */
guint blobref_hash(gconstpointer ref);
gboolean blobref_same(gconstpointer a, gconstpointer b);

void blobref_to_text(const struct blobref *ref, char text[BLOBREF_TEXT_SIZE]);

/* False, with *ref untouched, when `text` is not exactly such a text (upper-case digits are refused: one reference has
 * one text). */
bool blobref_from_text(struct blobref *ref, const char *text);

static inline void blobref_put(struct bytes *b, const struct blobref *ref)
{
    bytes_put(b, ref->bytes, BLOBREF_SIZE);
}

/* All zero past the end; see cursor_ok. */
static inline struct blobref blobref_get(struct cursor *c)
{
    struct blobref ref;
    cursor_get(c, ref.bytes, BLOBREF_SIZE);
    return ref;
}

#endif
