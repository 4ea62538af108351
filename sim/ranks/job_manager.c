/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/job_manager.h"

#include <errno.h>

#include "kvs/key.h"
#include "ranks/charge.h"
#include "ranks/job_events.h"
#include "ranks/job_waits.h"
#include "ranks/protocol.h"
#include "ranks/roles.h"
#include "ranks/route.h"

struct managed_job {
    uint64_t id;
    uint8_t state;              /* enum job_state */
    uint8_t urgency;
    uint8_t exception;          /* enum job_result that an exception leads to; JOB_COMPLETED: none */
    uint32_t user;
    uint32_t status;            /* wait status */
    struct bytes jobspec, resources;    /* to be passed on; empty when they are not */
    struct job_row row;
};

struct job_manager {
    GHashTable *jobs;           /* struct managed_job by id: all that are not inactive */
    GTree *queue;               /* struct managed_job in state SCHED, not yet asked for */
    struct job_waits waits;
    struct job_events events;
    uint32_t outstanding;       /* requests to the scheduler */
    bool stopped;
};

static void managed_job_free(gpointer data)
{
    struct managed_job *job = data;
    bytes_release(&job->jobspec);
    bytes_release(&job->resources);
    g_free(job);
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static gint queue_compare(gconstpointer first, gconstpointer second, gpointer unused)
{
    (void)unused;
    const struct managed_job *a = first, *b = second;
    if (a->urgency != b->urgency)
        return a->urgency > b->urgency ? -1 : 1;
    int64_t submit_a = a->row.times[JOB_TIME_SUBMIT], submit_b = b->row.times[JOB_TIME_SUBMIT];
    if (submit_a != submit_b)
        return submit_a < submit_b ? -1 : 1;
    return compare_u64(a->id, b->id);
}

static void job_manager_init(struct actor *self, const void *setup)
{
    (void)setup;
    struct job_manager *jm = actor_state(self);
    jm->jobs = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, managed_job_free);
    jm->queue = g_tree_new_full(queue_compare, NULL, NULL, NULL);
    job_waits_init(&jm->waits);
    job_events_init(&jm->events);
}

static struct managed_job *job_find(struct actor *self, struct job_manager *jm, uint64_t id)
{
    struct managed_job *job = g_hash_table_lookup(jm->jobs, &id);
    if (job == NULL)
        actor_fail(self, "a message about job %" G_GUINT64_FORMAT ", which is not active", id);
    return job;
}

/* --- events --- */

static void job_move(struct actor *self, struct job_manager *jm, struct managed_job *job, enum job_state state)
{
    job->state = (uint8_t)state;
    job_events_move(self, &jm->events, job->id, state);
}

static void job_post(struct actor *self, struct job_manager *jm, const struct managed_job *job, const char *name,
                     const char *context)
{
    job_events_post(self, &jm->events, job->id, name, context);
}

/* --- the end of a job --- */

static void job_tell(struct actor *self, const struct envelope *env, const struct job_end *end)
{
    struct bytes body = BYTES_INIT;
    bytes_put_u64(&body, end->id);
    bytes_put_u8(&body, end->success);
    bytes_put_u32(&body, end->status);
    route_reply(self, env, JOB_MANAGER_WAIT, 0, &body);
    bytes_release(&body);
}

static void job_report(struct actor *self, const struct managed_job *job)
{
    const struct instance *inst = actor_setup(self);
    const struct job_row *row = &job->row;
    actor_count(self, JOB_MANAGER_RESULTS + row->result, 1);
    int64_t length;
    for (unsigned stage = 0; stage < JOB_STAGES; stage++)
        if (job_stage_ns(row, stage, &length))
            actor_sample(self, JOB_MANAGER_STAGES + stage, length);
    int64_t start = row->times[JOB_TIME_START], finish = row->times[JOB_TIME_FINISH];
    if (start != JOB_NEVER && finish != JOB_NEVER) {
        int64_t wait = start - row->times[JOB_TIME_SUBMIT], run = finish - start;
        /* the usual bound: short jobs count as 10 s */
        __int128 slowdown = (__int128)1000 * (wait + run) / MAX(run, 10 * INT64_C(1000000000));
        actor_sample(self, JOB_MANAGER_WAITED, wait);
        actor_sample(self, JOB_MANAGER_SLOWDOWN, (int64_t)MAX(slowdown, 1000));
        actor_count(self, JOB_MANAGER_CORE_US, (uint64_t)(run / 1000) * row->cores);
    }
    struct bytes bytes = BYTES_INIT;
    job_row_put(row, &bytes);
    actor_record(self, inst->jobs->table, bytes.data, bytes.size);
    bytes_release(&bytes);
}

static void job_end(struct actor *self, struct job_manager *jm, struct managed_job *job)
{
    job_post(self, jm, job, "clean", NULL);
    job->row.times[JOB_TIME_CLEAN] = actor_now(self);
    job_move(self, jm, job, JOB_INACTIVE);
    if (job->exception != JOB_COMPLETED)
        job->row.result = job->exception;
    else
        job->row.result = job->status == 0 ? JOB_COMPLETED : JOB_FAILED;
    struct job_end end = { job->id, job->status, job->row.result == JOB_COMPLETED };
    struct envelope env;
    if (job_waits_tell(&jm->waits, &end, &env))
        job_tell(self, &env, &end);
    job_report(self, job);
    g_hash_table_remove(jm->jobs, &job->id);
}

/* --- requests --- */

static void job_handle_submit(struct actor *self, struct job_manager *jm, const struct envelope *env, struct cursor c)
{
    const struct instance *inst = actor_setup(self);
    uint32_t count = cursor_u32(&c);
    for (uint32_t i = 0; i < count && cursor_ok(&c); i++) {
        uint64_t id = cursor_u64(&c);
        uint8_t urgency = cursor_u8(&c);
        uint32_t user = cursor_u32(&c);
        int64_t submit_ns = cursor_i64(&c);
        size_t size = 0;
        const char *jobspec = inst->passes != PASSES_NOTHING ? cursor_span(&c, &size) : NULL;
        if (!cursor_ok(&c) || g_hash_table_contains(jm->jobs, &id))
            break;
        struct managed_job *job = g_new0(struct managed_job, 1);
        job->id = id;
        job->urgency = urgency;
        job->user = user;
        job->exception = JOB_COMPLETED;
        bytes_put(&job->jobspec, jobspec, size);
        job_row_init(&job->row, id);
        job->row.times[JOB_TIME_SUBMIT] = submit_ns;
        g_hash_table_insert(jm->jobs, &job->id, job);
        actor_count(self, JOB_MANAGER_SUBMITTED, 1);
        role_charge(self, inst->costs.job_manager_request.per_entry_ns);
        job_move(self, jm, job, JOB_DEPEND);        /* ingest has committed the event "submit" */
        job_post(self, jm, job, "depend", NULL);
        job->row.times[JOB_TIME_DEPEND] = actor_now(self);
        job_move(self, jm, job, JOB_SCHED);
        g_tree_insert(jm->queue, job, job);
    }
    if (!cursor_done(&c))
        actor_fail(self, "a batch of jobs from actor %u is malformed or names an active job", env->origin);
    route_reply(self, env, JOB_MANAGER_SUBMIT, 0, NULL);
}

static void job_handle_wait(struct actor *self, struct job_manager *jm, const struct envelope *env, struct cursor c)
{
    uint64_t id = cursor_u64(&c);
    bool active = id == 0 ? g_hash_table_size(jm->jobs) > job_waits_length(&jm->waits)
                          : g_hash_table_contains(jm->jobs, &id);
    struct job_end end;
    if (!active && !job_waits_knows(&jm->waits, id))
        route_reply(self, env, JOB_MANAGER_WAIT, ECHILD, NULL);
    else if (job_waits_ask(&jm->waits, env, id, &end))
        job_tell(self, env, &end);
}

/* --- the scheduler --- */

static bool job_manager_turn_ready(const struct actor *self)
{
    const struct instance *inst = actor_setup(self);
    const struct job_manager *jm = actor_state(self);
    return !jm->stopped && jm->outstanding < inst->alloc_limit && g_tree_nnodes(jm->queue) > 0;
}

static void job_manager_turn(struct actor *self)
{
    const struct instance *inst = actor_setup(self);
    struct job_manager *jm = actor_state(self);
    if (!job_manager_turn_ready(self))
        return;
    struct managed_job *job = g_tree_node_key(g_tree_node_first(jm->queue));
    g_tree_remove(jm->queue, job);
    jm->outstanding++;
    role_charge(self, cost_ns(&inst->costs.job_manager_alloc, 0, 0));
    actor_count(self, JOB_MANAGER_ALLOCS, 1);
    job->row.times[JOB_TIME_REQUEST] = actor_now(self);
    struct bytes body = BYTES_INIT;
    bytes_put_u64(&body, job->id);
    bytes_put_u8(&body, job->urgency);
    bytes_put_u32(&body, job->user);
    bytes_put_i64(&body, job->row.times[JOB_TIME_SUBMIT]);
    if (inst->passes != PASSES_NOTHING)
        bytes_put_span(&body, job->jobspec.data, job->jobspec.size);
    route_send(self, instance_scheduler(inst), SCHEDULER_ALLOC, job->id, &body);
    bytes_release(&body);
}

static void job_free_resources(struct actor *self, const struct managed_job *job)
{
    const struct instance *inst = actor_setup(self);
    struct bytes body = BYTES_INIT;
    bytes_put_u64(&body, job->id);
    if (inst->passes == PASSES_ALL)
        bytes_put_span(&body, job->resources.data, job->resources.size);
    route_send(self, instance_scheduler(inst), SCHEDULER_FREE, job->id, &body);
    bytes_release(&body);
}

/* A message that names the job and nothing else. */
static void job_send(struct actor *self, const struct managed_job *job, uint32_t to, uint16_t kind)
{
    struct bytes body = BYTES_INIT;
    bytes_put_u64(&body, job->id);
    route_send(self, to, kind, job->id, &body);
    bytes_release(&body);
}

static void job_start(struct actor *self, const struct managed_job *job)
{
    const struct instance *inst = actor_setup(self);
    struct bytes body = BYTES_INIT;
    bytes_put_u64(&body, job->id);
    bytes_put_u32(&body, job->user);
    if (inst->passes != PASSES_NOTHING)
        bytes_put_span(&body, job->jobspec.data, job->jobspec.size);
    if (inst->passes == PASSES_ALL)
        bytes_put_span(&body, job->resources.data, job->resources.size);
    route_send(self, instance_job_exec(inst), JOB_EXEC_START, job->id, &body);
    bytes_release(&body);
}

static void job_handle_alloc(struct actor *self, struct job_manager *jm, struct cursor c)
{
    const struct instance *inst = actor_setup(self);
    uint8_t type = cursor_u8(&c);
    struct managed_job *job = job_find(self, jm, cursor_u64(&c));
    const char *note = key_get_text(&c);
    size_t size = 0;
    const char *resources = inst->passes == PASSES_ALL ? cursor_span(&c, &size) : NULL;
    if (job == NULL || note == NULL || type == SCHEDULER_NOTE)
        return;
    jm->outstanding--;
    bytes_put(&job->resources, resources, size);
    const char *head = type == SCHEDULER_DENIED ? "\"type\":\"alloc\",\"severity\":0," : "";
    char *context = g_strdup_printf("{%s\"note\":\"%s\"}", head, note);
    switch (type) {
    case SCHEDULER_ALLOCATED:
        job_post(self, jm, job, "alloc", context);
        job->row.times[JOB_TIME_ALLOC] = actor_now(self);
        if (job->state == JOB_CLEANUP) {    /* the cancellation came too late */
            job_free_resources(self, job);
            break;
        }
        job_move(self, jm, job, JOB_RUN);
        job_start(self, job);
        break;
    case SCHEDULER_CANCELLED:
        job_end(self, jm, job);
        break;
    case SCHEDULER_DENIED:
        if (job->exception == JOB_COMPLETED) {
            job->exception = JOB_REJECTED;
            job_post(self, jm, job, "exception", context);
            job_move(self, jm, job, JOB_CLEANUP);
        }
        job_end(self, jm, job);
        break;
    default:
        actor_fail(self, "the scheduler answered an alloc request with type %u", type);
    }
    g_free(context);
}

static void job_handle_free(struct actor *self, struct job_manager *jm, struct cursor c)
{
    struct managed_job *job = job_find(self, jm, cursor_u64(&c));
    if (job == NULL)
        return;
    job_post(self, jm, job, "free", NULL);
    job->row.times[JOB_TIME_FREE] = actor_now(self);
    job_end(self, jm, job);
}

/* --- job-exec, and a job's early end --- */

static void job_take_row(struct managed_job *job, struct cursor *c)
{
    job->row.node = cursor_u32(c);
    job->row.cores = cursor_u32(c);
    job->row.watched = cursor_u8(c);
    for (unsigned i = 0; i < JOB_EXEC_TIMES; i++)
        job->row.times[job_exec_times[i]] = cursor_i64(c);
}

/* The job is to end, for a reason that decides its result. */
static void job_except(struct actor *self, struct job_manager *jm, struct managed_job *job, enum job_result result,
                       const char *type)
{
    char context[64];
    g_snprintf(context, sizeof context, "{\"type\":\"%s\",\"severity\":0}", type);
    job->exception = (uint8_t)result;
    job_post(self, jm, job, "exception", context);
    job_move(self, jm, job, JOB_CLEANUP);
}

static void job_handle_cancel(struct actor *self, struct job_manager *jm, const struct envelope *env, struct cursor c)
{
    const struct instance *inst = actor_setup(self);
    uint64_t id = cursor_u64(&c);
    struct managed_job *job = g_hash_table_lookup(jm->jobs, &id);
    route_reply(self, env, JOB_MANAGER_CANCEL, job == NULL ? ENOENT : 0, NULL);
    if (job == NULL || job->state == JOB_CLEANUP)
        return;
    enum job_state state = job->state;
    bool queued = g_tree_remove(jm->queue, job);
    job_except(self, jm, job, JOB_CANCELLED, "cancel");
    if (state == JOB_RUN)
        job_send(self, job, instance_job_exec(inst), JOB_EXEC_KILL);
    else if (queued)
        job_end(self, jm, job);
    else
        job_send(self, job, instance_scheduler(inst), SCHEDULER_CANCEL);
}

static void job_handle_exec(struct actor *self, struct job_manager *jm, struct cursor c)
{
    uint8_t type = cursor_u8(&c);
    struct managed_job *job = job_find(self, jm, cursor_u64(&c));
    uint32_t status = cursor_u32(&c);
    if (job == NULL)
        return;
    char context[64];
    switch (type) {
    case JOB_EXEC_STARTED:
        job_post(self, jm, job, "start", NULL);
        job->row.times[JOB_TIME_START] = actor_now(self);
        break;
    case JOB_EXEC_EXCEPTION:
        if (job->exception == JOB_COMPLETED)
            job_except(self, jm, job, status, "timeout");
        break;
    case JOB_EXEC_FINISHED:
        job->status = status;
        g_snprintf(context, sizeof context, "{\"status\":%u}", status);
        job_post(self, jm, job, "finish", context);
        job->row.times[JOB_TIME_FINISH] = actor_now(self);
        if (job->state == JOB_RUN)
            job_move(self, jm, job, JOB_CLEANUP);
        break;
    case JOB_EXEC_RELEASED:
        job_take_row(job, &c);
        job_post(self, jm, job, "release", "{\"ranks\":\"all\",\"final\":true}");
        job->row.times[JOB_TIME_RELEASE] = actor_now(self);
        job_free_resources(self, job);
        break;
    default:
        actor_fail(self, "job-exec sent an answer of type %u", type);
    }
}

/* --- the role --- */

static void job_manager_handle(struct actor *self, const struct message *m)
{
    const struct instance *inst = actor_setup(self);
    struct job_manager *jm = actor_state(self);
    if (m->kind == JOB_MANAGER_BATCH) {
        job_events_commit(self, &jm->events);
        return;
    }
    struct envelope env;
    struct cursor c = route_open(self, m, &env);
    role_charge(self, cost_ns(&inst->costs.job_manager_request, m->payload->size, 0));
    switch (m->kind) {
    case JOB_MANAGER_SUBMIT:
        job_handle_submit(self, jm, &env, c);
        break;
    case JOB_MANAGER_ALLOC_ADMIN:
        jm->stopped = cursor_u8(&c) == 0;
        route_reply(self, &env, m->kind, 0, NULL);
        break;
    case JOB_MANAGER_WAIT:
        job_handle_wait(self, jm, &env, c);
        break;
    case JOB_MANAGER_CANCEL:
        job_handle_cancel(self, jm, &env, c);
        break;
    case KVS_COMMIT | KIND_REPLY:
        job_events_publish(self, &jm->events, &env);
        break;
    case BROKER_PUBLISH_REQUEST | KIND_REPLY:
        break;                              /* its number: nobody asks for it */
    case SCHEDULER_ALLOC | KIND_REPLY:
        job_handle_alloc(self, jm, c);
        break;
    case SCHEDULER_FREE | KIND_REPLY:
        job_handle_free(self, jm, c);
        break;
    case JOB_EXEC_START | KIND_REPLY:
        job_handle_exec(self, jm, c);
        break;
    default:
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    }
}

static gint job_compare_id(gconstpointer a, gconstpointer b)
{
    const struct managed_job *first = a, *second = b;
    return compare_u64(first->id, second->id);
}

static void job_manager_save(const struct actor *self, struct bytes *sink)
{
    const struct job_manager *jm = actor_state(self);
    GList *jobs = g_list_sort(g_hash_table_get_values(jm->jobs), job_compare_id);
    bytes_put_u32(sink, g_hash_table_size(jm->jobs));
    for (const GList *item = jobs; item != NULL; item = item->next) {
        struct managed_job *job = item->data;
        bytes_put_u8(sink, job->state);
        bytes_put_u8(sink, job->urgency);
        bytes_put_u8(sink, job->exception);
        bytes_put_u8(sink, g_tree_lookup(jm->queue, job) != NULL);
        bytes_put_u32(sink, job->user);
        bytes_put_u32(sink, job->status);
        job_row_put(&job->row, sink);
    }
    g_list_free(jobs);
    job_waits_save(&jm->waits, sink);
    job_events_save(&jm->events, sink);
    bytes_put_u32(sink, jm->outstanding);
    bytes_put_u8(sink, jm->stopped);
}

static void job_manager_release(struct actor *self)
{
    struct job_manager *jm = actor_state(self);
    g_tree_unref(jm->queue);
    g_hash_table_unref(jm->jobs);
    job_waits_release(&jm->waits);
    job_events_release(&jm->events);
}

static const struct kind_name job_manager_kinds[] = {
    { JOB_MANAGER_SUBMIT, "submit", "ingest hands over a batch of jobs" },
    { JOB_MANAGER_ALLOC_ADMIN, "alloc-admin", "a client stops or starts the queue" },
    { JOB_MANAGER_WAIT, "wait", "a client waits for a job's end" },
    { JOB_MANAGER_CANCEL, "cancel", "somebody withdraws a job" },
    { JOB_MANAGER_BATCH, "batch", "timer: the window of a batch of events is over" },
    { 0, NULL, NULL }
};

#define STAGE(stage, name, text) [JOB_MANAGER_STAGES + (stage)] = { name, "ns", text, METRIC_STAGE }

static const struct metric job_manager_metrics[] = {
    [JOB_MANAGER_RESULTS + JOB_COMPLETED] = { "completed", "1", "jobs that ended with status 0", METRIC_SERIES },
    [JOB_MANAGER_RESULTS + JOB_FAILED] = { "failed", "1", "jobs that ended with another status", METRIC_COUNTER },
    [JOB_MANAGER_RESULTS + JOB_KILLED] = { "killed", "1", "jobs that ran into their time limit", METRIC_COUNTER },
    [JOB_MANAGER_RESULTS + JOB_CANCELLED] = { "cancelled", "1", "jobs withdrawn by their user", METRIC_COUNTER },
    [JOB_MANAGER_RESULTS + JOB_REJECTED] = { "rejected", "1", "jobs that the scheduler denied", METRIC_COUNTER },
    [JOB_MANAGER_SUBMITTED] = { "submitted", "1", "jobs taken over from ingest", METRIC_SERIES },
    [JOB_MANAGER_ALLOCS] = { "allocs", "1", "requests to the scheduler", METRIC_SERIES },
    [JOB_MANAGER_COMMITS] = { "commits_shared", "1", "transactions, one for a batch of events", METRIC_COUNTER },
    [JOB_MANAGER_ENTRIES] = { "entries", "1", "event log entries committed", METRIC_COUNTER },
    [JOB_MANAGER_TRANSITIONS] = { "transitions", "1", "job state transitions committed", METRIC_COUNTER },
    [JOB_MANAGER_CORE_US] = { "core_us", "1", "cores held x microseconds from start to finish", METRIC_COUNTER },
    [JOB_MANAGER_WAITED] = { "wait", "ns", "from submission to start", METRIC_SAMPLE },
    [JOB_MANAGER_SLOWDOWN] = { "bounded_slowdown", "1", "bounded slowdown, in 1/1000", METRIC_SAMPLE },
    STAGE(JOB_STAGE_INGEST, "ingest", "from submission until the job manager has the job"),
    STAGE(JOB_STAGE_QUEUE, "queue", "until the scheduler is asked"),
    STAGE(JOB_STAGE_ALLOC, "alloc", "until resources are allocated"),
    STAGE(JOB_STAGE_NAMESPACE, "namespace", "until the guest namespace exists"),
    STAGE(JOB_STAGE_COMMITS, "commits", "until its first commits and lookups are done"),
    STAGE(JOB_STAGE_LAUNCH, "launch", "until the shell's process runs"),
    STAGE(JOB_STAGE_SHELL, "shell", "until the shell has committed shell.start"),
    STAGE(JOB_STAGE_RUN, "run", "until the task has ended"),
    STAGE(JOB_STAGE_FINISH, "finish", "until the job manager knows"),
    STAGE(JOB_STAGE_MOVE, "move", "until the guest namespace is copied and removed"),
    STAGE(JOB_STAGE_RELEASE, "release", "until resources are free and the job is inactive"),
    [JOB_MANAGER_METRICS] = { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_job_manager = {
    .name = "job-manager",
    .text = "holds the states of all jobs",
    .state_size = sizeof(struct job_manager),
    .streams = INSTANCE_STREAMS,
    .kinds = job_manager_kinds,
    .metrics = job_manager_metrics,
    .init = job_manager_init,
    .handle = job_manager_handle,
    .turn = job_manager_turn,
    .turn_ready = job_manager_turn_ready,
    .save = job_manager_save,
    .release = job_manager_release,
};
