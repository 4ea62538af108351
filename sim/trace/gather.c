/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/gather.h"

/* A message of MPI counts in int, and large ones need buffers: parts travel in pieces. */
enum {
    PIECE_BYTES = 16 << 20,
    PART_TAG = 1
};

struct gather {
    MPI_Comm comm;
    int rank;
    int size;
};

static gboolean mpi_ok(int status, const char *what, GError **error)
{
    if (status == MPI_SUCCESS)
        return TRUE;
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    MPI_Error_string(status, text, &length);
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s failed while the trace was gathered: %s", what, text);
    return FALSE;
}

struct gather *gather_new(MPI_Comm comm, GError **error)
{
    struct gather *g = g_new0(struct gather, 1);
    if (!mpi_ok(MPI_Comm_dup(comm, &g->comm), "MPI_Comm_dup", error)) {
        g_free(g);
        return NULL;
    }
    MPI_Comm_set_errhandler(g->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(g->comm, &g->rank);
    MPI_Comm_size(g->comm, &g->size);
    return g;
}

void gather_free(struct gather *g)
{
    if (g == NULL)
        return;
    MPI_Comm_free(&g->comm);
    g_free(g);
}

unsigned gather_process(const struct gather *g)
{
    return g == NULL ? 0 : (unsigned)g->rank;
}

unsigned gather_processes(const struct gather *g)
{
    return g == NULL ? 1 : (unsigned)g->size;
}

static gboolean part_send(struct gather *g, const struct bytes *mine, GError **error)
{
    for (size_t at = 0; at < mine->size; at += PIECE_BYTES) {
        int count = (int)MIN((size_t)PIECE_BYTES, mine->size - at);
        if (!mpi_ok(MPI_Send(mine->data + at, count, MPI_BYTE, 0, PART_TAG, g->comm), "MPI_Send", error))
            return FALSE;
    }
    return TRUE;
}

static gboolean part_receive(struct gather *g, int from, uint64_t size, struct bytes *part, GError **error)
{
    bytes_clear(part);
    for (uint64_t at = 0; at < size; at += PIECE_BYTES) {
        int count = (int)MIN((uint64_t)PIECE_BYTES, size - at);
        uint8_t *to = bytes_extend(part, (size_t)count);
        if (!mpi_ok(MPI_Recv(to, count, MPI_BYTE, from, PART_TAG, g->comm, MPI_STATUS_IGNORE), "MPI_Recv", error))
            return FALSE;
    }
    return TRUE;
}

/* Process 0: its own part, then all others. Every part is received even when an earlier one was refused, so that
 * nobody is left waiting in a send. */
static gboolean parts_take(struct gather *g, const struct bytes *mine, const uint64_t *sizes, gather_part_fn part,
                           void *data, GError **error)
{
    gboolean good = part(data, 0, mine->data, mine->size, error);
    struct bytes received = BYTES_INIT;
    for (int from = 1; g != NULL && from < g->size; from++) {
        gboolean came = part_receive(g, from, sizes[from], &received, good ? error : NULL);
        good = came && good;
        if (good)
            good = part(data, (unsigned)from, received.data, received.size, error);
    }
    bytes_release(&received);
    return good;
}

gboolean gather_parts(struct gather *g, const struct bytes *mine, gather_part_fn part, void *data, GError **error)
{
    if (g == NULL || g->size == 1)
        return parts_take(NULL, mine, NULL, part, data, error);

    GError *local = NULL;
    uint64_t size = mine->size;
    uint64_t *sizes = g_new0(uint64_t, (size_t)g->size);
    if (mpi_ok(MPI_Gather(&size, 1, MPI_UINT64_T, sizes, 1, MPI_UINT64_T, 0, g->comm), "MPI_Gather", &local)) {
        if (g->rank == 0)
            parts_take(g, mine, sizes, part, data, &local);
        else
            part_send(g, mine, &local);
    }
    g_free(sizes);
    return gather_agree(g, local, error);
}

gboolean gather_agree(struct gather *g, GError *local_error, GError **error)
{
    if (g == NULL || g->size == 1) {
        if (local_error == NULL)
            return TRUE;
        g_propagate_error(error, local_error);
        return FALSE;
    }
    int mine = local_error == NULL ? g->size : g->rank;
    int first = g->size;
    gboolean good = mpi_ok(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, g->comm), "MPI_Allreduce", error);
    if (!good || first == g->size) {
        g_clear_error(&local_error);
        return good;
    }
    int head[2] = { 0, 0 };     /* code, length of the text */
    if (g->rank == first) {
        head[0] = local_error->domain == TIERCEL_ERROR ? local_error->code : TIERCEL_ERROR_RUNTIME;
        head[1] = (int)strlen(local_error->message);
    }
    if (mpi_ok(MPI_Bcast(head, 2, MPI_INT, first, g->comm), "MPI_Bcast", error)) {
        char *text = g_malloc0((size_t)head[1] + 1);
        if (g->rank == first)
            memcpy(text, local_error->message, (size_t)head[1]);
        if (mpi_ok(MPI_Bcast(text, head[1], MPI_CHAR, first, g->comm), "MPI_Bcast", error))
            g_set_error_literal(error, TIERCEL_ERROR, head[0], text);
        g_free(text);
    }
    g_clear_error(&local_error);
    return FALSE;
}
