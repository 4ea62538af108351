/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario_batch.h"

#include "scenario_parts.h"

enum { PROCESSORS_MAX = 1 << 24 };

/* --- from the deck --- */

static void read_scheduler(struct batch *batch, const struct deck *deck)
{
    scenario_policy_read(&batch->policy, deck);
    batch->one_by_one = deck_choice(deck, "scheduler", "ties", NULL) == 1;
    batch->overrun = deck_choice(deck, "scheduler", "at-limit", NULL) == 1;
    batch->whole_nodes = deck_boolean(deck, "scheduler", "whole-nodes");
    batch->slowdown_bound_ns = deck_integer(deck, "trace", "slowdown-bound");
    deck_costs(deck, batch_cost_names, &batch->costs);
}

/* A machine whose nodes have one core each is one flat set of processors, which costs less to keep. */
static void set_machine(struct batch_scenario *s, struct deck *deck)
{
    uint32_t cores_per_node = (uint32_t)deck_integer(deck, "cluster", "cores-per-node");
    const char *key = s->processors_stated ? "processors" : "cores-per-node";

    if (s->processors == 0 && deck_problem_count(deck) == 0)
        deck_complain(deck, "cluster", "processors", "is not stated, and the workload does not say for how many "
                      "processors it is; expected the size of the machine");
    if (s->processors > PROCESSORS_MAX)
        deck_complain(deck, "workload", "file", "is for %u processors; expected [cluster] processors of at most %d",
                      s->processors, PROCESSORS_MAX);
    s->processors = CLAMP(s->processors, 1, PROCESSORS_MAX);
    if (s->processors % cores_per_node != 0 && deck_problem_count(deck) == 0)
        deck_complain(deck, "cluster", key, "'%s' does not fit: %u processors are no whole number of nodes of %u cores",
                      deck_text(deck, "cluster", key), s->processors, cores_per_node);
    bool flat = cores_per_node == 1;
    s->batch.policy.nodes = flat && !s->batch.whole_nodes ? 1 : MAX(s->processors / cores_per_node, 1);
    s->batch.policy.cores_per_node = flat && !s->batch.whole_nodes ? s->processors : cores_per_node;
}

static void *batch_new(struct deck *deck, struct share *share)
{
    struct batch_scenario *s = g_new0(struct batch_scenario, 1);

    read_scheduler(&s->batch, deck);
    s->batch.open = job_source_open;
    s->batch.source = &s->source;
    s->processors_stated = deck_has(deck, "cluster", "processors");
    s->processors = (uint32_t)deck_integer_or(deck, "cluster", "processors", 0);
    if (job_source_read(&s->source, deck) && s->source.type != JOB_SOURCE_JOBSPEC) {
        s->source.stream_duration = BATCH_STREAM_DURATION;
        s->source.stream_gap = BATCH_STREAM_GAP;
        job_source_check(&s->source, deck, share, s->processors);
        if (!s->processors_stated)
            s->processors = s->source.processors;
    } else if (deck_has(deck, "workload", "source") && deck_usable(deck, "workload", "source")) {
        deck_complain(deck, "workload", "source", "'%s' cannot be run by a batch scheduler; expected bulk, poisson, "
                      "swf or batsim", deck_text(deck, "workload", "source"));
    }
    set_machine(s, deck);
    return s;
}

static void batch_free(void *data)
{
    struct batch_scenario *s = data;

    job_source_release(&s->source);
    g_free(s);
}

/* --- the one actor --- */

static uint32_t batch_actors(const void *data)
{
    return 1;
}

static void batch_place(const void *data, uint32_t actor, uint32_t processes, struct scenario_place *place)
{
    *place = (struct scenario_place){ .role = &role_batch };
}

static void batch_populate(const void *data, struct engine *e, uint32_t processes)
{
    const struct batch_scenario *s = data;

    engine_add_actor(e, &(struct engine_actor){
        .role = &role_batch, .setup = &s->batch, .thread_group = ENGINE_NO_GROUP, .cpu_group = ENGINE_NO_GROUP
    });
}

static const struct role *const *batch_roles(const void *data)
{
    static const struct role *const roles[] = { &role_batch, NULL };
    return roles;
}

static const struct table *batch_scenario_tables(const void *data, unsigned *count)
{
    *count = BATCH_TABLES;
    return batch_tables;
}

static uint64_t batch_rows(const void *data)
{
    return ((const struct batch_scenario *)data)->source.jobs;
}

static struct scenario_milestone batch_milestone(const void *data)
{
    return (struct scenario_milestone){ &role_batch, BATCH_COMPLETED, batch_rows(data), "jobs done" };
}

/* A job is submitted and ends. Jobs in bulk all wait from the start; what is streamed is one timer at a time. */
static void batch_estimate(const void *data, struct scenario_estimate *estimate)
{
    const struct batch_scenario *s = data;

    if (s->source.jobs == WORKLOAD_UNKNOWN)
        return;
    estimate->events = 2.0 * (double)s->source.jobs;
    estimate->pending = s->source.type == JOB_SOURCE_BULK ? (double)s->source.jobs : 1;
    estimate->actor_bytes = 0;
}

const struct scenario_kind scenario_batch = {
    .name = "batch",
    .new = batch_new,
    .free = batch_free,
    .actors = batch_actors,
    .place = batch_place,
    .populate = batch_populate,
    .roles = batch_roles,
    .tables = batch_scenario_tables,
    .rows = batch_rows,
    .milestone = batch_milestone,
    .estimate = batch_estimate,
    .describe = batch_describe,
    .summarise = batch_summarise,
    .headline = batch_headline,
    .details = batch_details
};
