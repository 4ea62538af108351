/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario_dispatcher.h"

#include "engine/random.h"
#include "ranks/lb_client.h"
#include "ranks/plain_tasks.h"
#include "scenario_parts.h"

#define MILLION 1000000

/* --- from the deck to the setup --- */

static uint64_t read_chance(const struct deck *deck, const char *key)
{
    return random_bound(deck_integer_or(deck, "faults", key, 0));
}

/* The distance of events that come at a rate, rounded up; 0 where there is no limit. */
static int64_t read_interval(const struct deck *deck, const char *group, const char *key)
{
    if (!deck_has(deck, group, key))
        return 0;
    __int128 micro_per_s = deck_integer(deck, group, key);
    return (int64_t)(((__int128)1000000000 * MILLION + micro_per_s - 1) / micro_per_s);
}

/* The first choice, where the key has no value with this protocol, balance or policy. */
static unsigned read_choice(const struct deck *deck, const char *group, const char *key)
{
    return deck_has(deck, group, key) ? deck_choice(deck, group, key, NULL) : 0;
}

static void read_faults(struct task_faults *f, const struct deck *deck)
{
    f->task_failure = read_chance(deck, "task-failure");
    f->lost_result = read_chance(deck, "lost-result");
    f->executor_failure = read_chance(deck, "executor-failure");
    f->submit_failure = read_chance(deck, "submit-failure");
    f->retries_task = (uint32_t)deck_integer_or(deck, "faults", "task-retries", 0);
    f->errors_park = (uint32_t)deck_integer_or(deck, "faults", "park-errors", 0);
    f->park_ns = deck_integer_or(deck, "faults", "park-time", f->park_ns);
    f->timeout_ns = deck_integer_or(deck, "faults", "ack-timeout", f->timeout_ns);
    f->attempts_notify = (uint32_t)deck_integer_or(deck, "faults", "notify-attempts", 1);
    f->reconnect_ns = deck_integer_or(deck, "faults", "reconnect", f->reconnect_ns);
    f->restart_ns = deck_integer_or(deck, "faults", "restart", f->restart_ns);
    f->retry_submit_ns = deck_integer_or(deck, "faults", "submit-retry", f->retry_submit_ns);
    f->retries_submit = (uint32_t)deck_integer_or(deck, "faults", "submit-retries", f->retries_submit);
}

static void read_heap(struct task_service *t, const struct deck *deck)
{
    t->heap = (struct heap_setup){
        .size_bytes = (uint64_t)deck_integer_or(deck, "heap", "size", 0),
        .base_bytes = (uint64_t)deck_integer_or(deck, "heap", "live", 0),
        .pause_fixed_ns = t->costs.heap_pause.fixed_ns,
        .pause_per_byte_ps = t->costs.heap_pause.per_byte_ps,
        .overhead_limit = deck_has(deck, "heap", "overhead-limit") && deck_boolean(deck, "heap", "overhead-limit")
    };
    t->allocated_bytes = (uint64_t)deck_integer_or(deck, "heap", "per-task", 0);
    t->held_bytes = (uint64_t)deck_integer_or(deck, "heap", "held-per-task", 0);
    t->leak = (enum task_leak)read_choice(deck, "heap", "leak");
    t->leak_per_million_bytes = (uint64_t)deck_integer_or(deck, "heap", "leak-per-million", 0);
    t->record_bytes = (uint64_t)deck_integer_or(deck, "heap", "record", 0);
}

static void read_services(struct task_service *t, const struct deck *deck)
{
    t->services = (uint32_t)deck_integer(deck, "dispatcher", "services");
    t->executors = (uint32_t)deck_integer(deck, "dispatcher", "executors-per-service");
    t->threads = (uint32_t)deck_integer_or(deck, "dispatcher", "threads", 1);
    t->notify_interval_ns = read_interval(deck, "dispatcher", "notify-rate");
    t->notice_interval_ns = read_interval(deck, "dispatcher", "notice-rate");
    t->notice_bundle = (uint32_t)deck_integer_or(deck, "dispatcher", "notice-bundle", 1);
    t->choice = (enum task_choice)read_choice(deck, "dispatcher", "choice");
    t->lock_shared = read_choice(deck, "dispatcher", "lock") == 0;
    t->piggyback = deck_has(deck, "dispatcher", "piggy-back") && deck_boolean(deck, "dispatcher", "piggy-back");
    t->slowest_percent = (uint32_t)(deck_integer_or(deck, "dispatcher", "slowest", MILLION) / 10000);
    t->steal_first_ns = deck_integer_or(deck, "dispatcher", "steal-first", t->steal_first_ns);
    t->steal_most_ns = deck_integer_or(deck, "dispatcher", "steal-most", t->steal_most_ns);
    t->provision = (enum provision_policy)read_choice(deck, "provision", "policy");
    t->host_executors = (uint32_t)deck_integer_or(deck, "provision", "host-executors", 1);
    t->provision_poll_ns = deck_integer_or(deck, "provision", "poll", 1);
    if (deck_has(deck, "provision", "grant"))
        t->grant = deck_distribution(deck, "provision", "grant");
}

static void read_client(struct task_service *t, const struct deck *deck)
{
    t->clients = (uint32_t)deck_integer(deck, "client", "clients");
    t->balance = (enum task_balance)read_choice(deck, "client", "balance");
    t->window = (uint64_t)deck_integer_or(deck, "client", "window", 1);
    t->bundle = (uint32_t)deck_integer_or(deck, "client", "bundle", 1);
    t->poll_ns = deck_integer_or(deck, "client", "poll", 1);
    t->rate_limit = (uint64_t)(deck_integer_or(deck, "client", "rate", 0) / MILLION);
    if (deck_has(deck, "workload", "jobs")) {
        t->tasks = (uint64_t)deck_integer(deck, "workload", "jobs");
        t->duration = deck_distribution(deck, "workload", "duration");
    }
}

/* --- what only a scenario can find wrong --- */

static void check(const struct task_service *t, struct deck *deck)
{
    uint64_t actors = t->clients + (uint64_t)t->services * (t->executors + 2);

    if (deck_has(deck, "workload", "source") && deck_choice(deck, "workload", "source", NULL) != 0)
        deck_complain(deck, "workload", "source", "'%s' cannot be run by a dispatcher; expected bulk, because its "
                      "tasks are alike", deck_text(deck, "workload", "source"));
    if (actors > UINT32_MAX / 2)
        deck_complain(deck, "dispatcher", "executors-per-service", "with services makes %" G_GUINT64_FORMAT " actors; "
                      "expected at most %u", actors, UINT32_MAX / 2);
    if (t->clients > t->services && deck_usable(deck, "dispatcher", "services"))
        deck_complain(deck, "client", "clients", "'%u' is more than there are services; expected at most services (%u)",
                      t->clients, t->services);
    if (t->balance == TASK_STEALING && t->clients > 1)
        deck_complain(deck, "client", "clients", "'%u' does not go with balance = stealing; expected 1, because stolen "
                      "tasks must stay with their client", t->clients);
    if (t->heap.base_bytes > t->heap.size_bytes && t->heap.size_bytes != 0)
        deck_complain(deck, "heap", "live", "is more than the heap's size (%" G_GUINT64_FORMAT " bytes); expected less",
                      t->heap.size_bytes);
}

static void read_file(struct dispatcher_scenario *s, struct deck *deck)
{
    struct task_service *t = &s->service;
    g_autofree char *group = deck_has(deck, "workload", "io")
                                 ? g_strconcat("io.", deck_text(deck, "workload", "io"), NULL) : NULL;
    struct job_file_shape shape = {
        .parts = t->services, .slots = t->executors, .slots_per_mount = t->executors,
        .first_actor = task_service_actors(t), .local_ns = t->latency_ns, .jobs = t->tasks,
        .roles = task_service_roles(t)
    };

    for (unsigned i = 0; group != NULL && deck_named_group(deck, "io", i) != NULL; i++)
        if (g_str_equal(deck_named_group(deck, "io", i), group))
            shape.slots_per_mount = (uint32_t)MIN(deck_integer_or(deck, group, "writers-per-node", t->executors),
                                                  t->executors);
    job_file_init(&s->file, deck, &shape);
    if (!s->file.used)
        return;
    t->file = &s->file.file;
    if (t->protocol == TASK_PLAIN)
        deck_complain(deck, "workload", "io", "does not go with [dispatcher] protocol = plain; expected tcp or ws");
    /* An executor that writes would take a task it is told of again for a second one. */
    if (t->faults.executor_failure != 0 || t->faults.lost_result != 0 || t->faults.attempts_notify > 1)
        deck_complain(deck, "workload", "io", "does not go with executors that are notified again: expected [faults] "
                      "without executor-failure, lost-result and notify-attempts above 1");
}

static void *dispatcher_new(struct deck *deck, struct share *share)
{
    struct dispatcher_scenario *s = g_new0(struct dispatcher_scenario, 1);
    struct task_service *t = &s->service;

    task_service_init(t);
    t->protocol = (enum task_protocol)deck_choice(deck, "dispatcher", "protocol", NULL);
    t->latency_ns = deck_integer(deck, "network", "hop-latency");
    read_services(t, deck);
    read_client(t, deck);
    deck_costs(deck, task_service_cost_names, &t->costs);
    read_heap(t, deck);
    read_faults(&t->faults, deck);
    s->by_role = deck_choice(deck, "run", "placement", NULL) == 1;
    s->live = deck_is_live(deck);
    s->cpus = (uint32_t)deck_integer_or(deck, "cluster", "cpus", 0);
    s->machines = (uint32_t)deck_integer(deck, "cluster", "machines");
    s->local_latency_ns = deck_integer(deck, "network", "local-latency");
    check(t, deck);
    read_file(s, deck);
    return s;
}

static void dispatcher_free(void *data)
{
    job_file_release(&((struct dispatcher_scenario *)data)->file);
    g_free(data);
}

/* --- actors and where they are played --- */

/* Clients and dispatchers have half of the processes, the executors the rest. */
static uint32_t process_by_role(const struct task_service *t, const struct task_place *place, uint32_t processes)
{
    uint32_t clients = processes > 2 ? 1 : 0;
    uint32_t dispatchers = (processes - clients) / 2;

    if (processes == 1 || place->class == TASK_CLASS_CLIENT)
        return 0;
    if (place->class == TASK_CLASS_DISPATCHER)
        return clients + scenario_block(place->service, t->services, dispatchers);
    return clients + dispatchers + scenario_block(place->service, t->services, processes - clients - dispatchers);
}

/* A service stays together, and with its client where there are clients enough for all. */
static uint32_t process_by_node(const struct task_service *t, const struct task_place *place, uint32_t processes)
{
    if (place->class == TASK_CLASS_CLIENT)
        return scenario_block(place->service, t->clients, processes);
    if (t->clients >= processes)
        return scenario_block(place->service % t->clients, t->clients, processes);
    return scenario_block(place->service, t->services, processes);
}

/* No message crosses from one process to another. */
static bool processes_are_apart(const struct dispatcher_scenario *s, uint32_t processes)
{
    return !s->by_role && s->cpus == 0 && job_file_actors(&s->file) == 0 && s->service.clients >= processes &&
           processes <= ENGINE_ZONES_MAX;
}

static uint32_t dispatcher_actors(const void *data)
{
    const struct dispatcher_scenario *s = data;
    return task_service_actors(&s->service) + job_file_actors(&s->file);
}

/* A client, a service and the executors of a service are a node each; of machines with cpus, a machine is one. */
static void dispatcher_place(const void *data, uint32_t actor, uint32_t processes, struct scenario_place *where)
{
    const struct dispatcher_scenario *s = data;
    const struct task_service *t = &s->service;
    struct task_place place;

    if (actor >= task_service_actors(t)) {
        uint32_t service;
        where->role = job_file_place(&s->file, actor, &service);
        where->node = t->clients + 2 * t->services + (actor - task_service_actors(t));
        where->process = scenario_block(service, t->services + 1, processes);
        return;
    }
    task_service_place(t, actor, &place);
    where->role = place.role;
    where->node = place.service + (place.class == TASK_CLASS_CLIENT ? 0 : t->clients) +
                  (place.class == TASK_CLASS_EXECUTOR ? t->services : 0);
    if (s->cpus > 0 && !s->live) {
        /* Those who share cores are one node, and played by one process, whatever the placement. */
        where->node = process_by_node(t, &place, s->machines);
        where->process = scenario_block(where->node, s->machines, processes);
        return;
    }
    where->process = s->by_role ? process_by_role(t, &place, processes) : process_by_node(t, &place, processes);
}

/* Without machines one latency for all, so that the engine need not look up which. Processes that have nothing to tell
 * each other are zones without a link, so that none waits for another. */
static void dispatcher_populate(const void *data, struct engine *e, uint32_t processes)
{
    const struct dispatcher_scenario *s = data;
    const struct engine_link link = { .latency_ns = s->service.latency_ns };

    const bool shares = s->cpus > 0 && !s->live;
    const bool apart = processes_are_apart(s, processes);

    for (uint8_t zone = 0; zone < (apart ? processes : 1); zone++)
        engine_set_link(e, zone, zone, link);
    engine_set_local_link(e, shares ? (struct engine_link){ .latency_ns = s->local_latency_ns } : link);
    for (uint32_t id = 0; id < dispatcher_actors(s); id++) {
        struct scenario_place place;
        dispatcher_place(s, id, processes, &place);
        bool own = id < task_service_actors(&s->service);
        uint32_t added = engine_add_actor(e, &(struct engine_actor){
            .role = place.role, .setup = own ? (const void *)&s->service : &s->file.file, .node = place.node,
            .process = place.process, .zone = (uint8_t)(apart ? place.process : 0), .thread_group = ENGINE_NO_GROUP,
            .cpu_group = shares && own ? place.node : ENGINE_NO_GROUP, .cpu_cores = s->cpus
        });
        g_assert(added == id);
    }
}

static uint32_t dispatcher_live_processes(const void *data, const char **why)
{
    const struct dispatcher_scenario *s = data;

    if (s->service.protocol == TASK_PLAIN) {
        *why = "protocol = plain is nothing but modelled time";
        return 0;
    }
    if (s->service.heap.size_bytes != 0) {
        *why = "a collected [heap] is nothing but modelled time";
        return 0;
    }
    if (!s->by_role) {
        *why = "for all, or clients and services with their executors";
        return 1;
    }
    *why = "one for each class of roles: clients, dispatchers, executors";
    return 3;
}

static const struct role *const *dispatcher_roles(const void *data)
{
    const struct dispatcher_scenario *s = data;
    return s->file.used ? s->file.roles : task_service_roles(&s->service);
}

/* A task has no row: there are too many. */
static const struct table *dispatcher_tables(const void *data, unsigned *count)
{
    *count = 0;
    return NULL;
}

static uint64_t dispatcher_rows(const void *data)
{
    return 0;
}

static struct scenario_milestone dispatcher_milestone(const void *data)
{
    const struct task_service *t = &((const struct dispatcher_scenario *)data)->service;
    return (struct scenario_milestone){ t->protocol == TASK_PLAIN ? &role_plain_client : &role_lb_client,
                                        LB_CLIENT_ENDED, t->clients == 1 ? t->tasks : UINT64_MAX, "tasks done" };
}

static const struct job_file *dispatcher_file(const void *data)
{
    const struct job_file *file = &((const struct dispatcher_scenario *)data)->file;
    return file->used ? file : NULL;
}

const struct scenario_kind scenario_dispatcher = {
    .name = "dispatcher",
    .new = dispatcher_new,
    .free = dispatcher_free,
    .actors = dispatcher_actors,
    .place = dispatcher_place,
    .populate = dispatcher_populate,
    .roles = dispatcher_roles,
    .tables = dispatcher_tables,
    .rows = dispatcher_rows,
    .milestone = dispatcher_milestone,
    .live_processes = dispatcher_live_processes,
    .file = dispatcher_file,
    .estimate = dispatcher_estimate,
    .summarise = dispatcher_summarise,
    .pools = dispatcher_pools,
    .headline = dispatcher_headline,
    .details = dispatcher_details
};
