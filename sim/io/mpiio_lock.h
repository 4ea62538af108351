/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock of a file, emulated by MPI's passive-target locks, so that what a kernel's inode lock does to writers can be
 * had on any file system.
 *
 *     mpiio_lock_init(&lock, comm, how, &rules, end, &error);      collective
 *     mpiio_lock_take(&lock, &write);                              waits
 *     ... the write ...
 *     mpiio_lock_leave(&lock, &write, written);
 *     mpiio_lock_release(&lock);                                   collective; lock.count holds what this process saw
 *
 * There are two windows, both of the first process. One is locked, shared or exclusively. The other has, under
 * atomic operations that take no lock, the file's end and how many wait and write: so the mode is decided by the end
 * as it is before the wait (inode_mode), as a kernel does it. The end moves while the lock is held.
 *
 * A lock call must not span a collective call: whoever holds it would wait for those who wait for it.
 *
 * How fair the lock is depends on the library. Whoever lets go of it while others wait may have it again before they
 * notice; that is counted (`retakes` of `contested`). In Open MPI windows in shared memory are locked by tickets,
 * strictly in order (ompi/mca/osc/sm); those of messages are served by the first process, whenever that is inside MPI:
 * it must not sleep elsewhere while others write.
 */
#ifndef TIERCEL_IO_MPIIO_LOCK_H
#define TIERCEL_IO_MPIIO_LOCK_H

#include <mpi.h>

#include "base/error.h"
#include "io/inode.h"

/* Which one-sided component the library may take: windows of different kinds have different ones. */
enum mpiio_windows {
    MPIIO_WINDOWS_AUTO,             /* shared memory where all processes are on one machine, else messages */
    MPIIO_WINDOWS_SHARED,           /* MPI_Win_allocate_shared */
    MPIIO_WINDOWS_MESSAGES          /* MPI_Win_create */
};

/* The component that the library has taken, as far as it tells: Open MPI 4.1 names windows of messages after it, and
 * has one alone for shared memory. */
enum mpiio_onesided {
    MPIIO_ONESIDED_NONE,            /* no windows */
    MPIIO_ONESIDED_SM,
    MPIIO_ONESIDED_PT2PT,
    MPIIO_ONESIDED_RDMA,
    MPIIO_ONESIDED_UCX,
    MPIIO_ONESIDED_UNKNOWN
};

struct mpiio_lock_counts {
    uint64_t exclusive;             /* locks */
    uint64_t shared;
    uint64_t extending;             /* writes that ended beyond the end with the lock in hand */
    uint64_t lone;                  /* writes beside which there was no other one when they had the lock */
    uint64_t contested;             /* times that it let go of the lock while others waited, and came again */
    uint64_t retakes;               /* of these: had it again before anybody else */
    uint64_t broken;                /* exclusive beside another holder, shared beside an exclusive one: 0 */
    uint64_t inflight_most;         /* holders at a time */
    int64_t wait_ns;
};

struct mpiio_lock {
    MPI_Comm comm;
    MPI_Win lock;
    MPI_Win words;
    enum mpiio_windows windows;     /* not AUTO */
    enum mpiio_onesided onesided;
    struct inode inode;             /* the rules; the size is the end as it was last seen */
    int64_t *own;                   /* memory of windows of messages, of the first process; else NULL */
    enum lock_mode mode;            /* held */
    int64_t taken;                  /* locks of all when this process had its own last one; -1: none yet */
    bool left_contested;
    struct mpiio_lock_counts count;
};

/* Collective over `comm`, which is the caller's own and outlives it. `end` is the file's size, the same everywhere.
 * A process that is alone has shared memory always. FALSE, everywhere, where such windows cannot be had. */
gboolean mpiio_lock_init(struct mpiio_lock *l, MPI_Comm comm, enum mpiio_windows how, const struct inode *rules,
                         uint64_t end, GError **error);
void mpiio_lock_release(struct mpiio_lock *l);

/* Local; returns with the lock held. */
void mpiio_lock_take(struct mpiio_lock *l, const struct inode_write *write);

/* `written`: whether the bytes are there, and the end has moved. */
void mpiio_lock_leave(struct mpiio_lock *l, const struct inode_write *write, bool written);

#endif
