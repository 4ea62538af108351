/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job's guest namespace, job-<id>, as job-exec uses it: requests to the key-value store, each answered under its tag.
 *
 *     guest_create(...)                   it exists; then
 *     guest_commit_event(...)             entries of its exec.eventlog, and
 *     guest_commit_link(...)              a link to it in the primary namespace, job.<id>.guest
 *     guest_lookup_reference(...)         its root, a directory reference; with it
 *     guest_commit_copy(...)              that reference in the link's place; and
 *     guest_remove(...)                   the namespace is gone, what was in it stays in the primary one
 *
 * All functions are local.
 */
#ifndef TIERCEL_RANKS_GUEST_H
#define TIERCEL_RANKS_GUEST_H

#include <stdbool.h>

#include "engine/actor.h"
#include "kvs/transaction.h"

void guest_create(struct actor *self, uint64_t id, uint64_t tag, uint32_t owner);

/* `context` as of job_text_event; stamped with the actor's time. */
void guest_commit_event(struct actor *self, uint64_t id, uint64_t tag, const char *name, const char *context);
/* The same in two steps, for several entries: into a transaction of the caller's; committed, which takes it over. */
void guest_log(struct actor *self, struct transaction *t, const char *name, const char *context);
void guest_commit_log(struct actor *self, uint64_t id, uint64_t tag, struct transaction *t);
void guest_commit_link(struct actor *self, uint64_t id, uint64_t tag);
void guest_lookup_reference(struct actor *self, uint64_t id, uint64_t tag);

/* `reference` is the answer's value. False, with nothing sent, when it is not a tree object. */
bool guest_commit_copy(struct actor *self, uint64_t id, uint64_t tag, const char *reference, size_t size);
void guest_remove(struct actor *self, uint64_t id, uint64_t tag);

#endif
