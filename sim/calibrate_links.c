/* SPDX-License-Identifier: BSD-3-Clause */
#include "calibrate_links.h"

#include <stdlib.h>

enum {
    SMALL_ROUNDS = 2000,
    LARGE_ROUNDS = 50,
    LARGE_BYTES = 1 << 20,
    SPAN_LABEL = 1
};

enum { BEGIN = 1, SMALL, LARGE };

/* The first actor's. */
struct rally {
    int64_t sent_ns;
    int64_t half_ns[SMALL_ROUNDS + LARGE_ROUNDS];
    uint64_t round;
};

/* All spans of this process, small and large. */
struct spans {
    int64_t total_ns[2];
    uint64_t count[2];
};

static void send_ball(struct actor *self, uint32_t to, bool large)
{
    if (!large) {
        actor_send(self, to, SMALL, 0);
        return;
    }
    g_autofree uint8_t *bytes = g_malloc0(LARGE_BYTES);
    actor_send_payload(self, to, LARGE, actor_payload(self, bytes, LARGE_BYTES));
}

static void serve(struct actor *self, struct rally *r)
{
    if (r->round == SMALL_ROUNDS + LARGE_ROUNDS)
        return;
    r->sent_ns = actor_now(self);
    send_ball(self, 1, r->round >= SMALL_ROUNDS);
}

static void first_handle(struct actor *self, const struct message *m)
{
    struct rally *r = actor_state(self);
    actor_charge(self, SPAN_LABEL + (m->kind == LARGE));
    if (m->kind != BEGIN)
        r->half_ns[r->round++] = (actor_now(self) - r->sent_ns) / 2;
    serve(self, r);
}

static void first_init(struct actor *self, const void *setup)
{
    actor_timer(self, 1, BEGIN, 0);
}

static void second_handle(struct actor *self, const struct message *m)
{
    actor_charge(self, SPAN_LABEL + (m->kind == LARGE));
    send_ball(self, 0, m->kind == LARGE);
}

static void save_nothing(const struct actor *self, struct bytes *sink)
{
}

static const struct role first = { .name = "first", .state_size = sizeof(struct rally), .init = first_init,
                                   .handle = first_handle, .save = save_nothing };
static const struct role second = { .name = "second", .state_size = 8, .handle = second_handle, .save = save_nothing };

static void take_span(void *data, int64_t label_ns, int64_t took_ns)
{
    struct spans *spans = data;
    spans->total_ns[label_ns - SPAN_LABEL] += took_ns;
    spans->count[label_ns - SPAN_LABEL]++;
}

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void judge(struct rally *r, const struct spans *spans, struct link_figures *figures)
{
    int64_t *large = r->half_ns + SMALL_ROUNDS;
    qsort(r->half_ns, SMALL_ROUNDS, sizeof r->half_ns[0], compare_ns);
    qsort(large, LARGE_ROUNDS, sizeof r->half_ns[0], compare_ns);
    int64_t small_ns = spans->total_ns[0] / (int64_t)MAX(spans->count[0], 1);
    int64_t large_ns = spans->total_ns[1] / (int64_t)MAX(spans->count[1], 1);
    int64_t wire_ns = large[LARGE_ROUNDS / 2] - large_ns - MAX(r->half_ns[SMALL_ROUNDS / 2] - small_ns, 1);
    figures->latency_ns = MAX(r->half_ns[SMALL_ROUNDS / 2] - small_ns, 1);
    figures->spread_ns = r->half_ns[SMALL_ROUNDS * 3 / 4] - r->half_ns[SMALL_ROUNDS / 4];
    figures->bytes_per_s = wire_ns > 1000 ? (uint64_t)(LARGE_BYTES * 1e9 / (double)wire_ns) : 0;
    figures->samples = SMALL_ROUNDS;
    figures->handling_ns = small_ns;
}

gboolean link_measure(MPI_Comm comm, uint32_t with, enum engine_waiting waiting, struct link_figures *figures,
                      GError **error)
{
    struct spans spans = { 0 };
    struct engine_result result;
    const struct engine_config config = {
        .comm = comm, .clock = ENGINE_LIVE, .tick_ns = 1000000, .stop_after_ns = ENGINE_NEVER_NS, .waiting = waiting,
        .observer = { .data = &spans, .charged = take_span }
    };
    struct engine *e = engine_new(&config, error);
    if (e == NULL)
        return FALSE;
    engine_set_link(e, 0, 0, (struct engine_link){ .latency_ns = 1 });
    engine_add_actor(e, &(struct engine_actor){ .role = &first, .node = 0, .process = 0,
                                                .thread_group = ENGINE_NO_GROUP, .cpu_group = ENGINE_NO_GROUP });
    engine_add_actor(e, &(struct engine_actor){ .role = &second, .node = 1, .process = with,
                                                .thread_group = ENGINE_NO_GROUP, .cpu_group = ENGINE_NO_GROUP });
    gboolean good = engine_start(e, error) && engine_run(e, &result, error);
    if (good) {
        MPI_Allreduce(MPI_IN_PLACE, spans.total_ns, 2, MPI_INT64_T, MPI_SUM, comm);
        MPI_Allreduce(MPI_IN_PLACE, spans.count, 2, MPI_UINT64_T, MPI_SUM, comm);
        struct actor *actor = engine_actor(e, 0);
        if (actor != NULL)
            judge(actor_state(actor), &spans, figures);
        MPI_Bcast(figures, sizeof *figures, MPI_BYTE, 0, comm);
        figures->waiting = result.waiting;
    }
    engine_free(e);
    return good;
}
