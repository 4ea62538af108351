/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench_phold ACTORS EVENTS_PER_ACTOR REMOTE LOOKAHEAD END: PHOLD on the engine alone, with no trace.
 * Times in units of the mean increment, as ROSS counts them; prints events per second of the run itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "engine/engine.h"
#include "ranks/phold.h"

enum { MEAN_NS = 1000000000 };

static gboolean run(struct engine *e, struct engine_result *r, double *seconds, GError **error)
{
    if (!engine_start(e, error))
        return FALSE;
    MPI_Barrier(MPI_COMM_WORLD);
    *seconds = -MPI_Wtime();
    gboolean ok = engine_run(e, r, error);
    MPI_Barrier(MPI_COMM_WORLD);
    *seconds += MPI_Wtime();
    return ok;
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
    double seconds;
    gboolean ok = run(e, &r, &seconds, &error);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (rank == 0 && ok)
        printf("phold processes %d actors %u events/actor %u remote %s lookahead %s: %llu events in %.3f s  "
               "%.3f M events/s  digest %016llx%016llx  windows %llu  rss %.1f MB/process\n", size, setup.actors,
               setup.events_per_actor, argv[3], argv[4], (unsigned long long)r.handled, seconds,
               (double)r.handled / seconds * 1e-6, (unsigned long long)r.digest[1], (unsigned long long)r.digest[0],
               (unsigned long long)r.windows, (double)usage.ru_maxrss / 1024);
    else if (rank == 0)
        fprintf(stderr, "bench_phold: %s\n", error->message);
    engine_free(e);
    MPI_Finalize();
    return ok ? 0 : 1;
}
