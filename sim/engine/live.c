/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The live clock: the same handlers, driven by MPI messages and MPI_Wtime.
 *
 * Each process plays its actors. A message to an actor of another process is an MPI message; one to an actor of the
 * same process, and every timer, waits in the queue until the wall clock has reached its time. charge() does nothing:
 * the work is real. Link latencies are what MPI takes.
 *
 * The end is found by counting: the totals of foreground messages sent and handled are summed over the processes, over
 * and over, without anybody waiting. Two sums in a row that are equal and balanced mean that nothing was in flight
 * between them (Mattern's four-counter method); background timers may go on meanwhile. A run that is stopped before
 * takes in what is still under way, so that no process waits for ever for a message to be received.
 */
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "engine/internal.h"

enum {
    TAG_MESSAGE = 3,
    COUNTS = 5                      /* sent, handled, held, wishes, failed */
};

struct outgoing {
    MPI_Request request;
    struct bytes data;
};

struct live {
    double start_s;
    bool spin;                      /* as many cores as processes: a waiting process need not give up its own */
    GPtrArray *outgoing;            /* struct outgoing, not yet known to be complete */
    GPtrArray *spare;
    struct bytes incoming;
    GArray *ends;                   /* messages for the end of the instant: due when the inbox has been drained once */
    int64_t *sent_to;                /* by process: messages given to MPI */
    int64_t received;
    MPI_Request round;
    int64_t mine[COUNTS], sum[COUNTS], last[COUNTS];
    bool round_open, last_valid;
};

static int64_t live_now(const struct engine *e)
{
    const struct live *l = e->live;
    return l == NULL ? 0 : (int64_t)((MPI_Wtime() - l->start_s) * 1e9);
}

static void live_charge(struct engine *e, int64_t cost_ns)
{
}

static struct live *live_of(struct engine *e)
{
    struct live *l = e->live;
    if (l == NULL) {
        l = g_new0(struct live, 1);
        l->start_s = MPI_Wtime();
        l->outgoing = g_ptr_array_new();
        l->spare = g_ptr_array_new();
        l->ends = g_array_new(FALSE, FALSE, sizeof(struct message));
        l->sent_to = g_new0(int64_t, e->processes);
        l->spin = sysconf(_SC_NPROCESSORS_ONLN) >= (long)e->processes;
        e->live = l;
    }
    return l;
}

/* Gives a message whose time has come to MPI. */
static void send_away(struct engine *e, struct live *l, const struct message *m)
{
    struct outgoing *o =
        l->spare->len != 0 ? g_ptr_array_steal_index_fast(l->spare, l->spare->len - 1) : g_new0(struct outgoing, 1);
    bytes_clear(&o->data);
    exchange_write(&o->data, m);
    MPI_Isend(o->data.data, (int)o->data.size, MPI_BYTE, (int)e->routes[m->to].process, TAG_MESSAGE, e->comm,
              &o->request);
    g_ptr_array_add(l->outgoing, o);
    l->sent_to[e->routes[m->to].process]++;
    e->remote_messages++;
    if (message_has_payload(m))
        pool_unref(&e->pool, m->payload);
}

static void live_post(struct engine *e, struct actor *from, struct message *m, uint64_t size_bytes)
{
    struct live *l = live_of(e);
    m->time_ns = live_now(e);
    if (e->routes[m->to].process == e->process)
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

/* Puts what has arrived into the queue, stamped with the present time. */
static bool receive(struct engine *e, struct live *l)
{
    bool any = false;
    for (;;) {
        int there, size;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_MESSAGE, e->comm, &there, &status);
        if (!there)
            return any;
        MPI_Get_count(&status, MPI_BYTE, &size);
        bytes_clear(&l->incoming);
        bytes_extend(&l->incoming, (size_t)size);
        MPI_Recv(l->incoming.data, size, MPI_BYTE, status.MPI_SOURCE, TAG_MESSAGE, e->comm, MPI_STATUS_IGNORE);
        struct cursor c = cursor_init(l->incoming.data, l->incoming.size);
        struct message m = exchange_read(e, &c);
        m.time_ns = live_now(e);
        queue_push(&e->queue, &m);
        l->received++;
        any = true;
    }
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
static bool count_round(struct engine *e, struct live *l, unsigned wishes)
{
    if (!l->round_open) {
        l->mine[1] = (int64_t)e->handled - e->handled_background;
        l->mine[0] = l->mine[1] + e->pending;
        l->mine[2] = e->held + e->turns_due;
        l->mine[3] = (wishes & ENGINE_WISH_STOP) != 0;
        l->mine[4] = e->failure != NULL;
        MPI_Iallreduce(l->mine, l->sum, COUNTS, MPI_INT64_T, MPI_SUM, e->comm, &l->round);
        l->round_open = true;
    }
    int done;
    MPI_Test(&l->round, &done, MPI_STATUS_IGNORE);
    if (done)
        l->round_open = false;
    return done != 0;
}

/* What a closed round says. */
static bool round_ends(struct live *l, enum engine_end *end)
{
    bool balanced = l->sum[0] == l->sum[1] && l->sum[2] == 0;
    bool again = l->last_valid && memcmp(l->sum, l->last, sizeof l->sum) == 0;
    memcpy(l->last, l->sum, sizeof l->sum);
    l->last_valid = true;
    if (l->sum[3] != 0 || l->sum[4] != 0) {
        *end = ENGINE_STOPPED;
        return true;
    }
    *end = ENGINE_ENDED;
    return balanced && again;
}

static void rest(const struct live *l)
{
    if (l->spin)
        return;
    const struct timespec nap = { .tv_nsec = 50000 };
    nanosleep(&nap, NULL);
}

static gboolean live_run(struct engine *e, struct engine_result *result, GError **error)
{
    struct live *l = live_of(e);
    const struct engine_observer *o = &e->config.observer;
    e->phase_refuses_call = NULL;
    e->limit_ns = INT64_MAX;
    dispatch_start(e);
    for (;;) {
        bool busy = receive(e, l);
        end_instant(e, l);
        int64_t now_ns = live_now(e);
        while (queue_next_ns(&e->queue) <= now_ns && e->failure == NULL) {
            struct message m = queue_pop(&e->queue);
            if (e->routes[m.to].process == e->process)
                dispatch_message(e, &m);
            else
                send_away(e, l, &m);
            busy = true;
        }
        collect_sent(l);
        unsigned wishes = o->poll != NULL ? o->poll(o->data) : 0;
        if (now_ns >= e->config.stop_after_ns)
            wishes |= ENGINE_WISH_STOP;
        if (count_round(e, l, wishes) && round_ends(l, &result->end))
            break;
        if (!busy)
            rest(l);
    }
    receive_rest(e, l);
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
    for (guint i = 0; i < l->spare->len; i++) {
        struct outgoing *out = g_ptr_array_index(l->spare, i);
        bytes_release(&out->data);
        g_free(out);
    }
    g_ptr_array_free(l->outgoing, TRUE);
    g_ptr_array_free(l->spare, TRUE);
    g_array_free(l->ends, TRUE);
    g_free(l->sent_to);
    bytes_release(&l->incoming);
    g_free(l);
}

const struct engine_clock_ops engine_clock_live = {
    .post = live_post,
    .post_later = live_post_later,
    .post_self = live_post_self,
    .charge = live_charge,
    .now = live_now,
    .run = live_run,
    .release = live_release,
};
