/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The roots that a follower (kvs on a node other than 0) knows of.
 *
 *     struct replicas t;
 *     replicas_init(&t);
 *     struct replica *r = replicas_find(&t, "job-17");            NULL: ask the parent, then
 *     r = replicas_add(&t, "job-17", owner, sequence, &ref, heartbeat);
 *     on setroot:
 *         if (replica_advance(r, sequence, &ref, heartbeat)) ... put the root directory into the cache ...
 *         while (sequence_woken(&r->waits, r->sequence, &token)) ...
 *     at a heartbeat:
 *         replicas_reap(&t, heartbeat, names);
 *
 * Roots only move forward: a setroot whose sequence is not above the present one is ignored, except sequence 0, which
 * always applies. A missed one is not noticed: the next supersedes it. A replica goes at a heartbeat, when it was
 * marked removed and nobody waits, or, unless it is "primary", when its root has not changed for 1000 heartbeats.
 * (flux-core 0.15 to 0.17, src/modules/kvs/kvs.c.) All functions are local.
 */
#ifndef TIERCEL_KVS_REPLICAS_H
#define TIERCEL_KVS_REPLICAS_H

#include "kvs/blobref.h"
#include "kvs/sequence.h"

enum { REPLICAS_AGE_MAX = 1000 };   /* heartbeats without a change; one more and it goes */

struct replica {
    uint64_t id;                    /* in order of creation */
    char *name;
    uint32_t owner;
    bool removing;
    uint32_t held;                  /* uses by the role (transactions waiting for their answer): keeps it from going */
    uint64_t sequence;
    struct blobref root;
    uint32_t changed;               /* heartbeat of the last change */
    struct sequence_waits waits;
};

struct replicas {
    GHashTable *by_name;
    GPtrArray *order;               /* by rising id */
    uint64_t next_id;
};

void replicas_init(struct replicas *t);
void replicas_release(struct replicas *t);

/* NULL when there is none; one that is being removed is found too (look at ->removing: a use gives ENOTSUP). */
struct replica *replicas_find(const struct replicas *t, const char *name);

/* The name must not exist yet. */
struct replica *replicas_add(struct replicas *t, const char *name, uint32_t owner, uint64_t sequence,
                             const struct blobref *root, uint32_t heartbeat);

/* False when it was ignored. */
bool replica_advance(struct replica *r, uint64_t sequence, const struct blobref *root, uint32_t heartbeat);

uint32_t replicas_count(const struct replicas *t);

/* Removes what can go and appends the names (the caller's, g_free) in order of creation. */
void replicas_reap(struct replicas *t, uint32_t heartbeat, GPtrArray *names);

/* Canonical, in order of creation. */
void replicas_save(const struct replicas *t, struct bytes *sink);

#endif
