/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/plain_tasks.h"

#include <glib.h>

#include "ranks/lb_client.h"

/* --- client --- */

struct plain_client {
    uint64_t total;
    uint64_t submitted;
    uint64_t ended;
    int64_t free_ns;                /* its own work is done then; it takes messages meanwhile */
    uint64_t uncounted;             /* ended, and not yet reported */
};

enum { COUNT_EVERY = 256 };

static void plain_submit(struct actor *self, struct plain_client *c, uint32_t dispatcher)
{
    const struct task_service *t = actor_setup(self);
    c->free_ns = MAX(c->free_ns, actor_now(self)) + t->costs.client_submit.fixed_ns;
    actor_send_later(self, dispatcher, PLAIN_SUBMIT, c->submitted++, c->free_ns - actor_now(self));
}

static void plain_client_init(struct actor *self, const void *setup)
{
    const struct task_service *t = setup;
    struct plain_client *c = actor_state(self);
    uint32_t own = (uint32_t)task_share(t->services, t->clients, actor_id(self));
    c->total = task_share(t->tasks, t->clients, actor_id(self));
    for (uint64_t i = 0; i < t->window * own && c->submitted < c->total; i++)
        plain_submit(self, c, task_service_dispatcher(t, actor_id(self) + (uint32_t)(i % own) * t->clients));
    actor_count(self, LB_CLIENT_SUBMITTED, c->total);
}

static void plain_report(struct actor *self, struct plain_client *c)
{
    actor_count(self, LB_CLIENT_COMPLETED, c->uncounted);
    actor_count(self, LB_CLIENT_ENDED, c->uncounted);
    c->uncounted = 0;
    if (c->ended == c->total) {
        actor_sample(self, LB_CLIENT_MAKESPAN, actor_now(self));
        actor_sample(self, LB_CLIENT_SUBMIT_SPAN, c->free_ns);
    }
}

static void plain_client_handle(struct actor *self, const struct message *m)
{
    struct plain_client *c = actor_state(self);
    if (c->ended++ == 0)
        actor_sample(self, LB_CLIENT_FIRST_DONE, actor_now(self));
    if (c->submitted < c->total)
        plain_submit(self, c, m->from);
    if (++c->uncounted == COUNT_EVERY || c->ended == c->total)
        plain_report(self, c);
}

static void plain_client_save(const struct actor *self, struct bytes *sink)
{
    const struct plain_client *c = actor_state(self);
    bytes_put_u64(sink, c->submitted);
    bytes_put_u64(sink, c->ended);
    bytes_put_i64(sink, c->free_ns);
}

/* --- dispatcher --- */

struct plain_dispatcher {
    uint64_t *queue;                /* a ring of the window's size; task numbers */
    uint32_t *idle;                 /* a ring of executors */
    uint32_t queue_mask, idle_mask;
    uint32_t queue_head, queue_tail;
    uint32_t idle_head, idle_tail;
    uint32_t client;
    uint32_t executor;              /* that the dispatch server is busy for; 0: it is not */
};

static uint32_t ring_size(uint64_t entries)
{
    uint32_t size = 1;
    while (size < entries)
        size *= 2;
    return size;
}

static void plain_dispatcher_init(struct actor *self, const void *setup)
{
    const struct task_service *t = setup;
    struct plain_dispatcher *d = actor_state(self);
    d->client = task_service_of(t, actor_id(self)) % t->clients;
    d->queue_mask = ring_size(t->window) - 1;
    d->idle_mask = ring_size(t->executors) - 1;
    d->queue = g_new0(uint64_t, d->queue_mask + 1);
    d->idle = g_new0(uint32_t, d->idle_mask + 1);
    for (uint32_t x = 0; x < t->executors; x++)
        d->idle[d->idle_tail++] = actor_id(self) + 1 + x;
}

static inline void plain_dispatch(struct actor *self, struct plain_dispatcher *d)
{
    const struct task_service *t = actor_setup(self);
    if (d->executor != 0 || d->queue_head == d->queue_tail || d->idle_head == d->idle_tail)
        return;
    d->executor = d->idle[d->idle_head++ & d->idle_mask];
    actor_timer(self, t->costs.dispatcher_dispatch.fixed_ns, PLAIN_DISPATCHED,
                d->queue[d->queue_head++ & d->queue_mask]);
}

static void plain_dispatcher_handle(struct actor *self, const struct message *m)
{
    struct plain_dispatcher *d = actor_state(self);
    uint32_t executor;
    switch (m->kind) {
    case PLAIN_SUBMIT:
        d->queue[d->queue_tail++ & d->queue_mask] = m->word;
        break;
    case PLAIN_DISPATCHED:
        executor = d->executor;
        d->executor = 0;
        actor_send(self, executor, PLAIN_EXEC, m->word);
        break;
    case PLAIN_DONE:
        d->idle[d->idle_tail++ & d->idle_mask] = m->from;
        actor_send(self, d->client, PLAIN_NOTIFY, m->word);
        break;
    default:
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    }
    plain_dispatch(self, d);
}

static void plain_dispatcher_save(const struct actor *self, struct bytes *sink)
{
    const struct plain_dispatcher *d = actor_state(self);
    for (uint32_t i = d->queue_head; i != d->queue_tail; i++)
        bytes_put_u64(sink, d->queue[i & d->queue_mask]);
    for (uint32_t i = d->idle_head; i != d->idle_tail; i++)
        bytes_put_u32(sink, d->idle[i & d->idle_mask]);
    bytes_put_u32(sink, d->executor);
}

static void plain_dispatcher_release(struct actor *self)
{
    struct plain_dispatcher *d = actor_state(self);
    g_free(d->queue);
    g_free(d->idle);
}

/* --- executor --- */

static void plain_executor_handle(struct actor *self, const struct message *m)
{
    actor_send(self, m->from, PLAIN_DONE, m->word);
}

static void plain_executor_save(const struct actor *self, struct bytes *sink)
{
}

/* --- tables --- */

static const struct kind_name plain_client_kinds[] = {
    { PLAIN_NOTIFY, "plain-notify", "a task has ended" },
    { 0, NULL, NULL }
};

static const struct kind_name plain_dispatcher_kinds[] = {
    { PLAIN_SUBMIT, "plain-submit", "a task" },
    { PLAIN_DISPATCHED, "plain-dispatched", "timer: the dispatch server is done" },
    { PLAIN_DONE, "plain-done", "an executor has run its task" },
    { 0, NULL, NULL }
};

static const struct kind_name plain_executor_kinds[] = {
    { PLAIN_EXEC, "plain-exec", "run a task" },
    { 0, NULL, NULL }
};

const struct role role_plain_client = {
    .name = "plain-client",
    .text = "keeps a window of tasks at each service",
    .state_size = sizeof(struct plain_client),
    .kinds = plain_client_kinds,
    .metrics = lb_client_metrics,
    .init = plain_client_init,
    .handle = plain_client_handle,
    .save = plain_client_save,
};

const struct role role_plain_dispatcher = {
    .name = "plain-dispatcher",
    .text = "one queue, one dispatch server",
    .state_size = sizeof(struct plain_dispatcher),
    .kinds = plain_dispatcher_kinds,
    .init = plain_dispatcher_init,
    .handle = plain_dispatcher_handle,
    .save = plain_dispatcher_save,
    .release = plain_dispatcher_release,
};

const struct role role_plain_executor = {
    .name = "plain-executor",
    .text = "answers at once",
    .state_size = 0,
    .kinds = plain_executor_kinds,
    .handle = plain_executor_handle,
    .save = plain_executor_save,
};
