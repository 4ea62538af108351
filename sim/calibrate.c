/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "calibrate.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "calibrate_labels.h"
#include "calibrate_links.h"
#include "options.h"
#include "profile_file.h"
#include "scenario.h"
#include "share.h"

/* What is known when all has been played. */
struct measured {
    struct labels *labels;
    struct link_figures within, between;
    struct engine_result result;
    int64_t blocked_ns;             /* of all roles, in calls */
    int64_t measuring_ns;           /* of each span: looking at the clock, and adding it up */
    double wall_s;
};

/* --- the deck, with labels for costs --- */

static const char *const live_settings[] = { "run.clock=live", "costs.waiting=any", NULL };

static struct deck *load(const struct options *options, struct share *share, const char *const *more)
{
    GArray *settings = g_array_new(FALSE, FALSE, sizeof(struct deck_setting));

    g_array_append_vals(settings, options->settings->data, options->settings->len);
    for (; *more != NULL; more++) {
        struct deck_setting setting = { (char *)"calibrate", (char *)*more };
        g_array_append_val(settings, setting);
    }
    struct deck_request request = options_deck_request(options, (struct deck_reader){ share_read, share });
    request.settings = (const struct deck_setting *)settings->data;
    request.setting_count = settings->len;
    struct deck *deck = deck_load(&request);
    g_array_free(settings, TRUE);
    return deck;
}

static bool is_good(struct deck *deck, const struct share *share)
{
    if (share->process == 0)
        deck_print_problems(deck, "nothing was measured", stderr);
    return deck_problem_count(deck) == 0;
}

/* --- playing --- */

static void take_span(void *data, int64_t label_ns, int64_t took_ns)
{
    const struct measured *m = data;

    labels_add(m->labels, label_ns, MAX(took_ns - m->measuring_ns, 0));
}

/* What take_span and its look at the clock add to a run that is not measured. */
static int64_t time_measuring(void)
{
    enum { TIMES = 200000 };
    struct measured scratch = { .labels = labels_new() };
    struct timespec now;
    int64_t began_us = g_get_monotonic_time();

    for (int i = 0; i < TIMES; i++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        take_span(&scratch, i, now.tv_nsec % 1000);
    }
    int64_t took_ns = (g_get_monotonic_time() - began_us) * 1000 / TIMES;
    labels_free(scratch.labels);
    return took_ns;
}

static gboolean play(const struct deck *deck, const struct scenario *scenario, struct share *share, struct measured *m,
                     GError **error)
{
    const struct engine_config config = {
        .comm = share->comm, .clock = ENGINE_LIVE, .seed = (uint64_t)deck_integer(deck, "run", "seed"),
        .tick_ns = deck_integer(deck, "run", "tick"),
        .stop_after_ns = deck_has(deck, "run", "stop-after") ? deck_integer(deck, "run", "stop-after")
                                                             : ENGINE_NEVER_NS,
        .waiting = (enum engine_waiting)deck_choice(deck, "run", "waiting", NULL),
        .observer = { .data = m, .charged = take_span }
    };
    m->measuring_ns = time_measuring();
    struct engine *e = engine_new(&config, error);
    if (e == NULL)
        return FALSE;
    scenario_populate(scenario, e, (uint32_t)share->processes);
    gboolean good = engine_start(e, error) && engine_run(e, &m->result, error);
    if (good) {
        const struct role **roles;
        unsigned count;
        struct engine_role_totals *totals = engine_role_totals(e, &roles, &count);
        for (unsigned i = 0; i < count; i++)
            m->blocked_ns += totals[i].blocked_ns;
        g_free(totals);
        g_free(roles);
        labels_gather(m->labels, share->comm);
    }
    engine_free(e);
    return good;
}

/* --- what comes of it --- */

static void describe_machine(GString *text)
{
    struct utsname name;
    g_autofree char *cpus = NULL;
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *date = g_date_time_format(now, "%Y-%m-%d %H:%M UTC");
    const char *model = "unknown processor";

    if (g_file_get_contents("/proc/cpuinfo", &cpus, NULL, NULL)) {
        char *at = strstr(cpus, "model name");
        if (at != NULL && (at = strchr(at, ':')) != NULL) {
            at[strcspn(at, "\n")] = '\0';
            model = at + 2;
        }
    }
    uname(&name);
    g_string_append_printf(text, "# Measured on %s by tiercel %s, on %s %s, %ld cores, %s.\n", date, PACKAGE_VERSION,
                           name.sysname, name.release, sysconf(_SC_NPROCESSORS_ONLN), model);
}

static void describe_link(GString *text, const char *what, const struct link_figures *f)
{
    g_string_append_printf(text, "# %s: %u round trips, half of the median less %" G_GINT64_FORMAT " ns of handling, "
                           "%" G_GINT64_FORMAT " ns between the quartiles\n", what, f->samples, f->handling_ns,
                           f->spread_ns);
}

static char *profile_text(const struct deck *deck, const struct share *share, const struct measured *m)
{
    GString *text = g_string_new("# What tiercel's own handlings take on the live clock.\n#\n");
    const char *waiting = m->result.waiting == ENGINE_WAIT_SPIN ? "spin" : "yield";
    bool brokered = strcmp(deck_text(deck, "system", "kind"), "brokered") == 0;
    uint64_t calls = labels_count(m->labels, "broker-subscribe");

    describe_machine(text);
    g_string_append_printf(text, "# %s on %d processes that waited by: %s. %.3f s; %" G_GUINT64_FORMAT " spans above 1 "
                           "ms left out.\n# A deck that predicts live runs with it says run.waiting = %s, and cpus = 1 "
                           "for each process.\n", deck_path(deck), share->processes, waiting, m->wall_s,
                           labels_interrupted(m->labels), waiting);
    if (brokered && calls > 0)
        g_string_append_printf(text, "# A subscribe call took %.1f us from call to return, on average; an event %.1f "
                               "us at a broker; a transaction %.1f us to apply.\n",
                               (double)m->blocked_ns / (double)calls / 1000,
                               labels_mean_ns(m->labels, "broker-event") / 1000,
                               labels_mean_ns(m->labels, "kvs-apply") / 1000);
    g_string_append_printf(text, "\n[deck]\nformat = 1\ntitle = tiercel on the live clock, waiting by %s\n\n"
                           "[network]\n", waiting);
    describe_link(text, "within a process", &m->within);
    g_string_append_printf(text, "local-latency = %" G_GINT64_FORMAT "ns\n", m->within.latency_ns);
    describe_link(text, "between processes", &m->between);
    g_string_append_printf(text, "hop-latency = %" G_GINT64_FORMAT "ns\n", m->between.latency_ns);
    if (brokered)
        g_string_append_printf(text, "bandwidth = %" G_GUINT64_FORMAT "B/s\nheader = 0B\n",
                               m->between.bytes_per_s != 0 ? m->between.bytes_per_s : UINT64_C(100000000000));
    g_string_append_printf(text, "\n[costs]\nwaiting = %s\ncall-move = 0s\n", waiting);
    labels_write(m->labels, deck, text);
    return g_string_free(text, FALSE);
}

static gboolean deliver(const struct options *options, const char *text, GError **error)
{
    if (options->profile != NULL)
        return profile_file_write(options->profile, text, error);
    fputs(text, stdout);
    return TRUE;
}

static gboolean check_request(const struct share *share, const struct scenario *scenario, GError **error)
{
    if (share->processes >= 2 || scenario_calibrates(scenario))
        return TRUE;
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "calibrate: this is one process; expected at least 2, "
                "between which messages can be timed: mpirun -n 2 tiercel calibrate ...");
    return FALSE;
}

/* --- the command --- */

/* A kind of system that has its own way. */
static gboolean measure_scenario(const struct options *options, struct share *share, const struct scenario *scenario,
                                 GError **error)
{
    GString *text = g_string_new("# What writing files takes here.\n#\n");
    GError *local = NULL;

    describe_machine(text);
    gboolean good = scenario_calibrate(scenario, share->comm, text, &local);
    if (good && share->process == 0)
        deliver(options, text->str, &local);
    g_string_free(text, TRUE);
    return share_agree(share, local, error);
}

static gboolean measure(const struct options *options, struct share *share, const struct deck *deck,
                        const struct deck *labelled, const struct scenario *scenario, struct measured *m,
                        GError **error)
{
    int64_t began_us = g_get_monotonic_time();
    GError *local = NULL;

    if (!play(labelled, scenario, share, m, error) ||
        !link_measure(share->comm, 0, m->result.waiting, &m->within, error) ||
        !link_measure(share->comm, (uint32_t)share->processes - 1, m->result.waiting, &m->between, error))
        return FALSE;
    m->wall_s = (double)(g_get_monotonic_time() - began_us) / 1e6;
    if (share->process == 0) {
        g_autofree char *text = profile_text(deck, share, m);
        deliver(options, text, &local);
    }
    return share_agree(share, local, error);
}

/* Plays the deck once more, with labels for its costs. */
static int measure_labelled(const struct options *options, struct share *share, const struct deck *deck, GError **error)
{
    struct measured m = { .labels = labels_new() };
    int status = TIERCEL_ERROR_INPUT;
    g_auto(GStrv) labels = labels_settings(m.labels, deck);
    g_autoptr(GPtrArray) settings = g_ptr_array_new();

    for (char **label = labels; *label != NULL; label++)
        g_ptr_array_add(settings, *label);
    for (const char *const *live = live_settings; *live != NULL; live++)
        g_ptr_array_add(settings, (gpointer)*live);
    g_ptr_array_add(settings, NULL);
    struct deck *labelled = load(options, share, (const char *const *)settings->pdata);
    struct scenario *scenario = scenario_new(labelled, share);
    if (is_good(labelled, share))
        status = measure(options, share, deck, labelled, scenario, &m, error) ? TIERCEL_OK : (*error)->code;
    scenario_free(scenario);
    deck_free(labelled);
    labels_free(m.labels);
    return status;
}

/* The deck is without problems. */
static int calibrate(const struct options *options, struct share *share, const struct deck *deck,
                     const struct scenario *scenario, GError **error)
{
    GError *local = NULL;

    check_request(share, scenario, &local);
    if (!share_agree(share, local, error))
        return TIERCEL_ERROR_INPUT;
    if (!scenario_calibrates(scenario))
        return measure_labelled(options, share, deck, error);
    return measure_scenario(options, share, scenario, error) ? TIERCEL_OK : (*error)->code;
}

static int calibrate_live(const struct options *options, struct share *share, GError **error)
{
    struct deck *deck = load(options, share, live_settings);
    int status = TIERCEL_ERROR_INPUT;

    deck_refuse_sweep(deck);
    struct scenario *scenario = scenario_new(deck, share);
    if (deck_problem_count(deck) == 0)
        scenario_check_live(scenario, deck, (uint32_t)share->processes);
    if (deck_problem_count(deck) == 0 && deck_has(deck, "workload", "io"))
        deck_complain(deck, "workload", "io", "is not calibrated with the jobs that write; expected none here, and a "
                      "deck of kind io for the file");
    if (is_good(deck, share))
        status = calibrate(options, share, deck, scenario, error);
    scenario_free(scenario);
    deck_free(deck);
    return status;
}

int calibrate_deck(const struct options *options, struct share *share)
{
    GError *local = NULL;
    g_autoptr(GError) error = NULL;
    int status = TIERCEL_ERROR_INPUT;

    /* Only process 0 writes the profile, and others may see other folders. */
    if (share->process == 0)
        profile_file_check(options, &local);
    if (share_agree(share, local, &error))
        status = calibrate_live(options, share, &error);
    if (error != NULL && share->process == 0)
        fprintf(stderr, "tiercel: %s\n", error->message);
    return status;
}
