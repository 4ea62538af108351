/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job manager's event logs and job-state events, in batches.
 *
 *     job_events_post(self, &jm->events, id, "alloc", context);       an entry of the job's event log
 *     job_events_move(self, &jm->events, id, JOB_RUN);                a transition of the job-state event
 *     on JOB_MANAGER_BATCH:                       job_events_commit(self, &jm->events);
 *     on the answer to KVS_COMMIT:                job_events_publish(self, &jm->events, &env);
 *
 * The first entry or transition opens a batch and starts its window, instance.event_batch_ns, which is not extended. At
 * its end all entries are committed to the primary namespace in one transaction; when that is done, the job-state event
 * with all transitions is published, even if there is none. Several batches may be in flight. A commit that fails ends
 * the run. Only the job manager's role may use this: it reports its metrics.
 */
#ifndef TIERCEL_RANKS_JOB_EVENTS_H
#define TIERCEL_RANKS_JOB_EVENTS_H

#include <glib.h>

#include "engine/actor.h"
#include "ranks/event_batch.h"
#include "ranks/route.h"

struct job_events {
    struct event_batch *open;   /* NULL: none; its timer runs */
    GQueue in_flight;           /* of struct event_batch, by rising serial */
    uint64_t batches;           /* opened */
};

void job_events_init(struct job_events *e);
void job_events_release(struct job_events *e);

/* `context` as of job_text_event. Charges for the event, and stamps it with the time after that. */
void job_events_post(struct actor *self, struct job_events *e, uint64_t id, const char *name, const char *context);
void job_events_move(struct actor *self, struct job_events *e, uint64_t id, enum job_state state);

void job_events_commit(struct actor *self, struct job_events *e);
void job_events_publish(struct actor *self, struct job_events *e, const struct envelope *env);

void job_events_save(const struct job_events *e, struct bytes *sink);

#endif
