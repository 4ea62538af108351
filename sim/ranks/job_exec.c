/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/job_exec.h"

#include <signal.h>

#include "ranks/charge.h"
#include "ranks/exec_job.h"
#include "ranks/guest.h"
#include "ranks/job_limits.h"
#include "ranks/kvs_request.h"
#include "ranks/pending.h"
#include "ranks/roles.h"
#include "ranks/route.h"

enum { SIMULATED_DEFAULT_NS = 10000 };      /* a simulated job's time when it states none */

struct job_exec {
    struct pending jobs;            /* struct exec_job */
    GHashTable *by_id;              /* the same, by job id */
    GQueue launches;                /* struct exec_job with a launch to send, in order */
    struct job_limits limits;       /* by number */
};

static void job_exec_init(struct actor *self, const void *setup)
{
    (void)setup;
    struct job_exec *je = actor_state(self);
    pending_init(&je->jobs, exec_job_free);
    je->by_id = g_hash_table_new(g_int64_hash, g_int64_equal);
    g_queue_init(&je->launches);
    job_limits_init(&je->limits);
}

/* --- start and launch --- */

static void exec_handle_start(struct actor *self, struct job_exec *je, const struct envelope *env, struct cursor c)
{
    const struct instance *inst = actor_setup(self);
    struct exec_job *job = g_new0(struct exec_job, 1);
    job->number = pending_add(&je->jobs, job);
    job->id = cursor_u64(&c);
    uint32_t user = cursor_u32(&c);
    g_hash_table_insert(je->by_id, &job->id, job);
    job->env = *env;
    job->deadline_ns = JOB_LIMITS_NONE;
    job->waiting = 1 << EXEC_INIT | 1 << EXEC_LINK;
    for (unsigned i = 0; i < JOB_TIMES; i++)
        job->times[i] = JOB_NEVER;
    job->times[JOB_TIME_EXEC] = actor_now(self);
    actor_count(self, JOB_EXEC_STARTS, 1);
    if (inst->passes != PASSES_ALL) {
        job->waiting |= 1 << EXEC_R;
        kvs_request_lookup_job(self, job->id, "R", exec_job_tag(job, EXEC_R));
    }
    if (inst->passes == PASSES_NOTHING) {
        job->waiting |= 1 << EXEC_JOBSPEC;
        kvs_request_lookup_job(self, job->id, "jobspec", exec_job_tag(job, EXEC_JOBSPEC));
    } else {
        size_t size;
        const char *text = cursor_span(&c, &size);
        exec_job_take_jobspec(self, job, text, size);
        if (inst->passes == PASSES_ALL && (text = cursor_span(&c, &size)) != NULL)
            exec_job_take_resources(self, job, text, size);
    }
    exec_job_charge(self);
    guest_create(self, job->id, exec_job_tag(job, EXEC_CREATE), user);
}

/* One of the things that the launch waits for is done. */
static void exec_step_done(struct actor *self, struct job_exec *je, struct exec_job *job, enum exec_step step)
{
    job->waiting &= ~(1u << step);
    if (job->waiting != 0)
        return;
    job->times[JOB_TIME_READY] = actor_now(self);
    exec_job_log(self, job, EXEC_STARTING, "starting", NULL);
    job->stage = EXEC_JOB_LAUNCHING;
    g_queue_push_tail(&je->launches, job);
}

static void exec_signal(struct actor *self, struct job_exec *je, struct exec_job *job)
{
    const struct instance *inst = actor_setup(self);
    if (inst->simulated) {
        job_limits_remove(&je->limits, job->deadline_ns, job->number);
        exec_job_end(self, job, SIGTERM);
        return;
    }
    exec_job_signal(self, job, SIGTERM);
}

/* Before the launch it is enough to note it; a job that has ended goes on. */
static void exec_handle_kill(struct actor *self, struct job_exec *je, struct cursor c)
{
    uint64_t id = cursor_u64(&c);
    struct exec_job *job = g_hash_table_lookup(je->by_id, &id);
    if (job == NULL)
        return;
    job->killed = true;
    if (job->stage == EXEC_JOB_LAUNCHED)
        exec_signal(self, je, job);
}

static bool job_exec_turn_ready(const struct actor *self)
{
    const struct job_exec *je = actor_state(self);
    return je->launches.length > 0;
}

static void exec_start_limit(struct actor *self, struct job_exec *je, struct exec_job *job)
{
    if (job->limit_ns >= JOB_LIMITS_NONE - actor_now(self))
        return;
    job->deadline_ns = actor_now(self) + job->limit_ns;
    if (job_limits_add(&je->limits, job->deadline_ns, job->number))
        actor_timer_background(self, job->limit_ns, JOB_EXEC_LIMIT, 0);
}

/* A timer in the place of a shell (flux-core's "testexec"): the job runs at once, and its node knows nothing of it. */
static void exec_simulate(struct actor *self, struct job_exec *je, struct exec_job *job)
{
    job->times[JOB_TIME_LAUNCH] = actor_now(self);
    job->times[JOB_TIME_SHELL_INIT] = job->times[JOB_TIME_SHELL_START] = actor_now(self);
    exec_job_answer(self, job, JOB_EXEC_STARTED, 0);
    exec_start_limit(self, je, job);
    int64_t duration_ns = job->duration_ns > 0 ? job->duration_ns : SIMULATED_DEFAULT_NS;
    actor_perform(self, (struct act){ ACT_WAIT, duration_ns }, JOB_EXEC_FINISHED_SIMULATION, job->number);
}

static void exec_handle_simulated(struct actor *self, struct job_exec *je, uint64_t number)
{
    struct exec_job *job = pending_find(&je->jobs, number);
    if (job == NULL || job->stage == EXEC_JOB_ENDED)
        return;                 /* it was ended early */
    job->times[JOB_TIME_TASK_END] = actor_now(self);
    job_limits_remove(&je->limits, job->deadline_ns, job->number);
    exec_job_charge(self);
    exec_job_end(self, job, 0);
}

/* One launch of each job: its shell is on one node, so it has no more. */
static void job_exec_turn(struct actor *self)
{
    const struct instance *inst = actor_setup(self);
    struct job_exec *je = actor_state(self);
    struct exec_job *job;
    while ((job = g_queue_pop_head(&je->launches)) != NULL) {
        if (job->killed) {
            exec_job_end(self, job, SIGTERM);
        } else {
            job->stage = EXEC_JOB_LAUNCHED;
            if (inst->simulated)
                exec_simulate(self, je, job);
            else
                exec_job_launch(self, job);
        }
    }
}

/* --- answers --- */

static void exec_handle_looked_up(struct actor *self, struct job_exec *je, struct exec_job *job, enum exec_step step,
                                  struct cursor c)
{
    size_t size;
    const char *value = kvs_request_value(&c, &size);
    if (value == NULL) {
        actor_fail(self, "the answer to a lookup for job %" G_GUINT64_FORMAT " is malformed", job->id);
        return;
    }
    switch (step) {
    case EXEC_R:
        exec_job_take_resources(self, job, value, size);
        exec_step_done(self, je, job, step);
        break;
    case EXEC_JOBSPEC:
        exec_job_take_jobspec(self, job, value, size);
        exec_step_done(self, je, job, step);
        break;
    default:
        exec_job_commit_copy(self, job, value, size);
    }
}

static void exec_handle_created(struct actor *self, struct exec_job *job)
{
    job->times[JOB_TIME_NAMESPACE] = actor_now(self);
    exec_job_commit_event(self, job, EXEC_INIT, "init", NULL);
    exec_job_commit_link(self, job);
}

static void exec_handle_removed(struct actor *self, struct job_exec *je, struct exec_job *job)
{
    job->times[JOB_TIME_MOVE] = actor_now(self);
    exec_job_answer(self, job, JOB_EXEC_RELEASED, 1);
    actor_count(self, JOB_EXEC_RELEASES, 1);
    g_hash_table_remove(je->by_id, &job->id);
    pending_remove(&je->jobs, job->number);
}

static void exec_handle_committed(struct actor *self, struct job_exec *je, struct exec_job *job, enum exec_step step)
{
    switch (step) {
    case EXEC_INIT:
    case EXEC_LINK:
        exec_step_done(self, je, job, step);
        break;
    case EXEC_CLEANUP_START:
        exec_job_commit_event(self, job, EXEC_CLEANUP_FINISH, "cleanup.finish", NULL);
        break;
    case EXEC_CLEANUP_FINISH:
        exec_job_commit_event(self, job, EXEC_DONE, "done", NULL);
        break;
    case EXEC_DONE:
        exec_job_charge(self);
        guest_lookup_reference(self, job->id, exec_job_tag(job, EXEC_REFERENCE));
        break;
    case EXEC_COPY:
        exec_job_charge(self);
        guest_remove(self, job->id, exec_job_tag(job, EXEC_REMOVE));
        break;
    default:
        break;      /* "starting" and "complete": nothing waits for them */
    }
}

/* --- the shell --- */

static void exec_handle_shell(struct actor *self, struct job_exec *je, struct exec_job *job, struct cursor c)
{
    uint8_t type = cursor_u8(&c);
    cursor_u64(&c);
    uint32_t value = cursor_u32(&c);
    switch (type) {
    case EXECUTOR_RUNNING:
        job->times[JOB_TIME_LAUNCH] = actor_now(self);
        exec_job_answer(self, job, JOB_EXEC_STARTED, 0);
        exec_start_limit(self, je, job);
        break;
    case EXECUTOR_COMPLETE:
        job->times[JOB_TIME_SHELL_INIT] = cursor_i64(&c);
        job->times[JOB_TIME_SHELL_START] = cursor_i64(&c);
        job->times[JOB_TIME_TASK_END] = cursor_i64(&c);
        job->watched = cursor_u8(&c);
        job_limits_remove(&je->limits, job->deadline_ns, job->number);
        exec_job_end(self, job, value);
        break;
    default:
        break;      /* output goes to the store, not here */
    }
}

/* --- timers --- */

/* A window is over; the log may have been committed before, and collected again since. */
static void exec_handle_window(struct actor *self, struct job_exec *je, uint64_t number)
{
    struct exec_job *job = pending_find(&je->jobs, number);
    if (job == NULL || job->log == NULL || actor_now(self) < job->log_due_ns)
        return;
    actor_count(self, JOB_EXEC_WINDOWS, 1);
    exec_job_commit_log(self, job, EXEC_STARTING);
}

static void exec_handle_limit(struct actor *self, struct job_exec *je)
{
    uint64_t number;
    while (job_limits_expired(&je->limits, actor_now(self), &number)) {
        struct exec_job *job = pending_find(&je->jobs, number);
        job->deadline_ns = JOB_LIMITS_NONE;
        actor_count(self, JOB_EXEC_TIMEOUTS, 1);
        exec_job_answer(self, job, JOB_EXEC_EXCEPTION, JOB_KILLED);
        exec_signal(self, je, job);
    }
    int64_t next_ns = job_limits_rearm(&je->limits, actor_now(self));
    if (next_ns != JOB_LIMITS_NONE)
        actor_timer_background(self, next_ns - actor_now(self), JOB_EXEC_LIMIT, 0);
}

/* --- the role --- */

static void exec_handle_answer(struct actor *self, struct job_exec *je, const struct message *m,
                               const struct envelope *env, struct cursor c)
{
    enum exec_step step = env->tag % EXEC_STEPS;
    struct exec_job *job = pending_find(&je->jobs, env->tag / EXEC_STEPS);
    if (job == NULL || env->error != 0) {
        actor_fail(self, "step %d of job %" G_GUINT64_FORMAT " failed with errno %u", (int)step,
                   job == NULL ? 0 : job->id, env->error);
        return;
    }
    switch (m->kind) {
    case KVS_LOOKUP | KIND_REPLY:
        exec_handle_looked_up(self, je, job, step, c);
        break;
    case KVS_COMMIT | KIND_REPLY:
        exec_handle_committed(self, je, job, step);
        break;
    case KVS_NAMESPACE_CREATE | KIND_REPLY:
        exec_handle_created(self, job);
        break;
    case KVS_NAMESPACE_REMOVE | KIND_REPLY:
        exec_handle_removed(self, je, job);
        break;
    case EXECUTOR_LAUNCH | KIND_REPLY:
        exec_handle_shell(self, je, job, c);
        break;
    default:
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    }
}

static void job_exec_handle(struct actor *self, const struct message *m)
{
    const struct instance *inst = actor_setup(self);
    struct job_exec *je = actor_state(self);
    if (m->kind == JOB_EXEC_LIMIT) {
        exec_handle_limit(self, je);
        return;
    }
    if (m->kind == JOB_EXEC_FINISHED_SIMULATION) {
        exec_handle_simulated(self, je, m->word);
        return;
    }
    if (m->kind == JOB_EXEC_BATCH) {
        exec_handle_window(self, je, m->word);
        return;
    }
    struct envelope env;
    struct cursor c = route_open(self, m, &env);
    role_charge(self, cost_ns(&inst->costs.job_exec_request, m->payload->size, 0));
    if (m->kind == JOB_EXEC_START)
        exec_handle_start(self, je, &env, c);
    else if (m->kind == JOB_EXEC_KILL)
        exec_handle_kill(self, je, c);
    else
        exec_handle_answer(self, je, m, &env, c);
}

static void job_exec_save(const struct actor *self, struct bytes *sink)
{
    const struct job_exec *je = actor_state(self);
    unsigned count = pending_length(&je->jobs);
    uint64_t *numbers = pending_ids(&je->jobs);
    bytes_put_u64(sink, je->jobs.last);
    bytes_put_u32(sink, count);
    for (unsigned i = 0; i < count; i++) {
        exec_job_save(pending_find(&je->jobs, numbers[i]), sink);
    }
    g_free(numbers);
    job_limits_save(&je->limits, sink);
}

static void job_exec_release(struct actor *self)
{
    struct job_exec *je = actor_state(self);
    g_queue_clear(&je->launches);
    g_hash_table_unref(je->by_id);
    pending_release(&je->jobs);
    job_limits_release(&je->limits);
}

static const struct kind_name job_exec_kinds[] = {
    { JOB_EXEC_START, "start", "the job manager starts a job" },
    { JOB_EXEC_KILL, "kill", "the job manager ends a job early" },
    { JOB_EXEC_LIMIT, "limit", "timer: the earliest time limit is over" },
    { JOB_EXEC_BATCH, "batch", "timer: the window of a job's log entries is over" },
    { JOB_EXEC_FINISHED_SIMULATION, "finished-simulation", "end of an act: a simulated job has run" },
    { 0, NULL, NULL }
};

static const struct metric job_exec_metrics[] = {
    [JOB_EXEC_STARTS] = { "starts", "1", "jobs taken over", METRIC_SERIES },
    [JOB_EXEC_GUEST_COMMITS] = { "commits_own", "1", "transactions of single jobs: guest namespace", METRIC_COUNTER },
    [JOB_EXEC_WINDOWS] = { "windows", "1", "of these, at the end of a window", METRIC_COUNTER },
    [JOB_EXEC_LINKS] = { "commits_own_link", "1", "transactions of single jobs: guest link", METRIC_COUNTER },
    [JOB_EXEC_COPIES] = { "commits_own_copy", "1", "transactions of single jobs: guest copy", METRIC_COUNTER },
    [JOB_EXEC_LAUNCHES] = { "launches", "1", "remote launches sent", METRIC_COUNTER },
    [JOB_EXEC_TIMEOUTS] = { "timeouts", "1", "jobs that ran into their limit", METRIC_COUNTER },
    [JOB_EXEC_RELEASES] = { "releases", "1", "jobs whose resources were released", METRIC_SERIES },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_job_exec = {
    .name = "job-exec",
    .text = "starts jobs and cleans up after them",
    .state_size = sizeof(struct job_exec),
    .streams = INSTANCE_STREAMS,
    .kinds = job_exec_kinds,
    .metrics = job_exec_metrics,
    .init = job_exec_init,
    .handle = job_exec_handle,
    .turn = job_exec_turn,
    .turn_ready = job_exec_turn_ready,
    .save = job_exec_save,
    .release = job_exec_release,
};
