/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/route.h"

#include "kvs/key.h"
#include "ranks/instance.h"
#include "ranks/protocol.h"

static uint32_t own_broker(const struct actor *self)
{
    return instance_broker(actor_setup(self), actor_node(self));
}

struct cursor route_open(struct actor *self, const struct message *m, struct envelope *env)
{
    struct cursor c = message_cursor(m);
    env->origin = cursor_u32(&c);
    env->destination = cursor_u32(&c);
    env->tag = cursor_u64(&c);
    env->error = cursor_u16(&c);
    env->flags = cursor_u8(&c);
    if (!cursor_ok(&c)) {
        *env = (struct envelope){ 0 };
        actor_fail(self, "message of kind 0x%04x from actor %u has no envelope", m->kind, m->from);
    }
    return c;
}

void envelope_put(struct bytes *b, const struct envelope *env)
{
    bytes_put_u32(b, env->origin);
    bytes_put_u32(b, env->destination);
    bytes_put_u64(b, env->tag);
    bytes_put_u16(b, env->error);
    bytes_put_u8(b, env->flags);
}

static struct payload *envelope_payload(struct actor *self, const struct envelope *env, const struct bytes *body)
{
    struct bytes b = BYTES_INIT;
    envelope_put(&b, env);
    if (body != NULL)
        bytes_put(&b, body->data, body->size);
    struct payload *payload = actor_payload(self, b.data, b.size);
    bytes_release(&b);
    return payload;
}

void route_send(struct actor *self, uint32_t destination, uint16_t kind, uint64_t tag, const struct bytes *body)
{
    struct envelope env = { .origin = actor_id(self), .destination = destination, .tag = tag };
    actor_send_payload(self, own_broker(self), kind, envelope_payload(self, &env, body));
}

void route_call(struct actor *self, uint32_t destination, uint16_t kind, uint64_t tag, const struct bytes *body)
{
    struct envelope env = { .origin = actor_id(self), .destination = destination, .tag = tag, .flags = ENVELOPE_CALL };
    actor_call_payload(self, own_broker(self), kind, envelope_payload(self, &env, body));
}

struct payload *route_answer(struct actor *self, const struct envelope *request, uint16_t error,
                             const struct bytes *body)
{
    struct envelope env = {
        .origin = actor_id(self),
        .destination = request->origin,
        .tag = request->tag,
        .error = error,
        .flags = (request->flags & ENVELOPE_CALL) | ENVELOPE_REPLY,
    };
    return envelope_payload(self, &env, error == 0 ? body : NULL);
}

void route_reply(struct actor *self, const struct envelope *env, uint16_t kind, uint16_t error,
                 const struct bytes *body)
{
    actor_send_payload(self, own_broker(self), kind | KIND_REPLY, route_answer(self, env, error, body));
}

static struct payload *topic_payload(struct actor *self, const char *topic)
{
    struct bytes b = BYTES_INIT;
    key_put_text(&b, topic);
    struct payload *payload = actor_payload(self, b.data, b.size);
    bytes_release(&b);
    return payload;
}

void route_subscribe(struct actor *self, const char *topic)
{
    actor_call_payload(self, own_broker(self), BROKER_SUBSCRIBE, topic_payload(self, topic));
}

void route_unsubscribe(struct actor *self, const char *topic)
{
    actor_call_payload(self, own_broker(self), BROKER_UNSUBSCRIBE, topic_payload(self, topic));
}

void route_subscribe_send(struct actor *self, const char *topic, bool subscribe)
{
    actor_send_payload(self, own_broker(self), subscribe ? BROKER_SUBSCRIBE : BROKER_UNSUBSCRIBE,
                       topic_payload(self, topic));
}

void route_publish(struct actor *self, uint8_t event_class, const char *topic, const struct bytes *body)
{
    struct bytes b = BYTES_INIT;
    bytes_put_u8(&b, event_class);
    key_put_text(&b, topic);
    bytes_put_span(&b, body->data, body->size);
    actor_send_payload(self, own_broker(self), BROKER_PUBLISH, actor_payload(self, b.data, b.size));
    bytes_release(&b);
}

bool route_event(struct actor *self, const struct message *m, struct event *event)
{
    struct cursor c = message_cursor(m);
    event->sequence = cursor_u64(&c);
    event->event_class = cursor_u8(&c);
    event->topic = key_get_text(&c);
    size_t size;
    const char *body = cursor_span(&c, &size);
    event->body = cursor_init(body, size);
    if (cursor_done(&c) && event->event_class < EVENT_CLASSES)
        return true;
    actor_fail(self, "event from actor %u is malformed", m->from);
    return false;
}
