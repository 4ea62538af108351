/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client: submits a workload and waits for its jobs, as flux-core's bulksubmit benchmark does. One, on node 0.
 *
 * With instance.queue_stopped it stops the job manager's queue, submits all jobs (submit_window of them outstanding),
 * starts the queue when all are answered, and then waits for any job, one wait at a time, until none is left. Without,
 * it submits each job at its time and waits for any job as long as one is known and not yet waited for.
 *
 * Its samples have one value a run each: how long submission took, and from the start of the queue (without a stopped
 * queue: from the first submission) to the first and to the last job that it saw end.
 */
#ifndef TIERCEL_RANKS_CLIENT_H
#define TIERCEL_RANKS_CLIENT_H

#include "engine/actor.h"

/* The metrics of role "client", by index in its table. */
enum client_metric {
    CLIENT_SUBMITTED,       /* jobs submitted */
    CLIENT_REFUSED,         /* of these, refused at submission: rejected */
    CLIENT_ENDED,           /* ends that it was told of */
    CLIENT_SUBMIT_SPAN,     /* ns from the first submission to the last answer */
    CLIENT_FIRST_DONE,      /* ns */
    CLIENT_RUN_SPAN,        /* ns */
    CLIENT_WATCHES,         /* jobs watched */
    CLIENT_FOLLOW_SPAN,     /* ns from the first submission to the end of the last watch */
    CLIENT_MAKESPAN         /* ns from the first submission to the last job's end */
};

#endif
