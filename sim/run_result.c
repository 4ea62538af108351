/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "run_result.h"

#include <math.h>
#include <string.h>

#define SECOND_NS 1e9

/* --- the summary --- */

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static void summarise_run(struct run_result *result, const struct deck *deck, const struct scenario *scenario,
                          const struct run_facts *facts)
{
    const struct engine_result *engine = facts->engine;
    struct summary *s = result->summary;

    summary_flag(s, "run", "completed", !facts->stopped);
    summary_text(s, "run", "digest", result->digest);
    summary_text(s, "run", "clock", deck_text(deck, "run", "clock"));
    summary_count(s, "run", "processes", facts->processes);
    summary_count(s, "run", "active_processes", engine->active_processes);
    summary_text(s, "run", "spread", deck_text(deck, "run", "spread"));
    summary_count(s, "run", "windows", engine->windows);
    summary_number(s, "run", "events_per_window", ratio((double)engine->handled, (double)engine->windows));
    summary_count(s, "run", "remote_messages", engine->remote_messages);
    summary_number(s, "run", "wall_s", facts->wall_s);
    summary_number(s, "run", "sim_end_s", (double)engine->end_ns / SECOND_NS);
    summary_count(s, "run", "events", engine->handled);
    summary_number(s, "run", "events_per_s", ratio((double)engine->handled, facts->wall_s));
    summary_count(s, "run", "peak_rss_bytes", facts->peak_rss_bytes);
    summary_number(s, "run", "bytes_per_actor",
                   ratio((double)facts->engine_bytes, (double)scenario_actors(scenario)));
    summary_count(s, "run", "actors", scenario_actors(scenario));
    summary_count(s, "run", "seed", (uint64_t)deck_integer(deck, "run", "seed"));
    summary_text(s, "run", "version", PACKAGE_VERSION);
}

static void summarise_live(struct run_result *result, const struct run_facts *facts)
{
    result->times = facts->times;
    if (facts->times == NULL)
        return;
    summary_text(result->summary, "live", "waiting", facts->engine->waiting == ENGINE_WAIT_SPIN ? "spin" : "yield");
    summary_count(result->summary, "live", "machines", facts->machines);
    /* Until a scenario that writes files says otherwise. */
    summary_text(result->summary, "live", "io", "none");
    summary_text(result->summary, "live", "windows", "none");
    summary_text(result->summary, "live", "onesided", "none");
    service_times_summarise(facts->times, result->summary);
}

static void summarise_roles(struct run_result *result, const struct run_facts *facts)
{
    result->role_count = facts->role_count;
    result->roles = g_new0(struct trace_role_figures, facts->role_count);
    for (unsigned i = 0; i < facts->role_count; i++) {
        const struct engine_role_totals *totals = &facts->totals[i];
        double span_ns = (double)facts->engine->end_ns * (double)totals->actors;
        struct trace_role_figures figures = {
            .name = facts->roles[i]->name,
            .actors = totals->actors,
            .handled = totals->handled,
            .busy_fraction = ratio((double)totals->busy_ns, span_ns),
            .blocked_fraction = ratio((double)totals->blocked_ns, span_ns),
            /* Little's law: the mean length is the time waited by all, per unit of time. */
            .mean_queue = ratio((double)totals->wait_ns, span_ns),
            .mean_wait_s = ratio((double)totals->wait_ns, (double)totals->handled) / SECOND_NS
        };
        struct summary_role row = { figures.handled, figures.busy_fraction, figures.mean_queue, figures.mean_wait_s,
                                    figures.blocked_fraction };
        result->roles[i] = figures;
        summary_role(result->summary, figures.name, &row);
    }
}

static void summarise_stages(struct run_result *result, const struct collector *figures)
{
    for (unsigned r = 0; r < collector_role_count(figures); r++) {
        const struct trace_role *role = collector_role(figures, r);
        for (unsigned m = 0; m < role->metric_count; m++) {
            if (role->metrics[m].type != TRACE_STAGE)
                continue;
            const struct statistic *s = collector_statistic(figures, r, m);
            summary_stage(result->summary, role->metrics[m].name, statistic_mean(s) / SECOND_NS,
                          statistic_quantile(s, 0.5) / SECOND_NS, statistic_quantile(s, 0.99) / SECOND_NS);
        }
    }
}

static void balance_messages(struct run_result *result, const struct engine_result *engine)
{
    struct scenario_balance messages = {
        "messages", "sent", engine->end == ENGINE_ENDED ? "handled or background" : "handled or pending", engine->sent,
        engine->handled + engine->pending + engine->pending_background
    };
    struct scenario_balance held = { "held", "held at the end", "nothing", (uint64_t)engine->held, 0 };

    g_array_append_val(result->balances, messages);
    if (engine->end == ENGINE_ENDED)
        g_array_append_val(result->balances, held);
}

static void compare_expectations(struct run_result *result, const struct deck *deck, const struct run_facts *facts)
{
    /* What a deck expects is of the system that it models, not of this machine. */
    bool comparable = deck_comparable(deck) && !facts->stopped && facts->times == NULL;

    for (unsigned i = 0; i < deck_expectation_count(deck); i++) {
        const struct deck_expectation *e = deck_expectation(deck, i);
        struct summary_expectation row = { .published = e->published, .measured = NAN, .comparable = comparable };

        summary_lookup(result->summary, e->key, &row.measured, NULL);
        row.error = row.published == 0 ? row.measured : row.measured / row.published - 1;
        row.ok = fabs(row.measured - row.published) <= e->tolerance * row.published;
        summary_expect(result->summary, e->key, &row);
        g_array_append_val(result->expectations, row);
    }
}

void run_result_init(struct run_result *result, const struct deck *deck, const struct scenario *scenario,
                     const struct run_facts *facts)
{
    struct scenario_run run = { facts->engine, facts->figures, facts->roles, facts->totals, facts->role_count };

    *result = (struct run_result){
        .summary = summary_new(),
        .balances = g_array_new(FALSE, FALSE, sizeof(struct scenario_balance)),
        .expectations = g_array_new(FALSE, FALSE, sizeof(struct summary_expectation))
    };
    g_snprintf(result->digest, sizeof result->digest, "%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x",
               facts->engine->digest[1], facts->engine->digest[0]);
    summarise_run(result, deck, scenario, facts);
    summarise_live(result, facts);
    scenario_summarise(scenario, &run, result->summary, result->balances);
    summarise_roles(result, facts);
    summarise_stages(result, facts->figures);
    rate_limits_init(&result->limits, facts->steady, scenario, &run);
    rate_limits_summarise(&result->limits, result->summary);
    balance_messages(result, facts->engine);
    for (unsigned i = 0; i < result->balances->len; i++) {
        const struct scenario_balance *b = &g_array_index(result->balances, struct scenario_balance, i);
        summary_balance(result->summary, b->name, b->left, b->right, b->left == b->right);
    }
    compare_expectations(result, deck, facts);
}

void run_result_release(struct run_result *result)
{
    summary_free(result->summary);
    g_array_free(result->balances, TRUE);
    g_array_free(result->expectations, TRUE);
    g_free(result->roles);
    rate_limits_release(&result->limits);
}

/* --- for people --- */

static bool takes_time(const struct trace_role_figures *f)
{
    return f->busy_fraction > 0 || f->blocked_fraction > 0 || f->mean_queue > 0 || f->mean_wait_s > 0;
}

/* Where nobody is ever busy, as in models of files alone, the table would say nothing. */
static void print_roles(const struct run_result *result, FILE *out)
{
    int width = 14;
    bool any = false;

    for (unsigned i = 0; i < result->role_count; i++) {
        width = MAX(width, (int)strlen(result->roles[i].name));
        any |= takes_time(&result->roles[i]);
    }
    if (!any)
        return;
    fprintf(out, "%-*s %9s %12s %7s %8s %11s %12s\n", width, "role", "actors", "handled", "busy", "blocked",
            "mean queue", "mean wait");
    for (unsigned i = 0; i < result->role_count; i++) {
        const struct trace_role_figures *f = &result->roles[i];
        fprintf(out, "%-*s %9" G_GUINT64_FORMAT " %12" G_GUINT64_FORMAT " %6.1f%% %7.1f%% %11.3f %9.3f ms\n", width,
                f->name, f->actors, f->handled, f->busy_fraction * 100, f->blocked_fraction * 100, f->mean_queue,
                f->mean_wait_s * 1000);
    }
}

static void print_stages(const struct run_result *result, const struct scenario *scenario, FILE *out)
{
    bool first = true;

    for (const struct role *const *role = scenario_roles(scenario); *role != NULL; role++)
        for (const struct metric *m = (*role)->metrics; m != NULL && m->name != NULL; m++) {
            if (m->type != METRIC_STAGE)
                continue;
            g_autofree char *mean = g_strdup_printf("stages.%s.mean_s", m->name);
            g_autofree char *p50 = g_strdup_printf("stages.%s.p50_s", m->name);
            g_autofree char *p99 = g_strdup_printf("stages.%s.p99_s", m->name);
            if (first)
                fprintf(out, "%-14s %12s %12s %12s\n", "stage", "mean", "median", "99 percent");
            first = false;
            fprintf(out, "%-14s %9.3f ms %9.3f ms %9.3f ms\n", m->name, summary_value(result->summary, mean) * 1000,
                    summary_value(result->summary, p50) * 1000, summary_value(result->summary, p99) * 1000);
        }
}

static void print_engine(const struct summary *s, FILE *out)
{
    fprintf(out, "engine: %.0f events in %.2f s (%.0f/s), %.0f windows, %.0f messages between processes, %.0f of %.0f "
            "processes active\n", summary_value(s, "run.events"), summary_value(s, "run.wall_s"),
            summary_value(s, "run.events_per_s"), summary_value(s, "run.windows"),
            summary_value(s, "run.remote_messages"), summary_value(s, "run.active_processes"),
            summary_value(s, "run.processes"));
    fprintf(out, "memory: %.1f MB in the largest process, %.0f bytes of engine memory an actor\n",
            summary_value(s, "run.peak_rss_bytes") / 1e6, summary_value(s, "run.bytes_per_actor"));
}

static void print_balances(const struct run_result *result, FILE *out)
{
    for (unsigned i = 0; i < result->balances->len; i++) {
        const struct scenario_balance *b = &g_array_index(result->balances, struct scenario_balance, i);
        fprintf(out, "balance %s: %s %" G_GUINT64_FORMAT " %s %s %" G_GUINT64_FORMAT "\n", b->name, b->left_text,
                b->left, b->left == b->right ? "=" : "DIFFERS FROM", b->right_text, b->right);
    }
}

static char *expectation_text(const struct deck_expectation *e, const struct summary_expectation *row)
{
    const char *outcome = !row->comparable ? "not comparable" : row->ok ? "met" : "missed";

    /* A run that is too short for it does not have the value. */
    if (isnan(row->measured))
        return g_strdup_printf("expected %s = %.10g%s (%s): not measured: %s", e->key, e->published, e->unit, e->source,
                               outcome);
    /* Of nothing there is no percentage. */
    if (e->published == 0)
        return g_strdup_printf("expected %s = 0%s (%s): %.6g%s: %s", e->key, e->unit, e->source, row->measured, e->unit,
                               outcome);
    return g_strdup_printf("expected %s = %.10g%s within %.10g%% (%s): %.6g%s, %+.2f%%: %s", e->key, e->published,
                           e->unit, e->tolerance * 100, e->source, row->measured, e->unit, row->error * 100, outcome);
}

static void print_expectations(const struct run_result *result, const struct deck *deck, FILE *out)
{
    for (unsigned i = 0; i < result->expectations->len; i++) {
        g_autofree char *text = expectation_text(deck_expectation(deck, i),
                                                 &g_array_index(result->expectations, struct summary_expectation, i));
        fprintf(out, "%s\n", text);
    }
}

void run_result_print(const struct run_result *result, const struct deck *deck, const struct scenario *scenario,
                      bool verbose, FILE *out)
{
    scenario_headline(scenario, result->summary, out);
    print_roles(result, out);
    if (verbose)
        print_stages(result, scenario, out);
    rate_limits_print(&result->limits, verbose, out);
    scenario_details(scenario, result->summary, out);
    print_expectations(result, deck, out);
    print_balances(result, out);
    if (verbose)
        print_engine(result->summary, out);
    if (verbose && result->times != NULL)
        service_times_print(result->times, out);
    if (result->times != NULL)
        fprintf(out, "played %.3f s live on %.0f processes\n", summary_value(result->summary, "run.sim_end_s"),
                summary_value(result->summary, "run.processes"));
    else
        fprintf(out, "simulated %.3f s in %.2f s, digest %s\n", summary_value(result->summary, "run.sim_end_s"),
                summary_value(result->summary, "run.wall_s"), result->digest);
}

int run_result_complain(const struct run_result *result, const struct deck *deck, bool strict, FILE *out)
{
    int status = TIERCEL_OK;

    for (unsigned i = 0; i < result->balances->len; i++) {
        const struct scenario_balance *b = &g_array_index(result->balances, struct scenario_balance, i);
        if (b->left == b->right)
            continue;
        fprintf(out, "tiercel: balance %s does not hold: %s %" G_GUINT64_FORMAT ", %s %" G_GUINT64_FORMAT "\n", b->name,
                b->left_text, b->left, b->right_text, b->right);
        status = TIERCEL_ERROR_BALANCE;
    }
    for (unsigned i = 0; strict && i < result->expectations->len; i++) {
        const struct summary_expectation *row = &g_array_index(result->expectations, struct summary_expectation, i);
        g_autofree char *text = expectation_text(deck_expectation(deck, i), row);
        if (row->ok || !row->comparable)
            continue;
        fprintf(out, "tiercel: %s\n", text);
        status = TIERCEL_ERROR_BALANCE;
    }
    return status;
}
