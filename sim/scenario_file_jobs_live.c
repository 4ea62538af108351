/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of jobs on the live clock: really written, by the processes that play their slots (io/mpiio_session.h). */
#include <math.h>

#include "io/mpiio_session.h"
#include "ranks/mount.h"
#include "scenario_file.h"
#include "scenario_parts.h"

struct job_file_live {
    struct file_live options;
    char *path;                     /* of the session */
    struct mpiio_session *session;  /* during a run */
    struct mpiio_figures figures;   /* of the last one, on process 0 */
};

static void check(const struct shared_file *f, struct deck *deck, const char *group)
{
    if (f->each)
        deck_complain(deck, group, "files", "'each' is not played on the live clock, where jobs write one file; "
                      "expected one");
    if (f->prepare == PREPARE_FILLED)
        deck_complain(deck, group, "pre-extend", "'fill' has nobody to do it where jobs write real files; expected "
                      "none or set-size");
    if (f->pattern.transfer > MPIIO_WRITE_MOST_BYTES)
        deck_complain(deck, group, "transfer", "'%s' is more than a call can count; expected at most %d bytes on the "
                      "live clock", deck_text(deck, group, "transfer"), MPIIO_WRITE_MOST_BYTES);
}

void job_file_live_init(struct job_file *j, struct deck *deck, const char *group)
{
    static const struct distribution nothing = { DISTRIBUTION_CONSTANT, 0, 0 };

    j->live = g_new0(struct job_file_live, 1);
    /* The way back into the kernel is a real one. */
    j->file.back = nothing;
    file_live_read(&j->live->options, &j->file, deck, group);
    check(&j->file, deck, group);
}

void job_file_live_free(struct job_file_live *live)
{
    if (live == NULL)
        return;
    file_live_release(&live->options);
    g_free(live->path);
    g_free(live);
}

gboolean job_file_begin(const struct job_file *j, MPI_Comm comm, const char *folder, bool *awake, GError **error)
{
    struct job_file_live *live = j->live;
    const struct shared_file *f = &j->file;
    struct mpiio_job job;

    if (live == NULL)
        return TRUE;
    g_free(live->path);
    live->path = file_live_path(&live->options, folder, f->name);
    file_live_describe(&live->options, f, live->path, &job);
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

void job_file_live_summarise(const struct job_file *j, const struct scenario_run *run, struct summary *summary,
                             GArray *balances, double span_s)
{
    const struct file_live *options = &j->live->options;
    const struct mpiio_figures *figures = &j->live->figures;
    const struct file_live_span span = { 0, span_s, span_s };
    struct summary_file x = file_live_file(figures, options->locked, &span);
    struct summary_live_file times = file_live_times(figures);

    /* The file is open for as long as the run takes. */
    times.close_s = NAN;
    summary_file(summary, j->file.name, &x);
    file_summarise_all(summary, &x, span_s);
    file_live_tell(summary, figures, 1);
    summary_live_file(summary, j->file.name, &times);
    scenario_balance_add(balances, "locks", "writes under a lock", options->locked ? figures->writes : 0,
                         "exclusive and shared", x.exclusive_locks + x.shared_locks);
    scenario_balance_add(balances, "excluded", "locks held beside one that excludes them", figures->lock.broken,
                         "allowed", 0);
    if (options->verify && run->result->end == ENGINE_ENDED)
        scenario_balance_add(balances, "verified", "bytes written", x.bytes, "read back, and right", figures->verified);
}
