/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shared file, really written: the live clock's side of a group [io.NAME], by MPI-IO.
 *
 *     struct mpiio_job job = { .name = "x", .path = "x.data", .writers = 4, .pattern = ..., ... };
 *     if (!mpiio_job_run(comm, number, &job, &figures, &error)) ...        collective
 *
 * Each of the first `writers` processes of a communicator is one writer; together they make the file, bring it to its
 * size if they are asked to, write their parts of the pattern, close it, read it back, each what another one has
 * written, and remove it unless it is to be kept. The others return at once.
 *
 * Who writes what is the pattern's business (pattern.h), what is written that of contents.h. With lock = none the
 * library is asked for each write as it is, MPI_File_write_at or MPI_File_write_at_all, and the file system locks as
 * it does. With a lock of our own (mpiio_lock.h) an independent write happens under it; of a collective one, each
 * aggregator's, after an exchange that follows collective.h, since a lock must not be held over a collective call.
 *
 * A failure of one process is one of all, with the text of the first that failed; nothing is left behind: no window,
 * no lock, no file that it has made. If the library does not come back from a collective call in which another process
 * has failed (OMPIO may leave the others waiting in it), no return is possible: then the text is printed and MPI_Abort
 * ends the program with the status of a failure.
 *
 * A job that is told to stop is no failure: its figures are those of what was written, nothing is read back, and the
 * file is removed. Independent writers look before each write, those of the library's collective calls before calls 1,
 * 2, 4, 8 and so on, when they ask one another anyhow.
 */
#ifndef TIERCEL_IO_MPIIO_H
#define TIERCEL_IO_MPIIO_H

#include <mpi.h>

#include "base/error.h"
#include "io/collective.h"
#include "io/inode.h"
#include "io/mpiio_lock.h"
#include "io/pattern.h"

enum mpiio_prepare {
    MPIIO_PREPARE_NOTHING,
    MPIIO_PREPARE_SET_SIZE,         /* MPI_File_set_size */
    MPIIO_PREPARE_ALLOCATE,         /* MPI_File_preallocate */
    MPIIO_PREPARE_FILL              /* written whole before the measured time begins */
};

enum { MPIIO_WRITE_MOST_BYTES = 1 << 30 };  /* of one call of one process: MPI counts in ints */

struct mpiio_job {                  /* the same on all processes */
    const char *name;               /* for texts */
    const char *path;
    struct pattern pattern;         /* of one file */
    uint32_t writers;
    bool each;                      /* a file for each writer: PATH.W */
    bool locked;                    /* by our own lock, under these rules: */
    struct inode rules;
    enum mpiio_windows windows;
    enum mpiio_prepare prepare;
    struct collective collective;   /* kind COLLECTIVE_NONE: independent */
    struct collective_plan plan;    /* of our own exchange */
    char *const *hints;             /* key, value, key, value, ..., NULL; or NULL */
    int64_t think_ns;
    bool verify;
    bool keep;
    GArray *rows;                   /* of struct mpiio_row, empty; NULL, on all processes: not wanted */
    bool (*stop)(void);             /* whether to end early; NULL: never. One process's wish is that of all */
    void (*made)(const char *path); /* the process has made this file, which has to go if it ends without a word; later
                                     * with NULL: no longer. NULL: nobody wants to know */
};

enum mpiio_how { MPIIO_ROW_SHARED, MPIIO_ROW_EXCLUSIVE, MPIIO_ROW_UNLOCKED };

/* A call that wrote: an independent write; an aggregator's, of our own exchange; a process's part in a collective call
 * of the library. Moments in ns from when all began to open the file. */
struct mpiio_row {
    uint32_t writer;
    uint8_t how;                    /* enum mpiio_how: it held our lock */
    uint64_t offset;
    uint64_t length;
    int64_t asked_ns;
    int64_t locked_ns;              /* had the lock; as asked_ns without one */
    int64_t ended_ns;
};

enum mpiio_component { MPIIO_UNKNOWN, MPIIO_OMPIO, MPIIO_ROMIO };

/* Sums over the writers, valid on the first process; moments in ns from when all began to open the file. */
struct mpiio_figures {
    enum mpiio_component component;
    enum mpiio_windows windows;     /* of the lock; AUTO without one */
    enum mpiio_onesided onesided;   /* the library's component for them */
    uint64_t bytes;
    uint64_t writes;                /* calls; of our own exchange: writes of aggregators */
    uint64_t verified;              /* bytes */
    struct mpiio_lock_counts lock;  /* all 0 without one; inflight_most: the largest */
    int64_t opened_ns;              /* when the last had opened it, */
    int64_t ready_ns;               /* when the last began to write, */
    int64_t written_ns;             /* when the last had written, */
    int64_t closed_ns;              /* and when the last had closed it */
    int64_t write_ns;               /* sum: in write calls alone, locks not included */
    int64_t held_up_ns;             /* the longest time that a process spent here and on nothing else */
    int64_t end_ns;                 /* when the last process was done with the job */
};

/* Collective over `comm`; `number` differs for jobs that go on at once on processes of one communicator. The rows are
 * the first process's, of all writers, in the order in which they ended. */
gboolean mpiio_job_run(MPI_Comm comm, uint32_t number, const struct mpiio_job *job, struct mpiio_figures *figures,
                       GError **error);

#endif
