/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/kvs_module.h"
#include "ranks/charge.h"

#include <errno.h>

#include "kvs/key.h"
#include "kvs/namespaces.h"

struct kvs_lookup {
    struct envelope env;
    uint64_t sequence;          /* of the root that it reads */
    uint32_t names;             /* of its key */
    struct lookup *walk;
};

static void lookup_item_free(void *item)
{
    lookup_free(((struct kvs_lookup *)item)->walk);
    g_free(item);
}

static void commit_item_free(void *item)
{
    g_free(((struct kvs_commit *)item)->ns);
    g_free(item);
}

void kvs_init(struct kvs *k, struct actor *self, const struct kvs_type *type)
{
    k->type = type;
    k->inst = actor_setup(self);
    k->node = actor_node(self);
    k->heartbeat = 0;
    content_init(&k->cache, k->inst->pool);
    waitlist_init(&k->waits);
    pending_init(&k->loads, g_free);
    pending_init(&k->lookups, lookup_item_free);
    pending_init(&k->commits, commit_item_free);
    calls_init(&k->calls, k->inst->async_kvs);
}

void kvs_release(struct kvs *k)
{
    calls_release(&k->calls);
    pending_release(&k->commits);
    pending_release(&k->lookups);
    pending_release(&k->loads);
    waitlist_release(&k->waits);
    content_release(&k->cache);
}

void kvs_save(const struct kvs *k, struct bytes *sink)
{
    bytes_put_u32(sink, k->heartbeat);
    content_save(&k->cache, sink);
    waitlist_save(&k->waits, sink);
    uint64_t *ids = pending_ids(&k->loads);
    bytes_put_u32(sink, pending_length(&k->loads));
    for (guint i = 0; i < pending_length(&k->loads); i++) {
        bytes_put_u64(sink, ids[i]);
        blobref_put(sink, pending_find(&k->loads, ids[i]));
    }
    g_free(ids);
    ids = pending_ids(&k->lookups);
    bytes_put_u32(sink, pending_length(&k->lookups));
    for (guint i = 0; i < pending_length(&k->lookups); i++) {
        const struct kvs_lookup *l = pending_find(&k->lookups, ids[i]);
        bytes_put_u64(sink, ids[i]);
        envelope_put(sink, &l->env);
        bytes_put_u64(sink, l->sequence);
        lookup_save(l->walk, sink);
    }
    g_free(ids);
    ids = pending_ids(&k->commits);
    bytes_put_u32(sink, pending_length(&k->commits));
    for (guint i = 0; i < pending_length(&k->commits); i++) {
        const struct kvs_commit *commit = pending_find(&k->commits, ids[i]);
        bytes_put_u64(sink, ids[i]);
        envelope_put(sink, &commit->env);
        key_put_text(sink, commit->ns);
        bytes_put_i64(sink, commit->since_ns);
    }
    g_free(ids);
    calls_save(&k->calls, sink);
}

/* --- commits --- */

/* Is it a commit for one job, or for a batch of them? */
static bool commit_is_own(const struct instance *inst, uint32_t origin)
{
    struct instance_place place;
    instance_place(inst, origin, &place);
    return place.role == ROLE_SCHEDULER || place.role == ROLE_JOB_EXEC || place.role == ROLE_EXECUTOR;
}

uint64_t kvs_commit_keep(struct actor *self, struct kvs *k, const struct envelope *env, const char *ns)
{
    struct kvs_commit *commit = g_new(struct kvs_commit, 1);
    commit->env = *env;
    commit->ns = g_strdup(ns);
    commit->since_ns = actor_now(self);
    actor_count(self, commit_is_own(k->inst, env->origin) ? KVS_OWN : KVS_SHARED, 1);
    return pending_add(&k->commits, commit);
}

void kvs_names_answer(struct actor *self, struct kvs *k, const struct event_names *names, uint16_t error,
                      uint64_t sequence)
{
    struct bytes body = BYTES_INIT;
    bytes_put_u64(&body, sequence);
    for (uint32_t i = 0; i < names->count; i++) {
        struct transaction_name name = event_name(names, i);
        struct kvs_commit *commit = name.node == k->node ? pending_take(&k->commits, name.counter) : NULL;
        if (commit == NULL)
            continue;
        route_reply(self, &commit->env, KVS_COMMIT, error, &body);
        actor_sample(self, KVS_COMMIT_TIME, actor_now(self) - commit->since_ns);
        commit_item_free(commit);
    }
    bytes_release(&body);
}

/* --- lookups --- */

void kvs_load_send(struct actor *self, struct kvs *k, const struct blobref *ref)
{
    struct bytes body = BYTES_INIT;
    blobref_put(&body, ref);
    uint64_t id = pending_add(&k->loads, g_memdup2(ref, sizeof *ref));
    route_send(self, instance_content(k->inst, k->node), CONTENT_LOAD, id, &body);
    bytes_release(&body);
}

static void lookup_answer(struct actor *self, struct kvs *k, uint64_t id, struct kvs_lookup *l)
{
    const struct lookup *walk = l->walk;
    struct bytes body = BYTES_INIT;
    bytes_put_u64(&body, l->sequence);
    bytes_put_span(&body, walk->value.data, walk->value.size);
    role_charge(self, cost_ns(&k->inst->costs.kvs_lookup, walk->value.size, l->names));
    route_reply(self, &l->env, KVS_LOOKUP, walk->state == LOOKUP_DONE ? 0 : (uint16_t)walk->errnum, &body);
    bytes_release(&body);
    pending_remove(&k->lookups, id);
}

/* Goes on until the lookup is answered, or has to wait. */
static void lookup_go(struct actor *self, struct kvs *k, uint64_t id)
{
    struct kvs_lookup *l = pending_find(&k->lookups, id);
    for (;;) {
        switch (lookup_walk(l->walk, &k->cache, k->heartbeat)) {
        case LOOKUP_WALKING:
            break;
        case LOOKUP_LOADING:
            for (guint i = 0; i < l->walk->missing->len; i++) {
                const struct blobref *ref = &g_array_index(l->walk->missing, struct blobref, i);
                if (waitlist_add(&k->waits, ref, id << 1))
                    kvs_load_send(self, k, ref);
            }
            return;
        case LOOKUP_NAMESPACE: {
            struct blobref root;
            int error = k->type->use(self, l->walk->namespace_name, &root, &l->sequence);
            if (error == EAGAIN) {
                k->type->park(self, l->walk->namespace_name, 0, NULL, id);
                return;
            }
            if (error != 0)
                lookup_fail(l->walk, error);
            else
                lookup_enter(l->walk, &root);
            break;
        }
        case LOOKUP_DONE:
        case LOOKUP_FAILED:
            lookup_answer(self, k, id, l);
            return;
        }
    }
}

void kvs_lookup_resume(struct actor *self, struct kvs *k, uint64_t id, uint16_t error)
{
    struct kvs_lookup *l = pending_find(&k->lookups, id);
    if (error != 0)
        lookup_fail(l->walk, error);
    lookup_go(self, k, id);
}

static uint32_t key_names(const char *key)
{
    uint32_t names = 1;
    for (; *key != '\0'; key++)
        names += *key == '.';
    return names;
}

void kvs_lookup_serve(struct actor *self, struct kvs *k, uint16_t kind, struct payload *payload,
                      const struct envelope *env, struct cursor *c)
{
    const char *ns = key_get_text(c);
    const char *key = key_get_text(c);
    uint8_t type = cursor_u8(c);
    bool at = cursor_u8(c) != 0;
    uint64_t sequence = at ? cursor_u64(c) : 0;
    struct blobref root = at ? blobref_get(c) : (struct blobref){ { 0 } };
    if (!cursor_done(c) || type > LOOKUP_OBJECT) {
        actor_fail(self, "lookup of actor %u is malformed", env->origin);
        return;
    }
    if (!at) {
        int error = k->type->use(self, ns, &root, &sequence);
        if (error == EAGAIN) {
            k->type->park(self, ns, kind, payload, 0);
            return;
        }
        if (error != 0) {
            route_reply(self, env, kind, (uint16_t)error, NULL);
            return;
        }
    }
    actor_count(self, KVS_LOOKUPS, 1);
    struct kvs_lookup *l = g_new(struct kvs_lookup, 1);
    l->env = *env;
    l->sequence = sequence;
    l->names = key_names(key);
    l->walk = lookup_new(&root, key, type);
    lookup_go(self, k, pending_add(&k->lookups, l));
}

void kvs_load_answered(struct actor *self, struct kvs *k, const struct envelope *env, struct cursor *c)
{
    size_t size = 0;
    const char *data = env->error == 0 ? cursor_span(c, &size) : NULL;
    struct blobref *ref = pending_take(&k->loads, env->tag);
    if (ref == NULL || !cursor_done(c)) {
        g_free(ref);
        actor_fail(self, "answer to a load from actor %u is malformed", env->origin);
        return;
    }
    role_charge(self, cost_ns(&k->inst->costs.kvs_load, size, 0));
    actor_count(self, KVS_LOADS, 1);
    if (env->error == 0)
        content_insert(&k->cache, ref, data, size, k->heartbeat, NULL);
    GArray *tokens = waitlist_take(&k->waits, ref);
    g_free(ref);
    for (guint i = 0; tokens != NULL && i < tokens->len; i++) {
        uint64_t token = g_array_index(tokens, uint64_t, i);
        if ((token & 1) != 0) {
            k->type->blob(self, token >> 1, env->error);
            continue;
        }
        struct kvs_lookup *l = pending_find(&k->lookups, token >> 1);
        if (l == NULL)
            continue;       /* it failed for another of its blobs */
        if (env->error != 0)
            lookup_fail(l->walk, env->error);
        if (env->error != 0 || lookup_arrived(l->walk))
            lookup_go(self, k, token >> 1);
    }
    if (tokens != NULL)
        g_array_unref(tokens);
}

/* --- events --- */

void kvs_event_discard(struct actor *self, struct kvs *k, const struct message *m)
{
    int64_t cost = cost_ns(&k->inst->costs.kvs_discard, m->payload->size, 0);
    role_charge(self, cost);
    actor_count(self, KVS_DISCARDED, 1);
    actor_count(self, KVS_DISCARD_TIME, (uint64_t)cost);
}

void kvs_heartbeat_end(struct actor *self, struct kvs *k, uint32_t roots)
{
    uint64_t walked = (uint64_t)roots + k->cache.blobs;
    role_charge(self, cost_ns(&k->inst->costs.kvs_heartbeat, 0, walked));
    actor_count(self, KVS_EVENTS, 1);
    if (k->heartbeat > k->inst->cache_age)
        content_expire(&k->cache, k->heartbeat - k->inst->cache_age, NULL, NULL);
}

void kvs_message_refuse(struct actor *self, const struct message *m)
{
    actor_fail(self, "kvs got a message of kind 0x%04x from actor %u, which it does not serve", m->kind, m->from);
}

const struct kind_name kvs_kinds[] = {
    { KVS_COMMIT, "commit", "a transaction to be applied" },
    { KVS_COMMIT | KIND_REPLY, "commit-reply", "the transaction is part of a root, or failed" },
    { KVS_RELAY, "relay", "a transaction on its way to node 0" },
    { KVS_LOOKUP, "lookup", "a key to be read" },
    { KVS_LOOKUP | KIND_REPLY, "lookup-reply", "what stands under a key" },
    { KVS_GETROOT, "getroot", "a namespace whose root is wanted" },
    { KVS_GETROOT | KIND_REPLY, "getroot-reply", "a namespace's root" },
    { KVS_NAMESPACE_CREATE, "namespace-create", "a namespace to be made" },
    { KVS_NAMESPACE_CREATE | KIND_REPLY, "namespace-create-reply", "the namespace is there" },
    { KVS_NAMESPACE_REMOVE, "namespace-remove", "a namespace to be removed" },
    { KVS_NAMESPACE_REMOVE | KIND_REPLY, "namespace-remove-reply", "the namespace is unknown from now on" },
    { KVS_FENCE, "fence", "a part of a transaction of several" },
    { KVS_FENCE | KIND_REPLY, "fence-reply", "the transaction of all is part of a root, or failed" },
    { KVS_SYNC, "sync", "a version to be waited for" },
    { KVS_SYNC | KIND_REPLY, "sync-reply", "the version is there" },
    { 0, NULL, NULL }
};

const struct metric kvs_metrics[] = {
    CALLS_METRICS,
    [KVS_TRANSACTIONS] = { "transactions", "1", "transactions taken into a queue on node 0", METRIC_SERIES },
    [KVS_SETROOTS] = { "setroots", "1", "new roots", METRIC_COUNTER },
    [KVS_MERGED] = { "merged", "1", "transactions that shared the root of another", METRIC_COUNTER },
    [KVS_FAILED] = { "failed", "1", "transactions that failed", METRIC_COUNTER },
    [KVS_BLOBS] = { "blobs", "1", "blobs sent to be stored", METRIC_SERIES },
    [KVS_CREATED] = { "created", "1", "namespaces created", METRIC_COUNTER },
    [KVS_REMOVED] = { "removed", "1", "namespaces removed", METRIC_COUNTER },
    [KVS_FENCES] = { "fences", "1", "fences that had all their participants", METRIC_COUNTER },
    [KVS_SYNCS] = { "syncs", "1", "waits for a version", METRIC_COUNTER },
    [KVS_REFUSED] = { "refused", "1", "requests of users who may not use the namespace", METRIC_COUNTER },
    [KVS_REAPED] = { "reaped", "1", "roots gone for good", METRIC_COUNTER },
    [KVS_ROOTS_WALKED] = { "roots_walked", "1", "roots that turns looked at", METRIC_COUNTER },
    [KVS_OWN] = { "own_commits", "1", "commits for one job: scheduler, job-exec, shells", METRIC_COUNTER },
    [KVS_SHARED] = { "shared_commits", "1", "commits for a batch of jobs", METRIC_COUNTER },
    [KVS_LOOKUPS] = { "lookups", "1", "lookups", METRIC_SERIES },
    [KVS_LOADS] = { "loads", "1", "blobs loaded into the cache", METRIC_COUNTER },
    [KVS_GETROOTS] = { "getroots", "1", "roots asked of the parent node", METRIC_COUNTER },
    [KVS_EVENTS] = { "events", "1", "events acted on", METRIC_COUNTER },
    [KVS_DISCARDED] = { "discarded", "1", "events delivered and ignored", METRIC_COUNTER },
    [KVS_DISCARD_TIME] = { "discard_time", "ns", "time spent on events delivered and ignored", METRIC_COUNTER },
    [KVS_COMMIT_TIME] = { "commit_time", "ns", "from a commit's arrival to its answer, on its node", METRIC_SAMPLE },
    { NULL, NULL, NULL, METRIC_COUNTER }
};
