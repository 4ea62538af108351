/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/actor.h"

#include <stdarg.h>

#include "engine/internal.h"
#include "engine/random.h"

void *actor_state(const struct actor *self)
{
    return (char *)self + sizeof *self;
}

const void *actor_setup(const struct actor *self)
{
    return self->setup;
}

uint32_t actor_id(const struct actor *self)
{
    return self->id;
}

uint32_t actor_node(const struct actor *self)
{
    return self->node;
}

const struct role *actor_role(const struct actor *self)
{
    return self->role;
}

int64_t actor_now(const struct actor *self)
{
    return engine_now(self->engine);
}

void actor_fail(struct actor *self, const char *format, ...)
{
    struct engine *e = self->engine;
    if (e->failure != NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    e->failure = g_strdup_printf("%s (actor %" G_GUINT32_FORMAT " on node %" G_GUINT32_FORMAT ", at %.9f s): %s",
                                 self->role->name, self->id, self->node, (double)e->now_ns * 1e-9, text);
    g_free(text);
}

/* Whether a span from now on is one: not negative, and not beyond the end of time. */
static inline bool may_take(struct actor *self, const char *what, int64_t span_ns)
{
    if (G_LIKELY(span_ns >= 0 && span_ns <= ENGINE_LAST_NS - self->engine->now_ns))
        return true;
    if (span_ns < 0)
        actor_fail(self, "%s %" G_GINT64_FORMAT " ns; expected 0 or above", what, span_ns);
    else
        actor_fail(self, "%s %" G_GINT64_FORMAT " ns; virtual time ends at %" G_GINT64_FORMAT " ns (146 years)", what,
                   span_ns, ENGINE_LAST_NS);
    return false;
}

void actor_charge(struct actor *self, int64_t cost_ns)
{
    if (G_LIKELY(may_take(self, "a charge of", cost_ns)))
        engine_charge(self->engine, cost_ns);
}

void actor_spend(struct actor *self, int64_t duration_ns)
{
    if (G_LIKELY(may_take(self, "a span of", duration_ns)))
        self->engine->clock->spend(self->engine, duration_ns);
}

/* --- messages --- */

/* Counts a message in and gives it its place in the order. FALSE, with the payload given back, when it may not go. */
static inline bool number(struct actor *self, struct message *m)
{
    struct engine *e = self->engine;
    if (G_UNLIKELY(m->to >= e->actor_count)) {
        actor_fail(self, "a message of kind 0x%04x to actor %" G_GUINT32_FORMAT "; there are %" G_GUINT32_FORMAT,
                   m->kind, m->to, e->actor_count);
        if (message_has_payload(m))
            pool_unref(&e->pool, m->payload);
        return false;
    }
    m->from = self->id;
    m->sequence = self->sequence++;
    e->sent++;
    if (message_is_background(m))
        e->pending_background++;
    else
        e->pending++;
    return true;
}

/* A promise that `leave_ns` breaks ends the run. */
static inline void keep_promise(struct actor *self, int64_t leave_ns)
{
    uint32_t index = self->thread->promise;
    if (G_LIKELY(index == 0))
        return;
    int64_t promised_ns = g_array_index(self->engine->promises, int64_t, index);
    if (leave_ns < promised_ns)
        actor_fail(self, "a message that leaves at %" G_GINT64_FORMAT " ns, though nothing new was promised to leave "
                   "before %" G_GINT64_FORMAT " ns", leave_ns, promised_ns);
}

void actor_promise(struct actor *self, int64_t time_ns)
{
    GArray *promises = self->engine->promises;
    struct thread *thread = self->thread;
    if (self->engine->live_clock)
        return;                 /* no windows there, and times that nobody can promise */
    if (thread->promise == 0) {
        thread->promise = promises->len;
        g_array_set_size(promises, promises->len + 1);
        self->engine->promised_groups += (thread->flags & THREAD_CROSSES) != 0;
    }
    int64_t *promised = &g_array_index(promises, int64_t, thread->promise);
    *promised = MAX(*promised, time_ns);
}

static inline void post_word(struct actor *self, uint32_t to, uint16_t kind, uint64_t word, uint8_t flags,
                             uint64_t size_bytes)
{
    struct message m = { .to = to, .kind = kind, .flags = flags, .word = word };
    keep_promise(self, self->engine->now_ns);
    if (number(self, &m))
        engine_post(self->engine, self, &m, size_bytes);
}

static inline void post_payload(struct actor *self, uint32_t to, uint16_t kind, struct payload *payload, uint8_t flags)
{
    struct message m = { .to = to, .kind = kind, .flags = flags | MESSAGE_PAYLOAD, .payload = payload };
    keep_promise(self, self->engine->now_ns);
    if (number(self, &m))
        engine_post(self->engine, self, &m, payload->size);
}

void actor_send(struct actor *self, uint32_t to, uint16_t kind, uint64_t word)
{
    post_word(self, to, kind, word, 0, 0);
}

void actor_send_sized(struct actor *self, uint32_t to, uint16_t kind, uint64_t word, uint64_t size_bytes)
{
    post_word(self, to, kind, word, 0, size_bytes);
}

void actor_send_payload(struct actor *self, uint32_t to, uint16_t kind, struct payload *payload)
{
    post_payload(self, to, kind, payload, 0);
}

void actor_send_later(struct actor *self, uint32_t to, uint16_t kind, uint64_t word, int64_t delay_ns)
{
    struct engine *e = self->engine;
    if (!may_take(self, "a message that leaves in", delay_ns))
        return;
    if (e->limited_links) {
        actor_fail(self, "a message that leaves later, while links of limited bandwidth are in use");
        return;
    }
    struct message m = { .to = to, .kind = kind, .word = word };
    keep_promise(self, e->now_ns + delay_ns);
    if (number(self, &m))
        e->clock->post_later(e, self, &m, delay_ns);
}

struct payload *actor_payload(struct actor *self, const void *bytes, size_t size)
{
    if (size > PAYLOAD_MOST_BYTES) {
        actor_fail(self, "a payload of %zu bytes; expected at most %d", size, PAYLOAD_MOST_BYTES);
        size = 0;
    }
    struct payload *payload = pool_take(&self->engine->pool, size);
    if (size != 0)
        memcpy(payload->bytes, bytes, size);
    payload->hash = payload_hash(bytes, size);
    return payload;
}

void actor_payload_unref(struct actor *self, struct payload *payload)
{
    pool_unref(&self->engine->pool, payload);
}

static void post_self(struct actor *self, int64_t delay_ns, uint16_t kind, uint64_t word, uint8_t flags,
                      uint8_t order_class)
{
    struct engine *e = self->engine;
    if (!may_take(self, "a delay of", delay_ns))
        return;
    struct message m = { .time_ns = engine_now(e) + delay_ns, .to = self->id, .kind = kind, .flags = flags,
                         .order_class = order_class, .word = word };
    if (number(self, &m))
        e->clock->post_self(e, &m);
}

void actor_timer(struct actor *self, int64_t delay_ns, uint16_t kind, uint64_t word)
{
    post_self(self, delay_ns == 0 ? 1 : delay_ns, kind, word, 0, 0);
}

void actor_timer_background(struct actor *self, int64_t delay_ns, uint16_t kind, uint64_t word)
{
    post_self(self, delay_ns == 0 ? 1 : delay_ns, kind, word, MESSAGE_BACKGROUND, 0);
}

void actor_send_last(struct actor *self, uint16_t kind, uint64_t word)
{
    post_self(self, 0, kind, word, 0, 1);
}

void actor_perform(struct actor *self, struct act act, uint16_t kind, uint64_t word)
{
    post_self(self, act.duration_ns == 0 ? 1 : act.duration_ns, kind, word, 0, 0);
}

/* What the file says is known at once; other actors of the process have waited meanwhile. */
static void write_now(struct actor *self, struct payload *write)
{
    const struct engine_performer *performer = &self->engine->config.performer;
    GError *error = NULL;
    uint16_t kind;
    uint64_t word;
    if (performer->write(performer->data, write->bytes, write->size, &kind, &word, &error))
        post_self(self, 1, kind, word, 0, 0);
    else
        actor_fail(self, "%s", error->message);
    g_clear_error(&error);
    actor_payload_unref(self, write);
}

void actor_perform_write(struct actor *self, uint32_t mount, uint16_t request, struct payload *write)
{
    if (self->engine->live_clock && self->engine->config.performer.write != NULL) {
        write_now(self, write);
        return;
    }
    post_payload(self, mount, request, write, 0);
}

void actor_perform_together(struct actor *self, uint32_t act, uint16_t kind)
{
    struct engine *e = self->engine;
    if (!e->live_clock || e->process != 0 || e->config.performer.together == NULL) {
        actor_fail(self, "an act of all processes; expected the live clock, process 0, and somebody to carry it out");
        return;
    }
    actor_hold(self, 1);
    live_act_ask(e, self, act, kind);
}

/* --- calls --- */

static bool may_call(struct actor *self, uint32_t to)
{
    struct engine *e = self->engine;
    if (e->phase_refuses_call != NULL) {
        actor_fail(self, "a call %s", e->phase_refuses_call);
        return false;
    }
    if (self->thread->flags & THREAD_BLOCKED) {
        actor_fail(self, "a second call in one handling; expected one, as the last act");
        return false;
    }
    if (to == self->id) {
        actor_fail(self, "a call to itself");
        return false;
    }
    const struct role *callee = to < e->actor_count ? engine_role_of(e, to) : NULL;
    if (callee != NULL && !role_declares_call(self->role, callee)) {
        actor_fail(self, "a call to %s (actor %" G_GUINT32_FORMAT "), which it does not declare", callee->name, to);
        return false;
    }
    return true;
}

void actor_call(struct actor *self, uint32_t to, uint16_t kind, uint64_t word)
{
    if (!may_call(self, to))
        return;
    post_word(self, to, kind, word, MESSAGE_CALL, 0);
    dispatch_block(self, to);
}

void actor_call_payload(struct actor *self, uint32_t to, uint16_t kind, struct payload *payload)
{
    if (!may_call(self, to)) {
        actor_payload_unref(self, payload);
        return;
    }
    post_payload(self, to, kind, payload, MESSAGE_CALL);
    dispatch_block(self, to);
}

void actor_reply(struct actor *self, struct request request, uint16_t kind, uint64_t word)
{
    post_word(self, request.from, kind, word, request.is_call ? MESSAGE_REPLY : 0, 0);
}

void actor_reply_payload(struct actor *self, struct request request, uint16_t kind, struct payload *payload)
{
    post_payload(self, request.from, kind, payload, request.is_call ? MESSAGE_REPLY : 0);
}

/* --- random numbers, holds, reports --- */

uint64_t actor_draw(struct actor *self, unsigned stream)
{
    if (G_UNLIKELY(stream >= self->role->streams)) {
        actor_fail(self, "a draw from random stream %u; the role has %u", stream, self->role->streams);
        return 0;
    }
    uint64_t *drawn = (uint64_t *)(void *)((char *)actor_state(self) + self->role->state_size) + stream;
    return random_bits(self->engine->config.seed, self->id, stream, (*drawn)++);
}

int64_t actor_draw_duration(struct actor *self, unsigned stream, const struct distribution *d)
{
    return d->type == DISTRIBUTION_CONSTANT ? d->a_ns : random_duration(d, actor_draw(self, stream));
}

void actor_hold(struct actor *self, int change)
{
    if (change != 1 && change != -1)
        actor_fail(self, "a hold of %d; expected +1 or -1", change);
    self->engine->held += change;
}

void actor_count(struct actor *self, unsigned metric, uint64_t count)
{
    const struct engine_observer *observer = &self->engine->config.observer;
    if (observer->count != NULL)
        observer->count(observer->data, self, metric, count);
}

void actor_sample(struct actor *self, unsigned metric, int64_t value)
{
    const struct engine_observer *observer = &self->engine->config.observer;
    if (observer->sample != NULL)
        observer->sample(observer->data, self, metric, value);
}

void actor_record(struct actor *self, unsigned table, const void *row, size_t size)
{
    const struct engine_observer *observer = &self->engine->config.observer;
    if (observer->record != NULL)
        observer->record(observer->data, self, table, row, size);
}
