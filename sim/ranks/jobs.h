/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job side of a brokered instance: what only client, ingest, job manager, scheduler, job-exec and executors need,
 * how a job ends, and the row that a finished job leaves in the trace.
 *
 * A job's path, each step a message (flux-core between 0.16 and 0.17, March 2020):
 *
 *     client -> ingest        checked by a co-process, named, committed in a batch with others
 *     ingest -> job manager   states DEPEND, SCHED; waits in the queue
 *     job manager -> scheduler   resources; the scheduler commits R, then answers: RUN
 *     job manager -> job-exec    guest namespace, its first commits, the link to it; then the remote launch
 *     job-exec -> executor       the shell: five commits that it waits for, and the task between them
 *     job-exec                   CLEANUP: last guest commits, guest namespace copied and removed, resources released
 *     job manager -> scheduler   free; then INACTIVE, and whoever waits for the job is told
 *
 * All functions are local and cannot fail.
 */
#ifndef TIERCEL_RANKS_JOBS_H
#define TIERCEL_RANKS_JOBS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "engine/actor.h"
#include "ranks/instance.h"
#include "sched/policy.h"
#include "workload/workload.h"

enum { JOB_USER = 1000 };       /* who owns the instance and all its jobs */
#define JOB_NEVER INT64_MIN     /* a time in a job's row that did not come */

/* How a job ended: exactly one of them. A job that is none of them when a run was told to stop is unfinished. */
enum job_result {
    JOB_COMPLETED,      /* the task ended by itself, with status 0 */
    JOB_FAILED,         /* with another status */
    JOB_KILLED,         /* ran into its time limit */
    JOB_CANCELLED,      /* withdrawn by its user */
    JOB_REJECTED,       /* refused by a validator, or needs more than one node or the pool has */
    JOB_UNFINISHED,
    JOB_RESULTS
};

/* Their names, by enum job_result, ended by NULL. */
extern const char *const job_result_names[];

enum jobs_watch {
    JOBS_WATCH_NONE,
    JOBS_WATCH_GUEST,       /* exec.eventlog in the job's guest namespace */
    JOBS_WATCH_LOG          /* the job's event log in the primary namespace */
};

/* instance.jobs: constant during a run, like the instance. */
struct instance_jobs {
    /* Makes the source of jobs. Called once a run, by the client's role; durations that are drawn use the client's
     * random stream 0 (actor_draw). `source` is the caller's. NULL and *error ends the run. */
    struct workload *(*open)(const void *source, struct actor *client, GError **error);
    const void *source;
    uint32_t namespaces;            /* that a client makes instead of jobs; 0: jobs */
    uint32_t fence;                 /* participants of a fence that writes to each of them; 0: none */
    uint32_t fence_user;            /* who sends its parts, and waits for it */
    enum jobs_watch watch;          /* what the client watches of each job from its submission on */
    uint32_t submit_window;         /* submissions that the client keeps outstanding; 0: all */

    struct policy_config policy;    /* the scheduler's; its machine is the instance */

    uint32_t validator_threshold;   /* jobs that the shortest queue holds when one more co-process is started */
    int64_t validator_idle_ns;      /* a co-process without work ends after this */

    unsigned table;                 /* the number of the trace's job table, for actor_record */
    unsigned watch_table;           /* of its table of watches, a row for each guest namespace that a watcher begins to
                                     * watch: job id u64, node u32 */
};

/* Defaults: fcfs, worst fit, no window, 32, 5 s, table 0, watch table 1. `open` stays NULL: the caller's. */
void instance_jobs_init(struct instance_jobs *jobs);

/* --- a job's row ---
 *
 * Times are virtual nanoseconds; JOB_NEVER for what did not happen. The stages of a job's path lie between them
 * (enum job_stage): they follow one another without a gap, so they add up to clean - submit. */
enum job_time {
    JOB_TIME_SUBMIT,        /* ingest took the submission */
    JOB_TIME_DEPEND,        /* the job manager has it; event "depend" */
    JOB_TIME_REQUEST,       /* the scheduler was asked for resources */
    JOB_TIME_ALLOC,         /* event "alloc" */
    JOB_TIME_EXEC,          /* job-exec took the start request */
    JOB_TIME_NAMESPACE,     /* the guest namespace exists */
    JOB_TIME_READY,         /* its first commits and lookups are done */
    JOB_TIME_LAUNCH,        /* the shell's process runs */
    JOB_TIME_SHELL_INIT,    /* "shell.init" is committed */
    JOB_TIME_SHELL_START,   /* "shell.start" is committed */
    JOB_TIME_START,         /* event "start" */
    JOB_TIME_TASK_END,      /* the task has ended */
    JOB_TIME_FINISH,        /* event "finish" */
    JOB_TIME_MOVE,          /* the guest namespace is copied and removed */
    JOB_TIME_RELEASE,       /* event "release" */
    JOB_TIME_FREE,          /* event "free" */
    JOB_TIME_CLEAN,         /* event "clean" */
    JOB_TIMES
};

/* What job-exec knows of them travels in its last answer: EXEC to TASK_END without START, then MOVE. */
enum { JOB_EXEC_TIMES = 8 };
extern const uint8_t job_exec_times[JOB_EXEC_TIMES];    /* enum job_time */

struct job_row {
    uint64_t id;
    uint32_t node;          /* where it ran; UINT32_MAX: nowhere */
    uint32_t cores;         /* that it held */
    uint8_t result;         /* enum job_result */
    uint8_t watched;        /* 1: the shell saw its input watch begin */
    int64_t times[JOB_TIMES];
};

/* Id as given, no place, every time JOB_NEVER. */
void job_row_init(struct job_row *row, uint64_t id);

/* As canonical bytes, column after column. */
void job_row_put(const struct job_row *row, struct bytes *sink);

/* The columns of that row in order, as plain data for whoever writes tables. */
enum job_column_type { JOB_COLUMN_U32, JOB_COLUMN_U64, JOB_COLUMN_I64, JOB_COLUMN_RESULT, JOB_COLUMN_U8 };

struct job_column {
    const char *name;       /* ended by NULL */
    const char *unit;
    const char *text;
    enum job_column_type type;  /* RESULT: one byte, an index into job_result_names */
};
extern const struct job_column job_columns[];

enum job_stage {
    JOB_STAGE_INGEST,       /* submit to depend */
    JOB_STAGE_QUEUE,        /* to request */
    JOB_STAGE_ALLOC,        /* to alloc */
    JOB_STAGE_NAMESPACE,    /* to namespace */
    JOB_STAGE_COMMITS,      /* to ready */
    JOB_STAGE_LAUNCH,       /* to launch */
    JOB_STAGE_SHELL,        /* to shell_start */
    JOB_STAGE_RUN,          /* to task_end (0 when the task ended before shell_start) */
    JOB_STAGE_FINISH,       /* to finish */
    JOB_STAGE_MOVE,         /* to move */
    JOB_STAGE_RELEASE,      /* to clean */
    JOB_STAGES
};

/* The length of a stage; false when the job did not pass it. */
bool job_stage_ns(const struct job_row *row, enum job_stage stage, int64_t *length_ns);

#endif
