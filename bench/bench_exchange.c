/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench_exchange MESSAGES WINDOWS, on two processes: in each window each process sends MESSAGES messages to the other,
 * through the engine (make, number, order, pack, swap, read, queue, handle), and right after it as its ceiling: the
 * same number of records written into a buffer, swapped by one MPI_Sendrecv, and read.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "measure.h"

enum { BALL = 0xf200, HOP_NS = 1000000 };

struct player {
    uint64_t played;
};

static void player_init(struct actor *self, const void *setup)
{
    const uint32_t *half = setup;
    actor_send(self, actor_id(self) < *half ? actor_id(self) + *half : actor_id(self) - *half, BALL, 0);
}

static void player_handle(struct actor *self, const struct message *m)
{
    struct player *p = actor_state(self);
    p->played++;
    actor_send(self, m->from, BALL, m->word + 1);
}

static void player_save(const struct actor *self, struct bytes *sink)
{
    const struct player *p = actor_state(self);
    bytes_put_u64(sink, p->played);
}

static const struct role role_player = {
    .name = "player", .text = "returns what it gets", .state_size = sizeof(struct player), .init = player_init,
    .handle = player_handle, .save = player_save
};

static double play_engine(uint32_t messages, int64_t windows, struct engine_result *result)
{
    struct engine_config config = { .comm = MPI_COMM_WORLD, .seed = 1, .tick_ns = (windows + 1) * HOP_NS,
                                    .stop_after_ns = (windows + 1) * HOP_NS, .spread_always = true };
    struct engine_link link = { .latency_ns = HOP_NS };
    GError *error = NULL;
    struct engine *e = engine_new(&config, &error);
    double wall_s = 0;

    engine_set_link(e, 0, 0, link);
    engine_set_local_link(e, link);
    for (uint32_t i = 0; i < 2 * messages; i++)
        engine_add_actor(e, &(struct engine_actor){ .role = &role_player, .setup = &messages, .node = i,
                                                    .process = i / messages, .thread_group = ENGINE_NO_GROUP,
                                                    .cpu_group = ENGINE_NO_GROUP });
    gboolean ok = engine_start(e, &error);
    MPI_Barrier(MPI_COMM_WORLD);
    wall_s = -measure_wall_s();
    ok = ok && engine_run(e, result, &error);
    MPI_Barrier(MPI_COMM_WORLD);
    wall_s += measure_wall_s();
    if (!ok)
        g_error("%s", error->message);
    engine_free(e);
    return wall_s;
}

static double play_raw(uint32_t messages, int64_t windows, int other, uint64_t *sum)
{
    struct message *out = calloc(messages, sizeof *out);
    struct message *in = calloc(messages, sizeof *in);
    int bytes = (int)(messages * sizeof *out);

    MPI_Barrier(MPI_COMM_WORLD);
    double wall_s = -measure_wall_s();
    for (int64_t w = 0; w < windows; w++) {
        for (uint32_t i = 0; i < messages; i++)
            out[i] = (struct message){ .time_ns = w, .to = i, .from = i, .word = in[i].word + 1 };
        MPI_Sendrecv(out, bytes, MPI_BYTE, other, 0, in, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    wall_s += measure_wall_s();
    *sum = in[messages - 1].word;
    free(out);
    free(in);
    return wall_s;
}

int main(int argc, char **argv)
{
    struct engine_result result;
    uint64_t sum;
    int process;
    int processes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (argc != 3 || processes != 2) {
        if (process == 0)
            fprintf(stderr, "usage: bench_exchange MESSAGES WINDOWS, on 2 processes\n");
        MPI_Finalize();
        return 2;
    }
    uint32_t messages = (uint32_t)atol(argv[1]);
    int64_t windows = atol(argv[2]);
    double engine_s = play_engine(messages, windows, &result);
    double raw_s = play_raw(messages, windows, !process, &sum);
    double sent = (double)messages * (double)windows;
    if (process == 0)
        printf("exchange messages %u windows %lld remote_messages %llu engine_ns %.3f raw_ns %.3f ratio %.3f\n",
               messages, (long long)windows, (unsigned long long)result.remote_messages, engine_s * 1e9 / sent,
               raw_s * 1e9 / sent, engine_s / raw_s);
    MPI_Finalize();
    return sum != (uint64_t)windows;
}
