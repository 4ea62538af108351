/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/executor.h"

#include <errno.h>

#include "kvs/jobid.h"
#include "kvs/key.h"
#include "ranks/charge.h"
#include "ranks/job_text.h"
#include "ranks/jobs.h"
#include "ranks/kvs_request.h"
#include "ranks/protocol.h"
#include "ranks/roles.h"
#include "ranks/route.h"
#include "ranks/write_run.h"
#include "workload/jobspec.h"

/* What the shell is at; most are calls that it waits for. */
enum shell_state {
    SHELL_NONE,
    SHELL_FORKING,          /* its process is being started */
    SHELL_SUBSCRIBING,
    SHELL_LOOKUP,
    SHELL_SERVICE_ADD,
    SHELL_INPUT_HEADER,
    SHELL_OUTPUT_HEADER,
    SHELL_INIT,
    SHELL_TASK,             /* its task's process is being started */
    SHELL_START,
    SHELL_RUNNING,
    SHELL_WRITING,          /* the task has run, and writes its part of a shared file */
    SHELL_WATCH,            /* the task has ended; waits for the watch to begin */
    SHELL_EOF,
    SHELL_SERVICE_REMOVE,
    SHELL_UNSUBSCRIBING
};

enum watch_state {
    WATCH_NONE,
    WATCH_ASKED,
    WATCH_BEGUN,
    WATCH_ENDED
};

struct executor {
    uint8_t state;              /* enum shell_state */
    uint8_t watch;              /* enum watch_state */
    bool watched;
    struct envelope env;        /* of the launch */
    uint64_t id;                /* of the job */
    uint32_t status;            /* wait status of the task */
    int64_t left_ns;            /* of the task's duration, after the present act */
    int64_t limit_ns;
    uint64_t acts;              /* begun for tasks; the word of an act's end */
    uint64_t watches;           /* asked for; the tag of a watch */
    int64_t init_ns;            /* times of the job's row */
    int64_t start_ns;
    int64_t task_end_ns;
    uint64_t written;           /* jobs of this slot that began to write */
    int64_t write_ns;           /* when the present one did */
    struct write_run run;
};

static void executor_charge_step(struct actor *self)
{
    const struct instance *inst = actor_setup(self);
    role_charge(self, cost_ns(&inst->costs.executor_step, 0, 0));
}

static void executor_answer(struct actor *self, const struct executor *x, enum executor_answer type, uint32_t value)
{
    struct bytes body = BYTES_INIT;
    bytes_put_u8(&body, (uint8_t)type);
    bytes_put_u64(&body, x->id);
    bytes_put_u32(&body, value);
    if (type == EXECUTOR_COMPLETE) {
        bytes_put_i64(&body, x->init_ns);
        bytes_put_i64(&body, x->start_ns);
        bytes_put_i64(&body, x->task_end_ns);
        bytes_put_u8(&body, x->watched);
    }
    route_reply(self, &x->env, EXECUTOR_LAUNCH, 0, &body);
    bytes_release(&body);
}

/* --- calls: each the last act of its handler --- */

static void shell_subscribe(struct actor *self, struct executor *x, bool subscribe)
{
    char topic[64];
    g_snprintf(topic, sizeof topic, "shell-%" G_GUINT64_FORMAT ".", x->id);
    if (subscribe)
        route_subscribe(self, topic);
    else
        route_unsubscribe(self, topic);
}

static void shell_name_service(const struct executor *x, char *name, size_t size)
{
    g_snprintf(name, size, "%u-shell-%" G_GUINT64_FORMAT, (unsigned)JOB_USER, x->id);
}

static void shell_call_service(struct actor *self, struct executor *x, uint16_t kind)
{
    const struct instance *inst = actor_setup(self);
    char name[64];
    shell_name_service(x, name, sizeof name);
    struct bytes body = BYTES_INIT;
    key_put_text(&body, name);
    struct payload *payload = actor_payload(self, body.data, body.size);
    bytes_release(&body);
    actor_call_payload(self, instance_broker(inst, actor_node(self)), kind, payload);
}

static void shell_lookup(struct actor *self, struct executor *x)
{
    const struct instance *inst = actor_setup(self);
    struct bytes body = BYTES_INIT;
    bytes_put_u64(&body, x->id);
    bytes_put_u8(&body, JOB_INFO_JOBSPEC | JOB_INFO_R | (inst->shells_follow ? JOB_INFO_FOLLOW : 0));
    route_call(self, instance_job_info_of(inst, actor_node(self)), JOB_INFO_LOOKUP, x->id, &body);
    bytes_release(&body);
}

/* Appends lines to a key of the guest namespace in one transaction. */
static void shell_commit(struct actor *self, struct executor *x, const char *key, const GString *lines)
{
    char guest[JOBID_NAMESPACE_SIZE];
    jobid_to_namespace(x->id, guest);
    struct transaction *t = transaction_new(0, 0, 0);
    transaction_append(t, key, lines->str, lines->len);
    actor_count(self, EXECUTOR_COMMITS, 1);
    kvs_request_commit_call(self, guest, x->id, t);
}

static void shell_commit_event(struct actor *self, struct executor *x, const char *key, const char *name,
                               const char *context)
{
    const struct instance *inst = actor_setup(self);
    GString *line = g_string_new(NULL);
    job_text_event(line, inst->epoch_ns + actor_now(self), name, context);
    shell_commit(self, x, key, line);
    g_string_free(line, TRUE);
}

/* Both end-of-file records, which end the output's batch, go into one commit. */
static void shell_commit_eof(struct actor *self, struct executor *x)
{
    const struct instance *inst = actor_setup(self);
    static const char *const contexts[] = {
        "{\"stream\":\"stdout\",\"rank\":\"0\",\"eof\":true}", "{\"stream\":\"stderr\",\"rank\":\"0\",\"eof\":true}"
    };
    GString *lines = g_string_new(NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(contexts); i++)
        job_text_event(lines, inst->epoch_ns + actor_now(self), "data", contexts[i]);
    shell_commit(self, x, "output", lines);
    g_string_free(lines, TRUE);
}

/* --- the start --- */

static void executor_handle_launch(struct actor *self, struct executor *x, const struct envelope *env, struct cursor c)
{
    const struct instance *inst = actor_setup(self);
    if (x->state != SHELL_NONE) {
        actor_fail(self, "a launch while job %" G_GUINT64_FORMAT " runs here", x->id);
        return;
    }
    x->state = SHELL_FORKING;
    x->watch = WATCH_NONE;
    x->watched = false;
    x->env = *env;
    x->id = cursor_u64(&c);
    x->status = 0;
    x->init_ns = x->start_ns = x->task_end_ns = JOB_NEVER;
    actor_count(self, EXECUTOR_SHELLS, 1);
    actor_perform(self, (struct act){ ACT_WORK, role_jitter(self, cost_ns(&inst->costs.executor_launch, 0, 0)) },
                  EXECUTOR_LAUNCHED, x->id);
}

static void executor_handle_launched(struct actor *self, struct executor *x)
{
    const struct instance *inst = actor_setup(self);
    executor_answer(self, x, EXECUTOR_RUNNING, (uint32_t)x->acts + 1);
    role_charge(self, cost_ns(&inst->costs.executor_connect, 0, 0));
    x->state = SHELL_SUBSCRIBING;
    shell_subscribe(self, x, true);
}

static void executor_handle_looked_up(struct actor *self, struct executor *x, struct cursor c)
{
    size_t jobspec_size, r_size;
    const char *jobspec = cursor_span(&c, &jobspec_size);
    const char *r = cursor_span(&c, &r_size);
    struct allocation *resources = r == NULL ? NULL : job_text_resources_parse(r, r_size);
    struct workload_job job;
    GError *error = NULL;
    if (resources == NULL || !jobspec_parse("jobspec", jobspec, jobspec_size, &job, &error)) {
        actor_fail(self, "job %" G_GUINT64_FORMAT " cannot be read: %s", x->id,
                   error == NULL ? "no R" : error->message);
        g_clear_error(&error);
        g_free(resources);
        return;
    }
    allocation_free(resources);
    x->left_ns = job.duration_ns;
    x->limit_ns = job.limit_ns;
    x->state = SHELL_SERVICE_ADD;
    executor_charge_step(self);
    shell_call_service(self, x, BROKER_SERVICE_ADD);
}

/* --- the task --- */

/* A task that would overrun its limit is run in pieces of it: the signal that is on its way then ends the act. */
static void task_continue(struct actor *self, struct executor *x)
{
    int64_t piece_ns = MIN(x->left_ns, MAX(x->limit_ns, 1));
    x->left_ns -= piece_ns;
    actor_perform(self, (struct act){ ACT_WAIT, piece_ns }, EXECUTOR_TASK_DONE, ++x->acts);
}

static void executor_handle_started(struct actor *self, struct executor *x)
{
    const struct instance *inst = actor_setup(self);
    actor_count(self, EXECUTOR_TASKS, 1);
    task_continue(self, x);
    executor_charge_step(self);
    struct bytes body = BYTES_INIT;
    bytes_put_u64(&body, x->id);
    key_put_text(&body, "input");
    route_send(self, instance_job_info_of(inst, actor_node(self)), JOB_INFO_WATCH, ++x->watches, &body);
    bytes_release(&body);
    x->watch = WATCH_ASKED;
    actor_count(self, EXECUTOR_WATCHES, 1);
    x->state = SHELL_START;
    executor_charge_step(self);
    shell_commit_event(self, x, "exec.eventlog", "shell.start", "{\"task-count\":1}");
}

/* The task is no more: the shell flushes what is left and ends. */
static void shell_end(struct actor *self, struct executor *x)
{
    const struct instance *inst = actor_setup(self);
    if (inst->watch_forced && x->watch == WATCH_ASKED) {
        x->state = SHELL_WATCH;
        return;
    }
    executor_charge_step(self);
    if (x->watch != WATCH_ENDED || inst->shells_follow) {
        struct bytes body = BYTES_INIT;
        bytes_put_u64(&body, x->watches);
        route_send(self, instance_job_info_of(inst, actor_node(self)), JOB_INFO_CANCEL, 0, &body);
        bytes_release(&body);
        x->watch = WATCH_ENDED;
    }
    x->state = SHELL_EOF;
    shell_commit_eof(self, x);
}

/* Each slot has a place in each round of segments; its next job goes on where the last one ended. */
static void task_write(struct actor *self, struct executor *x)
{
    const struct instance *inst = actor_setup(self);
    const struct shared_file *f = inst->file;
    uint32_t node = actor_node(self);
    uint32_t slot = actor_id(self) - instance_executor(inst, node, 0);
    uint64_t first = f->each ? 0 : x->written * pattern_writes(&f->pattern);
    x->run = (struct write_run){
        .next = first, .end = first + pattern_writes(&f->pattern), .tag = ++x->acts, .mount = f->first_mount + node,
        .writer = f->each ? 0 : node * inst->cores_per_node + slot, .file = f->each ? slot : 0,
        .flags = f->each ? MOUNT_FRESH : 0
    };
    x->written++;
    x->write_ns = actor_now(self);
    x->state = SHELL_WRITING;
    write_run_begin(self, f, &x->run, INSTANCE_STREAM_OWN);
}

static void executor_handle_write(struct actor *self, struct executor *x, const struct message *m)
{
    const struct instance *inst = actor_setup(self);
    if (x->state != SHELL_WRITING || m->word != x->run.tag)
        return;                 /* of a task that a signal has ended */
    if (!write_run_handle(self, inst->file, &x->run, m, INSTANCE_STREAM_OWN))
        return;
    actor_sample(self, EXECUTOR_WRITE_TIME, actor_now(self) - x->write_ns);
    x->task_end_ns = actor_now(self);
    shell_end(self, x);
}

static void executor_handle_task_done(struct actor *self, struct executor *x, uint64_t act)
{
    const struct instance *inst = actor_setup(self);
    if (x->state != SHELL_RUNNING || act != x->acts)
        return;                 /* of a task that a signal has ended */
    if (x->left_ns > 0) {
        task_continue(self, x);
        return;
    }
    if (inst->file != NULL) {
        task_write(self, x);
        return;
    }
    x->task_end_ns = actor_now(self);
    shell_end(self, x);
}

static void task_signalled(struct actor *self, struct executor *x)
{
    actor_count(self, EXECUTOR_SIGNALLED, 1);
    x->acts++;                  /* the end of the act that is under way will count no more */
    x->task_end_ns = actor_now(self);
    shell_end(self, x);
}

/* A shell that has not got as far as its task acts on it when it has. */
static void executor_handle_signal(struct actor *self, struct executor *x, struct cursor c)
{
    uint64_t id = cursor_u64(&c);
    uint32_t signal = cursor_u32(&c);
    if (x->state == SHELL_NONE || x->state > SHELL_WRITING || x->id != id)
        return;                 /* the task has just ended */
    x->status = signal;
    if (x->state >= SHELL_RUNNING)
        task_signalled(self, x);
}

static void executor_handle_watch(struct actor *self, struct executor *x, const struct envelope *env)
{
    if (env->tag != x->watches || x->watch == WATCH_NONE || x->watch == WATCH_ENDED)
        return;                 /* the end of a watch that was cancelled */
    if (env->error == 0 && !x->watched) {
        x->watched = true;
        actor_count(self, EXECUTOR_WATCHED, 1);
    }
    x->watch = env->error == 0 ? WATCH_BEGUN : WATCH_ENDED;
    if (x->state == SHELL_WATCH)
        shell_end(self, x);
}

/* --- from one call to the next --- */

static void executor_handle_committed(struct actor *self, struct executor *x)
{
    const struct instance *inst = actor_setup(self);
    char context[128], service[64];
    switch (x->state) {
    case SHELL_INPUT_HEADER:
        x->state = SHELL_OUTPUT_HEADER;
        executor_charge_step(self);
        shell_commit_event(self, x, "output", "header",
                           "{\"version\":1,\"encoding\":{\"stdout\":\"UTF-8\",\"stderr\":\"UTF-8\"},"
                           "\"count\":{\"stdout\":1,\"stderr\":1},\"options\":{}}");
        break;
    case SHELL_OUTPUT_HEADER:
        x->state = SHELL_INIT;
        executor_charge_step(self);
        shell_name_service(x, service, sizeof service);
        g_snprintf(context, sizeof context, "{\"leader-rank\":%u,\"size\":1,\"service\":\"%s\"}", actor_node(self),
                   service);
        shell_commit_event(self, x, "exec.eventlog", "shell.init", context);
        break;
    case SHELL_INIT:
        x->init_ns = actor_now(self);
        x->state = SHELL_TASK;
        actor_perform(self, (struct act){ ACT_WORK, role_jitter(self, cost_ns(&inst->costs.executor_task, 0, 0)) },
                      EXECUTOR_STARTED, x->id);
        break;
    case SHELL_START:
        x->start_ns = actor_now(self);
        x->state = SHELL_RUNNING;
        if (x->status != 0)
            task_signalled(self, x);
        break;
    default:                    /* SHELL_EOF */
        x->state = SHELL_SERVICE_REMOVE;
        executor_charge_step(self);
        shell_call_service(self, x, BROKER_SERVICE_REMOVE);
    }
}

static void executor_handle_broker(struct actor *self, struct executor *x, const struct message *m)
{
    const struct instance *inst = actor_setup(self);
    if (m->word != 0) {
        actor_fail(self, "the broker answered a call of job %" G_GUINT64_FORMAT " with errno %u", x->id,
                   (unsigned)m->word);
        return;
    }
    executor_charge_step(self);
    switch (x->state) {
    case SHELL_SUBSCRIBING:
        x->state = SHELL_LOOKUP;
        shell_lookup(self, x);
        break;
    case SHELL_SERVICE_ADD:
        x->state = SHELL_INPUT_HEADER;
        shell_commit_event(self, x, "input", "header",
                           "{\"version\":1,\"encoding\":{\"stdin\":\"UTF-8\"},\"count\":{\"stdin\":1},\"options\":{}}");
        break;
    case SHELL_SERVICE_REMOVE:
        x->state = SHELL_UNSUBSCRIBING;
        shell_subscribe(self, x, false);
        break;
    default:                    /* SHELL_UNSUBSCRIBING */
        role_charge(self, cost_ns(&inst->costs.executor_exit, 0, 0));
        executor_answer(self, x, EXECUTOR_COMPLETE, x->status);
        x->state = SHELL_NONE;
        x->id = 0;
    }
}

/* --- the role --- */

static void executor_handle_routed(struct actor *self, struct executor *x, const struct message *m)
{
    struct envelope env;
    struct cursor c = route_open(self, m, &env);
    bool is_answer = m->kind == (JOB_INFO_LOOKUP | KIND_REPLY) || m->kind == (KVS_COMMIT | KIND_REPLY);
    if (is_answer && env.error != 0) {
        actor_fail(self, "a request of job %" G_GUINT64_FORMAT "'s shell failed with errno %u", x->id, env.error);
        return;
    }
    switch (m->kind) {
    case EXECUTOR_LAUNCH:
        executor_handle_launch(self, x, &env, c);
        break;
    case EXECUTOR_SIGNAL:
        executor_handle_signal(self, x, c);
        break;
    case JOB_INFO_LOOKUP | KIND_REPLY:
        executor_handle_looked_up(self, x, c);
        break;
    case JOB_INFO_WATCH | KIND_REPLY:
        executor_handle_watch(self, x, &env);
        break;
    case KVS_COMMIT | KIND_REPLY:
        executor_handle_committed(self, x);
        break;
    default:
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    }
}

static void executor_handle(struct actor *self, const struct message *m)
{
    struct executor *x = actor_state(self);
    switch (m->kind) {
    case EXECUTOR_LAUNCHED:
        executor_handle_launched(self, x);
        break;
    case EXECUTOR_STARTED:
        executor_handle_started(self, x);
        break;
    case EXECUTOR_TASK_DONE:
        executor_handle_task_done(self, x, m->word);
        break;
    case MOUNT_NEXT:
    case MOUNT_WRITTEN:
        executor_handle_write(self, x, m);
        break;
    case BROKER_SUBSCRIBE | KIND_REPLY:
    case BROKER_UNSUBSCRIBE | KIND_REPLY:
    case BROKER_SERVICE_ADD | KIND_REPLY:
    case BROKER_SERVICE_REMOVE | KIND_REPLY:
        executor_handle_broker(self, x, m);
        break;
    case BROKER_EVENT:
        break;                  /* nobody sends a shell events yet that it acts on */
    default:
        executor_handle_routed(self, x, m);
    }
}

static void executor_save(const struct actor *self, struct bytes *sink)
{
    const struct executor *x = actor_state(self);
    bytes_put_u8(sink, x->state);
    bytes_put_u8(sink, x->watch);
    bytes_put_u8(sink, x->watched);
    envelope_put(sink, &x->env);
    bytes_put_u64(sink, x->id);
    bytes_put_u32(sink, x->status);
    bytes_put_i64(sink, x->left_ns);
    bytes_put_i64(sink, x->limit_ns);
    bytes_put_u64(sink, x->acts);
    bytes_put_u64(sink, x->watches);
    bytes_put_i64(sink, x->init_ns);
    bytes_put_i64(sink, x->start_ns);
    bytes_put_i64(sink, x->task_end_ns);
    if (x->written != 0) {
        bytes_put_u64(sink, x->written);
        write_run_save(&x->run, sink);
    }
}

static const struct kind_name executor_kinds[] = {
    { EXECUTOR_LAUNCH, "launch", "job-exec starts a job's shell here" },
    { EXECUTOR_SIGNAL, "signal", "job-exec sends the shell a signal" },
    { EXECUTOR_LAUNCHED, "launched", "end of an act: the shell's process runs" },
    { EXECUTOR_STARTED, "started", "end of an act: the task runs" },
    { EXECUTOR_TASK_DONE, "task-done", "end of an act: the task has ended" },
    { 0, NULL, NULL }
};

static const struct metric executor_metrics[] = {
    [EXECUTOR_SHELLS] = { "shells", "1", "shells launched", METRIC_SERIES },
    [EXECUTOR_COMMITS] = { "commits_own", "1", "transactions of single jobs: the shell's", METRIC_COUNTER },
    [EXECUTOR_TASKS] = { "tasks", "1", "tasks started", METRIC_SERIES },
    [EXECUTOR_WATCHES] = { "watches", "1", "input watches asked for", METRIC_COUNTER },
    [EXECUTOR_WATCHED] = { "watched", "1", "input watches that the shell saw begin", METRIC_COUNTER },
    [EXECUTOR_SIGNALLED] = { "signalled", "1", "tasks ended by a signal", METRIC_COUNTER },
    [EXECUTOR_WRITE_TIME] = { "write_time", "ns", "how long a job wrote its part of a shared file", METRIC_SAMPLE },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

static const char *const executor_calls[] = { "broker", NULL };

const struct role role_executor = {
    .name = "executor",
    .text = "one core slot; runs a job's shell and task",
    .state_size = sizeof(struct executor),
    .streams = INSTANCE_STREAMS,
    .kinds = executor_kinds,
    .metrics = executor_metrics,
    .calls = executor_calls,
    .handle = executor_handle,
    .save = executor_save,
};
