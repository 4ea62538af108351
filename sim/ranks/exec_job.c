/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/exec_job.h"

#include "kvs/jobid.h"
#include "kvs/key.h"
#include "ranks/charge.h"
#include "ranks/guest.h"
#include "ranks/job_exec.h"
#include "ranks/job_text.h"
#include "workload/jobspec.h"

void exec_job_free(gpointer data)
{
    struct exec_job *job = data;
    if (job->log != NULL)
        transaction_free(job->log);
    g_free(job->resources);
    g_free(job);
}

void exec_job_save(const struct exec_job *job, struct bytes *sink)
{
    bytes_put_u64(sink, job->number);
    bytes_put_u64(sink, job->id);
    envelope_put(sink, &job->env);
    bytes_put_u8(sink, job->resources != NULL);
    if (job->resources != NULL)
        allocation_put(job->resources, sink);
    bytes_put_i64(sink, job->duration_ns);
    bytes_put_i64(sink, job->limit_ns);
    bytes_put_i64(sink, job->deadline_ns);
    bytes_put_u32(sink, job->waiting);
    bytes_put_u8(sink, job->killed);
    bytes_put_u8(sink, job->stage);
    bytes_put_u8(sink, job->watched);
    bytes_put_u8(sink, job->log != NULL);
    if (job->log != NULL) {
        transaction_pack(job->log, sink);
        bytes_put_i64(sink, job->log_due_ns);
    }
    for (unsigned k = 0; k < JOB_EXEC_TIMES; k++)
        bytes_put_i64(sink, job->times[job_exec_times[k]]);
}

uint64_t exec_job_tag(const struct exec_job *job, enum exec_step step)
{
    return job->number * EXEC_STEPS + step;
}

void exec_job_charge(struct actor *self)
{
    const struct instance *inst = actor_setup(self);
    role_charge(self, cost_ns(&inst->costs.job_exec_step, 0, 0));
}

/* --- its requests --- */

void exec_job_commit_event(struct actor *self, const struct exec_job *job, enum exec_step step, const char *name,
                           const char *context)
{
    exec_job_charge(self);
    actor_count(self, JOB_EXEC_GUEST_COMMITS, 1);
    guest_commit_event(self, job->id, exec_job_tag(job, step), name, context);
}

void exec_job_commit_log(struct actor *self, struct exec_job *job, enum exec_step step)
{
    exec_job_charge(self);
    actor_count(self, JOB_EXEC_GUEST_COMMITS, 1);
    guest_commit_log(self, job->id, exec_job_tag(job, step), job->log);
    job->log = NULL;
}

void exec_job_log(struct actor *self, struct exec_job *job, enum exec_step step, const char *name,
                  const char *context)
{
    const struct instance *inst = actor_setup(self);
    if (inst->exec_batch_ns == 0) {
        exec_job_commit_event(self, job, step, name, context);
        return;
    }
    if (job->log == NULL) {
        job->log = transaction_new(0, 0, 0);
        job->log_due_ns = actor_now(self) + inst->exec_batch_ns;
        actor_timer(self, inst->exec_batch_ns, JOB_EXEC_BATCH, job->number);
    }
    guest_log(self, job->log, name, context);
}

void exec_job_commit_link(struct actor *self, const struct exec_job *job)
{
    exec_job_charge(self);
    actor_count(self, JOB_EXEC_LINKS, 1);
    guest_commit_link(self, job->id, exec_job_tag(job, EXEC_LINK));
}

void exec_job_commit_copy(struct actor *self, const struct exec_job *job, const char *reference, size_t size)
{
    exec_job_charge(self);
    actor_count(self, JOB_EXEC_COPIES, 1);
    if (!guest_commit_copy(self, job->id, exec_job_tag(job, EXEC_COPY), reference, size))
        actor_fail(self, "the guest root of job %" G_GUINT64_FORMAT " is not a tree object", job->id);
}

void exec_job_answer(struct actor *self, const struct exec_job *job, enum job_exec_answer type, uint32_t status)
{
    exec_job_charge(self);
    struct bytes body = BYTES_INIT;
    bytes_put_u8(&body, (uint8_t)type);
    bytes_put_u64(&body, job->id);
    bytes_put_u32(&body, status);
    if (type == JOB_EXEC_RELEASED) {
        bytes_put_u32(&body, job->resources->spans[0].node);
        bytes_put_u32(&body, (uint32_t)allocation_cores(job->resources));
        bytes_put_u8(&body, job->watched);
        for (unsigned i = 0; i < JOB_EXEC_TIMES; i++)
            bytes_put_i64(&body, job->times[job_exec_times[i]]);
    }
    route_reply(self, &job->env, JOB_EXEC_START, 0, &body);
    bytes_release(&body);
}

/* --- its place and its shell --- */

void exec_job_take_resources(struct actor *self, struct exec_job *job, const char *text, size_t size)
{
    const struct instance *inst = actor_setup(self);
    job->resources = job_text_resources_parse(text, size);
    const struct core_span *first = job->resources == NULL ? NULL : &job->resources->spans[0];
    if (first == NULL || first->node >= inst->nodes || first->first_core >= inst->cores_per_node)
        actor_fail(self, "R of job %" G_GUINT64_FORMAT " names no place of this instance", job->id);
}

void exec_job_take_jobspec(struct actor *self, struct exec_job *job, const char *text, size_t size)
{
    struct workload_job description;
    GError *error = NULL;
    if (jobspec_parse("jobspec", text, size, &description, &error)) {
        job->limit_ns = description.limit_ns;
        job->duration_ns = description.duration_ns;
    } else {
        actor_fail(self, "job %" G_GUINT64_FORMAT " has an unusable jobspec: %s", job->id, error->message);
        g_error_free(error);
    }
}

void exec_job_launch(struct actor *self, struct exec_job *job)
{
    const struct instance *inst = actor_setup(self);
    const struct core_span *first = &job->resources->spans[0];
    role_charge(self, cost_ns(&inst->costs.job_exec_launch, 0, 0));
    actor_count(self, JOB_EXEC_LAUNCHES, 1);
    char guest[JOBID_NAMESPACE_SIZE];
    jobid_to_namespace(job->id, guest);
    struct bytes body = BYTES_INIT;
    bytes_put_u64(&body, job->id);
    key_put_text(&body, guest);
    bytes_put_u32(&body, 0);        /* the first shell */
    bytes_put_u32(&body, 1);        /* of one */
    uint32_t executor = instance_executor(inst, first->node, first->first_core);
    route_send(self, executor, EXECUTOR_LAUNCH, exec_job_tag(job, EXEC_LAUNCH), &body);
    bytes_release(&body);
}

void exec_job_signal(struct actor *self, const struct exec_job *job, uint32_t signal)
{
    const struct core_span *first = &job->resources->spans[0];
    struct bytes body = BYTES_INIT;
    bytes_put_u64(&body, job->id);
    bytes_put_u32(&body, signal);
    route_send(self, instance_executor(actor_setup(self), first->node, first->first_core), EXECUTOR_SIGNAL, 0, &body);
    bytes_release(&body);
}

void exec_job_end(struct actor *self, struct exec_job *job, uint32_t status)
{
    char context[64];
    job->stage = EXEC_JOB_ENDED;
    g_snprintf(context, sizeof context, "{\"status\":%u}", status);
    exec_job_log(self, job, EXEC_COMPLETE, "complete", context);
    exec_job_answer(self, job, JOB_EXEC_FINISHED, status);
    if (job->log == NULL) {
        exec_job_commit_event(self, job, EXEC_CLEANUP_START, "cleanup.start", NULL);
    } else {
        guest_log(self, job->log, "done", NULL);
        exec_job_commit_log(self, job, EXEC_DONE);
    }
}
