/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Named fences and waits for a version, as node 0's kvs serves them (flux-core 0.15 to 0.17, src/modules/kvs/kvs.c).
 *
 * A fence is one transaction of several participants: each sends its operations under the fence's name, and when as
 * many as it states have come, all operations are applied at once and all are answered. A wait for a version is
 * answered when the namespace's root has reached that sequence. Both ask for the namespace as a user: only its owner
 * and the instance's may. Where they end:
 *
 *     participants or flags are not those of the first                    EINVAL, to that one
 *     more come than the fence states, while it is being applied          EOVERFLOW, to that one
 *     another user than the namespace's owner or the instance's           EPERM
 *     the namespace is unknown, or is removed first                       ENOTSUP
 *
 * Local to the kvs on node 0, which calls these from its handlers.
 */
#ifndef TIERCEL_RANKS_KVS_FENCE_H
#define TIERCEL_RANKS_KVS_FENCE_H

#include "kvs/event.h"
#include "kvs/namespaces.h"
#include "ranks/pending.h"
#include "ranks/route.h"

struct kvs_fences {
    GTree *by_name;             /* "namespace\nfence" -> struct fence, until it is answered */
    struct pending complete;    /* those being applied; tag: the transaction's counter. They belong to by_name */
    struct pending syncs;       /* struct envelope of who waits for a version; tag: the token */
};

void kvs_fences_init(struct kvs_fences *f);
void kvs_fences_release(struct kvs_fences *f);

/* KVS_FENCE, and KVS_SYNC; `c` stands at the body. */
void kvs_fence_serve(struct actor *self, struct kvs_fences *f, struct namespaces *t, const struct envelope *env,
                     struct cursor *c);
void kvs_sync_serve(struct actor *self, struct kvs_fences *f, struct namespaces *t, const struct envelope *env,
                    struct cursor *c);

/* An event names these transactions: fences among them are answered. */
void kvs_fences_answer(struct actor *self, struct kvs_fences *f, const struct event_names *names, uint16_t error,
                       uint64_t sequence);

/* The namespace has a new root, or is removed (`error` ENOTSUP). */
void kvs_syncs_wake(struct actor *self, struct kvs_fences *f, struct namespace_root *ns, uint16_t error);
/* It is removed: fences that are short of participants end. */
void kvs_fences_remove(struct actor *self, struct kvs_fences *f, const char *ns);

void kvs_fences_save(const struct kvs_fences *f, struct bytes *sink);

#endif
