/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kvs on a node other than 0: relays commits to node 0, follows the roots by their events, and serves lookups from
 * its cache (flux-core 0.15 to 0.17, src/modules/kvs/kvs.c).
 *
 * The first use of a namespace asks the parent node's kvs for its root, which asks its own parent when it lacks it: so
 * every node on the path up to node 0 comes to know the namespace. Only when the answer is there the module subscribes
 * to the namespace's events, with blocking calls, and then handles what had to wait. An event between the two is
 * missed; the next root supersedes it. A removed namespace goes at a heartbeat; until then it keeps the run alive.
 */
#include <errno.h>

#include "kvs/key.h"
#include "kvs/namespaces.h"
#include "kvs/replicas.h"
#include "ranks/charge.h"
#include "ranks/kvs_module.h"

struct parked {
    uint16_t kind;
    struct payload *payload;        /* a request, or NULL: */
    uint64_t lookup;                /* the number of a lookup */
};

struct getroot {                    /* a namespace that was asked for */
    char *ns;
    GArray *parked;                 /* of struct parked */
};

struct kvs_worker {
    struct kvs kvs;                 /* first */
    struct replicas replicas;
    uint32_t removing;              /* replicas marked removed: each keeps the run alive */
    bool subscribed;                /* to what comes with the first namespace */
    GHashTable *asked;              /* namespace -> number in `getroots` */
    struct pending getroots;        /* struct getroot */
    uint64_t following;             /* the one whose subscriptions are being made, or 0 */
};

static void request_handle(struct actor *self, struct kvs_worker *w, uint16_t kind, struct payload *payload);

static void getroot_item_free(void *item)
{
    struct getroot *g = item;
    g_free(g->ns);
    g_array_free(g->parked, TRUE);
    g_free(g);
}

static int worker_use(struct actor *self, const char *ns, struct blobref *root, uint64_t *sequence)
{
    struct kvs_worker *w = actor_state(self);
    const struct replica *r = replicas_find(&w->replicas, ns);
    if (r == NULL)
        return EAGAIN;
    if (r->removing)
        return ENOTSUP;
    *root = r->root;
    *sequence = r->sequence;
    return 0;
}

static void worker_park(struct actor *self, const char *ns, uint16_t kind, struct payload *payload, uint64_t lookup)
{
    struct kvs_worker *w = actor_state(self);
    uint64_t id = GPOINTER_TO_SIZE(g_hash_table_lookup(w->asked, ns));
    struct getroot *g = pending_find(&w->getroots, id);
    if (g == NULL) {
        g = g_new(struct getroot, 1);
        g->ns = g_strdup(ns);
        g->parked = g_array_new(FALSE, FALSE, sizeof(struct parked));
        id = pending_add(&w->getroots, g);
        g_hash_table_insert(w->asked, g->ns, GSIZE_TO_POINTER(id));
        struct bytes body = BYTES_INIT;
        key_put_text(&body, ns);
        uint32_t parent = instance_parent(w->kvs.inst, w->kvs.node);
        route_send(self, instance_kvs(w->kvs.inst, parent), KVS_GETROOT, id, &body);
        bytes_release(&body);
        actor_count(self, KVS_GETROOTS, 1);
    }
    struct parked parked = { kind, payload == NULL ? NULL : payload_ref(payload), lookup };
    g_array_append_val(g->parked, parked);
}

static const struct kvs_type worker_type = { .use = worker_use, .park = worker_park };

static void kvs_worker_init(struct actor *self, const void *setup)
{
    struct kvs_worker *w = actor_state(self);
    kvs_init(&w->kvs, self, &worker_type);
    replicas_init(&w->replicas);
    w->asked = g_hash_table_new(g_str_hash, g_str_equal);
    pending_init(&w->getroots, getroot_item_free);
}

static void kvs_worker_release(struct actor *self)
{
    struct kvs_worker *w = actor_state(self);
    uint64_t *ids = pending_ids(&w->getroots);
    for (guint i = 0; i < pending_length(&w->getroots); i++) {
        const struct getroot *g = pending_find(&w->getroots, ids[i]);
        for (guint j = 0; j < g->parked->len; j++) {
            struct parked *parked = &g_array_index(g->parked, struct parked, j);
            if (parked->payload != NULL)
                actor_payload_unref(self, parked->payload);
        }
    }
    g_free(ids);
    g_hash_table_destroy(w->asked);
    pending_release(&w->getroots);
    replicas_release(&w->replicas);
    kvs_release(&w->kvs);
}

static void kvs_worker_save(const struct actor *self, struct bytes *sink)
{
    const struct kvs_worker *w = actor_state(self);
    kvs_save(&w->kvs, sink);
    replicas_save(&w->replicas, sink);
    bytes_put_u8(sink, w->subscribed);
    bytes_put_u64(sink, w->following);
    bytes_put_u32(sink, pending_length(&w->getroots));
    uint64_t *ids = pending_ids(&w->getroots);
    for (guint i = 0; i < pending_length(&w->getroots); i++) {
        const struct getroot *g = pending_find(&w->getroots, ids[i]);
        bytes_put_u64(sink, ids[i]);
        key_put_text(sink, g->ns);
        bytes_put_u32(sink, g->parked->len);
        for (guint j = 0; j < g->parked->len; j++) {
            const struct parked *parked = &g_array_index(g->parked, struct parked, j);
            bytes_put_u16(sink, parked->kind);
            bytes_put_u64(sink, parked->lookup);
            if (parked->payload != NULL)
                bytes_put_span(sink, parked->payload->bytes, parked->payload->size);
        }
    }
    g_free(ids);
}

/* --- getroot --- */

/* Handles what waited for a namespace, in order. `error`: it does not exist. */
static void getroot_finish(struct actor *self, struct kvs_worker *w, uint64_t id, uint16_t error)
{
    struct getroot *g = pending_take(&w->getroots, id);
    g_hash_table_remove(w->asked, g->ns);
    for (guint i = 0; i < g->parked->len; i++) {
        struct parked *parked = &g_array_index(g->parked, struct parked, i);
        if (parked->payload == NULL) {
            kvs_lookup_resume(self, &w->kvs, parked->lookup, error);
            continue;
        }
        if (error == 0) {
            request_handle(self, w, parked->kind, parked->payload);
        } else {
            struct envelope env;
            const struct message m = { .kind = parked->kind, .flags = MESSAGE_PAYLOAD, .payload = parked->payload };
            route_open(self, &m, &env);
            route_reply(self, &env, parked->kind, error, NULL);
        }
        actor_payload_unref(self, parked->payload);
    }
    getroot_item_free(g);
}

/* May end with a call. */
static void getroot_answered(struct actor *self, struct kvs_worker *w, const struct envelope *env, struct cursor *c)
{
    struct getroot *g = pending_find(&w->getroots, env->tag);
    if (g == NULL) {
        actor_fail(self, "answer to a getroot from actor %u that nobody asked", env->origin);
        return;
    }
    if (env->error != 0) {
        getroot_finish(self, w, env->tag, env->error);
        return;
    }
    uint64_t sequence = cursor_u64(c);
    struct blobref root = blobref_get(c);
    uint32_t owner = cursor_u32(c);
    replicas_add(&w->replicas, g->ns, owner, sequence, &root, w->kvs.heartbeat);
    const struct scheme_subscriptions *scheme = &w->kvs.inst->scheme->users[SCHEME_KVS_WORKER];
    if (!w->subscribed)
        calls_add_subscriptions(&w->kvs.calls, NULL, scheme->at_first_use);
    w->subscribed = true;
    calls_add_subscriptions(&w->kvs.calls, g->ns, scheme->per_namespace);
    w->following = env->tag;
    if (calls_next(self, &w->kvs.calls))
        return;
    w->following = 0;
    getroot_finish(self, w, env->tag, 0);
}

static void call_answered(struct actor *self, struct kvs_worker *w, const struct message *m)
{
    if (!calls_done(self, &w->kvs.calls, m)) {
        role_charge(self, cost_ns(&w->kvs.inst->costs.kvs_request, 0, 0));
        return;
    }
    if (calls_next(self, &w->kvs.calls) || w->following == 0)
        return;
    uint64_t id = w->following;
    w->following = 0;
    getroot_finish(self, w, id, 0);
}

/* --- requests --- */

static void commit_serve(struct actor *self, struct kvs_worker *w, struct payload *payload,
                         const struct envelope *env, struct cursor *c)
{
    const char *name = key_get_text(c);
    struct transaction *t = transaction_unpack(c);
    if (name == NULL || t == NULL || !cursor_done(c)) {
        actor_fail(self, "commit of actor %u is malformed", env->origin);
        return;
    }
    struct blobref root;
    uint64_t sequence;
    int error = worker_use(self, name, &root, &sequence);
    if (error == EAGAIN) {
        worker_park(self, name, KVS_COMMIT, payload, 0);
    } else if (error != 0) {
        route_reply(self, env, KVS_COMMIT, (uint16_t)error, NULL);
    } else {
        replicas_find(&w->replicas, name)->held++;
        t->name = (struct transaction_name){ w->kvs.node, kvs_commit_keep(self, &w->kvs, env, name) };
        struct bytes body = BYTES_INIT;
        key_put_text(&body, name);
        transaction_pack(t, &body);
        route_send(self, instance_kvs(w->kvs.inst, 0), KVS_RELAY, 0, &body);
        bytes_release(&body);
    }
    transaction_free(t);
}

static void getroot_serve(struct actor *self, struct kvs_worker *w, struct payload *payload,
                          const struct envelope *env, struct cursor *c)
{
    const char *name = key_get_text(c);
    if (!cursor_done(c)) {
        actor_fail(self, "getroot of actor %u is malformed", env->origin);
        return;
    }
    struct blobref root;
    uint64_t sequence;
    int error = worker_use(self, name, &root, &sequence);
    if (error == EAGAIN) {
        worker_park(self, name, KVS_GETROOT, payload, 0);
        return;
    }
    struct bytes body = BYTES_INIT;
    if (error == 0) {
        bytes_put_u64(&body, sequence);
        blobref_put(&body, &root);
        bytes_put_u32(&body, replicas_find(&w->replicas, name)->owner);
    }
    route_reply(self, env, KVS_GETROOT, (uint16_t)error, &body);
    bytes_release(&body);
}

static void request_handle(struct actor *self, struct kvs_worker *w, uint16_t kind, struct payload *payload)
{
    const struct message m = { .kind = kind, .flags = MESSAGE_PAYLOAD, .payload = payload };
    struct envelope env;
    struct cursor c = route_open(self, &m, &env);
    role_charge(self, cost_ns(&w->kvs.inst->costs.kvs_request, payload->size, 0));
    switch (kind) {
    case KVS_COMMIT:
        commit_serve(self, w, payload, &env, &c);
        break;
    case KVS_LOOKUP:
        kvs_lookup_serve(self, &w->kvs, kind, payload, &env, &c);
        break;
    case KVS_GETROOT:
        getroot_serve(self, w, payload, &env, &c);
        break;
    case KVS_GETROOT | KIND_REPLY:
        getroot_answered(self, w, &env, &c);
        break;
    default:
        kvs_message_refuse(self, &m);
        break;
    }
}

/* --- events --- */

static void commits_answer(struct actor *self, struct kvs_worker *w, struct replica *r, const struct event_names *names,
                           uint16_t error, uint64_t sequence)
{
    guint before = pending_length(&w->kvs.commits);
    kvs_names_answer(self, &w->kvs, names, error, sequence);
    r->held -= before - pending_length(&w->kvs.commits);
}

static void setroot_handle(struct actor *self, struct kvs_worker *w, const struct event_setroot *e, struct replica *r)
{
    commits_answer(self, w, r, &e->names, r->removing ? ENOTSUP : 0, e->sequence);
    if (r->removing)
        return;
    if (replica_advance(r, e->sequence, &e->root, w->kvs.heartbeat))
        content_insert(&w->kvs.cache, &e->root, e->directory, e->directory_size, w->kvs.heartbeat, NULL);
}

/* May end with a call. */
static void heartbeat_handle(struct actor *self, struct kvs_worker *w)
{
    struct kvs *k = &w->kvs;
    k->heartbeat++;
    uint32_t roots = replicas_count(&w->replicas);
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    replicas_reap(&w->replicas, k->heartbeat, names);
    for (guint i = 0; i < names->len; i++)
        calls_add_list(&k->calls, g_ptr_array_index(names, i), k->inst->scheme->users[SCHEME_KVS_WORKER].at_removal);
    actor_count(self, KVS_REAPED, names->len);
    g_ptr_array_free(names, TRUE);
    uint32_t removing = 0;
    for (guint i = 0; i < w->replicas.order->len; i++) {
        const struct replica *r = g_ptr_array_index(w->replicas.order, i);
        removing += r->removing;
        content_use(&k->cache, &r->root, k->heartbeat);     /* root directories stay in the cache */
    }
    for (; w->removing > removing; w->removing--)
        actor_hold(self, -1);
    kvs_heartbeat_end(self, k, roots);
    calls_next(self, &k->calls);
}

static void event_handle(struct actor *self, struct kvs_worker *w, const struct message *m)
{
    struct event event;
    if (!route_event(self, m, &event))
        return;
    struct event_setroot setroot = { .namespace_name = NULL };
    struct event_error failed = { .namespace_name = NULL };
    const char *name = NULL;
    struct event_names names = { 0, NULL };
    bool ok = true;
    switch (event.event_class) {
    case EVENT_SETROOT:
        ok = event_setroot_read(&event.body, &setroot);
        name = setroot.namespace_name;
        names = setroot.names;
        break;
    case EVENT_ERROR:
        ok = event_error_read(&event.body, &failed);
        name = failed.namespace_name;
        names = failed.names;
        break;
    case EVENT_REMOVED:
        name = event_removed_read(&event.body);
        ok = name != NULL;
        break;
    case EVENT_HEARTBEAT:
        heartbeat_handle(self, w);
        return;
    default:
        break;
    }
    if (!ok) {
        actor_fail(self, "event %s has a malformed body", event.topic);
        return;
    }
    struct replica *r = name == NULL ? NULL : replicas_find(&w->replicas, name);
    if (r == NULL) {        /* not our concern, or a prefix matched another namespace's event */
        kvs_event_discard(self, &w->kvs, m);
        return;
    }
    role_charge(self, cost_ns(&w->kvs.inst->costs.kvs_setroot, m->payload->size, names.count));
    actor_count(self, KVS_EVENTS, 1);
    if (event.event_class == EVENT_SETROOT) {
        setroot_handle(self, w, &setroot, r);
    } else if (event.event_class == EVENT_ERROR) {
        commits_answer(self, w, r, &names, (uint16_t)failed.errnum, 0);
    } else if (!r->removing) {
        r->removing = true;
        w->removing++;
        actor_hold(self, 1);
    }
}

static void kvs_worker_handle(struct actor *self, const struct message *m)
{
    struct kvs_worker *w = actor_state(self);
    switch (m->kind) {
    case BROKER_EVENT:
        event_handle(self, w, m);
        break;
    case BROKER_SUBSCRIBE | KIND_REPLY:
    case BROKER_UNSUBSCRIBE | KIND_REPLY:
        call_answered(self, w, m);
        break;
    case CONTENT_LOAD | KIND_REPLY: {
        struct envelope env;
        struct cursor c = route_open(self, m, &env);
        kvs_load_answered(self, &w->kvs, &env, &c);
        break;
    }
    default:
        if (message_has_payload(m))
            request_handle(self, w, m->kind, m->payload);
        else
            kvs_message_refuse(self, m);
        break;
    }
}

static const char *const kvs_worker_calls[] = { "broker", NULL };

const struct role role_kvs_worker = {
    .name = "kvs-worker",
    .text = "relays commits to node 0, follows its roots, serves lookups from a cache",
    .state_size = sizeof(struct kvs_worker),
    .streams = INSTANCE_STREAMS,
    .kinds = kvs_kinds,
    .metrics = kvs_metrics,
    .calls = kvs_worker_calls,
    .init = kvs_worker_init,
    .handle = kvs_worker_handle,
    .save = kvs_worker_save,
    .release = kvs_worker_release,
};
