/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ingest: takes submissions, one on every node (flux-core 0.15 to 0.17, src/modules/job-ingest).
 *
 * A submission is checked by a co-process (ranks/validators.h), gets its job id (kvs/jobid.h; the 1025th of a
 * millisecond waits for the next one), and joins the batch. The first job of a batch starts its window, which is not
 * extended. At its end: one commit to the primary namespace, three operations a job (J, jobspec, event log with
 * "submit"); when that is done one request to the job manager for the whole batch; when that is answered, all answers.
 * Meanwhile further batches may follow.
 */
#ifndef TIERCEL_RANKS_INGEST_H
#define TIERCEL_RANKS_INGEST_H

#include "engine/actor.h"

/* The metrics of role "ingest", by index in its table. */
enum ingest_metric {
    INGEST_SUBMISSIONS,     /* taken */
    INGEST_REFUSED,         /* of these, by a validator */
    INGEST_BATCHES,         /* sent to the job manager */
    INGEST_COMMITS,         /* transactions, shared by the jobs of a batch */
    INGEST_ID_WAITS         /* jobs that waited for a millisecond with a free id */
};

#endif
