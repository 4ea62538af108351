/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/queueing.h"

#include <glib.h>

#include "engine/random.h"

enum { STREAM_SERVICE, STREAM_ROUTE, STREAM_INTERVAL, STREAMS };

static uint32_t choose_next(struct actor *self, const struct queueing_next *next, uint64_t *turn)
{
    if (next->count == 1)
        return next->actors[0];
    if (next->routing == QUEUEING_CYCLIC) {
        uint64_t i = *turn;
        *turn = i + 1 == next->count ? 0 : i + 1;
        return next->actors[i];
    }
    uint64_t bits = actor_draw(self, STREAM_ROUTE);
    if (next->below == NULL)
        return next->actors[random_below(bits, next->count)];
    uint32_t low = 0;
    for (uint32_t high = next->count - 1; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (bits <= next->below[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return next->actors[low];
}

/* --- station --- */

struct waiting_job {
    int64_t arrived_ns;
    uint64_t entered_ns;
};

/* Those who wait at a station of several servers, first come first: a ring that grows to what it once had to hold. */
struct line {
    struct waiting_job *jobs;
    uint32_t head;
    uint32_t count;
    uint32_t capacity;              /* a power of two, or 0 */
};

struct station {
    const struct queueing_station *setup;
    uint64_t turn;
    uint64_t served;
    struct line line;
    uint64_t busy;                  /* servers; only where there are several */
};

static struct waiting_job *line_at(const struct line *line, uint32_t i)
{
    return &line->jobs[(line->head + i) & (line->capacity - 1)];
}

static void line_append(struct line *line, struct waiting_job job)
{
    if (line->count == line->capacity) {
        struct line wider = { .capacity = MAX(line->capacity * 2, 16), .count = line->count };
        wider.jobs = g_new(struct waiting_job, wider.capacity);
        for (uint32_t i = 0; i < line->count; i++)
            wider.jobs[i] = *line_at(line, i);
        g_free(line->jobs);
        *line = wider;
    }
    *line_at(line, line->count++) = job;
}

static struct waiting_job line_take(struct line *line)
{
    struct waiting_job job = *line_at(line, 0);
    line->head++;
    line->count--;
    return job;
}

static void station_init(struct actor *self, const void *setup)
{
    struct station *s = actor_state(self);
    s->setup = setup;
}

static void station_release(struct actor *self)
{
    struct station *s = actor_state(self);
    g_free(s->line.jobs);
}

static void send_on(struct actor *self, struct station *s, uint64_t entered_ns)
{
    s->served++;
    actor_send(self, choose_next(self, &s->setup->next, &s->turn), QUEUEING_JOB, entered_ns);
}

static void begin_service(struct actor *self, const struct station *s, int64_t arrived_ns, uint64_t entered_ns)
{
    struct act act = { ACT_WORK, actor_draw_duration(self, STREAM_SERVICE, &s->setup->service) };
    actor_sample(self, STATION_WAIT, actor_now(self) - arrived_ns);
    actor_count(self, STATION_SERVICE, (uint64_t)act.duration_ns);
    actor_perform(self, act, QUEUEING_SERVED, entered_ns);
}

static void serve_several(struct actor *self, struct station *s, const struct message *m)
{
    if (m->kind == QUEUEING_SERVED) {
        send_on(self, s, m->word);
        if (s->line.count == 0) {
            s->busy--;
            return;
        }
        struct waiting_job job = line_take(&s->line);
        begin_service(self, s, job.arrived_ns, job.entered_ns);
    } else if (s->busy < s->setup->servers) {
        s->busy++;
        begin_service(self, s, m->time_ns, m->word);
    } else {
        line_append(&s->line, (struct waiting_job){ m->time_ns, m->word });
    }
}

static void station_handle(struct actor *self, const struct message *m)
{
    struct station *s = actor_state(self);
    if (s->setup->servers > 1) {
        serve_several(self, s, m);
        return;
    }
    actor_charge(self, actor_draw_duration(self, STREAM_SERVICE, &s->setup->service));
    send_on(self, s, m->word);
}

static void station_save(const struct actor *self, struct bytes *sink)
{
    const struct station *s = actor_state(self);
    bytes_put_u64(sink, s->served);
    bytes_put_u64(sink, s->turn);
    bytes_put_u64(sink, s->busy);
    bytes_put_u32(sink, s->line.count);
    for (uint32_t i = 0; i < s->line.count; i++) {
        bytes_put_u64(sink, (uint64_t)line_at(&s->line, i)->arrived_ns);
        bytes_put_u64(sink, line_at(&s->line, i)->entered_ns);
    }
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
    uint64_t entered_ns = (uint64_t)actor_now(self);
    s->made++;
    actor_count(self, SOURCE_MADE, 1);
    actor_charge(self, actor_draw_duration(self, STREAM_SERVICE, &s->setup->service));
    actor_send(self, choose_next(self, &s->setup->next, &s->turn), QUEUEING_JOB, entered_ns);
}

static void source_init(struct actor *self, const void *setup)
{
    struct source *s = actor_state(self);
    s->setup = setup;
    if (s->setup->population == 0) {
        actor_timer(self, actor_draw_duration(self, STREAM_INTERVAL, &s->setup->interval), QUEUEING_ARRIVAL, 0);
        return;
    }
    for (uint64_t i = MIN(s->setup->population, s->setup->jobs); i > 0; i--)
        actor_timer(self, 1, QUEUEING_ARRIVAL, 0);
}

static void take_back(struct actor *self, struct source *s, const struct message *m)
{
    s->returned++;
    if (s->returned > s->setup->warm_up)
        actor_sample(self, SOURCE_SOJOURN, m->time_ns - (int64_t)m->word);
    else
        actor_count(self, SOURCE_WARMED, 1);
    if (s->returned == s->setup->warm_up)
        actor_sample(self, SOURCE_BEGAN, m->time_ns);
    if (s->returned == s->setup->jobs)
        actor_sample(self, SOURCE_ENDED, m->time_ns);
}

static void source_handle(struct actor *self, const struct message *m)
{
    struct source *s = actor_state(self);
    const bool closed = s->setup->population != 0;
    if (m->kind == QUEUEING_JOB)
        take_back(self, s, m);
    else if (!closed && s->made + 1 < s->setup->jobs)
        actor_timer(self, actor_draw_duration(self, STREAM_INTERVAL, &s->setup->interval), QUEUEING_ARRIVAL, 0);
    if ((m->kind == QUEUEING_ARRIVAL || closed) && s->made < s->setup->jobs)
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
    [STATION_WAIT] = { "wait", "ns", "time from a job's arrival to the start of its service, at stations of several "
                       "servers", METRIC_SAMPLE },
    [STATION_SERVICE] = { "service", "ns", "time for which servers were taken, at stations of several",
                          METRIC_COUNTER },
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
    [SOURCE_MADE] = { "made", "1", "jobs that entered the network", METRIC_COUNTER },
    [SOURCE_WARMED] = { "warmed", "1", "jobs that left the network while it was warming up", METRIC_COUNTER },
    [SOURCE_SOJOURN] = { "sojourn", "ns", "time that a job spent in the network, after the warm-up", METRIC_SAMPLE },
    [SOURCE_BEGAN] = { "began", "ns", "when the last job of the warm-up left the network", METRIC_SAMPLE },
    [SOURCE_ENDED] = { "ended", "ns", "when the last job left the network", METRIC_SAMPLE },
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
