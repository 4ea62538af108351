/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two files of the run loop share. Callers include run.h.
 *
 *     run.c            commands: the folder, attempt after attempt, and what is written and printed at the end
 *     run_attempt.c    one attempt: trace and engine on the processes that are left, and what the engine tells
 *
 *     good = run_attempt_begin(run, &error) && engine_run(run->engine, &result, &error) &&
 *            run_attempt_end_files(run, true, &error);
 *     ...
 *     run_attempt_close(run);                      also after a failure
 */
#ifndef TIERCEL_RUN_INTERNAL_H
#define TIERCEL_RUN_INTERNAL_H

#include "run.h"

#include <mpi.h>

#include "options.h"
#include "progress.h"
#include "scenario.h"
#include "service_times.h"
#include "steady.h"
#include "trace/gather.h"
#include "trace/trace.h"
#include "trace_roles.h"

struct run {
    const struct deck *deck;
    const struct scenario *scenario;
    const struct options *options;
    const char *command_line;
    char *folder;                       /* NULL: nothing is written */
    struct run_result *kept;            /* NULL: the result is reported; else it goes here, and nothing is printed */
    int64_t started_us;

    struct trace_roles roles;
    int milestone_role;                 /* -1: none */
    struct scenario_milestone milestone;

    /* One attempt: on all processes, or after a retreat on some. What it opens is NULL in between. */
    MPI_Comm comm;
    int process;
    int processes;
    struct gather *gather;
    struct trace *trace;
    struct service_times *times;        /* of the live clock, else NULL */
    struct steady *steady;              /* NULL where nothing counts what is done */
    struct engine *engine;
    GError *error;                      /* of a flush: the same on all processes */
    bool every_event;                   /* trace level */
    bool awake;                         /* this process must not sleep: it serves the lock of a file */
    bool begun;                         /* the scenario's files, of the live clock */
    bool stopped;                       /* this process wished for the end */
    bool unwritten;                     /* what failed was to write down what was played */
    struct progress progress;           /* lines of process 0 */
    int64_t reported_us;
    uint64_t reported;                  /* events at the last line */
    uint64_t milestones;                /* counted here */
};

/* Collective over run->comm, as all here; the deck, the scenario and the roles are there. FALSE with *error when the
 * trace cannot be made or the engine refuses what it is given: whatever was opened is closed by run_attempt_close. */
gboolean run_attempt_begin(struct run *run, GError **error);

/* Ends what the scenario has begun beside the engine: real files, on the live clock. `good`: all was played. */
gboolean run_attempt_end_files(struct run *run, bool good, GError **error);

void run_attempt_close(struct run *run);

#endif
