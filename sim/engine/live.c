/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The live clock: the same handlers, driven by MPI messages and the machine's clock.
 *
 * Each process plays its actors. A message to an actor of another process is an MPI message; one to an actor of the
 * same process, and every timer, waits in the queue until the wall clock has reached its time. charge() does nothing:
 * the work is real. Link latencies are what MPI takes. Only spend() passes time: the actor's own clock then runs ahead,
 * what it sends waits here until the wall clock has caught up, and limit_ns keeps it from its next message until then.
 * A call blocks its actor alone: the process goes on with the others.
 *
 * What was sent before is received before, also by another way. MPI keeps the order between two processes only: while
 * this one sleeps, or looks at its neighbours one after the other, it may see C, which a third process sent after it
 * got B, before A, which the first sent before B. So B leaves only when A is in the receiver's memory (its request is
 * complete), and what has arrived is taken in the order in which it was sent, once nothing more is found. Networks
 * between machines do not promise the first.
 *
 * The end is found by counting: the totals of foreground messages sent and handled are summed over the processes, over
 * and over, without anybody waiting. Two sums in a row that are equal and balanced mean that nothing was in flight
 * between them (Mattern's four-counter method); background timers may go on meanwhile. A run that is stopped before
 * takes in what is still under way, so that no process waits for ever for a message to be received.
 */
#include <sched.h>
#include <time.h>

#include "engine/internal.h"

enum {
    TAG_MESSAGE = 3,
    WISHES = 16                     /* bits of what poll() may return */
};

enum count {                        /* what the processes sum up */
    COUNT_SENT,
    COUNT_HANDLED,
    COUNT_HELD,
    COUNT_FAILED,
    COUNT_TIME,                     /* process 0's */
    COUNT_ACT,                      /* the number, plus 1, of the act that process 0 wants all to begin; 0: none */
    COUNT_WISHES,                   /* a bit each */
    COUNTS = COUNT_WISHES + WISHES
};

/* How often things are looked at that need no hurry, and how long a process that yields sleeps at a time. */
enum {
    LOOK_SPIN_NS = 500000,
    LOOK_YIELD_NS = 4000000,
    NAP_LEAST_NS = 20000,
    NAP_MOST_NS = 1000000,
    NAP_SHARE = 8,                  /* of the time that nothing came */
    FOUND_NOTHING = 2,              /* so often in a row, and all that has arrived has been received */
    RECEIVED_MOST = 16384,          /* before some are handled */
    HANDLED_MOST = 256              /* before the others are looked for */
};

struct outgoing {
    MPI_Request request;
    uint32_t process;
    struct bytes data;
};

/* Something that all processes do together. */
struct together {
    struct actor *actor;
    uint32_t act;
    uint16_t kind;
};

struct live {
    bool started;
    int64_t start_ns;               /* on this machine's clock */
    int64_t ahead_ns;               /* of the wall clock, in this handling */
    enum engine_waiting waiting;
    int64_t idle_since_ns;
    int64_t look_ns;                /* when poll and count are due */
    unsigned wishes;                /* since the last round began */
    bool labelled;                  /* the present span has a label: what was charged */
    int64_t label_ns;
    int64_t mark_ns;                /* where it began */
    GPtrArray *outgoing;            /* struct outgoing, not yet known to be complete; all to one process */
    GQueue held_back;               /* struct outgoing, until those are */
    GPtrArray *spare;
    GArray *arrived;                /* struct message with the time of sending, until all sent before are there */
    int64_t last_ns;                /* stamp of the last message that arrived */
    struct bytes incoming;
    GArray *ends;                   /* messages for the end of the instant: due when the inbox has been drained once */
    int64_t *sent_to;               /* by process: messages given to MPI */
    int64_t received;
    GArray *acts;                   /* struct together, on process 0: asked for and not done */
    MPI_Request round;
    int64_t mine[COUNTS], sum[COUNTS], last[COUNTS];
    bool round_open, last_valid;
};

static struct live *live_of(struct engine *e)
{
    struct live *l = e->live;
    if (l == NULL) {
        l = g_new0(struct live, 1);
        l->outgoing = g_ptr_array_new();
        l->spare = g_ptr_array_new();
        g_queue_init(&l->held_back);
        l->arrived = g_array_new(FALSE, FALSE, sizeof(struct message));
        l->ends = g_array_new(FALSE, FALSE, sizeof(struct message));
        l->sent_to = g_new0(int64_t, e->processes);
        l->acts = g_array_new(FALSE, FALSE, sizeof(struct together));
        e->live = l;
    }
    return l;
}

static int64_t live_now(const struct engine *e)
{
    const struct live *l = e->live;
    return l == NULL || !l->started ? 0 : live_clock_machine_ns() - l->start_ns + l->ahead_ns;
}

/* The present span ends; all of it belongs to its label. */
static void end_span(struct engine *e, struct live *l)
{
    int64_t now_ns = live_now(e);
    e->config.observer.charged(e->config.observer.data, l->label_ns, now_ns - l->mark_ns);
    l->mark_ns = now_ns;
    l->labelled = false;
}

static void live_charge(struct engine *e, int64_t cost_ns)
{
    struct live *l = live_of(e);
    if (e->config.observer.charged == NULL)
        return;
    if (l->labelled)
        end_span(e, l);
    l->labelled = true;
    l->label_ns = cost_ns;
}

static void live_spend(struct engine *e, int64_t duration_ns)
{
    live_of(e)->ahead_ns += duration_ns;
}

static void collect_sent(struct live *l)
{
    for (guint i = 0; i < l->outgoing->len;) {
        struct outgoing *o = g_ptr_array_index(l->outgoing, i);
        int done;
        MPI_Test(&o->request, &done, MPI_STATUS_IGNORE);
        if (done)
            g_ptr_array_add(l->spare, g_ptr_array_steal_index_fast(l->outgoing, i));
        else
            i++;
    }
}

/* Gives MPI what may leave: nothing that follows something incomplete to another process. */
static void send_held_back(struct engine *e, struct live *l)
{
    collect_sent(l);
    for (struct outgoing *o; (o = g_queue_peek_head(&l->held_back)) != NULL; g_queue_pop_head(&l->held_back)) {
        const struct outgoing *before = l->outgoing->len != 0 ? g_ptr_array_index(l->outgoing, 0) : NULL;
        if (before != NULL && before->process != o->process)
            return;
        MPI_Isend(o->data.data, (int)o->data.size, MPI_BYTE, (int)o->process, TAG_MESSAGE, e->comm, &o->request);
        g_ptr_array_add(l->outgoing, o);
        l->sent_to[o->process]++;
        collect_sent(l);
    }
}

/* A message whose time has come. */
static void send_away(struct engine *e, struct live *l, struct message *m)
{
    struct outgoing *o =
        l->spare->len != 0 ? g_ptr_array_steal_index_fast(l->spare, l->spare->len - 1) : g_new0(struct outgoing, 1);
    m->time_ns = live_now(e);
    o->process = e->routes[m->to].process;
    bytes_clear(&o->data);
    exchange_write(&o->data, m);
    g_queue_push_tail(&l->held_back, o);
    e->remote_messages++;
    if (message_has_payload(m))
        pool_unref(&e->pool, m->payload);
    send_held_back(e, l);
}

static void live_post(struct engine *e, struct actor *from, struct message *m, uint64_t size_bytes)
{
    struct live *l = live_of(e);
    m->time_ns = live_now(e);
    if (e->routes[m->to].process == e->process || l->ahead_ns != 0)
        queue_push(&e->queue, m);
    else
        send_away(e, l, m);
}

/* Waits in this process's queue, whoever it is for. */
static void live_post_later(struct engine *e, struct actor *from, struct message *m, int64_t delay_ns)
{
    live_of(e);
    m->time_ns = live_now(e) + delay_ns;
    queue_push(&e->queue, m);
}

static void live_post_self(struct engine *e, struct message *m)
{
    struct live *l = live_of(e);
    if (m->order_class != 0)
        g_array_append_val(l->ends, *m);
    else
        queue_push(&e->queue, m);
}

static gint compare_sent(gconstpointer a, gconstpointer b)
{
    const struct message *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return message_before(x, y) ? -1 : 1;
}

/* What has arrived goes into the queue in the order in which it was sent, stamped with the present time. */
static void take_arrived(struct engine *e, struct live *l)
{
    int64_t now_ns = live_now(e);
    if (l->arrived->len > 1)
        g_array_sort(l->arrived, compare_sent);
    for (guint i = 0; i < l->arrived->len; i++) {
        struct message *m = &g_array_index(l->arrived, struct message, i);
        m->time_ns = l->last_ns = MAX(now_ns, l->last_ns + 1);
        queue_push(&e->queue, m);
    }
    g_array_set_size(l->arrived, 0);
}

static bool receive(struct engine *e, struct live *l)
{
    unsigned nothing = 0;
    while (nothing < FOUND_NOTHING && l->arrived->len < RECEIVED_MOST) {
        int there, size;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_MESSAGE, e->comm, &there, &status);
        if (!there) {
            nothing++;
            if (l->arrived->len == 0)
                return false;
            continue;
        }
        nothing = 0;
        MPI_Get_count(&status, MPI_BYTE, &size);
        bytes_clear(&l->incoming);
        bytes_extend(&l->incoming, (size_t)size);
        MPI_Recv(l->incoming.data, size, MPI_BYTE, status.MPI_SOURCE, TAG_MESSAGE, e->comm, MPI_STATUS_IGNORE);
        struct cursor c = cursor_init(l->incoming.data, l->incoming.size);
        struct message m = exchange_read(e, &c);
        g_array_append_val(l->arrived, m);
        l->received++;
    }
    take_arrived(e, l);
    return true;
}

/* All that had arrived before them is in the queue now. */
static void end_instant(struct engine *e, struct live *l)
{
    for (guint i = 0; i < l->ends->len; i++) {
        struct message *m = &g_array_index(l->ends, struct message, i);
        m->time_ns = live_now(e);
        queue_push(&e->queue, m);
    }
    g_array_set_size(l->ends, 0);
}

/* Takes in what other processes have sent and this one has not received. All send nothing more. */
static void receive_rest(struct engine *e, struct live *l)
{
    int64_t expected;
    MPI_Reduce_scatter_block(l->sent_to, &expected, 1, MPI_INT64_T, MPI_SUM, e->comm);
    while (l->received != expected)
        receive(e, l);
}

/* One step of the endless counting; TRUE when a round has closed. */
static bool count_round(struct engine *e, struct live *l)
{
    if (!l->round_open) {
        l->mine[COUNT_HANDLED] = (int64_t)e->handled - e->handled_background;
        l->mine[COUNT_SENT] = l->mine[COUNT_HANDLED] + e->pending;
        l->mine[COUNT_HELD] = e->held + e->turns_due;
        l->mine[COUNT_FAILED] = e->failure != NULL;
        l->mine[COUNT_TIME] = e->process == 0 ? live_now(e) : 0;
        l->mine[COUNT_ACT] = l->acts->len != 0 ? (int64_t)g_array_index(l->acts, struct together, 0).act + 1 : 0;
        for (unsigned bit = 0; bit < WISHES; bit++)
            l->mine[COUNT_WISHES + bit] = l->wishes >> bit & 1;
        l->wishes = 0;
        MPI_Iallreduce(l->mine, l->sum, COUNTS, MPI_INT64_T, MPI_SUM, e->comm, &l->round);
        l->round_open = true;
    }
    int done;
    MPI_Test(&l->round, &done, MPI_STATUS_IGNORE);
    if (done)
        l->round_open = false;
    return done != 0;
}

void live_act_ask(struct engine *e, struct actor *actor, uint32_t act, uint16_t kind)
{
    struct together together = { actor, act, kind };
    g_array_append_val(live_of(e)->acts, together);
}

/* All have seen the same round, and begin the same act before the next one. */
static void do_together(struct engine *e, struct live *l, uint32_t act)
{
    struct bytes result = BYTES_INIT;
    GError *error = NULL;
    bool good = e->config.performer.together(e->config.performer.data, act, &result, &error);
    if (!good && e->failure == NULL)
        e->failure = g_strdup(error->message);
    g_clear_error(&error);
    if (e->process == 0 && good) {
        struct together done = g_array_index(l->acts, struct together, 0);
        g_array_remove_index(l->acts, 0);
        actor_send_payload(done.actor, done.actor->id, done.kind, actor_payload(done.actor, result.data, result.size));
        actor_hold(done.actor, -1);
    }
    bytes_release(&result);
}

/* What a closed round says. The time and the wishes do not belong to what must not change. */
static bool round_ends(struct engine *e, struct live *l, enum engine_end *end)
{
    const struct engine_observer *o = &e->config.observer;
    bool balanced = l->sum[COUNT_SENT] == l->sum[COUNT_HANDLED] && l->sum[COUNT_HELD] == 0;
    bool again = l->last_valid && memcmp(l->sum, l->last, COUNT_TIME * sizeof l->sum[0]) == 0;
    unsigned wishes = 0;
    for (unsigned bit = 0; bit < WISHES; bit++)
        wishes |= (unsigned)(l->sum[COUNT_WISHES + bit] != 0) << bit;
    memcpy(l->last, l->sum, sizeof l->sum);
    l->last_valid = true;
    if (o->window != NULL)
        o->window(o->data, l->sum[COUNT_TIME], e->handled, wishes);
    if ((wishes & ENGINE_WISH_STOP) != 0 || l->sum[COUNT_FAILED] != 0) {
        *end = ENGINE_STOPPED;
        return true;
    }
    if (l->sum[COUNT_ACT] != 0)
        do_together(e, l, (uint32_t)(l->sum[COUNT_ACT] - 1));
    *end = ENGINE_ENDED;
    return balanced && again;
}

/* Now and then: what this process wants, and whether all is done. TRUE at the end. */
static bool look(struct engine *e, struct live *l, int64_t now_ns, enum engine_end *end)
{
    const struct engine_observer *o = &e->config.observer;
    if (now_ns >= l->look_ns) {
        l->look_ns = now_ns + (l->waiting == ENGINE_WAIT_SPIN ? LOOK_SPIN_NS : LOOK_YIELD_NS);
        if (o->poll != NULL)
            l->wishes |= o->poll(o->data);
        if (now_ns >= e->config.stop_after_ns)
            l->wishes |= ENGINE_WISH_STOP;
    } else if (!l->round_open) {
        return false;
    }
    return count_round(e, l) && round_ends(e, l, end);
}

/* Handles what is due, a part of it if there is much. */
static bool handle_due(struct engine *e, struct live *l)
{
    int64_t now_ns = live_now(e);
    int count = 0;
    for (; count < HANDLED_MOST && queue_next_ns(&e->queue) <= now_ns && e->failure == NULL; count++) {
        struct message m = queue_pop(&e->queue);
        if (e->routes[m.to].process == e->process) {
            e->limit_ns = live_now(e) + 1;
            dispatch_message(e, &m);
            l->ahead_ns = 0;
            if (l->labelled)
                end_span(e, l);
        } else {
            send_away(e, l, &m);
        }
    }
    return count != 0;
}

/* Nothing is there. The longer that lasts, the longer a process sleeps that has to share its core. */
static void rest(struct engine *e, const struct live *l, int64_t now_ns)
{
    if (l->waiting == ENGINE_WAIT_SPIN)
        return;
    int64_t nap_ns = MIN((now_ns - l->idle_since_ns) / NAP_SHARE, NAP_MOST_NS);
    nap_ns = MIN(nap_ns, queue_next_ns(&e->queue) - now_ns);
    if (nap_ns < NAP_LEAST_NS || e->config.performer.awake) {
        sched_yield();
        return;
    }
    nanosleep(&(struct timespec){ .tv_nsec = nap_ns }, NULL);
}

static void begin(struct engine *e, struct live *l)
{
    l->waiting = e->config.waiting != ENGINE_WAIT_AUTO ? e->config.waiting : live_clock_waiting(e->comm);
    l->start_ns = live_clock_start(e->comm);
    l->started = true;
    e->phase_refuses_call = NULL;
    e->limit_ns = 1;
    dispatch_start(e);
}

static gboolean live_run(struct engine *e, struct engine_result *result, GError **error)
{
    struct live *l = live_of(e);
    begin(e, l);
    for (bool busy = true;;) {
        int64_t now_ns = live_now(e);
        if (busy)
            l->idle_since_ns = now_ns;
        else
            l->mark_ns = now_ns;
        busy = receive(e, l);
        end_instant(e, l);
        busy |= handle_due(e, l);
        send_held_back(e, l);
        if (look(e, l, now_ns, &result->end))
            break;
        if (!busy)
            rest(e, l, now_ns);
    }
    receive_rest(e, l);
    result->waiting = l->waiting;
    result->end_ns = live_now(e);
    MPI_Allreduce(MPI_IN_PLACE, &result->end_ns, 1, MPI_INT64_T, MPI_MAX, e->comm);
    return TRUE;
}

static void live_release(struct engine *e)
{
    struct live *l = e->live;
    if (l == NULL)
        return;
    for (guint i = 0; i < l->outgoing->len; i++) {
        struct outgoing *out = g_ptr_array_index(l->outgoing, i);
        MPI_Wait(&out->request, MPI_STATUS_IGNORE);
        g_ptr_array_add(l->spare, out);
    }
    for (struct outgoing *out; (out = g_queue_pop_head(&l->held_back)) != NULL;)
        g_ptr_array_add(l->spare, out);
    for (guint i = 0; i < l->spare->len; i++) {
        struct outgoing *out = g_ptr_array_index(l->spare, i);
        bytes_release(&out->data);
        g_free(out);
    }
    g_ptr_array_free(l->outgoing, TRUE);
    g_ptr_array_free(l->spare, TRUE);
    g_array_free(l->ends, TRUE);
    g_array_free(l->arrived, TRUE);
    g_array_free(l->acts, TRUE);
    g_free(l->sent_to);
    bytes_release(&l->incoming);
    g_free(l);
}

const struct engine_clock_ops engine_clock_live = {
    .post = live_post,
    .post_later = live_post_later,
    .post_self = live_post_self,
    .charge = live_charge,
    .spend = live_spend,
    .now = live_now,
    .run = live_run,
    .release = live_release,
};
