/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that stays open while the run's processes do other things as well: that of the jobs of a job system, each of
 * which writes its blocks when its task has run, on the process that plays its slot.
 *
 *     session = mpiio_session_new(comm, &job, &error);                        collective
 *     mpiio_session_write(session, offset, length, &error) ...                local, as often as there are blocks
 *     mpiio_session_free(session, good, &figures, &error);                    collective
 *
 * All processes of the communicator open the file, so no write needs another process but for the lock. Of the job's
 * description count the name, the path, the length of a write and the seed, the lock and its windows, the hints,
 * verify and keep; and prepare, of which there is set-size alone: to the length of the pattern.
 */
#ifndef TIERCEL_IO_MPIIO_SESSION_H
#define TIERCEL_IO_MPIIO_SESSION_H

#include "io/mpiio.h"

struct mpiio_session;

/* The job's texts and hints must outlive the session. NULL, everywhere, with *error: STOPPED when any process is to
 * stop. */
struct mpiio_session *mpiio_session_new(MPI_Comm comm, const struct mpiio_job *job, GError **error);

/* Writes what belongs there; at most the pattern's transfer. It waits for the lock, and nothing else of the process
 * goes on meanwhile. */
gboolean mpiio_session_write(struct mpiio_session *s, uint64_t offset, uint64_t length, GError **error);

/* Whether this process serves the lock of others, and so must look for their messages all the time. */
bool mpiio_session_serves(const struct mpiio_session *s);

/* Closes the file, reads back what the next process has written unless the run has failed (`good` is FALSE on any
 * process) or is to stop, and removes the file unless it is to be kept; of a run that is to stop nothing is kept, and
 * that is no failure. The figures are valid on the first process; held_up_ns is the longest time that a process spent
 * in writes and their locks. FALSE, everywhere, with *error. */
gboolean mpiio_session_free(struct mpiio_session *s, bool good, struct mpiio_figures *figures, GError **error);

#endif
