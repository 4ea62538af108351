/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job manager, on node 0: the states of all jobs (flux-core 0.15 to 0.17, src/modules/job-manager).
 *
 * Queue. Jobs in state SCHED wait by rising (31 - urgency, submit time, id). One turn asks the scheduler for one job,
 * as long as the queue is started and fewer than instance.alloc_limit requests are outstanding.
 *
 * Event logs. The first event of a batch starts its window. At its end all entries are committed in one transaction;
 * when that is done, the job-state event with all transitions of the batch is published, even if there is none. Several
 * batches may be in flight. Requests to other modules do not wait for any of this. A failed commit ends the run.
 *
 * A job that turns inactive is told to whoever waits for it at once, and forgotten when that has happened.
 */
#ifndef TIERCEL_RANKS_JOB_MANAGER_H
#define TIERCEL_RANKS_JOB_MANAGER_H

#include "ranks/jobs.h"

/* The metrics of role "job-manager", by index in its table. */
enum job_manager_metric {
    JOB_MANAGER_RESULTS = 0,                            /* jobs that ended so, by enum job_result */
    JOB_MANAGER_SUBMITTED = JOB_MANAGER_RESULTS + JOB_RESULTS - 1,  /* jobs taken over; no count of unfinished ones */
    JOB_MANAGER_ALLOCS,                                 /* requests to the scheduler */
    JOB_MANAGER_COMMITS,                                /* transactions, each shared by the events of a batch */
    JOB_MANAGER_ENTRIES,                                /* event log entries in them */
    JOB_MANAGER_TRANSITIONS,                            /* told by job-state events */
    JOB_MANAGER_CORE_US,                                /* cores held x time from start to finish, in microseconds */
    JOB_MANAGER_WAITED,                                 /* ns from submit to start */
    JOB_MANAGER_SLOWDOWN,                               /* bounded slowdown in 1/1000 */
    JOB_MANAGER_STAGES,                                 /* by enum job_stage */
    JOB_MANAGER_METRICS = JOB_MANAGER_STAGES + JOB_STAGES
};

#endif
