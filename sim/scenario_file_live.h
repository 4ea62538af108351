/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all files have in common that are really written, those of kind = io (scenario_file_live.c) and those of jobs
 * (scenario_file_jobs_live.c): what a group [io.NAME] says for the live clock alone, and what came of it.
 *
 *     file_live_read(&live, &file, deck, group);           from the deck; complains of what cannot be played
 *     file_live_describe(&live, &file, path, &job);        to the back end (io/mpiio.h)
 *     ... the run; its figures, or in a role's metrics: file_live_put, and file_live_collect ...
 *     x = file_live_file(&figures, &span);
 */
#ifndef TIERCEL_SCENARIO_FILE_LIVE_H
#define TIERCEL_SCENARIO_FILE_LIVE_H

#include <stdbool.h>

#include "deck.h"
#include "ranks/shared_file.h"
#include "trace/collector.h"
#include "trace/summary.h"

struct mpiio_figures;
struct mpiio_job;

struct file_live {
    bool locked;                    /* by a lock of our own */
    unsigned windows;               /* enum mpiio_windows */
    bool verify;
    bool keep;
    char **hints;                   /* key, value, ..., NULL */
    const char *folder;             /* of the files; NULL: the run's */
};

/* `f` has been read before. The caller releases it with file_live_release, whatever was complained of. */
void file_live_read(struct file_live *live, const struct shared_file *f, struct deck *deck, const char *group);
void file_live_release(struct file_live *live);

/* Where the file stands: free with g_free. `folder` is the run's, or NULL. */
char *file_live_path(const struct file_live *live, const char *folder, const char *name);

/* All but the rows. What is handed in must outlive the job. */
void file_live_describe(const struct file_live *live, const struct shared_file *f, const char *path,
                        struct mpiio_job *job);

/* --- what came of it --- */

/* The metrics of role "program" in canonical bytes (ranks/file_program.h), and back from what was collected of them,
 * but for what is in no metric. Moments that nobody reported are below 0. */
void file_live_put(struct bytes *out, const struct mpiio_figures *x);
void file_live_collect(const struct collector *figures, const char *role, struct mpiio_figures *x);

/* The time that rates are over. */
struct file_live_span {
    double prepared_s;              /* when data began to be written */
    double ended_s;                 /* that the bandwidth is over */
    double writing_s;               /* that the writes a second are over */
};

/* Counts that only a lock of our own can know are 0 without one, shares and waits NAN. */
struct summary_file file_live_file(const struct mpiio_figures *x, bool locked, const struct file_live_span *span);
struct summary_live_file file_live_times(const struct mpiio_figures *x);

/* Who wrote these files, and what locked them: the group live of the summary. */
void file_live_tell(struct summary *summary, const struct mpiio_figures *files, unsigned count);

#endif
