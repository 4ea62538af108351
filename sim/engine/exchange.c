/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between processes: packed, one buffer a neighbour a window.
 *
 * A buffer begins with the sender's status, so that one swap carries both the messages and what all need to agree on.
 * What fits goes in one piece below Open MPI's eager limit of 4 KiB (a message of just 4 KiB takes ten times as long
 * as one of 3.5 KiB, doc/performance.md); the rest follows in a second, whose size the status tells, or in several when
 * it is beyond a gigabyte.
 */
#include "engine/internal.h"

enum {
    FIRST_PIECE = 3584,
    REST_PIECE = 1 << 30,           /* counts of MPI are ints */
    HEAD = sizeof(struct status),
    TAG_FIRST = 1,
    TAG_REST = 2
};

static void check_mpi(int code, const char *what)
{
    if (code == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    g_error("MPI failed in %s: %.*s", what, length, text);
}

void exchange_init(struct engine *e)
{
    e->peers = g_new0(struct peer, e->processes);
    for (uint32_t p = 0; p < e->processes; p++)
        if (p != e->process)
            bytes_extend(&e->peers[p].out, HEAD);
}

void exchange_release(struct engine *e)
{
    for (uint32_t p = 0; p < e->processes; p++) {
        bytes_release(&e->peers[p].out);
        bytes_release(&e->peers[p].in);
    }
    g_free(e->peers);
}

void exchange_write(struct bytes *out, const struct message *m)
{
    bytes_put(out, m, sizeof *m);
    if (message_has_payload(m)) {
        bytes_put_u64(out, m->payload->hash);
        bytes_put_span(out, m->payload->bytes, m->payload->size);
    }
}

struct message exchange_read(struct engine *e, struct cursor *c)
{
    struct message m;
    cursor_get(c, &m, sizeof m);
    if (message_has_payload(&m)) {
        uint64_t hash = cursor_u64(c);
        size_t length;
        const char *bytes = cursor_span(c, &length);
        m.payload = pool_take(&e->pool, length);
        m.payload->hash = hash;
        if (length != 0)
            memcpy(m.payload->bytes, bytes, length);
    }
    g_assert(cursor_ok(c));
    return m;
}

void exchange_pack(struct engine *e, uint32_t process, const struct message *m)
{
    exchange_write(&e->peers[process].out, m);
    e->remote_messages++;
}

static void unpack(struct engine *e, const uint8_t *data, size_t size)
{
    struct cursor c = cursor_init(data, size);
    while (c.at < c.end) {
        struct message m = exchange_read(e, &c);
        if (G_UNLIKELY(m.time_ns < e->window_end_ns) && e->failure == NULL)
            e->failure = g_strdup_printf("actor %" G_GUINT32_FORMAT " has been simulated up to %" G_GINT64_FORMAT
                                         " ns when a message from actor %" G_GUINT32_FORMAT " arrives at %"
                                         G_GINT64_FORMAT " ns: a window was too long, which is a mistake in the engine",
                                         m.to, e->window_end_ns, m.from, m.time_ns);
        queue_push(&e->queue, &m);
    }
}

static void join(struct status *all, const struct status *one)
{
    all->next_ns = MIN(all->next_ns, one->next_ns);
    all->send_ns = MIN(all->send_ns, one->send_ns);
    all->pending += one->pending;
    all->held += one->held;
    all->handled += one->handled;
    all->wishes |= one->wishes;
    all->failed |= one->failed;
}

/* Starts the piece that begins at `from` of what follows the first piece; returns the number of requests. */
static int start_piece(struct engine *e, uint32_t process, size_t from, MPI_Request *requests)
{
    struct peer *peer = &e->peers[process];
    int n = 0;
    if (peer->in.size > from)
        check_mpi(MPI_Irecv(peer->in.data + from, (int)MIN(peer->in.size - from, REST_PIECE), MPI_BYTE, (int)process,
                            TAG_REST, e->comm, &requests[n++]), "receive");
    if (peer->out.size > from)
        check_mpi(MPI_Isend(peer->out.data + from, (int)MIN(peer->out.size - from, REST_PIECE), MPI_BYTE, (int)process,
                            TAG_REST, e->comm, &requests[n++]), "send");
    return n;
}

/* A pair of processes has swapped its k-th pieces before its next ones; pairs without a k-th piece go on. */
static void swap_rest(struct engine *e, MPI_Request *requests)
{
    int n = 1;
    for (size_t from = FIRST_PIECE; n != 0; from += REST_PIECE) {
        n = 0;
        for (uint32_t p = 0; p < e->processes; p++)
            if (p != e->process)
                n += start_piece(e, p, from, &requests[n]);
        check_mpi(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE), "swapping a window's rest");
    }
}

void exchange_window(struct engine *e, struct status mine, struct status *all)
{
    const size_t piece = FIRST_PIECE;
    uint32_t others = e->processes - 1, n = 0;
    MPI_Request requests[2 * others + 1];

    *all = mine;
    all->bytes = 0;
    for (uint32_t p = 0; p < e->processes; p++) {
        if (p == e->process)
            continue;
        struct peer *peer = &e->peers[p];
        mine.bytes = peer->out.size - HEAD;
        memcpy(peer->out.data, &mine, HEAD);
        bytes_clear(&peer->in);
        bytes_extend(&peer->in, piece);
        check_mpi(MPI_Irecv(peer->in.data, FIRST_PIECE, MPI_BYTE, (int)p, TAG_FIRST, e->comm, &requests[n]), "receive");
        check_mpi(MPI_Isend(peer->out.data, (int)MIN(peer->out.size, piece), MPI_BYTE, (int)p, TAG_FIRST, e->comm,
                            &requests[others + n]), "send");
        n++;
    }
    check_mpi(MPI_Waitall((int)(2 * others), requests, MPI_STATUSES_IGNORE), "swapping a window");

    for (uint32_t p = 0; p < e->processes; p++) {
        if (p == e->process)
            continue;
        struct peer *peer = &e->peers[p];
        struct status theirs;
        memcpy(&theirs, peer->in.data, HEAD);
        join(all, &theirs);
        size_t total = HEAD + theirs.bytes;
        if (total > piece)
            bytes_extend(&peer->in, total - piece);
        peer->in.size = total;
    }
    swap_rest(e, requests);

    if (all->failed)
        e->window_end_ns = 0;       /* a role's mistake, a broken promise say, may be why a message comes late */
    for (uint32_t p = 0; p < e->processes; p++) {
        if (p == e->process)
            continue;
        struct peer *peer = &e->peers[p];
        unpack(e, peer->in.data + HEAD, peer->in.size - HEAD);
        bytes_clear(&peer->out);
        bytes_extend(&peer->out, HEAD);
    }
}
