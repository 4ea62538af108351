/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of jobs on the live clock: really written, by the processes that play their slots (io/mpiio_session.h). */
#include <math.h>

#include "io/mpiio_session.h"
#include "ranks/mount.h"
#include "scenario_file.h"

#define SECOND_NS 1e9
#define MIB 1048576.0

struct job_file_live {
    bool locked;
    enum mpiio_windows windows;
    bool verify;
    bool keep;
    char **hints;
    const char *folder;             /* NULL: the run's */
    char *path;                     /* of the session */
    struct mpiio_session *session;  /* during a run */
    struct mpiio_figures figures;   /* of the last one, on process 0 */
};

static void check(const struct job_file *j, struct deck *deck, const char *group)
{
    const struct shared_file *f = &j->file;

    if (f->each)
        deck_complain(deck, group, "files", "'each' is not played on the live clock, where jobs write one file; "
                      "expected one");
    if (f->append)
        deck_complain(deck, group, "append", "is not played on the live clock: MPI-IO does not know it; expected "
                      "false");
    if (f->prepare == PREPARE_FILLED)
        deck_complain(deck, group, "pre-extend", "'fill' has nobody to do it where jobs write real files; expected "
                      "none or set-size");
    if (f->cached_users != 0)
        deck_complain(deck, group, "cached-users", "'%u' are not there on the live clock; expected 0", f->cached_users);
    if (f->pattern.transfer > MPIIO_WRITE_MOST_BYTES)
        deck_complain(deck, group, "transfer", "'%s' is more than a call can count; expected at most %d bytes on the "
                      "live clock", deck_text(deck, group, "transfer"), MPIIO_WRITE_MOST_BYTES);
    if (j->live->locked)
        file_live_check_rules(f, deck, group);
}

void job_file_live_init(struct job_file *j, struct deck *deck, const char *group)
{
    static const struct distribution nothing = { DISTRIBUTION_CONSTANT, 0, 0 };
    struct job_file_live *live = g_new0(struct job_file_live, 1);

    j->live = live;
    /* The way back into the kernel is a real one. */
    j->file.back = nothing;
    live->locked = deck_choice(deck, group, "lock", NULL) != 2;
    live->windows = (enum mpiio_windows)deck_choice(deck, group, "windows", NULL);
    live->verify = deck_boolean(deck, group, "verify");
    live->keep = deck_boolean(deck, group, "keep");
    live->folder = deck_has(deck, "server", "folder") ? deck_text(deck, "server", "folder") : NULL;
    live->hints = g_new0(char *, 1);
    file_live_read_hints(&live->hints, deck, group);
    check(j, deck, group);
}

void job_file_live_free(struct job_file_live *live)
{
    if (live == NULL)
        return;
    g_strfreev(live->hints);
    g_free(live->path);
    g_free(live);
}

gboolean job_file_begin(const struct job_file *j, MPI_Comm comm, const char *folder, bool *awake, GError **error)
{
    struct job_file_live *live = j->live;
    const struct shared_file *f = &j->file;

    if (live == NULL)
        return TRUE;
    g_autofree char *name = g_strdup_printf("%s.data", f->name);
    g_free(live->path);
    live->path = g_build_filename(live->folder != NULL ? live->folder : folder != NULL ? folder : ".", name, NULL);
    struct mpiio_job job = {
        .name = f->name, .path = live->path, .pattern = f->pattern, .locked = live->locked,
        .rules = { .rules = f->rules, .parallel = f->parallel }, .windows = live->windows,
        .prepare = f->prepare == PREPARE_SIZED ? MPIIO_PREPARE_SET_SIZE : MPIIO_PREPARE_NOTHING,
        .hints = live->hints, .verify = live->verify, .keep = live->keep
    };
    /* As long as all jobs may make it. */
    job.pattern.segments = f->file_bytes / (f->pattern.block * f->pattern.writers);
    live->session = mpiio_session_new(comm, &job, error);
    if (live->session == NULL)
        return FALSE;
    *awake = mpiio_session_serves(live->session);
    return TRUE;
}

gboolean job_file_write(const struct job_file *j, const void *request, size_t size, uint16_t *kind, uint64_t *word,
                        GError **error)
{
    struct cursor c = cursor_init(request, size);
    struct mount_request r = mount_request_read(&c);

    *kind = r.kind;
    *word = r.word;
    return mpiio_session_write(j->live->session, r.offset, r.length, error);
}

gboolean job_file_end(const struct job_file *j, bool good, GError **error)
{
    struct job_file_live *live = j->live;

    if (live == NULL || live->session == NULL)
        return TRUE;
    struct mpiio_session *session = live->session;
    live->session = NULL;
    return mpiio_session_free(session, good, &live->figures, error);
}

/* --- what came of it --- */

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

struct summary_file job_file_live_figures(const struct job_file *j, double span_s)
{
    const struct mpiio_figures *x = &j->live->figures;
    double writes = (double)x->writes;
    bool locked = j->live->locked;

    return (struct summary_file){
        .bytes = x->bytes, .writes = x->writes, .extending_writes = x->lock.extending,
        .exclusive_locks = x->lock.exclusive, .shared_locks = x->lock.shared, .lone_writes = x->lock.lone,
        .inflight_max = x->lock.inflight_most, .steals = x->lock.retakes,
        .lock_wait_s = locked ? ratio((double)x->lock.wait_ns / SECOND_NS, writes) : NAN,
        .prepared_s = 0, .ended_s = span_s, .bandwidth_bytes_per_s = ratio((double)x->bytes, span_s),
        .mib_per_s = ratio((double)x->bytes / MIB, span_s), .writes_per_s = ratio(writes, span_s),
        .extending_share = locked ? ratio((double)x->lock.extending, writes) : NAN,
        .exclusive_share = locked ? ratio((double)x->lock.exclusive, writes) : NAN, .gain = NAN
    };
}

void job_file_live_summarise(const struct job_file *j, struct summary *summary)
{
    static const char *const components[] = { "none", "ompio", "romio" }, *const windows[] = { "none", "shared",
                                                                                              "messages" };
    const struct mpiio_figures *x = &j->live->figures;
    struct summary_live_file file = {
        .verified_bytes = x->verified, .contested = x->lock.contested, .retakes = x->lock.retakes,
        .retake_share = ratio((double)x->lock.retakes, (double)x->lock.contested),
        .open_s = (double)x->opened_ns / SECOND_NS, .write_s = (double)(x->written_ns - x->opened_ns) / SECOND_NS,
        .close_s = NAN, .mean_write_s = ratio((double)x->write_ns / SECOND_NS, (double)x->writes),
        .held_up_s = (double)x->held_up_ns / SECOND_NS
    };

    summary_text(summary, "live", "io", components[x->component]);
    summary_text(summary, "live", "windows", windows[x->windows]);
    summary_live_file(summary, j->file.name, &file);
}

bool job_file_live_counts(const struct job_file *j, uint64_t *verified, uint64_t *locked, uint64_t *broken)
{
    const struct mpiio_figures *x = &j->live->figures;

    *verified = x->verified;
    *locked = j->live->locked ? x->writes : 0;
    *broken = x->lock.broken;
    return j->live->verify;
}
