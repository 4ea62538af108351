/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/lb_client.h"

#include <glib.h>

enum { STREAM_FAULTS, STREAMS };
#define SECOND_NS INT64_C(1000000000)
#define MINUTE_NS (60 * SECOND_NS)

enum lane_state {
    LANE_READY,                     /* late binding: until the service wants more; else only in between */
    LANE_CALL,                      /* a submit call is under way */
    LANE_NAP,
    LANE_RETRY,                     /* a submit call failed; naps until it is tried again */
    LANE_DONE,                      /* nothing is left to submit */
    LANE_GAVE_UP
};

struct lane {                       /* a submit loop and its service */
    uint64_t outstanding;
    uint64_t wanted;                /* late binding */
    uint64_t share;                 /* stealing: still to push */
    int64_t second;                 /* the rate limit's present second, and what was submitted in it */
    uint64_t in_second;
    uint32_t dispatcher;
    uint32_t bundle;                /* of the call under way or to be tried again */
    uint32_t tries;
    uint8_t state;
    bool odd;                       /* the lowest bit of that bundle's number */
};

struct minute {
    uint64_t ended;
    int64_t pause_ns;
};

struct lb_client {
    struct lane *lanes;
    uint32_t lane_count;
    uint32_t gave_up;
    uint64_t total;
    uint64_t left;                  /* in the shared queue */
    uint64_t outstanding;           /* of all lanes */
    uint64_t ended;
    uint64_t leak_rest;             /* millionths of a byte that have leaked and made no whole one yet */
    struct heap heap;
    int64_t minute;                 /* the present one, from 0 */
    struct minute now, last;        /* the present minute; the last full one */
    bool dead;                      /* the heap is exhausted */
    bool draining;                  /* the queue is empty */
    bool started;                   /* the first task has ended */
};

/* --- minutes --- */

/* Turns the page when a minute is over. */
static inline void look_at_minute(struct actor *self, struct lb_client *c)
{
    int64_t minute = actor_now(self) / MINUTE_NS;
    if (G_LIKELY(minute == c->minute))
        return;
    if (c->minute == 0)
        actor_sample(self, LB_CLIENT_FIRST_MINUTE, (int64_t)c->now.ended);
    c->last = minute == c->minute + 1 ? c->now : (struct minute){ 0, 0 };
    c->now = (struct minute){ 0, 0 };
    c->minute = minute;
}

static void sample_drain(struct actor *self, struct lb_client *c)
{
    const struct task_service *t = actor_setup(self);
    look_at_minute(self, c);
    c->draining = true;
    actor_sample(self, LB_CLIENT_SUBMIT_SPAN, actor_now(self));
    if (c->minute > 0) {
        actor_sample(self, LB_CLIENT_LAST_MINUTE, (int64_t)c->last.ended);
        actor_sample(self, LB_CLIENT_LAST_MINUTE_PAUSE, c->last.pause_ns);
    }
    if (t->heap.size_bytes != 0)
        actor_sample(self, LB_CLIENT_LAST_FREE, (int64_t)heap_free_bytes(&c->heap, 0));
}

/* --- ends --- */

static void end_tasks(struct actor *self, struct lb_client *c, uint64_t count)
{
    c->ended += count;
    actor_count(self, LB_CLIENT_ENDED, count);
    if (c->ended == c->total)
        actor_sample(self, LB_CLIENT_MAKESPAN, actor_now(self));
}

static void reject(struct actor *self, struct lb_client *c, uint64_t count)
{
    if (count == 0)
        return;
    actor_count(self, LB_CLIENT_REJECTED, count);
    end_tasks(self, c, count);
}

/* Nothing is submitted any more. */
static void reject_rest(struct actor *self, struct lb_client *c)
{
    uint64_t rest = c->left;
    c->left = 0;
    for (uint32_t i = 0; i < c->lane_count; i++)
        c->lanes[i].share = c->lanes[i].wanted = 0;
    if (!c->draining)
        sample_drain(self, c);
    reject(self, c, rest);
}

static void die(struct actor *self, struct lb_client *c)
{
    c->dead = true;
    actor_count(self, LB_CLIENT_EXHAUSTED, 1);
    for (uint32_t i = 0; i < c->lane_count; i++)
        if (c->lanes[i].state == LANE_RETRY) {
            c->lanes[i].state = LANE_GAVE_UP;
            reject(self, c, c->lanes[i].bundle);
        }
    reject_rest(self, c);
}

/* --- the heap --- */

/* FALSE when the client died of it. */
static bool allocate(struct actor *self, struct lb_client *c, uint64_t tasks)
{
    const struct task_service *t = actor_setup(self);
    if (t->heap.size_bytes == 0)
        return true;
    int64_t pause_ns = heap_allocate(&c->heap, actor_now(self), tasks * t->allocated_bytes,
                                     c->outstanding * t->held_bytes);
    if (pause_ns != 0) {
        c->now.pause_ns += pause_ns;
        actor_count(self, LB_CLIENT_COLLECTIONS, 1);
        actor_sample(self, LB_CLIENT_PAUSE, pause_ns);
        uint64_t free_bytes = heap_free_bytes(&c->heap, c->outstanding * t->held_bytes);
        actor_sample(self, LB_CLIENT_HEAP_FREE, (int64_t)free_bytes);
        actor_count(self, LB_CLIENT_PAUSED, (uint64_t)pause_ns);
        actor_count(self, LB_CLIENT_FREED, free_bytes);
        actor_charge(self, pause_ns);
        look_at_minute(self, c);
    }
    if (c->heap.exhausted)
        die(self, c);
    return !c->heap.exhausted;
}

static void leak(struct actor *self, struct lb_client *c, const struct lane *lane, const struct notice_counts *n,
                 uint64_t ended)
{
    const struct task_service *t = actor_setup(self);
    if (t->leak == TASK_LEAK_PER_TASK) {
        c->leak_rest += ended * t->leak_per_million_bytes;
        heap_leak(&c->heap, c->leak_rest / 1000000);
        c->leak_rest %= 1000000;
    } else if (t->leak == TASK_LEAK_LATE_ANSWER && lane->state == LANE_CALL && n->odd_bundle == lane->odd &&
               n->newest != 0) {
        actor_count(self, LB_CLIENT_LATE_ANSWERS, n->newest);
        heap_leak(&c->heap, n->newest * t->record_bytes);
    }
}

/* --- submit loops --- */

/* What the rate limit leaves in the present second. */
static uint64_t rate_room(struct actor *self, struct lane *lane)
{
    const struct task_service *t = actor_setup(self);
    if (t->rate_limit == 0)
        return UINT64_MAX;
    int64_t second = actor_now(self) / SECOND_NS;
    if (second != lane->second) {
        lane->second = second;
        lane->in_second = 0;
    }
    return t->rate_limit - lane->in_second;
}

static uint64_t room(struct actor *self, struct lb_client *c, struct lane *lane)
{
    const struct task_service *t = actor_setup(self);
    uint64_t most = MIN(t->bundle, c->left);
    switch (t->balance) {
    case TASK_CREDIT:
        most = MIN(most, t->window - MIN(t->window, lane->outstanding));
        break;
    case TASK_LATE_BINDING:
        most = MIN(most, lane->wanted);
        break;
    case TASK_STEALING:
        most = MIN(most, lane->share);
        break;
    }
    return MIN(most, rate_room(self, lane));
}

static void nap(struct actor *self, struct lb_client *c, struct lane *lane, enum lane_state state, int64_t nap_ns)
{
    lane->state = state;
    actor_count(self, LB_CLIENT_NAPS, 1);
    actor_timer(self, nap_ns, LB_CLIENT_STEP, (uint64_t)(lane - c->lanes));
}

static void give_up(struct actor *self, struct lb_client *c, struct lane *lane)
{
    const struct task_service *t = actor_setup(self);
    lane->state = LANE_GAVE_UP;
    lane->outstanding -= lane->bundle;
    c->outstanding -= lane->bundle;
    reject(self, c, lane->bundle);
    if (t->balance == TASK_STEALING) {      /* nobody else will push its share */
        c->left -= lane->share;
        reject(self, c, lane->share);
        lane->share = 0;
    }
    if (++c->gave_up == c->lane_count)
        reject_rest(self, c);
}

/* Makes the call for the lane's bundle, which has been taken off the queue. */
static void call(struct actor *self, struct lb_client *c, struct lane *lane)
{
    const struct task_service *t = actor_setup(self);
    const struct task_faults *f = &t->faults;
    uint64_t pairs = (uint64_t)lane->bundle * (lane->bundle - 1) / 2;
    actor_charge(self, cost_ns(&t->costs.client_submit, 0, lane->bundle) +
                       (int64_t)pairs * t->costs.client_copy.per_entry_ns);
    if (f->submit_failure != 0 && actor_draw(self, STREAM_FAULTS) < f->submit_failure) {
        if (lane->tries++ == f->retries_submit) {
            give_up(self, c, lane);
            return;
        }
        actor_count(self, LB_CLIENT_SUBMIT_RETRIES, 1);
        nap(self, c, lane, LANE_RETRY, f->retry_submit_ns);
        return;
    }
    lane->tries = 0;
    lane->state = LANE_CALL;
    actor_count(self, LB_CLIENT_CALLS, 1);
    actor_count(self, LB_CLIENT_SUBMITTED, lane->bundle);
    actor_send(self, lane->dispatcher, DISPATCHER_SUBMIT, (uint64_t)lane->bundle | (uint64_t)lane->odd << 32);
}

static void step(struct actor *self, struct lb_client *c, struct lane *lane)
{
    const struct task_service *t = actor_setup(self);
    lane->state = LANE_READY;
    if (c->left == 0 || (t->balance == TASK_STEALING && lane->share == 0)) {
        lane->state = LANE_DONE;
        return;
    }
    uint64_t count = room(self, c, lane);
    if (count == 0) {
        if (t->balance != TASK_LATE_BINDING || lane->wanted != 0)
            nap(self, c, lane, LANE_NAP, t->poll_ns);
        return;
    }
    if (!allocate(self, c, count))
        return;
    c->left -= count;
    c->outstanding += count;
    lane->outstanding += count;
    lane->in_second += count;
    lane->share -= t->balance == TASK_STEALING ? count : 0;
    lane->wanted -= t->balance == TASK_LATE_BINDING ? count : 0;
    lane->bundle = (uint32_t)count;
    lane->odd = !lane->odd;
    call(self, c, lane);
    if (c->left == 0 && !c->draining)
        sample_drain(self, c);
}

static void go_on(struct actor *self, struct lb_client *c, struct lane *lane)
{
    if (c->dead)
        return;
    if (lane->state == LANE_RETRY)
        call(self, c, lane);
    else
        step(self, c, lane);
}

/* --- messages --- */

static void take_notice(struct actor *self, struct lb_client *c, struct lane *lane, uint64_t word)
{
    const struct task_service *t = actor_setup(self);
    struct notice_counts n = notice_unpack(word);
    uint64_t ended = (uint64_t)n.completed + n.failed + n.lost;
    actor_charge(self, cost_ns(&t->costs.client_notice, 0, ended));
    look_at_minute(self, c);
    c->now.ended += ended;
    c->outstanding -= ended;
    lane->outstanding -= ended;     /* with stealing a service may end another's tasks: this wraps, and nobody looks */
    if (!c->started) {
        c->started = true;
        actor_sample(self, LB_CLIENT_FIRST_DONE, actor_now(self));
    }
    leak(self, c, lane, &n, ended);
    if (c->dead) {                  /* nobody listens */
        n.lost += n.completed + n.failed;
        n.completed = n.failed = 0;
    }
    if (n.completed != 0)
        actor_count(self, LB_CLIENT_COMPLETED, n.completed);
    if (n.failed != 0)
        actor_count(self, LB_CLIENT_FAILED, n.failed);
    if (n.lost != 0)
        actor_count(self, LB_CLIENT_LOST, n.lost);
    end_tasks(self, c, ended);
}

static void lb_client_init(struct actor *self, const void *setup)
{
    const struct task_service *t = setup;
    struct lb_client *c = actor_state(self);
    c->lane_count = (uint32_t)task_share(t->services, t->clients, actor_id(self));
    c->lanes = g_new0(struct lane, c->lane_count);
    c->total = c->left = task_share(t->tasks, t->clients, actor_id(self));
    for (uint32_t i = 0; i < c->lane_count; i++) {
        c->lanes[i].dispatcher = task_service_dispatcher(t, actor_id(self) + i * t->clients);
        c->lanes[i].share = task_share(c->total, c->lane_count, i);
    }
    heap_init(&c->heap, &t->heap);
    if (c->lane_count != 0)
        actor_timer(self, 1, LB_CLIENT_START, 0);
}

static void start(struct actor *self, struct lb_client *c)
{
    const struct task_service *t = actor_setup(self);
    if (c->total == 0) {
        sample_drain(self, c);
        actor_sample(self, LB_CLIENT_MAKESPAN, 0);
    }
    for (uint32_t i = 0; i < c->lane_count && !c->dead; i++)
        if (t->balance != TASK_LATE_BINDING)
            step(self, c, &c->lanes[i]);
}

static void lb_client_handle(struct actor *self, const struct message *m)
{
    const struct task_service *t = actor_setup(self);
    struct lb_client *c = actor_state(self);
    if (m->kind == LB_CLIENT_START) {
        start(self, c);
        return;
    }
    if (m->kind == LB_CLIENT_STEP) {
        go_on(self, c, &c->lanes[m->word]);
        return;
    }
    struct lane *lane = &c->lanes[(task_service_of(t, m->from) - actor_id(self)) / t->clients];
    switch (m->kind) {
    case DISPATCHER_NOTICE:
        take_notice(self, c, lane, m->word);
        break;
    case DISPATCHER_SUBMITTED:
        go_on(self, c, lane);
        break;
    case DISPATCHER_WANT:
        lane->wanted += m->word;
        if (lane->state == LANE_READY)
            go_on(self, c, lane);
        break;
    default:
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    }
}

static void lb_client_save(const struct actor *self, struct bytes *sink)
{
    const struct lb_client *c = actor_state(self);
    for (uint32_t i = 0; i < c->lane_count; i++) {
        const struct lane *lane = &c->lanes[i];
        bytes_put_u64(sink, lane->outstanding);
        bytes_put_u64(sink, lane->wanted);
        bytes_put_u64(sink, lane->share);
        bytes_put_i64(sink, lane->second);
        bytes_put_u64(sink, lane->in_second);
        bytes_put_u32(sink, lane->bundle);
        bytes_put_u32(sink, lane->tries);
        bytes_put_u8(sink, lane->state);
        bytes_put_u8(sink, lane->odd);
    }
    bytes_put_u64(sink, c->left);
    bytes_put_u64(sink, c->outstanding);
    bytes_put_u64(sink, c->ended);
    bytes_put_u64(sink, c->leak_rest);
    bytes_put_u64(sink, c->heap.used_bytes);
    bytes_put_u64(sink, c->heap.leaked_bytes);
    bytes_put_u64(sink, c->heap.collections);
    bytes_put_i64(sink, c->heap.paused_ns);
    bytes_put_i64(sink, c->heap.last_end_ns);
    bytes_put_u32(sink, c->heap.overruns);
    bytes_put_u8(sink, c->dead);
    bytes_put_u8(sink, c->draining);
}

static void lb_client_release(struct actor *self)
{
    struct lb_client *c = actor_state(self);
    g_free(c->lanes);
}

static const struct kind_name lb_client_kinds[] = {
    { LB_CLIENT_START, "start", "timer: the submit loops begin" },
    { LB_CLIENT_STEP, "step", "timer: a submit loop wakes up" },
    { DISPATCHER_NOTICE, "notice", "tasks of a service have ended" },
    { DISPATCHER_SUBMITTED, "submitted", "a submit call returns" },
    { DISPATCHER_WANT, "want", "late binding: a service has idle executors" },
    { 0, NULL, NULL }
};

const struct metric lb_client_metrics[] = {
    [LB_CLIENT_SUBMITTED] = { "submitted", "1", "tasks handed to services", METRIC_SERIES },
    [LB_CLIENT_COMPLETED] = { "completed", "1", "tasks that ended well", METRIC_SERIES },
    [LB_CLIENT_FAILED] = { "failed", "1", "tasks that failed as often as they may", METRIC_COUNTER },
    [LB_CLIENT_LOST] = { "lost", "1", "tasks whose result never came", METRIC_COUNTER },
    [LB_CLIENT_REJECTED] = { "rejected", "1", "tasks that could not be submitted", METRIC_COUNTER },
    [LB_CLIENT_ENDED] = { "ended", "1", "tasks that ended, in whatever way", METRIC_SERIES },
    [LB_CLIENT_CALLS] = { "submit_calls", "1", "submit calls that succeeded", METRIC_COUNTER },
    [LB_CLIENT_NAPS] = { "naps", "1", "times that a submit loop slept", METRIC_COUNTER },
    [LB_CLIENT_SUBMIT_RETRIES] = { "submit_retries", "1", "submit calls that failed and were tried again",
                                   METRIC_COUNTER },
    [LB_CLIENT_COLLECTIONS] = { "collections", "1", "collections of the heap", METRIC_COUNTER },
    [LB_CLIENT_PAUSE] = { "pause", "ns", "one collection", METRIC_SAMPLE },
    [LB_CLIENT_HEAP_FREE] = { "heap_free", "bytes", "free in the heap after a collection", METRIC_SAMPLE },
    [LB_CLIENT_PAUSED] = { "paused", "ns", "collections, in all", METRIC_SERIES },
    [LB_CLIENT_FREED] = { "freed", "bytes", "free after each collection, in all: divided by their number, how much is "
                          "left", METRIC_SERIES },
    [LB_CLIENT_LATE_ANSWERS] = { "late_answers", "1", "tasks that ended before their submit call returned: leaked",
                                 METRIC_COUNTER },
    [LB_CLIENT_EXHAUSTED] = { "exhausted", "1", "clients whose heap was exhausted", METRIC_COUNTER },
    [LB_CLIENT_FIRST_DONE] = { "first_done", "ns", "until the first task ended", METRIC_SAMPLE },
    [LB_CLIENT_SUBMIT_SPAN] = { "submit_span", "ns", "until the last task was handed out", METRIC_SAMPLE },
    [LB_CLIENT_MAKESPAN] = { "makespan", "ns", "until the last task ended", METRIC_SAMPLE },
    [LB_CLIENT_FIRST_MINUTE] = { "first_minute", "1", "tasks that ended in the first minute", METRIC_SAMPLE },
    [LB_CLIENT_LAST_MINUTE] = { "last_minute", "1", "and in the last full one before the drain", METRIC_SAMPLE },
    [LB_CLIENT_LAST_MINUTE_PAUSE] = { "last_minute_pause", "ns", "collections in that minute", METRIC_SAMPLE },
    [LB_CLIENT_LAST_FREE] = { "last_free", "bytes", "free beside live and leaked data when the queue is empty",
                              METRIC_SAMPLE },
    [LB_CLIENT_METRICS] = { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_lb_client = {
    .name = "lb-client",
    .text = "draws tasks from one queue for every service",
    .state_size = sizeof(struct lb_client),
    .streams = STREAMS,
    .kinds = lb_client_kinds,
    .metrics = lb_client_metrics,
    .init = lb_client_init,
    .handle = lb_client_handle,
    .save = lb_client_save,
    .release = lb_client_release,
};
