/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests to the key-value store, as the job side makes them.
 *
 *     struct transaction *t = transaction_new(0, 0, 0);
 *     transaction_append(t, "exec.eventlog", line, size);
 *     kvs_request_commit(self, "job-17", tag, t);
 *     ...
 *     const char *value = kvs_request_value(&cursor, &size);      the answer to a lookup
 *
 * Commits and lookups go to the kvs of the actor's own node, namespaces are made and removed on node 0. Errors come in
 * the answers' envelopes. All functions are local.
 */
#ifndef TIERCEL_RANKS_KVS_REQUEST_H
#define TIERCEL_RANKS_KVS_REQUEST_H

#include "engine/actor.h"
#include "kvs/lookup.h"
#include "kvs/namespaces.h"
#include "kvs/transaction.h"

/* KVS_COMMIT; takes over the transaction and frees it. */
void kvs_request_commit(struct actor *self, const char *namespace_name, uint64_t tag, struct transaction *t);

/* The same as a blocking call: the handler's last act. */
void kvs_request_commit_call(struct actor *self, const char *namespace_name, uint64_t tag, struct transaction *t);

/* KVS_LOOKUP at the namespace's present root. */
void kvs_request_lookup(struct actor *self, const char *namespace_name, const char *key, enum lookup_type type,
                        uint64_t tag);

/* The value of an entry of the job's directory in the primary namespace, say "jobspec". */
void kvs_request_lookup_job(struct actor *self, uint64_t id, const char *entry, uint64_t tag);

/* KVS_NAMESPACE_CREATE, and KVS_NAMESPACE_REMOVE. */
void kvs_request_create(struct actor *self, const char *namespace_name, uint32_t owner, uint64_t tag);
void kvs_request_remove(struct actor *self, const char *namespace_name, uint64_t tag);

/* KVS_FENCE, which takes over the transaction and frees it, and KVS_SYNC, as a user. */
void kvs_request_fence(struct actor *self, const char *namespace_name, uint32_t user, const char *fence,
                       uint32_t participants, uint64_t tag, struct transaction *t);
void kvs_request_sync(struct actor *self, const char *namespace_name, uint32_t user, uint64_t sequence, uint64_t tag);

/* The span of a lookup's answer, in place; NULL when the answer is malformed. */
const char *kvs_request_value(struct cursor *c, size_t *size);

#endif
