/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the MPI-IO back end share. Nobody else includes this.
 *
 *   mpiio.c            the course of a job: its processes, opening, bringing to size, closing, figures
 *   mpiio_write.c      what a writer writes, in which calls
 *   mpiio_exchange.c   collective writes with an exchange of our own
 *   mpiio_verify.c     reading back
 *   mpiio_session.c    a file of jobs, which stays open
 *   mpiio_component.c  which MPI-IO it was
 *   mpiio_failure.c    what went wrong, in words, and that all know of it
 */
#ifndef TIERCEL_IO_MPIIO_INTERNAL_H
#define TIERCEL_IO_MPIIO_INTERNAL_H

#include "io/contents.h"
#include "io/mpiio.h"

/* One process's part in a job. */
struct mpiio_work {
    const struct mpiio_job *job;
    MPI_Comm comm;                  /* of the writers */
    uint32_t writer;                /* this process's number in it */
    char *path;                     /* of its file */
    bool made;                      /* the file, by this process */
    bool stopped;                   /* all have agreed to end early */
    MPI_File file;
    struct contents contents;
    struct mpiio_lock lock;         /* where the job is locked */
    struct mpiio_figures mine;
    GArray *rows;                   /* the job's, of this process; or NULL */
    int64_t entered_ns, start_ns;   /* on this machine's clock */
    GError *error;                  /* of this process: the first */
};

enum { MPIIO_PIECE_BYTES = 1 << 20 };   /* of what is filled or read back in pieces */

/* Windows that are not there. */
#define MPIIO_LOCK_NONE { .lock = MPI_WIN_NULL, .words = MPI_WIN_NULL }

int64_t mpiio_clock_ns(void);

/* --- mpiio.c: the parts of a job; collective --- */

void mpiio_work_init(struct mpiio_work *w, MPI_Comm comm, const struct mpiio_job *job, uint32_t writer);
/* The file is made and open, and the lock is there. FALSE: w->error or w->stopped, on all; mpiio_end and mpiio_remove
 * are due all the same. */
gboolean mpiio_begin(struct mpiio_work *w);
void mpiio_end(struct mpiio_work *w);
/* Unless it stays; then all know of an error of one. */
void mpiio_remove(struct mpiio_work *w);
void mpiio_add_up(const struct mpiio_work *w, struct mpiio_figures *all);
/* FALSE with *error when there was one. */
gboolean mpiio_work_release(struct mpiio_work *w, GError **error);

static inline int64_t mpiio_elapsed_ns(const struct mpiio_work *w)
{
    return mpiio_clock_ns() - w->start_ns;
}

/* --- mpiio_component.c --- */

enum mpiio_component mpiio_component_of(MPI_File file);
enum mpiio_onesided mpiio_onesided_of(MPI_Win window, enum mpiio_windows windows);

/* --- mpiio_failure.c --- */

/* Sets w->error if there is none yet: "[io.NAME]: writer W cannot WHAT: why", where the reason is that of an MPI
 * error code, or of `number`, an errno, where that says more. */
void mpiio_fail(struct mpiio_work *w, int code, int number, const char *format, ...) G_GNUC_PRINTF(4, 5);

/* Whether an errno that a call of the library left behind means that data was lost, whatever the call has returned:
 * OMPIO 4.1 calls a collective write good in which an aggregator found the disk full. */
bool mpiio_errno_tells(int number);

/* Whether to go on. FALSE when any process has failed: all then have the error of the first; or when any is to stop:
 * w->stopped, and nobody has an error, since what failed may have failed for that. Collective over the job. */
gboolean mpiio_agree(struct mpiio_work *w);

/* The same after collective calls of the library, from which not all may come back. */
gboolean mpiio_agree_soon(struct mpiio_work *w);

/* --- mpiio_write.c --- */

/* The file has its blocks before the time is taken. Local; w->error. */
void mpiio_fill(struct mpiio_work *w);

/* All that this process has to write. Collective where the job's writes are; w->error, alike on all if so. */
void mpiio_write_all(struct mpiio_work *w);

/* Whether this process wants to stop, or all do. */
static inline bool mpiio_wants_stop(const struct mpiio_work *w)
{
    return w->stopped || (w->job->stop != NULL && w->job->stop());
}

/* One independent write, under the lock if there is one. FALSE: w->error. */
gboolean mpiio_write_block(struct mpiio_work *w, uint64_t offset, const uint8_t *bytes, uint64_t length);

/* Lets the time between two writes pass. */
void mpiio_think(const struct mpiio_work *w);

/* --- mpiio_exchange.c --- */

/* Collective; all know of an error of one. */
void mpiio_exchange_all(struct mpiio_work *w);

/* --- mpiio_verify.c --- */

/* Reads what the next writer has written. Collective; w->error. */
void mpiio_verify(struct mpiio_work *w);

/* Reads these ranges of a file that has `size` bytes. Collective; w->error. */
void mpiio_verify_extents(struct mpiio_work *w, const struct extent *list, uint32_t count, uint64_t size);

#endif
