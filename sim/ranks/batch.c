/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/batch.h"

#include <stddef.h>

#include "engine/engine.h"
#include "ranks/batch_rows.h"

/* Something that will happen: ends come before submissions of their instant. */
enum due_class { DUE_END, DUE_SUBMISSION };

struct due {
    int64_t time_ns;
    uint64_t index;             /* of the job */
    struct batch_job *job;
    uint8_t class;              /* enum due_class */
};

struct batch_state {
    const struct batch *setup;
    struct policy *policy;
    struct workload *workload;
    bool has_next;              /* `next` is the workload's next job */
    struct workload_job next;
    GArray *due;                /* struct due, a binary heap: ends, and released jobs to be submitted */
    GHashTable *waiting;        /* struct batch_job by index */
    struct batch_texts texts;
    int64_t timer_ns;           /* when the earliest timer under way comes, or INT64_MAX */
    uint64_t submitted;
    uint64_t ended;
};

/* The workload's time. */
static int64_t now_of(const struct actor *self)
{
    return actor_now(self) - BATCH_ORIGIN_NS;
}

/* --- what is due --- */

static bool due_before(const struct due *a, const struct due *b)
{
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    return a->class != b->class ? a->class < b->class : a->index < b->index;
}

static struct due *due_at(GArray *heap, guint i)
{
    return &g_array_index(heap, struct due, i);
}

static void due_add(GArray *heap, struct due due)
{
    g_array_append_val(heap, due);
    guint i = heap->len - 1;
    for (; i > 0 && due_before(&due, due_at(heap, (i - 1) / 2)); i = (i - 1) / 2)
        *due_at(heap, i) = *due_at(heap, (i - 1) / 2);
    *due_at(heap, i) = due;
}

static struct due due_take(GArray *heap)
{
    struct due first = *due_at(heap, 0), last = *due_at(heap, heap->len - 1);
    g_array_set_size(heap, heap->len - 1);
    guint i = 0;
    while (2 * i + 1 < heap->len) {
        guint child = 2 * i + 1;
        if (child + 1 < heap->len && due_before(due_at(heap, child + 1), due_at(heap, child)))
            child++;
        if (!due_before(due_at(heap, child), &last))
            break;
        *due_at(heap, i) = *due_at(heap, child);
        i = child;
    }
    if (heap->len > 0)
        *due_at(heap, i) = last;
    return first;
}

static const struct due *due_first(const struct batch_state *b, int64_t until_ns)
{
    return b->due->len > 0 && due_at(b->due, 0)->time_ns <= until_ns ? due_at(b->due, 0) : NULL;
}

/* --- jobs --- */

static void read_next(struct actor *self, struct batch_state *b)
{
    GError *error = NULL;
    b->has_next = workload_next(b->workload, &b->next, &error);
    if (error != NULL) {
        actor_fail(self, "%s", error->message);
        g_error_free(error);
    }
}

/* Whether a job's name says no more than its number. */
static bool is_plain(const struct workload_job *job)
{
    char number[24];
    if (job->name == NULL)
        return true;
    g_snprintf(number, sizeof number, "%" G_GUINT64_FORMAT, job->number);
    return g_str_equal(job->name, number);
}

static struct batch_job *job_new(struct actor *self, struct batch_state *b, const struct workload_job *from)
{
    struct batch_job *job = g_new(struct batch_job, 1);
    *job = (struct batch_job){
        .index = from->index, .number = from->number, .submit_ns = from->submit_ns, .start_ns = JOB_NEVER,
        .end_ns = JOB_NEVER, .run_ns = from->duration_ns, .limit_ns = from->limit_ns,
        .requested = from->slots * from->cores_per_slot * MAX(from->nodes, 1),
        .name = batch_texts_record(self, &b->texts, is_plain(from) ? NULL : from->name, false),
        .profile = batch_texts_record(self, &b->texts, from->profile, true)
    };
    return job;
}

/* The jobs that waited for one that ended, or will never run. */
static void release_dependents(struct actor *self, struct batch_state *b, uint64_t index, int64_t end_ns)
{
    struct workload_job released;
    GError *error = NULL;
    workload_ended(b->workload, index, end_ns);
    while (workload_released(b->workload, &released, &error))
        due_add(b->due, (struct due){ released.submit_ns, released.index, job_new(self, b, &released),
                                      DUE_SUBMISSION });
    if (error != NULL) {
        actor_fail(self, "%s", error->message);
        g_error_free(error);
    }
}

static struct resource_request request_of_job(const struct batch *setup, const struct batch_job *job)
{
    uint32_t cores_per_node = setup->policy.cores_per_node;
    if (setup->whole_nodes)
        return (struct resource_request){
            .nodes = (uint32_t)(((uint64_t)job->requested + cores_per_node - 1) / cores_per_node), .slots = 1,
            .cores_per_slot = 1, .exclusive = true
        };
    return (struct resource_request){ .slots = job->requested, .cores_per_slot = 1 };
}

/* Takes over the job. */
static void job_submit(struct actor *self, struct batch_state *b, struct batch_job *job)
{
    actor_charge(self, cost_ns(&b->setup->costs.submit, 0, 0));
    actor_count(self, BATCH_SUBMITTED, 1);
    b->submitted++;
    struct policy_job request = {
        .id = job->index, .submit_ns = job->submit_ns, .limit_ns = job->limit_ns, .priority = WORKLOAD_PRIORITY,
        .request = request_of_job(b->setup, job)
    };
    if (policy_submit(b->policy, now_of(self), &request)) {
        g_hash_table_insert(b->waiting, &job->index, job);
        return;
    }
    job->result = JOB_REJECTED;
    actor_count(self, BATCH_REJECTED, 1);
    batch_job_record(self, job);
    b->ended++;
    release_dependents(self, b, job->index, now_of(self));
    g_free(job);
}

static void job_end(struct actor *self, struct batch_state *b, struct batch_job *job)
{
    actor_charge(self, cost_ns(&b->setup->costs.end, 0, 0));
    const struct allocation *held = policy_allocation(b->policy, job->index);
    batch_machines_record(self, job, held, b->setup->policy.cores_per_node);
    actor_count(self, job->result == JOB_KILLED ? BATCH_KILLED : BATCH_COMPLETED, 1);
    batch_job_record(self, job);
    batch_job_measure(self, job, b->setup->slowdown_bound_ns);
    policy_end(b->policy, now_of(self), job->index);
    b->ended++;
    release_dependents(self, b, job->index, job->end_ns);
    g_free(job);
}

static void job_start(struct actor *self, struct batch_state *b, const struct policy_start *start)
{
    struct batch_job *job = g_hash_table_lookup(b->waiting, &start->id);
    g_hash_table_remove(b->waiting, &start->id);
    actor_charge(self, cost_ns(&b->setup->costs.start, 0, 0));
    actor_count(self, BATCH_STARTED, 1);
    bool killed = !b->setup->overrun && job->run_ns > job->limit_ns;
    int64_t length_ns = killed ? job->limit_ns : job->run_ns;
    job->start_ns = now_of(self);
    job->cores = (uint32_t)allocation_cores(start->allocation);
    job->result = killed ? JOB_KILLED : JOB_COMPLETED;
    if (length_ns > ENGINE_LAST_NS - BATCH_ORIGIN_NS - 1 - job->start_ns) {
        actor_fail(self, "job %" G_GUINT64_FORMAT " would end after more than 146 years of virtual time", job->number);
        length_ns = 0;
    }
    job->end_ns = job->start_ns + length_ns;
    due_add(b->due, (struct due){ job->end_ns, job->index, job, DUE_END });
}

/* --- an instant --- */

static void decide(struct actor *self, struct batch_state *b)
{
    uint64_t waiting = policy_waiting(b->policy);
    actor_count(self, BATCH_PASSES, 1);
    actor_sample(self, BATCH_QUEUE, (int64_t)waiting);
    actor_charge(self, cost_ns(&b->setup->costs.pass, 0, waiting));
    struct policy_start start;
    while (policy_next(b->policy, now_of(self), &start))
        job_start(self, b, &start);
}

/* The earlier of a released job and the workload's next, of those that are due. */
static struct batch_job *submission_take(struct actor *self, struct batch_state *b, int64_t until_ns)
{
    const struct due *released = due_first(b, until_ns);
    bool fresh = b->has_next && b->next.submit_ns <= until_ns;
    if (released != NULL && (!fresh || released->time_ns < b->next.submit_ns ||
                             (released->time_ns == b->next.submit_ns && released->index < b->next.index)))
        return due_take(b->due).job;
    if (!fresh)
        return NULL;
    struct batch_job *job = job_new(self, b, &b->next);
    read_next(self, b);
    return job;
}

/* All that has happened until now, and what the policy makes of it. True when something ended or was submitted. */
static bool round_play(struct actor *self, struct batch_state *b, int64_t until_ns)
{
    bool happened = false;
    for (;;) {
        const struct due *first = due_first(b, until_ns);
        if (first != NULL && first->class == DUE_END) {
            job_end(self, b, due_take(b->due).job);
        } else {
            struct batch_job *job = submission_take(self, b, until_ns);
            if (job == NULL)
                break;
            job_submit(self, b, job);
        }
        happened = true;
        if (b->setup->one_by_one)
            decide(self, b);
    }
    return happened;
}

/* Sees to it that the next thing due is handled in its instant. */
static void schedule(struct actor *self, struct batch_state *b)
{
    int64_t next_ns = b->due->len > 0 ? due_at(b->due, 0)->time_ns : INT64_MAX;
    if (b->has_next)
        next_ns = MIN(next_ns, b->next.submit_ns);
    if (policy_waiting(b->policy) > 0)
        next_ns = MIN(next_ns, policy_wake(b->policy));
    if (next_ns == INT64_MAX || next_ns >= b->timer_ns)
        return;
    b->timer_ns = next_ns;
    actor_timer(self, MAX(next_ns - now_of(self), 1), BATCH_INSTANT, 0);
}

static void batch_handle(struct actor *self, const struct message *m)
{
    struct batch_state *b = actor_state(self);
    int64_t now_ns = now_of(self);
    if (m->time_ns - BATCH_ORIGIN_NS >= b->timer_ns)
        b->timer_ns = INT64_MAX;
    bool happened = round_play(self, b, now_ns);
    bool woken = policy_waiting(b->policy) > 0 && policy_wake(b->policy) <= now_ns;
    if (woken || (happened && !b->setup->one_by_one))
        decide(self, b);
    /* Jobs of no length have ended already: another round of the same instant, unless time has been charged. */
    while (now_of(self) == now_ns && due_first(b, now_ns) != NULL) {
        round_play(self, b, now_ns);
        if (!b->setup->one_by_one)
            decide(self, b);
    }
    schedule(self, b);
}

/* --- the role --- */

static void batch_init(struct actor *self, const void *setup)
{
    struct batch_state *b = actor_state(self);
    GError *error = NULL;
    b->setup = setup;
    b->due = g_array_new(FALSE, FALSE, sizeof(struct due));
    b->waiting = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, NULL);
    b->timer_ns = INT64_MAX;
    batch_texts_init(&b->texts);
    b->policy = policy_new(&b->setup->policy, &error);
    if (b->policy != NULL)
        b->workload = b->setup->open(b->setup->source, self, &error);
    if (b->workload == NULL) {
        actor_fail(self, "%s", error->message);
        g_error_free(error);
        return;
    }
    read_next(self, b);
    if (b->has_next) {
        b->timer_ns = b->next.submit_ns;
        actor_timer(self, BATCH_ORIGIN_NS + b->next.submit_ns, BATCH_INSTANT, 0);
    }
}

static int due_compare(gconstpointer a, gconstpointer b)
{
    const struct due *x = *(struct due *const *)a, *y = *(struct due *const *)b;
    return due_before(y, x) - due_before(x, y);
}

static void batch_save(const struct actor *self, struct bytes *sink)
{
    const struct batch_state *b = actor_state(self);
    policy_save(b->policy, sink);
    g_autoptr(GPtrArray) sorted = g_ptr_array_new();
    for (guint i = 0; i < b->due->len; i++)
        g_ptr_array_add(sorted, due_at(b->due, i));
    g_ptr_array_sort(sorted, due_compare);
    bytes_put_u32(sink, sorted->len);
    for (guint i = 0; i < sorted->len; i++) {
        const struct due *due = g_ptr_array_index(sorted, i);
        bytes_put_i64(sink, due->time_ns);
        bytes_put_u64(sink, due->index);
        bytes_put_u8(sink, due->class);
    }
    bytes_put_u64(sink, b->submitted);
    bytes_put_u64(sink, b->ended);
    bytes_put_u64(sink, b->workload == NULL ? 0 : workload_held(b->workload));
    bytes_put_i64(sink, b->has_next ? b->next.submit_ns : INT64_MAX);
    bytes_put_i64(sink, b->timer_ns);
}

static void batch_release(struct actor *self)
{
    struct batch_state *b = actor_state(self);
    GHashTableIter each;
    gpointer job;
    for (guint i = 0; i < b->due->len; i++)
        g_free(due_at(b->due, i)->job);
    g_array_free(b->due, TRUE);
    g_hash_table_iter_init(&each, b->waiting);
    while (g_hash_table_iter_next(&each, NULL, &job))
        g_free(job);
    g_hash_table_destroy(b->waiting);
    batch_texts_release(&b->texts);
    if (b->workload != NULL)
        workload_free(b->workload);
    policy_free(b->policy);
}

const struct cost_name batch_cost_names[] = {
#define BATCH_COST_NAME(field, key, fixed, byte, entry, text) \
    { key, text, { fixed, byte, entry }, offsetof(struct batch_costs, field) },
    BATCH_COSTS(BATCH_COST_NAME)
#undef BATCH_COST_NAME
    { NULL, NULL, { 0, 0, 0 }, 0 }
};

static const struct kind_name batch_kinds[] = {
    { BATCH_INSTANT, "instant", "jobs end, are submitted or may start" },
    { 0, NULL, NULL }
};

#define WAIT_OF(class, text) { "wait_" class, "ns", "wait of jobs with " text, METRIC_SAMPLE }
#define SLOWDOWN_OF(class, text) \
    { "slowdown_" class, "1", "bounded slowdown of jobs with " text ", in millionths", METRIC_SAMPLE }
#define OF_CLASSES(X) \
    X("width_1", "1 processor"), X("width_2_to_8", "2 to 8 processors"), X("width_9_to_64", "9 to 64 processors"), \
    X("width_65_to_512", "65 to 512 processors"), X("width_above_512", "more than 512 processors"), \
    X("length_to_1min", "run times up to 1 min"), X("length_to_10min", "run times up to 10 min"), \
    X("length_to_1h", "run times up to 1 h"), X("length_to_8h", "run times up to 8 h"), \
    X("length_above_8h", "run times above 8 h")

static const struct metric batch_metrics[] = {
    [BATCH_SUBMITTED] = { "submitted", "1", "jobs submitted", METRIC_SERIES },
    [BATCH_STARTED] = { "started", "1", "jobs started", METRIC_SERIES },
    [BATCH_COMPLETED] = { "completed", "1", "jobs that ended by themselves", METRIC_SERIES },
    [BATCH_KILLED] = { "killed", "1", "jobs killed at their limit", METRIC_COUNTER },
    [BATCH_REJECTED] = { "rejected", "1", "jobs wider than the machine", METRIC_COUNTER },
    [BATCH_PASSES] = { "passes", "1", "times that the policy was asked what may start", METRIC_COUNTER },
    [BATCH_QUEUE] = { "queue", "1", "waiting jobs when the policy was asked", METRIC_SAMPLE },
    [BATCH_WAIT] = { "wait", "ns", "from submission to start, of jobs that ended", METRIC_STAGE },
    [BATCH_RUN] = { "run", "ns", "from start to end", METRIC_STAGE },
    [BATCH_TURNAROUND] = { "turnaround", "ns", "from submission to end", METRIC_SAMPLE },
    [BATCH_SLOWDOWN] = { "slowdown", "1", "bounded slowdown, in millionths", METRIC_SAMPLE },
    [BATCH_SUBMIT_TIME] = { "submit_time", "ns", "when jobs were submitted", METRIC_SAMPLE },
    [BATCH_START_TIME] = { "start_time", "ns", "when jobs started", METRIC_SAMPLE },
    [BATCH_END_TIME] = { "end_time", "ns", "when jobs ended", METRIC_SAMPLE },
    [BATCH_AREA_S] = { "area_s", "s", "processors x run time, whole seconds of each job", METRIC_COUNTER },
    [BATCH_AREA_NS] = { "area_ns", "ns", "what is left of them", METRIC_COUNTER },
    OF_CLASSES(WAIT_OF),
    OF_CLASSES(SLOWDOWN_OF),
    { NULL, NULL, NULL, METRIC_COUNTER }
};
G_STATIC_ASSERT(G_N_ELEMENTS(batch_metrics) == BATCH_METRICS + 1);

const struct role role_batch = {
    .name = "batch",
    .text = "a batch scheduler: takes jobs in, starts them, notes their ends",
    .state_size = sizeof(struct batch_state),
    .streams = BATCH_STREAMS,
    .kinds = batch_kinds,
    .metrics = batch_metrics,
    .init = batch_init,
    .handle = batch_handle,
    .save = batch_save,
    .release = batch_release,
};
