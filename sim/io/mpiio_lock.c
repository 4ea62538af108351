/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/mpiio_lock.h"

#include "io/mpiio_internal.h"

enum { HOST };

/* The words of the second window. */
enum word { WORD_END, WORD_WAITING, WORD_EXCLUSIVE, WORD_SHARED, WORDS };

/* --- windows --- */

static int window_make(struct mpiio_lock *l, int words, int64_t *own, MPI_Win *window)
{
    int process;
    MPI_Comm_rank(l->comm, &process);
    MPI_Aint bytes = process == HOST ? words * (MPI_Aint)sizeof(int64_t) : 0;
    if (l->windows == MPIIO_WINDOWS_MESSAGES)
        return MPI_Win_create(own, bytes, sizeof(int64_t), MPI_INFO_NULL, l->comm, window);
    void *base;
    int code = MPI_Win_allocate_shared(bytes, sizeof(int64_t), MPI_INFO_NULL, l->comm, &base, window);
    if (code == MPI_SUCCESS && process == HOST)
        memset(base, 0, (size_t)bytes);
    return code;
}

static enum mpiio_windows choose(MPI_Comm comm, enum mpiio_windows how)
{
    MPI_Comm machine;
    int all, here;
    MPI_Comm_size(comm, &all);
    /* Open MPI has no component for a single process's own memory. */
    if (all == 1 || how != MPIIO_WINDOWS_AUTO)
        return all == 1 ? MPIIO_WINDOWS_SHARED : how;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &here);
    MPI_Comm_free(&machine);
    int one = here == all;
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_MIN, comm);
    return one ? MPIIO_WINDOWS_SHARED : MPIIO_WINDOWS_MESSAGES;
}

static int64_t word_read(const struct mpiio_lock *l, enum word word)
{
    int64_t value, nothing = 0;
    MPI_Fetch_and_op(&nothing, &value, MPI_INT64_T, HOST, word, MPI_NO_OP, l->words);
    MPI_Win_flush(HOST, l->words);
    return value;
}

/* Returns what was there before. */
static int64_t word_change(const struct mpiio_lock *l, enum word word, int64_t by, MPI_Op op)
{
    int64_t before;
    MPI_Fetch_and_op(&by, &before, MPI_INT64_T, HOST, word, op, l->words);
    MPI_Win_flush(HOST, l->words);
    return before;
}

gboolean mpiio_lock_init(struct mpiio_lock *l, MPI_Comm comm, enum mpiio_windows how, const struct inode *rules,
                         uint64_t end, GError **error)
{
    int process;

    *l = (struct mpiio_lock){ .comm = comm, .lock = MPI_WIN_NULL, .words = MPI_WIN_NULL, .inode = *rules, .taken = -1,
                              .windows = choose(comm, how) };
    MPI_Comm_rank(comm, &process);
    if (l->windows == MPIIO_WINDOWS_MESSAGES && process == HOST)
        l->own = g_new0(int64_t, WORDS + 1);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int bad = window_make(l, 1, l->own == NULL ? NULL : l->own + WORDS, &l->lock) != MPI_SUCCESS;
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, comm);
    if (!bad) {
        bad = window_make(l, WORDS, l->own, &l->words) != MPI_SUCCESS;
        MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, comm);
    }
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    if (bad) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "the MPI library makes no window of %s here; expected "
                    "another choice of windows, or another --mca osc",
                    l->windows == MPIIO_WINDOWS_SHARED ? "shared memory" : "messages");
        /* A window that only some have cannot be freed, which all must do together; nor what is under it. */
        l->lock = l->words = MPI_WIN_NULL;
        l->own = NULL;
        return FALSE;
    }
    l->onesided = mpiio_onesided_of(l->lock, l->windows);
    MPI_Win_lock_all(0, l->words);
    if (process == HOST)
        word_change(l, WORD_END, (int64_t)end, MPI_REPLACE);
    MPI_Barrier(comm);
    return TRUE;
}

void mpiio_lock_release(struct mpiio_lock *l)
{
    if (l->words != MPI_WIN_NULL) {
        MPI_Win_unlock_all(l->words);
        MPI_Win_free(&l->words);
    }
    if (l->lock != MPI_WIN_NULL)
        MPI_Win_free(&l->lock);
    g_free(l->own);
    l->own = NULL;
}

/* --- the lock --- */

/* Counts the holders beside this one; what must not be is counted too. */
static void count_holders(struct mpiio_lock *l, const struct inode_write *write)
{
    struct mpiio_lock_counts *count = &l->count;
    bool alone = l->mode == LOCK_EXCLUSIVE;
    int64_t same = word_change(l, alone ? WORD_EXCLUSIVE : WORD_SHARED, 1, MPI_SUM);
    int64_t other = word_read(l, alone ? WORD_SHARED : WORD_EXCLUSIVE);

    count->broken += other != 0 || (alone && same != 0);
    count->lone += same == 0 && other == 0;
    count->inflight_most = MAX(count->inflight_most, (uint64_t)(same + other + 1));
    l->inode.size_bytes = (uint64_t)word_read(l, WORD_END);
    count->extending += inode_extends(&l->inode, write);
}

void mpiio_lock_take(struct mpiio_lock *l, const struct inode_write *write)
{
    struct mpiio_lock_counts *count = &l->count;
    int64_t one = 1, before, began_ns = mpiio_clock_ns();

    l->inode.size_bytes = (uint64_t)word_read(l, WORD_END);
    l->mode = inode_mode(&l->inode, write);
    word_change(l, WORD_WAITING, 1, MPI_SUM);
    MPI_Win_lock(l->mode == LOCK_EXCLUSIVE ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, HOST, 0, l->lock);
    /* A lock call may return before the lock is there; an operation that has been carried out needs it. */
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, HOST, 0, MPI_SUM, l->lock);
    MPI_Win_flush(HOST, l->lock);
    word_change(l, WORD_WAITING, -1, MPI_SUM);
    count->wait_ns += mpiio_clock_ns() - began_ns;
    if (l->left_contested) {
        count->contested++;
        count->retakes += before == l->taken;
    }
    l->taken = before + 1;
    if (l->mode == LOCK_EXCLUSIVE)
        count->exclusive++;
    else
        count->shared++;
    count_holders(l, write);
}

void mpiio_lock_leave(struct mpiio_lock *l, const struct inode_write *write, bool written)
{
    if (written && inode_extends(&l->inode, write))
        word_change(l, WORD_END, (int64_t)(write->offset + write->length), MPI_MAX);
    word_change(l, l->mode == LOCK_EXCLUSIVE ? WORD_EXCLUSIVE : WORD_SHARED, -1, MPI_SUM);
    l->left_contested = word_read(l, WORD_WAITING) > 0;
    MPI_Win_unlock(HOST, l->lock);
}
