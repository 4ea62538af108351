/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kvs on node 0: owns the roots of all namespaces and applies all transactions (flux-core 0.15 to 0.17,
 * src/modules/kvs/kvs.c).
 *
 * A prepare and check pair runs once a turn: prepare walks the roots until it finds a ready head, check walks all of
 * them and applies the head of each queue at most. So every message costs time in proportion to the number of roots,
 * those that wait for their removal included. A removed namespace goes for good at a heartbeat; until then it keeps
 * the run alive.
 */
#include <errno.h>

#include "kvs/key.h"
#include "kvs/namespaces.h"
#include "ranks/charge.h"
#include "ranks/kvs_fence.h"
#include "ranks/kvs_module.h"

struct kvs_root {
    struct kvs kvs;                 /* first */
    struct namespaces namespaces;
    struct kvs_fences fences;
    struct waitlist stores;         /* blobs not yet acknowledged; tokens: namespaces */
    struct envelope creating;       /* the request whose subscriptions are being made; origin = destination = 0: none */
    char *created;                  /* its namespace, or NULL */
};

static int root_use(struct actor *self, const char *ns, struct blobref *root, uint64_t *sequence)
{
    struct kvs_root *r = actor_state(self);
    struct namespace_root *found;
    int error = namespaces_use(&r->namespaces, ns, NAMESPACES_INSTANCE_OWNER, &found);
    if (error == 0) {
        *root = found->root;
        *sequence = found->sequence;
    }
    return error;
}

static void root_blob(struct actor *self, uint64_t id, uint16_t error)
{
    struct kvs_root *r = actor_state(self);
    struct namespace_root *ns = namespaces_by_id(&r->namespaces, id);
    struct commit *head = commit_queue_head(&ns->queue);
    if (error != 0)
        commit_fail(head, error);
    else
        commit_arrived(head);
    namespaces_update(&r->namespaces, ns);
}

static void blob_store(struct actor *self, const struct kvs_root *r, const void *data, size_t size)
{
    struct bytes body = BYTES_INIT;
    bytes_put_span(&body, data, size);
    route_send(self, instance_content(r->kvs.inst, 0), CONTENT_STORE, 0, &body);
    bytes_release(&body);
    actor_count(self, KVS_BLOBS, 1);
}

static const struct kvs_type root_type = { .use = root_use, .blob = root_blob };

static void kvs_root_init(struct actor *self, const void *setup)
{
    struct kvs_root *r = actor_state(self);
    struct namespace_root *primary;
    kvs_init(&r->kvs, self, &root_type);
    namespaces_init(&r->namespaces);
    namespaces_create(&r->namespaces, NAMESPACES_PRIMARY, NAMESPACES_INSTANCE_OWNER, 0, &primary);
    kvs_fences_init(&r->fences);
    waitlist_init(&r->stores);

    /* the root of every new namespace */
    struct bytes empty = BYTES_INIT;
    treeobj_put_empty_directory(&empty);
    content_put(&r->kvs.cache, empty.data, empty.size, 0, NULL);
    blob_store(self, r, empty.data, empty.size);
    bytes_release(&empty);
}

static void kvs_root_release(struct actor *self)
{
    struct kvs_root *r = actor_state(self);
    g_free(r->created);
    waitlist_release(&r->stores);
    kvs_fences_release(&r->fences);
    namespaces_release(&r->namespaces);
    kvs_release(&r->kvs);
}

static void kvs_root_save(const struct actor *self, struct bytes *sink)
{
    const struct kvs_root *r = actor_state(self);
    kvs_save(&r->kvs, sink);
    namespaces_save(&r->namespaces, sink);
    kvs_fences_save(&r->fences, sink);
    waitlist_save(&r->stores, sink);
    envelope_put(sink, &r->creating);
    key_put_text(sink, r->created == NULL ? "" : r->created);
}

static void event_publish(struct actor *self, const struct kvs_root *r, enum event_class event_class, const char *ns,
                          const struct bytes *body)
{
    char *topic = scheme_topic(r->kvs.inst->scheme->topics[event_class], ns);
    route_publish(self, event_class, topic, body);
    g_free(topic);
}

/* --- transactions --- */

static void commit_serve(struct actor *self, struct kvs_root *r, const struct envelope *env, struct cursor *c)
{
    const char *name = key_get_text(c);
    struct transaction *t = transaction_unpack(c);
    if (name == NULL || t == NULL || !cursor_done(c)) {
        actor_fail(self, "commit of actor %u is malformed", env->origin);
        return;
    }
    struct namespace_root *ns;
    int error = namespaces_use(&r->namespaces, name, NAMESPACES_INSTANCE_OWNER, &ns);
    if (error != 0) {
        transaction_free(t);
        route_reply(self, env, KVS_COMMIT, (uint16_t)error, NULL);
        return;
    }
    t->name = (struct transaction_name){ 0, kvs_commit_keep(self, &r->kvs, env, name) };
    actor_count(self, KVS_TRANSACTIONS, 1);
    namespaces_push(&r->namespaces, ns, t);
}

/* The one who relayed is not waiting for an answer but for an event, so an error is one too. */
static void relay_refuse(struct actor *self, struct kvs_root *r, const char *name, struct transaction *t, int error)
{
    struct commit failed = { .state = COMMIT_FAILED, .errnum = error, .transactions = g_ptr_array_new() };
    g_ptr_array_add(failed.transactions, t);
    struct bytes body = BYTES_INIT;
    event_error_pack(&body, name, &failed);
    event_publish(self, r, EVENT_ERROR, name, &body);
    bytes_release(&body);
    g_ptr_array_free(failed.transactions, TRUE);
    transaction_free(t);
}

static void relay_serve(struct actor *self, struct kvs_root *r, const struct envelope *env, struct cursor *c)
{
    const char *name = key_get_text(c);
    struct transaction *t = transaction_unpack(c);
    if (name == NULL || t == NULL || !cursor_done(c)) {
        actor_fail(self, "relayed commit of actor %u is malformed", env->origin);
        return;
    }
    struct namespace_root *ns;
    int error = namespaces_use(&r->namespaces, name, NAMESPACES_INSTANCE_OWNER, &ns);
    actor_count(self, KVS_TRANSACTIONS, 1);
    if (error == 0) {
        namespaces_push(&r->namespaces, ns, t);
    } else {
        actor_count(self, KVS_FAILED, 1);
        relay_refuse(self, r, name, t, error);
    }
}

static void commit_stall(struct actor *self, struct kvs_root *r, const struct namespace_root *ns, struct commit *head)
{
    if (head->state == COMMIT_LOADING) {
        for (guint i = 0; i < head->missing->len; i++) {
            const struct blobref *ref = &g_array_index(head->missing, struct blobref, i);
            if (waitlist_add(&r->kvs.waits, ref, ns->id << 1 | 1))
                kvs_load_send(self, &r->kvs, ref);
        }
        return;
    }
    for (guint i = 0; i < head->awaited->len; i++)
        waitlist_add(&r->stores, &g_array_index(head->awaited, struct blobref, i), ns->id);
    for (guint i = 0; i < head->stores->len; i++) {
        const struct blob *blob = g_ptr_array_index(head->stores, i);
        role_charge(self, cost_ns(&r->kvs.inst->costs.kvs_store, blob->size, 0));
        blob_store(self, r, blob->bytes, blob->size);
    }
}

static void store_answered(struct actor *self, struct kvs_root *r, const struct envelope *env, struct cursor *c)
{
    struct blobref ref = blobref_get(c);
    if (env->error != 0 || !cursor_done(c)) {
        actor_fail(self, "a store failed with error %u", env->error);
        return;
    }
    content_set_dirty(&r->kvs.cache, &ref, false);
    GArray *tokens = waitlist_take(&r->stores, &ref);
    for (guint i = 0; tokens != NULL && i < tokens->len; i++)
        root_blob(self, g_array_index(tokens, uint64_t, i), 0);
    if (tokens != NULL)
        g_array_unref(tokens);
}

static void commit_finish(struct actor *self, struct kvs_root *r, struct namespace_root *ns, struct commit *head)
{
    guint names = head->transactions->len;
    struct bytes body = BYTES_INIT;
    namespaces_advance(&r->namespaces, ns);
    event_setroot_pack(&body, ns->name, ns->owner, ns->sequence, head);
    role_charge(self, cost_ns(&r->kvs.inst->costs.kvs_setroot, body.size, names));
    event_publish(self, r, EVENT_SETROOT, ns->name, &body);
    bytes_release(&body);
    actor_count(self, KVS_SETROOTS, 1);
    actor_count(self, KVS_MERGED, names - 1);
    commit_queue_pop(&ns->queue);
    kvs_syncs_wake(self, &r->fences, ns, 0);
}

static void commit_report(struct actor *self, struct kvs_root *r, struct namespace_root *ns, struct commit *head)
{
    struct bytes body = BYTES_INIT;
    event_error_pack(&body, ns->name, head);
    event_publish(self, r, EVENT_ERROR, ns->name, &body);
    bytes_release(&body);
    actor_count(self, KVS_FAILED, head->transactions->len);
    commit_queue_pop(&ns->queue);
}

static void head_apply(struct actor *self, struct kvs_root *r, struct namespace_root *ns)
{
    const struct instance_costs *costs = &r->kvs.inst->costs;
    if (r->kvs.inst->merge)
        commit_queue_merge(&ns->queue);
    struct commit *head = commit_queue_head(&ns->queue);
    if (head->root_directory == NULL) {     /* not yet applied */
        uint64_t operations = 0;
        for (guint i = 0; i < head->transactions->len; i++)
            operations += ((struct transaction *)g_ptr_array_index(head->transactions, i))->count;
        role_charge(self, cost_ns(&costs->kvs_apply, 0, operations));
    }
    switch (commit_apply(head, &ns->root, ns->removing, &r->kvs.cache, r->kvs.heartbeat)) {
    case COMMIT_READY:
        break;
    case COMMIT_LOADING:
    case COMMIT_STORING:
        commit_stall(self, r, ns, head);
        break;
    case COMMIT_DONE:
        commit_finish(self, r, ns, head);
        break;
    case COMMIT_FAILED:
        if (!commit_queue_retry(&ns->queue))
            commit_report(self, r, ns, head);
        break;
    }
    namespaces_update(&r->namespaces, ns);
}

static bool kvs_root_turn_ready(const struct actor *self)
{
    const struct kvs_root *r = actor_state(self);
    return namespaces_ready(&r->namespaces, NULL) != NULL;
}

static void kvs_root_turn(struct actor *self)
{
    struct kvs_root *r = actor_state(self);
    /* prepare walks up to the first that is ready, check walks them all */
    uint64_t walked = r->kvs.inst->ready_list
                          ? r->namespaces.ready->len
                          : (uint64_t)namespaces_walk_length(&r->namespaces) + namespaces_count(&r->namespaces);
    role_charge(self, cost_ns(&r->kvs.inst->costs.kvs_turn, 0, walked));
    actor_count(self, KVS_ROOTS_WALKED, walked);
    struct namespace_root *ns = namespaces_ready(&r->namespaces, NULL);
    for (; ns != NULL; ns = namespaces_ready(&r->namespaces, ns))
        head_apply(self, r, ns);
}

/* --- namespaces --- */

static void getroot_serve(struct actor *self, struct kvs_root *r, const struct envelope *env, struct cursor *c)
{
    const char *name = key_get_text(c);
    struct namespace_root *ns;
    int error = cursor_done(c) ? namespaces_use(&r->namespaces, name, NAMESPACES_INSTANCE_OWNER, &ns) : EPROTO;
    struct bytes body = BYTES_INIT;
    if (error == 0) {
        bytes_put_u64(&body, ns->sequence);
        blobref_put(&body, &ns->root);
        bytes_put_u32(&body, ns->owner);
    }
    route_reply(self, env, KVS_GETROOT, (uint16_t)error, &body);
    bytes_release(&body);
}

/* All subscriptions of the namespace that is being created are made. */
static void create_finish(struct actor *self, struct kvs_root *r)
{
    const struct namespace_root *ns = namespaces_find(&r->namespaces, r->created);
    struct bytes body = BYTES_INIT;
    event_created_pack(&body, ns->name, ns->owner, ns->sequence, &ns->root);
    event_publish(self, r, EVENT_CREATED, ns->name, &body);
    bytes_release(&body);
    actor_count(self, KVS_CREATED, 1);
    route_reply(self, &r->creating, KVS_NAMESPACE_CREATE, 0, NULL);
    r->creating = (struct envelope){ 0 };
    g_free(r->created);
    r->created = NULL;
}

/* May end with a call. */
static void create_serve(struct actor *self, struct kvs_root *r, const struct envelope *env, struct cursor *c)
{
    const char *name = key_get_text(c);
    uint32_t owner = cursor_u32(c);
    struct namespace_root *ns;
    role_charge(self, cost_ns(&r->kvs.inst->costs.kvs_namespace, 0, 0));
    int error = cursor_done(c) ? namespaces_create(&r->namespaces, name, owner, 0, &ns) : EPROTO;
    if (error != 0) {
        route_reply(self, env, KVS_NAMESPACE_CREATE, (uint16_t)error, NULL);
        return;
    }
    r->creating = *env;
    r->created = g_strdup(name);
    calls_add_subscriptions(&r->kvs.calls, name, r->kvs.inst->scheme->users[SCHEME_KVS_ROOT].per_namespace);
    if (!calls_next(self, &r->kvs.calls))
        create_finish(self, r);
}

static void remove_serve(struct actor *self, struct kvs_root *r, const struct envelope *env, struct cursor *c)
{
    const char *name = key_get_text(c);
    struct namespace_root *ns = NULL;
    role_charge(self, cost_ns(&r->kvs.inst->costs.kvs_namespace, 0, 0));
    int error = cursor_done(c) ? namespaces_remove(&r->namespaces, name, &ns) : EPROTO;
    if (error == 0 && ns != NULL) {
        struct bytes body = BYTES_INIT;
        event_removed_pack(&body, name);
        event_publish(self, r, EVENT_REMOVED, name, &body);
        bytes_release(&body);
        actor_count(self, KVS_REMOVED, 1);
        actor_hold(self, 1);
        kvs_fences_remove(self, &r->fences, name);
        kvs_syncs_wake(self, &r->fences, ns, ENOTSUP);
    }
    route_reply(self, env, KVS_NAMESPACE_REMOVE, (uint16_t)error, NULL);
}

/* May end with a call. */
static void heartbeat_handle(struct actor *self, struct kvs_root *r)
{
    struct kvs *k = &r->kvs;
    k->heartbeat++;
    uint32_t roots = namespaces_count(&r->namespaces);
    for (guint i = 0; i < r->namespaces.order->len; i++) {  /* root directories stay in the cache */
        const struct namespace_root *ns = g_ptr_array_index(r->namespaces.order, i);
        content_use(&k->cache, &ns->root, k->heartbeat);
    }
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    namespaces_reap(&r->namespaces, names);
    for (guint i = 0; i < names->len; i++) {
        actor_hold(self, -1);
        calls_add_list(&k->calls, g_ptr_array_index(names, i), k->inst->scheme->users[SCHEME_KVS_ROOT].at_removal);
    }
    actor_count(self, KVS_REAPED, names->len);
    g_ptr_array_free(names, TRUE);
    kvs_heartbeat_end(self, k, roots);
    calls_next(self, &k->calls);
}

/* --- messages --- */

/* The root itself is ahead of its events: they only answer the commits that were made on this node. */
static void event_handle(struct actor *self, struct kvs_root *r, const struct message *m)
{
    const struct instance_costs *costs = &r->kvs.inst->costs;
    struct event event;
    if (!route_event(self, m, &event))
        return;
    struct event_setroot setroot;
    struct event_error failed;
    switch (event.event_class) {
    case EVENT_SETROOT: {
        if (!event_setroot_read(&event.body, &setroot))
            break;
        const struct namespace_root *ns = namespaces_find(&r->namespaces, setroot.namespace_name);
        if (ns == NULL) {       /* a prefix matched another namespace's event */
            kvs_event_discard(self, &r->kvs, m);
            return;
        }
        role_charge(self, cost_ns(&costs->kvs_setroot, m->payload->size, setroot.names.count));
        actor_count(self, KVS_EVENTS, 1);
        kvs_names_answer(self, &r->kvs, &setroot.names, ns->removing ? ENOTSUP : 0, setroot.sequence);
        kvs_fences_answer(self, &r->fences, &setroot.names, ns->removing ? ENOTSUP : 0, setroot.sequence);
        return;
    }
    case EVENT_ERROR:
        if (!event_error_read(&event.body, &failed))
            break;
        role_charge(self, cost_ns(&costs->kvs_setroot, m->payload->size, failed.names.count));
        actor_count(self, KVS_EVENTS, 1);
        kvs_names_answer(self, &r->kvs, &failed.names, (uint16_t)failed.errnum, 0);
        kvs_fences_answer(self, &r->fences, &failed.names, (uint16_t)failed.errnum, 0);
        return;
    case EVENT_REMOVED:
        role_charge(self, cost_ns(&costs->kvs_request, m->payload->size, 0));
        actor_count(self, KVS_EVENTS, 1);
        return;
    case EVENT_HEARTBEAT:
        heartbeat_handle(self, r);
        return;
    default:
        kvs_event_discard(self, &r->kvs, m);
        return;
    }
    actor_fail(self, "event %s has a malformed body", event.topic);
}

static void kvs_root_handle(struct actor *self, const struct message *m)
{
    struct kvs_root *r = actor_state(self);
    if (m->kind == BROKER_EVENT) {
        event_handle(self, r, m);
        return;
    }
    if (m->kind == (BROKER_SUBSCRIBE | KIND_REPLY) || m->kind == (BROKER_UNSUBSCRIBE | KIND_REPLY)) {
        if (!calls_done(self, &r->kvs.calls, m))
            role_charge(self, cost_ns(&r->kvs.inst->costs.kvs_request, 0, 0));
        else if (!calls_next(self, &r->kvs.calls) && r->created != NULL)
            create_finish(self, r);
        return;
    }
    struct envelope env;
    struct cursor c = route_open(self, m, &env);
    if (m->kind != (CONTENT_LOAD | KIND_REPLY))
        role_charge(self, cost_ns(&r->kvs.inst->costs.kvs_request, m->payload->size, 0));
    switch (m->kind) {
    case KVS_COMMIT:
        commit_serve(self, r, &env, &c);
        break;
    case KVS_RELAY:
        relay_serve(self, r, &env, &c);
        break;
    case KVS_LOOKUP:
        kvs_lookup_serve(self, &r->kvs, m->kind, m->payload, &env, &c);
        break;
    case KVS_GETROOT:
        getroot_serve(self, r, &env, &c);
        break;
    case KVS_NAMESPACE_CREATE:
        create_serve(self, r, &env, &c);
        break;
    case KVS_NAMESPACE_REMOVE:
        remove_serve(self, r, &env, &c);
        break;
    case KVS_FENCE:
        kvs_fence_serve(self, &r->fences, &r->namespaces, &env, &c);
        break;
    case KVS_SYNC:
        kvs_sync_serve(self, &r->fences, &r->namespaces, &env, &c);
        break;
    case CONTENT_STORE | KIND_REPLY:
        store_answered(self, r, &env, &c);
        break;
    case CONTENT_LOAD | KIND_REPLY:
        kvs_load_answered(self, &r->kvs, &env, &c);
        break;
    default:
        kvs_message_refuse(self, m);
        break;
    }
}

static const char *const kvs_root_calls[] = { "broker", NULL };

const struct role role_kvs_root = {
    .name = "kvs-root",
    .text = "owns the roots of all namespaces and applies all transactions",
    .state_size = sizeof(struct kvs_root),
    .streams = INSTANCE_STREAMS,
    .kinds = kvs_kinds,
    .metrics = kvs_metrics,
    .calls = kvs_root_calls,
    .init = kvs_root_init,
    .handle = kvs_root_handle,
    .turn = kvs_root_turn,
    .turn_ready = kvs_root_turn_ready,
    .save = kvs_root_save,
    .release = kvs_root_release,
};
