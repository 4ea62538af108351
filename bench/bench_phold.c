/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench_phold ACTORS EVENTS_PER_ACTOR REMOTE LOOKAHEAD END: PHOLD on the engine alone, with no trace and no summary.
 * Times in units of the mean increment, as ROSS counts them. The rate is that of the run itself, without setting up.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "measure.h"
#include "ranks/phold.h"

enum { MEAN_NS = 1000000000 };

struct spent {
    double wall_s;
    double cpu_s;                   /* of all processes */
};

static gboolean run(struct engine *e, struct engine_result *r, struct spent *spent, GError **error)
{
    if (!engine_start(e, error))
        return FALSE;
    MPI_Barrier(MPI_COMM_WORLD);
    double cpu_s = -measure_cpu_s();
    spent->wall_s = -measure_wall_s();
    gboolean ok = engine_run(e, r, error);
    MPI_Barrier(MPI_COMM_WORLD);
    spent->wall_s += measure_wall_s();
    cpu_s += measure_cpu_s();
    MPI_Reduce(&cpu_s, &spent->cpu_s, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return ok;
}

static void print(const struct phold *setup, const struct engine_result *r, const struct spent *spent, int processes,
                  double bytes)
{
    printf("phold processes %d actors %u events_per_actor %u events %llu wall_s %.4f cpu_s %.4f rate %.0f "
           "cpu_rate %.0f windows %llu remote_messages %llu engine_bytes %.0f peak_bytes %.0f digest %016llx%016llx\n",
           processes, setup->actors, setup->events_per_actor, (unsigned long long)r->handled, spent->wall_s,
           spent->cpu_s, (double)r->handled / spent->wall_s, (double)r->handled / spent->cpu_s,
           (unsigned long long)r->windows,
           (unsigned long long)r->remote_messages, bytes, measure_peak_bytes(), (unsigned long long)r->digest[1],
           (unsigned long long)r->digest[0]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 6) {
        if (rank == 0)
            fprintf(stderr, "usage: bench_phold ACTORS EVENTS_PER_ACTOR REMOTE LOOKAHEAD END\n");
        MPI_Finalize();
        return 2;
    }
    double remote = atof(argv[3]);
    struct phold setup = { .actors = (uint32_t)atol(argv[1]), .events_per_actor = (uint32_t)atol(argv[2]),
                           .remote = remote >= 1 ? UINT64_MAX : (uint64_t)(remote * 0x1p64),
                           .lookahead_ns = (int64_t)(atof(argv[4]) * MEAN_NS), .mean_ns = MEAN_NS };
    struct engine_config config = { .comm = MPI_COMM_WORLD, .seed = 1, .tick_ns = (int64_t)(atof(argv[5]) * MEAN_NS),
                                    .stop_after_ns = (int64_t)(atof(argv[5]) * MEAN_NS), .spread_always = true };
    GError *error = NULL;
    struct engine *e = engine_new(&config, &error);
    struct engine_link link = { .latency_ns = setup.lookahead_ns };
    engine_set_link(e, 0, 0, link);
    engine_set_local_link(e, link);
    for (uint32_t i = 0; i < setup.actors; i++) {
        struct engine_actor spec = { .role = &role_phold, .setup = &setup, .node = i,
                                     .process = (uint32_t)((uint64_t)i * (uint64_t)size / setup.actors),
                                     .thread_group = ENGINE_NO_GROUP, .cpu_group = ENGINE_NO_GROUP };
        engine_add_actor(e, &spec);
    }
    struct engine_result r;
    struct spent spent;
    gboolean ok = run(e, &r, &spent, &error);
    double bytes = (double)engine_memory_bytes(e);
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && ok)
        print(&setup, &r, &spent, size, bytes);
    else if (rank == 0)
        fprintf(stderr, "bench_phold: %s\n", error->message);
    engine_free(e);
    MPI_Finalize();
    return ok ? 0 : 1;
}
