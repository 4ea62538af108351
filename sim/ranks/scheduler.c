/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/scheduler.h"

#include "kvs/jobid.h"
#include "kvs/key.h"
#include "ranks/charge.h"
#include "ranks/job_text.h"
#include "ranks/jobs.h"
#include "ranks/kvs_request.h"
#include "ranks/protocol.h"
#include "ranks/roles.h"
#include "ranks/route.h"
#include "workload/jobspec.h"

enum request_state {
    REQUEST_JOBSPEC,        /* alloc: its jobspec is looked up */
    REQUEST_QUEUED,         /* alloc: the policy has it */
    REQUEST_COMMIT,         /* alloc: R is being committed */
    REQUEST_FREE            /* free: R is looked up */
};

/* A request that has not been answered: at most one a job at any time. */
struct scheduler_request {
    struct envelope env;
    uint64_t id;
    uint8_t state;          /* enum request_state */
    uint8_t urgency;
    bool cancelled;         /* while its jobspec is looked up */
    int64_t submit_ns;
};

struct scheduler {
    struct policy *policy;
    GHashTable *requests;   /* struct scheduler_request by id */
};

static void scheduler_init(struct actor *self, const void *setup)
{
    const struct instance *inst = setup;
    struct scheduler *s = actor_state(self);
    struct policy_config config = inst->jobs->policy;
    GError *error = NULL;
    config.nodes = inst->nodes;
    config.cores_per_node = inst->cores_per_node;
    s->requests = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
    s->policy = policy_new(&config, &error);
    if (s->policy == NULL) {
        actor_fail(self, "%s", error->message);
        g_error_free(error);
    }
}

static struct scheduler_request *request_new(struct actor *self, struct scheduler *s, const struct envelope *env,
                                             uint64_t id, enum request_state state)
{
    if (g_hash_table_contains(s->requests, &id)) {
        actor_fail(self, "a second request for job %" G_GUINT64_FORMAT " while one is open", id);
        return NULL;
    }
    struct scheduler_request *r = g_new0(struct scheduler_request, 1);
    r->env = *env;
    r->id = id;
    r->state = (uint8_t)state;
    g_hash_table_insert(s->requests, &r->id, r);
    return r;
}

/* Answers an alloc request and forgets it. */
static void request_answer(struct actor *self, struct scheduler *s, struct scheduler_request *r,
                           enum scheduler_answer type, const char *note)
{
    const struct instance *inst = actor_setup(self);
    struct bytes body = BYTES_INIT;
    bytes_put_u8(&body, (uint8_t)type);
    bytes_put_u64(&body, r->id);
    key_put_text(&body, note);
    if (inst->passes == PASSES_ALL) {
        GString *text = g_string_new(NULL);
        if (type == SCHEDULER_ALLOCATED)
            job_text_resources(text, policy_allocation(s->policy, r->id));
        bytes_put_span(&body, text->str, text->len);
        g_string_free(text, TRUE);
    }
    route_reply(self, &r->env, SCHEDULER_ALLOC, 0, &body);
    bytes_release(&body);
    g_hash_table_remove(s->requests, &r->id);
}

static void request_enqueue(struct actor *self, struct scheduler *s, struct scheduler_request *r, const char *jobspec,
                            size_t size)
{
    struct workload_job job;
    GError *error = NULL;
    if (!jobspec_parse("jobspec", jobspec, size, &job, &error)) {
        actor_fail(self, "job %" G_GUINT64_FORMAT " has an unusable jobspec: %s", r->id, error->message);
        g_error_free(error);
        return;
    }
    /* A shell serves one node, so all slots of a job are there. */
    struct policy_job request = {
        .id = r->id,
        .submit_ns = r->submit_ns,
        .limit_ns = job.limit_ns == WORKLOAD_NO_LIMIT ? POLICY_NO_LIMIT : job.limit_ns,
        .priority = r->urgency,
        .request = { .nodes = 1, .slots = job.slots, .cores_per_slot = job.cores_per_slot,
                     .exclusive = job.exclusive },
    };
    r->state = REQUEST_QUEUED;
    if (r->cancelled) {
        request_answer(self, s, r, SCHEDULER_CANCELLED, "");
        return;
    }
    if (job.nodes > 1 || !policy_submit(s->policy, actor_now(self), &request)) {
        actor_count(self, SCHEDULER_DENIALS, 1);
        request_answer(self, s, r, SCHEDULER_DENIED, "unsatisfiable request");
    }
}

static void scheduler_handle_alloc(struct actor *self, struct scheduler *s, const struct envelope *env, struct cursor c)
{
    const struct instance *inst = actor_setup(self);
    uint64_t id = cursor_u64(&c);
    uint8_t urgency = cursor_u8(&c);
    cursor_u32(&c);         /* user */
    int64_t submit_ns = cursor_i64(&c);
    struct scheduler_request *r = request_new(self, s, env, id, REQUEST_JOBSPEC);
    if (r == NULL)
        return;
    r->urgency = urgency;
    r->submit_ns = submit_ns;
    actor_count(self, SCHEDULER_REQUESTS, 1);
    if (inst->passes == PASSES_NOTHING) {
        kvs_request_lookup_job(self, id, "jobspec", id);
        return;
    }
    size_t size;
    const char *jobspec = cursor_span(&c, &size);
    if (cursor_ok(&c))
        request_enqueue(self, s, r, jobspec, size);
    else
        actor_fail(self, "the request for job %" G_GUINT64_FORMAT " brings no jobspec", id);
}

/* Too late when R is being committed: the answer to the request is then that it was allocated. */
static void scheduler_handle_cancel(struct actor *self, struct scheduler *s, struct cursor c)
{
    uint64_t id = cursor_u64(&c);
    struct scheduler_request *r = g_hash_table_lookup(s->requests, &id);
    if (r == NULL)
        return;
    if (r->state == REQUEST_JOBSPEC)
        r->cancelled = true;
    else if (r->state == REQUEST_QUEUED && policy_cancel(s->policy, actor_now(self), id))
        request_answer(self, s, r, SCHEDULER_CANCELLED, "");
}

static void request_free(struct actor *self, struct scheduler *s, struct scheduler_request *r, const char *text,
                         size_t size)
{
    const struct instance *inst = actor_setup(self);
    struct allocation *allocation = job_text_resources_parse(text, size);
    const struct allocation *held = policy_allocation(s->policy, r->id);
    if (allocation == NULL || held == NULL || allocation_cores(allocation) != allocation_cores(held)) {
        actor_fail(self, "R of job %" G_GUINT64_FORMAT " is not what it holds", r->id);
        g_free(allocation);
        return;
    }
    role_charge(self, cost_ns(&inst->costs.scheduler_free, 0, allocation_nodes(allocation)));
    allocation_free(allocation);
    policy_end(s->policy, actor_now(self), r->id);
    actor_count(self, SCHEDULER_FREED, 1);
    struct bytes body = BYTES_INIT;
    bytes_put_u64(&body, r->id);
    route_reply(self, &r->env, SCHEDULER_FREE, 0, &body);
    bytes_release(&body);
    g_hash_table_remove(s->requests, &r->id);
}

static void scheduler_handle_free(struct actor *self, struct scheduler *s, const struct envelope *env, struct cursor c)
{
    const struct instance *inst = actor_setup(self);
    uint64_t id = cursor_u64(&c);
    struct scheduler_request *r = request_new(self, s, env, id, REQUEST_FREE);
    if (r == NULL)
        return;
    if (inst->passes != PASSES_ALL) {
        kvs_request_lookup_job(self, id, "R", id);
        return;
    }
    size_t size;
    const char *text = cursor_span(&c, &size);
    request_free(self, s, r, text, size);
}

static void scheduler_handle_looked_up(struct actor *self, struct scheduler *s, const struct envelope *env,
                                       struct cursor c)
{
    struct scheduler_request *r = g_hash_table_lookup(s->requests, &env->tag);
    size_t size;
    const char *value = kvs_request_value(&c, &size);
    if (r == NULL || env->error != 0 || value == NULL)
        actor_fail(self, "a lookup for job %" G_GUINT64_FORMAT " failed with errno %u", env->tag, env->error);
    else if (r->state == REQUEST_FREE)
        request_free(self, s, r, value, size);
    else
        request_enqueue(self, s, r, value, size);
}

/* --- allocating --- */

static bool scheduler_turn_ready(const struct actor *self)
{
    const struct scheduler *s = actor_state(self);
    return policy_ready(s->policy);
}

static void scheduler_turn(struct actor *self)
{
    const struct instance *inst = actor_setup(self);
    struct scheduler *s = actor_state(self);
    if (!policy_ready(s->policy))
        return;
    actor_count(self, SCHEDULER_TRIES, 1);
    role_charge(self, cost_ns(&inst->costs.scheduler_decide, 0, inst->nodes));
    struct policy_start start;
    if (!policy_next(s->policy, actor_now(self), &start))
        return;
    struct scheduler_request *r = g_hash_table_lookup(s->requests, &start.id);
    g_assert(r != NULL && r->state == REQUEST_QUEUED);
    r->state = REQUEST_COMMIT;
    actor_count(self, SCHEDULER_ALLOCATIONS, 1);
    actor_count(self, SCHEDULER_COMMITS, 1);
    char key[64];
    GString *text = g_string_new(NULL);
    job_text_resources(text, start.allocation);
    jobid_to_entry(r->id, "R", key, sizeof key);
    struct transaction *t = transaction_new(0, 0, 0);
    transaction_put(t, key, text->str, text->len);
    kvs_request_commit(self, NAMESPACES_PRIMARY, r->id, t);
    g_string_free(text, TRUE);
}

static void scheduler_handle_committed(struct actor *self, struct scheduler *s, const struct envelope *env)
{
    struct scheduler_request *r = g_hash_table_lookup(s->requests, &env->tag);
    if (r == NULL || r->state != REQUEST_COMMIT || env->error != 0) {
        actor_fail(self, "committing R of job %" G_GUINT64_FORMAT " failed with errno %u", env->tag, env->error);
        return;
    }
    const struct core_span *span = &policy_allocation(s->policy, r->id)->spans[0];
    char note[64];
    g_snprintf(note, sizeof note, "rank%u/core%u", span->node, span->first_core);
    request_answer(self, s, r, SCHEDULER_ALLOCATED, note);
}

/* --- the role --- */

static void scheduler_handle(struct actor *self, const struct message *m)
{
    const struct instance *inst = actor_setup(self);
    struct scheduler *s = actor_state(self);
    struct envelope env;
    struct cursor c = route_open(self, m, &env);
    role_charge(self, cost_ns(&inst->costs.scheduler_request, m->payload->size, 0));
    switch (m->kind) {
    case SCHEDULER_ALLOC:
        scheduler_handle_alloc(self, s, &env, c);
        break;
    case SCHEDULER_FREE:
        scheduler_handle_free(self, s, &env, c);
        break;
    case SCHEDULER_CANCEL:
        scheduler_handle_cancel(self, s, c);
        break;
    case KVS_LOOKUP | KIND_REPLY:
        scheduler_handle_looked_up(self, s, &env, c);
        break;
    case KVS_COMMIT | KIND_REPLY:
        scheduler_handle_committed(self, s, &env);
        break;
    default:
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    }
}

static gint request_compare_id(gconstpointer a, gconstpointer b)
{
    const struct scheduler_request *first = a, *second = b;
    return (first->id > second->id) - (first->id < second->id);
}

static void scheduler_save(const struct actor *self, struct bytes *sink)
{
    const struct scheduler *s = actor_state(self);
    policy_save(s->policy, sink);
    GList *requests = g_list_sort(g_hash_table_get_values(s->requests), request_compare_id);
    bytes_put_u32(sink, g_hash_table_size(s->requests));
    for (const GList *item = requests; item != NULL; item = item->next) {
        const struct scheduler_request *r = item->data;
        bytes_put_u64(sink, r->id);
        bytes_put_u8(sink, r->state);
        bytes_put_u8(sink, r->urgency);
        bytes_put_u8(sink, r->cancelled);
        bytes_put_i64(sink, r->submit_ns);
        envelope_put(sink, &r->env);
    }
    g_list_free(requests);
}

static void scheduler_release(struct actor *self)
{
    struct scheduler *s = actor_state(self);
    g_hash_table_unref(s->requests);
    if (s->policy != NULL)
        policy_free(s->policy);
}

static const struct kind_name scheduler_kinds[] = {
    { SCHEDULER_ALLOC, "alloc", "the job manager asks for a job's resources" },
    { SCHEDULER_CANCEL, "cancel", "the job manager withdraws its request" },
    { SCHEDULER_FREE, "free", "the job manager gives a job's resources back" },
    { 0, NULL, NULL }
};

static const struct metric scheduler_metrics[] = {
    [SCHEDULER_REQUESTS] = { "requests", "1", "requests for resources", METRIC_COUNTER },
    [SCHEDULER_TRIES] = { "tries", "1", "turns that tried the head of the queue", METRIC_COUNTER },
    [SCHEDULER_DENIALS] = { "denials", "1", "jobs that can never run here", METRIC_COUNTER },
    [SCHEDULER_ALLOCATIONS] = { "allocations", "1", "jobs that got their resources", METRIC_SERIES },
    [SCHEDULER_FREED] = { "freed", "1", "jobs whose resources came back", METRIC_SERIES },
    [SCHEDULER_COMMITS] = { "commits_own", "1", "transactions of single jobs: R", METRIC_COUNTER },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_scheduler = {
    .name = "scheduler",
    .text = "gives resources to jobs, one try a turn",
    .state_size = sizeof(struct scheduler),
    .streams = INSTANCE_STREAMS,
    .kinds = scheduler_kinds,
    .metrics = scheduler_metrics,
    .init = scheduler_init,
    .handle = scheduler_handle,
    .turn = scheduler_turn,
    .turn_ready = scheduler_turn_ready,
    .save = scheduler_save,
    .release = scheduler_release,
};
