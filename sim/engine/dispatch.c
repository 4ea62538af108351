/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread group at a time: when a message is handled, what waits, calls and turns.
 *
 * Two ways lead to the same handlings. The shortcut handles a message at its arrival, with the actor's clock set to
 * max(arrival, free): no event for the wait. The explicit inbox keeps it until a wake-up at that time. Both handle the
 * same messages in the same order at the same times, because a group's messages arrive here in the defined order and
 * nothing else can come between. Neither starts a handling at or after limit_ns, the next tick at which the end of the
 * run is tested: what would start later stays pending.
 */
#include "config.h"

#include "engine/internal.h"

/* Odd constants with no structure (from the fractional part of pi, as in many hashes). */
#define MIX_A 0x243f6a8885a308d3ull
#define MIX_B 0x13198a2e03707344ull
#define MIX_C 0xa4093822299f31d0ull
#define MIX_D 0x082efa98ec4e6c89ull

static inline uint64_t chain_next(uint64_t chain, const struct message *m, int64_t start_ns)
{
    uint64_t content = message_has_payload(m) ? m->payload->hash : m->word;
    uint64_t who = (uint64_t)m->from << 32 | m->sequence;
    uint64_t what = (uint64_t)m->kind << 8 | m->order_class;
    uint64_t a = mix_words((uint64_t)m->time_ns ^ MIX_A, (uint64_t)start_ns ^ MIX_B ^ what << 40);
    uint64_t b = mix_words(who ^ MIX_C, content ^ MIX_D);
    return mix_words(chain ^ a, b ^ MIX_A) + what;
}

static struct inbox *inbox_of(struct thread *thread)
{
    if (thread->inbox == NULL) {
        thread->inbox = g_new0(struct inbox, 1);
        thread->inbox->callee = NOBODY;
    }
    return thread->inbox;
}

static void inbox_grow(struct inbox *box)
{
    uint32_t capacity = box->capacity != 0 ? 2 * box->capacity : 8;
    struct message *items = g_new(struct message, capacity);
    for (uint32_t i = 0; i < box->count; i++)
        items[i] = box->items[(box->head + i) & (box->capacity - 1)];
    g_free(box->items);
    box->items = items;
    box->head = 0;
    box->capacity = capacity;
}

/* Messages come in the defined order, with one exception: two actors of a group can send themselves an end-of-instant
 * message in one instant, the one with the lower id later. So look back for the place. */
static void inbox_append(struct thread *thread, const struct message *m)
{
    struct inbox *box = inbox_of(thread);
    if (box->count == box->capacity)
        inbox_grow(box);
    const uint32_t mask = box->capacity - 1;
    uint32_t at = box->count++;
    for (; at > 0 && message_before(m, &box->items[(box->head + at - 1) & mask]); at--)
        box->items[(box->head + at) & mask] = box->items[(box->head + at - 1) & mask];
    box->items[(box->head + at) & mask] = *m;
    thread->flags |= THREAD_WAITING;
}

static void inbox_prepend(struct thread *thread, const struct message *m)
{
    struct inbox *box = inbox_of(thread);
    if (box->count == box->capacity)
        inbox_grow(box);
    box->head = (box->head - 1) & (box->capacity - 1);
    box->items[box->head] = *m;
    box->count++;
    thread->flags |= THREAD_WAITING;
}

static struct message inbox_take(struct thread *thread)
{
    struct inbox *box = thread->inbox;
    struct message m = box->items[box->head];
    box->head = (box->head + 1) & (box->capacity - 1);
    if (--box->count == 0)
        thread->flags &= ~(uint32_t)THREAD_WAITING;
    return m;
}

/* --- handling --- */

/* When a handling begins that may begin at `time_ns`: on the live clock now, whatever was planned. */
static inline int64_t begin_ns(const struct engine *e, int64_t time_ns)
{
    return G_UNLIKELY(e->live_clock) ? e->clock->now(e) : time_ns;
}

static inline void handle(struct engine *e, struct actor *actor, const struct message *m, int64_t start_ns)
{
    struct thread *thread = actor->thread;
#ifdef TIERCEL_CHECKS
    g_assert(start_ns >= m->time_ns && start_ns >= thread->free_ns && start_ns < e->limit_ns);
#endif
    start_ns = begin_ns(e, start_ns);
    e->now_ns = start_ns;
    actor->chain = chain_next(actor->chain, m, start_ns);
    actor->handled++;
    actor->wait_ns += start_ns - m->time_ns;
    e->handled++;
    if (message_is_background(m)) {
        e->pending_background--;
        e->handled_background++;
    } else {
        e->pending--;
    }
    actor->role->handle(actor, m);
    int64_t end_ns = engine_now(e);
    thread->free_ns = end_ns;
    actor->busy_ns += end_ns - start_ns;
    if (e->config.observer.handled != NULL)
        e->config.observer.handled(e->config.observer.data, actor, m, start_ns, end_ns);
    if (message_has_payload(m))
        pool_unref(&e->pool, m->payload);
}

static bool turn_is_ready(struct engine *e, const struct thread *thread)
{
    for (const struct actor *a = thread_first(thread); a != NULL; a = thread_next(e, a))
        if (a->role->turn != NULL && a->role->turn_ready(a))
            return true;
    return false;
}

/* One turn of each hooked actor of the group, at the time it is free; stops where one blocks. */
static void take_turn(struct engine *e, struct thread *thread)
{
    for (struct actor *actor = thread_first(thread); actor != NULL; actor = thread_next(e, actor)) {
        if (actor->role->turn == NULL)
            continue;
        if (thread->flags & THREAD_BLOCKED)
            return;
        int64_t start_ns = e->now_ns = begin_ns(e, thread->free_ns);
        actor->role->turn(actor);
        int64_t end_ns = engine_now(e);
        thread->free_ns = end_ns;
        actor->busy_ns += end_ns - start_ns;
    }
}

static void handle_and_turn(struct engine *e, struct actor *actor, const struct message *m, int64_t start_ns)
{
    handle(e, actor, m, start_ns);
    if (actor->thread->flags & THREAD_HOOKED)
        take_turn(e, actor->thread);
}

/* --- shared cores --- */

void dispatch_share_cores(struct engine *e, struct thread *thread, uint32_t group, uint32_t count)
{
    struct cores *cores = g_hash_table_lookup(e->cores, GUINT_TO_POINTER(group));
    if (cores == NULL) {
        cores = g_malloc0(sizeof *cores + count * sizeof cores->free_ns[0]);
        cores->count = count;
        g_hash_table_insert(e->cores, GUINT_TO_POINTER(group), cores);
    }
    /* Who comes first depends on when each is ready, so a ready thread waits for its wake-up like the others. */
    thread->flags |= THREAD_SHARES | THREAD_EXPLICIT;
    inbox_of(thread)->cores = cores;
}

static int64_t *first_free_core(const struct thread *thread)
{
    struct cores *cores = thread->inbox->cores;
    int64_t *first = &cores->free_ns[0];
    for (uint32_t i = 1; i < cores->count; i++)
        if (cores->free_ns[i] < *first)
            first = &cores->free_ns[i];
    return first;
}

/* --- waking --- */

static void wake_at(struct engine *e, struct thread *thread, int64_t time_ns, bool for_turn)
{
    uint32_t first = thread_first(thread)->id;
    struct message m = { .time_ns = time_ns, .to = first, .from = first, .order_class = ORDER_WAKE };
    thread->flags |= THREAD_WOKEN;
    if (for_turn) {
        thread->flags |= THREAD_TURN_DUE;
        e->turns_due++;
    }
    queue_push(&e->queue, &m);
}

/* After the group has done something: what is due next, and when. */
static void schedule_next(struct engine *e, struct thread *thread)
{
    if (thread->flags & (THREAD_BLOCKED | THREAD_WOKEN))
        return;
    /* A turn that is due keeps the run alive, whether or not a message goes first. */
    bool for_turn = (thread->flags & THREAD_HOOKED) && turn_is_ready(e, thread);
    if (thread->flags & THREAD_WAITING) {
        const struct inbox *box = thread->inbox;
        wake_at(e, thread, MAX(thread->free_ns, box->items[box->head].time_ns), for_turn);
    } else if (for_turn) {
        wake_at(e, thread, thread->free_ns, true);
    }
}

/* Handles what waits: all that may start before the limit where no turn has to come between, else one message and one
 * turn. */
static void drain(struct engine *e, struct thread *thread)
{
    const uint32_t one_by_one = thread->flags & (THREAD_HOOKED | THREAD_EXPLICIT);
    int64_t *core = thread->flags & THREAD_SHARES ? first_free_core(thread) : NULL;
    while ((thread->flags & THREAD_WAITING) && !(thread->flags & THREAD_BLOCKED)) {
        const struct message *front = &thread->inbox->items[thread->inbox->head];
        int64_t start_ns = MAX(front->time_ns, thread->free_ns);
        if (core != NULL)
            start_ns = MAX(start_ns, *core);
        if (start_ns >= e->limit_ns) {
            if (thread->flags & THREAD_WOKEN)
                return;
            wake_at(e, thread, start_ns, (thread->flags & THREAD_HOOKED) && turn_is_ready(e, thread));
            return;
        }
        struct message m = inbox_take(thread);
        handle_and_turn(e, actor_of(e, m.to), &m, start_ns);
        if (core != NULL)
            *core = thread->free_ns;
        if (one_by_one)
            break;
    }
    schedule_next(e, thread);
}

static void turn_alone(struct engine *e, struct thread *thread)
{
    if (thread->flags & THREAD_SHARES) {
        int64_t *core = first_free_core(thread);
        thread->free_ns = MAX(thread->free_ns, *core);
        if (thread->free_ns < e->limit_ns) {
            take_turn(e, thread);
            *core = thread->free_ns;
        }
    } else {
        take_turn(e, thread);
    }
    schedule_next(e, thread);
}

static void wake(struct engine *e, struct thread *thread, int64_t time_ns)
{
    if (thread->flags & THREAD_TURN_DUE)
        e->turns_due--;
    thread->flags &= ~(uint32_t)(THREAD_WOKEN | THREAD_TURN_DUE);
    if (thread->flags & THREAD_BLOCKED)
        return;
    /* A message of the same instant may have come first and made the group busy again. */
    if (thread->free_ns > time_ns)
        schedule_next(e, thread);
    else if (thread->flags & THREAD_WAITING)
        drain(e, thread);
    else if ((thread->flags & THREAD_HOOKED) && turn_is_ready(e, thread))
        turn_alone(e, thread);
}

/* --- calls --- */

void dispatch_block(struct actor *self, uint32_t callee)
{
    struct thread *thread = self->thread;
    struct inbox *box = inbox_of(thread);
    thread->flags |= THREAD_BLOCKED;
    box->callee = callee;
    box->caller = self->id;
    box->call_ns = engine_now(self->engine);
}

/* The reply is handled behind the work of setting aside: each message that came before it was moved once. */
static void end_call(struct engine *e, struct thread *thread, const struct message *reply)
{
    struct inbox *box = thread->inbox;
    if (e->config.clock == ENGINE_VIRTUAL && thread->free_ns != box->call_ns) {
        e->now_ns = thread->free_ns;
        actor_fail(actor_of(e, box->caller), "a charge of %" G_GINT64_FORMAT
                   " ns after a call; expected the call to be the last act", thread->free_ns - box->call_ns);
    }
    __int128 moved_ns = box->call_ns + (__int128)box->count * e->config.move_ns;
    int64_t return_ns = (int64_t)MIN(MAX(reply->time_ns, moved_ns), ENGINE_LAST_NS);
    box->blocked_ns += return_ns - box->call_ns;
    box->callee = NOBODY;
    thread->flags &= ~(uint32_t)THREAD_BLOCKED;
    thread->free_ns = return_ns;
    if (return_ns > reply->time_ns || (thread->flags & THREAD_EXPLICIT))
        inbox_prepend(thread, reply);
    else
        handle_and_turn(e, actor_of(e, reply->to), reply, return_ns);
    if (thread->flags & (THREAD_HOOKED | THREAD_EXPLICIT))
        schedule_next(e, thread);
    else
        drain(e, thread);
}

/* --- arrival --- */

static void arrive_slowly(struct engine *e, struct thread *thread, const struct message *m)
{
    if (thread->flags & THREAD_BLOCKED) {
        struct inbox *box = thread->inbox;
        if ((m->flags & MESSAGE_REPLY) && m->from == box->callee && m->to == box->caller)
            end_call(e, thread, m);
        else
            inbox_append(thread, m);
        return;
    }
    inbox_append(thread, m);
    schedule_next(e, thread);
}

void dispatch_message(struct engine *e, const struct message *m)
{
    struct actor *actor = actor_of(e, m->to);
    struct thread *thread = actor->thread;
    if (m->order_class == ORDER_WAKE) {
        wake(e, thread, m->time_ns);
        return;
    }
    if (G_UNLIKELY((m->flags & MESSAGE_REPLY) && !(thread->flags & THREAD_BLOCKED))) {
        e->now_ns = m->time_ns;
        actor_fail(actor, "a reply of actor %u, though no call is open; expected one reply to a call", m->from);
    }
    if ((thread->flags & (THREAD_BLOCKED | THREAD_WAITING | THREAD_EXPLICIT)) == 0) {
        int64_t start_ns = MAX(m->time_ns, thread->free_ns);
        if ((thread->flags & THREAD_HOOKED) == 0) {
            if (start_ns < e->limit_ns) {
                handle(e, actor, m, start_ns);
                return;
            }
        } else if (thread->free_ns <= m->time_ns) {
            handle_and_turn(e, actor, m, start_ns);
            schedule_next(e, thread);
            return;
        }
    }
    arrive_slowly(e, thread, m);
}

void dispatch_start(struct engine *e)
{
    for (struct actor *a = actor_first(e); a != NULL; a = actor_next(e, a))
        if (a->thread == &a->own)
            schedule_next(e, &a->own);
}

void dispatch_each_waiting(struct engine *e, void (*visit)(void *data, const struct message *m), void *data)
{
    for (struct actor *a = actor_first(e); a != NULL; a = actor_next(e, a)) {
        const struct inbox *box = a->own.inbox;
        for (uint32_t k = 0; box != NULL && k < box->count; k++)
            visit(data, &box->items[(box->head + k) & (box->capacity - 1)]);
    }
}
