/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The namespaces of an instance, as the module that owns the roots (on node 0) keeps them.
 *
 *     struct namespaces t;
 *     namespaces_init(&t);
 *     namespaces_create(&t, NAMESPACES_PRIMARY, owner, 0, &ns);
 *     namespaces_use(&t, "job-17", user, &ns)                     0, ENOTSUP or EPERM: before any use by a client
 *     namespaces_push(&t, ns, transaction);
 *
 *     once a turn (the model charges what a walk over all roots costs, and namespaces_walk_length says how far the
 *     first, shorter walk goes):
 *         for (ns = namespaces_ready(&t, NULL); ns != NULL; ns = namespaces_ready(&t, ns))
 *             ... merge and commit_apply the head of ns->queue, once; then namespaces_update(&t, ns) ...
 *
 *     at a heartbeat:
 *         namespaces_reap(&t, names);
 *
 * A namespace is a root: a sequence number, +1 for each applied transaction or merged set, and the reference of its
 * root directory. It starts at 0 with the empty directory, and no blob is stored for it. Removal has two steps: marked
 * "removing" it is unknown to every use, yet keeps its name and its place in the walks; it goes at the first heartbeat
 * at which no transaction and no waiter for a sequence is left. (flux-core 0.15 to 0.17, src/modules/kvs/kvs.c.)
 *
 * Walks are in order of creation. Whenever the head of a queue may have changed its state (pushed, applied, a blob
 * arrived, popped) call namespaces_update; namespaces_push does. All functions are local and give errno values.
 */
#ifndef TIERCEL_KVS_NAMESPACES_H
#define TIERCEL_KVS_NAMESPACES_H

#include "kvs/commit_queue.h"
#include "kvs/sequence.h"

#define NAMESPACES_PRIMARY "primary"

/* The user id of the instance's owner: may use every namespace. */
enum { NAMESPACES_INSTANCE_OWNER = 0 };

struct namespace_root {
    uint64_t id;                    /* 0, 1, 2 ... in order of creation; never used again */
    char *name;
    uint32_t owner;                 /* user id */
    uint32_t flags;
    uint64_t sequence;
    struct blobref root;
    bool removing;
    bool listed;                    /* in the table's list of ready ones */
    struct commit_queue queue;
    struct sequence_waits waits;    /* kvs.sync: who waits for a sequence */
};

struct namespaces {
    GHashTable *by_name;            /* name -> struct namespace_root */
    GPtrArray *order;               /* by rising id */
    GPtrArray *ready;               /* with a head that does not wait, by rising id */
    uint64_t next_id;
    uint32_t removing;              /* how many are marked */
};

void namespaces_init(struct namespaces *t);
void namespaces_release(struct namespaces *t);

/* 0 and *ns; EEXIST when the name exists, removing or not; EINVAL when flags are not 0 or the name is empty. */
int namespaces_create(struct namespaces *t, const char *name, uint32_t owner, uint32_t flags,
                      struct namespace_root **ns);

/* Marks it. 0 and *ns: publish "removed", answer its sequence waiters with ENOTSUP; its ready transactions fail one by
 * one when they are applied. 0 and NULL: unknown or already removing, nothing to publish. ENOTSUP: primary. */
int namespaces_remove(struct namespaces *t, const char *name, struct namespace_root **ns);

/* Whatever its state; NULL when there is no such name, or id. */
struct namespace_root *namespaces_find(const struct namespaces *t, const char *name);
struct namespace_root *namespaces_by_id(const struct namespaces *t, uint64_t id);

/* For a client's use. ENOTSUP: unknown or removing. EPERM: `user` is neither its owner nor the instance's. */
int namespaces_use(const struct namespaces *t, const char *name, uint32_t user, struct namespace_root **ns);

void namespaces_push(struct namespaces *t, struct namespace_root *ns, struct transaction *transaction);
void namespaces_update(struct namespaces *t, struct namespace_root *ns);

/* The head of the queue is done: takes its root over, one sequence step, and leaves the commit in place for the event;
 * commit_queue_pop it after that. */
void namespaces_advance(struct namespaces *t, struct namespace_root *ns);

/* The ready namespace that follows `after` in order of creation (NULL: the first), or NULL. */
struct namespace_root *namespaces_ready(const struct namespaces *t, const struct namespace_root *after);

/* How many roots a walk looks at until it finds a ready one: all of them when none is. */
uint32_t namespaces_walk_length(const struct namespaces *t);

/* All roots, those being removed included: what each walk over all of them costs. */
uint32_t namespaces_count(const struct namespaces *t);

/* Removes for good what can go, and appends the names (the caller's, g_free) in order of creation. */
void namespaces_reap(struct namespaces *t, GPtrArray *names);

/* Canonical, in order of creation. */
void namespaces_save(const struct namespaces *t, struct bytes *sink);

#endif
