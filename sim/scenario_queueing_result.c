/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a network of queues came to: the group queueing of the summary, the figures of each station, and what textbooks
 * would compare them with.
 *
 * Jobs are counted from the end of the warm-up to the return of the last one. A station's figures are means over all of
 * the run, warm-up included: of one server they are the engine's own sums, of several what the station reported.
 */
#include "scenario_queueing.h"

#include "scenario_parts.h"

#define SECOND_NS 1e9

/* A moment that the source reported, or `otherwise` where it did not come. */
static double moment_ns(const struct collector *figures, const char *metric, double otherwise)
{
    const struct statistic *s = collector_named_statistic(figures, role_source.name, metric);
    return s->count != 0 ? (double)s->smallest : otherwise;
}

static const struct engine_role_totals *totals_of(const struct scenario_run *run, const struct role *role)
{
    for (unsigned i = 0; i < run->role_count; i++)
        if (run->roles[i] == role)
            return &run->totals[i];
    g_error("no role %s in the engine's totals", role->name);
}

static void summarise_station(const struct queueing_group *group, const struct scenario_run *run, double span_ns,
                              struct summary *summary)
{
    uint64_t servers = group->stations[0].servers;
    struct summary_station s = { .servers = servers };
    double wait_ns;
    double service_ns;

    if (servers == 1) {
        const struct engine_role_totals *totals = totals_of(run, &group->role);
        s.jobs = totals->handled;
        wait_ns = (double)totals->wait_ns;
        service_ns = (double)totals->busy_ns;
    } else {
        const struct statistic *wait = collector_named_statistic(run->figures, group->name, "wait");
        s.jobs = wait->count;
        wait_ns = (double)wait->sum;
        service_ns = (double)collector_named_total(run->figures, group->name, "service");
    }
    s.utilisation = statistic_ratio(service_ns, span_ns * (double)servers * group->count);
    s.mean_queue = statistic_ratio(wait_ns, span_ns * group->count);
    s.mean_wait_s = statistic_ratio(wait_ns, (double)s.jobs) / SECOND_NS;
    summary_station(summary, group->name, &s);
}

void queueing_summarise(const void *data, const struct scenario_run *run, struct summary *summary, GArray *balances)
{
    const struct queueing *q = data;
    const struct statistic *sojourn = collector_named_statistic(run->figures, role_source.name, "sojourn");
    uint64_t made = collector_named_total(run->figures, role_source.name, "made");
    uint64_t returned = sojourn->count + collector_named_total(run->figures, role_source.name, "warmed");
    double ended_ns = moment_ns(run->figures, "ended", (double)run->result->end_ns);
    double began_ns = moment_ns(run->figures, "began", q->source.warm_up == 0 ? 0 : ended_ns);

    summary_count(summary, "queueing", "made", made);
    summary_count(summary, "queueing", "returned", returned);
    summary_count(summary, "queueing", "counted", sojourn->count);
    summary_number(summary, "queueing", "throughput_per_s",
                   statistic_ratio((double)sojourn->count, ended_ns - began_ns) * SECOND_NS);
    summary_number(summary, "queueing", "mean_sojourn_s", statistic_mean(sojourn) / SECOND_NS);
    summary_number(summary, "queueing", "p99_sojourn_s", statistic_quantile(sojourn, 0.99) / SECOND_NS);
    summary_number(summary, "queueing", "max_sojourn_s", statistic_quantile(sojourn, 1) / SECOND_NS);
    /* Little's law over the counted jobs. */
    summary_number(summary, "queueing", "mean_population", statistic_ratio((double)sojourn->sum, ended_ns - began_ns));
    for (unsigned i = 0; i < q->groups->len; i++)
        summarise_station(&g_array_index(q->groups, struct queueing_group, i), run, ended_ns, summary);
    if (run->result->end == ENGINE_ENDED)
        scenario_balance_add(balances, "jobs", "made", made, "returned", returned);
}

/* --- the terminal --- */

void queueing_headline(G_GNUC_UNUSED const void *data, const struct summary *summary, FILE *out)
{
    fprintf(out, "%.0f of %.0f jobs returned: %.6g jobs/s, each %.6g s in the network on average, %.6g jobs inside\n",
            summary_value(summary, "queueing.returned"), summary_value(summary, "queueing.made"),
            summary_value(summary, "queueing.throughput_per_s"), summary_value(summary, "queueing.mean_sojourn_s"),
            summary_value(summary, "queueing.mean_population"));
}

static double station_value(const struct summary *summary, const char *station, const char *key)
{
    g_autofree char *path = g_strdup_printf("stations.%s.%s", station, key);
    return summary_value(summary, path);
}

void queueing_details(const void *data, const struct summary *summary, FILE *out)
{
    const struct queueing *q = data;

    fprintf(out, "%-20s %9s %9s %12s %12s %12s %14s\n", "station", "copies", "servers", "jobs", "utilisation",
            "mean queue", "mean wait");
    for (unsigned i = 0; i < q->groups->len; i++) {
        const struct queueing_group *group = &g_array_index(q->groups, struct queueing_group, i);
        fprintf(out, "%-20s %9u %9.0f %12.0f %11.3f%% %12.6g %12.6g s\n", group->name, group->count,
                station_value(summary, group->name, "servers"), station_value(summary, group->name, "jobs"),
                station_value(summary, group->name, "utilisation") * 100,
                station_value(summary, group->name, "mean_queue"), station_value(summary, group->name, "mean_wait_s"));
    }
}
