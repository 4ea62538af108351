/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EASY backfilling: the first `depth` waiting jobs that cannot start get a promised start, and later ones may start now
 * if they delay none of these (D. Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995, with depth 1). `easy` tries
 * later jobs in the order of the queue, `easy-sjf` the one with the shortest limit first.
 *
 * A pass walks the queue once. Promises stand until a job ends (or one that they rest on turns out to be overdue), and
 * after an arrival only the new job is tried, as batsched does: nothing that did not fit can fit before an end.
 */
#include "sched/plan.h"

struct easy {
    struct plan plan;
    GSequence *shortest;        /* the queue by limit; easy-sjf only */
    GSequenceIter *at;          /* the next job of the queue to look at; at its end: the pass is over */
    GSequenceIter *at_shortest; /* the same of `shortest`, after the promises were made */
    uint32_t promises;          /* made in this pass */
    bool stale;                 /* the next pass starts anew */
};

static int shortest_compare(gconstpointer a, gconstpointer b, gpointer unused)
{
    return policy_job_compare_limit(&((const struct waiting *)a)->job, &((const struct waiting *)b)->job);
}

static void easy_init(struct policy *policy)
{
    struct easy *easy = g_new0(struct easy, 1);
    plan_init(policy, &easy->plan, false);
    easy->at = g_sequence_get_end_iter(policy->queue);
}

static void easy_sjf_init(struct policy *policy)
{
    easy_init(policy);
    struct easy *easy = policy->plan;
    easy->shortest = g_sequence_new(NULL);
    easy->at_shortest = g_sequence_get_end_iter(easy->shortest);
}

static void easy_release(struct policy *policy)
{
    struct easy *easy = policy->plan;
    plan_release(&easy->plan);
    if (easy->shortest != NULL)
        g_sequence_free(easy->shortest);
    g_free(easy);
}

static void easy_submitted(struct policy *policy, struct waiting *job)
{
    struct easy *easy = policy->plan;
    policy->ready = true;
    if (easy->shortest != NULL) {
        job->also_at = g_sequence_insert_sorted(easy->shortest, job, shortest_compare, NULL);
        easy->stale = true;
    } else if (!g_sequence_iter_is_end(g_sequence_iter_next(job->at))) {
        easy->stale = true;     /* it stands before others */
    } else if (g_sequence_iter_is_end(easy->at)) {
        easy->at = job->at;
    }
}

/* Takes a job that leaves the queue out of everything that points to it. */
static void job_leave(struct policy *policy, struct waiting *job)
{
    struct easy *easy = policy->plan;
    if (easy->at == job->at)
        easy->at = g_sequence_iter_next(job->at);
    if (easy->shortest == NULL)
        return;
    if (easy->at_shortest == job->also_at)
        easy->at_shortest = g_sequence_iter_next(job->also_at);
    g_sequence_remove(job->also_at);
}

static void easy_cancelled(struct policy *policy, struct waiting *job)
{
    struct easy *easy = policy->plan;
    plan_advance(policy);
    if (job->plan != NULL) {
        plan_drop(policy, job);
        easy->stale = true;
        policy->ready = true;
    }
    job_leave(policy, job);
}

static void easy_ended(struct policy *policy, struct running *job)
{
    struct easy *easy = policy->plan;
    plan_ended(policy, job);
    easy->stale = true;
    policy->ready = true;
}

static void pass_begin(struct policy *policy)
{
    struct easy *easy = policy->plan;
    plan_drop_all(policy);
    plan_extend(policy);
    plan_forget(policy, easy->plan.freed.happened);     /* promises are made anew, never improved */
    easy->at = g_sequence_get_begin_iter(policy->queue);
    if (easy->shortest != NULL)
        easy->at_shortest = g_sequence_get_begin_iter(easy->shortest);
    easy->promises = 0;
    easy->stale = false;
}

/* The next job that is tried at this instant alone: it has no promise. */
static struct waiting *candidate_next(struct policy *policy)
{
    struct easy *easy = policy->plan;
    GSequenceIter **at = easy->shortest == NULL ? &easy->at : &easy->at_shortest;
    while (!g_sequence_iter_is_end(*at)) {
        struct waiting *job = g_sequence_get(*at);
        *at = g_sequence_iter_next(*at);
        if (job->plan == NULL)
            return job;
    }
    return NULL;
}

static struct waiting *easy_next(struct policy *policy, struct allocation **allocation)
{
    struct easy *easy = policy->plan;
    plan_advance(policy);
    const struct promise *due = plan_first(policy);
    if (easy->stale || plan_overdue(policy) || (due != NULL && due->start_ns <= policy->now_ns))
        pass_begin(policy);

    struct waiting *job = NULL;
    uint32_t depth = MAX(policy->config.depth, 1);
    while (*allocation == NULL && easy->promises < depth && !g_sequence_iter_is_end(easy->at)) {
        job = g_sequence_get(easy->at);
        easy->at = g_sequence_iter_next(easy->at);
        *allocation = plan_start_or_promise(policy, job);
        easy->promises += *allocation == NULL;
    }
    while (*allocation == NULL && policy->pool.free_cores > 0 && (job = candidate_next(policy)) != NULL)
        *allocation = plan_start(policy, job);

    policy->ready = *allocation != NULL;
    if (*allocation != NULL) {
        job_leave(policy, job);
        return job;
    }
    easy->at = g_sequence_get_end_iter(policy->queue);
    return NULL;
}

const struct policy_rule policy_rule_easy = {
    .name = "easy",
    .compare = policy_job_compare,
    .init = easy_init,
    .release = easy_release,
    .submitted = easy_submitted,
    .cancelled = easy_cancelled,
    .started = plan_started,
    .ended = easy_ended,
    .wake = plan_wake,
    .save = plan_save,
    .next = easy_next,
};

const struct policy_rule policy_rule_easy_sjf = {
    .name = "easy-sjf",
    .compare = policy_job_compare,
    .init = easy_sjf_init,
    .release = easy_release,
    .submitted = easy_submitted,
    .cancelled = easy_cancelled,
    .started = plan_started,
    .ended = easy_ended,
    .wake = plan_wake,
    .save = plan_save,
    .next = easy_next,
};
