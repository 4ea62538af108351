/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The virtual clock: a conservative parallel discrete-event simulation.
 *
 * All processes simulate one window of virtual time, then swap the messages that cross between them. A window begins at
 * the first pending message of all processes and is as long as the least latency between processes, so nothing that is
 * sent in a window can arrive in it elsewhere. It never crosses a tick, where the end of the run is tested.
 * One process has no neighbour and no windows: it runs from tick to tick.
 */
#include "config.h"

#include "engine/internal.h"

enum {
    POLL_MESSAGES = 1 << 17,        /* messages between two looks at signals and limits */
    POLL_WINDOWS = 64,              /* more processes: windows between two looks, when windows are short */
    PROBE_WINDOWS = 2000,           /* after so many windows spread = auto judges the work per window ... */
    ENOUGH_PER_WINDOW = 300         /* ... messages a window and process that make a further process worth it */
};

static int64_t virtual_now(const struct engine *e)
{
    return e->now_ns;
}

static void virtual_charge(struct engine *e, int64_t cost_ns)
{
    e->now_ns += cost_ns;
}

/* A message whose arrival is set goes to its process. */
static inline void forward(struct engine *e, struct message *m)
{
    uint32_t process = e->processes == 1 ? 0 : e->routes[m->to].process;
    if (process == e->process) {
        queue_push(&e->queue, m);
        return;
    }
    exchange_pack(e, process, m);
    e->sent_next_ns = MIN(e->sent_next_ns, m->time_ns);
    if (message_has_payload(m))
        pool_unref(&e->pool, m->payload);
}

static void virtual_post(struct engine *e, struct actor *from, struct message *m, uint64_t size_bytes)
{
    m->time_ns = e->uniform ? e->now_ns + e->uniform_ns : engine_link_arrival(e, from, m->to, size_bytes);
    forward(e, m);
}

static void virtual_post_later(struct engine *e, struct actor *from, struct message *m, int64_t delay_ns)
{
    m->time_ns = (e->uniform ? e->now_ns + e->uniform_ns : engine_link_arrival(e, from, m->to, 0)) + delay_ns;
    forward(e, m);
}

static void virtual_post_self(struct engine *e, struct message *m)
{
    queue_push(&e->queue, m);
}

/* With more actors than the caches hold, an actor's lines must be under way before its message is handled: its own two,
 * the first of its state, and that of its random streams. */
static inline void prefetch_actor(const struct engine *e, const struct message *m)
{
    const struct route *route = &e->routes[m->to];
    const struct ahead *ahead = &e->ahead[route->role];
    const char *actor = (const char *)actor_at(e, route->place);
    for (uint32_t at = 0; at < ahead->bytes; at += 64)
        __builtin_prefetch(actor + at);
    __builtin_prefetch(actor + ahead->streams_at);
}

static inline void prefetch_ahead(const struct engine *e)
{
    enum { ROUTES = 10, ACTORS = 5 };
    const struct queue *q = &e->queue;
    const struct message *m;
    if (q->at == 0) {               /* a bucket has been opened */
        for (size_t k = 0; k < ROUTES && (m = queue_peek(q, k)) != NULL; k++)
            __builtin_prefetch(&e->routes[m->to]);
        for (size_t k = 0; k < ACTORS && (m = queue_peek(q, k)) != NULL; k++)
            prefetch_actor(e, m);
    }
    if ((m = queue_peek(q, ROUTES)) != NULL)
        __builtin_prefetch(&e->routes[m->to]);
    if ((m = queue_peek(q, ACTORS)) != NULL)
        prefetch_actor(e, m);
}

/* Handles what arrives before end_ns, at most `most` messages. TRUE when nothing before end_ns is left. */
static bool run_until(struct engine *e, int64_t end_ns, uint64_t most)
{
#ifdef TIERCEL_CHECKS
    int64_t checked_ns = 0;
#endif
    for (; most != 0; most--) {
        if (queue_next_ns(&e->queue) >= end_ns || e->failure != NULL)
            return true;
        prefetch_ahead(e);
        struct message m = queue_pop(&e->queue);
#ifdef TIERCEL_CHECKS
        g_assert(m.time_ns >= checked_ns && m.time_ns < end_ns);
        checked_ns = m.time_ns;
#endif
        dispatch_message(e, &m);
    }
    return false;
}

/* From when on this process may send to another. Without promises that is its next message; when all groups that can
 * send across have made one, none of them sends before the least of these. What is still on its way to another process
 * may be answered as soon as it arrives. */
static int64_t next_send_ns(const struct engine *e, int64_t next_ns)
{
    if (e->promised_groups == 0 || e->promised_groups < e->crossing_groups)
        return MIN(next_ns, e->sent_next_ns);
    int64_t least = INT64_MAX;
    for (uint32_t i = 1; i < e->promises->len; i++)
        least = MIN(least, g_array_index(e->promises, int64_t, i));
    return MIN(MAX(least, next_ns), e->sent_next_ns);
}

static struct status status_of(struct engine *e)
{
    int64_t next_ns = queue_next_ns(&e->queue);
    return (struct status){
        .next_ns = MIN(next_ns, e->sent_next_ns),
        .send_ns = next_send_ns(e, next_ns),
        .pending = (uint64_t)(e->pending + e->turns_due),
        .held = e->held,
        .handled = e->handled,
        .failed = e->failure != NULL,
    };
}

static unsigned poll_wishes(struct engine *e)
{
    const struct engine_observer *o = &e->config.observer;
    return o->poll != NULL ? o->poll(o->data) : 0;
}

static void tell_window(struct engine *e, int64_t now_ns, unsigned wishes)
{
    const struct engine_observer *o = &e->config.observer;
    if (o->window != NULL)
        o->window(o->data, now_ns, e->handled, wishes);
}

static void tell_tick(struct engine *e)
{
    const struct engine_observer *o = &e->config.observer;
    if (o->tick != NULL)
        o->tick(o->data, e->limit_ns);
}

/* The tick at which the end is tested next when everything before `tick_ns` is done and the next message arrives at
 * next_ns: ticks with nothing between them would only repeat the test. */
static int64_t tick_after(const struct engine *e, int64_t next_ns)
{
    int64_t tick = e->config.tick_ns;
    if (next_ns >= e->config.stop_after_ns || next_ns > INT64_MAX - 2 * tick)
        return e->config.stop_after_ns;
    return MIN((next_ns / tick + 1) * tick, e->config.stop_after_ns);
}

/* What is settled at the end of all messages before e->limit_ns. */
static bool ended_at_limit(const struct engine *e, const struct status *all, enum engine_end *end)
{
    if (all->pending == 0 && all->held == 0) {
        *end = ENGINE_ENDED;
        return true;
    }
    if (e->limit_ns >= e->config.stop_after_ns) {
        *end = ENGINE_STOPPED;
        return true;
    }
    /* Something is held or waits for a reply, and nothing will ever move again. */
    if (all->next_ns == INT64_MAX) {
        *end = ENGINE_ENDED;
        return true;
    }
    return false;
}

static bool too_sparse(const struct engine *e, const struct status *all)
{
    return !e->config.spread_always && e->processes > 1 && e->windows == PROBE_WINDOWS &&
           all->handled < (uint64_t)PROBE_WINDOWS * ENOUGH_PER_WINDOW * e->processes;
}

/* The windows of one process: chunks of messages up to the next tick. */
static enum engine_end run_alone(struct engine *e, int64_t *end_ns)
{
    enum engine_end end;
    for (;;) {
        bool done = run_until(e, e->limit_ns, POLL_MESSAGES);
        unsigned wishes = poll_wishes(e);
        if (e->failure != NULL || (wishes & ENGINE_WISH_STOP)) {
            *end_ns = MIN(queue_next_ns(&e->queue), e->limit_ns);
            tell_window(e, *end_ns, wishes);
            return ENGINE_STOPPED;
        }
        e->windows++;
        if (!done || wishes != 0)
            tell_window(e, MIN(queue_next_ns(&e->queue), e->limit_ns), wishes);
        if (!done)
            continue;
        struct status all = status_of(e);
        *end_ns = e->limit_ns;
        tell_tick(e);
        if (ended_at_limit(e, &all, &end))
            return end;
        e->limit_ns = tick_after(e, all.next_ns);
    }
}

static enum engine_end run_together(struct engine *e, int64_t *end_ns)
{
    enum engine_end end;
    struct status all;
    exchange_window(e, status_of(e), &all);
    for (;;) {
        e->sent_next_ns = INT64_MAX;
        int64_t window_end = e->limit_ns;
        if (all.send_ns < e->limit_ns && all.send_ns < e->limit_ns - e->lookahead_ns)
            window_end = all.send_ns + e->lookahead_ns;
        e->window_end_ns = window_end;
        /* A process that stops short of the window's end goes on in the next: nobody has run ahead by more than the
         * lookahead. */
        bool done = run_until(e, window_end, POLL_MESSAGES);
        e->windows++;
        struct status mine = status_of(e);
        if (!done || e->windows % POLL_WINDOWS == 0)
            mine.wishes = poll_wishes(e);
        exchange_window(e, mine, &all);
        if (all.wishes != 0 || e->windows % 1024 == 0)
            tell_window(e, MIN(all.next_ns, e->limit_ns), all.wishes);
        *end_ns = MIN(all.next_ns, e->limit_ns);
        if (all.failed || (all.wishes & ENGINE_WISH_STOP))
            return ENGINE_STOPPED;
        if (too_sparse(e, &all))
            return ENGINE_RETREAT;
        if (all.next_ns < e->limit_ns)
            continue;
        tell_tick(e);
        if (ended_at_limit(e, &all, &end))
            return end;
        e->limit_ns = tick_after(e, all.next_ns);
    }
}

static gboolean virtual_run(struct engine *e, struct engine_result *result, GError **error)
{
    int64_t end_ns = 0;
    e->limit_ns = MIN(e->config.tick_ns, e->config.stop_after_ns);
    dispatch_start(e);
    e->phase_refuses_call = NULL;
    result->end = e->processes == 1 ? run_alone(e, &end_ns) : run_together(e, &end_ns);
    result->end_ns = end_ns;
    return TRUE;
}

const struct engine_clock_ops engine_clock_virtual = {
    .post = virtual_post,
    .post_later = virtual_post_later,
    .post_self = virtual_post_self,
    .charge = virtual_charge,
    .spend = virtual_charge,
    .now = virtual_now,
    .run = virtual_run,
};
