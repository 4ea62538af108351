/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transactions of one namespace that are ready to be applied: in order of arrival, the head being applied. How to
 * use it stands in kvs/commit.h.
 *
 * Merge: adjacent entries of equal flags, none with "no merge", while the head has not passed the application of its
 * operations. In practice those that arrive while the head waits for blobs are merged together when it is done. A
 * merged set is one sequence step with all names. If it fails (but for ENOMEM and ENOTSUP), its members are retried
 * singly, in their old order and without another merge, and no error is published for the set.
 *
 * All functions are local.
 */
#ifndef TIERCEL_KVS_COMMIT_QUEUE_H
#define TIERCEL_KVS_COMMIT_QUEUE_H

#include "kvs/commit.h"

struct commit_queue {
    GQueue commits;                     /* of struct commit; the head is the one being applied */
    uint32_t transactions;              /* in all of them */
};

void commit_queue_init(struct commit_queue *q);
void commit_queue_release(struct commit_queue *q);

/* Appends; takes the transaction over. */
void commit_queue_push(struct commit_queue *q, struct transaction *t);

/* NULL when the queue is empty. */
struct commit *commit_queue_head(const struct commit_queue *q);

/* Is there a head, and does it not wait for blobs? */
bool commit_queue_ready(const struct commit_queue *q);

/* Merges into the head what may be merged; returns how many transactions joined it. */
uint32_t commit_queue_merge(struct commit_queue *q);

/* A merged head that failed and may be retried is replaced by its members; false when it must be reported. */
bool commit_queue_retry(struct commit_queue *q);

/* Removes the head, which is done or failed. */
void commit_queue_pop(struct commit_queue *q);

/* Canonical: the number of commits, and each as commit_save writes it, from the head on. */
void commit_queue_save(const struct commit_queue *q, struct bytes *sink);

#endif
