/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hdf5.h>

#include "calibrate.h"
#include "check.h"
#include "compare.h"
#include "export.h"
#include "fit.h"
#include "options.h"
#include "run.h"
#include "scenario.h"
#include "share.h"
#include "sweep.h"
#include "sweep_plan.h"
#include "traces.h"

static void print_version(void)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    unsigned major;
    unsigned minor;
    unsigned release;

    MPI_Get_library_version(mpi, &length);
    mpi[strcspn(mpi, "\n")] = '\0';
    H5get_libversion(&major, &minor, &release);
    printf("tiercel %s\n", PACKAGE_VERSION);
    printf("MPI     %s\n", mpi);
    printf("HDF5    %u.%u.%u\n", major, minor, release);
    printf("GLib    %u.%u.%u\n", glib_major_version, glib_minor_version, glib_micro_version);
#ifdef __SANITIZE_ADDRESS__
    printf("build   with address and undefined-behaviour sanitizers\n");
#endif
#ifdef TIERCEL_CHECKS
    printf("build   with checks of causality and order\n");
#endif
}

/* A launcher of another MPI starts N programs that do not know of each other. */
static void warn_of_launcher(void)
{
    static const char *const variables[][2] = { { "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK" },
                                                { "PMI_SIZE", "PMI_RANK" } };

    int processes;

    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    for (unsigned i = 0; i < G_N_ELEMENTS(variables); i++) {
        const char *size = getenv(variables[i][0]);
        const char *rank = getenv(variables[i][1]);
        if (size == NULL || rank == NULL || strcmp(rank, "0") != 0 || atoi(size) <= processes)
            continue;
        fprintf(stderr, "tiercel: warning: the launcher started %s processes (%s), but MPI sees %d: each runs alone; "
                "use the mpirun of the MPI that tiercel was built with\n", size, variables[i][0], processes);
        return;
    }
}

static struct deck *load_deck(const struct options *options, struct share *share)
{
    struct deck_request request = options_deck_request(options, (struct deck_reader){ share_read, share });
    return deck_load(&request);
}

/* One point of a sweep; NULL with *status when there is none, which was said. */
static struct deck *load_point(const struct options *options, struct share *share, int *status)
{
    struct sweep_plan plan;

    if (!sweep_plan_init(&plan, options, share, status))
        return NULL;
    struct deck *deck = sweep_plan_deck(&plan, (unsigned)options->point - 1, share);
    sweep_plan_release(&plan);
    return deck;
}

static int play(const struct options *options, struct share *share, const char *command_line)
{
    int status = TIERCEL_ERROR_INPUT;
    struct deck *deck = options->point > 0 ? load_point(options, share, &status) : load_deck(options, share);

    if (deck == NULL)
        return status;
    struct scenario *scenario = scenario_new(deck, share);
    if (options->command == COMMAND_RUN)
        deck_refuse_sweep(deck);
    if (options->command == COMMAND_RUN && deck_problem_count(deck) == 0)
        scenario_check_live(scenario, deck, (uint32_t)share->processes);
    if (deck_problem_count(deck) > 0) {
        if (share->process == 0)
            deck_print_problems(deck, "nothing was run", stderr);
    } else if (options->command == COMMAND_CHECK) {
        uint32_t processes = options->processes > 0 ? (uint32_t)options->processes : (uint32_t)share->processes;
        status = check_deck(deck, scenario, processes, share);
    } else {
        status = run_deck(deck, scenario, options, command_line, share);
    }
    scenario_free(scenario);
    deck_free(deck);
    return status;
}

/* Results that nobody got are a failure, of all processes. */
static int flush_output(const struct share *share, int status)
{
    int bad = fflush(stdout) != 0 || ferror(stdout);
    int number = errno;

    MPI_Bcast(&bad, 1, MPI_INT, 0, share->comm);
    if (!bad)
        return status;
    if (share->process == 0)
        fprintf(stderr, "tiercel: the results cannot be printed: %s\n", g_strerror(number));
    return status == TIERCEL_OK ? TIERCEL_ERROR_RUNTIME : status;
}

static int run_command(const struct options *options, struct share *share, const char *command_line)
{
    switch (options->command) {
    case COMMAND_RUN:
    case COMMAND_CHECK:
        return play(options, share, command_line);
    case COMMAND_VERIFY:
        return traces_verify(options->words[0], options->merge, share);
    case COMMAND_DIFF:
        return traces_diff(options->words[0], options->words[1], share);
    case COMMAND_REPORT:
        return traces_report(options->words[0], options->format, options->job, share);
    case COMMAND_EXPORT:
        return export_trace(options->words[0], options->format, share);
    case COMMAND_COMPARE:
        return compare_decks(options, share);
    case COMMAND_FIT:
        return fit_file(options, share);
    case COMMAND_SWEEP:
        return sweep_deck(options, command_line, share);
    case COMMAND_CALIBRATE:
        return calibrate_deck(options, share);
    case COMMAND_NONE:
        break;
    }
    g_assert_not_reached();
}

int program_run(MPI_Comm comm, int argc, char **argv)
{
    g_autofree char *command_line = g_strjoinv(" ", argv);
    struct options options;
    struct share share;
    GError *error = NULL;
    int status = TIERCEL_OK;

    share_init(&share, comm);
    warn_of_launcher();
    if (!options_parse(&options, argc, argv, &error)) {
        if (share.process == 0)
            fprintf(stderr, "tiercel: %s\n", error->message);
        g_error_free(error);
        share_release(&share);
        return TIERCEL_ERROR_INPUT;
    }
    if (options.help) {
        g_autofree char *help = options_help(options.command);
        if (share.process == 0)
            fputs(help, stdout);
    } else if (options.version) {
        if (share.process == 0)
            print_version();
    } else {
        status = run_command(&options, &share, command_line);
    }
    status = flush_output(&share, status);
    options_release(&options);
    share_release(&share);
    return status;
}
