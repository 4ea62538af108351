/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watcher of a node: keeps those who asked informed of the changes of a key (flux-core 0.15 to 0.17,
 * src/modules/kvs-watch/kvs-watch.c).
 *
 * The first watch of a namespace starts its monitor: blocking subscribe calls, as the scheme says; the last one gone
 * ends it, with as many calls. A watch begins with an ordinary lookup, which also tells the sequence of the root that
 * it was read at; from then on each setroot that names the key leads to a lookup in that root. Answers keep the order
 * of the commits, and what is not newer than the first answer is dropped.
 */
#include <errno.h>

#include "kvs/event.h"
#include "kvs/jobid.h"
#include "kvs/key.h"
#include "kvs/lookup.h"
#include "kvs/namespaces.h"
#include "ranks/calls.h"
#include "ranks/charge.h"
#include "ranks/jobs.h"
#include "ranks/pending.h"
#include "ranks/roles.h"
#include "ranks/route.h"

enum watcher_metric {
    WATCHER_MONITORS = CALLS_METRICS_COUNT,
    WATCHER_GUEST_MONITORS,
    WATCHER_WATCHES,
    WATCHER_LOOKUPS,
    WATCHER_ANSWERS,
    WATCHER_EVENTS,
    WATCHER_DISCARDED,
    WATCHER_DISCARD_TIME
};

struct monitor {
    char *ns;
    GArray *watches;            /* of uint64_t: numbers in struct watcher's `watches`, rising */
    GHashTable *by_key;         /* key -> GArray of the numbers of its watches, rising */
};

struct requester {              /* who asked for a watch, and under which tag */
    uint32_t origin;
    uint64_t tag;
};

struct watch {
    struct envelope env;
    struct requester requester;
    uint64_t monitor;
    char *key;                  /* normalised */
    uint8_t flags;              /* enum watcher_flag */
    uint64_t sequence;          /* of the root that was answered last; 0: none */
    uint64_t offset;            /* bytes that were sent, with WATCHER_APPEND */
    GQueue reads;               /* of struct watch_read, in the order of the roots */
};

struct watch_read {             /* a lookup that was sent */
    uint64_t id;
    uint64_t watch;
    bool answered;
    uint16_t error;
    uint64_t sequence;
    struct bytes value;
};

struct watcher {
    const struct instance *inst;
    GHashTable *by_name;        /* namespace -> number in `monitors` */
    GHashTable *by_requester;   /* struct requester of a watch, in it -> its number */
    struct pending monitors;    /* struct monitor */
    struct pending watches;     /* struct watch */
    struct pending reads;       /* struct watch_read, which the watch owns */
    struct calls calls;
    uint64_t starting;          /* the watch whose monitor's subscriptions are being made, or 0 */
};

static void monitor_free(void *item)
{
    struct monitor *monitor = item;
    g_free(monitor->ns);
    g_array_free(monitor->watches, TRUE);
    g_hash_table_destroy(monitor->by_key);
    g_free(monitor);
}

static guint requester_hash(gconstpointer data)
{
    const struct requester *r = data;
    return (guint)(r->tag * 31 + r->origin);
}

static gboolean requester_equal(gconstpointer a, gconstpointer b)
{
    const struct requester *x = a, *y = b;
    return x->origin == y->origin && x->tag == y->tag;
}

static void numbers_free(gpointer numbers)
{
    g_array_free(numbers, TRUE);
}

static void numbers_remove(GArray *numbers, uint64_t number)
{
    for (guint i = 0; i < numbers->len; i++) {
        if (g_array_index(numbers, uint64_t, i) == number) {
            g_array_remove_index(numbers, i);
            return;
        }
    }
}

static void read_free(void *item)
{
    bytes_release(&((struct watch_read *)item)->value);
    g_free(item);
}

static void watch_free(void *item)
{
    struct watch *watch = item;
    g_queue_clear_full(&watch->reads, read_free);
    g_free(watch->key);
    g_free(watch);
}

static void watcher_init(struct actor *self, const void *setup)
{
    struct watcher *s = actor_state(self);
    s->inst = setup;
    s->by_name = g_hash_table_new(g_str_hash, g_str_equal);
    s->by_requester = g_hash_table_new(requester_hash, requester_equal);
    pending_init(&s->monitors, monitor_free);
    pending_init(&s->watches, watch_free);
    pending_init(&s->reads, NULL);
    calls_init(&s->calls, s->inst->async_watcher);
}

static void watcher_release(struct actor *self)
{
    struct watcher *s = actor_state(self);
    calls_release(&s->calls);
    pending_release(&s->reads);
    g_hash_table_destroy(s->by_requester);
    pending_release(&s->watches);
    g_hash_table_destroy(s->by_name);
    pending_release(&s->monitors);
}

static void watcher_save(const struct actor *self, struct bytes *sink)
{
    const struct watcher *s = actor_state(self);
    uint64_t *ids = pending_ids(&s->watches);
    bytes_put_u32(sink, pending_length(&s->watches));
    for (guint i = 0; i < pending_length(&s->watches); i++) {
        const struct watch *watch = pending_find(&s->watches, ids[i]);
        const struct monitor *monitor = pending_find(&s->monitors, watch->monitor);
        bytes_put_u64(sink, ids[i]);
        envelope_put(sink, &watch->env);
        key_put_text(sink, monitor->ns);
        key_put_text(sink, watch->key);
        bytes_put_u8(sink, watch->flags);
        bytes_put_u64(sink, watch->sequence);
        bytes_put_u64(sink, watch->offset);
        bytes_put_u32(sink, watch->reads.length);
        for (const GList *l = watch->reads.head; l != NULL; l = l->next) {
            const struct watch_read *read = l->data;
            bytes_put_u64(sink, read->id);
            bytes_put_u8(sink, read->answered);
            bytes_put_u16(sink, read->error);
            bytes_put_u64(sink, read->sequence);
            bytes_put_span(sink, read->value.data, read->value.size);
        }
    }
    g_free(ids);
    calls_save(&s->calls, sink);
    bytes_put_u64(sink, s->starting);
}

/* --- watches --- */

/* Asks for the key's value: at `sequence` and `root`, or at the present root when root is NULL. */
static void read_send(struct actor *self, struct watcher *s, uint64_t id, struct watch *watch, uint64_t sequence,
                      const struct blobref *root)
{
    const struct monitor *monitor = pending_find(&s->monitors, watch->monitor);
    struct watch_read *read = g_new0(struct watch_read, 1);
    read->watch = id;
    read->sequence = sequence;
    read->id = pending_add(&s->reads, read);
    g_queue_push_tail(&watch->reads, read);
    struct bytes body = BYTES_INIT;
    key_put_text(&body, monitor->ns);
    key_put_text(&body, watch->key);
    bytes_put_u8(&body, LOOKUP_VALUE);
    bytes_put_u8(&body, root != NULL);
    if (root != NULL) {
        bytes_put_u64(&body, sequence);
        blobref_put(&body, root);
    }
    route_send(self, instance_kvs(s->inst, actor_node(self)), KVS_LOOKUP, read->id, &body);
    bytes_release(&body);
    actor_count(self, WATCHER_LOOKUPS, 1);
}

/* Answers for the last time and forgets the watch; its monitor when it was the last. The caller makes the calls. */
static void watch_end(struct actor *self, struct watcher *s, uint64_t id, uint16_t error)
{
    struct watch *watch = pending_find(&s->watches, id);
    struct monitor *monitor = pending_find(&s->monitors, watch->monitor);
    route_reply(self, &watch->env, WATCHER_WATCH, error, NULL);
    for (const GList *l = watch->reads.head; l != NULL; l = l->next)
        pending_remove(&s->reads, ((struct watch_read *)l->data)->id);
    numbers_remove(monitor->watches, id);
    GArray *same_key = g_hash_table_lookup(monitor->by_key, watch->key);
    numbers_remove(same_key, id);
    if (same_key->len == 0)
        g_hash_table_remove(monitor->by_key, watch->key);
    g_hash_table_remove(s->by_requester, &watch->requester);
    if (monitor->watches->len == 0) {
        calls_add_list(&s->calls, monitor->ns, s->inst->scheme->users[SCHEME_WATCHER].at_removal);
        g_hash_table_remove(s->by_name, monitor->ns);
        pending_remove(&s->monitors, watch->monitor);
    }
    pending_remove(&s->watches, id);
}

/* One value in its turn; returns an error that ends the watch, or 0. */
static uint16_t read_use(struct actor *self, struct watch *watch, const struct watch_read *read)
{
    if (read->error == ENOENT && (watch->flags & WATCHER_WAIT_CREATE) != 0)
        return 0;
    if (read->error != 0)
        return read->error;
    if (watch->sequence != 0 && read->sequence <= watch->sequence)
        return 0;       /* older than the first answer */
    watch->sequence = read->sequence;
    const uint8_t *data = read->value.data;
    size_t size = read->value.size;
    if ((watch->flags & WATCHER_APPEND) != 0) {
        if (size < watch->offset)
            return EINVAL;
        if (size == watch->offset)
            return 0;
        data += watch->offset;
        size -= watch->offset;
        watch->offset += size;
    }
    struct bytes body = BYTES_INIT;
    bytes_put_span(&body, data, size);
    route_reply(self, &watch->env, WATCHER_WATCH, 0, &body);
    bytes_release(&body);
    actor_count(self, WATCHER_ANSWERS, 1);
    return 0;
}

/* May end with a call. */
static void read_answered(struct actor *self, struct watcher *s, const struct envelope *env, struct cursor *c)
{
    struct watch_read *read = pending_take(&s->reads, env->tag);
    if (read == NULL)
        return;         /* its watch has ended */
    read->answered = true;
    read->error = env->error;
    if (env->error == 0) {
        size_t size;
        read->sequence = cursor_u64(c);
        const char *data = cursor_span(c, &size);
        if (!cursor_done(c)) {
            actor_fail(self, "answer to a lookup from actor %u is malformed", env->origin);
            return;
        }
        bytes_put(&read->value, data, size);
    }
    uint64_t id = read->watch;
    struct watch *watch = pending_find(&s->watches, id);
    while ((read = g_queue_peek_head(&watch->reads)) != NULL && read->answered) {
        uint16_t error = read_use(self, watch, read);
        read_free(g_queue_pop_head(&watch->reads));
        if (error != 0) {
            watch_end(self, s, id, error);
            calls_next(self, &s->calls);
            return;
        }
    }
}

/* A row for a job's namespace that is watched from now on. */
static void watcher_record(struct actor *self, const struct watcher *s, const char *ns)
{
    uint64_t id;
    if (s->inst->jobs == NULL || !jobid_from_namespace(ns, &id))
        return;
    struct bytes row = BYTES_INIT;
    bytes_put_u64(&row, id);
    bytes_put_u32(&row, actor_node(self));
    actor_record(self, s->inst->jobs->watch_table, row.data, row.size);
    bytes_release(&row);
}

/* The namespace is watched from now on: its subscriptions are made before the first lookup, by calls that the caller
 * starts. */
static uint64_t monitor_add(struct actor *self, struct watcher *s, const char *ns)
{
    struct monitor *monitor = g_new(struct monitor, 1);
    monitor->ns = g_strdup(ns);
    monitor->watches = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    monitor->by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, numbers_free);
    uint64_t id = pending_add(&s->monitors, monitor);
    g_hash_table_insert(s->by_name, monitor->ns, GSIZE_TO_POINTER(id));
    calls_add_subscriptions(&s->calls, ns, s->inst->scheme->users[SCHEME_WATCHER].per_namespace);
    actor_count(self, WATCHER_MONITORS, 1);
    if (!g_str_equal(ns, NAMESPACES_PRIMARY)) {
        actor_count(self, WATCHER_GUEST_MONITORS, 1);
        watcher_record(self, s, ns);
    }
    return id;
}

/* May end with a call. */
static void watch_serve(struct actor *self, struct watcher *s, const struct envelope *env, struct cursor *c)
{
    const char *ns = key_get_text(c);
    const char *key = key_get_text(c);
    uint8_t flags = cursor_u8(c);
    if (!cursor_done(c)) {
        actor_fail(self, "watch of actor %u is malformed", env->origin);
        return;
    }
    uint64_t monitor_id = GPOINTER_TO_SIZE(g_hash_table_lookup(s->by_name, ns));
    if (monitor_id == 0)
        monitor_id = monitor_add(self, s, ns);
    struct monitor *monitor = pending_find(&s->monitors, monitor_id);
    struct watch *watch = g_new0(struct watch, 1);
    watch->env = *env;
    watch->monitor = monitor_id;
    watch->key = g_malloc(strlen(key) + 2);
    key_normalize(key, watch->key);
    watch->flags = flags;
    g_queue_init(&watch->reads);
    uint64_t id = pending_add(&s->watches, watch);
    g_array_append_val(monitor->watches, id);
    GArray *same_key = g_hash_table_lookup(monitor->by_key, watch->key);
    if (same_key == NULL) {
        same_key = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        g_hash_table_insert(monitor->by_key, g_strdup(watch->key), same_key);
    }
    g_array_append_val(same_key, id);
    watch->requester = (struct requester){ env->origin, env->tag };
    g_hash_table_insert(s->by_requester, &watch->requester, GSIZE_TO_POINTER(id));
    actor_count(self, WATCHER_WATCHES, 1);
    s->starting = id;
    if (calls_next(self, &s->calls))
        return;
    s->starting = 0;
    read_send(self, s, id, watch, 0, NULL);
}

static void call_answered(struct actor *self, struct watcher *s, const struct message *m)
{
    if (!calls_done(self, &s->calls, m)) {
        role_charge(self, cost_ns(&s->inst->costs.watcher_request, 0, 0));
        return;
    }
    if (calls_next(self, &s->calls) || s->starting == 0)
        return;
    uint64_t id = s->starting;
    s->starting = 0;
    read_send(self, s, id, pending_find(&s->watches, id), 0, NULL);
}

/* May end with a call. */
static void cancel_serve(struct actor *self, struct watcher *s, const struct envelope *env, struct cursor *c)
{
    uint64_t tag = cursor_u64(c);
    struct requester requester = { env->origin, tag };
    /* It looks through all watches of all namespaces. */
    role_charge(self, (int64_t)pending_length(&s->watches) * s->inst->costs.watcher_request.per_entry_ns);
    uint64_t found = GPOINTER_TO_SIZE(g_hash_table_lookup(s->by_requester, &requester));
    if (found == 0)
        return;
    watch_end(self, s, found, ENODATA);
    calls_next(self, &s->calls);
}

/* --- events --- */

static struct monitor *monitor_find(const struct watcher *s, const char *ns)
{
    return pending_find(&s->monitors, GPOINTER_TO_SIZE(g_hash_table_lookup(s->by_name, ns)));
}

static void event_discard(struct actor *self, const struct watcher *s, const struct message *m)
{
    int64_t cost = cost_ns(&s->inst->costs.watcher_discard, m->payload->size, 0);
    role_charge(self, cost);
    actor_count(self, WATCHER_DISCARDED, 1);
    actor_count(self, WATCHER_DISCARD_TIME, (uint64_t)cost);
}

static gint number_compare(gconstpointer a, gconstpointer b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Looks up what is watched among the changed keys, in the order of the watches. */
static void keys_changed(struct actor *self, struct watcher *s, const struct monitor *monitor,
                         const struct event_setroot *setroot)
{
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    const uint8_t *at = NULL;
    const char *key;
    while ((key = event_next_key(&setroot->keys, &at)) != NULL) {
        const GArray *same_key = g_hash_table_lookup(monitor->by_key, key);
        if (same_key != NULL)
            g_array_append_vals(ids, same_key->data, same_key->len);
    }
    g_array_sort(ids, number_compare);
    for (guint i = 0; i < ids->len; i++) {
        uint64_t id = g_array_index(ids, uint64_t, i);
        read_send(self, s, id, pending_find(&s->watches, id), setroot->sequence, &setroot->root);
    }
    g_array_free(ids, TRUE);
}

/* May end with a call. */
static void event_handle(struct actor *self, struct watcher *s, const struct message *m)
{
    struct event event;
    if (!route_event(self, m, &event))
        return;
    struct event_setroot setroot = { .namespace_name = NULL };
    const char *ns = NULL;
    if (event.event_class == EVENT_SETROOT) {
        ns = event_setroot_read(&event.body, &setroot) ? setroot.namespace_name : NULL;
    } else if (event.event_class == EVENT_REMOVED) {
        ns = event_removed_read(&event.body);
    } else {            /* created: nothing to do; error: others' concern */
        event_discard(self, s, m);
        return;
    }
    if (ns == NULL) {
        actor_fail(self, "event %s has a malformed body", event.topic);
        return;
    }
    struct monitor *monitor = monitor_find(s, ns);
    if (monitor == NULL) {
        event_discard(self, s, m);
        return;
    }
    role_charge(self, cost_ns(&s->inst->costs.watcher_event, m->payload->size, monitor->watches->len));
    actor_count(self, WATCHER_EVENTS, 1);
    if (event.event_class == EVENT_SETROOT) {
        keys_changed(self, s, monitor, &setroot);
        return;
    }
    for (guint left = monitor->watches->len; left > 0; left--)
        watch_end(self, s, g_array_index(monitor->watches, uint64_t, 0), ENOTSUP);
    calls_next(self, &s->calls);
}

static void watcher_handle(struct actor *self, const struct message *m)
{
    struct watcher *s = actor_state(self);
    switch (m->kind) {
    case BROKER_EVENT:
        event_handle(self, s, m);
        return;
    case BROKER_SUBSCRIBE | KIND_REPLY:
    case BROKER_UNSUBSCRIBE | KIND_REPLY:
        call_answered(self, s, m);
        return;
    default:
        break;
    }
    struct envelope env;
    struct cursor c = route_open(self, m, &env);
    role_charge(self, cost_ns(&s->inst->costs.watcher_request, m->payload->size, 0));
    switch (m->kind) {
    case WATCHER_WATCH:
        watch_serve(self, s, &env, &c);
        break;
    case WATCHER_CANCEL:
        cancel_serve(self, s, &env, &c);
        break;
    case KVS_LOOKUP | KIND_REPLY:
        read_answered(self, s, &env, &c);
        break;
    default:
        actor_fail(self, "watcher got a message of kind 0x%04x, which it does not serve", m->kind);
        break;
    }
}

static const struct kind_name watcher_kinds[] = {
    { WATCHER_WATCH, "watch", "a key to be watched" },
    { WATCHER_WATCH | KIND_REPLY, "watch-reply", "a watched key's value, or the end of the watch" },
    { WATCHER_CANCEL, "cancel", "a watch to be ended" },
    { 0, NULL, NULL }
};

static const struct metric watcher_metrics[] = {
    CALLS_METRICS,
    [WATCHER_MONITORS] = { "monitors", "1", "monitors of a namespace started", METRIC_COUNTER },
    [WATCHER_GUEST_MONITORS] = { "guest_monitors", "1", "of these, of a namespace other than primary", METRIC_COUNTER },
    [WATCHER_WATCHES] = { "watches", "1", "watches begun", METRIC_COUNTER },
    [WATCHER_LOOKUPS] = { "lookups", "1", "lookups sent", METRIC_COUNTER },
    [WATCHER_ANSWERS] = { "answers", "1", "values sent to those who watch", METRIC_COUNTER },
    [WATCHER_EVENTS] = { "events", "1", "events acted on", METRIC_COUNTER },
    [WATCHER_DISCARDED] = { "discarded", "1", "events delivered and ignored", METRIC_COUNTER },
    [WATCHER_DISCARD_TIME] = { "discard_time", "ns", "time spent on events delivered and ignored", METRIC_COUNTER },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

static const char *const watcher_calls[] = { "broker", NULL };

const struct role role_watcher = {
    .name = "watcher",
    .text = "tells those who watch a key of its changes",
    .state_size = sizeof(struct watcher),
    .streams = INSTANCE_STREAMS,
    .kinds = watcher_kinds,
    .metrics = watcher_metrics,
    .calls = watcher_calls,
    .init = watcher_init,
    .handle = watcher_handle,
    .save = watcher_save,
    .release = watcher_release,
};
