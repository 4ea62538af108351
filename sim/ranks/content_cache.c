/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The content cache of a node's broker: blobs by reference (flux-core 0.15 to 0.17, src/broker/content-cache.c), served
 * by the broker's thread unless the deck gives it one. Node 0 holds all blobs, cache and backing store in one, and
 * acknowledges a store at once. Elsewhere a load that misses goes to the parent node's cache, one request a blob
 * whatever the number of waiters. At a heartbeat such a cache, when over 16 MiB or 1 Mi blobs, drops what was not used
 * for five heartbeats.
 */
#include <errno.h>

#include "kvs/content.h"
#include "kvs/waitlist.h"
#include "ranks/charge.h"
#include "ranks/instance.h"
#include "ranks/pending.h"
#include "ranks/roles.h"
#include "ranks/route.h"

enum {
    PURGE_BYTES = 16 << 20,
    PURGE_BLOBS = 1 << 20,
    PURGE_AGE = 5       /* heartbeats */
};

enum content_metric {
    CONTENT_STORES,
    CONTENT_LOADS,
    CONTENT_MISSES,
    CONTENT_PURGED
};

struct content_cache {
    const struct instance *inst;
    uint32_t node;
    uint32_t heartbeat;
    struct content blobs;
    struct waitlist waits;          /* tokens: numbers in `requests` */
    struct pending requests;        /* struct envelope: loads to be answered */
    struct pending loads;           /* struct blobref: asked of the parent */
};

static void content_cache_init(struct actor *self, const void *setup)
{
    struct content_cache *s = actor_state(self);
    s->inst = setup;
    s->node = actor_node(self);
    content_init(&s->blobs, s->inst->pool);
    waitlist_init(&s->waits);
    pending_init(&s->requests, g_free);
    pending_init(&s->loads, g_free);
}

static void content_cache_release(struct actor *self)
{
    struct content_cache *s = actor_state(self);
    pending_release(&s->loads);
    pending_release(&s->requests);
    waitlist_release(&s->waits);
    content_release(&s->blobs);
}

static void content_cache_save(const struct actor *self, struct bytes *sink)
{
    const struct content_cache *s = actor_state(self);
    bytes_put_u32(sink, s->heartbeat);
    content_save(&s->blobs, sink);
    waitlist_save(&s->waits, sink);
    bytes_put_u32(sink, pending_length(&s->requests));
    uint64_t *ids = pending_ids(&s->requests);
    for (guint i = 0; i < pending_length(&s->requests); i++) {
        bytes_put_u64(sink, ids[i]);
        envelope_put(sink, pending_find(&s->requests, ids[i]));
    }
    g_free(ids);
    bytes_put_u32(sink, pending_length(&s->loads));
    ids = pending_ids(&s->loads);
    for (guint i = 0; i < pending_length(&s->loads); i++) {
        bytes_put_u64(sink, ids[i]);
        blobref_put(sink, pending_find(&s->loads, ids[i]));
    }
    g_free(ids);
}

static void blob_answer(struct actor *self, const struct envelope *env, const void *data, size_t size)
{
    struct bytes body = BYTES_INIT;
    bytes_put_span(&body, data, size);
    route_reply(self, env, CONTENT_LOAD, 0, &body);
    bytes_release(&body);
}

static void store_serve(struct actor *self, struct content_cache *s, const struct envelope *env, struct cursor *c)
{
    size_t size;
    const char *data = cursor_span(c, &size);
    if (!cursor_done(c)) {
        actor_fail(self, "store from actor %u is malformed", env->origin);
        return;
    }
    role_charge(self, cost_ns(&s->inst->costs.content_store, size, 0));
    actor_count(self, CONTENT_STORES, 1);
    struct blob *blob = content_put(&s->blobs, data, size, s->heartbeat, NULL);
    struct bytes body = BYTES_INIT;
    blobref_put(&body, &blob->ref);
    route_reply(self, env, CONTENT_STORE, 0, &body);
    bytes_release(&body);
}

static void load_serve(struct actor *self, struct content_cache *s, const struct envelope *env, struct cursor *c)
{
    struct blobref ref = blobref_get(c);
    if (!cursor_done(c)) {
        actor_fail(self, "load from actor %u is malformed", env->origin);
        return;
    }
    const struct blob *blob = content_use(&s->blobs, &ref, s->heartbeat);
    role_charge(self, cost_ns(&s->inst->costs.content_load, blob == NULL ? 0 : blob->size, 0));
    actor_count(self, CONTENT_LOADS, 1);
    if (blob != NULL) {
        blob_answer(self, env, blob->bytes, blob->size);
        return;
    }
    actor_count(self, CONTENT_MISSES, 1);
    if (s->node == 0) {
        route_reply(self, env, CONTENT_LOAD, ENOENT, NULL);
        return;
    }
    uint64_t id = pending_add(&s->requests, g_memdup2(env, sizeof *env));
    if (!waitlist_add(&s->waits, &ref, id))
        return;
    struct bytes body = BYTES_INIT;
    blobref_put(&body, &ref);
    uint64_t load = pending_add(&s->loads, g_memdup2(&ref, sizeof ref));
    route_send(self, instance_content(s->inst, instance_parent(s->inst, s->node)), CONTENT_LOAD, load, &body);
    bytes_release(&body);
}

static void load_answered(struct actor *self, struct content_cache *s, const struct envelope *env, struct cursor *c)
{
    size_t size = 0;
    const char *data = env->error == 0 ? cursor_span(c, &size) : NULL;
    struct blobref *ref = pending_take(&s->loads, env->tag);
    if (ref == NULL || !cursor_done(c)) {
        g_free(ref);
        actor_fail(self, "answer to a load from actor %u is malformed", env->origin);
        return;
    }
    role_charge(self, cost_ns(&s->inst->costs.content_load, size, 0));
    if (env->error == 0)
        content_insert(&s->blobs, ref, data, size, s->heartbeat, NULL);
    GArray *tokens = waitlist_take(&s->waits, ref);
    for (guint i = 0; tokens != NULL && i < tokens->len; i++) {
        struct envelope *request = pending_take(&s->requests, g_array_index(tokens, uint64_t, i));
        if (env->error == 0)
            blob_answer(self, request, data, size);
        else
            route_reply(self, request, CONTENT_LOAD, env->error, NULL);
        g_free(request);
    }
    if (tokens != NULL)
        g_array_unref(tokens);
    g_free(ref);
}

static void heartbeat_handle(struct actor *self, struct content_cache *s)
{
    role_charge(self, cost_ns(&s->inst->costs.content_heartbeat, 0, 0));
    s->heartbeat++;
    if (s->node > 0 && s->heartbeat >= PURGE_AGE && (s->blobs.bytes > PURGE_BYTES || s->blobs.blobs > PURGE_BLOBS))
        actor_count(self, CONTENT_PURGED, content_expire(&s->blobs, s->heartbeat - PURGE_AGE + 1, NULL, NULL));
}

static void content_cache_handle(struct actor *self, const struct message *m)
{
    struct content_cache *s = actor_state(self);
    if (m->kind == BROKER_EVENT) {
        heartbeat_handle(self, s);
        return;
    }
    struct envelope env;
    struct cursor c = route_open(self, m, &env);
    switch (m->kind) {
    case CONTENT_STORE:
        store_serve(self, s, &env, &c);
        break;
    case CONTENT_LOAD:
        load_serve(self, s, &env, &c);
        break;
    case CONTENT_LOAD | KIND_REPLY:
        load_answered(self, s, &env, &c);
        break;
    default:
        actor_fail(self, "content cache got a message of kind 0x%04x, which it does not serve", m->kind);
        break;
    }
}

static const struct kind_name content_kinds[] = {
    { CONTENT_STORE, "store", "a blob to be kept" },
    { CONTENT_STORE | KIND_REPLY, "store-reply", "the reference of a blob that is held" },
    { CONTENT_LOAD, "load", "a reference whose blob is wanted" },
    { CONTENT_LOAD | KIND_REPLY, "load-reply", "the blob of a reference" },
    { 0, NULL, NULL }
};

static const struct metric content_metrics[] = {
    [CONTENT_STORES] = { "stores", "1", "blobs given to be kept", METRIC_SERIES },
    [CONTENT_LOADS] = { "loads", "1", "blobs asked for", METRIC_SERIES },
    [CONTENT_MISSES] = { "misses", "1", "blobs asked for and not there", METRIC_COUNTER },
    [CONTENT_PURGED] = { "purged", "1", "blobs dropped at a heartbeat", METRIC_COUNTER },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_content = {
    .name = "content-cache",
    .text = "keeps blobs by reference; loads from the parent node what it lacks",
    .state_size = sizeof(struct content_cache),
    .streams = INSTANCE_STREAMS,
    .kinds = content_kinds,
    .metrics = content_metrics,
    .init = content_cache_init,
    .handle = content_cache_handle,
    .save = content_cache_save,
    .release = content_cache_release,
};
