/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "scenario.h"
#include "share.h"
#include "trace/estimate.h"
#include "trace_roles.h"

enum { PROCESSES_SHOWN = 16 };

/* What a process takes, in bytes, as measured in runs of the shipped decks (tests/cli/estimates.sh). */
#define PROGRAM_BYTES 25e6              /* the program, its libraries and the trace's buffers */
#define ACTOR_BYTES 200.0               /* the engine's, besides the role's state */
#define STREAM_BYTES 16.0
#define MESSAGE_BYTES 100.0             /* a pending one, with the queue's reserve */
#define METRIC_BYTES 20e3               /* a curve or histogram */

/* run.spread = auto keeps fewer processes below (doc/performance.md). */
#define EVENTS_A_WINDOW 300

/* Three digits: 0.3, 47.2, 142, and a unit. */
static char *size_text(double bytes)
{
    return bytes >= 1e9 ? g_strdup_printf("%.3g GB", bytes / 1e9) : g_strdup_printf("%.3g MB", bytes / 1e6);
}

/* --- figures --- */

static double metric_bytes(const struct trace_roles *roles)
{
    double bytes = 0;

    for (unsigned r = 0; r < roles->roles->len; r++)
        bytes += METRIC_BYTES * g_array_index(roles->roles, struct trace_role, r).metric_count;
    return bytes;
}

/* Bytes of the largest process: those of its actors' share, however they are spread. */
static double process_bytes(const struct scenario *scenario, const struct scenario_estimate *estimate,
                            const struct trace_roles *roles, const uint64_t *actors, uint32_t processes)
{
    uint32_t count = scenario_actors(scenario);
    g_autofree double *bytes = g_new0(double, processes);
    double most = 0;

    if (isnan(estimate->pending) || isnan(estimate->actor_bytes))
        return NAN;

    for (uint32_t id = 0; id < count; id++) {
        struct scenario_place place;
        scenario_place(scenario, id, processes, &place);
        bytes[place.process] += ACTOR_BYTES + (double)place.role->state_size + STREAM_BYTES * place.role->streams;
    }
    for (uint32_t i = 0; i < processes; i++) {
        double share = (double)actors[i] / count;
        most = MAX(most, bytes[i] + share * (estimate->pending * MESSAGE_BYTES + estimate->actor_bytes));
    }
    return PROGRAM_BYTES + metric_bytes(roles) + most;
}

/* What the lines are made of. */
struct survey {
    struct scenario_estimate estimate;
    struct trace_roles roles;
    uint64_t *actors;               /* by process */
    struct check_needs needs;
};

static uint64_t *count_actors(const struct scenario *scenario, uint32_t processes)
{
    uint64_t *actors = g_new0(uint64_t, processes);

    for (uint32_t id = 0; id < scenario_actors(scenario); id++) {
        struct scenario_place place;
        scenario_place(scenario, id, processes, &place);
        actors[place.process]++;
    }
    return actors;
}

static void survey_init(struct survey *s, const struct scenario *scenario, uint32_t processes)
{
    scenario_estimate(scenario, &s->estimate);
    trace_roles_init(&s->roles, scenario);
    s->actors = count_actors(scenario, processes);
    s->needs = (struct check_needs){ s->estimate.events, s->estimate.span_ns,
                                     process_bytes(scenario, &s->estimate, &s->roles, s->actors, processes) };
}

static void survey_release(struct survey *s)
{
    trace_roles_release(&s->roles);
    g_free(s->actors);
}

/* --- the lines --- */

static void print_actors(uint32_t count, const uint64_t *actors, uint32_t processes, FILE *out)
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < processes; i++)
        used += actors[i] != 0;
    fprintf(out, "# %" G_GUINT32_FORMAT " actors on %" G_GUINT32_FORMAT " process%s", count, processes,
            processes == 1 ? "" : "es");
    if (used < processes)
        fprintf(out, ", of which %" G_GUINT32_FORMAT " have none", processes - used);
    for (uint32_t i = 0; i < processes && i < PROCESSES_SHOWN; i++)
        fprintf(out, "%s%" G_GUINT64_FORMAT, i == 0 ? ": " : " ", actors[i]);
    fprintf(out, "%s\n", processes > PROCESSES_SHOWN ? " ..." : "");
}

/* What one process plays, as "broker 2, kvs-worker 1". */
static char *played_by(const struct scenario *scenario, uint32_t process, uint32_t processes)
{
    GString *text = g_string_new(NULL);
    g_autofree uint64_t *counts = NULL;
    const struct role *const *roles = scenario_roles(scenario);
    unsigned count = 0;

    while (roles[count] != NULL)
        count++;
    counts = g_new0(uint64_t, count);
    for (uint32_t id = 0; id < scenario_actors(scenario); id++) {
        struct scenario_place place;
        unsigned r = 0;
        scenario_place(scenario, id, processes, &place);
        while (roles[r] != place.role)
            r++;
        counts[r] += place.process == process;
    }
    for (unsigned r = 0; r < count; r++)
        if (counts[r] != 0)
            g_string_append_printf(text, "%s%s %" G_GUINT64_FORMAT, text->len == 0 ? "" : ", ", roles[r]->name,
                                   counts[r]);
    if (text->len == 0)
        g_string_append(text, "nothing");
    return g_string_free(text, FALSE);
}

static void print_live_plan(const struct scenario *scenario, uint32_t processes, FILE *out)
{
    const char *why;
    uint32_t needed = scenario_live_processes(scenario, &why);

    if (needed == 0) {
        fprintf(out, "# the live clock cannot play it: %s\n", why);
        return;
    }
    fprintf(out, "# the live clock needs at least %" G_GUINT32_FORMAT " process%s, %s\n", needed,
            needed == 1 ? "" : "es", why);
    if (processes < needed) {
        fprintf(out, "# %" G_GUINT32_FORMAT " %s not enough\n", processes, processes == 1 ? "is" : "are");
        return;
    }
    for (uint32_t i = 0; i < processes && i < PROCESSES_SHOWN; i++) {
        g_autofree char *played = played_by(scenario, i, processes);
        fprintf(out, "# process %" G_GUINT32_FORMAT " plays: %s\n", i, played);
    }
    if (processes > PROCESSES_SHOWN)
        fprintf(out, "# ... and so on\n");
}

static void print_rows(const struct scenario *scenario, FILE *out)
{
    unsigned tables;
    const struct table *table = scenario_tables(scenario, &tables);
    uint64_t rows = scenario_rows(scenario);

    for (unsigned i = 0; i < tables; i++) {
        if (rows == UINT64_MAX)
            fprintf(out, "# a row of %zu bytes in table %s for each of its jobs\n", table_row_size(&table[i]),
                    table[i].name);
        else
            fprintf(out, "# %" G_GUINT64_FORMAT " rows of %zu bytes in table %s\n", rows, table_row_size(&table[i]),
                    table[i].name);
    }
}

static void print_trace(const struct deck *deck, const struct scenario *scenario, const struct trace_roles *roles,
                        double events, FILE *out)
{
    static const char *const names[] = { "stats", "jobs", "events" };
    uint64_t rows = scenario_rows(scenario);
    struct trace_config config = { .compress = deck_boolean(deck, "trace", "compress") };
    unsigned stated = deck_choice(deck, "trace", "level", NULL);

    trace_roles_describe(roles, scenario, &config);
    fputs("# trace:", out);
    for (unsigned level = TRACE_LEVEL_STATS; level <= TRACE_LEVEL_EVENTS; level++) {
        config.level = (enum trace_level)level;
        bool known = (level < TRACE_LEVEL_JOBS || config.table_count == 0 || rows != UINT64_MAX) &&
                     (level < TRACE_LEVEL_EVENTS || !isnan(events));
        g_autofree char *size =
            known ? size_text((double)trace_estimate_bytes(&config, rows == UINT64_MAX ? 0 : rows,
                                                           isnan(events) ? 0 : (uint64_t)events))
                  : g_strdup("not known");
        fprintf(out, "%s %s at level %s%s", level == TRACE_LEVEL_STATS ? "" : ",", size, names[level],
                level == stated ? " (this deck's)" : "");
    }
    fputc('\n', out);
}

/* Whether the processes would have enough to do between two talks. */
static void print_windows(const struct deck *deck, const struct scenario_estimate *estimate, uint32_t processes,
                          FILE *out)
{
    bool always = deck_choice(deck, "run", "spread", NULL) == 1;

    if (processes == 1)
        return;
    if (estimate->latency_ns == 0 || isnan(estimate->span_ns) || isnan(estimate->events)) {
        fprintf(out, "# work in a window: not known%s\n",
                always ? "" : "; with run.spread = auto it is seen after 2000 windows");
        return;
    }
    double windows = MAX(estimate->span_ns / (double)estimate->latency_ns, 1);
    double each = estimate->events / windows / processes;
    fprintf(out, "# work in a window of %" G_GINT64_FORMAT " ns: about %.3g events a process, where %d are needed to "
            "gain from another process", estimate->latency_ns, each, EVENTS_A_WINDOW);
    if (each < EVENTS_A_WINDOW && !always)
        fputs("; run.spread = auto goes on with fewer", out);
    fputs(each < EVENTS_A_WINDOW && always ? "; run.spread = always keeps them all the same\n" : "\n", out);
}

void check_estimate(const struct scenario *scenario, uint32_t processes, struct check_needs *needs)
{
    struct survey survey;

    survey_init(&survey, scenario, processes);
    *needs = survey.needs;
    survey_release(&survey);
}

static void print_needs(const struct check_needs *needs, FILE *out)
{
    fputs("\n# What a run needs, about:\n", out);
    if (isnan(needs->events))
        fputs("# events: not known beforehand\n", out);
    else
        fprintf(out, "# events: %.0f\n", needs->events);
    if (!isnan(needs->span_ns))
        fprintf(out, "# virtual time: %.4g s\n", needs->span_ns / 1e9);
    if (isnan(needs->bytes)) {
        fputs("# memory: not known beforehand\n", out);
    } else {
        g_autofree char *size = size_text(needs->bytes);
        fprintf(out, "# memory: %s in the largest process\n", size);
    }
}

static void print_survey(const struct deck *deck, const struct scenario *scenario, uint32_t processes, FILE *out)
{
    struct survey survey;

    survey_init(&survey, scenario, processes);
    print_needs(&survey.needs, out);
    print_trace(deck, scenario, &survey.roles, survey.needs.events, out);
    print_rows(scenario, out);
    print_actors(scenario_actors(scenario), survey.actors, processes, out);
    if (deck_is_live(deck))
        print_live_plan(scenario, processes, out);
    else
        print_windows(deck, &survey.estimate, processes, out);
    survey_release(&survey);
}

int check_deck(const struct deck *deck, const struct scenario *scenario, uint32_t processes, const struct share *share)
{
    g_autofree char *effective = deck_effective(deck);

    if (share->process != 0)
        return TIERCEL_OK;
    fputs(effective, stdout);
    if (deck_sweep_points(deck) > 0)
        printf("\n# %u points in [sweep] (`tiercel sweep --dry-run` lists them); what follows is without it\n",
               deck_sweep_points(deck));
    print_survey(deck, scenario, processes, stdout);
    scenario_describe(scenario, stdout);
    return TIERCEL_OK;
}
