/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "io/mpiio_internal.h"

static bool check_size(struct mpiio_work *w, const char *path, MPI_File file, uint64_t expected)
{
    MPI_Offset size = 0;
    int code = MPI_File_get_size(file, &size);

    if (code != MPI_SUCCESS || (uint64_t)size != expected)
        mpiio_fail(w, code, 0, "find what was written in %s, which has %" G_GINT64_FORMAT " bytes instead of %"
                   G_GUINT64_FORMAT, path, (int64_t)size, expected);
    return w->error == NULL;
}

static bool read_block(struct mpiio_work *w, const char *path, MPI_File file, uint64_t offset, uint64_t length,
                       uint8_t *bytes)
{
    uint64_t right;
    MPI_Status status;
    int count = 0;

    errno = 0;
    int code = MPI_File_read_at(file, (MPI_Offset)offset, bytes, (int)length, MPI_BYTE, &status);
    int number = errno;
    if (code == MPI_SUCCESS)
        MPI_Get_count(&status, MPI_BYTE, &count);
    if (code != MPI_SUCCESS || (uint64_t)count != length) {
        mpiio_fail(w, code, number, "read back %" G_GUINT64_FORMAT " bytes at %" G_GUINT64_FORMAT " of %s", length,
                   offset, path);
        return false;
    }
    right = contents_compare(&w->contents, bytes, offset, length);
    if (right == length) {
        w->mine.verified += length;
        return true;
    }
    mpiio_fail(w, MPI_SUCCESS, 0, "find what was written in %s: byte %" G_GUINT64_FORMAT " is another one", path,
               offset + right);
    return false;
}

static void read_all(struct mpiio_work *w, const char *path, MPI_File file, uint32_t of)
{
    const struct pattern *p = &w->job->pattern;
    uint64_t writes = pattern_writes(p);
    g_autofree uint8_t *bytes = g_malloc(p->transfer);

    w->contents.seed = p->seed + (w->job->each ? of : 0);
    w->contents.set = 0;
    for (uint64_t i = 0; i < writes; i++) {
        if (!read_block(w, path, file, pattern_offset(p, w->job->each ? 0 : of, i), p->transfer, bytes))
            return;
    }
}

void mpiio_verify(struct mpiio_work *w)
{
    uint32_t of = (w->writer + 1) % w->job->writers;
    g_autofree char *path = w->job->each ? g_strdup_printf("%s.%u", w->job->path, of) : g_strdup(w->job->path);
    MPI_File file;

    errno = 0;
    int code = MPI_File_open(w->job->each ? MPI_COMM_SELF : w->comm, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    if (code != MPI_SUCCESS) {
        mpiio_fail(w, code, errno, "open %s again", path);
        return;
    }
    if (check_size(w, path, file, pattern_bytes(&w->job->pattern)))
        read_all(w, path, file, of);
    MPI_File_close(&file);
}

void mpiio_verify_extents(struct mpiio_work *w, const struct extent *list, uint32_t count, uint64_t size)
{
    g_autofree uint8_t *bytes = g_malloc(MPIIO_PIECE_BYTES);
    MPI_File file;

    errno = 0;
    int code = MPI_File_open(w->comm, w->path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    if (code != MPI_SUCCESS) {
        mpiio_fail(w, code, errno, "open %s again", w->path);
        return;
    }
    bool good = check_size(w, w->path, file, size);
    for (uint32_t i = 0; i < count && good; i++) {
        uint64_t length;
        for (uint64_t at = list[i].first; at < list[i].end && good; at += length) {
            length = MIN(list[i].end - at, MPIIO_PIECE_BYTES);
            good = read_block(w, w->path, file, at, length, bytes);
        }
    }
    MPI_File_close(&file);
}
