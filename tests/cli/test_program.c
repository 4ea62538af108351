/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole program, many times in one mpirun: every shipped deck in its [test] form gives one digest on one process
 * and on all, by both placements, whether or not it retreats to fewer processes; two runs at once on halves of the
 * communicator do not disturb one another; all processes return the same status.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "program.h"
#include "../unit/scratch.h"
#include "../unit/suite.h"

static const char *const decks[] = {
    "tests/decks/tiny.deck", "inputs/flux-bulksubmit.deck", "inputs/flux-bulksubmit-pr2777.deck",
    "inputs/flux-bulksubmit-v0.16.deck", "inputs/flux-counts.deck", "inputs/flux-scheme-custom.deck",
    "inputs/flux-scheme-unprefixed.deck", "inputs/flux-namespaces.deck", "inputs/flux-namespaces-v0.16.deck",
    "inputs/flux-bulksubmit-4096.deck", "inputs/flux-watch.deck", "inputs/flux-watch-16k.deck",
    "inputs/flux-outstanding-1.deck", "inputs/flux-outstanding-4.deck", "inputs/flux-fanout.deck",
    "inputs/flux-fanout-flat.deck", "inputs/flux-h1-saturated.deck", "inputs/flux-h2-slots.deck",
    "inputs/flux-h3-cores.deck", "inputs/bench/falkon-pattern.deck", "inputs/bench/phold.deck",
    "inputs/bench/sparse.deck", "inputs/theory/central-server.deck", "inputs/theory/jackson.deck",
    "inputs/theory/md1.deck", "inputs/theory/mg1.deck", "inputs/theory/mm1.deck", "inputs/theory/mmc.deck",
    "inputs/theory/repairman.deck", "inputs/bench/falkon-s4u.deck", "inputs/falkon-1b.deck",
    "inputs/falkon-1b-late.deck", "inputs/falkon-2008.deck", "inputs/falkon-balance.deck",
    "inputs/falkon-bundle.deck", "inputs/falkon-efficiency.deck", "inputs/falkon-faults.deck",
    "inputs/falkon-late-binding.deck", "inputs/falkon-million.deck", "inputs/falkon-one-service.deck",
    "inputs/falkon-stealing.deck", "inputs/falkon-wide.deck", "inputs/falkon-ws.deck", "inputs/io-collective.deck",
    "inputs/io-fuse.deck", "inputs/io-ior.deck", "inputs/io-mpiio.deck", "inputs/io-preextend.deck",
    "inputs/io-wide.deck", "inputs/io-checkpoint.deck", "inputs/io-checkpoint-shared.deck",
    "inputs/io-checkpoint-extended.deck", "inputs/io-tasks.deck"
};

static char *scratch;       /* the same on all processes */

struct outcome {
    int status;             /* the same on all processes of the run, else -1 */
    char digest[33];
    int active;
};

static void read_summary(const char *folder, struct outcome *outcome)
{
    g_autofree char *path = g_build_filename(folder, "summary.json", NULL);
    g_autofree char *text = NULL;

    if (!g_file_get_contents(path, &text, NULL, NULL))
        return;
    const char *digest = strstr(text, "\"digest\": \"");
    const char *active = strstr(text, "\"active_processes\": ");
    if (digest != NULL && active != NULL) {
        g_strlcpy(outcome->digest, digest + strlen("\"digest\": \""), sizeof outcome->digest);
        outcome->active = atoi(active + strlen("\"active_processes\": "));
    }
}

/* Collective over `comm`. */
static struct outcome run(MPI_Comm comm, const char *deck, const char *folder_name, const char *first,
                          const char *second)
{
    g_autofree char *path = g_build_filename(g_getenv("top_srcdir"), deck, NULL);
    g_autofree char *folder = g_build_filename(scratch, folder_name, NULL);
    char *argv[] = { "tiercel", "run", path, "-q", "--test", "-o", folder, "--force", "--set", (char *)first, "--set",
                     (char *)second, NULL };
    struct outcome outcome = { .digest = "" };
    int status = program_run(comm, G_N_ELEMENTS(argv) - 1, argv);
    int least;
    int most;

    MPI_Allreduce(&status, &least, 1, MPI_INT, MPI_MIN, comm);
    MPI_Allreduce(&status, &most, 1, MPI_INT, MPI_MAX, comm);
    outcome.status = least == most ? status : -1;
    read_summary(folder, &outcome);
    return outcome;
}

/* On process 0 alone, known to all. */
static struct outcome run_alone(const char *deck)
{
    struct outcome outcome;
    int process;

    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    if (process == 0)
        outcome = run(MPI_COMM_SELF, deck, "alone", "run.spread=always", "run.placement=node");
    MPI_Bcast(&outcome, sizeof outcome, MPI_BYTE, 0, MPI_COMM_WORLD);
    return outcome;
}

static void expect_same(const struct outcome *outcome, const struct outcome *reference, const char *deck)
{
    if (outcome->status != 0 || strcmp(outcome->digest, reference->digest) != 0)
        printf("\n%s: status %d, digest %s instead of %s\n", deck, outcome->status, outcome->digest, reference->digest);
    CU_ASSERT_EQUAL(outcome->status, 0);
    CU_ASSERT_STRING_EQUAL(outcome->digest, reference->digest);
}

static void test_digests(void)
{
    int processes;

    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    for (unsigned i = 0; i < G_N_ELEMENTS(decks); i++) {
        struct outcome alone = run_alone(decks[i]);
        struct outcome by_node = run(MPI_COMM_WORLD, decks[i], "all", "run.spread=always", "run.placement=node");
        struct outcome by_role = run(MPI_COMM_WORLD, decks[i], "all", "run.spread=always", "run.placement=role");

        CU_ASSERT_EQUAL(alone.status, 0);
        CU_ASSERT_EQUAL(strlen(alone.digest), 32);
        expect_same(&by_node, &alone, decks[i]);
        expect_same(&by_role, &alone, decks[i]);
        CU_ASSERT_EQUAL(by_role.active, processes);
    }
}

static void test_retreat(void)
{
    struct outcome alone = run_alone(decks[1]);
    struct outcome retreated = run(MPI_COMM_WORLD, decks[1], "all", "run.spread=auto", "run.placement=role");

    expect_same(&retreated, &alone, decks[1]);
}

static void test_halves(void)
{
    struct outcome alone = run_alone(decks[0]);
    MPI_Comm half;
    int process;

    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_split(MPI_COMM_WORLD, process % 2, process, &half);
    struct outcome outcome = run(half, decks[0], process % 2 == 0 ? "even" : "odd", "run.spread=always",
                                 "run.placement=node");
    expect_same(&outcome, &alone, decks[0]);
    MPI_Comm_free(&half);
}

static void test_refused(void)
{
    struct outcome outcome = run(MPI_COMM_WORLD, decks[0], "refused", "cluster.nodes=none", "run.placement=node");
    g_autofree char *folder = g_build_filename(scratch, "refused", NULL);

    CU_ASSERT_EQUAL(outcome.status, 2);
    CU_ASSERT_FALSE(g_file_test(folder, G_FILE_TEST_EXISTS));
}

int main(int argc, char **argv)
{
    static const struct suite_test tests[] = {
        { "every deck has one digest on one process and on all, by both placements", test_digests },
        { "a run that may retreat has the same digest", test_retreat },
        { "two runs at once on halves of the communicator have it as well", test_halves },
        { "a refused setting is refused on all processes, and leaves nothing", test_refused },
        { NULL, NULL }
    };
    char folder[4096];
    int process;
    int failed;
    int any;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    if (process == 0) {
        g_snprintf(folder, sizeof folder, "%s/scratch-test_program-XXXXXX", g_getenv("top_builddir"));
        g_assert(g_mkdtemp(folder) != NULL);
    }
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    scratch = folder;
    failed = suite_run("program", tests);
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (process == 0 && any == 0)
        scratch_remove(folder);
    MPI_Finalize();
    return any;
}
