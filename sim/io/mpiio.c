/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/mpiio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io/mpiio_internal.h"

enum { TAG_FIRST = 16, TAGS = 16384 };      /* of MPI_Comm_create_group: jobs that go on at once differ */

int64_t mpiio_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* --- the file --- */

/* Whoever makes the file knows best why it cannot be. */
static void make_file(struct mpiio_work *w)
{
    int descriptor = open(w->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (descriptor < 0 && errno == EEXIST)
        w->error = g_error_new(TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "[io.%s]: %s exists; expected a path that is "
                               "free: remove it, or write somewhere else", w->job->name, w->path);
    else if (descriptor < 0)
        mpiio_fail(w, MPI_SUCCESS, errno, "make %s", w->path);
    if (descriptor < 0)
        return;
    w->made = true;
    close(descriptor);
    if (w->job->made != NULL)
        w->job->made(w->path);
}

static MPI_Info hints_of(const struct mpiio_job *job)
{
    MPI_Info info;

    MPI_Info_create(&info);
    for (char *const *hint = job->hints; hint != NULL && hint[0] != NULL; hint += 2)
        MPI_Info_set(info, hint[0], hint[1]);
    return info;
}

/* Whether the library is the one whose collective calls were asked for. */
static void check_component(struct mpiio_work *w)
{
    static const char *const names[] = { "an unknown component", "ompio", "romio" };
    enum collective_library asked = w->job->collective.kind;

    w->mine.component = mpiio_component_of(w->file);
    if (asked == COLLECTIVE_NONE || w->job->locked)
        return;
    if ((asked == COLLECTIVE_ROMIO) == (w->mine.component == MPIIO_ROMIO) || w->error != NULL)
        return;
    w->error = g_error_new(TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "[io.%s] collective: this MPI library's MPI-IO is %s; "
                           "expected collective = %s, or another start (Open MPI: mpirun --mca io %s)", w->job->name,
                           names[w->mine.component], names[w->mine.component],
                           asked == COLLECTIVE_ROMIO ? "romio321" : "ompio");
}

/* OMPIO does not come back from an open in which one process fails, so each asks without it first. */
static gboolean can_open(struct mpiio_work *w)
{
    int descriptor = open(w->path, O_RDWR | O_CLOEXEC);

    if (descriptor < 0)
        mpiio_fail(w, MPI_SUCCESS, errno, "open %s", w->path);
    else
        close(descriptor);
    return mpiio_agree(w);
}

static gboolean open_file(struct mpiio_work *w)
{
    MPI_Info info = hints_of(w->job);

    errno = 0;
    int code = MPI_File_open(w->job->each ? MPI_COMM_SELF : w->comm, w->path, MPI_MODE_RDWR, info, &w->file);
    if (code != MPI_SUCCESS)
        mpiio_fail(w, code, errno, "open %s", w->path);
    MPI_Info_free(&info);
    w->mine.opened_ns = mpiio_elapsed_ns(w);
    return mpiio_agree(w);
}

/* Closing a file may be what finds the disk full. */
static void close_file(struct mpiio_work *w)
{
    if (w->file == MPI_FILE_NULL)
        return;
    errno = 0;
    int code = MPI_File_close(&w->file);
    if (code != MPI_SUCCESS)
        mpiio_fail(w, code, errno, "close %s", w->path);
    w->mine.closed_ns = mpiio_elapsed_ns(w);
}

static gboolean bring_to_size(struct mpiio_work *w)
{
    uint64_t bytes = pattern_bytes(&w->job->pattern);
    int code = MPI_SUCCESS;

    errno = 0;
    if (w->job->prepare == MPIIO_PREPARE_SET_SIZE)
        code = MPI_File_set_size(w->file, (MPI_Offset)bytes);
    else if (w->job->prepare == MPIIO_PREPARE_ALLOCATE)
        code = MPI_File_preallocate(w->file, (MPI_Offset)bytes);
    int number = errno;
    if (code != MPI_SUCCESS || mpiio_errno_tells(number))
        mpiio_fail(w, code, number, "bring %s to its size", w->path);
    if (!mpiio_agree_soon(w))
        return FALSE;
    if (w->job->prepare != MPIIO_PREPARE_ALLOCATE)
        return TRUE;
    /* OMPIO 4.1 crashes in collective calls that aggregate a view of a file it has preallocated, unless it is opened
     * again. */
    close_file(w);
    return mpiio_agree(w) && open_file(w);
}

static gboolean make_lock(struct mpiio_work *w)
{
    const struct mpiio_job *job = w->job;

    if (!job->locked)
        return TRUE;
    uint64_t end = job->prepare == MPIIO_PREPARE_NOTHING ? 0 : pattern_bytes(&job->pattern);
    if (!mpiio_lock_init(&w->lock, w->comm, job->windows, &job->rules, end, &w->error)) {
        g_prefix_error(&w->error, "[io.%s] windows: ", job->name);
        return FALSE;
    }
    w->mine.windows = w->lock.windows;
    w->mine.onesided = w->lock.onesided;
    return TRUE;
}

/* --- the course of a job --- */

/* What is there before the measured time begins: an empty file, or a whole one. The first file that a process opens
 * takes it a quarter of a second, in which the library looks for its components: so this opens it as well. */
static gboolean make(struct mpiio_work *w)
{
    if (w->job->each || w->writer == 0)
        make_file(w);
    if (!mpiio_agree(w) || !can_open(w) || !open_file(w))
        return FALSE;
    check_component(w);
    if (w->job->prepare == MPIIO_PREPARE_FILL && w->error == NULL)
        mpiio_fill(w);
    close_file(w);
    return mpiio_agree(w);
}

static void write_file(struct mpiio_work *w)
{
    MPI_Barrier(w->comm);
    w->mine.ready_ns = mpiio_elapsed_ns(w);
    mpiio_write_all(w);
    w->mine.written_ns = mpiio_elapsed_ns(w);
}

void mpiio_remove(struct mpiio_work *w)
{
    bool stays = !w->made || (w->job->keep && w->error == NULL && !w->stopped);

    /* A signal may have removed it. */
    if (!stays && remove(w->path) != 0 && errno != ENOENT)
        mpiio_fail(w, MPI_SUCCESS, errno, "remove %s", w->path);
    if (w->made && w->job->made != NULL)
        w->job->made(NULL);
    mpiio_agree(w);
}

gboolean mpiio_begin(struct mpiio_work *w)
{
    if (!make(w) || !make_lock(w))
        return FALSE;
    MPI_Barrier(w->comm);
    w->start_ns = mpiio_clock_ns();
    return open_file(w) && bring_to_size(w);
}

void mpiio_end(struct mpiio_work *w)
{
    close_file(w);
    if (!w->job->locked)
        return;
    w->mine.lock = w->lock.count;
    mpiio_lock_release(&w->lock);
}

static void run(struct mpiio_work *w)
{
    if (mpiio_begin(w))
        write_file(w);
    mpiio_end(w);
    if (mpiio_agree(w) && w->job->verify) {
        mpiio_verify(w);
        mpiio_agree(w);
    }
    mpiio_remove(w);
}

/* --- figures --- */

void mpiio_add_up(const struct mpiio_work *w, struct mpiio_figures *all)
{
    const struct mpiio_figures *mine = &w->mine;
    MPI_Comm comm = w->comm;
    const struct mpiio_lock_counts *l = &mine->lock;
    int64_t sums[] = { (int64_t)mine->bytes, (int64_t)mine->writes, (int64_t)mine->verified, mine->write_ns,
                       (int64_t)l->exclusive, (int64_t)l->shared, (int64_t)l->extending, (int64_t)l->lone,
                       (int64_t)l->contested, (int64_t)l->retakes, (int64_t)l->broken, l->wait_ns };
    int64_t most[] = { mine->opened_ns, mine->ready_ns, mine->written_ns, mine->closed_ns, mine->held_up_ns,
                       (int64_t)l->inflight_most };

    MPI_Allreduce(MPI_IN_PLACE, sums, G_N_ELEMENTS(sums), MPI_INT64_T, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, most, G_N_ELEMENTS(most), MPI_INT64_T, MPI_MAX, comm);
    *all = (struct mpiio_figures){
        .component = mine->component, .windows = mine->windows, .onesided = mine->onesided, .bytes = (uint64_t)sums[0],
        .writes = (uint64_t)sums[1], .verified = (uint64_t)sums[2], .write_ns = sums[3],
        .lock = { .exclusive = (uint64_t)sums[4], .shared = (uint64_t)sums[5], .extending = (uint64_t)sums[6],
                  .lone = (uint64_t)sums[7], .contested = (uint64_t)sums[8], .retakes = (uint64_t)sums[9],
                  .broken = (uint64_t)sums[10], .wait_ns = sums[11], .inflight_most = (uint64_t)most[5] },
        .opened_ns = most[0], .ready_ns = most[1], .written_ns = most[2], .closed_ns = most[3], .held_up_ns = most[4]
    };
}

static int compare_rows(const void *a, const void *b)
{
    const struct mpiio_row *x = a, *y = b;
    if (x->ended_ns != y->ended_ns)
        return x->ended_ns < y->ended_ns ? -1 : 1;
    return (x->writer > y->writer) - (x->writer < y->writer);
}

/* Brings the rows to the first process. */
static void gather_rows(struct mpiio_work *w)
{
    uint32_t writers = w->job->writers;
    g_autofree int *counts = g_new0(int, writers), *first = g_new0(int, writers);
    int mine = (int)w->rows->len, all = 0;
    MPI_Datatype row;

    MPI_Type_contiguous(sizeof(struct mpiio_row), MPI_BYTE, &row);
    MPI_Type_commit(&row);
    MPI_Gather(&mine, 1, MPI_INT, counts, 1, MPI_INT, 0, w->comm);
    for (uint32_t i = 0; i < writers && w->writer == 0; i++) {
        first[i] = all;
        all += counts[i];
    }
    g_autofree struct mpiio_row *own = g_memdup2(w->rows->data, w->rows->len * sizeof(struct mpiio_row));
    g_array_set_size(w->rows, (guint)all);
    MPI_Gatherv(own, mine, row, w->rows->data, counts, first, row, 0, w->comm);
    MPI_Type_free(&row);
    g_array_sort(w->rows, compare_rows);
}

static MPI_Comm comm_of_writers(MPI_Comm comm, uint32_t number, uint32_t writers)
{
    MPI_Group all, group;
    MPI_Comm own;
    int range[1][3] = { { 0, (int)writers - 1, 1 } };

    MPI_Comm_group(comm, &all);
    MPI_Group_range_incl(all, 1, range, &group);
    MPI_Comm_create_group(comm, group, TAG_FIRST + (int)(number % TAGS), &own);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    return own;
}

void mpiio_work_init(struct mpiio_work *w, MPI_Comm comm, const struct mpiio_job *job, uint32_t writer)
{
    int64_t now_ns = mpiio_clock_ns();

    /* One that is stopped before its time begins has moments all the same. */
    *w = (struct mpiio_work){ .job = job, .file = MPI_FILE_NULL, .writer = writer, .lock = MPIIO_LOCK_NONE,
                              .rows = job->rows, .entered_ns = now_ns, .start_ns = now_ns };
    MPI_Comm_dup(comm, &w->comm);
    w->path = job->each ? g_strdup_printf("%s.%u", job->path, writer) : g_strdup(job->path);
    contents_init(&w->contents, MAX(job->pattern.transfer, MPIIO_PIECE_BYTES),
                  job->pattern.seed + (job->each ? writer : 0));
}

gboolean mpiio_work_release(struct mpiio_work *w, GError **error)
{
    contents_release(&w->contents);
    g_free(w->path);
    MPI_Comm_free(&w->comm);
    if (w->error == NULL)
        return TRUE;
    g_propagate_error(error, w->error);
    return FALSE;
}

gboolean mpiio_job_run(MPI_Comm comm, uint32_t number, const struct mpiio_job *job, struct mpiio_figures *figures,
                       GError **error)
{
    struct mpiio_work w;
    int process;

    *figures = (struct mpiio_figures){ .component = MPIIO_UNKNOWN };
    MPI_Comm_rank(comm, &process);
    if ((uint32_t)process >= job->writers)
        return TRUE;
    MPI_Comm own = comm_of_writers(comm, number, job->writers);
    mpiio_work_init(&w, own, job, (uint32_t)process);
    run(&w);
    w.mine.held_up_ns = mpiio_clock_ns() - w.entered_ns;
    mpiio_add_up(&w, figures);
    if (w.rows != NULL)
        gather_rows(&w);
    /* Each has begun at its own time: no row is behind the latest end. */
    figures->end_ns = mpiio_elapsed_ns(&w);
    MPI_Allreduce(MPI_IN_PLACE, &figures->end_ns, 1, MPI_INT64_T, MPI_MAX, own);
    MPI_Comm_free(&own);
    return mpiio_work_release(&w, error);
}
