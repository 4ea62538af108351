/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who waits until a namespace's root has reached a sequence number (kvs.sync).
 *
 *     struct sequence_waits w = SEQUENCE_WAITS_INIT;
 *     sequence_wait(&w, 12, token);
 *     while (sequence_woken(&w, root_sequence, &token)) ... answer ...;
 *
 * Waiters wake by rising sequence, those for the same one in the order in which they came. A removal wakes all:
 * pass UINT64_MAX. All functions are local.
 */
#ifndef TIERCEL_KVS_SEQUENCE_H
#define TIERCEL_KVS_SEQUENCE_H

#include <glib.h>

#include "base/bytes.h"

struct sequence_waiter {
    uint64_t sequence;
    uint64_t token;
};

struct sequence_waits {
    struct sequence_waiter *waiters;    /* by falling sequence, then the later ones first: the next is the last */
    uint32_t length;
    uint32_t capacity;
};

#define SEQUENCE_WAITS_INIT { NULL, 0, 0 }

void sequence_waits_release(struct sequence_waits *w);

void sequence_wait(struct sequence_waits *w, uint64_t sequence, uint64_t token);

/* Takes the next waiter whose sequence is at most `reached`; false when there is none. */
bool sequence_woken(struct sequence_waits *w, uint64_t reached, uint64_t *token);

/* Canonical: the number of waiters, then sequence and token of each in the order in which they would wake. */
void sequence_waits_save(const struct sequence_waits *w, struct bytes *sink);

#endif
