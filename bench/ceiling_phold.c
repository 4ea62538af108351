/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ceiling_phold ACTORS EVENTS_PER_ACTOR REMOTE LOOKAHEAD END: PHOLD as small as it can be, on one or two processes.
 * Arguments as for bench_phold.
 *
 * Conservative windows of one lookahead: whatever an event sends arrives at least one lookahead later, so a window's
 * events are known when it opens. The pending set is a wheel of unsorted buckets; a bucket is sorted when its time has
 * come. Events for the other process are packed and swapped once a window. No digest, no statistics, no bandwidth, no
 * busy actors: what an engine can be measured against, not an engine. The number of events and the checksum do not
 * depend on the number of processes.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

enum {
    CHUNK_EVENTS = 5,               /* two cache lines and a half */
    BUCKET_EVENTS = 32,             /* about, when a bucket is opened */
    SORT_SMALL = 64,
    LONGEST = 38                    /* increments above are cut, in units of time */
};

#define TICKS (INT64_C(1) << 32)    /* in one unit of time */

struct event {
    int64_t time;
    uint32_t to;
    uint32_t from;
    uint64_t number;                /* the sender's count, so that ties have an order */
};

struct place {
    uint64_t random;
    uint64_t sent;
};

struct chunk {
    uint32_t count;
    int32_t next;
    uint64_t pad;
    struct event events[CHUNK_EVENTS];
};

struct wheel {
    struct chunk *chunks;
    size_t used;
    size_t size;
    int32_t free;
    int32_t *first;                 /* by bucket */
    size_t buckets;
    int64_t width;
};

struct model {
    uint32_t actors;
    uint32_t per_actor;
    double remote;
    double rest;                    /* mean of the exponential part */
    int64_t window;
    int64_t stop;
    uint32_t base;                  /* this process's actors: base .. base + mine - 1 */
    uint32_t mine;
    struct place *places;
    struct wheel wheel;
    struct event *out;
    struct event *in;
    struct event *current;
    size_t out_count;
    size_t capacity;
    uint64_t events;
    uint64_t sum;
};

static inline uint64_t draw(struct place *p)        /* splitmix64 */
{
    uint64_t z = (p->random += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline double unit(struct place *p)
{
    return ((double)(draw(p) >> 11) + 0.5) * 0x1p-53;
}

static inline void put(struct wheel *w, const struct event *e)
{
    size_t bucket = (size_t)(e->time / w->width) % w->buckets;
    int32_t at = w->first[bucket];
    if (at < 0 || w->chunks[at].count == CHUNK_EVENTS) {
        int32_t fresh = w->free;
        if (fresh >= 0) {
            w->free = w->chunks[fresh].next;
        } else {
            if (w->used == w->size)
                w->chunks = realloc(w->chunks, (w->size *= 2) * sizeof *w->chunks);
            fresh = (int32_t)w->used++;
        }
        w->chunks[fresh].count = 0;
        w->chunks[fresh].next = at;
        w->first[bucket] = at = fresh;
    }
    w->chunks[at].events[w->chunks[at].count++] = *e;
}

static inline int before(const struct event *a, const struct event *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return a->from != b->from ? a->from < b->from : a->number < b->number;
}

static int by_order(const void *a, const void *b)
{
    return before(a, b) ? -1 : before(b, a);
}

static void sort(struct event *events, size_t count)
{
    if (count > SORT_SMALL) {
        qsort(events, count, sizeof *events, by_order);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        struct event e = events[i];
        size_t j = i;
        for (; j > 0 && before(&e, &events[j - 1]); j--)
            events[j] = events[j - 1];
        events[j] = e;
    }
}

/* Empties a bucket into m->current, in order; returns how many. */
static size_t open_bucket(struct model *m, size_t bucket)
{
    struct wheel *w = &m->wheel;
    size_t count = 0;
    for (int32_t at = w->first[bucket]; at >= 0;) {
        struct chunk *chunk = &w->chunks[at];
        int32_t next = chunk->next;
        memcpy(m->current + count, chunk->events, chunk->count * sizeof *m->current);
        count += chunk->count;
        chunk->next = w->free;
        w->free = at;
        at = next;
    }
    w->first[bucket] = -1;
    sort(m->current, count);
    return count;
}

static inline int64_t increment(const struct model *m, struct place *p)
{
    double d = -m->rest * log(unit(p));
    return m->window + (int64_t)((d > LONGEST ? LONGEST : d) * TICKS);
}

static inline void send(struct model *m, struct place *p, uint32_t id, int64_t now)
{
    uint32_t to = unit(p) <= m->remote ? (uint32_t)(((draw(p) >> 32) * m->actors) >> 32) : id;
    struct event e = { now + increment(m, p), to, id, p->sent++ };
    if (to - m->base < m->mine)
        put(&m->wheel, &e);
    else
        m->out[m->out_count++] = e;
}

static void swap(struct model *m, int other)
{
    MPI_Status status;
    int bytes;
    MPI_Sendrecv(m->out, (int)(m->out_count * sizeof *m->out), MPI_BYTE, other, 0, m->in,
                 (int)(m->capacity * sizeof *m->in), MPI_BYTE, other, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    m->out_count = 0;
    for (size_t i = 0; i < (size_t)bytes / sizeof *m->in; i++)
        put(&m->wheel, &m->in[i]);
}

static void init(struct model *m, char **argv, int process, int processes)
{
    double lookahead = atof(argv[4]);
    size_t buckets_a_window = 1;
    m->actors = (uint32_t)atol(argv[1]);
    m->per_actor = (uint32_t)atol(argv[2]);
    m->remote = atof(argv[3]);
    m->rest = 1 - lookahead;
    m->stop = (int64_t)(atof(argv[5]) * TICKS);
    m->mine = m->actors / (uint32_t)processes;
    m->base = m->mine * (uint32_t)process;
    while (buckets_a_window < (size_t)((double)m->mine * m->per_actor * lookahead) / BUCKET_EVENTS + 1)
        buckets_a_window *= 2;
    m->wheel.width = ((int64_t)(lookahead * TICKS) >> 20 << 20) / (int64_t)buckets_a_window;
    m->window = m->wheel.width * (int64_t)buckets_a_window;
    m->wheel.buckets = buckets_a_window * (size_t)((LONGEST + 2) / lookahead);
    m->wheel.size = (size_t)m->mine * m->per_actor / CHUNK_EVENTS + m->wheel.buckets / 4 + 1024;
    m->wheel.chunks = malloc(m->wheel.size * sizeof *m->wheel.chunks);
    m->wheel.first = malloc(m->wheel.buckets * sizeof *m->wheel.first);
    memset(m->wheel.first, -1, m->wheel.buckets * sizeof *m->wheel.first);
    m->wheel.free = -1;
    m->capacity = (size_t)m->mine * m->per_actor + 1024;
    m->current = malloc(m->capacity * sizeof *m->current);
    m->out = malloc(m->capacity * sizeof *m->out);
    m->in = malloc(m->capacity * sizeof *m->in);
    m->places = calloc(m->mine, sizeof *m->places);
    for (uint32_t i = 0; i < m->mine; i++) {
        struct place *p = &m->places[i];
        p->random = (uint64_t)(m->base + i) * 0xD1B54A32D192ED03u + 1;
        for (uint32_t k = 0; k < m->per_actor; k++) {       /* the first events stay at home */
            struct event e = { increment(m, p), m->base + i, m->base + i, p->sent++ };
            put(&m->wheel, &e);
        }
    }
}

static void run(struct model *m, int other)
{
    int64_t buckets_a_window = m->window / m->wheel.width;
    for (int64_t b = 0; b * m->wheel.width < m->stop; b++) {
        size_t count = open_bucket(m, (size_t)b % m->wheel.buckets);
        for (size_t i = 0; i < count && m->current[i].time < m->stop; i++) {
            const struct event *e = &m->current[i];
            if (i + 4 < count)
                __builtin_prefetch(&m->places[m->current[i + 4].to - m->base]);
            m->events++;
            m->sum += (uint64_t)e->time * (e->to * 2 + 1);
            send(m, &m->places[e->to - m->base], e->to, e->time);
        }
        if (other >= 0 && (b + 1) % buckets_a_window == 0)
            swap(m, other);
    }
}

static void release(struct model *m)
{
    free(m->wheel.chunks);
    free(m->wheel.first);
    free(m->places);
    free(m->current);
    free(m->out);
    free(m->in);
}

int main(int argc, char **argv)
{
    struct model m = { .events = 0 };
    int process;
    int processes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (argc != 6 || processes > 2) {
        if (process == 0)
            fprintf(stderr, "usage: ceiling_phold ACTORS EVENTS_PER_ACTOR REMOTE LOOKAHEAD END, on 1 or 2 processes\n");
        MPI_Finalize();
        return 2;
    }
    init(&m, argv, process, processes);
    MPI_Barrier(MPI_COMM_WORLD);
    double cpu_s = -measure_cpu_s();
    double wall_s = -measure_wall_s();
    run(&m, processes == 2 ? !process : -1);
    MPI_Barrier(MPI_COMM_WORLD);
    wall_s += measure_wall_s();
    cpu_s += measure_cpu_s();
    uint64_t part[] = { m.events, m.sum };
    uint64_t all[2];
    double cpu_all_s;
    MPI_Reduce(part, all, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&cpu_s, &cpu_all_s, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (process == 0)
        printf("ceiling_phold processes %d actors %u events_per_actor %u events %llu wall_s %.4f cpu_s %.4f rate %.0f "
               "cpu_rate %.0f peak_bytes %.0f sum %016llx\n", processes, m.actors, m.per_actor,
               (unsigned long long)all[0], wall_s, cpu_all_s, (double)all[0] / wall_s, (double)all[0] / cpu_all_s,
               measure_peak_bytes(), (unsigned long long)all[1]);
    release(&m);
    MPI_Finalize();
    return 0;
}
