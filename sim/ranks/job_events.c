/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/job_events.h"

#include "kvs/key.h"
#include "ranks/charge.h"
#include "ranks/job_manager.h"
#include "ranks/job_text.h"
#include "ranks/kvs_request.h"
#include "ranks/protocol.h"

void job_events_init(struct job_events *e)
{
    *e = (struct job_events){ .open = NULL };
    g_queue_init(&e->in_flight);
}

void job_events_release(struct job_events *e)
{
    g_queue_clear_full(&e->in_flight, (GDestroyNotify)event_batch_free);
    if (e->open != NULL)
        event_batch_free(e->open);
}

static struct event_batch *batch_open(struct actor *self, struct job_events *e)
{
    const struct instance *inst = actor_setup(self);
    if (e->open == NULL) {
        e->open = event_batch_new(e->batches++);
        actor_timer(self, inst->event_batch_ns, JOB_MANAGER_BATCH, e->open->serial);
    }
    return e->open;
}

void job_events_move(struct actor *self, struct job_events *e, uint64_t id, enum job_state state)
{
    event_batch_transition(batch_open(self, e), id, state);
}

void job_events_post(struct actor *self, struct job_events *e, uint64_t id, const char *name, const char *context)
{
    const struct instance *inst = actor_setup(self);
    role_charge(self, cost_ns(&inst->costs.job_manager_event, 0, 0));
    GString *line = g_string_new(NULL);
    job_text_event(line, inst->epoch_ns + actor_now(self), name, context);
    event_batch_append(batch_open(self, e), id, line->str, line->len);
    g_string_free(line, TRUE);
}

void job_events_commit(struct actor *self, struct job_events *e)
{
    const struct instance *inst = actor_setup(self);
    struct event_batch *b = e->open;
    e->open = NULL;
    g_queue_push_tail(&e->in_flight, b);
    role_charge(self, cost_ns(&inst->costs.job_manager_batch, 0, b->entries));
    actor_count(self, JOB_MANAGER_COMMITS, 1);
    actor_count(self, JOB_MANAGER_ENTRIES, b->entries);
    actor_count(self, JOB_MANAGER_TRANSITIONS, b->transition_count);
    kvs_request_commit(self, NAMESPACES_PRIMARY, b->serial, event_batch_take(b));
}

static struct event_batch *batch_take(struct job_events *e, uint64_t serial)
{
    for (GList *item = e->in_flight.head; item != NULL; item = item->next) {
        struct event_batch *b = item->data;
        if (b->serial == serial) {
            g_queue_delete_link(&e->in_flight, item);
            return b;
        }
    }
    return NULL;
}

void job_events_publish(struct actor *self, struct job_events *e, const struct envelope *env)
{
    const struct instance *inst = actor_setup(self);
    struct event_batch *b = batch_take(e, env->tag);
    if (env->error != 0 || b == NULL) {
        actor_fail(self, "committing a batch of job events failed with errno %u", env->error);
        return;
    }
    if (inst->job_info_news == NEWS_NONE) {
        event_batch_free(b);
        return;
    }
    struct bytes transitions = BYTES_INIT, body = BYTES_INIT;
    event_batch_put_transitions(b, &transitions);
    bytes_put_u8(&body, EVENT_JOB_STATE);
    key_put_text(&body, "job-state");
    bytes_put_span(&body, transitions.data, transitions.size);
    role_charge(self, cost_ns(&inst->costs.job_manager_batch, 0, b->transition_count));
    route_send(self, instance_broker(inst, 0), BROKER_PUBLISH_REQUEST, b->serial, &body);
    bytes_release(&transitions);
    bytes_release(&body);
    event_batch_free(b);
}

void job_events_save(const struct job_events *e, struct bytes *sink)
{
    bytes_put_u8(sink, e->open != NULL);
    if (e->open != NULL)
        event_batch_save(e->open, sink);
    bytes_put_u32(sink, e->in_flight.length);
    for (const GList *item = e->in_flight.head; item != NULL; item = item->next)
        event_batch_save(item->data, sink);
    bytes_put_u64(sink, e->batches);
}
