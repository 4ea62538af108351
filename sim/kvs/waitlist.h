/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who waits for which blob: one request a blob, whatever the number of waiters.
 *
 *     if (waitlist_add(&w, &ref, token))
 *         ... first waiter: send the load (or store) request ...
 *     on the reply:
 *         GArray *tokens = waitlist_take(&w, &ref);       of uint64_t, in the order in which they came
 *         ... wake each; g_array_unref(tokens) ...
 *
 * A token is the caller's: a lookup's number, a namespace's id, an actor. All functions are local.
 */
#ifndef TIERCEL_KVS_WAITLIST_H
#define TIERCEL_KVS_WAITLIST_H

#include "kvs/blobref.h"

struct waitlist {
    GHashTable *lists;      /* struct blobref * -> GArray of uint64_t */
};

void waitlist_init(struct waitlist *w);
void waitlist_release(struct waitlist *w);

/* True when nobody waited for this blob before. */
bool waitlist_add(struct waitlist *w, const struct blobref *ref, uint64_t token);

/* The waiters for a blob, who are then forgotten; NULL when there are none. The caller owns the array. */
GArray *waitlist_take(struct waitlist *w, const struct blobref *ref);

/* Canonical: the number of blobs, then by rising reference: reference, number of tokens, tokens in their order. */
void waitlist_save(const struct waitlist *w, struct bytes *sink);

#endif
