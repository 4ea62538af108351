/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ceiling_falkon TASKS: the model of inputs/bench/falkon-pattern.deck, written for nothing else.
 *
 *     client --SUBMIT--> service --(dispatch)--> EXEC --> executor --DONE--> service --NOTIFY--> client
 *
 * The client keeps 1,000 tasks outstanding at each of four services and spends 10us on a submission; a service spends
 * 257.103us on a dispatch to one of its 32 executors; tasks have no work; each message takes 50us. Every kind of
 * message of a service takes always the same time, so it is a queue that is sorted by construction; 20 such queues are
 * merged by a tree of single words, time << 5 | queue. One core, no statistics, no digest.
 */
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"

enum { SERVICES = 4, EXECUTORS = 32, RING = 8192, OUTSTANDING = 1000, LEAVES = 32 };
enum { HOP_NS = 50000, DISPATCH_NS = 257103, CLIENT_NS = 10000 };
enum kind { SUBMIT, DISPATCHED, EXEC, DONE, NOTIFY, KINDS };

#define NEVER INT64_MAX

struct service {
    uint64_t waiting[RING];         /* tasks */
    uint32_t head;
    uint32_t tail;
    uint32_t idle[EXECUTORS];       /* a ring of idle executors */
    uint32_t idle_head;
    uint32_t idle_count;
    int busy;
    uint64_t ran[EXECUTORS];
};

struct slot {
    int64_t time;
    uint64_t task;
    uint32_t executor;
};

struct fifo {
    uint32_t head;
    uint32_t tail;
    struct slot ring[RING];
};

struct model {
    struct service services[SERVICES];
    struct fifo fifos[KINDS * SERVICES];
    int64_t tree[2 * LEAVES];       /* node i: the earliest below it */
    int64_t client_free;
    int64_t end;
    uint64_t tasks;
    uint64_t submitted;
    uint64_t completed;
    uint64_t events;
    uint64_t sum;
};

static inline void set_leaf(struct model *m, int channel, int64_t key)
{
    int i = LEAVES + channel;
    m->tree[i] = key;
    for (; i > 1; i >>= 1) {
        int64_t a = m->tree[i];
        int64_t b = m->tree[i ^ 1];
        int64_t least = a < b ? a : b;
        if (m->tree[i >> 1] == least)
            break;
        m->tree[i >> 1] = least;
    }
}

static inline void post(struct model *m, enum kind kind, int service, int64_t time, uint64_t task, uint32_t executor)
{
    int channel = (int)kind * SERVICES + service;
    struct fifo *f = &m->fifos[channel];
    f->ring[f->tail & (RING - 1)] = (struct slot){ time, task, executor };
    if (f->tail++ == f->head)
        set_leaf(m, channel, time << 5 | channel);
}

static inline void dispatch(struct model *m, int s, int64_t now)
{
    struct service *v = &m->services[s];
    if (v->busy || v->head == v->tail || v->idle_count == 0)
        return;
    uint32_t executor = v->idle[v->idle_head++ & (EXECUTORS - 1)];
    v->idle_count--;
    v->busy = 1;
    post(m, DISPATCHED, s, now + DISPATCH_NS, v->waiting[v->head++ & (RING - 1)], executor);
}

static inline void submit(struct model *m, int s, int64_t now)
{
    m->client_free = (now > m->client_free ? now : m->client_free) + CLIENT_NS;
    post(m, SUBMIT, s, m->client_free + HOP_NS, m->submitted++, 0);
}

static inline void handle(struct model *m, enum kind kind, int s, const struct slot *e)
{
    struct service *v = &m->services[s];
    switch (kind) {
    case SUBMIT:
        v->waiting[v->tail++ & (RING - 1)] = e->task;
        dispatch(m, s, e->time);
        break;
    case DISPATCHED:
        v->busy = 0;
        post(m, EXEC, s, e->time + HOP_NS, e->task, e->executor);
        dispatch(m, s, e->time);
        break;
    case EXEC:
        v->ran[e->executor]++;
        post(m, DONE, s, e->time + HOP_NS, e->task, e->executor);
        break;
    case DONE:
        v->idle[(v->idle_head + v->idle_count++) & (EXECUTORS - 1)] = e->executor;
        post(m, NOTIFY, s, e->time + HOP_NS, e->task, 0);
        dispatch(m, s, e->time);
        break;
    default:
        m->completed++;
        m->end = e->time;
        m->sum += ((uint64_t)e->time ^ (e->task * 0x9E3779B97F4A7C15u)) * 0xD1B54A32D192ED03u;
        if (m->submitted < m->tasks)
            submit(m, s, e->time);
    }
}

static void run(struct model *m)
{
    for (int i = 0; i < OUTSTANDING * SERVICES && m->submitted < m->tasks; i++)
        submit(m, i % SERVICES, 0);
    while (m->tree[1] != NEVER) {
        int channel = (int)(m->tree[1] & (LEAVES - 1));
        struct fifo *f = &m->fifos[channel];
        struct slot e = f->ring[f->head++ & (RING - 1)];
        int64_t next = f->head == f->tail ? NEVER : f->ring[f->head & (RING - 1)].time << 5 | channel;
        set_leaf(m, channel, next);
        m->events++;
        handle(m, (enum kind)(channel / SERVICES), channel % SERVICES, &e);
    }
}

int main(int argc, char **argv)
{
    struct model *m = calloc(1, sizeof *m);

    if (argc != 2 || m == NULL) {
        fprintf(stderr, "usage: ceiling_falkon TASKS\n");
        return 2;
    }
    m->tasks = strtoull(argv[1], NULL, 10);
    for (int i = 0; i < 2 * LEAVES; i++)
        m->tree[i] = NEVER;
    for (int s = 0; s < SERVICES; s++) {
        m->services[s].idle_count = EXECUTORS;
        for (uint32_t i = 0; i < EXECUTORS; i++)
            m->services[s].idle[i] = i;
    }
    double wall_s = -measure_wall_s();
    double cpu_s = -measure_cpu_s();
    run(m);
    wall_s += measure_wall_s();
    cpu_s += measure_cpu_s();
    printf("ceiling_falkon tasks %llu events %llu wall_s %.4f cpu_s %.4f simulated_rate %.1f end_ns %lld sum %016llx\n",
           (unsigned long long)m->completed, (unsigned long long)m->events, wall_s, cpu_s,
           (double)m->completed / ((double)m->end * 1e-9), (long long)m->end, (unsigned long long)m->sum);
    free(m);
    return 0;
}
