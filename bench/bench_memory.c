/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench_memory ACTORS: bytes of engine memory an actor and a pending message take, from PHOLD runs with 1 and with 17
 * events an actor, and what the operating system says (the second run comes last, so that its peak counts).
 *
 * The ceilings are what the records themselves take: struct message, and an actor's place in the table of routes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "measure.h"
#include "ranks/phold.h"

enum { MEAN_NS = 1000000000, FEW = 1, MANY = 17, INCREMENTS = 3 };

static double measure(uint32_t actors, uint32_t events)
{
    struct phold setup = { .actors = actors, .events_per_actor = events, .remote = UINT64_MAX / 10,
                           .lookahead_ns = MEAN_NS / 10, .mean_ns = MEAN_NS };
    struct engine_config config = { .comm = MPI_COMM_SELF, .seed = 1, .tick_ns = (int64_t)INCREMENTS * MEAN_NS,
                                    .stop_after_ns = (int64_t)INCREMENTS * MEAN_NS };
    struct engine_link link = { .latency_ns = setup.lookahead_ns };
    struct engine_result result;
    GError *error = NULL;
    struct engine *e = engine_new(&config, &error);

    engine_set_link(e, 0, 0, link);
    engine_set_local_link(e, link);
    for (uint32_t i = 0; i < actors; i++)
        engine_add_actor(e, &(struct engine_actor){ .role = &role_phold, .setup = &setup, .node = i,
                                                    .thread_group = ENGINE_NO_GROUP, .cpu_group = ENGINE_NO_GROUP });
    if (!engine_start(e, &error) || !engine_run(e, &result, &error))
        g_error("%s", error->message);
    double bytes = (double)engine_memory_bytes(e);
    engine_free(e);
    return bytes;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc != 2) {
        fprintf(stderr, "usage: bench_memory ACTORS\n");
        MPI_Finalize();
        return 2;
    }
    uint32_t actors = (uint32_t)atol(argv[1]);
    double start = measure_peak_bytes();
    double few = measure(actors, FEW);
    double few_peak = measure_peak_bytes() - start;
    double many = measure(actors, MANY);
    double many_peak = measure_peak_bytes() - start;
    double a_message = (many - few) / ((double)actors * (MANY - FEW));
    printf("memory actors %u actor_bytes %.2f message_bytes %.2f message_record_bytes %zu "
           "actor_and_message_peak_bytes %.2f actor_and_17_messages_peak_bytes %.2f\n", actors,
           few / actors - a_message * FEW, a_message,
           sizeof(struct message), few_peak / actors, many_peak / actors);
    MPI_Finalize();
    return 0;
}
