/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A brokered instance: the constant setup that all its roles share.
 *
 * The scenario fills a struct instance once, alike on every process, adds the instance's actors to the engine in the
 * order of their ids, and hands each of them the struct as its setup:
 *
 *     struct instance inst;
 *     instance_init(&inst);                                  defaults: 1 node, pr2792, default costs
 *     inst.nodes = 16; inst.cores_per_node = 64; ...
 *     for (id = inst.first_actor; id < inst.first_actor + instance_actors(&inst); id++) {
 *         instance_place(&inst, id, &place);
 *         engine_add_actor(e, &(struct engine_actor){ .role = roles_find(place.role, place.node), .setup = &inst,
 *                                                     .node = place.node, ... });
 *     }
 *
 * In a role: const struct instance *inst = actor_setup(self). Nothing in it changes during a run and nothing in it
 * depends on the number of processes, so ids and costs are the same everywhere.
 *
 * Layout. Every node has a broker, kvs, watcher, job-info, ingest and content cache, then one executor a core slot;
 * node 0 then has the job manager, scheduler, job-exec and client. Each has a thread of its own, but the content cache
 * shares its broker's unless content_module.
 *
 * All functions are local, pure and cannot fail; an argument out of range is a programming mistake (g_assert).
 */
#ifndef TIERCEL_RANKS_INSTANCE_H
#define TIERCEL_RANKS_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/cost.h"

/* --- costs (base/cost.h) --- */

/*
 * The one list of costs: X(field, key, fixed ns, ps a byte, ns an entry, what it is). The key is the name in a deck's
 * [costs]; the figures are the defaults, chosen for plausibility only (a profile in inputs/costs/ names its sources).
 * Some of them are the length of an act (actor_perform), not busy time: they say so.
 */
#define INSTANCE_COSTS(X) \
    X(broker_route, "broker-route", 8000, 200, 0, "broker forwards a routed message") \
    X(broker_publish, "broker-publish", 8000, 200, 0, "broker takes an event on its way up; broker 0 numbers it") \
    X(broker_event, "broker-event", 5000, 100, 3000, "broker distributes an event; entry: a receiver sent to") \
    X(broker_match, "broker-match", 0, 0, 20, "broker looks for receivers; entry: a list element compared") \
    X(broker_subscribe, "broker-subscribe", 60000, 0, 20, "broker serves one subscribe or unsubscribe call; entry: a " \
      "list element walked") \
    X(kvs_request, "kvs-request", 12000, 500, 0, "kvs takes a request or a response") \
    X(kvs_turn, "kvs-turn", 500, 0, 50, "kvs root's prepare and check of one turn; entry: a namespace root walked") \
    X(kvs_apply, "kvs-apply", 40000, 0, 15000, "kvs root applies a transaction; entry: an operation") \
    X(kvs_store, "kvs-store", 12000, 2000, 0, "kvs root encodes, hashes and sends one blob") \
    X(kvs_setroot, "kvs-setroot", 15000, 300, 3000, "kvs publishes or applies a new root; entry: a transaction named") \
    X(kvs_lookup, "kvs-lookup", 10000, 200, 3000, "kvs walks to a key and answers; entry: a directory passed") \
    X(kvs_load, "kvs-load", 10000, 2000, 0, "kvs decodes one directory that was loaded") \
    X(kvs_namespace, "kvs-namespace", 100000, 0, 0, "kvs creates or removes a namespace root") \
    X(kvs_discard, "kvs-discard", 8000, 200, 0, "kvs is handed an event that it does not act on") \
    X(kvs_heartbeat, "kvs-heartbeat", 5000, 0, 100, "kvs looks through its roots at a heartbeat; entry: a root") \
    X(watcher_request, "watcher-request", 12000, 0, 0, "watcher takes a request or a response; entry: a " \
      "watch walked to end one") \
    X(watcher_event, "watcher-event", 8000, 200, 500, "watcher takes an event; entry: a watch looked at") \
    X(watcher_discard, "watcher-discard", 8000, 200, 0, "watcher is handed an event that it does not act on") \
    X(content_store, "content-store", 8000, 500, 0, "content cache stores a blob") \
    X(content_load, "content-load", 8000, 500, 0, "content cache serves or passes on a load") \
    X(content_heartbeat, "content-heartbeat", 2000, 0, 0, "content cache at a heartbeat") \
    X(job_info_event, "job-info-event", 8000, 200, 2000, "job-info takes a job-state event; entry: a transition") \
    X(job_info_request, "job-info-request", 12000, 200, 0, "job-info takes a request or a response; entry: " \
      "a watch walked to end one") \
    X(ingest_request, "ingest-request", 20000, 1000, 0, "ingest takes a submission or a response") \
    X(ingest_validate, "ingest-validate", 2500000, 0, 0, "a validator checks one jobspec (length of an act)") \
    X(ingest_validator, "ingest-validator", 100000000, 0, 0, "a validator starts, before its first job (length of an " \
      "act)") \
    X(ingest_batch, "ingest-batch", 20000, 0, 5000, "ingest commits a batch; entry: a job") \
    X(job_manager_request, "job-manager-request", 12000, 0, 3000, "job manager takes a request or response; entry: a " \
      "job in it") \
    X(job_manager_event, "job-manager-event", 15000, 0, 0, "job manager posts one event of a job") \
    X(job_manager_batch, "job-manager-batch", 20000, 0, 3000, "job manager commits or publishes a batch; entry: an " \
      "event") \
    X(job_manager_alloc, "job-manager-alloc", 10000, 0, 0, "job manager asks the scheduler for one job") \
    X(scheduler_request, "scheduler-request", 15000, 500, 0, "scheduler takes a request or a response") \
    X(scheduler_decide, "scheduler-decide", 20000, 0, 500, "scheduler tries its head; entry: a node looked at") \
    X(scheduler_free, "scheduler-free", 20000, 0, 500, "scheduler gives resources back; entry: a node") \
    X(job_exec_request, "job-exec-request", 15000, 200, 0, "job-exec takes a request or a response") \
    X(job_exec_step, "job-exec-step", 20000, 0, 0, "job-exec makes one commit or reply of a job") \
    X(job_exec_launch, "job-exec-launch", 40000, 0, 0, "job-exec sends one remote launch") \
    X(executor_launch, "executor-launch", 20000000, 0, 0, "a node starts a shell's process (length of an act)") \
    X(executor_connect, "executor-connect", 5000000, 0, 0, "a shell connects and reads its job") \
    X(executor_step, "executor-step", 200000, 0, 0, "a shell's work between two of its requests") \
    X(executor_task, "executor-task", 5000000, 0, 0, "a shell starts one task (length of an act)") \
    X(executor_exit, "executor-exit", 2000000, 0, 0, "a shell ends") \
    X(client_submit, "client-submit", 300000, 0, 0, "client makes and sends one submission") \
    X(client_reply, "client-reply", 30000, 0, 0, "client takes one response") \
    X(client_start, "client-start", 0, 0, 0, "client begins with namespaces: what it does once, after its clock has " \
      "started") \
    X(client_namespace, "client-namespace", 10000, 0, 0, "client sends one request of a burst of namespaces")

struct instance_costs {
#define INSTANCE_COST_FIELD(field, key, fixed, byte, entry, text) struct cost field;
    INSTANCE_COSTS(INSTANCE_COST_FIELD)
#undef INSTANCE_COST_FIELD
};

/* The same list at run time; offsets are in struct instance_costs. */
extern const struct cost_name instance_cost_names[];

/* --- the event scheme ---
 *
 * Which topics the kvs publishes and who subscribes to what, as data. In a template "{ns}" stands for the namespace's
 * name. What a role does at removal is a list of calls of its own, so that a list that forgets one (v0.16: the entry
 * leaks), or subscribes where it should unsubscribe (pr2777), is told as it was. */

enum event_class {
    EVENT_SETROOT,          /* a namespace has a new root */
    EVENT_ERROR,            /* a transaction failed */
    EVENT_REMOVED,          /* a namespace was removed */
    EVENT_CREATED,          /* a namespace was created */
    EVENT_JOB_STATE,        /* "job-state": transitions of a batch of jobs */
    EVENT_HEARTBEAT,        /* "hb" */
    EVENT_OTHER,
    EVENT_CLASSES,
    EVENT_KVS_CLASSES = EVENT_CREATED + 1   /* the first ones, whose topics the scheme names */
};

enum scheme_user {
    SCHEME_KVS_ROOT,        /* kvs on node 0 */
    SCHEME_KVS_WORKER,      /* kvs on the other nodes */
    SCHEME_WATCHER,
    SCHEME_USERS
};

struct scheme_call {
    const char *topic;      /* a template; a list ends with NULL */
    bool subscribe;         /* false: unsubscribe */
};

struct scheme_subscriptions {
    const char *const *at_load;             /* in place when the run starts; NULL-ended */
    const char *const *at_first_use;        /* one call each before the first namespace is used on a node */
    const char *const *per_namespace;       /* one call each: root created, or first used, or first watched */
    const struct scheme_call *at_removal;   /* one call each: final removal, or last watcher gone */
};

struct scheme {
    const char *name;
    const char *topics[EVENT_KVS_CLASSES];  /* templates */
    struct scheme_subscriptions users[SCHEME_USERS];
};

/* "v0.16", "pr2777", "pr2792"; NULL when there is no such preset. */
const struct scheme *scheme_find(const char *name);
/* The names of the presets, NULL-ended. */
extern const char *const scheme_names[];

/* The template with "{ns}" replaced; the caller frees it with g_free. */
char *scheme_topic(const char *pattern, const char *ns);

/* --- the setup --- */

struct blob_pool;       /* kvs/content.h */
struct instance_jobs;   /* what only the job side needs: workload, policy; sim/ranks/jobs.h */
struct shared_file;     /* ranks/shared_file.h */

enum { INSTANCE_ALLOC_UNLIMITED = UINT32_MAX };

/* What the job manager passes on to scheduler and job-exec, so that they need not look it up. */
enum instance_passes { PASSES_NOTHING, PASSES_JOBSPEC, PASSES_ALL };     /* all: R, too */

enum instance_news {
    NEWS_EVENTS,            /* job-state events: three lookups a job */
    NEWS_JOURNAL,           /* the same with the text of the job's event log: two */
    NEWS_NONE               /* no such event is published, and nothing looked up */
};

struct instance {
    uint32_t first_actor;           /* id of node 0's broker */
    uint32_t nodes;                 /* 1 or above; 2^14 at most, what a job id can name */
    uint32_t fanout;                /* of the broker tree, 1 or above */
    uint32_t cores_per_node;        /* executors a node, 1 or above */

    const struct scheme *scheme;
    struct instance_costs costs;
    uint32_t jitter_ppm;            /* each cost is drawn within this share of what is stated (ranks/charge.h) */

    int64_t heartbeat_ns;           /* between heartbeats; the first one comes after one period */
    uint32_t cache_age;             /* heartbeats without use until a kvs forgets a directory */
    bool merge;                     /* kvs merges adjacent transactions of a namespace */
    bool ready_list;                /* kvs root knows which roots are ready; else a turn walks all of them */
    bool content_module;            /* the content cache has a thread of its own; else the broker's */
    bool async_kvs;                 /* kvs does not wait for its subscriptions, */
    bool async_watcher;             /* nor does the watcher */
    bool job_info_first;            /* job-info is on node 0 only; else on every node */
    enum instance_news job_info_news;   /* what job-info learns of jobs by itself, and looks up for it */
    bool shells_follow;             /* a shell follows changes of its R: job-info watches the job's log for it */
    bool simulated;                 /* job-exec lets a job's time pass itself: no shell, nothing on its node */
    bool watch_forced;              /* a job waits for its input watch to start, however short it is */

    int64_t ingest_batch_ns;        /* from the first job of a batch to its commit */
    uint32_t ingest_validators;     /* co-processes */
    int64_t event_batch_ns;         /* job manager: from the first event of a batch to its commit */
    enum instance_passes passes;    /* what the job manager's requests bring along */
    int64_t exec_batch_ns;          /* job-exec: from the first entry of a job's log to its commit; 0: each entry is
                                     * committed by itself, and the end of a job has two more */
    uint32_t alloc_limit;           /* alloc requests outstanding: 1 is `single`; INSTANCE_ALLOC_UNLIMITED */
    bool queue_stopped;             /* the client stops the queue, submits all, and starts it again */

    int64_t age_ns;                 /* instance age at the start of the run: job ids count milliseconds since */
    int64_t epoch_ns;               /* wall-clock time at the start of the run, for the text of event logs */

    struct blob_pool *pool;         /* this process's, for the bytes of blobs; NULL: each actor has one of its own */
    const struct instance_jobs *jobs;
    const struct shared_file *file; /* that each job writes when its task has run; NULL: none */
};

/* Defaults: one node, one core, fan-out 2, pr2792, default costs, heartbeat 2 s, merge on, windows 10 ms, four
 * validators, single, queue stopped during submission, age 600 s. */
void instance_init(struct instance *inst);

/* --- actors --- */

enum instance_service {             /* on every node, at these places after the node's first id */
    SERVICE_BROKER,
    SERVICE_KVS,
    SERVICE_WATCHER,
    SERVICE_JOB_INFO,
    SERVICE_INGEST,
    SERVICE_CONTENT,
    SERVICES
};

enum { INSTANCE_CENTRAL_ACTORS = 4 };   /* job manager, scheduler, job-exec, client: last on node 0 */

/* The number of actors. */
static inline uint32_t instance_actors(const struct instance *inst)
{
    return inst->nodes * (SERVICES + inst->cores_per_node) + INSTANCE_CENTRAL_ACTORS;
}

/* First id of a node. */
static inline uint32_t instance_node_base(const struct instance *inst, uint32_t node)
{
    return inst->first_actor + node * (SERVICES + inst->cores_per_node) + (node > 0 ? INSTANCE_CENTRAL_ACTORS : 0);
}

static inline uint32_t instance_broker(const struct instance *inst, uint32_t node)
{
    return instance_node_base(inst, node) + SERVICE_BROKER;
}

static inline uint32_t instance_kvs(const struct instance *inst, uint32_t node)
{
    return instance_node_base(inst, node) + SERVICE_KVS;
}

static inline uint32_t instance_watcher(const struct instance *inst, uint32_t node)
{
    return instance_node_base(inst, node) + SERVICE_WATCHER;
}

static inline uint32_t instance_job_info(const struct instance *inst, uint32_t node)
{
    return instance_node_base(inst, node) + SERVICE_JOB_INFO;
}

static inline uint32_t instance_ingest(const struct instance *inst, uint32_t node)
{
    return instance_node_base(inst, node) + SERVICE_INGEST;
}

static inline uint32_t instance_content(const struct instance *inst, uint32_t node)
{
    return instance_node_base(inst, node) + SERVICE_CONTENT;
}

/* The job-info that serves a node. */
static inline uint32_t instance_job_info_of(const struct instance *inst, uint32_t node)
{
    return instance_job_info(inst, inst->job_info_first ? 0 : node);
}

/* `slot` below cores_per_node. */
static inline uint32_t instance_executor(const struct instance *inst, uint32_t node, uint32_t slot)
{
    return instance_node_base(inst, node) + SERVICES + slot;
}

static inline uint32_t instance_job_manager(const struct instance *inst)
{
    return instance_executor(inst, 0, inst->cores_per_node);
}

static inline uint32_t instance_scheduler(const struct instance *inst)
{
    return instance_job_manager(inst) + 1;
}

static inline uint32_t instance_job_exec(const struct instance *inst)
{
    return instance_job_manager(inst) + 2;
}

static inline uint32_t instance_client(const struct instance *inst)
{
    return instance_job_manager(inst) + 3;
}

/* The node an actor of the instance belongs to. */
uint32_t instance_node(const struct instance *inst, uint32_t id);

struct instance_place {
    uint8_t role;       /* enum role_number, ranks/protocol.h */
    uint32_t node;
    uint32_t slot;      /* of an executor; else 0 */
    bool is_service;    /* one of enum instance_service: every node has it */
};

/* Where and what the actor `id` is. */
void instance_place(const struct instance *inst, uint32_t id, struct instance_place *place);

/* --- the broker tree: node 0 is the root, the parent of n is (n - 1) / fanout --- */

/* `node` above 0. */
static inline uint32_t instance_parent(const struct instance *inst, uint32_t node)
{
    return (node - 1) / inst->fanout;
}

/* The children are first .. first + count - 1; returns the count. */
uint32_t instance_children(const struct instance *inst, uint32_t node, uint32_t *first);

/* Steps to node 0. */
uint32_t instance_depth(const struct instance *inst, uint32_t node);

/* The neighbour of `from` on the path to `to`, a different node. */
uint32_t instance_next_hop(const struct instance *inst, uint32_t from, uint32_t to);

#endif
