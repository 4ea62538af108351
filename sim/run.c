/* SPDX-License-Identifier: BSD-3-Clause */
#include "run_internal.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/text_file.h"
#include "run_folder.h"
#include "run_result.h"
#include "share.h"
#include "signals.h"

/* --- the end --- */

static uint32_t count_machines(MPI_Comm comm)
{
    MPI_Comm machine;
    int process, first;

    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &process);
    MPI_Comm_free(&machine);
    first = process == 0;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_SUM, comm);
    return (uint32_t)first;
}

/* What all processes know together; valid on process 0. */
static void gather_facts(struct run *run, struct run_facts *facts)
{
    struct rusage usage;
    uint64_t bytes = engine_memory_bytes(run->engine);
    uint64_t rss;
    int stopped = run->stopped;

    getrusage(RUSAGE_SELF, &usage);
    rss = (uint64_t)usage.ru_maxrss * 1024;
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UINT64_T, MPI_SUM, run->comm);
    MPI_Allreduce(MPI_IN_PLACE, &rss, 1, MPI_UINT64_T, MPI_MAX, run->comm);
    MPI_Allreduce(MPI_IN_PLACE, &stopped, 1, MPI_INT, MPI_MAX, run->comm);
    facts->engine_bytes = bytes;
    facts->peak_rss_bytes = rss;
    facts->stopped = stopped != 0;
    /* Told of live runs alone. */
    facts->machines = run->times != NULL ? count_machines(run->comm) : 1;
    if (run->steady != NULL)
        steady_gather(run->steady, run->comm);
    facts->steady = run->steady;
    facts->totals = engine_role_totals(run->engine, &facts->roles, &facts->role_count);
}

/* Process 0 writes the summary and, unless the result is kept, prints; the status of the run. */
static int report(struct run *run, const struct run_result *result, bool stopped, GError **error)
{
    const struct options *options = run->options;
    g_autofree char *path = run->folder == NULL ? NULL : g_build_filename(run->folder, RUN_FOLDER_SUMMARY, NULL);
    int status;

    if ((path != NULL && !summary_write(result->summary, path, error)) ||
        (options->summary != NULL && !summary_write(result->summary, options->summary, error)))
        return TIERCEL_ERROR_RUNTIME;
    if (run->kept != NULL)
        return stopped ? TIERCEL_ERROR_STOPPED : TIERCEL_OK;
    if (options->verbosity >= 0)
        run_result_print(result, run->deck, run->scenario, options->verbosity > 0, stdout);
    fflush(stdout);                     /* an error of it is told at the end (program.c) */
    status = run_result_complain(result, run->deck, options->strict, stderr);
    if (stopped)
        fprintf(stderr, "tiercel: stopped early by %s; what was done is saved\n",
                signals_stop_name() != NULL ? signals_stop_name() : "--walltime, or a signal to another process");
    if (options->verbosity >= 0)
        fprintf(stderr, "tiercel: results are in %s\n", run->folder);
    return status == TIERCEL_OK && stopped ? TIERCEL_ERROR_STOPPED : status;
}

/* Trace and summary of a run that came to its end, or to an early one. RUNTIME, with *error: they cannot be written. */
static int finish(struct run *run, const struct engine_result *engine, uint32_t processes, GError **error)
{
    struct run_facts facts = { .engine = engine, .processes = processes };
    struct run_result result;
    int status = TIERCEL_OK;
    g_autofree char *summary = NULL;
    GError *local = NULL;
    struct trace_ending ending = { .end_ns = engine->end_ns };

    facts.wall_s = (double)(g_get_monotonic_time() - run->started_us) / 1e6;
    gather_facts(run, &facts);
    if (run->error == NULL && trace_merge(run->trace, &run->error) && run->times != NULL)
        service_times_gather(run->times, run->gather, &run->error);
    if (run->error != NULL) {
        g_free(facts.roles);
        g_free((gpointer)facts.totals);
        g_propagate_error(error, g_steal_pointer(&run->error));
        return TIERCEL_ERROR_RUNTIME;
    }
    if (run->process == 0) {
        facts.figures = trace_collector(run->trace);
        facts.times = run->times;
        run_result_init(&result, run->deck, run->scenario, &facts);
        summary = summary_to_text(result.summary, &local);
        ending.digest = result.digest;
        ending.walltime_s = facts.wall_s;
        ending.end = facts.stopped ? "stopped" : engine->end == ENGINE_ENDED ? "ended" : "stop-after";
        ending.roles = result.roles;
        ending.role_count = result.role_count;
        ending.summary = summary;
    }
    gboolean good = gather_agree(run->gather, local, error) && trace_finish(run->trace, &ending, error);
    if (run->process == 0) {
        local = NULL;
        if (good)
            status = report(run, &result, facts.stopped, &local);
        if (good && local == NULL && run->kept != NULL)
            *run->kept = result;
        else
            run_result_release(&result);
    }
    good = good && gather_agree(run->gather, run->process == 0 ? local : NULL, error);
    g_free(facts.roles);
    g_free((gpointer)facts.totals);
    return good ? status : TIERCEL_ERROR_RUNTIME;
}

/* --- all attempts --- */

/* The processes of the next attempt: the first `count`. The others get MPI_COMM_NULL. */
static void take_comm(struct run *run, MPI_Comm from, int count)
{
    MPI_Comm comm;
    int process;

    MPI_Comm_rank(from, &process);
    MPI_Comm_split(from, process < count ? 0 : MPI_UNDEFINED, process, &comm);
    run->comm = comm;
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, &run->process);
    MPI_Comm_size(comm, &run->processes);
}

static int play(struct run *run, struct share *share, GError **error)
{
    struct engine_result engine = { .end = ENGINE_RETREAT };
    int status = TIERCEL_ERROR_RUNTIME;
    gboolean good;

    take_comm(run, share->comm, share->processes);
    for (;;) {
        good = run_attempt_begin(run, error);
        if (!good) {
            if (run->process == 0 && run->folder != NULL)
                run_folder_remove(run->folder);
            status = error != NULL && *error != NULL ? (*error)->code : TIERCEL_ERROR_RUNTIME;
            break;
        }
        good = engine_run(run->engine, &engine, error) && run_attempt_end_files(run, true, error);
        if (!good || engine.end != ENGINE_RETREAT)
            break;
        MPI_Comm wide = run->comm;
        run_attempt_close(run);
        if (run->process == 0 && run->folder != NULL)
            run_folder_clear_trace(run->folder);
        take_comm(run, wide, run->processes / 2);
        MPI_Comm_free(&wide);
        if (run->comm == MPI_COMM_NULL)
            return TIERCEL_OK;
    }
    if (good) {
        status = finish(run, &engine, (uint32_t)share->processes, error);
        run->unwritten = status == TIERCEL_ERROR_RUNTIME;
    }
    run_attempt_close(run);
    MPI_Comm_free(&run->comm);
    return status;
}

/* Process 0 tells all how it ended. Those that played nothing wait here, asleep. */
static int share_status(struct share *share, int status)
{
    share_wait(share);
    MPI_Bcast(&status, 1, MPI_INT, 0, share->comm);
    return status;
}

/* A summary that could not be written would be known only after the run. */
static gboolean check_summary(const char *path, GError **error)
{
    g_autofree char *parent = g_path_get_dirname(path);
    bool exists = g_file_test(parent, G_FILE_TEST_IS_DIR);

    if (exists && g_file_test(path, G_FILE_TEST_IS_DIR))
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "--summary: '%s' is a folder; expected the path of a "
                    "file", path);
    else if (!exists)
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "--summary: there is no folder '%s'; expected the "
                    "path of a file in an existing one", parent);
    else if (g_access(path, F_OK) != 0 && g_access(parent, W_OK) != 0)
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "--summary: '%s' cannot be made: %s", path,
                    g_strerror(errno));
    else
        return TRUE;
    return FALSE;
}

static gboolean write_deck(const struct run *run, const char *folder, GError **error)
{
    g_autofree char *path = g_build_filename(folder, RUN_FOLDER_DECK, NULL);
    g_autofree char *effective = deck_effective(run->deck);

    return text_file_write(path, effective, error);
}

/* Everything that can be refused before the engine is built. */
static char *prepare(const struct run *run, GError **error)
{
    const struct options *options = run->options;

    if (options->summary != NULL && !check_summary(options->summary, error))
        return NULL;
    char *folder = run_folder_make("runs", deck_name(run->deck), options->output, options->force, error);
    if (folder != NULL && !write_deck(run, folder, error)) {
        run_folder_remove(folder);
        g_clear_pointer(&folder, g_free);
    }
    return folder;
}

static void describe(struct run *run)
{
    trace_roles_init(&run->roles, run->scenario);
    run->milestone = scenario_milestone(run->scenario);
    run->milestone_role =
        run->milestone.role == NULL ? -1 : (int)trace_roles_find(run->scenario, run->milestone.role);
}

static int play_described(struct run *run, struct share *share, GError **error)
{
    describe(run);
    signals_watch();
    int status = share_status(share, play(run, share, error));
    signals_unwatch();
    trace_roles_release(&run->roles);
    g_clear_error(&run->error);
    return status;
}

int run_deck(const struct deck *deck, const struct scenario *scenario, const struct options *options,
             const char *command_line, struct share *share)
{
    struct run run = {
        .deck = deck, .scenario = scenario, .options = options, .command_line = command_line,
        .started_us = g_get_monotonic_time()
    };
    g_autoptr(GError) error = NULL;
    GError *local = NULL;
    int status = TIERCEL_ERROR_INPUT;

    if (share->process == 0)
        run.folder = prepare(&run, &local);
    if (share_agree(share, local, &error)) {
        char *folder = share_text(share, run.folder);
        g_free(run.folder);
        run.folder = folder;
        if (options->verbosity >= 0 && share->process == 0)
            fprintf(stderr, "tiercel: %s on %d process%s%s: %" G_GUINT32_FORMAT " actors\n", deck_path(deck),
                    share->processes, share->processes == 1 ? "" : "es",
                    deck_is_live(deck) ? " of the live clock" : "", scenario_actors(scenario));
        progress_begin(&run.progress, options->verbosity < 0 ? 0 : options->progress_s);
        status = play_described(&run, share, &error);
    } else {
        status = error->code;
    }
    if (error != NULL && share->process == 0)
        fprintf(stderr, "tiercel: %s\n", error->message);
    g_free(run.folder);
    return status;
}

gboolean run_keep(const struct deck *deck, const struct scenario *scenario, const char *folder,
                  const char *command_line, struct share *share, struct run_result *result, GError **error)
{
    const struct options options = { .output = (char *)folder, .verbosity = -1 };
    struct run run = {
        .deck = deck, .scenario = scenario, .options = &options, .command_line = command_line, .kept = result,
        .started_us = g_get_monotonic_time()
    };

    g_autoptr(GError) why = NULL;
    int status = TIERCEL_ERROR_RUNTIME;

    g_assert(share->processes == 1);
    if (folder != NULL && (run.folder = prepare(&run, &why)) == NULL)
        run.unwritten = true;
    else
        status = play_described(&run, share, &why);
    g_free(run.folder);
    if (status == TIERCEL_OK)
        return TRUE;
    if (status == TIERCEL_ERROR_STOPPED) {
        run_result_release(result);
        g_set_error(error, TIERCEL_ERROR, status, "stopped early by %s", signals_stop_name());
        return FALSE;
    }
    if (run.unwritten && folder != NULL)
        why->code = RUN_UNWRITTEN;
    g_propagate_error(error, g_steal_pointer(&why));
    return FALSE;
}
