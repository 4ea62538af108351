/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/client.h"

#include "kvs/key.h"
#include "ranks/charge.h"
#include "ranks/jobs.h"
#include "ranks/protocol.h"
#include "ranks/roles.h"
#include "ranks/route.h"
#include "workload/jobspec.h"

enum client_state {
    CLIENT_STOPPING,        /* waits for the queue to stop */
    CLIENT_SUBMITTING,
    CLIENT_STARTING,        /* waits for the queue to start */
    CLIENT_WAITING,         /* all are submitted */
    CLIENT_FINISHED
};

struct client {
    uint8_t state;
    bool has_next;                  /* `next` is the workload's next job */
    bool next_due;                  /* a CLIENT_NEXT is on its way */
    bool waiting;                   /* a wait is outstanding */
    uint64_t submitted;
    uint64_t answered;
    uint64_t refused;
    uint64_t ended;
    uint64_t watched;               /* watches that have ended */
    int64_t first_submit_ns;
    int64_t start_ns;               /* of the queue */
    struct workload *workload;
    struct workload_job next;
    GString *text;                  /* of the next job, when the workload has none for it */
};

static void client_charge_reply(struct actor *self, size_t size)
{
    const struct instance *inst = actor_setup(self);
    role_charge(self, cost_ns(&inst->costs.client_reply, size, 0));
}

static void client_alloc_admin(struct actor *self, bool start)
{
    const struct instance *inst = actor_setup(self);
    struct bytes body = BYTES_INIT;
    bytes_put_u8(&body, start);
    route_send(self, instance_job_manager(inst), JOB_MANAGER_ALLOC_ADMIN, start, &body);
    bytes_release(&body);
}

static void client_read_next(struct actor *self, struct client *c)
{
    GError *error = NULL;
    c->has_next = workload_next(c->workload, &c->next, &error);
    if (error != NULL) {
        actor_fail(self, "%s", error->message);
        g_error_free(error);
    }
    /* A job of a log has no text of its own. */
    if (c->has_next && c->next.spec == NULL) {
        if (c->text != NULL)
            g_string_free(c->text, TRUE);
        c->text = jobspec_write(&c->next);
        c->next.spec = c->text->str;
        c->next.spec_size = c->text->len;
    }
}

/* Sees to it that the next submission happens as soon as it may. */
static void client_schedule(struct actor *self, struct client *c)
{
    const struct instance_jobs *jobs = ((const struct instance *)actor_setup(self))->jobs;
    uint64_t outstanding = c->submitted - c->answered;
    if (c->state != CLIENT_SUBMITTING || !c->has_next || c->next_due ||
        (jobs->submit_window != 0 && outstanding >= jobs->submit_window))
        return;
    c->next_due = true;
    int64_t delay = c->next.submit_ns - actor_now(self);
    actor_timer(self, MAX(delay, 1), CLIENT_NEXT, 0);
}

static void client_submit(struct actor *self, struct client *c)
{
    const struct instance *inst = actor_setup(self);
    if (c->submitted == 0)
        c->first_submit_ns = actor_now(self);
    role_charge(self, cost_ns(&inst->costs.client_submit, c->next.spec_size, 0));
    struct bytes body = BYTES_INIT;
    bytes_put_u8(&body, (uint8_t)MIN(c->next.priority, 31));
    bytes_put_span(&body, c->next.spec, c->next.spec_size);
    route_send(self, instance_ingest(inst, actor_node(self)), INGEST_SUBMIT, c->submitted, &body);
    bytes_release(&body);
    c->submitted++;
    actor_count(self, CLIENT_SUBMITTED, 1);
    client_read_next(self, c);
}

static void client_finish(struct actor *self, struct client *c)
{
    c->state = CLIENT_FINISHED;
    if (c->ended > 0) {
        actor_sample(self, CLIENT_RUN_SPAN, actor_now(self) - c->start_ns);
        actor_sample(self, CLIENT_MAKESPAN, actor_now(self) - c->first_submit_ns);
    }
}

/* One wait at a time, while there is a job to wait for. */
static void client_wait(struct actor *self, struct client *c)
{
    const struct instance *inst = actor_setup(self);
    bool may_wait = c->state == CLIENT_WAITING || (c->state == CLIENT_SUBMITTING && !inst->queue_stopped);
    uint64_t accepted = c->answered - c->refused;
    if (!may_wait || c->waiting)
        return;
    if (c->ended < accepted) {
        c->waiting = true;
        struct bytes body = BYTES_INIT;
        bytes_put_u64(&body, 0);
        route_send(self, instance_job_manager(inst), JOB_MANAGER_WAIT, c->ended, &body);
        bytes_release(&body);
    } else if (c->state == CLIENT_WAITING) {
        client_finish(self, c);
    }
}

/* After each answer, and at the start when there is nothing to submit. */
static void client_check_submitted(struct actor *self, struct client *c)
{
    const struct instance *inst = actor_setup(self);
    if (c->state == CLIENT_SUBMITTING && !c->has_next && c->answered == c->submitted) {
        if (c->submitted > 0)
            actor_sample(self, CLIENT_SUBMIT_SPAN, actor_now(self) - c->first_submit_ns);
        c->state = inst->queue_stopped ? CLIENT_STARTING : CLIENT_WAITING;
        if (inst->queue_stopped) {
            c->start_ns = actor_now(self);
            client_alloc_admin(self, true);
        }
    }
    client_wait(self, c);
}

static void client_init(struct actor *self, const void *setup)
{
    const struct instance *inst = setup;
    struct client *c = actor_state(self);
    GError *error = NULL;
    c->workload = inst->jobs->open(inst->jobs->source, self, &error);
    if (c->workload == NULL) {
        actor_fail(self, "%s", error->message);
        g_error_free(error);
        return;
    }
    client_read_next(self, c);
    if (inst->queue_stopped) {
        c->state = CLIENT_STOPPING;
        client_alloc_admin(self, false);
    } else {
        c->state = CLIENT_SUBMITTING;
        client_schedule(self, c);
        client_check_submitted(self, c);
    }
}

/* Ends with the job's namespace, or with its event log; what it tells is of no consequence here. */
static void client_watch(struct actor *self, uint64_t job, uint64_t tag)
{
    const struct instance *inst = actor_setup(self);
    struct bytes body = BYTES_INIT;
    bytes_put_u64(&body, job);
    key_put_text(&body, inst->jobs->watch == JOBS_WATCH_GUEST ? "exec.eventlog" : "eventlog");
    route_send(self, instance_job_info(inst, actor_node(self)), JOB_INFO_WATCH, tag, &body);
    bytes_release(&body);
    actor_count(self, CLIENT_WATCHES, 1);
}

static void client_handle_watched(struct actor *self, struct client *c, const struct envelope *env)
{
    if (env->error == 0)
        return;
    c->watched++;
    if (!c->has_next && c->answered == c->submitted && c->watched == c->answered - c->refused)
        actor_sample(self, CLIENT_FOLLOW_SPAN, actor_now(self) - c->first_submit_ns);
}

static void client_handle_submitted(struct actor *self, struct client *c, const struct envelope *env,
                                    struct cursor *body)
{
    const struct instance *inst = actor_setup(self);
    c->answered++;
    if (env->error == 0 && inst->jobs->watch != JOBS_WATCH_NONE)
        client_watch(self, cursor_u64(body), env->tag);
    if (env->error != 0) {
        c->refused++;
        actor_count(self, CLIENT_REFUSED, 1);
    }
    client_schedule(self, c);
    client_check_submitted(self, c);
}

static void client_handle_admin(struct actor *self, struct client *c)
{
    if (c->state == CLIENT_STOPPING) {
        c->state = CLIENT_SUBMITTING;
        client_schedule(self, c);
        client_check_submitted(self, c);
    } else {
        c->state = CLIENT_WAITING;
        client_wait(self, c);
    }
}

static void client_handle_ended(struct actor *self, struct client *c, const struct envelope *env)
{
    if (env->error != 0) {
        actor_fail(self, "a wait for any job failed with errno %u though jobs are left", env->error);
        return;
    }
    const struct instance *inst = actor_setup(self);
    c->waiting = false;
    c->ended++;
    actor_count(self, CLIENT_ENDED, 1);
    if (!inst->queue_stopped)
        c->start_ns = c->first_submit_ns;
    if (c->ended == 1)
        actor_sample(self, CLIENT_FIRST_DONE, actor_now(self) - c->start_ns);
    client_wait(self, c);
}

static void client_handle(struct actor *self, const struct message *m)
{
    struct client *c = actor_state(self);
    if (m->kind == CLIENT_NEXT) {
        c->next_due = false;
        client_submit(self, c);
        client_schedule(self, c);
        return;
    }
    struct envelope env;
    struct cursor body = route_open(self, m, &env);
    client_charge_reply(self, m->payload->size);
    switch (m->kind) {
    case INGEST_SUBMIT | KIND_REPLY:
        client_handle_submitted(self, c, &env, &body);
        break;
    case JOB_INFO_WATCH | KIND_REPLY:
        client_handle_watched(self, c, &env);
        break;
    case JOB_MANAGER_ALLOC_ADMIN | KIND_REPLY:
        client_handle_admin(self, c);
        break;
    case JOB_MANAGER_WAIT | KIND_REPLY:
        client_handle_ended(self, c, &env);
        break;
    default:
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    }
}

static void client_save(const struct actor *self, struct bytes *sink)
{
    const struct client *c = actor_state(self);
    bytes_put_u8(sink, c->state);
    bytes_put_u8(sink, c->has_next);
    bytes_put_u8(sink, c->next_due);
    bytes_put_u8(sink, c->waiting);
    bytes_put_u64(sink, c->submitted);
    bytes_put_u64(sink, c->answered);
    bytes_put_u64(sink, c->refused);
    bytes_put_u64(sink, c->ended);
    bytes_put_u64(sink, c->watched);
    bytes_put_i64(sink, c->first_submit_ns);
    bytes_put_i64(sink, c->start_ns);
}

static void client_release(struct actor *self)
{
    struct client *c = actor_state(self);
    if (c->workload != NULL)
        workload_free(c->workload);
    if (c->text != NULL)
        g_string_free(c->text, TRUE);
}

static const struct kind_name client_kinds[] = {
    { CLIENT_NEXT, "next", "timer: the next submission" },
    { 0, NULL, NULL }
};

static const struct metric client_metrics[] = {
    [CLIENT_SUBMITTED] = { "submitted", "1", "jobs submitted", METRIC_SERIES },
    [CLIENT_REFUSED] = { "refused", "1", "submissions that were refused", METRIC_COUNTER },
    [CLIENT_ENDED] = { "ended", "1", "jobs whose end the client was told of", METRIC_SERIES },
    [CLIENT_SUBMIT_SPAN] = { "submit_span", "ns", "from the first submission to the last answer", METRIC_SAMPLE },
    [CLIENT_FIRST_DONE] = { "first_done", "ns", "from the start of the queue to the first job's end", METRIC_SAMPLE },
    [CLIENT_RUN_SPAN] = { "run_span", "ns", "from the start of the queue to the last job's end", METRIC_SAMPLE },
    [CLIENT_WATCHES] = { "watches", "1", "jobs watched", METRIC_COUNTER },
    [CLIENT_FOLLOW_SPAN] = { "follow_span", "ns", "from the first submission to the end of the last watch",
                             METRIC_SAMPLE },
    [CLIENT_MAKESPAN] = { "makespan", "ns", "from the first submission to the last job's end", METRIC_SAMPLE },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_client = {
    .name = "client",
    .text = "submits the workload and waits for its jobs",
    .state_size = sizeof(struct client),
    .streams = INSTANCE_STREAMS,
    .kinds = client_kinds,
    .metrics = client_metrics,
    .init = client_init,
    .handle = client_handle,
    .save = client_save,
    .release = client_release,
};
