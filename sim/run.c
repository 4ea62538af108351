/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "options.h"
#include "run_folder.h"
#include "run_result.h"
#include "scenario.h"
#include "service_times.h"
#include "share.h"
#include "signals.h"
#include "steady.h"
#include "trace/gather.h"
#include "trace/trace.h"
#include "trace_roles.h"

enum {
    RUN_WISH_PROGRESS = 1 << 8,         /* beside those of enum engine_wish: process 0 wants to print a line */
    FIRST_PROGRESS_US = 2000000
};

struct run {
    const struct deck *deck;
    const struct scenario *scenario;
    const struct options *options;
    const char *command_line;
    char *folder;                       /* NULL: nothing is written */
    struct run_result *kept;            /* NULL: the result is reported; else it goes here, and nothing is printed */
    int64_t started_us;

    struct trace_roles roles;
    int milestone_role;                 /* -1: none */
    struct scenario_milestone milestone;

    /* One attempt: on all processes, or after a retreat on some. */
    MPI_Comm comm;
    int process;
    int processes;
    struct gather *gather;
    struct trace *trace;
    struct service_times *times;        /* of the live clock, else NULL */
    struct steady *steady;              /* NULL where nothing counts what is done */
    struct engine *engine;
    GError *error;                      /* of a flush: the same on all processes */
    bool every_event;                   /* trace level */
    bool awake;                         /* this process must not sleep: it serves the lock of a file */
    bool begun;                         /* the scenario's files, of the live clock */
    bool stopped;                       /* this process wished for the end */
    int64_t progress_us;                /* when the next line is due */
    int64_t reported_us;
    uint64_t reported;                  /* events at the last line */
    uint64_t milestones;                /* counted here */
};

/* --- beforehand --- */

static void describe(struct run *run)
{
    trace_roles_init(&run->roles, run->scenario);
    run->milestone = scenario_milestone(run->scenario);
    run->milestone_role =
        run->milestone.role == NULL ? -1 : (int)trace_roles_find(run->scenario, run->milestone.role);
}

/* --- what the engine observes --- */

static void observe_count(void *data, const struct actor *self, unsigned metric, uint64_t count)
{
    struct run *run = data;
    unsigned role = run->roles.actor_roles[actor_id(self)];

    if ((int)role == run->milestone_role && metric == run->milestone.metric)
        run->milestones += count;
    trace_count(run->trace, role, metric, actor_now(self), count);
}

static void observe_sample(void *data, const struct actor *self, unsigned metric, int64_t value)
{
    struct run *run = data;

    trace_sample(run->trace, run->roles.actor_roles[actor_id(self)], metric, actor_now(self), value);
}

static void observe_record(void *data, const struct actor *self, unsigned table, const void *row, size_t size)
{
    struct run *run = data;

    trace_record(run->trace, table, actor_now(self), actor_id(self), row, size);
}

static void observe_handled(void *data, const struct actor *self, const struct message *m, int64_t start_ns,
                            int64_t end_ns)
{
    struct run *run = data;
    struct trace_event event = {
        .time_ns = m->time_ns, .start_ns = start_ns, .end_ns = end_ns,
        .content = message_has_payload(m) ? m->payload->hash : m->word, .actor = actor_id(self), .from = m->from,
        .sequence = m->sequence, .kind = m->kind, .order_class = m->order_class
    };

    trace_event(run->trace, &event);
}

static void observe_live(void *data, const struct actor *self, const struct message *m, int64_t start_ns,
                         int64_t end_ns)
{
    struct run *run = data;

    service_times_add(run->times, run->roles.actor_roles[actor_id(self)], m->kind, end_ns - start_ns);
    if (run->every_event)
        observe_handled(data, self, m, start_ns, end_ns);
}

static void observe_tick(void *data, int64_t now_ns)
{
    struct run *run = data;

    if (run->steady != NULL)
        steady_tick(run->steady, run->engine, now_ns, run->milestones);
}

static unsigned observe_poll(void *data)
{
    struct run *run = data;
    const struct options *options = run->options;
    int64_t now_us = g_get_monotonic_time();
    unsigned wishes = 0;

    if (run->error != NULL || signals_stop_wanted() ||
        (options->walltime_s > 0 && (now_us - run->started_us) / 1000000 >= options->walltime_s)) {
        run->stopped = run->error == NULL;
        wishes |= ENGINE_WISH_STOP;
    }
    if (signals_take_flush() || trace_flush_due(run->trace))
        wishes |= ENGINE_WISH_FLUSH;
    if (run->process == 0 && run->progress_us > 0 && now_us >= run->progress_us)
        wishes |= RUN_WISH_PROGRESS;
    return wishes;
}

static void print_progress(struct run *run, int64_t now_ns, uint64_t handled)
{
    int64_t now_us = g_get_monotonic_time();
    double elapsed_s = (double)(now_us - run->reported_us) / 1e6;
    GString *line = g_string_new(NULL);

    g_string_append_printf(line, "t = %.3f s: %" G_GUINT64_FORMAT " events, %.0f/s", (double)now_ns / 1e9, handled,
                           (double)(handled - run->reported) / MAX(elapsed_s, 1e-3));
    if (run->milestone_role >= 0 && run->milestone.total != UINT64_MAX)
        g_string_append_printf(line, ", %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " %s", run->milestones,
                               run->milestone.total, run->milestone.what);
    fprintf(stderr, "%s, after %.0f s\n", line->str, (double)(now_us - run->started_us) / 1e6);
    fflush(stderr);
    g_string_free(line, TRUE);
    run->reported = handled;
    run->reported_us = now_us;
    run->progress_us = now_us + run->options->progress_s * 1000000;
}

static void observe_window(void *data, int64_t now_ns, uint64_t handled_here, unsigned wishes)
{
    struct run *run = data;

    if ((wishes & ENGINE_WISH_FLUSH) != 0 && run->error == NULL)
        trace_flush(run->trace, now_ns, &run->error);
    if ((wishes & RUN_WISH_PROGRESS) != 0) {
        uint64_t handled = handled_here;
        if (run->processes > 1)
            MPI_Reduce(run->process == 0 ? MPI_IN_PLACE : &handled, &handled, 1, MPI_UINT64_T, MPI_SUM, 0, run->comm);
        if (run->process == 0)
            print_progress(run, now_ns, handled);
    }
}

/* --- what all processes do together --- */

static gboolean perform_together(void *data, uint32_t act, struct bytes *result, GError **error)
{
    struct run *run = data;

    return scenario_perform(run->scenario, run->comm, run->folder, act, result, error);
}

static gboolean perform_write(void *data, const void *request, size_t size, uint16_t *kind, uint64_t *word,
                              GError **error)
{
    struct run *run = data;

    return scenario_write(run->scenario, request, size, kind, word, error);
}

/* --- one attempt --- */

static enum trace_level level_of(const struct run *run)
{
    return run->folder == NULL ? TRACE_LEVEL_STATS
                               : (enum trace_level)deck_choice(run->deck, "trace", "level", NULL);
}

static gboolean open_trace(struct run *run, GError **error)
{
    g_autofree char *path = run->folder == NULL ? NULL : g_build_filename(run->folder, RUN_FOLDER_TRACE, NULL);
    g_autofree char *as_read = deck_as_read(run->deck);
    g_autofree char *effective = deck_effective(run->deck);
    struct trace_config config = {
        .path = path,
        .level = level_of(run),
        .compress = deck_boolean(run->deck, "trace", "compress"),
        .bin_ns = deck_integer(run->deck, "trace", "bin"),
        .flush_every_s = (double)deck_integer(run->deck, "trace", "flush-every") / 1e9,
        .version = PACKAGE_VERSION,
        .command_line = run->command_line,
        .deck = as_read,
        .effective = effective,
        .seed = (uint64_t)deck_integer(run->deck, "run", "seed")
    };

    trace_roles_describe(&run->roles, run->scenario, &config);
    run->trace = trace_new(&config, run->gather, error);
    return run->trace != NULL;
}

static gboolean open_engine(struct run *run, GError **error)
{
    const struct deck *deck = run->deck;
    bool stops = deck_has(deck, "run", "stop-after");
    struct engine_config config = {
        .comm = run->comm,
        .clock = deck_is_live(deck) ? ENGINE_LIVE : ENGINE_VIRTUAL,
        .seed = (uint64_t)deck_integer(deck, "run", "seed"),
        .tick_ns = deck_integer(deck, "run", "tick"),
        .stop_after_ns = stops ? deck_integer(deck, "run", "stop-after") : ENGINE_NEVER_NS,
        .move_ns = deck_integer(deck, "costs", "call-move"),
        .explicit_inbox = deck_choice(deck, "run", "inbox", NULL) == 1,
        .spread_always = deck_choice(deck, "run", "spread", NULL) == 1,
        .observer = { .data = run, .count = observe_count, .sample = observe_sample, .record = observe_record,
                      .tick = observe_tick, .window = observe_window, .poll = observe_poll }
    };

    run->every_event = level_of(run) == TRACE_LEVEL_EVENTS;
    if (run->every_event)
        config.observer.handled = observe_handled;
    if (config.clock == ENGINE_LIVE) {
        config.waiting = (enum engine_waiting)deck_choice(deck, "run", "waiting", NULL);
        config.observer.handled = observe_live;
        config.performer = (struct engine_performer){
            run, scenario_performs(run->scenario) ? perform_together : NULL,
            scenario_writes(run->scenario) ? perform_write : NULL, run->awake
        };
        run->times = service_times_new(run->scenario);
    }
    run->engine = engine_new(&config, error);
    if (run->engine == NULL)
        return FALSE;
    scenario_populate(run->scenario, run->engine, (uint32_t)run->processes);
    return engine_start(run->engine, error);
}

/* What the scenario has begun beside the engine. */
static gboolean end_files(struct run *run, bool good, GError **error)
{
    if (!run->begun)
        return TRUE;
    run->begun = false;
    return scenario_end(run->scenario, good, error);
}

static void close_attempt(struct run *run)
{
    /* Only after a failure is there anything left to end; it has been told. */
    end_files(run, false, NULL);
    engine_free(run->engine);
    service_times_free(run->times);
    trace_free(run->trace);
    steady_free(run->steady);
    run->steady = NULL;
    gather_free(run->gather);
    run->engine = NULL;
    run->times = NULL;
    run->trace = NULL;
    run->gather = NULL;
}

static gboolean begin_attempt(struct run *run, GError **error)
{
    run->milestones = 0;
    run->stopped = false;
    run->reported = 0;
    run->reported_us = run->started_us;
    /* The live clock has no ticks. */
    if (run->milestone_role >= 0 && !deck_is_live(run->deck))
        run->steady = steady_new(run->roles.actor_count, run->roles.actor_roles, run->roles.actor_nodes,
                                 run->roles.roles->len);
    run->gather = gather_new(run->comm, error);
    if (run->gather == NULL || !open_trace(run, error))
        return FALSE;
    if (deck_is_live(run->deck) && !scenario_begin(run->scenario, run->comm, run->folder, &run->awake, error))
        return FALSE;
    run->begun = deck_is_live(run->deck);
    return open_engine(run, error);
}

/* --- the end --- */

static gboolean write_text(const char *folder, const char *name, const char *text, GError **error)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autoptr(GError) why = NULL;

    if (g_file_set_contents(path, text, -1, &why))
        return TRUE;
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s cannot be written: %s", path, why->message);
    return FALSE;
}

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

/* Trace and summary of a run that came to its end, or to an early one. */
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
        good = begin_attempt(run, error);
        if (!good) {
            if (run->process == 0 && run->folder != NULL)
                run_folder_remove(run->folder);
            status = error != NULL && *error != NULL ? (*error)->code : TIERCEL_ERROR_RUNTIME;
            break;
        }
        good = engine_run(run->engine, &engine, error) && end_files(run, true, error);
        if (!good || engine.end != ENGINE_RETREAT)
            break;
        MPI_Comm wide = run->comm;
        close_attempt(run);
        if (run->process == 0 && run->folder != NULL)
            run_folder_clear_trace(run->folder);
        take_comm(run, wide, run->processes / 2);
        MPI_Comm_free(&wide);
        if (run->comm == MPI_COMM_NULL)
            return TIERCEL_OK;
    }
    if (good)
        status = finish(run, &engine, (uint32_t)share->processes, error);
    close_attempt(run);
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

/* Everything that can be refused before the engine is built. */
static char *prepare(const struct run *run, GError **error)
{
    const struct options *options = run->options;
    g_autofree char *effective = deck_effective(run->deck);

    if (options->summary != NULL && !check_summary(options->summary, error))
        return NULL;
    char *folder = run_folder_make("runs", deck_name(run->deck), options->output, options->force, error);
    if (folder != NULL && !write_text(folder, RUN_FOLDER_DECK, effective, error)) {
        run_folder_remove(folder);
        g_clear_pointer(&folder, g_free);
    }
    return folder;
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
        if (options->progress_s > 0 && options->verbosity >= 0)
            run.progress_us = run.started_us + FIRST_PROGRESS_US;
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

    g_assert(share->processes == 1);
    if (folder != NULL && (run.folder = prepare(&run, error)) == NULL)
        return FALSE;
    int status = play_described(&run, share, error);
    g_free(run.folder);
    if (status == TIERCEL_OK)
        return TRUE;
    if (status == TIERCEL_ERROR_STOPPED) {
        run_result_release(result);
        g_set_error(error, TIERCEL_ERROR, status, "stopped early by %s", signals_stop_name());
    }
    return FALSE;
}
