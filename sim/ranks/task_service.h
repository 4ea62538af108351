/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A dispatcher service: clients that hold tasks, services that pass them on, executors that run them; the constant
 * setup that all its roles share. As Falkon had it (Raicu et al., SC 2007 and SC 2008; doc/models/dispatcher.md).
 *
 *     lb-client  --SUBMIT (a bundle)-->  dispatcher  --TASK-->    task-executor
 *                <--SUBMITTED--------                <--TAKEN---        TCP: the acknowledgement, before it runs
 *                <--NOTICE (a bundle)-               <--RESULT--
 *
 *                                        dispatcher  --POKE-->    task-executor       WS: "there is work"
 *                                                    <--ASK----
 *                                                    --WORK--->
 *                                                    <--ANSWER-
 *                                                    --WORK--->                       thanks; the next task, or none
 *
 * A task is nobody's record: tasks are alike, so a bundle is a count, a queue is a row of counts, and what belongs to
 * one task alone (how often it was tried, which bundle it came with) travels in its message. Hence a billion tasks cost
 * no memory. Every message is a word.
 *
 * Actors: the clients, then for each service its dispatcher and its executors, then one provisioner a service where
 * executors are provisioned. Service s belongs to client s modulo clients.
 */
#ifndef TIERCEL_RANKS_TASK_SERVICE_H
#define TIERCEL_RANKS_TASK_SERVICE_H

#include "base/quantity.h"
#include "engine/actor.h"
#include "ranks/heap.h"
#include "ranks/instance.h"

enum lb_client_kind {
    LB_CLIENT_STEP = 0x1001,        /* timer: a submit loop goes on; word: its lane */
    LB_CLIENT_START                 /* the first act; word 0 */
};

enum dispatcher_kind {
    DISPATCHER_SUBMIT = 0x1101,     /* client: a bundle. Word: tasks | bundle's lowest bit << 32 */
    DISPATCHER_SUBMITTED,           /* to the client: the submit call returns */
    DISPATCHER_NOTICE,              /* to the client: tasks have ended. Word: struct notice_counts, packed */
    DISPATCHER_WANT,                /* to the client, late binding: room for so many tasks */
    DISPATCHER_TASK,                /* to an executor: run this. Word: the task */
    DISPATCHER_POKE,                /* WS, to an executor: there is work */
    DISPATCHER_WORK,                /* WS, to an executor: answer to ASK and ANSWER. Word: the task, or TASK_NONE */
    DISPATCHER_PROBE,               /* to a neighbour: how long is your queue? */
    DISPATCHER_LOAD,                /* its answer; word: tasks in the queue */
    DISPATCHER_STEAL,               /* to the fullest neighbour */
    DISPATCHER_STOLEN,              /* its answer; word: tasks, 0 or more */
    DISPATCHER_NOTIFY_TIMER,        /* timer: the client may be notified again */
    DISPATCHER_DISPATCH_TIMER,      /* timer: an executor may be notified again, or a task has been taken in */
    DISPATCHER_TIMEOUT,             /* timer: has every executor acknowledged? */
    DISPATCHER_UNPARK,              /* background timer: may parked executors go on? */
    DISPATCHER_STEAL_TIMER          /* background timer: look for work again */
};

enum task_executor_kind {
    TASK_EXECUTOR_REGISTER = 0x1201,    /* to the dispatcher: here I am (again) */
    TASK_EXECUTOR_TAKEN,            /* TCP: the acknowledgement */
    TASK_EXECUTOR_RESULT,           /* TCP: a task has ended. Word: the task | TASK_FAILED */
    TASK_EXECUTOR_ASK,              /* WS: give me work */
    TASK_EXECUTOR_ANSWER,           /* WS: a task has ended, as RESULT; is there more? */
    TASK_EXECUTOR_BACK,             /* timer: connected again, or started again */
    TASK_EXECUTOR_START             /* provisioner: begin */
};

enum provisioner_kind {
    PROVISIONER_POLL = 0x1401,      /* timer: look at the service's state */
    PROVISIONER_STATUS,             /* to the dispatcher, and its answer; word: tasks queued or running */
    PROVISIONER_GRANTED             /* timer: hosts have been granted; word: how many */
};

/* A task, as messages have it: how often it was tried (8 bits), the lowest bit of its bundle's number, flags. */
#define TASK_ATTEMPTS UINT64_C(0xff)
#define TASK_ODD_BUNDLE (UINT64_C(1) << 8)
#define TASK_FAILED (UINT64_C(1) << 9)
#define TASK_NONE (UINT64_C(1) << 10)
enum { TASK_ATTEMPTS_MOST = 255, BUNDLE_MOST = 32767 };

/* What a notice says: tasks that ended completed, failed or lost; how many of them came with the newest bundle, and
 * which that is. */
struct notice_counts {
    uint32_t completed;
    uint32_t failed;
    uint32_t lost;
    uint32_t newest;
    bool odd_bundle;
};

static inline uint64_t notice_pack(const struct notice_counts *n)
{
    return (uint64_t)n->completed | (uint64_t)n->failed << 16 | (uint64_t)n->lost << 32 | (uint64_t)n->newest << 48 |
           (uint64_t)n->odd_bundle << 63;
}

static inline struct notice_counts notice_unpack(uint64_t word)
{
    return (struct notice_counts){ (uint32_t)(word & 0xffff), (uint32_t)(word >> 16 & 0xffff),
                                   (uint32_t)(word >> 32 & 0xffff), (uint32_t)(word >> 48 & 0x7fff), word >> 63 != 0 };
}

/* --- the setup --- */

enum task_protocol {
    TASK_TCP,
    TASK_WS,
    TASK_PLAIN                      /* five messages a task and nothing else (ranks/plain_tasks.h) */
};

/* How clients and services share the tasks out. */
enum task_balance {
    TASK_CREDIT,                    /* a window of outstanding tasks a service */
    TASK_LATE_BINDING,              /* a task is bound to a service when that has an idle executor */
    TASK_STEALING                   /* all tasks are pushed at once; a service without any takes half of another's */
};

enum task_choice {
    TASK_LONGEST_IDLE,
    TASK_LAST_IDLE
};

enum task_leak {
    TASK_LEAK_NONE,
    TASK_LEAK_PER_TASK,
    TASK_LEAK_LATE_ANSWER           /* the record of a task that ends before its submit call has returned */
};

enum provision_policy {
    PROVISION_STATIC,               /* all executors are there from the beginning */
    PROVISION_ONE,
    PROVISION_ADDITIVE,
    PROVISION_EXPONENTIAL,
    PROVISION_ALL
};

/* The one list of costs: X(field, key, fixed ns, ps a byte, ns an entry, what it is), as INSTANCE_COSTS. The defaults
 * are those of no machine; profiles in inputs/costs/ name their sources. */
#define TASK_SERVICE_COSTS(X) \
    X(client_submit, "lb-client-submit", 100000, 0, 1000, "load-balancing client makes one bundle; entry: a task") \
    X(client_copy, "lb-client-copy", 0, 0, 0, \
      "load-balancing client, for each task of a bundle; entry: a task already in it") \
    X(client_notice, "lb-client-notice", 20000, 0, 1000, "load-balancing client takes a notice; entry: a task") \
    X(dispatcher_submit, "dispatcher-submit", 100000, 0, 5000, "dispatcher takes a bundle in; entry: a task") \
    X(dispatcher_dispatch, "dispatcher-dispatch", 100000, 0, 0, \
      "dispatcher chooses an executor and sends it a task, or word of one; entry: a queued task") \
    X(dispatcher_ack, "dispatcher-ack", 1000, 0, 0, "dispatcher takes an acknowledgement") \
    X(dispatcher_result, "dispatcher-result", 20000, 0, 0, "dispatcher takes a result") \
    X(dispatcher_call, "dispatcher-call", 2000000, 0, 0, "dispatcher serves one web-service call of an executor") \
    X(dispatcher_notice, "dispatcher-notice", 2000000, 0, 0, \
      "dispatcher's notification thread sends one notice (beside its other work); entry: a task") \
    X(dispatcher_steal, "dispatcher-steal", 20000, 0, 0, "dispatcher answers a probe or a thief") \
    X(executor_ack, "executor-ack", 10000, 0, 0, "executor takes a task and acknowledges it, or asks for one") \
    X(executor_run, "executor-run", 100000, 0, 0, "executor starts and reaps a task, beside the task's own duration") \
    X(heap_pause, "heap-pause", 0, 1000, 0, "one collection of the client's heap; byte: alive")

struct task_service_costs {
#define TASK_SERVICE_COST_FIELD(field, key, fixed, byte, entry, text) struct cost field;
    TASK_SERVICE_COSTS(TASK_SERVICE_COST_FIELD)
#undef TASK_SERVICE_COST_FIELD
};

/* The same list at run time; offsets are in struct task_service_costs. */
extern const struct cost_name task_service_cost_names[];

struct task_faults {                /* chances as random_bound has them; 0: never */
    uint64_t task_failure;          /* a task ends with an error */
    uint64_t lost_result;           /* a result never arrives: its connection breaks */
    uint64_t executor_failure;      /* an executor dies when it is notified */
    uint64_t submit_failure;        /* a submit call fails */
    uint32_t retries_task;          /* a failed task is tried so many times more */
    uint32_t errors_park;           /* an executor with so many errors is parked; 0: never */
    int64_t park_ns;                /* for at least so long; looked at as often */
    int64_t timeout_ns;             /* of an acknowledgement */
    uint32_t attempts_notify;       /* an executor that does not acknowledge is notified so often in all */
    int64_t reconnect_ns;           /* after a broken connection */
    int64_t restart_ns;             /* after a death */
    int64_t retry_submit_ns;        /* between two attempts of a submit call */
    uint32_t retries_submit;        /* after so many more the submit loop gives up */
};

struct task_service {
    uint32_t clients;
    uint32_t services;
    uint32_t executors;             /* of each service */
    uint64_t tasks;                 /* of all clients */
    struct distribution duration;
    int64_t latency_ns;
    enum task_protocol protocol;

    enum task_balance balance;
    uint64_t window;                /* tasks outstanding at a service */
    uint32_t bundle;                /* tasks of one submit call */
    int64_t poll_ns;                /* nap of a submit loop that finds no room */
    uint64_t rate_limit;            /* tasks a second and submit loop; 0: none */

    uint32_t threads;               /* executors notified that have not acknowledged yet */
    int64_t notify_interval_ns;     /* between two notifications of executors; 0: none */
    int64_t notice_interval_ns;     /* between two notices to a client */
    uint32_t notice_bundle;         /* tasks in a notice */
    enum task_choice choice;
    bool lock_shared;               /* submission and dispatch exclude one another */
    bool piggyback;                 /* WS: the answer to a result carries the next task */
    uint32_t slowest_percent;       /* costs of the last service, of the first's; those between lie between */
    int64_t steal_first_ns;         /* a thief that found nothing waits so long, and twice as long each time ... */
    int64_t steal_most_ns;          /* ... up to this */

    struct heap_setup heap;
    uint64_t allocated_bytes;       /* a task, from its submission to its notice */
    uint64_t held_bytes;            /* of these, in use until the notice */
    enum task_leak leak;
    uint64_t leak_per_million_bytes;
    uint64_t record_bytes;

    enum provision_policy provision;
    uint32_t host_executors;        /* executors of one host */
    struct distribution grant;      /* from a request for hosts until they are there */
    int64_t provision_poll_ns;

    const struct shared_file *file; /* that each task writes before it ends; NULL: none */

    struct task_faults faults;
    struct task_service_costs costs;
};

/* The layout of actors. */
struct task_place {
    const struct role *role;
    uint32_t service;               /* clients: which one */
    enum { TASK_CLASS_CLIENT, TASK_CLASS_DISPATCHER, TASK_CLASS_EXECUTOR } class;
};

void task_service_init(struct task_service *t);
uint32_t task_service_actors(const struct task_service *t);
void task_service_place(const struct task_service *t, uint32_t id, struct task_place *place);

static inline uint32_t task_service_stride(const struct task_service *t)
{
    return 1 + t->executors;
}

static inline uint32_t task_service_dispatcher(const struct task_service *t, uint32_t service)
{
    return t->clients + service * task_service_stride(t);
}

static inline uint32_t task_service_of(const struct task_service *t, uint32_t dispatcher)
{
    return (dispatcher - t->clients) / task_service_stride(t);
}

static inline uint32_t task_service_provisioner(const struct task_service *t, uint32_t service)
{
    return t->clients + t->services * task_service_stride(t) + service;
}

/* Of n things dealt out to `parts` as evenly as possible, those of part i. */
static inline uint64_t task_share(uint64_t n, uint32_t parts, uint32_t i)
{
    return n / parts + (i < n % parts);
}

/* A cost of one service, whose machine may be slower than the first's. */
static inline int64_t task_service_scaled(const struct task_service *t, uint32_t service, int64_t cost_ns)
{
    if (t->slowest_percent == 100 || t->services < 2)
        return cost_ns;
    int64_t more = ((int64_t)t->slowest_percent - 100) * service / (t->services - 1);
    return (int64_t)((__int128)cost_ns * (100 + more) / 100);
}

extern const struct role role_lb_client;
extern const struct role role_dispatcher;
extern const struct role role_task_executor;
extern const struct role role_provisioner;

/* The roles that a setup has, ended by NULL. */
const struct role *const *task_service_roles(const struct task_service *t);

#endif
