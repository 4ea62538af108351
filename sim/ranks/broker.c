/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/broker.h"

#include <errno.h>

#include "kvs/key.h"
#include "kvs/topics_glance.h"
#include "ranks/charge.h"
#include "ranks/instance.h"
#include "ranks/roles.h"
#include "ranks/route.h"

enum { MODULES_MAX = TOPICS_GLANCE_LISTS };

struct subscriber {
    uint32_t actor;
    struct topics topics;
};

struct broker {
    const struct instance *inst;
    uint32_t node;
    uint32_t child;                         /* the first child node */
    uint32_t children;
    uint32_t modules_used;
    uint64_t sequence;                      /* of the last event: given out on node 0, seen elsewhere */
    struct topics_glance glance;            /* at the modules' lists */
    struct topics_heads heads;              /* of the clients' lists, for events that none of them has */
    uint64_t heartbeats;                    /* node 0 */
    struct subscriber modules[MODULES_MAX]; /* in the order in which events are handed out */
    GArray *clients;                        /* of struct subscriber with an entry at least, by actor */
    GTree *services;                        /* names that clients registered -> actor */
};

static void module_load(struct broker *b, uint32_t actor, const char *name, const char *const *topics)
{
    struct subscriber *s = &b->modules[b->modules_used++];
    s->actor = actor;
    char *clear = g_strconcat(name, ".stats.clear", NULL);
    topics_subscribe(&s->topics, clear);    /* the broker's generic service does this for every module */
    g_free(clear);
    for (; topics != NULL && *topics != NULL; topics++)
        topics_subscribe(&s->topics, *topics);
}

/* After each change of a module's list. */
static void glance_renew(struct broker *b)
{
    const struct topics *lists[MODULES_MAX];
    for (uint32_t i = 0; i < b->modules_used; i++)
        lists[i] = &b->modules[i].topics;
    topics_glance_renew(&b->glance, lists, b->modules_used);
}

/* After each change of a client's list. */
static void heads_renew(struct broker *b)
{
    topics_heads_clear(&b->heads);
    for (guint i = 0; i < b->clients->len; i++)
        topics_heads_add(&b->heads, &g_array_index(b->clients, struct subscriber, i).topics);
}

static gint name_compare(gconstpointer a, gconstpointer b, gpointer data)
{
    return strcmp(a, b);
}

static void broker_init(struct actor *self, const void *setup)
{
    static const char *const job_info_topics[] = { "job-state", NULL };
    struct broker *b = actor_state(self);
    const struct instance *inst = setup;
    b->inst = inst;
    b->node = actor_node(self);
    b->children = instance_children(inst, b->node, &b->child);
    b->clients = g_array_new(FALSE, TRUE, sizeof(struct subscriber));
    b->services = g_tree_new_full(name_compare, NULL, g_free, NULL);

    const struct scheme_subscriptions *users = inst->scheme->users;
    const struct scheme_subscriptions *kvs = &users[b->node == 0 ? SCHEME_KVS_ROOT : SCHEME_KVS_WORKER];
    module_load(b, instance_kvs(inst, b->node), "kvs", kvs->at_load);
    module_load(b, instance_watcher(inst, b->node), "kvs-watch", users[SCHEME_WATCHER].at_load);
    if (b->node == 0 || !inst->job_info_first)
        module_load(b, instance_job_info(inst, b->node), "job-info", job_info_topics);
    module_load(b, instance_ingest(inst, b->node), "job-ingest", NULL);
    if (b->node == 0) {
        module_load(b, instance_job_manager(inst), "job-manager", NULL);
        module_load(b, instance_scheduler(inst), "sched-simple", NULL);
        module_load(b, instance_job_exec(inst), "job-exec", NULL);
        actor_timer_background(self, inst->heartbeat_ns, BROKER_HEARTBEAT, 0);
    }
    glance_renew(b);
}

static void broker_release(struct actor *self)
{
    struct broker *b = actor_state(self);
    for (uint32_t i = 0; i < b->modules_used; i++)
        topics_release(&b->modules[i].topics);
    for (guint i = 0; i < b->clients->len; i++)
        topics_release(&g_array_index(b->clients, struct subscriber, i).topics);
    g_array_free(b->clients, TRUE);
    g_tree_destroy(b->services);
}

static gboolean service_save(gpointer name, gpointer actor, gpointer sink)
{
    key_put_text(sink, name);
    bytes_put_u32(sink, GPOINTER_TO_UINT(actor));
    return FALSE;
}

static void broker_save(const struct actor *self, struct bytes *sink)
{
    const struct broker *b = actor_state(self);
    bytes_put_u64(sink, b->sequence);
    bytes_put_u64(sink, b->heartbeats);
    for (uint32_t i = 0; i < b->modules_used; i++)
        topics_save(&b->modules[i].topics, sink);
    bytes_put_u32(sink, b->clients->len);
    for (guint i = 0; i < b->clients->len; i++) {
        const struct subscriber *s = &g_array_index(b->clients, struct subscriber, i);
        bytes_put_u32(sink, s->actor);
        topics_save(&s->topics, sink);
    }
    bytes_put_u32(sink, (uint32_t)g_tree_nnodes(b->services));
    g_tree_foreach(b->services, service_save, sink);
}

/* --- subscriptions --- */

static struct subscriber *module_find(struct broker *b, uint32_t actor)
{
    for (uint32_t i = 0; i < b->modules_used; i++)
        if (b->modules[i].actor == actor)
            return &b->modules[i];
    return NULL;
}

/* Where the client stands in the list, or would stand. */
static guint client_place(const struct broker *b, uint32_t actor)
{
    guint low = 0, high = b->clients->len;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (g_array_index(b->clients, struct subscriber, middle).actor < actor)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct subscriber *client_find(struct broker *b, uint32_t actor)
{
    guint place = client_place(b, actor);
    if (place == b->clients->len)
        return NULL;
    struct subscriber *s = &g_array_index(b->clients, struct subscriber, place);
    return s->actor == actor ? s : NULL;
}

const struct topics *broker_subscriptions(const struct actor *self, uint32_t actor)
{
    struct broker *b = actor_state(self);
    const struct subscriber *s = module_find(b, actor);
    if (s == NULL)
        s = client_find(b, actor);
    return s == NULL ? NULL : &s->topics;
}

static void subscription_serve(struct actor *self, struct broker *b, const struct message *m)
{
    struct cursor c = message_cursor(m);
    const char *topic = key_get_text(&c);
    if (!cursor_done(&c)) {
        actor_fail(self, "subscription of actor %u is malformed", m->from);
        return;
    }
    struct subscriber *s = module_find(b, m->from);
    bool is_client = s == NULL;
    if (is_client)
        s = client_find(b, m->from);
    uint64_t error = 0;
    uint32_t walked = 0;
    if (m->kind == BROKER_SUBSCRIBE) {
        if (s == NULL) {
            struct subscriber fresh = { m->from, TOPICS_INIT };
            guint place = client_place(b, m->from);
            g_array_insert_val(b->clients, place, fresh);
            s = &g_array_index(b->clients, struct subscriber, place);
        }
        topics_subscribe(&s->topics, topic);
    } else {
        /* the walk ends at the first equal entry, which is the first match but where a shorter prefix hides it */
        walked = s == NULL ? 0 : topics_match(&s->topics, topic).scanned;
        if (s == NULL || !topics_unsubscribe(&s->topics, topic))
            error = ENOENT;
        if (is_client && s != NULL && topics_length(&s->topics) == 0) {
            topics_release(&s->topics);
            g_array_remove_index(b->clients, client_place(b, m->from));
        }
    }
    if (is_client)
        heads_renew(b);
    else
        glance_renew(b);
    actor_count(self, BROKER_CALLS, 1);
    role_charge(self, cost_ns(&b->inst->costs.broker_subscribe, 0, walked));
    actor_reply(self, request_of(m), m->kind | KIND_REPLY, error);
}

static void service_serve(struct actor *self, struct broker *b, const struct message *m)
{
    struct cursor c = message_cursor(m);
    const char *name = key_get_text(&c);
    if (!cursor_done(&c)) {
        actor_fail(self, "service of actor %u is malformed", m->from);
        return;
    }
    bool there = g_tree_lookup_extended(b->services, name, NULL, NULL);
    bool adding = m->kind == BROKER_SERVICE_ADD;
    if (adding && !there)
        g_tree_insert(b->services, g_strdup(name), GUINT_TO_POINTER(m->from));
    else if (!adding && there)
        g_tree_remove(b->services, name);
    uint64_t error = adding == there ? (adding ? EEXIST : ENOENT) : 0;
    role_charge(self, cost_ns(&b->inst->costs.broker_subscribe, 0, 0));
    actor_reply(self, request_of(m), m->kind | KIND_REPLY, error);
}

/* --- events --- */

static unsigned overlay_metric(uint8_t event_class)
{
    if (event_class < EVENT_KVS_CLASSES)
        return BROKER_OVERLAY_KVS;
    switch (event_class) {
    case EVENT_JOB_STATE: return BROKER_OVERLAY_JOB_STATE;
    case EVENT_HEARTBEAT: return BROKER_OVERLAY_HEARTBEAT;
    default: return BROKER_OVERLAY_OTHER;
    }
}

/* What is due so far is paid with the sending. */
static void event_send(struct actor *self, const struct broker *b, uint32_t to, struct payload *payload,
                       int64_t *due_ns)
{
    role_charge(self, *due_ns + b->inst->costs.broker_event.per_entry_ns);
    *due_ns = 0;
    actor_send_payload(self, to, BROKER_EVENT, payload_ref(payload));
}

/* What comes of the search for those who get an event. */
struct offer {
    uint32_t delivered;
    uint32_t scanned;
};

static void event_hand(struct actor *self, const struct broker *b, uint32_t to, struct topics_match match,
                       struct payload *payload, int64_t *due_ns, struct offer *offer)
{
    *due_ns += match.scanned * b->inst->costs.broker_match.per_entry_ns;
    offer->scanned += match.scanned;
    if (match.matched) {
        event_send(self, b, to, payload, due_ns);
        offer->delivered++;
    }
}

static void event_offer_modules(struct actor *self, const struct broker *b, const char *topic,
                                struct payload *payload, int64_t *due_ns, struct offer *offer)
{
    struct topics_match matches[MODULES_MAX];
    const struct topics_prefixes *prefixes = NULL;
    if (topics_glance_usable(&b->glance))
        prefixes = topics_prefixes_of(payload->hash, topic);
    if (prefixes != NULL)
        topics_glance_match(&b->glance, prefixes, matches);
    for (uint32_t i = 0; i < b->modules_used; i++) {
        const struct subscriber *module = &b->modules[i];
        if (prefixes == NULL)
            matches[i] = topics_match(&module->topics, topic);
        event_hand(self, b, module->actor, matches[i], payload, due_ns, offer);
    }
}

static void event_offer_clients(struct actor *self, const struct broker *b, const char *topic,
                                struct payload *payload, int64_t *due_ns, struct offer *offer)
{
    if (!topics_heads_may_match(&b->heads, topic)) {
        offer->scanned += b->heads.entries;
        *due_ns += b->heads.entries * b->inst->costs.broker_match.per_entry_ns;
        return;
    }
    for (guint i = 0; i < b->clients->len; i++) {
        const struct subscriber *client = &g_array_index(b->clients, struct subscriber, i);
        event_hand(self, b, client->actor, topics_match(&client->topics, topic), payload, due_ns, offer);
    }
}

static void event_distribute(struct actor *self, struct broker *b, uint8_t event_class, const char *topic,
                             struct payload *payload)
{
    int64_t due_ns = cost_ns(&b->inst->costs.broker_event, payload->size, 0);
    for (uint32_t i = 0; i < b->children; i++)
        event_send(self, b, instance_broker(b->inst, b->child + i), payload, &due_ns);
    if (b->children > 0)
        actor_count(self, overlay_metric(event_class), b->children);
    if (event_class == EVENT_HEARTBEAT)
        event_send(self, b, instance_content(b->inst, b->node), payload, &due_ns);
    struct offer offer = { 0, 0 };
    due_ns += b->inst->costs.broker_match.fixed_ns;
    event_offer_modules(self, b, topic, payload, &due_ns, &offer);
    event_offer_clients(self, b, topic, payload, &due_ns, &offer);
    role_charge(self, due_ns);
    actor_count(self, BROKER_SCANNED, offer.scanned);
    actor_count(self, BROKER_MATCH_TIME, (uint64_t)cost_ns(&b->inst->costs.broker_match, 0, offer.scanned));
    if (offer.delivered > 0)
        actor_count(self, BROKER_DELIVER_TIME,
                    offer.delivered * (uint64_t)b->inst->costs.broker_event.per_entry_ns);
    actor_count(self, offer.delivered > 0 ? BROKER_DELIVERED : BROKER_DROPPED, MAX(offer.delivered, 1));
}

/* Broker 0 gives the event its number; `c` stands at class, topic and body. */
static void event_number(struct actor *self, struct broker *b, struct cursor *c)
{
    struct bytes bytes = BYTES_INIT;
    bytes_put_u64(&bytes, ++b->sequence);
    bytes_put(&bytes, c->at, (size_t)(c->end - c->at));
    uint8_t event_class = cursor_u8(c);
    const char *topic = key_get_text(c);
    size_t size;
    cursor_span(c, &size);
    if (!cursor_done(c) || event_class >= EVENT_CLASSES) {
        bytes_release(&bytes);
        actor_fail(self, "event to be published is malformed");
        return;
    }
    struct payload *payload = actor_payload(self, bytes.data, bytes.size);
    bytes_release(&bytes);
    actor_count(self, BROKER_PUBLISHED_SETROOT + event_class, 1);
    role_charge(self, cost_ns(&b->inst->costs.broker_publish, payload->size, 0));
    event_distribute(self, b, event_class, topic, payload);
    actor_payload_unref(self, payload);
}

static void event_publish(struct actor *self, struct broker *b, const struct message *m)
{
    if (b->node == 0) {
        struct cursor c = message_cursor(m);
        event_number(self, b, &c);
        return;
    }
    role_charge(self, cost_ns(&b->inst->costs.broker_publish, m->payload->size, 0));
    uint32_t parent = instance_parent(b->inst, b->node);
    actor_send_payload(self, instance_broker(b->inst, parent), BROKER_PUBLISH, payload_ref(m->payload));
}

static void event_receive(struct actor *self, struct broker *b, const struct message *m)
{
    struct event event;
    if (!route_event(self, m, &event))
        return;
    if (event.sequence <= b->sequence) {
        role_charge(self, cost_ns(&b->inst->costs.broker_event, m->payload->size, 0));
        actor_count(self, BROKER_DUPLICATES, 1);
        return;
    }
    if (event.sequence > b->sequence + 1)
        actor_count(self, BROKER_GAPS, event.sequence - b->sequence - 1);
    b->sequence = event.sequence;
    event_distribute(self, b, event.event_class, event.topic, m->payload);
}

static void heartbeat_publish(struct actor *self, struct broker *b)
{
    struct bytes bytes = BYTES_INIT;
    bytes_put_u8(&bytes, EVENT_HEARTBEAT);
    key_put_text(&bytes, "hb");
    bytes_put_u32(&bytes, sizeof(uint64_t));
    bytes_put_u64(&bytes, ++b->heartbeats);
    struct cursor c = cursor_init(bytes.data, bytes.size);
    event_number(self, b, &c);
    bytes_release(&bytes);
    actor_timer_background(self, b->inst->heartbeat_ns, BROKER_HEARTBEAT, 0);
}

/* --- routing --- */

static void payload_route(struct actor *self, const struct broker *b, uint16_t kind, const struct envelope *env,
                          struct payload *payload)
{
    const struct instance *inst = b->inst;
    if (env->destination - inst->first_actor >= instance_actors(inst)) {
        actor_payload_unref(self, payload);
        actor_fail(self, "message of kind 0x%04x from actor %u is for actor %u, which is not of this instance", kind,
                   env->origin, env->destination);
        return;
    }
    uint32_t node = instance_node(inst, env->destination);
    if (node != b->node)
        actor_send_payload(self, instance_broker(inst, instance_next_hop(inst, b->node, node)), kind, payload);
    else if ((env->flags & ENVELOPE_CALL) != 0 && (env->flags & ENVELOPE_REPLY) != 0)
        actor_reply_payload(self, (struct request){ env->destination, true }, kind, payload);
    else
        actor_send_payload(self, env->destination, kind, payload);
}

static void publish_serve(struct actor *self, struct broker *b, const struct message *m, const struct envelope *env,
                          struct cursor *body)
{
    event_number(self, b, body);
    struct bytes answer = BYTES_INIT;
    bytes_put_u64(&answer, b->sequence);
    struct envelope back = { .destination = env->origin, .flags = (env->flags & ENVELOPE_CALL) | ENVELOPE_REPLY };
    payload_route(self, b, m->kind | KIND_REPLY, &back, route_answer(self, env, 0, &answer));
    bytes_release(&answer);
}

static void message_route(struct actor *self, struct broker *b, const struct message *m)
{
    struct envelope env;
    struct cursor body = route_open(self, m, &env);
    if (!cursor_ok(&body))
        return;
    if (env.destination == actor_id(self)) {
        if (m->kind == BROKER_PUBLISH_REQUEST)
            publish_serve(self, b, m, &env, &body);
        else
            actor_fail(self, "broker got a message of kind 0x%04x from actor %u, which it does not serve", m->kind,
                       env.origin);
        return;
    }
    role_charge(self, cost_ns(&b->inst->costs.broker_route, m->payload->size, 0));
    actor_count(self, BROKER_ROUTED, 1);
    payload_route(self, b, m->kind, &env, payload_ref(m->payload));
}

static void broker_handle(struct actor *self, const struct message *m)
{
    struct broker *b = actor_state(self);
    switch (m->kind) {
    case BROKER_SUBSCRIBE:
    case BROKER_UNSUBSCRIBE:
        subscription_serve(self, b, m);
        break;
    case BROKER_SERVICE_ADD:
    case BROKER_SERVICE_REMOVE:
        service_serve(self, b, m);
        break;
    case BROKER_PUBLISH:
        event_publish(self, b, m);
        break;
    case BROKER_EVENT:
        event_receive(self, b, m);
        break;
    case BROKER_HEARTBEAT:
        heartbeat_publish(self, b);
        break;
    default:
        message_route(self, b, m);
        break;
    }
}

static const struct kind_name broker_kinds[] = {
    { BROKER_SUBSCRIBE, "subscribe", "a module or client adds a prefix to its list" },
    { BROKER_SUBSCRIBE | KIND_REPLY, "subscribe-reply", "the prefix is in the list" },
    { BROKER_UNSUBSCRIBE, "unsubscribe", "a module or client takes a prefix off its list" },
    { BROKER_UNSUBSCRIBE | KIND_REPLY, "unsubscribe-reply", "the prefix is off the list" },
    { BROKER_PUBLISH, "publish", "an event on its way up to broker 0" },
    { BROKER_PUBLISH_REQUEST, "publish-request", "an event for broker 0 whose number is wanted" },
    { BROKER_PUBLISH_REQUEST | KIND_REPLY, "publish-request-reply", "the number of a published event" },
    { BROKER_EVENT, "event", "a numbered event, to a child broker, module or client" },
    { BROKER_SERVICE_ADD, "service-add", "a client registers a service of its own" },
    { BROKER_SERVICE_ADD | KIND_REPLY, "service-add-reply", "the service is registered, or its name is taken" },
    { BROKER_SERVICE_REMOVE, "service-remove", "a client withdraws a service" },
    { BROKER_SERVICE_REMOVE | KIND_REPLY, "service-remove-reply", "the service is gone" },
    { BROKER_HEARTBEAT, "heartbeat", "time for the next heartbeat" },
    { 0, NULL, NULL }
};

static const struct metric broker_metrics[] = {
    [BROKER_PUBLISHED_SETROOT] = { "published_setroot", "1", "events published: new root", METRIC_COUNTER },
    [BROKER_PUBLISHED_ERROR] = { "published_error", "1", "events published: transaction failed", METRIC_COUNTER },
    [BROKER_PUBLISHED_REMOVED] = { "published_removed", "1", "events published: namespace removed", METRIC_COUNTER },
    [BROKER_PUBLISHED_CREATED] = { "published_created", "1", "events published: namespace created", METRIC_COUNTER },
    [BROKER_PUBLISHED_JOB_STATE] = { "published_job_state", "1", "events published: job-state", METRIC_COUNTER },
    [BROKER_PUBLISHED_HEARTBEAT] = { "published_heartbeat", "1", "events published: heartbeat", METRIC_COUNTER },
    [BROKER_PUBLISHED_OTHER] = { "published_other", "1", "events published: all others", METRIC_COUNTER },
    [BROKER_OVERLAY_KVS] = { "overlay_kvs", "1", "kvs events sent from broker to broker", METRIC_SERIES },
    [BROKER_OVERLAY_JOB_STATE] = { "overlay_job_state", "1", "job-state events sent from broker to broker",
                                   METRIC_COUNTER },
    [BROKER_OVERLAY_HEARTBEAT] = { "overlay_heartbeat", "1", "heartbeats sent from broker to broker", METRIC_COUNTER },
    [BROKER_OVERLAY_OTHER] = { "overlay_other", "1", "other events sent from broker to broker", METRIC_COUNTER },
    [BROKER_DELIVERED] = { "delivered", "1", "events delivered to modules and clients", METRIC_COUNTER },
    [BROKER_DROPPED] = { "dropped", "1", "events that nobody on the node had subscribed", METRIC_COUNTER },
    [BROKER_DUPLICATES] = { "duplicates", "1", "events dropped for a number not above the last", METRIC_COUNTER },
    [BROKER_GAPS] = { "gaps", "1", "event numbers that never came", METRIC_COUNTER },
    [BROKER_SCANNED] = { "scanned", "1", "subscription list entries compared", METRIC_COUNTER },
    [BROKER_MATCH_TIME] = { "match_time", "ns", "time spent on comparing subscription list entries", METRIC_COUNTER },
    [BROKER_DELIVER_TIME] = { "deliver_time", "ns", "time spent on handing events to modules and clients",
                              METRIC_COUNTER },
    [BROKER_CALLS] = { "calls", "1", "subscribe and unsubscribe calls served", METRIC_COUNTER },
    [BROKER_ROUTED] = { "routed", "1", "routed messages passed on", METRIC_SERIES },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_broker = {
    .name = "broker",
    .text = "routes messages along the tree, numbers and distributes events",
    .state_size = sizeof(struct broker),
    .streams = INSTANCE_STREAMS,
    .kinds = broker_kinds,
    .metrics = broker_metrics,
    .init = broker_init,
    .handle = broker_handle,
    .save = broker_save,
    .release = broker_release,
};
