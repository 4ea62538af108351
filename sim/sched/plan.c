/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/plan.h"

#include <string.h>

/* What running->plan points to. */
struct hold {
    struct running *job;
    GSequenceIter *at;
    int64_t end_ns;
};

/* The least start (the largest end) of what was freed as number `place` and later. */
struct freed_bound {
    uint64_t place;
    int64_t time_ns;
};

static struct plan *plan_of(const struct policy *policy)
{
    return policy->plan;
}

static int hold_compare(gconstpointer a, gconstpointer b, gpointer unused)
{
    const struct hold *x = a, *y = b;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return (x->job->job.id > y->job->job.id) - (x->job->job.id < y->job->job.id);
}

static int promise_compare(gconstpointer a, gconstpointer b, gpointer rule)
{
    const struct promise *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return ((const struct policy_rule *)rule)->compare(&x->job->job, &y->job->job);
}

static int64_t length_of(const struct policy_job *job)
{
    return MAX(job->limit_ns, 1);
}

static struct need need_of(const struct waiting *job)
{
    return (struct need){ job->cores, job->job.request };
}

/* --- what became free --- */

static int64_t bound_since(const GArray *bounds, uint64_t place, int64_t none)
{
    guint low = 0, high = bounds->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(bounds, struct freed_bound, middle).place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low == bounds->len ? none : g_array_index(bounds, struct freed_bound, low).time_ns;
}

static void freed_add(struct plan *plan, int64_t start_ns, int64_t end_ns)
{
    struct freed *f = &plan->freed;
    if (start_ns >= end_ns)
        return;
    struct freed_bound start = { f->happened, start_ns }, end = { f->happened, end_ns };
    while (f->starts->len > 0 && g_array_index(f->starts, struct freed_bound, f->starts->len - 1).time_ns >= start_ns)
        g_array_set_size(f->starts, f->starts->len - 1);
    while (f->ends->len > 0 && g_array_index(f->ends, struct freed_bound, f->ends->len - 1).time_ns <= end_ns)
        g_array_set_size(f->ends, f->ends->len - 1);
    g_array_append_val(f->starts, start);
    g_array_append_val(f->ends, end);
    f->happened++;
}

static void bounds_forget(GArray *bounds, uint64_t place)
{
    guint old = 0;
    while (old < bounds->len && g_array_index(bounds, struct freed_bound, old).place < place)
        old++;
    if (old > 0)
        g_array_remove_range(bounds, 0, old);
}

void plan_forget(struct policy *policy, uint64_t happened)
{
    bounds_forget(plan_of(policy)->freed.starts, happened);
    bounds_forget(plan_of(policy)->freed.ends, happened);
}

/* The first start of a job of that length that overlaps what begins to be free at `freed_ns`. */
static int64_t start_before(const struct policy *policy, int64_t freed_ns, int64_t length_ns)
{
    if (freed_ns == INT64_MAX)
        return INT64_MAX;
    return length_ns > freed_ns - policy->now_ns ? policy->now_ns : freed_ns - length_ns + 1;
}

void plan_init(struct policy *policy, struct plan *plan, bool all)
{
    enum profile_kind counting = all ? PROFILE_LONG : PROFILE_SHORT;
    const struct policy_config *config = &policy->config;
    plan->profile = profile_new(config->nodes, config->cores_per_node,
                                config->by == POLICY_BY_MACHINES ? PROFILE_NAMED : counting, policy->now_ns);
    plan->ends = g_sequence_new(g_free);
    plan->promises = g_sequence_new(g_free);
    plan->set = g_new0(uint64_t, profile_words(plan->profile));
    plan->freed.starts = g_array_new(FALSE, FALSE, sizeof(struct freed_bound));
    plan->freed.ends = g_array_new(FALSE, FALSE, sizeof(struct freed_bound));
    policy->plan = plan;
}

void plan_release(struct plan *plan)
{
    g_sequence_free(plan->promises);
    g_sequence_free(plan->ends);
    g_array_free(plan->freed.starts, TRUE);
    g_array_free(plan->freed.ends, TRUE);
    g_free(plan->set);
    profile_free(plan->profile);
}

void plan_advance(struct policy *policy)
{
    profile_advance(plan_of(policy)->profile, policy->now_ns);
}

/* --- running jobs --- */

static struct hold *hold_first(const struct policy *policy)
{
    GSequenceIter *first = g_sequence_get_begin_iter(plan_of(policy)->ends);
    return g_sequence_iter_is_end(first) ? NULL : g_sequence_get(first);
}

/* The machines of a running job, where they are named; until the next call. */
static const uint64_t *machines_of(struct plan *plan, const struct allocation *allocation)
{
    if (profile_words(plan->profile) > 0)
        profile_set(plan->profile, allocation, plan->set);
    return plan->set;
}

bool plan_overdue(const struct policy *policy)
{
    const struct hold *hold = hold_first(policy);
    return hold != NULL && hold->end_ns <= policy->now_ns;
}

void plan_extend(struct policy *policy)
{
    struct plan *plan = plan_of(policy);
    g_assert(g_sequence_is_empty(plan->promises));
    for (struct hold *hold = hold_first(policy); hold != NULL && hold->end_ns <= policy->now_ns;
         hold = hold_first(policy)) {
        hold->end_ns = policy->now_ns + 1;
        g_sequence_sort_changed(hold->at, hold_compare, NULL);
        const struct allocation *allocation = hold->job->allocation;
        profile_take(plan->profile, policy->now_ns, hold->end_ns, allocation_cores(allocation),
                     machines_of(plan, allocation));
    }
}

void plan_started(struct policy *policy, struct running *job)
{
    struct hold *hold = g_new(struct hold, 1);
    *hold = (struct hold){ job, NULL, profile_end(policy->now_ns, length_of(&job->job)) };
    hold->at = g_sequence_insert_sorted(plan_of(policy)->ends, hold, hold_compare, NULL);
    job->plan = hold;
}

void plan_ended(struct policy *policy, struct running *job)
{
    struct plan *plan = plan_of(policy);
    struct hold *hold = job->plan;
    plan_advance(policy);
    profile_give(plan->profile, policy->now_ns, hold->end_ns, allocation_cores(job->allocation),
                 machines_of(plan, job->allocation));
    freed_add(plan, policy->now_ns, hold->end_ns);
    g_sequence_remove(hold->at);
    job->plan = NULL;
}

/* --- promises --- */

static void promise_make(struct policy *policy, struct waiting *job, int64_t start_ns)
{
    struct plan *plan = plan_of(policy);
    size_t set_size = profile_words(plan->profile) * sizeof(uint64_t);
    struct promise *promise = g_malloc(sizeof *promise + set_size);
    int64_t end_ns = profile_end(start_ns, length_of(&job->job));
    *promise = (struct promise){ job, NULL, start_ns, end_ns, plan->freed.happened };
    if (set_size > 0)
        memcpy(promise->set, plan->set, set_size);
    profile_take(plan->profile, promise->start_ns, promise->end_ns, job->cores, promise->set);
    promise->at = g_sequence_insert_sorted(plan->promises, promise, promise_compare, (gpointer)policy->rule);
    job->plan = promise;
}

void plan_drop(struct policy *policy, struct waiting *job)
{
    struct promise *promise = job->plan;
    if (promise == NULL)
        return;
    profile_give(plan_of(policy)->profile, promise->start_ns, promise->end_ns, job->cores, promise->set);
    freed_add(plan_of(policy), promise->start_ns, promise->end_ns);
    g_sequence_remove(promise->at);
    job->plan = NULL;
}

struct promise *plan_first(const struct policy *policy)
{
    GSequenceIter *first = g_sequence_get_begin_iter(plan_of(policy)->promises);
    return g_sequence_iter_is_end(first) ? NULL : g_sequence_get(first);
}

void plan_drop_all(struct policy *policy)
{
    for (struct promise *promise = plan_first(policy); promise != NULL; promise = plan_first(policy))
        plan_drop(policy, promise->job);
}

/* --- starting --- */

/* Takes the processors (the machines of plan->set, where they are named) from pool and profile. NULL when they are
 * only counted and lie so that the request does not fit. */
static struct allocation *resources_take(struct policy *policy, const struct waiting *job)
{
    struct plan *plan = plan_of(policy);
    struct allocation *allocation;
    if (profile_words(plan->profile) > 0) {
        allocation = profile_allocation(plan->profile, plan->set);
        resource_pool_take(&policy->pool, allocation);
    } else {
        allocation = resource_pool_alloc(&policy->pool, &job->job.request);
        if (allocation == NULL)
            return NULL;
    }
    profile_take(plan->profile, policy->now_ns, profile_end(policy->now_ns, length_of(&job->job)), job->cores,
                 plan->set);
    return allocation;
}

struct allocation *plan_start(struct policy *policy, struct waiting *job)
{
    if (job->cores > policy->pool.free_cores)
        return NULL;
    struct plan *plan = plan_of(policy);
    struct need need = need_of(job);
    if (!profile_fits_now(plan->profile, &need, length_of(&job->job), plan->set))
        return NULL;
    return resources_take(policy, job);
}

struct allocation *plan_start_or_promise(struct policy *policy, struct waiting *job)
{
    struct plan *plan = plan_of(policy);
    struct need need = need_of(job);
    int64_t start_ns = profile_find(plan->profile, &need, length_of(&job->job), plan->set);
    if (start_ns == policy->now_ns)
        return resources_take(policy, job);
    if (start_ns != PROFILE_NEVER)
        promise_make(policy, job, start_ns);
    return NULL;
}

/* Notes what a promised job leaves behind when it gets plan->set (where machines are named) from `start_ns` on. */
static void place_leave(struct plan *plan, const struct promise *promise, int64_t start_ns, int64_t length_ns)
{
    uint32_t words = profile_words(plan->profile);
    bool same = words == 0 || memcmp(promise->set, plan->set, words * sizeof(uint64_t)) == 0;
    int64_t from_ns = same ? MAX(promise->start_ns, profile_end(start_ns, length_ns)) : promise->start_ns;
    freed_add(plan, from_ns, promise->end_ns);
}

/* Moves a promise to an earlier start; its place was given back. */
static void promise_move(struct policy *policy, struct promise *promise, int64_t start_ns)
{
    promise->start_ns = start_ns;
    promise->end_ns = profile_end(start_ns, length_of(&promise->job->job));
    g_sequence_sort_changed(promise->at, promise_compare, (gpointer)policy->rule);
}

/* The starts at which a promised job may fit that did not fit there when it was last looked at: [from, until). */
struct window {
    int64_t from_ns;
    int64_t until_ns;
};

static struct window window_of(const struct policy *policy, const struct promise *promise, int64_t length_ns)
{
    const struct plan *plan = plan_of(policy);
    struct window window;
    window.from_ns = start_before(policy, bound_since(plan->freed.starts, promise->looked, INT64_MAX), length_ns);
    /* Naming machines, the job may also get lower machines at its old start. */
    if (profile_words(plan->profile) > 0) {
        window.until_ns = promise->start_ns + 1;
        return window;
    }
    window.until_ns = MIN(promise->start_ns, bound_since(plan->freed.ends, promise->looked, INT64_MIN));
    return window;
}

struct allocation *plan_improve(struct policy *policy, struct waiting *job)
{
    struct plan *plan = plan_of(policy);
    struct promise *promise = job->plan;
    int64_t length_ns = length_of(&job->job);
    bool named = profile_words(plan->profile) > 0;
    if (promise->start_ns <= policy->now_ns) {
        plan_drop(policy, job);
        return plan_start_or_promise(policy, job);
    }
    struct window window = window_of(policy, promise, length_ns);
    promise->looked = plan->freed.happened;
    if (window.from_ns >= window.until_ns)
        return NULL;

    struct need need = need_of(job);
    profile_give(plan->profile, promise->start_ns, promise->end_ns, job->cores, promise->set);
    int64_t start_ns = profile_find_within(plan->profile, &need, length_ns, window.from_ns, window.until_ns,
                                           plan->set);
    if (start_ns == policy->now_ns) {
        struct allocation *allocation = resources_take(policy, job);
        if (allocation != NULL) {
            place_leave(plan, promise, start_ns, length_ns);
            g_sequence_remove(promise->at);
            job->plan = NULL;
            return allocation;
        }
        start_ns = PROFILE_NEVER;   /* enough is free now, but lies so that the request does not fit */
    }
    if (start_ns != PROFILE_NEVER)
        place_leave(plan, promise, start_ns, length_ns);
    if (start_ns < promise->start_ns)
        promise_move(policy, promise, start_ns);
    if (named && start_ns != PROFILE_NEVER)
        memcpy(promise->set, plan->set, profile_words(plan->profile) * sizeof(uint64_t));
    profile_take(plan->profile, promise->start_ns, promise->end_ns, job->cores, promise->set);
    return NULL;
}

int64_t plan_wake(const struct policy *policy)
{
    const struct promise *promise = plan_first(policy);
    const struct hold *hold = hold_first(policy);
    /* A start that waits for a running job's end is looked at when that end is told, however late. */
    if (promise == NULL || (hold != NULL && hold->end_ns <= promise->start_ns))
        return INT64_MAX;
    return promise->start_ns;
}

void plan_save(const struct policy *policy, struct bytes *sink)
{
    const struct plan *plan = plan_of(policy);
    profile_save(plan->profile, sink);
    bytes_put_u64(sink, (uint64_t)g_sequence_get_length(plan->promises));
    for (GSequenceIter *i = g_sequence_get_begin_iter(plan->promises); !g_sequence_iter_is_end(i);
         i = g_sequence_iter_next(i)) {
        const struct promise *promise = g_sequence_get(i);
        bytes_put_u64(sink, promise->job->job.id);
        bytes_put_i64(sink, promise->start_ns);
        bytes_put_i64(sink, promise->end_ns);
    }
}
