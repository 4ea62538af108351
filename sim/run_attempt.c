/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "run_internal.h"

#include <stdio.h>

#include "run_folder.h"
#include "signals.h"

/* Beside those of enum engine_wish: process 0 wants to print a line. */
enum { RUN_WISH_PROGRESS = 1 << 8 };

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
    if (run->process == 0 && progress_due(&run->progress))
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

/* --- the attempt --- */

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

gboolean run_attempt_end_files(struct run *run, bool good, GError **error)
{
    if (!run->begun)
        return TRUE;
    run->begun = false;
    return scenario_end(run->scenario, good, error);
}

void run_attempt_close(struct run *run)
{
    /* Only after a failure is there anything left to end; it has been told. */
    run_attempt_end_files(run, false, NULL);
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

gboolean run_attempt_begin(struct run *run, GError **error)
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
    if (run->gather == NULL)
        return FALSE;
    if (!open_trace(run, error)) {
        run->unwritten = true;
        return FALSE;
    }
    if (deck_is_live(run->deck) && !scenario_begin(run->scenario, run->comm, run->folder, &run->awake, error))
        return FALSE;
    run->begun = deck_is_live(run->deck);
    return open_engine(run, error);
}
