/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "io/mpiio_internal.h"

/* --- single calls --- */

/* A write may end early where a disk or a quota is full; only the next one says why. */
static gboolean write_whole(struct mpiio_work *w, uint64_t offset, const uint8_t *bytes, uint64_t length)
{
    uint64_t done = 0;
    while (done < length) {
        MPI_Status status;
        int count = 0;
        errno = 0;
        int code = MPI_File_write_at(w->file, (MPI_Offset)(offset + done), bytes + done, (int)(length - done), MPI_BYTE,
                                     &status);
        int number = errno;
        if (code == MPI_SUCCESS)
            MPI_Get_count(&status, MPI_BYTE, &count);
        if (code != MPI_SUCCESS || count <= 0) {
            mpiio_fail(w, code, number, "write %" G_GUINT64_FORMAT " bytes at %" G_GUINT64_FORMAT " of %s",
                       length - done, offset + done, w->path);
            return FALSE;
        }
        done += (uint64_t)count;
    }
    return TRUE;
}

static void add_row(struct mpiio_work *w, uint64_t offset, uint64_t length, int64_t asked_ns, int64_t locked_ns)
{
    struct mpiio_row row = { w->writer, MPIIO_ROW_UNLOCKED, offset, length, asked_ns - w->start_ns,
                             locked_ns - w->start_ns, mpiio_elapsed_ns(w) };
    if (w->job->locked)
        row.how = w->lock.mode == LOCK_EXCLUSIVE ? MPIIO_ROW_EXCLUSIVE : MPIIO_ROW_SHARED;
    g_array_append_val(w->rows, row);
}

gboolean mpiio_write_block(struct mpiio_work *w, uint64_t offset, const uint8_t *bytes, uint64_t length)
{
    const struct inode_write write = { offset, length, false };
    int64_t asked_ns = mpiio_clock_ns(), began_ns = asked_ns;

    if (w->job->locked) {
        mpiio_lock_take(&w->lock, &write);
        began_ns = mpiio_clock_ns();
    }
    gboolean good = write_whole(w, offset, bytes, length);
    w->mine.write_ns += mpiio_clock_ns() - began_ns;
    if (w->job->locked)
        mpiio_lock_leave(&w->lock, &write, good);
    if (!good)
        return FALSE;
    if (w->rows != NULL)
        add_row(w, offset, length, asked_ns, began_ns);
    w->mine.writes++;
    w->mine.bytes += length;
    return TRUE;
}

/* A process that serves a window must be inside MPI for that, so nobody sleeps. */
void mpiio_think(const struct mpiio_work *w)
{
    int64_t end_ns = mpiio_clock_ns() + w->job->think_ns;
    while (mpiio_clock_ns() < end_ns && !mpiio_wants_stop(w)) {
        int ignored;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, w->comm, &ignored, MPI_STATUS_IGNORE);
        sched_yield();
    }
}

void mpiio_fill(struct mpiio_work *w)
{
    const struct mpiio_job *job = w->job;
    uint64_t total = pattern_bytes(&job->pattern), first = 0, end = total;
    g_autofree uint8_t *zeros = g_malloc0(MPIIO_PIECE_BYTES);

    if (!job->each) {
        first = (uint64_t)((unsigned __int128)total * w->writer / job->writers);
        end = (uint64_t)((unsigned __int128)total * (w->writer + 1) / job->writers);
    }
    for (uint64_t length; first < end; first += length) {
        length = MIN(end - first, MPIIO_PIECE_BYTES);
        if (!write_whole(w, first, zeros, length))
            return;
    }
}

/* --- all of them --- */

static void write_independent(struct mpiio_work *w)
{
    const struct pattern *p = &w->job->pattern;
    uint32_t writer = w->job->each ? 0 : w->writer;
    uint64_t writes = pattern_writes(p);

    for (uint64_t i = 0; i < writes; i++) {
        uint64_t offset = pattern_offset(p, writer, i);
        if (i != 0 && w->job->think_ns != 0)
            mpiio_think(w);
        if (mpiio_wants_stop(w))
            return;
        contents_set(&w->contents, offset, p->transfer);
        if (!mpiio_write_block(w, offset, w->contents.bytes, p->transfer))
            return;
    }
}

/* The pieces of a call lie one behind the other in memory, and a call's length apart in the file. */
static void set_view(struct mpiio_work *w)
{
    const struct collective *c = &w->job->collective;
    MPI_Datatype piece, spaced;

    MPI_Type_contiguous((int)c->block, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)(c->block * c->writers), &spaced);
    MPI_Type_commit(&spaced);
    int code = MPI_File_set_view(w->file, (MPI_Offset)(c->block * w->writer), MPI_BYTE, spaced, "native",
                                 MPI_INFO_NULL);
    if (code != MPI_SUCCESS)
        mpiio_fail(w, code, 0, "set a view of %s", w->path);
    MPI_Type_free(&spaced);
    MPI_Type_free(&piece);
}

/* `at` is where it begins in the file. */
static void write_call(struct mpiio_work *w, uint64_t offset, const uint8_t *bytes, uint64_t length, uint64_t at)
{
    MPI_Status status;
    int count = 0;

    errno = 0;
    int64_t began_ns = mpiio_clock_ns();
    int code = MPI_File_write_at_all(w->file, (MPI_Offset)offset, bytes, (int)length, MPI_BYTE, &status);
    int number = errno;
    w->mine.write_ns += mpiio_clock_ns() - began_ns;
    if (code == MPI_SUCCESS)
        MPI_Get_count(&status, MPI_BYTE, &count);
    if (code != MPI_SUCCESS || (uint64_t)count != length || mpiio_errno_tells(number))
        mpiio_fail(w, code, number, "write %" G_GUINT64_FORMAT " bytes of %s in a collective call, with others", length,
                   w->path);
    else if (w->rows != NULL)
        add_row(w, at, length, began_ns, began_ns);
    w->mine.writes++;
    w->mine.bytes += length;
}

/* By the library's own collective calls. Whoever fails goes on calling, so that the others need not wait for it, until
 * all ask one another: before calls 1, 2, 4, 8 ..., which costs nothing. */
static void write_collective(struct mpiio_work *w)
{
    const struct collective *c = &w->job->collective;
    uint64_t calls = pattern_writes(&w->job->pattern) / c->pieces, length = c->block * c->pieces;
    g_autofree uint8_t *pieces = c->pieces > 1 ? g_malloc(length) : NULL;

    if (c->pieces > 1)
        set_view(w);
    if (!mpiio_agree(w))
        return;
    for (uint64_t call = 0; call < calls; call++) {
        if (call != 0 && (call & (call - 1)) == 0 && !mpiio_agree_soon(w))
            return;
        if (call != 0 && w->job->think_ns != 0)
            mpiio_think(w);
        uint64_t at = pattern_offset(&w->job->pattern, w->writer, call * c->pieces);
        for (uint32_t k = 0; k < c->pieces; k++) {
            contents_set(&w->contents, pattern_offset(&w->job->pattern, w->writer, call * c->pieces + k), c->block);
            if (pieces != NULL)
                memcpy(pieces + k * c->block, w->contents.bytes, c->block);
        }
        /* Within a view, an offset counts what this process sees. */
        uint64_t offset = pieces != NULL ? call * length : (call * c->writers + w->writer) * c->block;
        write_call(w, offset, pieces != NULL ? pieces : w->contents.bytes, length, at);
    }
    mpiio_agree_soon(w);
}

void mpiio_write_all(struct mpiio_work *w)
{
    if (w->job->collective.kind == COLLECTIVE_NONE)
        write_independent(w);
    else if (w->job->locked)
        mpiio_exchange_all(w);
    else
        write_collective(w);
}
