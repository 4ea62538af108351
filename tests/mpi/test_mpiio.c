/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that are really written: random patterns, independent and collective, under the file system's lock and under
 * emulated ones, are read back byte by byte by the back end and by this program, which works out for itself what must
 * stand there; locks exclude whom they must; failures come back to all.
 *
 *     test_mpiio.mpi [FIRST COUNT]      random jobs FIRST .. FIRST + COUNT - 1
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "io/contents.h"
#include "io/mpiio.h"

enum {
    LIMIT_S = 250,              /* a job that hangs dies by SIGALRM, and mpirun with it */
    JOBS = 30,
    MOST_BYTES = 1 << 19        /* of one file */
};

static int process, processes;

static unsigned wrong(bool right, const char *what, uint64_t seed)
{
    int all = right;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all && process == 0)
        printf("not ok - %s (job %" G_GUINT64_FORMAT ")\n", what, seed);
    return !all;
}

/* --- random jobs --- */

static uint64_t draw(uint64_t *state, uint64_t below)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 31) % below;
}

static void draw_lock(uint64_t *state, struct mpiio_job *job)
{
    static const enum inode_rules rules[] = { INODE_FUSE_62, INODE_FUSE_69, INODE_EXTENDING_SHARED };

    job->locked = !job->each && draw(state, 3) != 0;
    job->rules.parallel = draw(state, 3) != 0;
    job->rules.rules = rules[draw(state, 3)];
    job->windows = (enum mpiio_windows)draw(state, 3);
}

/* Of the library's own implementation where the lock is not ours. */
static void draw_collective(uint64_t *state, struct mpiio_job *job, enum collective_library library)
{
    struct collective *c = &job->collective;

    if (job->each || draw(state, 2) == 0)
        return;
    job->pattern.order = PATTERN_INTERLEAVED;
    job->pattern.block = job->pattern.transfer;
    c->kind = job->locked ? (enum collective_library)(1 + draw(state, 2)) : library;
    c->writers = job->writers;
    c->writers_per_node = 1 + (uint32_t)draw(state, job->writers);
    c->block = job->pattern.block;
    c->pieces = 1 + (uint32_t)draw(state, 3);
    c->aggregators = (uint32_t)draw(state, job->writers + 1);
    c->aggregators_per_node = 1 + (uint32_t)draw(state, 2);
    c->buffer = draw(state, 2) == 0 ? 0 : 1 + draw(state, 3 * c->block);
    job->pattern.segments = (job->pattern.segments + c->pieces - 1) / c->pieces * c->pieces;
    collective_plan_make(c, &job->plan);
}

static void draw_job(uint64_t seed, enum collective_library library, const char *path, struct mpiio_job *job)
{
    uint64_t state = seed * 1000003;

    *job = (struct mpiio_job){ .name = "random", .path = path, .verify = true, .keep = true,
                               .writers = 1 + (uint32_t)draw(&state, (uint64_t)processes) };
    job->each = draw(&state, 8) == 0;
    struct pattern *p = &job->pattern;
    p->order = (enum pattern_order)draw(&state, 5);
    p->writers = job->each ? 1 : job->writers;
    p->transfer = draw(&state, 3) == 0 ? 1 + draw(&state, 5000) : (uint64_t)512 << draw(&state, 7);
    p->block = p->transfer * (1 + draw(&state, 3));
    p->segments = 1 + draw(&state, 12);
    p->segments = MAX(MIN(p->segments, MOST_BYTES / (p->block * p->writers)), 1);
    p->seed = seed;
    job->prepare = (enum mpiio_prepare)draw(&state, 4);
    job->think_ns = draw(&state, 6) == 0 ? (int64_t)draw(&state, 20000) : 0;
    draw_lock(&state, job);
    draw_collective(&state, job, library);
}

/* --- what must come of them --- */

/* Without the back end: the file has its length, and at each place the bytes of that place. */
static bool file_is_right(const char *path, const struct pattern *p, uint64_t seed)
{
    g_autofree char *bytes = NULL;
    gsize size;
    struct contents c;

    if (!g_file_get_contents(path, &bytes, &size, NULL) || size != pattern_bytes(p))
        return false;
    contents_init(&c, size, seed);
    bool right = contents_compare(&c, (const uint8_t *)bytes, 0, size) == size;
    contents_release(&c);
    return right && g_unlink(path) == 0;
}

static bool files_are_right(const struct mpiio_job *job)
{
    bool right = true;

    if (!job->each)
        return file_is_right(job->path, &job->pattern, job->pattern.seed);
    for (uint32_t w = 0; w < job->writers; w++) {
        g_autofree char *path = g_strdup_printf("%s.%u", job->path, w);
        right &= file_is_right(path, &job->pattern, job->pattern.seed + w);
    }
    return right;
}

static bool locks_are_right(const struct mpiio_job *job, const struct mpiio_figures *x)
{
    const struct mpiio_lock_counts *l = &x->lock;
    bool shares = job->rules.parallel;

    if (!job->locked)
        return l->exclusive == 0 && l->shared == 0;
    if (l->exclusive + l->shared != x->writes || l->broken != 0 || l->retakes > l->contested ||
        l->inflight_most > job->writers)
        return false;
    if (!shares && (l->shared != 0 || l->inflight_most != 1 || l->lone != x->writes))
        return false;
    /* Within the file nothing extends, and all that may share does. */
    if (job->prepare != MPIIO_PREPARE_NOTHING && (l->extending != 0 || (shares && l->exclusive != 0)))
        return false;
    return job->prepare != MPIIO_PREPARE_NOTHING || job->rules.rules == INODE_EXTENDING_SHARED || l->extending != 0;
}

/* Each write once, in the order in which they ended. */
static bool rows_are_right(const struct mpiio_job *job, const struct mpiio_figures *x)
{
    uint64_t bytes = 0;

    for (guint i = 0; i < job->rows->len; i++) {
        const struct mpiio_row *row = &g_array_index(job->rows, struct mpiio_row, i);
        if (row->writer >= job->writers || (row->how == MPIIO_ROW_UNLOCKED) == job->locked ||
            row->asked_ns > row->locked_ns || row->locked_ns > row->ended_ns || row->ended_ns > x->end_ns ||
            (i != 0 && row->ended_ns < row[-1].ended_ns) || (!job->locked && row->locked_ns != row->asked_ns))
            return false;
        bytes += row->length;
    }
    return job->rows->len == x->writes && bytes == x->bytes;
}

static unsigned check_job(uint64_t seed, enum collective_library library, const char *path)
{
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(struct mpiio_row));
    struct mpiio_figures figures;
    struct mpiio_job job;
    g_autoptr(GError) error = NULL;

    draw_job(seed, library, path, &job);
    job.rows = seed % 3 == 0 ? NULL : rows;
    uint64_t bytes = pattern_bytes(&job.pattern) * (job.each ? job.writers : 1);
    gboolean ran = mpiio_job_run(MPI_COMM_WORLD, (uint32_t)seed, &job, &figures, &error);
    if (!ran && process == 0)
        printf("# %s\n", error->message);
    unsigned failures = wrong(ran, "a random pattern is written and read back", seed);
    if (process == 0 && ran && figures.bytes != bytes)
        printf("# %" G_GUINT64_FORMAT " bytes instead of %" G_GUINT64_FORMAT "\n", figures.bytes, bytes);
    failures += wrong(process != 0 || (figures.bytes == bytes && figures.verified == bytes), "its bytes are counted",
                      seed);
    failures += wrong(process != 0 || locks_are_right(&job, &figures), "its locks exclude and are counted", seed);
    failures += wrong(process != 0 || job.rows == NULL || rows_are_right(&job, &figures), "each write has a row", seed);
    failures += wrong(process != 0 || files_are_right(&job), "every byte is in its place", seed);
    MPI_Barrier(MPI_COMM_WORLD);
    return failures;
}

/* --- failures --- */

static struct mpiio_job plain_job(const char *path)
{
    return (struct mpiio_job){
        .name = "plain", .path = path, .writers = (uint32_t)processes, .verify = true,
        .pattern = { PATTERN_INTERLEAVED, (uint32_t)processes, 4096, 4096, 4, 1 }, .locked = true,
        .rules = { .rules = INODE_FUSE_62, .parallel = true }
    };
}

static unsigned refused(const struct mpiio_job *job, const char *text, const char *what)
{
    g_autoptr(GError) error = NULL;
    struct mpiio_figures figures;
    gboolean ran = mpiio_job_run(MPI_COMM_WORLD, 0, job, &figures, &error);
    bool right = !ran && strstr(error->message, text) != NULL;

    if (!ran && !right && process == 0)
        printf("# %s\n", error->message);
    return wrong(right, what, 0);
}

static unsigned check_failures(const char *folder)
{
    g_autofree char *nowhere = g_build_filename(folder, "nowhere", "x", NULL);
    g_autofree char *there = g_build_filename(folder, "there", NULL);
    struct mpiio_job job = plain_job(nowhere);
    unsigned failures = refused(&job, g_strerror(ENOENT), "a folder that is not there is told to all");

    if (process == 0)
        g_file_set_contents(there, "x", 1, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    job.path = there;
    failures += refused(&job, "exists; expected a path that is free", "a file that is there is not written");
    failures += wrong(g_file_test(there, G_FILE_TEST_IS_REGULAR), "and stays", 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (process == 0)
        g_unlink(there);
    MPI_Barrier(MPI_COMM_WORLD);
    return failures;
}

static unsigned check_leaving(const char *path)
{
    struct mpiio_figures figures;
    struct mpiio_job job = plain_job(path);
    g_autoptr(GError) error = NULL;
    gboolean ran = mpiio_job_run(MPI_COMM_WORLD, 0, &job, &figures, &error);

    if (!ran && process == 0)
        printf("# %s\n", error->message);
    return wrong(ran, "a plain file is written", 0) +
           wrong(!g_file_test(path, G_FILE_TEST_EXISTS), "and removed unless it is to be kept", 0);
}

/* --- the end before the end --- */

static unsigned looks, patience;
static bool made_and_left;

/* The last process's wish: it is asked some ten times before the first write. */
static bool wants_stop(void)
{
    return process == processes - 1 && looks++ >= patience;
}

static void hear(const char *path)
{
    static bool made;

    made_and_left = path == NULL && made;
    made = path != NULL;
}

static unsigned check_stopping(const char *path)
{
    static const enum collective_library kinds[] = { COLLECTIVE_NONE, COLLECTIVE_ROMIO };
    unsigned failures = 0;

    for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++) {
        struct mpiio_job job = plain_job(path);
        struct mpiio_figures figures;
        g_autoptr(GError) error = NULL;
        job.pattern.segments = 300;
        job.keep = true;
        job.stop = wants_stop;
        job.made = hear;
        job.collective = (struct collective){ .kind = kinds[i], .writers = job.writers,
                                              .writers_per_node = job.writers, .block = 4096, .pieces = 1,
                                              .aggregators_per_node = 1 };
        collective_plan_make(&job.collective, &job.plan);
        looks = 0;
        patience = 50;
        made_and_left = false;
        failures += wrong(mpiio_job_run(MPI_COMM_WORLD, 0, &job, &figures, &error), "to be stopped is no failure", i);
        failures += wrong(process != 0 || (figures.bytes != 0 && figures.verified == 0), "what was written counts", i);
        failures += wrong(kinds[i] == COLLECTIVE_NONE || process != 0 || figures.bytes < pattern_bytes(&job.pattern),
                          "collective writers stop together", i);
        failures += wrong(process != 0 || made_and_left, "a file is announced, and taken back", i);
        failures += wrong(!g_file_test(path, G_FILE_TEST_EXISTS), "nothing is left of a stopped job's file", i);
    }
    return failures;
}

/* While the file is made. */
static unsigned check_stopping_soon(const char *path)
{
    struct mpiio_job job = plain_job(path);
    struct mpiio_figures x;
    g_autoptr(GError) error = NULL;

    job.stop = wants_stop;
    looks = 0;
    patience = 2;
    return wrong(mpiio_job_run(MPI_COMM_WORLD, 0, &job, &x, &error), "nor is it before the first write", 0) +
           wrong(process != 0 || (x.writes == 0 && x.closed_ns > 0), "of which there is none", 0) +
           wrong(process != 0 || (x.closed_ns <= x.held_up_ns && x.opened_ns <= x.closed_ns), "moments are of the job",
                 0) +
           wrong(!g_file_test(path, G_FILE_TEST_EXISTS), "nothing is left then either", 0);
}

/* What the library is, as an independent file tells. */
static enum collective_library find_library(const char *path)
{
    struct mpiio_figures figures = { .component = MPIIO_UNKNOWN };
    struct mpiio_job job = plain_job(path);

    mpiio_job_run(MPI_COMM_WORLD, 0, &job, &figures, NULL);
    int component = (int)figures.component;
    MPI_Bcast(&component, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return component == MPIIO_ROMIO ? COLLECTIVE_ROMIO : COLLECTIVE_OMPIO;
}

int main(int argc, char **argv)
{
    char folder[4096] = "";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    alarm(LIMIT_S);
    uint64_t first = argc > 2 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : JOBS;
    if (process == 0) {
        g_autofree char *made = g_dir_make_tmp("tiercel-mpiio-XXXXXX", NULL);
        g_strlcpy(folder, made, sizeof folder);
    }
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    g_autofree char *path = g_build_filename(folder, "file", NULL);

    enum collective_library library = find_library(path);
    unsigned failures = check_leaving(path) + check_failures(folder) + check_stopping(path) +
                        check_stopping_soon(path);
    for (uint64_t seed = first; seed < first + count; seed++)
        failures += check_job(seed, library, path);
    MPI_Barrier(MPI_COMM_WORLD);
    if (process == 0) {
        g_rmdir(folder);
        printf("# %" G_GUINT64_FORMAT " random files by %s: %u failures\n", count,
               library == COLLECTIVE_ROMIO ? "romio" : "ompio", failures);
    }
    MPI_Finalize();
    return failures != 0;
}
