/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the processes of a run share before the engine starts: files that process 0 reads for all, and errors that all
 * return alike.
 *
 *     struct share share;
 *     share_init(&share, comm);
 *     struct deck_reader reader = { share_read, &share };
 *     ...
 *     if (!share_agree(&share, error, &joint)) ...
 *     share_release(&share);
 */
#ifndef TIERCEL_SHARE_H
#define TIERCEL_SHARE_H

#include <mpi.h>
#include <stdbool.h>

#include "deck_file.h"

struct share {
    MPI_Comm comm;              /* a duplicate of the caller's */
    int process;
    int processes;
};

/* Collective, as the release. */
void share_init(struct share *share, MPI_Comm comm);
void share_release(struct share *share);

/* A deck_reader.read: process 0 reads the file (deck_file_read), all get its bytes, or its error. `data` is the share.
 * Collective: all processes must ask for the same files in the same order. */
GBytes *share_read(void *data, const char *path, GError **error);

/* Collective. Each process comes with its own outcome (NULL: good, else an error that is taken over); TRUE on all, or
 * FALSE on all with the error of the first process that has one. */
gboolean share_agree(struct share *share, GError *local, GError **error);

/* Collective. A text of process 0 (NULL on others is allowed) for all; free with g_free. */
char *share_text(struct share *share, const char *text);

/* Collective. Waits until all processes are here, asleep: the others may have long to go. */
void share_wait(struct share *share);

#endif
