/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the job manager says about many jobs at once: event log entries that are committed in one transaction, and the
 * transitions that the job-state event tells of once they are.
 *
 *     struct event_batch *b = event_batch_new(serial);
 *     event_batch_transition(b, id, JOB_SCHED);
 *     event_batch_append(b, id, line->str, line->len);
 *     kvs_request_commit(self, NAMESPACES_PRIMARY, b->serial, event_batch_take(b));
 *     ... when that is answered:
 *     event_batch_put_transitions(b, &body);
 *     event_batch_free(b);
 *
 * All functions are local.
 */
#ifndef TIERCEL_RANKS_EVENT_BATCH_H
#define TIERCEL_RANKS_EVENT_BATCH_H

#include "base/bytes.h"
#include "kvs/transaction.h"
#include "ranks/protocol.h"

struct event_batch {
    uint64_t serial;                    /* tag of its requests */
    uint32_t entries;                   /* event log entries appended */
    uint32_t transition_count;
    struct transaction *transaction;    /* NULL once taken */
    struct bytes transitions;
};

struct event_batch *event_batch_new(uint64_t serial);
void event_batch_free(struct event_batch *b);

/* An entry of the job's event log: a line with its newline. */
void event_batch_append(struct event_batch *b, uint64_t id, const char *line, size_t size);

void event_batch_transition(struct event_batch *b, uint64_t id, enum job_state state);

/* The transaction of all entries, once; the caller owns it. */
struct transaction *event_batch_take(struct event_batch *b);

/* The body of the job-state event: count, and id and state of each transition in order. May be empty. */
void event_batch_put_transitions(const struct event_batch *b, struct bytes *sink);

void event_batch_save(const struct event_batch *b, struct bytes *sink);

#endif
