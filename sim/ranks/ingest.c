/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/ingest.h"

#include <errno.h>

#include "kvs/jobid.h"
#include "ranks/charge.h"
#include "ranks/job_text.h"
#include "ranks/jobs.h"
#include "ranks/kvs_request.h"
#include "ranks/protocol.h"
#include "ranks/roles.h"
#include "ranks/route.h"
#include "ranks/validators.h"
#include "workload/jobspec.h"

struct submission {
    struct envelope env;        /* of the request */
    uint64_t id;                /* 0: none yet */
    int64_t id_valid_ns;        /* not before */
    int64_t submit_ns;
    uint8_t urgency;
    uint32_t size;
    char *jobspec;
};

struct batch {
    uint64_t serial;            /* tag of its requests */
    GPtrArray *jobs;            /* struct submission */
};

struct ingest {
    struct validators validators;
    struct jobid_source ids;
    GQueue id_waiting;          /* struct submission, by rising id_valid_ns */
    struct batch *open;         /* NULL: none; its timer runs */
    GQueue in_flight;           /* struct batch, by rising serial */
    uint64_t batches;
};

static void submission_free(gpointer data)
{
    struct submission *s = data;
    g_free(s->jobspec);
    g_free(s);
}

static struct batch *batch_new(uint64_t serial)
{
    struct batch *b = g_new(struct batch, 1);
    b->serial = serial;
    b->jobs = g_ptr_array_new_with_free_func(submission_free);
    return b;
}

static void batch_free(gpointer data)
{
    struct batch *b = data;
    g_ptr_array_unref(b->jobs);
    g_free(b);
}

static void ingest_init(struct actor *self, const void *setup)
{
    const struct instance *inst = setup;
    struct ingest *in = actor_state(self);
    unsigned limit = CLAMP(inst->ingest_validators, 1, VALIDATORS_MAX);
    validators_init(&in->validators, limit, inst->jobs->validator_threshold, inst->jobs->validator_idle_ns,
                    inst->costs.ingest_validator.fixed_ns, inst->costs.ingest_validate.fixed_ns);
    jobid_source_init(&in->ids, actor_node(self), inst->age_ns / 1000000);
    g_queue_init(&in->id_waiting);
    g_queue_init(&in->in_flight);
}

/* --- from the submission to the batch --- */

static void ingest_begin_check(struct actor *self, struct ingest *in, unsigned worker)
{
    const struct instance *inst = actor_setup(self);
    int64_t work_ns;
    const struct submission *s = validators_begin(&in->validators, worker, &work_ns);
    if (s == NULL)
        return;
    work_ns += (int64_t)s->size * inst->costs.ingest_validate.per_byte_ps / 1000;
    actor_perform(self, (struct act){ ACT_WORK, role_jitter(self, work_ns) }, INGEST_VALIDATED, worker);
}

static void ingest_handle_submit(struct actor *self, struct ingest *in, const struct envelope *env, struct cursor c)
{
    struct submission *s = g_new0(struct submission, 1);
    size_t size;
    s->env = *env;
    s->urgency = cursor_u8(&c);
    const char *jobspec = cursor_span(&c, &size);
    if (!cursor_done(&c)) {
        submission_free(s);
        actor_fail(self, "a submission from actor %u is malformed", env->origin);
        return;
    }
    s->jobspec = g_memdup2(jobspec, size);
    s->size = (uint32_t)size;
    s->submit_ns = actor_now(self);
    actor_count(self, INGEST_SUBMISSIONS, 1);
    ingest_begin_check(self, in, validators_add(&in->validators, s, actor_now(self)));
}

/* What the real validator does: accepts what the jobspec's rules allow. */
static bool submission_valid(const struct submission *s)
{
    GError *error = NULL;
    struct workload_job job;
    bool valid = jobspec_parse("submission", s->jobspec, s->size, &job, &error);
    g_clear_error(&error);
    return valid;
}

static void ingest_join_batch(struct actor *self, struct ingest *in, struct submission *s)
{
    const struct instance *inst = actor_setup(self);
    if (in->open == NULL) {
        in->open = batch_new(in->batches++);
        actor_timer(self, inst->ingest_batch_ns, INGEST_BATCH, in->open->serial);
    }
    g_ptr_array_add(in->open->jobs, s);
}

static void ingest_name(struct actor *self, struct ingest *in, struct submission *s)
{
    s->id_valid_ns = jobid_next(&in->ids, actor_now(self), &s->id);
    if (s->id_valid_ns <= actor_now(self)) {
        ingest_join_batch(self, in, s);
        return;
    }
    actor_count(self, INGEST_ID_WAITS, 1);
    if (g_queue_is_empty(&in->id_waiting))
        actor_timer(self, s->id_valid_ns - actor_now(self), INGEST_NEXT_ID, 0);
    g_queue_push_tail(&in->id_waiting, s);
}

static void ingest_handle_next_id(struct actor *self, struct ingest *in)
{
    struct submission *s;
    while ((s = g_queue_peek_head(&in->id_waiting)) != NULL && s->id_valid_ns <= actor_now(self))
        ingest_join_batch(self, in, g_queue_pop_head(&in->id_waiting));
    if (s != NULL)
        actor_timer(self, s->id_valid_ns - actor_now(self), INGEST_NEXT_ID, 0);
}

static void ingest_handle_validated(struct actor *self, struct ingest *in, unsigned worker)
{
    const struct instance *inst = actor_setup(self);
    role_charge(self, cost_ns(&inst->costs.ingest_request, 0, 0));
    struct submission *s = validators_finish(&in->validators, worker, actor_now(self));
    ingest_begin_check(self, in, worker);
    if (submission_valid(s)) {
        ingest_name(self, in, s);
    } else {
        actor_count(self, INGEST_REFUSED, 1);
        route_reply(self, &s->env, INGEST_SUBMIT, EINVAL, NULL);
        submission_free(s);
    }
}

/* --- a batch --- */

static void batch_add_operations(struct transaction *t, const struct submission *s, const struct instance *inst)
{
    char key[64], context[96];
    GString *text = g_string_new(NULL);
    job_text_signed(text, JOB_USER, s->jobspec, s->size);
    jobid_to_entry(s->id, "J", key, sizeof key);
    transaction_put(t, key, text->str, text->len);

    jobid_to_entry(s->id, "jobspec", key, sizeof key);
    transaction_put(t, key, s->jobspec, s->size);

    g_string_truncate(text, 0);
    g_snprintf(context, sizeof context, "{\"userid\":%u,\"priority\":%u,\"flags\":0}", (unsigned)JOB_USER, s->urgency);
    job_text_event(text, inst->epoch_ns + s->submit_ns, "submit", context);
    jobid_to_entry(s->id, "eventlog", key, sizeof key);
    transaction_append(t, key, text->str, text->len);
    g_string_free(text, TRUE);
}

static void ingest_handle_window(struct actor *self, struct ingest *in)
{
    const struct instance *inst = actor_setup(self);
    struct batch *b = in->open;
    in->open = NULL;
    g_queue_push_tail(&in->in_flight, b);
    role_charge(self, cost_ns(&inst->costs.ingest_batch, 0, b->jobs->len));
    actor_count(self, INGEST_COMMITS, 1);
    struct transaction *t = transaction_new(0, 0, 0);
    for (unsigned i = 0; i < b->jobs->len; i++)
        batch_add_operations(t, g_ptr_array_index(b->jobs, i), inst);
    kvs_request_commit(self, NAMESPACES_PRIMARY, b->serial, t);
}

static struct batch *ingest_find(struct actor *self, struct ingest *in, uint64_t serial)
{
    for (GList *item = in->in_flight.head; item != NULL; item = item->next) {
        struct batch *b = item->data;
        if (b->serial == serial)
            return b;
    }
    actor_fail(self, "an answer to batch %" G_GUINT64_FORMAT ", which is not in flight", serial);
    return NULL;
}

/* Answers all jobs of the batch. */
static void ingest_end_batch(struct actor *self, struct ingest *in, struct batch *b, uint16_t error)
{
    for (unsigned i = 0; i < b->jobs->len; i++) {
        const struct submission *s = g_ptr_array_index(b->jobs, i);
        struct bytes body = BYTES_INIT;
        bytes_put_u64(&body, s->id);
        route_reply(self, &s->env, INGEST_SUBMIT, error, &body);
        bytes_release(&body);
    }
    g_queue_remove(&in->in_flight, b);
    batch_free(b);
}

static void ingest_handle_committed(struct actor *self, struct ingest *in, const struct envelope *env)
{
    const struct instance *inst = actor_setup(self);
    struct batch *b = ingest_find(self, in, env->tag);
    if (b == NULL)
        return;
    if (env->error != 0) {
        ingest_end_batch(self, in, b, env->error);
        return;
    }
    struct bytes body = BYTES_INIT;
    bytes_put_u32(&body, b->jobs->len);
    for (unsigned i = 0; i < b->jobs->len; i++) {
        const struct submission *s = g_ptr_array_index(b->jobs, i);
        bytes_put_u64(&body, s->id);
        bytes_put_u8(&body, s->urgency);
        bytes_put_u32(&body, JOB_USER);
        bytes_put_i64(&body, s->submit_ns);
        if (inst->passes != PASSES_NOTHING)
            bytes_put_span(&body, s->jobspec, s->size);
    }
    actor_count(self, INGEST_BATCHES, 1);
    route_send(self, instance_job_manager(inst), JOB_MANAGER_SUBMIT, b->serial, &body);
    bytes_release(&body);
}

static void ingest_handle_routed(struct actor *self, struct ingest *in, const struct message *m)
{
    const struct instance *inst = actor_setup(self);
    struct envelope env;
    struct cursor c = route_open(self, m, &env);
    role_charge(self, cost_ns(&inst->costs.ingest_request, m->payload->size, 0));
    struct batch *b;
    switch (m->kind) {
    case INGEST_SUBMIT:
        ingest_handle_submit(self, in, &env, c);
        break;
    case KVS_COMMIT | KIND_REPLY:
        ingest_handle_committed(self, in, &env);
        break;
    case JOB_MANAGER_SUBMIT | KIND_REPLY:
        b = ingest_find(self, in, env.tag);
        if (b != NULL)
            ingest_end_batch(self, in, b, env.error);
        break;
    default:
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    }
}

static void ingest_handle(struct actor *self, const struct message *m)
{
    struct ingest *in = actor_state(self);
    switch (m->kind) {
    case INGEST_VALIDATED:
        ingest_handle_validated(self, in, (unsigned)m->word);
        break;
    case INGEST_NEXT_ID:
        ingest_handle_next_id(self, in);
        break;
    case INGEST_BATCH:
        ingest_handle_window(self, in);
        break;
    default:
        ingest_handle_routed(self, in, m);
    }
}

/* --- the rest --- */

static void submission_save(gconstpointer data, struct bytes *sink)
{
    const struct submission *s = data;
    envelope_put(sink, &s->env);
    bytes_put_u64(sink, s->id);
    bytes_put_i64(sink, s->id_valid_ns);
    bytes_put_i64(sink, s->submit_ns);
    bytes_put_u8(sink, s->urgency);
    bytes_put_span(sink, s->jobspec, s->size);
}

static void batch_save(const struct batch *b, struct bytes *sink)
{
    bytes_put_u64(sink, b->serial);
    bytes_put_u32(sink, b->jobs->len);
    for (unsigned i = 0; i < b->jobs->len; i++)
        submission_save(g_ptr_array_index(b->jobs, i), sink);
}

static void ingest_save(const struct actor *self, struct bytes *sink)
{
    const struct ingest *in = actor_state(self);
    validators_save(&in->validators, sink, submission_save);
    bytes_put_i64(sink, in->ids.last_ms);
    bytes_put_u32(sink, in->ids.sequence);
    bytes_put_u32(sink, in->id_waiting.length);
    for (const GList *item = in->id_waiting.head; item != NULL; item = item->next)
        submission_save(item->data, sink);
    bytes_put_u64(sink, in->batches);
    bytes_put_u8(sink, in->open != NULL);
    if (in->open != NULL)
        batch_save(in->open, sink);
    bytes_put_u32(sink, in->in_flight.length);
    for (const GList *item = in->in_flight.head; item != NULL; item = item->next)
        batch_save(item->data, sink);
}

static void ingest_release(struct actor *self)
{
    struct ingest *in = actor_state(self);
    for (unsigned i = 0; i < in->validators.limit; i++)
        g_queue_clear_full(&in->validators.workers[i].jobs, submission_free);
    validators_release(&in->validators);
    g_queue_clear_full(&in->id_waiting, submission_free);
    g_queue_clear_full(&in->in_flight, batch_free);
    if (in->open != NULL)
        batch_free(in->open);
}

static const struct kind_name ingest_kinds[] = {
    { INGEST_SUBMIT, "submit", "a client submits a job" },
    { INGEST_VALIDATED, "validated", "end of an act: a co-process has checked a job" },
    { INGEST_BATCH, "batch", "timer: the window of a batch is over" },
    { INGEST_NEXT_ID, "next-id", "timer: a millisecond with free job ids begins" },
    { 0, NULL, NULL }
};

static const struct metric ingest_metrics[] = {
    [INGEST_SUBMISSIONS] = { "submissions", "1", "submissions taken", METRIC_SERIES },
    [INGEST_REFUSED] = { "refused", "1", "submissions refused by a validator", METRIC_COUNTER },
    [INGEST_BATCHES] = { "batches", "1", "batches sent to the job manager", METRIC_COUNTER },
    [INGEST_COMMITS] = { "commits_shared", "1", "transactions, one for a batch of jobs", METRIC_COUNTER },
    [INGEST_ID_WAITS] = { "id_waits", "1", "jobs that waited for the next millisecond's ids", METRIC_COUNTER },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_ingest = {
    .name = "ingest",
    .text = "checks, names and commits submitted jobs",
    .state_size = sizeof(struct ingest),
    .streams = INSTANCE_STREAMS,
    .kinds = ingest_kinds,
    .metrics = ingest_metrics,
    .init = ingest_init,
    .handle = ingest_handle,
    .save = ingest_save,
    .release = ingest_release,
};
