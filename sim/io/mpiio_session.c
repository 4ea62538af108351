/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/mpiio_session.h"

#include "io/extents.h"
#include "io/mpiio_internal.h"

enum { TAG_EXTENTS = 1 };

struct mpiio_session {
    struct mpiio_job job;
    struct mpiio_work work;
    struct extents written;         /* by this process */
    int64_t held_up_ns;
};

struct mpiio_session *mpiio_session_new(MPI_Comm comm, const struct mpiio_job *job, GError **error)
{
    struct mpiio_session *s = g_new0(struct mpiio_session, 1);
    int process, processes;

    MPI_Comm_rank(comm, &process);
    MPI_Comm_size(comm, &processes);
    s->job = *job;
    s->job.writers = (uint32_t)processes;
    s->job.each = false;
    s->job.collective.kind = COLLECTIVE_NONE;
    extents_init(&s->written);
    mpiio_work_init(&s->work, comm, &s->job, (uint32_t)process);
    if (mpiio_begin(&s->work)) {
        s->work.mine.ready_ns = s->work.mine.written_ns = mpiio_elapsed_ns(&s->work);
        return s;
    }
    if (mpiio_session_free(s, false, NULL, error))
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_STOPPED, "[io.%s]: told to stop before it was written",
                    job->name);
    return NULL;
}

gboolean mpiio_session_write(struct mpiio_session *s, uint64_t offset, uint64_t length, GError **error)
{
    struct mpiio_work *w = &s->work;
    int64_t began_ns = mpiio_clock_ns();

    contents_set(&w->contents, offset, length);
    gboolean good = mpiio_write_block(w, offset, w->contents.bytes, length);
    s->held_up_ns += mpiio_clock_ns() - began_ns;
    if (!good) {
        g_set_error_literal(error, w->error->domain, w->error->code, w->error->message);
        return FALSE;
    }
    extents_add(&s->written, offset, length);
    w->mine.written_ns = mpiio_elapsed_ns(w);
    return TRUE;
}

bool mpiio_session_serves(const struct mpiio_session *s)
{
    return s->job.locked && s->work.writer == 0 && s->work.lock.windows == MPIIO_WINDOWS_MESSAGES;
}

/* What the next process has written, for what this one has. */
static struct extent *swap_extents(struct mpiio_session *s, uint32_t *count)
{
    struct mpiio_work *w = &s->work;
    uint32_t processes = s->job.writers;
    int next = (int)((w->writer + 1) % processes), before = (int)((w->writer + processes - 1) % processes);

    MPI_Sendrecv(&s->written.count, 1, MPI_UINT32_T, before, TAG_EXTENTS, count, 1, MPI_UINT32_T, next, TAG_EXTENTS,
                 w->comm, MPI_STATUS_IGNORE);
    struct extent *list = g_new(struct extent, MAX(*count, 1));
    MPI_Sendrecv(s->written.list, (int)(2 * s->written.count), MPI_UINT64_T, before, TAG_EXTENTS, list,
                 (int)(2 * *count), MPI_UINT64_T, next, TAG_EXTENTS, w->comm, MPI_STATUS_IGNORE);
    return list;
}

static void verify(struct mpiio_session *s)
{
    struct mpiio_work *w = &s->work;
    uint32_t count;
    g_autofree struct extent *list = swap_extents(s, &count);
    uint64_t end = s->job.prepare == MPIIO_PREPARE_SET_SIZE ? pattern_bytes(&s->job.pattern) : 0;

    if (s->written.count != 0)
        end = MAX(end, s->written.list[s->written.count - 1].end);
    MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_UINT64_T, MPI_MAX, w->comm);
    mpiio_verify_extents(w, list, count, end);
}

gboolean mpiio_session_free(struct mpiio_session *s, bool good, struct mpiio_figures *figures, GError **error)
{
    struct mpiio_work *w = &s->work;

    if (!good && w->error == NULL)
        w->error = g_error_new(TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "[io.%s]: the run has failed", s->job.name);
    mpiio_end(w);
    if (mpiio_agree(w) && s->job.verify) {
        verify(s);
        mpiio_agree(w);
    }
    mpiio_remove(w);
    w->mine.held_up_ns = s->held_up_ns;
    if (figures != NULL)
        mpiio_add_up(w, figures);
    extents_release(&s->written);
    gboolean fine = mpiio_work_release(w, error);
    g_free(s);
    return fine;
}
