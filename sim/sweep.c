/* SPDX-License-Identifier: BSD-3-Clause */
#include "sweep.h"

#include <stdio.h>

#include "run.h"
#include "signals.h"
#include "sweep_folder.h"
#include "sweep_list.h"
#include "sweep_order.h"
#include "sweep_plan.h"
#include "sweep_states.h"
#include "sweep_table.h"
#include "trace/hdf5_file.h"

enum { FAILURES_SHOWN = 20 };

struct sweep {
    struct sweep_plan plan;
    const struct options *options;
    const char *command_line;
    struct share *share;
    struct sweep_folder folder;
    unsigned from;                  /* the points that this command is about */
    unsigned to;
    unsigned *order;                /* of them */
    struct progress progress;
    int64_t busy_us;
    unsigned played;                /* here, now */
    struct sweep_states states;     /* of all points at the end; process 0 */
    bool stopped;                   /* by a signal */
    GHashTable *aside;              /* point + 1: what could not be written; NULL: none */
    GError *unwritten;              /* the first of them */
    bool some_unwritten;            /* on any process */
};

/* --- one point --- */

/* One line of it. */
static char *reason_of(const GError *error)
{
    g_auto(GStrv) lines = g_strsplit(error->message, "\n", 0);

    return g_strjoinv("; ", lines);
}

/* What was played could not be written down, which is no fault of the point: it stays open, and the others go on;
 * unless nothing at all can be written. */
static gboolean set_aside(struct sweep *sweep, unsigned point, const GError *why, GError **error)
{
    bool room = sweep_folder_has_room(&sweep->folder);
    GError **place = room && !hdf5_is_stuck() ? &sweep->unwritten : error;

    if (sweep->aside == NULL)
        sweep->aside = g_hash_table_new(NULL, NULL);
    g_hash_table_add(sweep->aside, GUINT_TO_POINTER(point + 1));
    if (*place == NULL)
        g_set_error(place, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "point %u: %s; expected room for what it leaves: "
                    "it is still open, and the same command goes on", point + 1, why->message);
    return place != error;
}

static bool is_aside(const struct sweep *sweep, unsigned point)
{
    return sweep->aside != NULL && g_hash_table_contains(sweep->aside, GUINT_TO_POINTER(point + 1));
}

static gboolean play(struct sweep *sweep, struct sweep_claim *claim, GError **error)
{
    struct trial_request request;
    g_autoptr(GArray) settings = sweep_plan_request(&sweep->plan, claim->point, &request);
    g_autoptr(GError) why = NULL;
    gboolean good;

    request.folder = claim->part;
    request.command_line = sweep->command_line;
    signals_forget(claim->fd, claim->before);
    struct summary *summary = trial_run(&request, &why);
    signals_forget(-1, 0);
    if (summary != NULL) {
        good = sweep_claim_finish(&sweep->folder, claim, error);
        sweep->played++;
    } else if (why->code == TIERCEL_ERROR_STOPPED) {
        sweep_claim_release(claim);
        sweep->stopped = true;
        good = TRUE;
    } else if (why->code == RUN_UNWRITTEN) {
        unsigned point = claim->point;
        sweep_claim_release(claim);
        good = set_aside(sweep, point, why, error);
    } else {
        g_autofree char *reason = reason_of(why);
        good = sweep_claim_fail(&sweep->folder, claim, reason, error);
        sweep->played++;
    }
    summary_free(summary);
    return good;
}

/* --- all points --- */

static void tell(struct sweep *sweep)
{
    struct sweep_states states;

    if (sweep->share->process != 0 || sweep->options->verbosity < 0 || !progress_due(&sweep->progress))
        return;
    sweep_states_init(&states, &sweep->folder, deck_sweep_points(sweep->plan.deck));
    fprintf(stderr, "tiercel: sweep: %u of %u points settled, after %.0f s\n", states.done + states.failed,
            states.points, progress_elapsed_s(&sweep->progress));
    sweep_states_release(&states);
    fflush(stderr);
}

/* Plays the point unless somebody else has it, or had it. */
static gboolean take(struct sweep *sweep, unsigned point, bool retry, GError **error)
{
    struct sweep_claim claim;
    enum sweep_outcome outcome = sweep_folder_claim(&sweep->folder, point, retry, &claim, error);

    if (outcome != SWEEP_CLAIMED)
        return outcome != SWEEP_ERROR;
    int64_t before_us = g_get_monotonic_time();
    gboolean good = play(sweep, &claim, error);
    sweep->busy_us += g_get_monotonic_time() - before_us;
    return good;
}

/* Of what was settled before, only the claim of a process that died is left to be removed. */
static bool is_over(const struct sweep_states *states, unsigned point, bool retry)
{
    return states->state != NULL && states->state[point] != SWEEP_OPEN && !(retry && states->claimed[point]);
}

static gboolean play_round(struct sweep *sweep, bool retry, GError **error)
{
    struct sweep_states states = { .points = 0 };
    gboolean good = TRUE;

    /* A task of a job array has one point, and does not ask about the others. */
    if (sweep->to - sweep->from > 1)
        sweep_states_init(&states, &sweep->folder, deck_sweep_points(sweep->plan.deck));
    for (unsigned i = 0; good && i < sweep->to - sweep->from; i++) {
        unsigned point = sweep->order[i];
        tell(sweep);
        sweep->stopped = sweep->stopped || signals_stop_wanted();
        if (sweep->stopped)
            break;
        if (!is_aside(sweep, point) && !is_over(&states, point, retry))
            good = take(sweep, point, retry, error);
    }
    sweep_states_release(&states);
    return good;
}

/* First those that nobody has begun, then those whose process died: one that kills its process does not keep the
 * others from being played. */
static gboolean play_all(struct sweep *sweep, GError **error)
{
    return play_round(sweep, false, error) && play_round(sweep, true, error);
}

/* --- the end --- */

static void print_failures(const struct sweep *sweep)
{
    unsigned shown = 0;

    for (unsigned point = sweep->from; point < sweep->to && shown < FAILURES_SHOWN; point++) {
        if (sweep->states.state[point] != SWEEP_FAILED)
            continue;
        g_autofree char *text = sweep_plan_point_text(&sweep->plan, point);
        g_autofree char *reason = sweep_folder_reason(&sweep->folder, point);
        fprintf(stderr, "tiercel: point %u (%s) failed: %s\n", point + 1, text, reason);
        shown++;
    }
    if (sweep->states.failed > shown && shown == FAILURES_SHOWN)
        fprintf(stderr, "tiercel: ... and %u more, in %s/" SWEEP_FOLDER_TSV "\n", sweep->states.failed - shown,
                sweep->folder.path);
}

/* Process 0; what its points come to. */
static void conclude(const struct sweep *sweep, unsigned played, double busy, double elapsed_s)
{
    const struct sweep_states *states = &sweep->states;

    print_failures(sweep);
    if (sweep->options->verbosity >= 0) {
        printf("%u points: %u done, %u failed, %u open\n", states->points, states->done, states->failed, states->open);
        if (played > 0)
            printf("%u played here in %.1f s by %d process%s, %.1f %% busy\n", played, elapsed_s,
                   sweep->share->processes, sweep->share->processes == 1 ? "" : "es", busy * 100);
        fflush(stdout);
    }
    if (sweep->stopped)
        fprintf(stderr, "tiercel: stopped early by %s; the same command goes on\n",
                signals_stop_name() != NULL ? signals_stop_name() : "a signal to another process");
    else if (states->open > 0 && !sweep->some_unwritten && sweep->to - sweep->from == states->points)
        fprintf(stderr, "tiercel: others are at work on the points that are open; the same command goes on with what "
                "they leave\n");
}

/* Of the points that this command is about. */
static int status_of(const struct sweep *sweep)
{
    unsigned failed = 0;
    unsigned open = 0;

    for (unsigned point = sweep->from; point < sweep->to; point++) {
        failed += sweep->states.state[point] == SWEEP_FAILED;
        open += sweep->states.state[point] == SWEEP_OPEN;
    }
    return failed > 0 ? TIERCEL_ERROR_RUNTIME : open > 0 ? TIERCEL_ERROR_STOPPED : TIERCEL_OK;
}

/* A task of a job array leaves the table to the last one, so that thousands do not write it again and again. */
static gboolean write_table(struct sweep *sweep, GError **error)
{
    if (sweep->options->point != 0) {
        sweep_states_init(&sweep->states, &sweep->folder, deck_sweep_points(sweep->plan.deck));
        if (sweep->states.open > 0)
            return TRUE;
        sweep_states_release(&sweep->states);
    }
    if (!sweep_table_write(&sweep->folder, sweep->plan.deck, &sweep->states, error))
        return FALSE;
    if (sweep->options->verbosity >= 0)
        fprintf(stderr, "tiercel: results are in %s/" SWEEP_FOLDER_TSV " and " SWEEP_FOLDER_HDF5 "\n",
                sweep->folder.path);
    return TRUE;
}

static int finish(struct sweep *sweep, GError *local, GError **error)
{
    double figures[3] = { (double)sweep->busy_us / 1e6, sweep->played, sweep->unwritten != NULL };
    int stopped = sweep->stopped;
    int status = TIERCEL_OK;
    double elapsed_s;

    share_wait(sweep->share);
    elapsed_s = progress_elapsed_s(&sweep->progress);
    MPI_Allreduce(MPI_IN_PLACE, figures, 3, MPI_DOUBLE, MPI_SUM, sweep->share->comm);
    MPI_Allreduce(MPI_IN_PLACE, &stopped, 1, MPI_INT, MPI_MAX, sweep->share->comm);
    sweep->stopped = stopped != 0;
    sweep->some_unwritten = figures[2] > 0;
    if (!share_agree(sweep->share, local, error))
        return (*error)->code;
    if (sweep->share->process == 0 && write_table(sweep, &local)) {
        conclude(sweep, (unsigned)figures[1], figures[0] / elapsed_s / sweep->share->processes, elapsed_s);
        status = status_of(sweep);
    }
    if (!share_agree(sweep->share, local, error) ||
        !share_agree(sweep->share, g_steal_pointer(&sweep->unwritten), error))
        return (*error)->code;
    MPI_Bcast(&status, 1, MPI_INT, 0, sweep->share->comm);
    return status;
}

/* --- the command --- */

static void open_again(const struct sweep *sweep)
{
    struct sweep_states states;

    sweep_states_init(&states, &sweep->folder, deck_sweep_points(sweep->plan.deck));
    for (unsigned point = sweep->from; point < sweep->to; point++)
        if (states.state[point] == SWEEP_FAILED)
            sweep_folder_retry(&sweep->folder, point);
    sweep_states_release(&states);
}

/* Process 0 first, so that the others find the folder made. */
static gboolean open_folder(struct sweep *sweep, const char *path, GError **error)
{
    const struct options *options = sweep->options;
    g_autofree char *identity = sweep->share->process == 0 ? sweep_plan_identity(&sweep->plan) : NULL;
    g_autofree char *mine = g_strdup_printf("%08x%08x", g_random_int(), g_random_int());
    g_autofree char *session = share_text(sweep->share, mine);
    GError *local = NULL;

    if (sweep->share->process == 0 && sweep_folder_open(&sweep->folder, path, identity, options->force, &local)) {
        if (options->point == 0)
            sweep_folder_forgive(&sweep->folder);
        if (options->retry)
            open_again(sweep);
    }
    if (!share_agree(sweep->share, local, error))
        return FALSE;
    local = NULL;
    if (sweep->share->process != 0)
        sweep_folder_join(&sweep->folder, path, &local);
    sweep_folder_introduce(&sweep->folder, session, (unsigned)sweep->share->processes);
    return share_agree(sweep->share, local, error);
}

static int run(struct sweep *sweep, const char *path, GError **error)
{
    int status = TIERCEL_ERROR_RUNTIME;
    GError *local = NULL;

    sweep->folder = (struct sweep_folder){ .lock = -1 };
    if (open_folder(sweep, path, error)) {
        if (sweep->options->verbosity >= 0 && sweep->share->process == 0)
            fprintf(stderr, "tiercel: %s: %u points in %s on %d process%s\n", deck_path(sweep->plan.deck),
                    deck_sweep_points(sweep->plan.deck), sweep->folder.path, sweep->share->processes,
                    sweep->share->processes == 1 ? "" : "es");
        signals_watch();
        sweep->order = sweep_order_new(&sweep->plan, &sweep->folder, sweep->from, sweep->to, sweep->share);
        progress_begin(&sweep->progress, sweep->options->progress_s);
        play_all(sweep, &local);
        status = finish(sweep, local, error);
        signals_unwatch();
    } else {
        status = (*error)->code;
    }
    g_clear_pointer(&sweep->aside, g_hash_table_destroy);
    g_clear_error(&sweep->unwritten);
    g_free(sweep->order);
    sweep_states_release(&sweep->states);
    sweep_folder_release(&sweep->folder);
    return status;
}

/* Options of which one would make the other void, or worse; NULL: none. */
static const char *clash_of(const struct options *options)
{
    if (options->point > 0 && options->force)
        return "--force removes all points, and --point plays one";
    if (options->array && (options->dry_run || options->point > 0 || options->retry || options->force))
        return "--array only prints a script for all points, and takes no --dry-run, --point, --retry or --force";
    return NULL;
}

int sweep_deck(const struct options *options, const char *command_line, struct share *share)
{
    struct sweep sweep = { .options = options, .command_line = command_line, .share = share };
    g_autoptr(GError) error = NULL;
    int status;

    if (clash_of(options) != NULL) {
        if (share->process == 0)
            fprintf(stderr, "tiercel: sweep: %s; expected one of them\n", clash_of(options));
        return TIERCEL_ERROR_INPUT;
    }
    if (!sweep_plan_init(&sweep.plan, options, share, &status))
        return status;
    if (deck_is_live(sweep.plan.deck)) {
        if (share->process == 0)
            fprintf(stderr, "tiercel: %s: 'live' plays one point by all processes together (`tiercel run --point N`), "
                    "and a sweep each point by one; expected [run] clock = virtual\n", deck_path(sweep.plan.deck));
        sweep_plan_release(&sweep.plan);
        return TIERCEL_ERROR_INPUT;
    }
    sweep.from = options->point > 0 ? (unsigned)options->point - 1 : 0;
    sweep.to = options->point > 0 ? (unsigned)options->point : deck_sweep_points(sweep.plan.deck);
    g_autofree char *name = g_strdup_printf("runs/%s-sweep", deck_name(sweep.plan.deck));
    const char *path = options->output != NULL ? options->output : name;
    status = TIERCEL_OK;
    if (options->dry_run)
        status = sweep_list_points(&sweep.plan, sweep.from, sweep.to, share, &error);
    else if (options->array && share->process == 0)
        sweep_list_array(&sweep.plan, path, stdout);
    else if (!options->array)
        status = run(&sweep, path, &error);
    if (error != NULL && share->process == 0)
        fprintf(stderr, "tiercel: %s\n", error->message);
    sweep_plan_release(&sweep.plan);
    return status;
}
