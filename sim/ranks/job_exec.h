/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Job-exec, on node 0: takes a job from its resources to its end (flux-core 0.15 to 0.17, src/modules/job-exec).
 *
 * Start: R and jobspec are looked up and the guest namespace job-<id> is created, all at once. When it exists, "init"
 * is committed to its event log and a link to it to the primary namespace, both at once. When all of this is done,
 * "starting" is committed, not waited for, and one turn sends one remote launch of each job that has one to send.
 *
 * When the shell runs, the job manager is told "started"; when it has ended, "complete" is committed, not waited for,
 * the job manager is told "finished", and "cleanup.start", "cleanup.finish" and "done" are committed, each waited for.
 * Then the guest's root is looked up as a reference, committed to the primary namespace in place of the link, the guest
 * namespace is removed, and the resources are released. So a job's resources are held until its namespace is gone.
 *
 * With a window for log entries (instance.exec_batch_ns), as from December 2020: "starting" and what follows are
 * collected and committed together, when the window is over or with "done", which then comes with "complete" at once;
 * there is no "cleanup.start" and "cleanup.finish".
 *
 * A job that runs longer than its limit gets an exception and its shell a signal; so does the shell of a job that the
 * job manager ends. One that is ended before its launch is not launched, and cleaned up after all the same.
 */
#ifndef TIERCEL_RANKS_JOB_EXEC_H
#define TIERCEL_RANKS_JOB_EXEC_H

#include "engine/actor.h"

/* The metrics of role "job-exec", by index in its table. */
enum job_exec_metric {
    JOB_EXEC_STARTS,            /* jobs taken over */
    JOB_EXEC_GUEST_COMMITS,     /* to guest namespaces: six a job; with a window two, and the next */
    JOB_EXEC_WINDOWS,           /* of these, those that a window's end made */
    JOB_EXEC_LINKS,             /* commits of the link to a guest namespace: one a job */
    JOB_EXEC_COPIES,            /* commits of a guest's root in its place: one a job */
    JOB_EXEC_LAUNCHES,          /* remote launches sent */
    JOB_EXEC_TIMEOUTS,          /* jobs that ran into their limit */
    JOB_EXEC_RELEASES           /* jobs given back */
};

#endif
