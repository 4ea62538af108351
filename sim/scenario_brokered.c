/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario_brokered.h"

#include "kvs/namespaces.h"
#include "ranks/client.h"
#include "ranks/namespace_client.h"
#include "ranks/roles.h"
#include "ranks/scheme.h"
#include "scenario_parts.h"

enum { CLIENT_STREAM_DURATION = 0 };

/* --- the source of jobs --- */

static void read_workload(struct brokered *b, const struct deck *deck)
{
    b->jobs.submit_window = (uint32_t)deck_integer_or(deck, "workload", "submit-window", 0);
    b->jobs.watch = (enum jobs_watch)deck_choice(deck, "workload", "watch", NULL);
    b->jobs.namespaces = (uint32_t)deck_integer_or(deck, "workload", "namespaces", 0);
    b->jobs.fence = (uint32_t)deck_integer_or(deck, "workload", "fence", 0);
    if (b->jobs.fence > 0) {
        static const uint32_t users[] = { NAMESPACES_INSTANCE_OWNER, JOB_USER, JOB_USER + 1 };
        b->jobs.fence_user = users[deck_choice(deck, "workload", "user", NULL)];
    }
    job_source_read(&b->source, deck);
    b->source.stream_duration = b->source.stream_gap = CLIENT_STREAM_DURATION;
    b->source.with_text = b->source.type == JOB_SOURCE_BULK;
}

/* --- from the deck to the instance --- */

static uint32_t read_alloc_limit(const struct deck *deck)
{
    int64_t count;

    switch (deck_choice(deck, "scheduler", "mode", &count)) {
    case 0:
        return 1;
    case 1:
        return INSTANCE_ALLOC_UNLIMITED;
    default:
        return (uint32_t)MIN(count, INSTANCE_ALLOC_UNLIMITED - 1);
    }
}

static void read_instance(struct brokered *b, const struct deck *deck)
{
    struct instance *inst = &b->inst;

    inst->nodes = (uint32_t)deck_integer(deck, "cluster", "nodes");
    inst->cores_per_node = (uint32_t)deck_integer(deck, "cluster", "cores-per-node");
    inst->fanout = (uint32_t)deck_integer(deck, "cluster", "fanout");
    b->cpus = (uint32_t)deck_integer_or(deck, "cluster", "cpus", 0);
    b->nodes_per_machine = (uint32_t)deck_integer(deck, "cluster", "nodes-per-machine");
    unsigned asynchronous = deck_choice(deck, "events", "async-subscribe", NULL);
    inst->async_watcher = asynchronous == 1 || asynchronous == 3;
    inst->async_kvs = asynchronous == 2 || asynchronous == 3;
    inst->watch_forced = deck_boolean(deck, "events", "wait-for-watch");
    inst->heartbeat_ns = deck_integer(deck, "kvs", "heartbeat");
    inst->merge = deck_boolean(deck, "kvs", "merge");
    inst->ready_list = deck_boolean(deck, "kvs", "ready-list");
    inst->content_module = deck_choice(deck, "kvs", "content", NULL) == 1;
    inst->cache_age = (uint32_t)deck_integer(deck, "kvs", "cache-age");
    inst->job_info_first = deck_choice(deck, "job-info", "nodes", NULL) == 1;
    inst->job_info_news = (enum instance_news)deck_choice(deck, "job-info", "follows", NULL);
    inst->shells_follow = deck_boolean(deck, "job-info", "updates");
    inst->passes = (enum instance_passes)deck_choice(deck, "job-manager", "passes", NULL);
    inst->exec_batch_ns = deck_integer(deck, "job-exec", "batch");
    inst->simulated = deck_choice(deck, "job-exec", "execution", NULL) == 1;
    inst->jitter_ppm = (uint32_t)deck_integer(deck, "costs", "jitter");
    inst->ingest_batch_ns = deck_integer(deck, "ingest", "batch");
    inst->ingest_validators = (uint32_t)deck_integer(deck, "ingest", "validators");
    inst->event_batch_ns = deck_integer(deck, "job-manager", "batch");
    inst->alloc_limit = read_alloc_limit(deck);
    /* Jobs with times of their own would not start before the last had come. */
    bool at_once = !deck_has(deck, "workload", "source") ||
                   deck_choice(deck, "workload", "source", NULL) < JOB_SOURCE_POISSON;
    inst->queue_stopped = deck_has(deck, "workload", "stop-queue") ? deck_boolean(deck, "workload", "stop-queue")
                                                                   : at_once;
    inst->age_ns = deck_integer(deck, "system", "age");
    scenario_policy_read(&b->jobs.policy, deck);
    b->by_role = deck_choice(deck, "run", "placement", NULL) == 1;
    b->live = deck_is_live(deck);
    b->link = (struct engine_link){
        .latency_ns = deck_integer(deck, "network", "hop-latency"),
        .bytes_per_s = (uint64_t)deck_integer(deck, "network", "bandwidth"),
        .header_bytes = (uint32_t)deck_integer(deck, "network", "header")
    };
    b->local_link = (struct engine_link){ .latency_ns = deck_integer(deck, "network", "local-latency") };
}

/* The job table as the trace wants it: the same columns, other types' names; and a watcher's rows. */
void brokered_describe_tables(struct brokered *b)
{
    static const enum table_type types[] = {
        [JOB_COLUMN_U32] = TABLE_U32, [JOB_COLUMN_U64] = TABLE_U64, [JOB_COLUMN_I64] = TABLE_I64,
        [JOB_COLUMN_RESULT] = TABLE_ENUM, [JOB_COLUMN_U8] = TABLE_U8
    };
    static const struct table_column watch_columns[] = {
        { "job", "1", "id of the job whose namespace it is", TABLE_U64, NULL },
        { "node", "1", "node of the watcher", TABLE_U32, NULL },
    };
    unsigned count = 0;

    for (const struct job_column *column = job_columns; column->name != NULL; column++) {
        g_assert(count < G_N_ELEMENTS(b->columns));
        b->columns[count++] = (struct table_column){
            .name = column->name, .unit = column->unit, .text = column->text, .type = types[column->type],
            .names = column->type == JOB_COLUMN_RESULT ? job_result_names : NULL
        };
    }
    b->tables[0] = (struct table){ "jobs", "one row a job; times that did not come are the smallest 64-bit number",
                                   b->columns, count };
    b->tables[1] = (struct table){ "watches", "one row for each guest namespace that a watcher began to watch",
                                   watch_columns, G_N_ELEMENTS(watch_columns) };
}

/* --- what only a scenario can find wrong --- */

static void check_sizes(struct brokered *b, struct deck *deck)
{
    const struct instance *inst = &b->inst;

    if (b->source.cores > inst->cores_per_node && deck_usable(deck, "workload", "cores") &&
        deck_usable(deck, "cluster", "cores-per-node"))
        deck_complain(deck, "workload", "cores",
                      "'%u' does not fit on a node; expected at most cores-per-node (%u), because a job of this system "
                      "runs on one node", b->source.cores, inst->cores_per_node);
}

static void read_file(struct brokered *b, struct deck *deck)
{
    const struct instance *inst = &b->inst;
    struct job_file_shape shape = {
        .parts = inst->nodes, .slots = inst->cores_per_node, .slots_per_mount = inst->cores_per_node,
        .first_actor = instance_actors(inst), .local_ns = b->local_link.latency_ns, .jobs = b->source.jobs,
        .roles = roles
    };

    job_file_init(&b->file, deck, &shape);
    if (!b->file.used)
        return;
    b->inst.file = &b->file.file;
    if (inst->simulated)
        deck_complain(deck, "workload", "io", "does not go with [job-exec] execution = simulated, which starts no "
                      "task; expected shells");
}

static void *brokered_new(struct deck *deck, struct share *share)
{
    struct brokered *b = g_new0(struct brokered, 1);

    instance_init(&b->inst);
    instance_jobs_init(&b->jobs);
    b->inst.jobs = &b->jobs;
    b->jobs.open = job_source_open;
    b->jobs.source = &b->source;
    read_instance(b, deck);
    brokered_read_scheme(b, deck);
    deck_costs(deck, instance_cost_names, &b->inst.costs);
    read_workload(b, deck);
    brokered_describe_tables(b);
    check_sizes(b, deck);
    job_source_check(&b->source, deck, share, b->inst.nodes * b->inst.cores_per_node);
    read_file(b, deck);
    return b;
}

static void brokered_free(void *data)
{
    struct brokered *b = data;

    scheme_free(b->scheme);
    job_source_release(&b->source);
    job_file_release(&b->file);
    g_free(b);
}

/* --- actors and where they are played --- */

enum role_class { CLASS_CENTRAL, CLASS_BROKER, CLASS_WORKER, CLASS_EXECUTOR };

static enum role_class class_of(const struct instance_place *place)
{
    switch (place->role) {
    case ROLE_BROKER:
        return CLASS_BROKER;
    case ROLE_EXECUTOR:
        return CLASS_EXECUTOR;
    case ROLE_KVS:
        return place->node == 0 ? CLASS_CENTRAL : CLASS_WORKER;
    default:
        return place->is_service ? CLASS_WORKER : CLASS_CENTRAL;
    }
}

/* The central actors have process 0 to themselves when there are enough; the others are divided among the classes. */
static uint32_t process_by_role(const struct instance *inst, const struct instance_place *place, uint32_t processes)
{
    /* A content cache inside its broker's thread goes where that goes. */
    bool inside = place->role == ROLE_CONTENT && !inst->content_module;
    enum role_class class = inside ? CLASS_BROKER : class_of(place);
    uint32_t first = processes > 3 ? 1 : 0;
    uint32_t available = processes - first;

    if (class == CLASS_CENTRAL || processes == 1)
        return 0;
    if (available == 2)
        return class == CLASS_BROKER ? 0 : 1;
    /* What is left over of three equal parts goes to the executors, then to the workers. */
    uint32_t brokers = available / 3;
    uint32_t workers = available / 3 + (available % 3 == 2 ? 1 : 0);
    uint32_t executors = available - brokers - workers;
    uint32_t count = class == CLASS_BROKER ? brokers : class == CLASS_WORKER ? workers : executors;
    uint32_t offset = class == CLASS_BROKER ? 0 : class == CLASS_WORKER ? brokers : brokers + workers;
    return first + offset + scenario_block(place->node, inst->nodes, count);
}

static uint32_t process_by_node(const struct instance *inst, const struct instance_place *place, uint32_t processes)
{
    return processes >= inst->nodes ? place->node : scenario_block(place->node, inst->nodes, processes);
}

/* Those who share cores are played by one process, whatever the placement. */
static uint32_t process_by_machine(const struct brokered *b, const struct instance_place *place, uint32_t processes)
{
    uint32_t machine = place->node / b->nodes_per_machine;
    uint32_t machines = (b->inst.nodes + b->nodes_per_machine - 1) / b->nodes_per_machine;
    return processes >= machines ? machine : scenario_block(machine, machines, processes);
}

static uint32_t brokered_actors(const void *data)
{
    const struct brokered *b = data;
    return instance_actors(&b->inst) + job_file_actors(&b->file);
}

static void brokered_place(const void *data, uint32_t actor, uint32_t processes, struct scenario_place *where)
{
    const struct brokered *b = data;
    struct instance_place place;

    if (actor >= instance_actors(&b->inst)) {
        where->role = job_file_place(&b->file, actor, &where->node);
        where->process = scenario_block(where->node, b->inst.nodes + 1, processes);
        return;
    }
    instance_place(&b->inst, actor, &place);
    where->role = place.role == ROLE_CLIENT && b->jobs.namespaces > 0 ? &role_namespace_client
                                                                      : roles_find(place.role, place.node);
    where->node = place.node;
    where->process = b->cpus > 0 && !b->live ? process_by_machine(b, &place, processes)
                     : b->by_role ? process_by_role(&b->inst, &place, processes)
                                  : process_by_node(&b->inst, &place, processes);
}

static void brokered_populate(const void *data, struct engine *e, uint32_t processes)
{
    const struct brokered *b = data;

    engine_set_link(e, 0, 0, b->link);
    engine_set_local_link(e, b->local_link);
    for (uint32_t id = 0; id < brokered_actors(b); id++) {
        struct scenario_place place;
        bool own = id < instance_actors(&b->inst);
        brokered_place(b, id, processes, &place);
        bool shares = !b->inst.content_module && (place.role == &role_broker || place.role == &role_content);
        uint32_t added = engine_add_actor(e, &(struct engine_actor){
            .role = place.role, .setup = own ? (const void *)&b->inst : &b->file.file, .node = place.node,
            .process = place.process, .thread_group = shares ? place.node : ENGINE_NO_GROUP,
            .cpu_group = b->cpus > 0 && own ? place.node / b->nodes_per_machine : ENGINE_NO_GROUP, .cpu_cores = b->cpus
        });
        g_assert(added == id);
    }
}

static uint32_t brokered_live_processes(const void *data, const char **why)
{
    if (!((const struct brokered *)data)->by_role) {
        *why = "for the whole instance, or nodes of it";
        return 1;
    }
    *why = "one for each class of roles: brokers, KVS workers, executors";
    return 3;
}

static const struct role *const *brokered_roles(const void *data)
{
    const struct brokered *b = data;
    return b->file.used ? b->file.roles : roles;
}

static const struct table *brokered_tables(const void *data, unsigned *count)
{
    *count = G_N_ELEMENTS(((const struct brokered *)data)->tables);
    return ((const struct brokered *)data)->tables;
}

static uint64_t brokered_rows(const void *data)
{
    return ((const struct brokered *)data)->source.jobs;
}

static struct scenario_milestone brokered_milestone(const void *data)
{
    uint32_t namespaces = ((const struct brokered *)data)->jobs.namespaces;
    if (namespaces > 0)
        return (struct scenario_milestone){ &role_namespace_client, NAMESPACE_CLIENT_REMOVED, namespaces,
                                            "namespaces removed" };
    return (struct scenario_milestone){ &role_client, CLIENT_ENDED, brokered_rows(data), "jobs done" };
}

static const struct job_file *brokered_file(const void *data)
{
    const struct job_file *file = &((const struct brokered *)data)->file;
    return file->used ? file : NULL;
}

const struct scenario_kind scenario_brokered = {
    .name = "brokered",
    .new = brokered_new,
    .free = brokered_free,
    .actors = brokered_actors,
    .place = brokered_place,
    .populate = brokered_populate,
    .roles = brokered_roles,
    .tables = brokered_tables,
    .rows = brokered_rows,
    .milestone = brokered_milestone,
    .live_processes = brokered_live_processes,
    .file = brokered_file,
    .estimate = brokered_estimate,
    .describe = brokered_describe,
    .summarise = brokered_summarise,
    .pools = brokered_pools,
    .headline = brokered_headline,
    .details = brokered_details
};
