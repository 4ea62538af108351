/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole brokered instances for tests: run a few jobs through one and look at what came out.
 *
 *     struct job_run run;
 *     job_run_init(&run);                         2 nodes of 2 cores, 4 jobs of no length
 *     run.jobs = 8; ...
 *     job_run_go(&run, MPI_COMM_WORLD);           collective; a failing run is in run.error
 *     job_run_total(&run, "job-manager", "completed")
 *     job_run_release(&run);
 */
#ifndef TIERCEL_TESTS_JOB_RUN_H
#define TIERCEL_TESTS_JOB_RUN_H

#include "engine/engine.h"
#include "ranks/jobs.h"
#include "ranks/roles.h"

enum { JOB_RUN_METRICS = 40, JOB_RUN_ROLES = 12 };

struct job_run {
    /* What to run. */
    struct instance inst;
    struct instance_jobs setup;
    uint64_t jobs;
    uint32_t nodes_per_job;         /* 0: anywhere */
    uint32_t slots;
    int64_t duration_ns;
    int64_t limit_ns;
    bool explicit_inbox;
    int64_t stop_after_ns;
    const struct role *client;      /* in place of the real one; NULL: the real one. It may not report figures */

    /* What came out; the same on every process of the communicator, but for the rows, which are on process 0. */
    char *error;                    /* NULL: it ran to its end */
    struct engine_result result;
    uint64_t totals[JOB_RUN_ROLES][JOB_RUN_METRICS];    /* counts; of samples their number */
    int64_t sums[JOB_RUN_ROLES][JOB_RUN_METRICS];       /* of samples */
    GArray *rows;                   /* struct job_row */
};

void job_run_init(struct job_run *run);
void job_run_release(struct job_run *run);

void job_run_go(struct job_run *run, MPI_Comm comm);

uint64_t job_run_total(const struct job_run *run, const char *role, const char *metric);
int64_t job_run_sum(const struct job_run *run, const char *role, const char *metric);

#endif
