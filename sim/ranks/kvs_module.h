/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kvs on node 0 (kvs_root.c) and elsewhere (kvs_worker.c) have in common: commits that wait for their answer,
 * lookups and the loads they need, the module's own cache, and the events.
 *
 * A commit is answered by the setroot (or error) event that names it, on the node where it was made, node 0 included.
 * A lookup is a snapshot of the root at its time; directories that the cache lacks are loaded through the node's
 * content cache, one request a blob. What differs between the two is in struct kvs_type.
 *
 * A role has its struct kvs first in its state. All functions are local.
 */
#ifndef TIERCEL_RANKS_KVS_MODULE_H
#define TIERCEL_RANKS_KVS_MODULE_H

#include "kvs/content.h"
#include "kvs/event.h"
#include "kvs/lookup.h"
#include "kvs/waitlist.h"
#include "ranks/calls.h"
#include "ranks/pending.h"
#include "ranks/roles.h"
#include "ranks/route.h"

struct kvs;

struct kvs_type {
    /* The present root of a namespace: 0, or an errno. EAGAIN: it has to be asked for; park what needs it. */
    int (*use)(struct actor *self, const char *ns, struct blobref *root, uint64_t *sequence);
    /* Keeps a message (kind and payload; a reference is taken) or, with payload NULL, the lookup of this number until
     * the namespace is known here or known not to exist. NULL where use never says EAGAIN. */
    void (*park)(struct actor *self, const char *ns, uint16_t kind, struct payload *payload, uint64_t lookup);
    /* A blob that namespace `id` waits for is in the cache, or cannot be had. NULL where nobody asks. */
    void (*blob)(struct actor *self, uint64_t id, uint16_t error);
};

struct kvs {
    const struct kvs_type *type;
    const struct instance *inst;
    uint32_t node;
    uint32_t heartbeat;             /* how many have come: the cache's epoch */
    struct content cache;
    struct waitlist waits;          /* tokens: number << 1 | 1 for a namespace, | 0 for a lookup */
    struct pending loads;           /* struct blobref: asked of the content cache */
    struct pending lookups;         /* struct kvs_lookup */
    struct pending commits;         /* struct kvs_commit; the number is the transaction's counter */
    struct calls calls;
};

struct kvs_commit {
    struct envelope env;
    char *ns;
    int64_t since_ns;
};

/* Metrics of both roles; those of node 0's work stay 0 elsewhere. */
enum kvs_metric {
    KVS_TRANSACTIONS = CALLS_METRICS_COUNT, /* node 0: taken into a queue */
    KVS_SETROOTS,           /* node 0: roots made: a transaction, or a merged set */
    KVS_MERGED,             /* node 0: transactions that shared a root with an earlier one of their set */
    KVS_FAILED,             /* node 0: transactions that an error event named */
    KVS_BLOBS,              /* node 0: stores sent */
    KVS_CREATED,            /* node 0: namespaces */
    KVS_REMOVED,            /* node 0: namespaces marked */
    KVS_FENCES,             /* node 0: fences that had all their participants, a transaction each */
    KVS_SYNCS,              /* node 0: waits for a version */
    KVS_REFUSED,            /* node 0: fences and waits of users who may not use the namespace */
    KVS_REAPED,             /* roots gone for good */
    KVS_ROOTS_WALKED,       /* node 0: by its turns */
    KVS_OWN,                /* commits made here for one job: scheduler, job-exec, shells */
    KVS_SHARED,             /* commits made here for a batch: ingest, job manager, others */
    KVS_LOOKUPS,
    KVS_LOADS,              /* blobs loaded into the cache */
    KVS_GETROOTS,           /* elsewhere: roots asked of the parent */
    KVS_EVENTS,             /* acted on */
    KVS_DISCARDED,          /* events that were delivered and ignored */
    KVS_DISCARD_TIME,       /* what they cost, in ns */
    KVS_COMMIT_TIME,        /* from a commit's coming in to its answer */
    KVS_METRICS_COUNT
};
extern const struct metric kvs_metrics[];
extern const struct kind_name kvs_kinds[];

void kvs_init(struct kvs *k, struct actor *self, const struct kvs_type *type);
void kvs_release(struct kvs *k);
void kvs_save(const struct kvs *k, struct bytes *sink);

/* Counts a commit that was taken, keeps its request, and returns the transaction's counter. */
uint64_t kvs_commit_keep(struct actor *self, struct kvs *k, const struct envelope *env, const char *ns);

/* Answers those of this node's commits that an event names. */
void kvs_names_answer(struct actor *self, struct kvs *k, const struct event_names *names, uint16_t error,
                      uint64_t sequence);

/* Sends the load of a blob that somebody began to wait for. */
void kvs_load_send(struct actor *self, struct kvs *k, const struct blobref *ref);

/* KVS_LOOKUP, the answer to CONTENT_LOAD, and a lookup that was parked (with an error when its namespace is not). */
void kvs_lookup_serve(struct actor *self, struct kvs *k, uint16_t kind, struct payload *payload,
                      const struct envelope *env, struct cursor *c);
void kvs_load_answered(struct actor *self, struct kvs *k, const struct envelope *env, struct cursor *c);
void kvs_lookup_resume(struct actor *self, struct kvs *k, uint64_t id, uint16_t error);

/* An event that the module does not act on. */
void kvs_event_discard(struct actor *self, struct kvs *k, const struct message *m);

/* The heartbeat, after the role's own part: expiry of the cache. `roots` were looked through. */
void kvs_heartbeat_end(struct actor *self, struct kvs *k, uint32_t roots);

/* Another user's request has no meaning here: ends the run. */
void kvs_message_refuse(struct actor *self, const struct message *m);

#endif
