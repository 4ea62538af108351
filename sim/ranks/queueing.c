/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/queueing.h"

#include <glib.h>

#include "engine/random.h"

enum { STREAM_SERVICE, STREAM_ROUTE, STREAM_INTERVAL, STREAMS };

static uint32_t choose_next(struct actor *self, const struct queueing_next *next, uint64_t *turn)
{
    if (next->count == 1)
        return next->actors[0];
    if (next->routing == QUEUEING_CYCLIC)
        return next->actors[(*turn)++ % next->count];
    uint64_t bits = actor_draw(self, STREAM_ROUTE);
    uint32_t i = 0;
    while (i + 1 < next->count && bits > next->below[i])
        i++;
    return next->actors[i];
}

static int64_t draw(struct actor *self, const struct distribution *d, unsigned stream)
{
    return d->type == DISTRIBUTION_CONSTANT ? d->a_ns : random_duration(d, actor_draw(self, stream));
}

/* --- station --- */

struct waiting_job {
    int64_t arrived_ns;
    uint64_t entered_ns;
};

struct station {
    const struct queueing_station *setup;
    uint64_t turn;
    uint64_t served;
    uint32_t busy;                  /* servers; only where there are several */
    GQueue *waiting;                /* struct waiting_job *, first come first */
};

static void station_init(struct actor *self, const void *setup)
{
    struct station *s = actor_state(self);
    s->setup = setup;
    if (s->setup->servers > 1)
        s->waiting = g_queue_new();
}

static void station_release(struct actor *self)
{
    struct station *s = actor_state(self);
    if (s->waiting != NULL)
        g_queue_free_full(s->waiting, g_free);
}

static void begin_service(struct actor *self, struct station *s, int64_t arrived_ns, uint64_t entered_ns)
{
    actor_sample(self, STATION_WAIT, actor_now(self) - arrived_ns);
    struct act act = { ACT_WORK, draw(self, &s->setup->service, STREAM_SERVICE) };
    actor_perform(self, act, QUEUEING_SERVED, entered_ns);
}

static void send_on(struct actor *self, struct station *s, uint64_t entered_ns)
{
    s->served++;
    actor_count(self, STATION_JOBS, 1);
    actor_send(self, choose_next(self, &s->setup->next, &s->turn), QUEUEING_JOB, entered_ns);
}

static void serve_several(struct actor *self, struct station *s, const struct message *m)
{
    if (m->kind == QUEUEING_SERVED) {
        send_on(self, s, m->word);
        struct waiting_job *job = g_queue_pop_head(s->waiting);
        if (job == NULL) {
            s->busy--;
            return;
        }
        begin_service(self, s, job->arrived_ns, job->entered_ns);
        g_free(job);
    } else if (s->busy < s->setup->servers) {
        s->busy++;
        begin_service(self, s, m->time_ns, m->word);
    } else {
        struct waiting_job *job = g_new(struct waiting_job, 1);
        *job = (struct waiting_job){ m->time_ns, m->word };
        g_queue_push_tail(s->waiting, job);
    }
}

static void station_handle(struct actor *self, const struct message *m)
{
    struct station *s = actor_state(self);
    if (s->setup->servers > 1) {
        serve_several(self, s, m);
        return;
    }
    actor_sample(self, STATION_WAIT, actor_now(self) - m->time_ns);
    actor_charge(self, draw(self, &s->setup->service, STREAM_SERVICE));
    send_on(self, s, m->word);
}

static void station_save(const struct actor *self, struct bytes *sink)
{
    const struct station *s = actor_state(self);
    bytes_put_u64(sink, s->served);
    bytes_put_u64(sink, s->turn);
    bytes_put_u32(sink, s->busy);
    bytes_put_u32(sink, s->waiting != NULL ? g_queue_get_length(s->waiting) : 0);
}

/* --- source --- */

struct source {
    const struct queueing_source *setup;
    uint64_t turn;
    uint64_t made;
    uint64_t returned;
};

static void make_job(struct actor *self, struct source *s)
{
    s->made++;
    actor_count(self, SOURCE_MADE, 1);
    uint64_t entered_ns = (uint64_t)actor_now(self);
    actor_charge(self, draw(self, &s->setup->service, STREAM_SERVICE));
    actor_send(self, choose_next(self, &s->setup->next, &s->turn), QUEUEING_JOB, entered_ns);
}

static void source_init(struct actor *self, const void *setup)
{
    struct source *s = actor_state(self);
    s->setup = setup;
    uint64_t first = s->setup->population != 0 ? MIN(s->setup->population, s->setup->jobs) : s->setup->jobs != 0;
    for (uint64_t i = 0; i < first; i++)
        actor_timer(self, s->setup->population != 0 ? 1 : draw(self, &s->setup->interval, STREAM_INTERVAL),
                    QUEUEING_ARRIVAL, 0);
}

static void source_handle(struct actor *self, const struct message *m)
{
    struct source *s = actor_state(self);
    const bool closed = s->setup->population != 0;
    if (m->kind == QUEUEING_ARRIVAL) {
        make_job(self, s);
        if (!closed && s->made < s->setup->jobs)
            actor_timer(self, draw(self, &s->setup->interval, STREAM_INTERVAL), QUEUEING_ARRIVAL, 0);
        return;
    }
    s->returned++;
    if (s->returned > s->setup->warm_up) {
        actor_count(self, SOURCE_RETURNED, 1);
        actor_sample(self, SOURCE_SOJOURN, m->time_ns - (int64_t)m->word);
    }
    if (closed && s->made < s->setup->jobs)
        make_job(self, s);
}

static void source_save(const struct actor *self, struct bytes *sink)
{
    const struct source *s = actor_state(self);
    bytes_put_u64(sink, s->made);
    bytes_put_u64(sink, s->returned);
    bytes_put_u64(sink, s->turn);
}

/* --- tables --- */

static const struct kind_name station_kinds[] = {
    { QUEUEING_JOB, "job", "a job arrives; word: when it entered the network" },
    { QUEUEING_SERVED, "served", "a service has ended, where a station has several servers" },
    { 0, NULL, NULL },
};

static const struct metric station_metrics[] = {
    [STATION_JOBS] = { "jobs", "1", "jobs served", METRIC_COUNTER },
    [STATION_WAIT] = { "wait", "ns", "time from a job's arrival to the start of its service", METRIC_SAMPLE },
    { NULL, NULL, NULL, METRIC_COUNTER },
};

const struct role role_station = {
    .name = "station",
    .text = "a queue with one or several servers",
    .state_size = sizeof(struct station),
    .streams = STREAMS,
    .kinds = station_kinds,
    .metrics = station_metrics,
    .init = station_init,
    .handle = station_handle,
    .save = station_save,
    .release = station_release,
};

static const struct kind_name source_kinds[] = {
    { QUEUEING_ARRIVAL, "arrival", "the next job is due" },
    { 0, NULL, NULL },
};

static const struct metric source_metrics[] = {
    [SOURCE_MADE] = { "made", "1", "jobs that entered the network", METRIC_SERIES },
    [SOURCE_RETURNED] = { "returned", "1", "jobs that left the network, after the warm-up", METRIC_SERIES },
    [SOURCE_SOJOURN] = { "sojourn", "ns", "time that a job spent in the network", METRIC_SAMPLE },
    { NULL, NULL, NULL, METRIC_COUNTER },
};

const struct role role_source = {
    .name = "source",
    .text = "makes jobs and takes them back",
    .state_size = sizeof(struct source),
    .streams = STREAMS,
    .kinds = source_kinds,
    .metrics = source_metrics,
    .init = source_init,
    .handle = source_handle,
    .save = source_save,
};
