/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who waits for the end of a job, and which ends nobody has waited for yet. A wait is for one job or for any; an end is
 * told to one waiter, the first that it fits.
 *
 *     struct job_end end;
 *     if (job_waits_ask(w, &env, id, &end))           an end that fits was kept: tell it now
 *         ...
 *     else the wait is kept
 *     ...
 *     if (job_waits_tell(w, &end, &env))              a job ended and somebody waits: tell him now
 *         ...
 *     else the end is kept
 *
 * All functions are local.
 */
#ifndef TIERCEL_RANKS_JOB_WAITS_H
#define TIERCEL_RANKS_JOB_WAITS_H

#include <glib.h>

#include "base/bytes.h"
#include "ranks/route.h"

struct job_end {
    uint64_t id;
    uint32_t status;            /* wait status */
    bool success;
};

struct job_waits {
    GQueue ends;                /* of struct job_end, in order; not waited for yet */
    GQueue waiters;             /* of struct job_waiter, in order */
};

void job_waits_init(struct job_waits *w);
void job_waits_release(struct job_waits *w);

/* `id` 0: any job. */
bool job_waits_ask(struct job_waits *w, const struct envelope *env, uint64_t id, struct job_end *end);
bool job_waits_tell(struct job_waits *w, const struct job_end *end, struct envelope *env);

/* Whether an end is kept that fits: of job `id`, or with 0 of any. */
bool job_waits_knows(const struct job_waits *w, uint64_t id);

/* How many wait. */
static inline unsigned job_waits_length(const struct job_waits *w)
{
    return w->waiters.length;
}

void job_waits_save(const struct job_waits *w, struct bytes *sink);

#endif
