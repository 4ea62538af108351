/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Law 1 on random models: test_laws [FIRST] [COUNT]. Each seed runs alone on every process (both inboxes), on all
 * processes together, and on two halves of the communicator at once; every digest must be that of the first. The last
 * line has the sum of all digests, so that runs on other numbers of processes, and other builds, can be compared.
 */
#include <stdio.h>
#include <stdlib.h>

#include "random_model.h"

struct runs {
    uint64_t digest[2];
    uint64_t sum;
    uint64_t seed;
    unsigned failures;
    uint64_t handled;
};

static void compare(struct runs *runs, const char *what, const struct engine_result *r)
{
    if (r->sent != r->handled + r->pending + r->pending_background) {
        fprintf(stderr, "seed %llu, %s: sent %llu, handled %llu + pending %llu + background %llu\n",
                (unsigned long long)runs->seed, what, (unsigned long long)r->sent, (unsigned long long)r->handled,
                (unsigned long long)r->pending, (unsigned long long)r->pending_background);
        runs->failures++;
    }
    if (r->digest[0] == runs->digest[0] && r->digest[1] == runs->digest[1])
        return;
    fprintf(stderr, "seed %llu, %s: digest %016llx%016llx, alone %016llx%016llx\n",
            (unsigned long long)runs->seed, what, (unsigned long long)r->digest[1], (unsigned long long)r->digest[0],
            (unsigned long long)runs->digest[1], (unsigned long long)runs->digest[0]);
    runs->failures++;
}

static void run(struct runs *runs, const struct random_model *model, const char *what, MPI_Comm comm,
                uint64_t placement, bool explicit_inbox, bool is_first)
{
    struct engine_result r;
    GError *error = NULL;
    if (!random_model_run(model, comm, placement, explicit_inbox, &r, &error)) {
        fprintf(stderr, "seed %llu, %s: %s\n", (unsigned long long)runs->seed, what, error->message);
        g_clear_error(&error);
        runs->failures++;
        return;
    }
    if (is_first) {
        runs->digest[0] = r.digest[0];
        runs->digest[1] = r.digest[1];
        runs->handled += r.handled;
        runs->sum += r.digest[0] ^ r.digest[1];
    }
    compare(runs, what, &r);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 25;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank * 2 / size, rank, &part);
    struct runs runs = { .failures = 0 };
    for (runs.seed = first; runs.seed < first + count; runs.seed++) {
        struct random_model *model = random_model_new(runs.seed);
        run(&runs, model, "alone", MPI_COMM_SELF, 1, false, true);
        run(&runs, model, "alone, explicit inbox", MPI_COMM_SELF, 1, true, false);
        if (size > 1) {
            run(&runs, model, "all", MPI_COMM_WORLD, 1, false, false);
            run(&runs, model, "all, placed otherwise", MPI_COMM_WORLD, 2, true, false);
        }
        if (size > 2)
            run(&runs, model, "a part", part, 3, false, false);
        random_model_free(model);
    }
    unsigned failures = 0;
    MPI_Allreduce(&runs.failures, &failures, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%llu random models on %d processes, %llu messages, digests %016llx: %u differences\n",
               (unsigned long long)count, size, (unsigned long long)runs.handled, (unsigned long long)runs.sum,
               failures);
    MPI_Comm_free(&part);
    MPI_Finalize();
    return failures != 0 || runs.handled == 0;
}
