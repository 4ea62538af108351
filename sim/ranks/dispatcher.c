/* SPDX-License-Identifier: BSD-3-Clause */
#include <glib.h>

#include "ranks/dispatcher.h"

/* --- figures --- */

static void flush_queued(struct actor *self, struct dispatcher *d)
{
    actor_count(self, DISPATCHER_QUEUED_US, d->queued_ns / 1000);
    d->queued_ns %= 1000;
}

/* Before the queue changes: counts how long it was as long as it is. */
void dispatcher_queue_count(struct actor *self, struct dispatcher *d)
{
    int64_t now_ns = actor_now(self);
    uint64_t span_ns = (uint64_t)(now_ns - d->queued_since_ns), product;
    d->queued_since_ns = now_ns;
    if (G_UNLIKELY(__builtin_mul_overflow(span_ns, d->queue.tasks, &product) || product > UINT64_MAX / 4)) {
        unsigned __int128 us = (unsigned __int128)span_ns * d->queue.tasks / 1000;
        actor_count(self, DISPATCHER_QUEUED_US, (uint64_t)us);
        return;
    }
    d->queued_ns += product;
    if (G_UNLIKELY(d->queued_ns > UINT64_MAX / 4))
        flush_queued(self, d);
}

static void report(struct actor *self, struct dispatcher *d, const struct notice_counts *n)
{
    actor_count(self, DISPATCHER_NOTICES, 1);
    if (n->completed != 0)
        actor_count(self, DISPATCHER_COMPLETED, n->completed);
    if (n->failed != 0)
        actor_count(self, DISPATCHER_FAILED, n->failed);
    if (n->lost != 0)
        actor_count(self, DISPATCHER_LOST, n->lost);
    if (d->accepted != 0)
        actor_count(self, DISPATCHER_ACCEPTED, d->accepted);
    if (d->dispatched != 0)
        actor_count(self, DISPATCHER_DISPATCHED, d->dispatched);
    d->accepted = d->dispatched = 0;
    flush_queued(self, d);
}

/* --- notices to the client --- */

static uint32_t take_part(uint32_t *from, uint32_t *room)
{
    uint32_t taken = MIN(*from, *room);
    *from -= taken;
    *room -= taken;
    return taken;
}

static void send_notice(struct actor *self, struct dispatcher *d)
{
    const struct task_service *t = actor_setup(self);
    uint32_t room = t->notice_bundle;
    struct notice_counts n = { .odd_bundle = d->newest != 0 };
    n.completed = take_part(&d->ended.completed, &room);
    n.failed = take_part(&d->ended.failed, &room);
    n.lost = take_part(&d->ended.lost, &room);
    n.newest = MIN(d->ended.newest, n.completed + n.failed + n.lost);
    d->ended.newest -= n.newest;
    int64_t busy_ns = task_service_scaled(t, d->service,
                                          cost_ns(&t->costs.dispatcher_notice, 0, t->notice_bundle - room));
    d->next_notice_ns = actor_now(self) + MAX(busy_ns, t->notice_interval_ns);
    report(self, d, &n);
    actor_send(self, d->client, DISPATCHER_NOTICE, notice_pack(&n));
}

void dispatcher_notice(struct actor *self, struct dispatcher *d)
{
    if (d->notify_timer || d->ended.completed + d->ended.failed + d->ended.lost == 0)
        return;
    int64_t wait_ns = d->next_notice_ns - actor_now(self);
    if (wait_ns <= 0) {
        send_notice(self, d);
        if (d->ended.completed + d->ended.failed + d->ended.lost == 0)
            return;
        wait_ns = d->next_notice_ns - actor_now(self);
    }
    d->notify_timer = true;
    actor_timer(self, wait_ns, DISPATCHER_NOTIFY_TIMER, 0);
}

/* --- the queue --- */

void dispatcher_put_back(struct actor *self, struct dispatcher *d, uint64_t task, uint64_t count)
{
    dispatcher_queue_count(self, d);
    task_queue_push(&d->queue, task, count);
}

/* What the thread that takes bundles in has done by now. */
static void advance_intake(struct actor *self, struct dispatcher *d)
{
    int64_t done_ns = actor_now(self) - d->intake_begin_ns;
    if (done_ns < 0)
        return;
    uint64_t done = d->intake_task_ns == 0 ? d->intake_tasks
                                           : MIN((uint64_t)(done_ns / d->intake_task_ns), d->intake_tasks);
    dispatcher_put_back(self, d, d->newest, done - d->intake_taken);
    d->intake_taken = (uint32_t)done;
    if (d->intake_taken == d->intake_tasks)
        d->intake_tasks = d->intake_taken = 0;
}

static void submit_beside(struct actor *self, struct dispatcher *d, uint32_t tasks)
{
    const struct task_service *t = actor_setup(self);
    int64_t fixed_ns = task_service_scaled(t, d->service, t->costs.dispatcher_submit.fixed_ns);
    /* The client has one call at a time under way, so the last bundle is in. */
    g_assert(d->intake_tasks == 0);
    d->intake_begin_ns = MAX(actor_now(self), d->intake_free_ns) + fixed_ns;
    d->intake_free_ns = d->intake_begin_ns + d->intake_task_ns * tasks;
    d->intake_tasks = tasks;
    d->intake_taken = 0;
    actor_send_later(self, d->client, DISPATCHER_SUBMITTED, 0, d->intake_free_ns - actor_now(self));
}

static void take_bundle(struct actor *self, struct dispatcher *d, uint64_t word)
{
    const struct task_service *t = actor_setup(self);
    uint32_t tasks = (uint32_t)word;
    d->newest = t->leak == TASK_LEAK_LATE_ANSWER && word >> 32 != 0 ? TASK_ODD_BUNDLE : 0;
    d->ended.newest = 0;
    d->accepted += tasks;
    d->asked -= MIN(d->asked, tasks);
    if (!t->lock_shared) {
        submit_beside(self, d, tasks);
        return;
    }
    actor_charge(self, task_service_scaled(t, d->service, cost_ns(&t->costs.dispatcher_submit, 0, tasks)));
    dispatcher_put_back(self, d, d->newest, tasks);
    actor_send(self, d->client, DISPATCHER_SUBMITTED, 0);
}

/* --- dispatch --- */

void dispatcher_idle_add(struct dispatcher *d, uint32_t executor)
{
    d->slots[executor].flags = 0;
    d->idle[(d->idle_head + d->idle_count++) & d->idle_mask] = executor;
}

static uint32_t idle_take(struct dispatcher *d, enum task_choice choice)
{
    d->idle_count--;
    if (choice == TASK_LAST_IDLE)
        return d->idle[(d->idle_head + d->idle_count) & d->idle_mask];
    return d->idle[d->idle_head++ & d->idle_mask];
}

/* The first task of the queue is the executor's. */
static uint64_t assign(struct actor *self, struct dispatcher *d, uint32_t executor)
{
    dispatcher_queue_count(self, d);
    uint64_t task = task_queue_pop(&d->queue);
    d->slots[executor].task = (uint16_t)task;
    d->slots[executor].flags |= SLOT_BUSY;
    d->dispatched++;
    return task;
}

static void notify_executor(struct actor *self, struct dispatcher *d)
{
    const struct task_service *t = actor_setup(self);
    uint32_t executor = idle_take(d, t->choice);
    actor_charge(self, d->dispatch_ns + d->dispatch_queued_ns * (int64_t)d->queue.tasks);
    d->slots[executor].flags = SLOT_NOTIFIED;
    d->notified++;
    if (t->protocol == TASK_TCP)
        actor_send(self, d->first + executor, DISPATCHER_TASK, assign(self, d, executor));
    else
        actor_send(self, d->first + executor, DISPATCHER_POKE, 0);
    if (t->faults.executor_failure != 0)
        dispatcher_expect_ack(self, d, executor);
}

static void wake_dispatch(struct actor *self, struct dispatcher *d, int64_t wait_ns)
{
    if (d->dispatch_timer)
        return;
    d->dispatch_timer = true;
    actor_timer(self, wait_ns, DISPATCHER_DISPATCH_TIMER, 0);
}

/* Nothing to do for idle executors: what may bring tasks? */
static void starve(struct actor *self, struct dispatcher *d)
{
    const struct task_service *t = actor_setup(self);
    if (d->intake_tasks != 0)
        wake_dispatch(self, d, MAX(d->intake_begin_ns + d->intake_task_ns * (d->intake_taken + 1) - actor_now(self),
                                   1));
    else if (t->balance == TASK_STEALING)
        dispatcher_look_for_work(self, d);
    else if (t->balance == TASK_LATE_BINDING && d->idle_count > d->queue.tasks + d->asked) {
        uint64_t more = d->idle_count - d->queue.tasks - d->asked;
        d->asked += more;
        actor_send(self, d->client, DISPATCHER_WANT, more);
    }
}

void dispatcher_dispatch(struct actor *self, struct dispatcher *d)
{
    const struct task_service *t = actor_setup(self);
    /* On WS an executor is told of a task that is not its own yet. */
    const bool ahead = t->protocol == TASK_WS;
    while (d->queue.tasks > (ahead ? d->notified : 0) && d->idle_count != 0 && d->notified < t->threads) {
        if (t->notify_interval_ns != 0) {
            int64_t now_ns = actor_now(self);
            if (now_ns < d->next_dispatch_ns) {
                wake_dispatch(self, d, d->next_dispatch_ns - now_ns);
                return;
            }
            d->next_dispatch_ns = now_ns + t->notify_interval_ns;
        }
        notify_executor(self, d);
    }
    if (d->queue.tasks == 0 && d->idle_count != 0)
        starve(self, d);
}

/* --- results --- */

static void acknowledge(struct dispatcher *d, uint32_t executor)
{
    struct executor_slot *slot = &d->slots[executor];
    if ((slot->flags & SLOT_NOTIFIED) == 0)
        return;                     /* it was dropped meanwhile */
    slot->flags &= (uint8_t)~SLOT_NOTIFIED;
    d->notified--;
    if (d->attempts != NULL)
        d->attempts[executor] = 0;
}

/* A task has ended. FALSE when that was somebody else's business: the executor had been given up. */
static bool end_task(struct actor *self, struct dispatcher *d, uint32_t executor, uint64_t word)
{
    const struct task_service *t = actor_setup(self);
    struct executor_slot *slot = &d->slots[executor];
    if ((slot->flags & SLOT_BUSY) == 0) {
        actor_count(self, DISPATCHER_LATE, 1);
        return false;
    }
    slot->flags &= (uint8_t)~SLOT_BUSY;
    if ((word & TASK_FAILED) == 0) {
        d->ended.completed++;
        d->ended.newest += t->leak == TASK_LEAK_LATE_ANSWER && (word & TASK_ODD_BUNDLE) == d->newest;
    } else if ((word & TASK_ATTEMPTS) < t->faults.retries_task) {
        actor_count(self, DISPATCHER_RETRIED, 1);
        dispatcher_put_back(self, d, (word & ~TASK_FAILED) + 1, 1);
    } else {
        d->ended.failed++;
    }
    return true;
}

/* TCP: a result. */
static void take_result(struct actor *self, struct dispatcher *d, uint32_t executor, uint64_t word)
{
    actor_charge(self, d->result_ns);
    bool known = end_task(self, d, executor, word);
    bool parked = known && (word & TASK_FAILED) != 0 && dispatcher_blame(self, d, executor);
    if ((known && !parked) || d->slots[executor].flags == SLOT_ABSENT)
        dispatcher_idle_add(d, executor);
    dispatcher_notice(self, d);
    dispatcher_dispatch(self, d);
}

/* WS: an executor asks for work, with or without a result. */
static void serve_call(struct actor *self, struct dispatcher *d, uint32_t executor, const struct message *m)
{
    const struct task_service *t = actor_setup(self);
    struct executor_slot *slot = &d->slots[executor];
    bool parked = false, gives = true;
    actor_charge(self, d->call_ns);
    if (slot->flags == 0) {         /* asked twice, and has been taken for idle meanwhile */
        actor_send(self, m->from, DISPATCHER_WORK, TASK_NONE);
        return;
    }
    acknowledge(d, executor);
    if (m->kind == TASK_EXECUTOR_ANSWER) {
        bool known = end_task(self, d, executor, m->word);
        parked = known && (m->word & TASK_FAILED) != 0 && dispatcher_blame(self, d, executor);
        gives = t->piggyback;
    } else if (slot->flags & SLOT_BUSY) {
        dispatcher_close(self, d, executor);
    }
    if (!parked && (slot->flags & SLOT_PARKED) == 0) {
        slot->flags = 0;
        if (gives && d->queue.tasks != 0) {
            actor_send(self, m->from, DISPATCHER_WORK, assign(self, d, executor));
        } else {
            actor_send(self, m->from, DISPATCHER_WORK, TASK_NONE);
            dispatcher_idle_add(d, executor);
        }
    } else {
        actor_send(self, m->from, DISPATCHER_WORK, TASK_NONE);
    }
    dispatcher_notice(self, d);
    dispatcher_dispatch(self, d);
}

static void take_registration(struct actor *self, struct dispatcher *d, uint32_t executor)
{
    struct executor_slot *slot = &d->slots[executor];
    actor_charge(self, d->result_ns);
    if (slot->flags & (SLOT_BUSY | SLOT_NOTIFIED)) {
        dispatcher_close(self, d, executor);
        slot->flags = SLOT_ABSENT;
    }
    if (slot->flags != 0 && (slot->flags & SLOT_PARKED) == 0)
        dispatcher_idle_add(d, executor);
    dispatcher_notice(self, d);
    dispatcher_dispatch(self, d);
}

/* --- the role --- */

static void set_costs(struct dispatcher *d, const struct task_service *t)
{
    const struct task_service_costs *c = &t->costs;
    d->dispatch_ns = task_service_scaled(t, d->service, c->dispatcher_dispatch.fixed_ns);
    d->dispatch_queued_ns = task_service_scaled(t, d->service, c->dispatcher_dispatch.per_entry_ns);
    d->ack_ns = task_service_scaled(t, d->service, c->dispatcher_ack.fixed_ns);
    d->result_ns = task_service_scaled(t, d->service, c->dispatcher_result.fixed_ns);
    d->call_ns = task_service_scaled(t, d->service, c->dispatcher_call.fixed_ns);
    d->intake_task_ns = task_service_scaled(t, d->service, c->dispatcher_submit.per_entry_ns);
}

static void dispatcher_init(struct actor *self, const void *setup)
{
    const struct task_service *t = setup;
    struct dispatcher *d = actor_state(self);
    uint32_t ring = 1;
    while (ring < t->executors)
        ring *= 2;
    d->service = task_service_of(t, actor_id(self));
    d->client = d->service % t->clients;
    d->first = actor_id(self) + 1;
    d->slots = g_new0(struct executor_slot, t->executors);
    d->idle = g_new0(uint32_t, ring);
    d->idle_mask = ring - 1;
    d->steal_wait_ns = t->steal_first_ns;
    set_costs(d, t);
    dispatcher_faults_init(d, t);
    for (uint32_t x = 0; x < t->executors; x++) {
        if (t->provision == PROVISION_STATIC)
            dispatcher_idle_add(d, x);
        else
            d->slots[x].flags = SLOT_ABSENT;
    }
    if (t->balance == TASK_LATE_BINDING)
        dispatcher_dispatch(self, d);
}

static void dispatcher_handle(struct actor *self, const struct message *m)
{
    struct dispatcher *d = actor_state(self);
    if (d->intake_tasks != 0)
        advance_intake(self, d);
    switch (m->kind) {
    case TASK_EXECUTOR_TAKEN:
        actor_charge(self, d->ack_ns);
        acknowledge(d, m->from - d->first);
        dispatcher_dispatch(self, d);
        break;
    case TASK_EXECUTOR_RESULT:
        take_result(self, d, m->from - d->first, m->word);
        break;
    case DISPATCHER_NOTIFY_TIMER:
        d->notify_timer = false;
        dispatcher_notice(self, d);
        break;
    case DISPATCHER_SUBMIT:
        take_bundle(self, d, m->word);
        dispatcher_dispatch(self, d);
        break;
    case TASK_EXECUTOR_ASK:
    case TASK_EXECUTOR_ANSWER:
        serve_call(self, d, m->from - d->first, m);
        break;
    case DISPATCHER_DISPATCH_TIMER:
        d->dispatch_timer = false;
        dispatcher_dispatch(self, d);
        break;
    case TASK_EXECUTOR_REGISTER:
        take_registration(self, d, m->from - d->first);
        break;
    case PROVISIONER_STATUS:
        actor_reply(self, request_of(m), PROVISIONER_STATUS, d->queue.tasks);
        break;
    case DISPATCHER_TIMEOUT:
        dispatcher_timeout(self, d);
        break;
    case DISPATCHER_UNPARK:
        dispatcher_unpark(self, d);
        break;
    default:
        dispatcher_steal_handle(self, d, m);
    }
    if (d->may_hold)
        dispatcher_hold(self, d);
}

static void dispatcher_save(const struct actor *self, struct bytes *sink)
{
    const struct task_service *t = actor_setup(self);
    const struct dispatcher *d = actor_state(self);
    task_queue_save(&d->queue, sink);
    for (uint32_t x = 0; x < t->executors; x++) {
        bytes_put_u16(sink, d->slots[x].task);
        bytes_put_u8(sink, d->slots[x].errors);
        bytes_put_u8(sink, d->slots[x].flags);
    }
    bytes_put_u32(sink, d->idle_count);
    for (uint32_t i = 0; i < d->idle_count; i++)
        bytes_put_u32(sink, d->idle[(d->idle_head + i) & d->idle_mask]);
    bytes_put_u32(sink, d->notified);
    bytes_put_i64(sink, d->next_dispatch_ns);
    bytes_put_i64(sink, d->next_notice_ns);
    bytes_put_u64(sink, notice_pack(&d->ended));
    bytes_put_i64(sink, d->intake_begin_ns);
    bytes_put_i64(sink, d->intake_free_ns);
    bytes_put_u32(sink, d->intake_tasks);
    bytes_put_u32(sink, d->intake_taken);
    bytes_put_u64(sink, d->newest);
    bytes_put_u64(sink, d->asked);
    bytes_put_i64(sink, d->steal_wait_ns);
    dispatcher_faults_save(d, t, sink);
}

static void dispatcher_release(struct actor *self)
{
    struct dispatcher *d = actor_state(self);
    task_queue_release(&d->queue);
    g_free(d->slots);
    g_free(d->idle);
    dispatcher_faults_release(d);
}

static const struct kind_name dispatcher_kinds[] = {
    { DISPATCHER_SUBMIT, "submit", "a client submits a bundle of tasks" },
    { TASK_EXECUTOR_TAKEN, "taken", "an executor acknowledges its task" },
    { TASK_EXECUTOR_RESULT, "result", "an executor has run its task" },
    { TASK_EXECUTOR_ASK, "ask", "an executor asks for work" },
    { TASK_EXECUTOR_ANSWER, "answer", "an executor has run its task and asks for more" },
    { TASK_EXECUTOR_REGISTER, "register", "an executor is there" },
    { PROVISIONER_STATUS, "status", "the provisioner asks how much is queued; the answer" },
    { DISPATCHER_NOTIFY_TIMER, "notify-timer", "timer: the client can be notified again" },
    { DISPATCHER_DISPATCH_TIMER, "dispatch-timer", "timer: an executor can be notified again" },
    { DISPATCHER_TIMEOUT, "timeout", "timer: acknowledgements are due" },
    { DISPATCHER_UNPARK, "unpark", "timer: parked executors may go on" },
    { DISPATCHER_PROBE, "probe", "a thief asks how much is queued" },
    { DISPATCHER_LOAD, "load", "the answer to a probe" },
    { DISPATCHER_STEAL, "steal", "a thief takes half of the queue" },
    { DISPATCHER_STOLEN, "stolen", "the answer to a thief" },
    { DISPATCHER_STEAL_TIMER, "steal-timer", "timer: look for work again" },
    { 0, NULL, NULL }
};

static const struct metric dispatcher_metrics[] = {
    [DISPATCHER_ACCEPTED] = { "accepted", "1", "tasks submitted", METRIC_COUNTER },
    [DISPATCHER_DISPATCHED] = { "dispatched", "1", "tasks given to executors", METRIC_COUNTER },
    [DISPATCHER_COMPLETED] = { "completed", "1", "tasks that ended well", METRIC_SERIES },
    [DISPATCHER_FAILED] = { "failed", "1", "tasks that failed as often as they may", METRIC_COUNTER },
    [DISPATCHER_LOST] = { "lost", "1", "tasks closed because their result never came", METRIC_COUNTER },
    [DISPATCHER_RETRIED] = { "retried", "1", "failed runs after which the task was queued again", METRIC_COUNTER },
    [DISPATCHER_RETURNED] = { "returned", "1", "dispatches never acknowledged: the task was queued again",
                              METRIC_COUNTER },
    [DISPATCHER_NOTICES] = { "notices", "1", "messages that told the client of ended tasks", METRIC_COUNTER },
    [DISPATCHER_QUEUED_US] = { "queued_us", "1", "tasks in the queue x microseconds", METRIC_COUNTER },
    [DISPATCHER_LATE] = { "late", "1", "results of executors that had been given up", METRIC_COUNTER },
    [DISPATCHER_DROPPED] = { "dropped", "1", "executors given up for not acknowledging", METRIC_COUNTER },
    [DISPATCHER_PARKED] = { "parked", "1", "executors parked for their errors", METRIC_COUNTER },
    [DISPATCHER_STOLEN_TASKS] = { "stolen", "1", "tasks taken from another service", METRIC_COUNTER },
    [DISPATCHER_METRICS] = { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_dispatcher = {
    .name = "dispatcher",
    .text = "queues a service's tasks and hands them to its executors",
    .state_size = sizeof(struct dispatcher),
    .streams = 1,
    .kinds = dispatcher_kinds,
    .metrics = dispatcher_metrics,
    .init = dispatcher_init,
    .handle = dispatcher_handle,
    .save = dispatcher_save,
    .release = dispatcher_release,
};
