/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the head of a namespace's queue (kvs/commit_queue.h) is applied.
 *
 *     commit_queue_push(&q, transaction);                         takes it over
 *
 *     once a turn, when commit_queue_ready(&q):
 *         if (merging) commit_queue_merge(&q);
 *         struct commit *head = commit_queue_head(&q);
 *         switch (commit_apply(head, &root, removing, &cache, epoch)) {
 *         case COMMIT_LOADING:    for each of head->missing: waitlist_add, content.load      (stalled)
 *         case COMMIT_STORING:    for each of head->stores: content.store;
 *                                 for each of head->awaited: waitlist_add                    (stalled)
 *         case COMMIT_DONE:       sequence + 1, root = head->root; publish setroot with the names of
 *                                 head->transactions, head->keys and head->root_directory; commit_queue_pop
 *         case COMMIT_FAILED:     if (!commit_queue_retry(&q)) { publish error with the names and head->errnum;
 *                                 commit_queue_pop }
 *         }
 *
 *     when one of the blobs came, or was acknowledged: put it into the cache, or mark it clean there, then
 *         commit_arrived(head);                                   ready again when it was the last
 *     when one cannot be had, instead:
 *         commit_fail(head, errnum);                              likewise true when it was the last
 *
 * Stages (flux-core 0.15 to 0.17, src/modules/kvs/kvstxn.c): the root directory is copied, the operations are applied
 * to the copy, directories that are needed and not in the cache are reported all at once (the application then starts
 * over), new values and changed directories are hashed bottom-up and stored, and only when the content service has
 * acknowledged all of them the new root is made known. While the head is stalled the namespace's later transactions
 * wait behind it; other namespaces go on.
 *
 * Errors of an application: EINVAL (write to ".", through a symlink into another namespace, or with a name of more than
 * 255 characters), EOPNOTSUPP (append to a symlink), EISDIR (append to a directory), ELOOP (more than 10 symlinks),
 * ENOTSUP (the namespace is being removed), ENOTRECOVERABLE (a directory reference whose blob is no directory).
 * On the way down a value in the place of a directory is replaced by one; unlinking what is not there succeeds.
 *
 * All functions are local.
 */
#ifndef TIERCEL_KVS_COMMIT_H
#define TIERCEL_KVS_COMMIT_H

#include "kvs/transaction.h"

enum {
    COMMIT_SYMLINKS_MAX = 10    /* one more is ELOOP */
};

enum commit_state {
    COMMIT_READY,       /* to be applied */
    COMMIT_LOADING,     /* waits for directories */
    COMMIT_STORING,     /* applied; waits for acknowledgements */
    COMMIT_DONE,
    COMMIT_FAILED
};

struct commit {
    enum commit_state state;
    uint32_t flags;                     /* of its transactions, enum transaction_flag */
    bool alone;                         /* a member of a set that failed: not merged again */
    int errnum;                         /* why it fails; 0 while nothing is wrong */
    uint32_t outstanding;               /* blobs that it waits for */
    GPtrArray *transactions;            /* of struct transaction, in the order of the queue; owned */
    GArray *missing;                    /* COMMIT_LOADING: struct blobref, each once, in the order of need */
    GPtrArray *stores;                  /* COMMIT_STORING: struct blob, new in the cache and dirty: to be sent */
    GArray *awaited;                    /* COMMIT_STORING: struct blobref, all that must be acknowledged: those of
                                         * `stores`, and others' that were dirty already */
    struct blobref root;                /* STORING, DONE: the new root directory */
    struct blob *root_directory;        /* the same; in the cache, with a reference */
    GPtrArray *keys;                    /* STORING, DONE: changed keys, terminated; unique, normalised, sorted */
    struct blob_pool *pool;             /* of root_directory and stores; NULL before the first application */
};

/* With no transaction yet; commits are made by the queue (kvs/commit_queue.h). */
struct commit *commit_new(uint32_t flags);
void commit_free(struct commit *commit);

/* The head of a queue: brings it, unless it waits, as far as it can get, and returns its new state. `root` is the
 * namespace's present root, `cache` the module's own; what is used there gets the epoch, new blobs are inserted there
 * and marked dirty. */
enum commit_state commit_apply(struct commit *commit, const struct blobref *root, bool removing,
                               struct content *cache, uint32_t epoch);

/* One of the awaited blobs is in the cache, or clean; true when it was the last. */
bool commit_arrived(struct commit *commit);

/* One of the awaited blobs cannot be had, which counts as its arrival: the commit fails when it is applied next. So a
 * commit never leaves its queue before all blobs that it waits for have come, and who waits for a blob in the name of a
 * namespace always means its head. */
bool commit_fail(struct commit *commit, int errnum);

/* Canonical: state, flags, awaited and missing blobs, transactions. */
void commit_save(const struct commit *commit, struct bytes *sink);

#endif
