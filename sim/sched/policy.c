/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/policy.h"

#include "base/error.h"
#include "sched/rule.h"

static const struct policy_rule *const rules[] = {
    &policy_rule_fcfs,
    &policy_rule_sjf,
    &policy_rule_easy,
    &policy_rule_easy_sjf,
    &policy_rule_conservative,
};

const char *const *policy_names(void)
{
    static const char *names[G_N_ELEMENTS(rules) + 1];
    for (size_t i = 0; i < G_N_ELEMENTS(rules); i++)
        names[i] = rules[i]->name;
    return names;
}

int policy_job_compare(const struct policy_job *a, const struct policy_job *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a->submit_ns != b->submit_ns)
        return a->submit_ns < b->submit_ns ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

int policy_job_compare_limit(const struct policy_job *a, const struct policy_job *b)
{
    if (a->limit_ns != b->limit_ns)
        return a->limit_ns < b->limit_ns ? -1 : 1;
    return policy_job_compare(a, b);
}

static int queue_compare(gconstpointer a, gconstpointer b, gpointer rule)
{
    return ((const struct policy_rule *)rule)->compare(&((const struct waiting *)a)->job,
                                                       &((const struct waiting *)b)->job);
}

static void running_free(gpointer data)
{
    struct running *job = data;
    allocation_free(job->allocation);
    g_free(job);
}

/* --- making and ending --- */

static const struct policy_rule *rule_find(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(rules); i++)
        if (g_strcmp0(rules[i]->name, name) == 0)
            return rules[i];
    return NULL;
}

struct policy *policy_new(const struct policy_config *config, GError **error)
{
    const struct policy_rule *rule = rule_find(config->name);
    if (rule == NULL) {
        g_autofree char *known = g_strjoinv(", ", (char **)policy_names());
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "scheduling policy \"%s\" is unknown: expected one of "
                    "%s", config->name == NULL ? "" : config->name, known);
        return NULL;
    }
    return policy_new_with_rule(rule, config);
}

struct policy *policy_new_with_rule(const struct policy_rule *rule, const struct policy_config *config)
{
    g_assert(rule->name != NULL && rule->compare != NULL && rule->next != NULL);
    struct policy *policy = g_new0(struct policy, 1);
    policy->rule = rule;
    policy->config = *config;
    policy->config.name = rule->name;
    policy->now_ns = INT64_MIN;
    resource_pool_init(&policy->pool, config->nodes, config->cores_per_node, config->fit);
    policy->queue = g_sequence_new(g_free);
    policy->waiting = g_hash_table_new(g_int64_hash, g_int64_equal);
    policy->running = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, running_free);
    if (rule->init != NULL)
        rule->init(policy);
    return policy;
}

void policy_free(struct policy *policy)
{
    if (policy == NULL)
        return;
    if (policy->rule->release != NULL)
        policy->rule->release(policy);
    g_hash_table_destroy(policy->running);
    g_hash_table_destroy(policy->waiting);
    g_sequence_free(policy->queue);
    resource_pool_release(&policy->pool);
    g_free(policy);
}

/* --- what happens --- */

static void time_set(struct policy *policy, int64_t now_ns)
{
    g_assert(now_ns >= policy->now_ns);
    policy->now_ns = now_ns;
}

bool policy_submit(struct policy *policy, int64_t now_ns, const struct policy_job *job)
{
    g_assert(job->limit_ns >= 0 && !g_hash_table_contains(policy->waiting, &job->id) &&
             !g_hash_table_contains(policy->running, &job->id));
    time_set(policy, now_ns);
    if (!resource_pool_fits(&policy->pool, &job->request))
        return false;
    struct waiting *waiting = g_new0(struct waiting, 1);
    waiting->job = *job;
    waiting->cores = resource_pool_cores(&policy->pool, &job->request);
    waiting->at = g_sequence_insert_sorted(policy->queue, waiting, queue_compare, (gpointer)policy->rule);
    g_hash_table_insert(policy->waiting, &waiting->job.id, waiting);
    if (policy->rule->submitted != NULL)
        policy->rule->submitted(policy, waiting);
    return true;
}

bool policy_cancel(struct policy *policy, int64_t now_ns, uint64_t id)
{
    time_set(policy, now_ns);
    struct waiting *waiting = g_hash_table_lookup(policy->waiting, &id);
    if (waiting == NULL)
        return false;
    if (policy->rule->cancelled != NULL)
        policy->rule->cancelled(policy, waiting);
    g_hash_table_remove(policy->waiting, &id);
    g_sequence_remove(waiting->at);
    return true;
}

void policy_end(struct policy *policy, int64_t now_ns, uint64_t id)
{
    time_set(policy, now_ns);
    struct running *running = g_hash_table_lookup(policy->running, &id);
    g_assert(running != NULL);
    resource_pool_free(&policy->pool, running->allocation);
    if (policy->rule->ended != NULL)
        policy->rule->ended(policy, running);
    g_hash_table_remove(policy->running, &id);
}

bool policy_next(struct policy *policy, int64_t now_ns, struct policy_start *start)
{
    time_set(policy, now_ns);
    struct allocation *allocation = NULL;
    struct waiting *waiting = policy->rule->next(policy, &allocation);
    if (waiting == NULL)
        return false;

    struct running *running = g_new0(struct running, 1);
    running->job = waiting->job;
    running->start_ns = now_ns;
    running->allocation = allocation;
    g_hash_table_remove(policy->waiting, &waiting->job.id);
    g_sequence_remove(waiting->at);
    g_hash_table_insert(policy->running, &running->job.id, running);
    if (policy->rule->started != NULL)
        policy->rule->started(policy, running);
    *start = (struct policy_start){ running->job.id, allocation };
    return true;
}

/* --- questions --- */

struct waiting *policy_first(const struct policy *policy)
{
    GSequenceIter *begin = g_sequence_get_begin_iter(policy->queue);
    return g_sequence_iter_is_end(begin) ? NULL : g_sequence_get(begin);
}

bool policy_ready(const struct policy *policy)
{
    return policy->ready && g_hash_table_size(policy->waiting) > 0;
}

int64_t policy_wake(const struct policy *policy)
{
    return policy->rule->wake == NULL ? INT64_MAX : policy->rule->wake(policy);
}

uint64_t policy_waiting(const struct policy *policy)
{
    return g_hash_table_size(policy->waiting);
}

uint64_t policy_running(const struct policy *policy)
{
    return g_hash_table_size(policy->running);
}

bool policy_head(const struct policy *policy, struct policy_job *job)
{
    const struct waiting *head = policy_first(policy);
    if (head == NULL)
        return false;
    *job = head->job;
    return true;
}

const struct allocation *policy_allocation(const struct policy *policy, uint64_t id)
{
    const struct running *running = g_hash_table_lookup(policy->running, &id);
    return running == NULL ? NULL : running->allocation;
}

const struct resource_pool *policy_pool(const struct policy *policy)
{
    return &policy->pool;
}

/* --- saved states --- */

static void job_save(const struct policy_job *job, struct bytes *sink)
{
    bytes_put_u64(sink, job->id);
    bytes_put_i64(sink, job->submit_ns);
    bytes_put_i64(sink, job->limit_ns);
    bytes_put_u32(sink, job->priority);
    bytes_put_u32(sink, job->request.nodes);
    bytes_put_u32(sink, job->request.slots);
    bytes_put_u32(sink, job->request.cores_per_slot);
    bytes_put_u8(sink, job->request.exclusive);
}

static int running_compare(gconstpointer a, gconstpointer b)
{
    uint64_t x = (*(const struct running *const *)a)->job.id;
    uint64_t y = (*(const struct running *const *)b)->job.id;
    return (x > y) - (x < y);
}

void policy_save(const struct policy *policy, struct bytes *sink)
{
    bytes_put_text(sink, policy->rule->name);
    bytes_put_u8(sink, (uint8_t)policy->config.by);
    bytes_put_u32(sink, policy->config.depth);
    resource_pool_save(&policy->pool, sink);

    bytes_put_u64(sink, policy_waiting(policy));
    for (GSequenceIter *i = g_sequence_get_begin_iter(policy->queue); !g_sequence_iter_is_end(i);
         i = g_sequence_iter_next(i))
        job_save(&((const struct waiting *)g_sequence_get(i))->job, sink);

    g_autoptr(GPtrArray) running = g_ptr_array_new();
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, policy->running);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        g_ptr_array_add(running, value);
    g_ptr_array_sort(running, running_compare);
    bytes_put_u64(sink, running->len);
    for (guint i = 0; i < running->len; i++) {
        const struct running *job = running->pdata[i];
        job_save(&job->job, sink);
        bytes_put_i64(sink, job->start_ns);
        allocation_put(job->allocation, sink);
    }
    bytes_put_u8(sink, policy->ready);
    if (policy->rule->save != NULL)
        policy->rule->save(policy, sink);
}
