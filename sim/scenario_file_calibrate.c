/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What writing takes on this machine, for decks of kind = io: short jobs on the file system of the deck, in the form of
 * a cost profile with which the virtual clock predicts live runs.
 *
 * The figures and where they come from:
 *   request     a write call's own time: one writer, with two lengths
 *   bandwidth   of all writers within the file at once, where that is less than each alone would have
 *   return      of one writer under the lock: what passes between two writes
 *   wake        the hand-off: what a write takes longer when all take turns under the exclusive lock. Those who wait
 *               for it look for it again and again, which slows down the others where there are too few cores
 *   queue       fifo where whoever lets go of the lock hardly ever has it again before those who wait; else kernel,
 *               with return and wake drawn such that it has it again as often as was counted
 *   exchange    of collective writes: what a round in which all meet, and then each writes within the file, takes
 *               longer than the slowest of as many writes. So it has in it that all come to the server at once; where
 *               few write for all it is a little much
 *   operation, share
 *               what it takes all to meet once more, and one to get their data, by MPI alone (io/mpiio_meeting.h), with
 *               as many processes as there are writers
 *   cores       of this machine
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "io/mpiio.h"
#include "io/mpiio_meeting.h"
#include "scenario_file.h"
#include "signals.h"

#define SECOND_NS 1e9

enum {
    PROBE_WRITES = 32,              /* to know how long a write takes, before it is measured */
    WRITES_LEAST = 50,              /* of a writer, */
    WRITES_MOST = 4000,
    ROUNDS = 3,                     /* of each job, of which the median counts */
    LONGER = 4                      /* the second length of a write, in lengths of the first */
};
#define TARGET_NS 2e8               /* that a job should take */
#define JOB_BYTES_MOST (UINT64_C(256) << 20)
#define SHARE_BYTES_MOST (UINT64_C(4) << 20)    /* that one process gets at a time, at the shorter length */
#define FAIR_SHARE 0.02             /* below, nobody has the lock again out of turn */
#define RETAKE_MOST 0.98            /* of which a distribution can still be made */
#define LIMITED_SHARE 0.9           /* of what each alone would have: below, they share a ceiling */

/* One kind of job. */
struct trial {
    uint32_t writers;
    uint64_t transfer;
    bool locked, parallel, sized;
    bool together;                  /* in rounds: all meet before each write */
};

/* What came of it, per write. */
struct outcome {
    double write_ns;                /* in the call, without the lock */
    double cycle_ns;                /* of all writers: from one write to the next */
    double wait_ns;                 /* for the lock */
    double retake_share;            /* NAN: never contested */
    double bytes_per_s;
    double jitter;                  /* of the call's time: how far it is from its middle at most, as a share of it, if
                                     * it is uniform, as the model draws it; of a lone writer */
};

struct calibration {
    MPI_Comm comm;
    const char *path;
    uint32_t number;                /* of jobs so far */
    double probe_ns;                /* of one write of the first length */
    enum mpiio_windows windows;
    struct outcome alone, longer, serial, within, growing, free, free_sized, rounds;
    struct mpiio_meeting meeting;   /* of two writers or more */
};

static struct mpiio_job job_of(const struct calibration *c, const struct trial *t, uint64_t writes)
{
    struct mpiio_job job = {
        .name = "calibrate", .path = c->path, .writers = t->writers,
        .pattern = { PATTERN_INTERLEAVED, t->writers, t->transfer, t->transfer, writes, 1 }, .locked = t->locked,
        .rules = { .rules = INODE_FUSE_62, .parallel = t->parallel }, .windows = c->windows,
        .prepare = t->sized ? MPIIO_PREPARE_SET_SIZE : MPIIO_PREPARE_NOTHING,
        .stop = signals_stop_wanted, .made = signals_remove
    };
    /* Of our own exchange (io/mpiio.h), by a plan in which each writes for itself. */
    if (t->together)
        job.collective = (struct collective){ .kind = COLLECTIVE_ROMIO, .writers = t->writers,
                                              .writers_per_node = t->writers, .block = t->transfer, .pieces = 1,
                                              .aggregators_per_node = 1 };
    if (t->together)
        collective_plan_make(&job.collective, &job.plan);
    return job;
}

static int compare_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of a lone writer the middle of all writes counts, not the mean: single ones may wait for the machine. */
static void look_at_rows(const GArray *rows, struct outcome *o)
{
    guint count = rows->len;
    g_autofree double *writes = g_new(double, count), *gaps = g_new0(double, count);

    for (guint i = 0; i < count; i++) {
        const struct mpiio_row *row = &g_array_index(rows, struct mpiio_row, i);
        writes[i] = (double)(row->ended_ns - row->locked_ns);
        gaps[i] = i + 1 < count ? (double)(row[1].locked_ns - row->ended_ns) : 0;
    }
    qsort(writes, count, sizeof writes[0], compare_values);
    qsort(gaps, count, sizeof gaps[0], compare_values);
    o->write_ns = writes[count / 2];
    o->cycle_ns = o->write_ns + gaps[count / 2];
    /* Half of what is uniform lies between its quartiles. */
    o->jitter = MIN((writes[3 * count / 4] - writes[count / 4]) / o->write_ns, 1);
}

static gboolean run_job(struct calibration *c, const struct trial *t, uint64_t writes, struct outcome *o,
                        GError **error)
{
    g_autoptr(GArray) rows = g_array_sized_new(FALSE, FALSE, sizeof(struct mpiio_row), (guint)writes);
    struct mpiio_job job = job_of(c, t, writes);
    struct mpiio_figures x;

    job.rows = t->writers == 1 ? rows : NULL;
    int good = mpiio_job_run(c->comm, c->number++, &job, &x, error), words[] = { good, !signals_stop_wanted() };

    /* Process 0 is a writer of every job; of some it is the only one. */
    MPI_Allreduce(MPI_IN_PLACE, words, G_N_ELEMENTS(words), MPI_INT, MPI_MIN, c->comm);
    if (!words[1] && good)
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_STOPPED, "calibrate: told to stop; nothing was written");
    else if (!words[0] && good)
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "[io.calibrate]: a writer has failed");
    if (!words[0] || !words[1])
        return FALSE;
    MPI_Bcast(&x, sizeof x, MPI_BYTE, 0, c->comm);
    double count = (double)x.writes, span_ns = (double)(x.written_ns - x.ready_ns);
    *o = (struct outcome){
        .write_ns = (double)x.write_ns / count, .cycle_ns = span_ns / count, .wait_ns = (double)x.lock.wait_ns / count,
        .retake_share = x.lock.contested == 0 ? NAN : (double)x.lock.retakes / (double)x.lock.contested,
        .bytes_per_s = (double)x.bytes / span_ns * SECOND_NS
    };
    if (rows->len != 0)
        look_at_rows(rows, o);
    MPI_Bcast(o, sizeof *o, MPI_BYTE, 0, c->comm);
    return TRUE;
}

static int compare_cycles(const void *a, const void *b)
{
    double x = ((const struct outcome *)a)->cycle_ns, y = ((const struct outcome *)b)->cycle_ns;
    return (x > y) - (x < y);
}

/* The round with the median cycle. */
static gboolean measure(struct calibration *c, const struct trial *t, struct outcome *o, GError **error)
{
    struct outcome rounds[ROUNDS];
    double writes = TARGET_NS / MAX(c->probe_ns * t->writers, 1);
    double most = (double)(JOB_BYTES_MOST / t->transfer / t->writers);

    writes = MAX(MIN(CLAMP(writes, WRITES_LEAST, WRITES_MOST), most), 4);
    for (unsigned i = 0; i < ROUNDS; i++)
        if (!run_job(c, t, (uint64_t)writes, &rounds[i], error))
            return FALSE;
    qsort(rounds, ROUNDS, sizeof rounds[0], compare_cycles);
    *o = rounds[ROUNDS / 2];
    return TRUE;
}

/* What it takes these processes, which are the first ones, to meet. */
static void measure_meeting(struct calibration *c, uint32_t writers, uint64_t transfer)
{
    MPI_Comm own;
    int process;

    MPI_Comm_rank(c->comm, &process);
    MPI_Comm_split(c->comm, (uint32_t)process < writers ? 0 : MPI_UNDEFINED, process, &own);
    if (own == MPI_COMM_NULL)
        return;
    mpiio_meeting_measure(own, CLAMP(transfer, 1, MAX(SHARE_BYTES_MOST / writers, 1)), &c->meeting);
    MPI_Comm_free(&own);
}

static gboolean measure_all(struct calibration *c, uint32_t writers, uint64_t transfer, GError **error)
{
    const struct trial alone = { 1, transfer, .locked = true, .parallel = true, .sized = true },
                       longer = { 1, LONGER * transfer, .locked = true, .parallel = true, .sized = true },
                       serial = { writers, transfer, .locked = true, .sized = true },
                       within = { writers, transfer, .locked = true, .parallel = true, .sized = true },
                       growing = { writers, transfer, .locked = true, .parallel = true },
                       plain = { writers, transfer, .sized = false },
                       plain_sized = { writers, transfer, .sized = true },
                       rounds = { writers, transfer, .locked = true, .parallel = true, .sized = true,
                                  .together = true };
    struct outcome probe;

    if (!run_job(c, &alone, PROBE_WRITES, &probe, error))
        return FALSE;
    c->probe_ns = MAX(probe.cycle_ns, 1);
    if (writers > 1)
        measure_meeting(c, writers, transfer);
    return measure(c, &alone, &c->alone, error) && measure(c, &longer, &c->longer, error) &&
           measure(c, &serial, &c->serial, error) && measure(c, &within, &c->within, error) &&
           measure(c, &growing, &c->growing, error) && measure(c, &plain, &c->free, error) &&
           measure(c, &plain_sized, &c->free_sized, error) &&
           (writers == 1 || measure(c, &rounds, &c->rounds, error));
}

/* --- the profile --- */

static void describe(GString *text, const char *what, const struct outcome *o)
{
    g_string_append_printf(text, "# %s: %.0f writes/s, %.1f MiB/s; a call %.2f us, a wait for the lock %.2f us", what,
                           SECOND_NS / o->cycle_ns, o->bytes_per_s / 1048576, o->write_ns / 1000, o->wait_ns / 1000);
    if (!isnan(o->retake_share))
        g_string_append_printf(text, "; had again at once %.1f %%", o->retake_share * 100);
    g_string_append_c(text, '\n');
}

/* `gap_ns` passes, under the exclusive lock, from the end of a write to the beginning of the next one. */
static void put_lock(GString *text, const struct calibration *c, double return_ns, double gap_ns)
{
    double share = c->serial.retake_share;

    g_string_append(text, "[lock]\n# From the end of a write to its writer's next one, and to somebody else's.\n");
    if (isnan(share) || share < FAIR_SHARE) {
        g_string_append_printf(text, "queue = fifo\nreturn = %.0fns\nwake = %.0fns\n", return_ns, gap_ns);
        return;
    }
    /* A sleeper's way is uniform from 0: it is longer than the way back as often as the lock was had again; else it is
     * half as long on average. With hz = 1 nobody claims the lock for having waited too long, as sleepers in kernels
     * do. */
    share = MIN(share, RETAKE_MOST);
    return_ns = MAX(gap_ns / (share + (1 - share) / 2), 1);
    g_string_append_printf(text, "queue = kernel\nhz = 1\nreturn = %.0fns\nwake = uniform(0ns, %.0fns)\n", return_ns,
                           return_ns / (1 - share));
}

/* The slowest of `writers` such writes is the greatest of as many draws. */
static void put_meeting(GString *text, const struct calibration *c, uint32_t writers)
{
    const struct outcome *alone = &c->alone;
    double slowest_ns = alone->cycle_ns + alone->write_ns * alone->jitter * (writers - 1) / (writers + 1);

    g_string_append_printf(text, "\n[collective]\n# All meet, and come to the server at once; meet once more; one gets "
                           "what all have.\nexchange = %.0fns\noperation = %.0fns\nshare = %.0fps/B\ncores = %ld\n",
                           MAX(c->rounds.cycle_ns * writers - slowest_ns, 0), c->meeting.operation_ns,
                           c->meeting.share_ns_per_byte * 1000, MAX(sysconf(_SC_NPROCESSORS_ONLN), 1));
}

static void put_profile(GString *text, const struct calibration *c, uint32_t writers, uint64_t transfer)
{
    const struct outcome *alone = &c->alone;
    double per_byte_ns = MAX((c->longer.write_ns - alone->write_ns) / ((double)(LONGER - 1) * (double)transfer), 0);
    double alone_rate = writers * (double)transfer / alone->cycle_ns * SECOND_NS;

    g_string_append(text, "[network]\n# All of it is in the times below.\nlocal-latency = 1ns\nhop-latency = 1ns\n\n");
    put_lock(text, c, MAX(round(alone->cycle_ns - alone->write_ns), 1),
             MAX(round(c->serial.cycle_ns - alone->write_ns), 1));
    g_string_append_printf(text, "\n[server]\n# %" G_GUINT64_FORMAT " bytes, and %d times as many.\nrequest = %.0fns + "
                           "%.0fps/B\njitter = %.0f%%\nmax-write = 1GiB\n", transfer, LONGER,
                           MAX(alone->write_ns - per_byte_ns * (double)transfer, 1), per_byte_ns * 1000,
                           alone->jitter * 100);
    if (writers > 1 && c->within.bytes_per_s < LIMITED_SHARE * alone_rate)
        g_string_append_printf(text, "bandwidth = %.0fB/s\n", MAX(c->within.bytes_per_s, 1));
    if (writers > 1)
        put_meeting(text, c, writers);
}

gboolean file_live_calibrate(const void *data, MPI_Comm comm, GString *text, GError **error)
{
    const struct file_scenario *s = data;
    const struct shared_file *f = &s->groups[0].file;
    const struct file_live *live = &s->groups[0].live;
    const char *folder = live->folder != NULL ? live->folder : "the present folder";
    g_autofree char *path = file_live_path(live, NULL, "calibrate");
    struct calibration c = { .comm = comm, .path = path, .windows = (enum mpiio_windows)live->windows };
    uint32_t writers = 1;

    for (unsigned i = 0; i < s->group_count; i++)
        writers = MAX(writers, s->groups[i].file.writers);
    if (f->pattern.transfer > JOB_BYTES_MOST / PROBE_WRITES)
        return error_refuse(error, "calibrate: [io.%s] transfer is %" G_GUINT64_FORMAT " bytes; expected at most %"
                            G_GUINT64_FORMAT, f->name, f->pattern.transfer, (uint64_t)JOB_BYTES_MOST / PROBE_WRITES);
    signals_watch();
    gboolean good = measure_all(&c, writers, f->pattern.transfer, error);
    signals_unwatch();
    if (!good)
        return FALSE;
    g_string_append_printf(text, "# Files in %s: writes of %" G_GUINT64_FORMAT " bytes by %u writers.\n", folder,
                           f->pattern.transfer, writers);
    describe(text, "one writer", &c.alone);
    describe(text, "exclusive", &c.serial);
    describe(text, "shared, within the file", &c.within);
    describe(text, "shared, extending it", &c.growing);
    describe(text, "no lock of ours, within the file", &c.free_sized);
    describe(text, "no lock of ours, extending it", &c.free);
    if (writers > 1)
        describe(text, "in rounds, within the file", &c.rounds);
    g_string_append_printf(text, "\n[deck]\nformat = 1\ntitle = files of %s\n\n", folder);
    put_profile(text, &c, writers, f->pattern.transfer);
    return TRUE;
}
