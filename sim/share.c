/* SPDX-License-Identifier: BSD-3-Clause */
#include "share.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

enum { SLEEP_US = 20000 };

void share_init(struct share *share, MPI_Comm comm)
{
    MPI_Comm_dup(comm, &share->comm);
    MPI_Comm_rank(share->comm, &share->process);
    MPI_Comm_size(share->comm, &share->processes);
}

void share_release(struct share *share)
{
    MPI_Comm_free(&share->comm);
}

/* `size` bytes of process `from` for all; *data is allocated on the others, with a 0 behind it. */
static void broadcast(struct share *share, int from, char **data, uint64_t *size)
{
    MPI_Bcast(size, 1, MPI_UINT64_T, from, share->comm);
    g_assert(*size < INT_MAX);
    if (share->process != from)
        *data = g_malloc0(*size + 1);
    if (*size > 0)
        MPI_Bcast(*data, (int)*size, MPI_BYTE, from, share->comm);
}

/* The error of process `from` for all. */
static void broadcast_error(struct share *share, int from, GError *local, GError **error)
{
    int code = local == NULL ? 0 : local->code;
    char *text = local == NULL ? NULL : local->message;
    uint64_t size = text == NULL ? 0 : strlen(text);

    MPI_Bcast(&code, 1, MPI_INT, from, share->comm);
    broadcast(share, from, &text, &size);
    g_set_error_literal(error, TIERCEL_ERROR, code, text);
    if (share->process != from)
        g_free(text);
    g_clear_error(&local);
}

GBytes *share_read(void *data, const char *path, GError **error)
{
    struct share *share = data;
    GError *local = NULL;
    GBytes *bytes = share->process == 0 ? deck_file_read(NULL, path, &local) : NULL;
    int good = bytes != NULL;
    gsize length = 0;
    char *content = good ? (char *)g_bytes_get_data(bytes, &length) : NULL;
    uint64_t size = length;

    MPI_Bcast(&good, 1, MPI_INT, 0, share->comm);
    if (!good) {
        broadcast_error(share, 0, local, error);
        return NULL;
    }
    broadcast(share, 0, &content, &size);
    return share->process == 0 ? bytes : g_bytes_new_take(content, size);
}

gboolean share_agree(struct share *share, GError *local, GError **error)
{
    int mine = local == NULL ? share->processes : share->process;
    int first;

    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, share->comm);
    if (first == share->processes)
        return TRUE;
    if (share->process != first)
        g_clear_error(&local);
    broadcast_error(share, first, local, error);
    return FALSE;
}

char *share_text(struct share *share, const char *text)
{
    char *copy = share->process == 0 ? g_strdup(text) : NULL;
    uint64_t size = copy == NULL ? 0 : strlen(copy);

    broadcast(share, 0, &copy, &size);
    return copy;
}

void share_wait(struct share *share)
{
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(share->comm, &request);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    while (!done) {
        g_usleep(SLEEP_US);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}
