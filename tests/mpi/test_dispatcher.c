/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole dispatcher services on the real engine, small, with everything that can go wrong: each setup is played alone by
 * every process (both inboxes), then by all together, placed by services and otherwise. One digest; every task ends in
 * one state; what services counted is what clients counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "ranks/dispatcher.h"
#include "ranks/lb_client.h"
#include "ranks/plain_tasks.h"
#include "ranks/task_executor.h"
#include "ranks/task_service.h"

struct counts {
    uint64_t client[LB_CLIENT_METRICS];
    uint64_t dispatcher[DISPATCHER_METRICS];
};

struct outcome {
    struct engine_result result;
    struct counts counts;
};

static unsigned failures;

static void count(void *data, const struct actor *self, unsigned metric, uint64_t n)
{
    struct counts *c = data;
    if (actor_role(self) == &role_lb_client || actor_role(self) == &role_plain_client)
        c->client[metric] += n;
    else if (actor_role(self) == &role_dispatcher)
        c->dispatcher[metric] += n;
}

/* placement 0: a service stays together; 1: every actor elsewhere. */
static bool play(const struct task_service *t, MPI_Comm comm, unsigned placement, bool explicit_inbox,
                 struct outcome *outcome)
{
    g_autoptr(GError) error = NULL;
    struct counts counts = { { 0 }, { 0 } };
    struct engine_config config = {
        .comm = comm, .clock = ENGINE_VIRTUAL, .seed = 5, .tick_ns = 1000000000,
        .stop_after_ns = INT64_C(20000000000000),
        .explicit_inbox = explicit_inbox, .spread_always = true, .observer = { .data = &counts, .count = count }
    };
    const struct engine_link link = { .latency_ns = t->latency_ns };
    int processes;
    MPI_Comm_size(comm, &processes);
    struct engine *e = engine_new(&config, &error);
    engine_set_link(e, 0, 0, link);
    engine_set_local_link(e, link);
    for (uint32_t id = 0; id < task_service_actors(t); id++) {
        struct task_place place;
        task_service_place(t, id, &place);
        uint32_t by_service = place.class == TASK_CLASS_CLIENT ? 0 : place.service;
        engine_add_actor(e, &(struct engine_actor){
            .role = place.role, .setup = t, .node = id,
            .process = (placement == 0 ? by_service : id) % (uint32_t)processes,
            .thread_group = ENGINE_NO_GROUP, .cpu_group = ENGINE_NO_GROUP });
    }
    bool ok = engine_start(e, &error) && engine_run(e, &outcome->result, &error);
    engine_free(e);
    if (!ok)
        fprintf(stderr, "%s\n", error->message);
    MPI_Allreduce(&counts, &outcome->counts, sizeof counts / sizeof(uint64_t), MPI_UINT64_T, MPI_SUM, comm);
    return ok;
}

static void expect(bool holds, const char *name, const char *how, const char *what, uint64_t left, uint64_t right)
{
    if (holds)
        return;
    fprintf(stderr, "%s, %s: %s: %llu, %llu\n", name, how, what, (unsigned long long)left, (unsigned long long)right);
    failures++;
}

static void expect_equal(const char *name, const char *how, const char *what, uint64_t left, uint64_t right)
{
    expect(left == right, name, how, what, left, right);
}

/* What must add up. */
static void check(const struct task_service *t, const char *name, const char *how, const struct outcome *o)
{
    const uint64_t *c = o->counts.client, *d = o->counts.dispatcher;
    expect_equal(name, how, "ended by itself", o->result.end, ENGINE_ENDED);
    expect_equal(name, how, "tasks, and how they ended", t->tasks,
                 c[LB_CLIENT_COMPLETED] + c[LB_CLIENT_FAILED] + c[LB_CLIENT_LOST] + c[LB_CLIENT_REJECTED]);
    expect_equal(name, how, "sent, and handled or in the background", o->result.sent,
                 o->result.handled + o->result.pending_background);
    expect_equal(name, how, "held", (uint64_t)o->result.held, 0);
    if (t->protocol == TASK_PLAIN) {
        expect_equal(name, how, "five messages a task", o->result.handled, 5 * t->tasks);
        return;
    }
    uint64_t ended = d[DISPATCHER_COMPLETED] + d[DISPATCHER_FAILED] + d[DISPATCHER_LOST];
    expect_equal(name, how, "submitted, and accepted", c[LB_CLIENT_SUBMITTED], d[DISPATCHER_ACCEPTED]);
    expect_equal(name, how, "accepted, and ended", d[DISPATCHER_ACCEPTED], ended);
    expect_equal(name, how, "dispatches, and what came of them", d[DISPATCHER_DISPATCHED],
                 ended + d[DISPATCHER_RETRIED] + d[DISPATCHER_RETURNED]);
    expect(c[LB_CLIENT_LOST] >= d[DISPATCHER_LOST], name, how, "lost tasks", c[LB_CLIENT_LOST], d[DISPATCHER_LOST]);
}

static void play_all(const struct task_service *t, const char *name, struct counts *counts)
{
    struct outcome first, other;
    int processes;
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (!play(t, MPI_COMM_SELF, 0, false, &first)) {
        failures++;
        return;
    }
    check(t, name, "alone", &first);
    *counts = first.counts;
    for (unsigned i = 0; i < (processes > 1 ? 3 : 1); i++) {
        static const char *const how[] = { "alone, explicit inbox", "together", "together, placed otherwise" };
        if (!play(t, i == 0 ? MPI_COMM_SELF : MPI_COMM_WORLD, i == 2, i == 0, &other)) {
            failures++;
            continue;
        }
        check(t, name, how[i], &other);
        expect_equal(name, how[i], "digest", other.result.digest[0], first.result.digest[0]);
        expect_equal(name, how[i], "digest", other.result.digest[1], first.result.digest[1]);
    }
}

static void small(struct task_service *t)
{
    task_service_init(t);
    t->services = 3;
    t->executors = 4;
    t->tasks = 600;
    t->window = 40;
    t->bundle = 30;
    t->duration = (struct distribution){ DISTRIBUTION_UNIFORM, 0, 2000000 };
}

static uint64_t percent(unsigned n)
{
    return UINT64_MAX / 100 * n;
}

static void add_faults(struct task_service *t)
{
    t->faults.task_failure = percent(10);
    t->faults.retries_task = 2;
    t->faults.errors_park = 3;
    t->faults.park_ns = 2000000000;
    t->faults.lost_result = percent(3);
    t->faults.executor_failure = percent(2);
    t->faults.submit_failure = percent(20);
}

static void test_faults(void)
{
    struct counts counts;
    for (unsigned i = 0; i < 12; i++) {
        g_autofree char *name = g_strdup_printf("faults %u", i);
        struct task_service t;
        small(&t);
        add_faults(&t);
        t.protocol = i % 2 == 0 ? TASK_TCP : TASK_WS;
        t.balance = (enum task_balance)(i / 2 % 3);
        t.lock_shared = i >= 6;
        t.threads = i % 4 == 3 ? 3 : 1;
        t.piggyback = i % 3 != 0;
        t.choice = i % 5 == 0 ? TASK_LAST_IDLE : TASK_LONGEST_IDLE;
        t.faults.attempts_notify = 1 + i % 3;
        t.clients = t.balance == TASK_STEALING ? 1 : 1 + i % 2;
        play_all(&t, name, &counts);
        expect(counts.dispatcher[DISPATCHER_RETRIED] > 0, name, "alone", "retries", 0, 1);
        expect(counts.dispatcher[DISPATCHER_LOST] > 0, name, "alone", "lost results", 0, 1);
        expect(counts.dispatcher[DISPATCHER_PARKED] > 0, name, "alone", "parked executors", 0, 1);
        expect(counts.client[LB_CLIENT_SUBMIT_RETRIES] > 0, name, "alone", "submit retries", 0, 1);
    }
}

static void test_give_up(void)
{
    struct task_service t;
    struct counts counts;
    small(&t);
    t.faults.submit_failure = UINT64_MAX;
    play_all(&t, "no submission succeeds", &counts);
    expect_equal("no submission succeeds", "alone", "rejected", counts.client[LB_CLIENT_REJECTED], t.tasks);
    small(&t);
    t.balance = TASK_STEALING;
    t.faults.submit_failure = percent(80);
    t.faults.retries_submit = 2;
    play_all(&t, "few submissions succeed", &counts);
    expect(counts.client[LB_CLIENT_REJECTED] > 0, "few submissions succeed", "alone", "rejected", 0, 1);
}

static void test_heap(void)
{
    struct task_service t;
    struct counts counts;
    small(&t);
    t.heap = (struct heap_setup){ .size_bytes = 100000, .base_bytes = 20000, .pause_per_byte_ps = 1000000,
                                  .overhead_limit = true };
    t.allocated_bytes = 1000;
    t.held_bytes = 300;
    play_all(&t, "a heap that lasts", &counts);
    expect(counts.client[LB_CLIENT_COLLECTIONS] > 3, "a heap that lasts", "alone", "collections",
           counts.client[LB_CLIENT_COLLECTIONS], 4);
    expect_equal("a heap that lasts", "alone", "exhausted", counts.client[LB_CLIENT_EXHAUSTED], 0);
    t.leak = TASK_LEAK_PER_TASK;
    t.leak_per_million_bytes = 200000000;       /* 200 bytes a task: 400 tasks fill it */
    play_all(&t, "a heap that leaks", &counts);
    expect_equal("a heap that leaks", "alone", "exhausted", counts.client[LB_CLIENT_EXHAUSTED], 1);
    expect(counts.client[LB_CLIENT_COMPLETED] > 100 && counts.client[LB_CLIENT_REJECTED] > 0, "a heap that leaks",
           "alone", "completed and rejected", counts.client[LB_CLIENT_COMPLETED], counts.client[LB_CLIENT_REJECTED]);
}

/* Only where a bundle is taken in beside the dispatch can its tasks end before its submit call returns. */
static void test_late_answers(void)
{
    struct task_service t;
    struct counts counts;
    small(&t);
    t.leak = TASK_LEAK_LATE_ANSWER;
    t.record_bytes = 300;
    t.heap.size_bytes = 1 << 30;
    t.costs.dispatcher_submit.per_entry_ns = 2000000;
    t.lock_shared = true;
    play_all(&t, "a shared lock", &counts);
    expect_equal("a shared lock", "alone", "late answers", counts.client[LB_CLIENT_LATE_ANSWERS], 0);
    t.lock_shared = false;
    play_all(&t, "a lock each", &counts);
    expect(counts.client[LB_CLIENT_LATE_ANSWERS] > 0, "a lock each", "alone", "late answers", 0, 1);
}

static void test_rest(void)
{
    struct task_service t;
    struct counts counts;
    small(&t);
    t.protocol = TASK_PLAIN;
    play_all(&t, "plain", &counts);
    for (enum provision_policy policy = PROVISION_ONE; policy <= PROVISION_ALL; policy++) {
        small(&t);
        t.provision = policy;
        t.host_executors = 2;
        t.grant = (struct distribution){ DISTRIBUTION_UNIFORM, 1000000000, 9000000000 };
        t.provision_poll_ns = 3000000000;
        play_all(&t, "provisioned", &counts);
    }
    small(&t);
    t.tasks = 2;                    /* fewer than clients */
    t.clients = 3;
    play_all(&t, "two tasks", &counts);
    t.tasks = 0;
    play_all(&t, "no task", &counts);
    small(&t);
    t.rate_limit = 50;              /* of one service: 200 tasks take four seconds */
    t.slowest_percent = 250;
    t.notify_interval_ns = 400000;
    play_all(&t, "limits", &counts);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_faults();
    test_give_up();
    test_heap();
    test_late_answers();
    test_rest();
    unsigned all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all == 0 ? 0 : 1;
}
