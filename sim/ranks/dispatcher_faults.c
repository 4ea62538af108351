/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a dispatcher does about executors that fail, die or fall silent. Where a deck has no such faults nothing here is
 * kept or asked.
 */
#include <glib.h>

#include "ranks/dispatcher.h"

void dispatcher_faults_init(struct dispatcher *d, const struct task_service *t)
{
    if (t->faults.executor_failure != 0) {
        d->serials = g_new0(uint32_t, t->executors);
        d->attempts = g_new0(uint8_t, t->executors);
        d->acks = g_array_new(FALSE, FALSE, sizeof(struct pending_ack));
    }
    if (t->faults.errors_park != 0)
        d->parked = g_array_new(FALSE, FALSE, sizeof(struct parked));
    d->may_hold = t->faults.errors_park != 0 || t->provision != PROVISION_STATIC;
}

void dispatcher_faults_release(struct dispatcher *d)
{
    g_free(d->serials);
    g_free(d->attempts);
    if (d->acks != NULL)
        g_array_free(d->acks, TRUE);
    if (d->parked != NULL)
        g_array_free(d->parked, TRUE);
}

void dispatcher_faults_save(const struct dispatcher *d, const struct task_service *t, struct bytes *sink)
{
    for (uint32_t x = 0; d->serials != NULL && x < t->executors; x++) {
        bytes_put_u32(sink, d->serials[x]);
        bytes_put_u8(sink, d->attempts[x]);
    }
    for (guint i = d->acks_done; d->acks != NULL && i < d->acks->len; i++) {
        const struct pending_ack *ack = &g_array_index(d->acks, struct pending_ack, i);
        bytes_put_i64(sink, ack->deadline_ns);
        bytes_put_u32(sink, ack->executor);
        bytes_put_u32(sink, ack->serial);
    }
    for (guint i = 0; d->parked != NULL && i < d->parked->len; i++) {
        const struct parked *parked = &g_array_index(d->parked, struct parked, i);
        bytes_put_i64(sink, parked->since_ns);
        bytes_put_u32(sink, parked->executor);
    }
    bytes_put_u8(sink, d->held);
}

/* --- acknowledgements that do not come --- */

static void expect_by(struct actor *self, struct dispatcher *d)
{
    const struct pending_ack *first = &g_array_index(d->acks, struct pending_ack, d->acks_done);
    d->timeout_timer = true;
    actor_timer(self, MAX(first->deadline_ns - actor_now(self), 1), DISPATCHER_TIMEOUT, 0);
}

void dispatcher_expect_ack(struct actor *self, struct dispatcher *d, uint32_t executor)
{
    const struct task_service *t = actor_setup(self);
    struct pending_ack ack = { actor_now(self) + t->faults.timeout_ns, executor, ++d->serials[executor] };
    g_array_append_val(d->acks, ack);
    if (!d->timeout_timer)
        expect_by(self, d);
}

/* Whether the entry still stands for something. */
static bool is_awaited(const struct dispatcher *d, const struct pending_ack *ack)
{
    return (d->slots[ack->executor].flags & SLOT_NOTIFIED) != 0 && d->serials[ack->executor] == ack->serial;
}

static void drop_executor(struct actor *self, struct dispatcher *d, uint32_t executor)
{
    actor_count(self, DISPATCHER_DROPPED, 1);
    dispatcher_close(self, d, executor);
    d->slots[executor].flags = SLOT_ABSENT;
}

static void miss_ack(struct actor *self, struct dispatcher *d, uint32_t executor)
{
    const struct task_service *t = actor_setup(self);
    if (++d->attempts[executor] >= t->faults.attempts_notify) {
        drop_executor(self, d, executor);
        return;
    }
    actor_charge(self, d->dispatch_ns);
    if (t->protocol == TASK_TCP)
        actor_send(self, d->first + executor, DISPATCHER_TASK, d->slots[executor].task);
    else
        actor_send(self, d->first + executor, DISPATCHER_POKE, 0);
    struct pending_ack again = { actor_now(self) + t->faults.timeout_ns, executor, ++d->serials[executor] };
    g_array_append_val(d->acks, again);
}

void dispatcher_timeout(struct actor *self, struct dispatcher *d)
{
    const int64_t now_ns = actor_now(self);
    d->timeout_timer = false;
    for (; d->acks_done < d->acks->len; d->acks_done++) {
        struct pending_ack ack = g_array_index(d->acks, struct pending_ack, d->acks_done);
        if (!is_awaited(d, &ack))
            continue;
        if (ack.deadline_ns > now_ns)
            break;
        miss_ack(self, d, ack.executor);
    }
    g_array_remove_range(d->acks, 0, d->acks_done);
    d->acks_done = 0;
    if (d->acks->len != 0)
        expect_by(self, d);
    dispatcher_notice(self, d);
    dispatcher_dispatch(self, d);
}

void dispatcher_close(struct actor *self, struct dispatcher *d, uint32_t executor)
{
    struct executor_slot *slot = &d->slots[executor];
    bool acknowledged = (slot->flags & SLOT_NOTIFIED) == 0;
    if (!acknowledged)
        d->notified--;
    if (d->attempts != NULL)
        d->attempts[executor] = 0;
    if (slot->flags & SLOT_BUSY) {
        if (acknowledged) {
            d->ended.lost++;
        } else {
            actor_count(self, DISPATCHER_RETURNED, 1);
            dispatcher_put_back(self, d, slot->task, 1);
        }
    }
    slot->flags &= (uint8_t)~(SLOT_BUSY | SLOT_NOTIFIED);
}

/* --- executors with errors --- */

static void expect_unpark(struct actor *self, struct dispatcher *d)
{
    const struct task_service *t = actor_setup(self);
    int64_t park_ns = t->faults.park_ns;
    d->park_timer = true;
    actor_timer_background(self, park_ns - actor_now(self) % park_ns, DISPATCHER_UNPARK, 0);
}

bool dispatcher_blame(struct actor *self, struct dispatcher *d, uint32_t executor)
{
    const struct task_service *t = actor_setup(self);
    struct executor_slot *slot = &d->slots[executor];
    if (t->faults.errors_park == 0 || ++slot->errors < t->faults.errors_park)
        return false;
    struct parked parked = { actor_now(self), executor };
    slot->flags |= SLOT_PARKED;
    g_array_append_val(d->parked, parked);
    actor_count(self, DISPATCHER_PARKED, 1);
    if (!d->park_timer)
        expect_unpark(self, d);
    return true;
}

void dispatcher_unpark(struct actor *self, struct dispatcher *d)
{
    const struct task_service *t = actor_setup(self);
    guint free = 0;
    d->park_timer = false;
    for (; free < d->parked->len; free++) {
        const struct parked *parked = &g_array_index(d->parked, struct parked, free);
        if (actor_now(self) - parked->since_ns < t->faults.park_ns)
            break;
        d->slots[parked->executor].errors = 0;
        dispatcher_idle_add(d, parked->executor);
    }
    g_array_remove_range(d->parked, 0, free);
    if (d->parked->len != 0)
        expect_unpark(self, d);
    dispatcher_dispatch(self, d);
}

void dispatcher_hold(struct actor *self, struct dispatcher *d)
{
    const struct task_service *t = actor_setup(self);
    bool waits = t->provision != PROVISION_STATIC || (d->parked != NULL && d->parked->len != 0);
    bool hold = waits && d->queue.tasks != 0;
    if (hold == d->held)
        return;
    d->held = hold;
    actor_hold(self, hold ? 1 : -1);
}
