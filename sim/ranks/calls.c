/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/calls.h"

#include "kvs/key.h"
#include "kvs/namespaces.h"
#include "ranks/route.h"

struct call {
    char *topic;
    bool subscribe;
    bool of_namespace;          /* other than primary */
};

static void call_free(void *call)
{
    g_free(((struct call *)call)->topic);
    g_free(call);
}

void calls_init(struct calls *c, bool asynchronous)
{
    g_queue_init(&c->queue);
    c->asynchronous = asynchronous;
    c->making = false;
    g_queue_init(&c->sent);
    c->since_ns = 0;
}

void calls_release(struct calls *c)
{
    g_queue_clear_full(&c->sent, call_free);
    g_queue_clear_full(&c->queue, call_free);
}

static void calls_add(struct calls *c, const char *ns, const char *pattern, bool subscribe)
{
    struct call *call = g_new(struct call, 1);
    call->topic = ns == NULL ? g_strdup(pattern) : scheme_topic(pattern, ns);
    call->subscribe = subscribe;
    call->of_namespace = ns != NULL && !g_str_equal(ns, NAMESPACES_PRIMARY);
    g_queue_push_tail(&c->queue, call);
}

void calls_add_subscriptions(struct calls *c, const char *ns, const char *const *patterns)
{
    for (; *patterns != NULL; patterns++)
        calls_add(c, ns, *patterns, true);
}

void calls_add_list(struct calls *c, const char *ns, const struct scheme_call *list)
{
    for (; list->topic != NULL; list++)
        calls_add(c, ns, list->topic, list->subscribe);
}

static void calls_send(struct actor *self, struct calls *c)
{
    struct call *call;
    while ((call = g_queue_pop_head(&c->queue)) != NULL) {
        actor_count(self, call->of_namespace ? CALLS_NAMESPACE : CALLS_OTHER, 1);
        route_subscribe_send(self, call->topic, call->subscribe);
        g_queue_push_tail(&c->sent, call);
    }
}

bool calls_next(struct actor *self, struct calls *c)
{
    if (c->asynchronous) {
        calls_send(self, c);
        return false;
    }
    const struct call *call = g_queue_peek_head(&c->queue);
    if (call == NULL)
        return false;
    c->making = true;
    c->since_ns = actor_now(self);
    actor_count(self, call->of_namespace ? CALLS_NAMESPACE : CALLS_OTHER, 1);
    if (call->subscribe)
        route_subscribe(self, call->topic);
    else
        route_unsubscribe(self, call->topic);
    return true;
}

/* Entries that an answered call added to the broker's list, or removed. */
static void call_count(struct actor *self, const struct call *call, const struct message *answer)
{
    if (call->of_namespace && answer->word == 0)
        actor_count(self, call->subscribe ? CALLS_ADDED : CALLS_REMOVED, 1);
}

bool calls_done(struct actor *self, struct calls *c, const struct message *answer)
{
    if (c->asynchronous) {
        struct call *call = g_queue_pop_head(&c->sent);
        call_count(self, call, answer);
        call_free(call);
        return false;
    }
    g_assert(c->making);
    call_count(self, g_queue_peek_head(&c->queue), answer);
    actor_count(self, CALLS_BLOCKED, (uint64_t)(actor_now(self) - c->since_ns));
    actor_sample(self, CALLS_TIME, actor_now(self) - c->since_ns);
    c->making = false;
    call_free(g_queue_pop_head(&c->queue));
    return true;
}

void calls_save(const struct calls *c, struct bytes *sink)
{
    bytes_put_u32(sink, g_queue_get_length((GQueue *)&c->queue));
    for (const GList *l = c->queue.head; l != NULL; l = l->next) {
        const struct call *call = l->data;
        bytes_put_u8(sink, call->subscribe);
        key_put_text(sink, call->topic);
    }
    bytes_put_u32(sink, c->sent.length);
    bytes_put_u8(sink, c->making);
    bytes_put_i64(sink, c->making ? c->since_ns : 0);
}
