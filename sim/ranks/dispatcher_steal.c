/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work stealing between dispatchers, as SimMatrix describes it: a service with idle executors and no tasks asks
 * sqrt(services) neighbours, chosen at random each time, how long their queues are, and takes half of the longest. When
 * there is nothing to take it waits, twice as long each time.
 */
#include <glib.h>

#include "engine/random.h"
#include "ranks/dispatcher.h"

enum { STREAM_NEIGHBOUR = 0 };

static uint32_t square_root(uint32_t n)
{
    uint32_t root = 1;
    while ((uint64_t)(root + 1) * (root + 1) <= n)
        root++;
    return root;
}

void dispatcher_look_for_work(struct actor *self, struct dispatcher *d)
{
    const struct task_service *t = actor_setup(self);
    if (d->stealing || d->steal_timer || t->services < 2)
        return;
    d->stealing = true;
    d->best_load = 0;
    d->probes = square_root(t->services);
    for (uint32_t i = 0; i < d->probes; i++) {
        uint32_t other = (uint32_t)random_below(actor_draw(self, STREAM_NEIGHBOUR), t->services - 1);
        other += other >= d->service;
        actor_send(self, task_service_dispatcher(t, other), DISPATCHER_PROBE, 0);
    }
}

/* In the background: a service that looks for work does not keep a run alive. */
static void wait_and_look(struct actor *self, struct dispatcher *d)
{
    const struct task_service *t = actor_setup(self);
    d->stealing = false;
    d->steal_timer = true;
    actor_timer_background(self, d->steal_wait_ns, DISPATCHER_STEAL_TIMER, 0);
    d->steal_wait_ns = MIN(2 * d->steal_wait_ns, t->steal_most_ns);
}

static void take_load(struct actor *self, struct dispatcher *d, const struct message *m)
{
    if (m->word > d->best_load) {
        d->best_load = m->word;
        d->best = m->from;
    }
    if (--d->probes != 0)
        return;
    /* The last task of a queue is its owner's. */
    if (d->best_load < 2)
        wait_and_look(self, d);
    else
        actor_send(self, d->best, DISPATCHER_STEAL, 0);
}

/* Only tasks that were never tried are given away; they lie at the end. */
static void give_half(struct actor *self, struct dispatcher *d, uint32_t thief)
{
    uint64_t word = 0, given;
    dispatcher_queue_count(self, d);
    given = task_queue_take_last(&d->queue, d->queue.tasks / 2, &word);
    if (word != 0) {
        task_queue_push(&d->queue, word, given);
        given = 0;
    }
    actor_send(self, thief, DISPATCHER_STOLEN, given);
}

static void take_loot(struct actor *self, struct dispatcher *d, uint64_t tasks)
{
    const struct task_service *t = actor_setup(self);
    if (tasks == 0) {
        wait_and_look(self, d);
        return;
    }
    d->stealing = false;
    d->steal_wait_ns = t->steal_first_ns;
    actor_count(self, DISPATCHER_STOLEN_TASKS, tasks);
    dispatcher_put_back(self, d, 0, tasks);
    dispatcher_dispatch(self, d);
}

void dispatcher_steal_handle(struct actor *self, struct dispatcher *d, const struct message *m)
{
    const struct task_service *t = actor_setup(self);
    int64_t cost_ns = task_service_scaled(t, d->service, t->costs.dispatcher_steal.fixed_ns);
    switch (m->kind) {
    case DISPATCHER_PROBE:
        actor_charge(self, cost_ns);
        actor_send(self, m->from, DISPATCHER_LOAD, d->queue.tasks);
        break;
    case DISPATCHER_LOAD:
        take_load(self, d, m);
        break;
    case DISPATCHER_STEAL:
        actor_charge(self, cost_ns);
        give_half(self, d, m->from);
        break;
    case DISPATCHER_STOLEN:
        actor_charge(self, cost_ns);
        take_loot(self, d, m->word);
        break;
    case DISPATCHER_STEAL_TIMER:
        d->steal_timer = false;
        dispatcher_dispatch(self, d);
        break;
    default:
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    }
}
