/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a batch run came to: the groups jobs and schedule of the summary, its classes of jobs, and what was done to the
 * workload, by kind.
 *
 * Means are over the jobs that ended. Utilisation is the processors' time that jobs held, out of all of it in a span:
 * from the first submission to the last end (jobs.utilisation and makespan), or from the first start to the last end.
 */
#include "scenario_batch.h"

#include <math.h>

#include "scenario_parts.h"

#define SECOND_NS 1e9
#define MILLIONTHS 1e6

static uint64_t total(const struct collector *figures, unsigned metric)
{
    return collector_total(figures, (unsigned)collector_find_role(figures, role_batch.name), metric);
}

static const struct statistic *statistic(const struct collector *figures, unsigned metric)
{
    return collector_statistic(figures, (unsigned)collector_find_role(figures, role_batch.name), metric);
}

static double smallest_s(const struct statistic *s)
{
    return s->count == 0 ? NAN : (double)s->smallest / SECOND_NS;
}

static double largest_s(const struct statistic *s)
{
    return s->count == 0 ? NAN : (double)s->largest / SECOND_NS;
}

/* --- the summary --- */

struct spans {
    double area_s;              /* processors x seconds held */
    double submit_s;            /* from the first submission to the last end */
    double start_s;             /* from the first start */
};

static struct spans spans_of(const struct collector *figures)
{
    double end_s = largest_s(statistic(figures, BATCH_END_TIME));
    return (struct spans){
        .area_s = (double)total(figures, BATCH_AREA_S) + (double)total(figures, BATCH_AREA_NS) / SECOND_NS,
        .submit_s = end_s - smallest_s(statistic(figures, BATCH_SUBMIT_TIME)),
        .start_s = end_s - smallest_s(statistic(figures, BATCH_START_TIME))
    };
}

static void summarise_jobs(const struct batch_scenario *s, const struct scenario_run *run, struct summary *summary,
                           GArray *balances)
{
    const struct collector *figures = run->figures;
    struct spans spans = spans_of(figures);
    const struct statistic *wait = statistic(figures, BATCH_WAIT), *end = statistic(figures, BATCH_END_TIME);
    const struct scenario_jobs jobs = {
        .submitted = total(figures, BATCH_SUBMITTED), .completed = total(figures, BATCH_COMPLETED),
        .killed = total(figures, BATCH_KILLED), .rejected = total(figures, BATCH_REJECTED)
    };

    scenario_jobs_summarise(&jobs, run, summary, balances);
    summary_number(summary, "jobs", "submit_rate", NAN);        /* the workload's, not the system's */
    summary_number(summary, "jobs", "run_rate", statistic_ratio((double)(jobs.completed + jobs.killed), spans.start_s));
    summary_number(summary, "jobs", "follow_rate", NAN);
    summary_number(summary, "jobs", "first_done_s",
                   smallest_s(end) - smallest_s(statistic(figures, BATCH_START_TIME)));
    summary_number(summary, "jobs", "makespan_s", spans.submit_s);
    summary_number(summary, "jobs", "mean_wait_s", statistic_mean(wait) / SECOND_NS);
    summary_number(summary, "jobs", "max_wait_s", largest_s(wait));
    summary_number(summary, "jobs", "mean_bounded_slowdown",
                   statistic_mean(statistic(figures, BATCH_SLOWDOWN)) / MILLIONTHS);
    summary_number(summary, "jobs", "utilisation", statistic_ratio(spans.area_s, s->processors * spans.submit_s));
    if (run->result->end == ENGINE_ENDED && s->source.jobs != WORKLOAD_UNKNOWN)
        scenario_balance_add(balances, "workload", "jobs of the workload", s->source.jobs, "submitted", jobs.submitted);
}

static void summarise_schedule(const struct batch_scenario *s, const struct collector *figures,
                               struct summary *summary)
{
    struct spans spans = spans_of(figures);
    const struct statistic *wait = statistic(figures, BATCH_WAIT), *slowdown = statistic(figures, BATCH_SLOWDOWN);
    const struct statistic *queue = statistic(figures, BATCH_QUEUE);

    summary_count(summary, "schedule", "processors", s->processors);
    summary_number(summary, "schedule", "start_span_s", spans.start_s);
    summary_number(summary, "schedule", "start_span_utilisation",
                   statistic_ratio(spans.area_s, s->processors * spans.start_s));
    summary_number(summary, "schedule", "p50_wait_s", statistic_quantile(wait, 0.5) / SECOND_NS);
    summary_number(summary, "schedule", "p99_wait_s", statistic_quantile(wait, 0.99) / SECOND_NS);
    summary_number(summary, "schedule", "mean_turnaround_s",
                   statistic_mean(statistic(figures, BATCH_TURNAROUND)) / SECOND_NS);
    summary_number(summary, "schedule", "slowdown_bound_s", (double)s->batch.slowdown_bound_ns / SECOND_NS);
    summary_number(summary, "schedule", "max_bounded_slowdown", statistic_quantile(slowdown, 1) / MILLIONTHS);
    summary_count(summary, "schedule", "passes", total(figures, BATCH_PASSES));
    summary_count(summary, "schedule", "max_queue", queue->count == 0 ? 0 : (uint64_t)queue->largest);
}

static void summarise_classes(const struct collector *figures, struct summary *summary)
{
    for (unsigned c = 0; c < BATCH_CLASSES; c++) {
        const struct statistic *wait = statistic(figures, BATCH_WAIT_OF_CLASS + c);
        const struct statistic *slowdown = statistic(figures, BATCH_SLOWDOWN_OF_CLASS + c);
        summary_class(summary, batch_classes[c].name, &(struct summary_class){
            .jobs = wait->count,
            .mean_wait_s = statistic_mean(wait) / SECOND_NS,
            .max_wait_s = largest_s(wait),
            .mean_bounded_slowdown = statistic_mean(slowdown) / MILLIONTHS
        });
    }
}

void batch_summarise(const void *data, const struct scenario_run *run, struct summary *summary, GArray *balances)
{
    const struct batch_scenario *s = data;

    summarise_jobs(s, run, summary, balances);
    summarise_schedule(s, run->figures, summary);
    summarise_classes(run->figures, summary);
}

/* --- the terminal --- */

void batch_headline(const void *data, const struct summary *summary, FILE *out)
{
    const struct batch_scenario *s = data;
    static const char *const rest[] = { "killed", "rejected", "unfinished" };

    fprintf(out, "%s on %u processors: completed %.0f of %.0f jobs", s->batch.policy.name, s->processors,
            summary_value(summary, "jobs.completed"), summary_value(summary, "jobs.submitted"));
    for (unsigned i = 0; i < G_N_ELEMENTS(rest); i++) {
        g_autofree char *path = g_strdup_printf("jobs.%s", rest[i]);
        if (summary_value(summary, path) > 0)
            fprintf(out, ", %s %.0f", rest[i], summary_value(summary, path));
    }
    fprintf(out, "\nwait: mean %.6g s, longest %.6g s; bounded slowdown (bound %g s): mean %.6g\n",
            summary_value(summary, "jobs.mean_wait_s"), summary_value(summary, "jobs.max_wait_s"),
            summary_value(summary, "schedule.slowdown_bound_s"), summary_value(summary, "jobs.mean_bounded_slowdown"));
    fprintf(out, "from the first submission to the last end: %.6g s, %.2f %% used\n",
            summary_value(summary, "jobs.makespan_s"), summary_value(summary, "jobs.utilisation") * 100);
}

/* What the source did to its input, by kind. */
static void print_counts(const struct batch_scenario *s, const char *before, FILE *out)
{
    for (guint i = 0; i < s->source.counts->len; i++) {
        const struct workload_count *count = &g_array_index(s->source.counts, struct workload_count, i);
        if (count->count > 0)
            fprintf(out, "%s%-20s %10" G_GUINT64_FORMAT "  %s\n", before, count->name, count->count, count->text);
    }
}

static void print_machine(const struct batch_scenario *s, const char *before, FILE *out)
{
    const char *from = s->processors_stated ? "as the deck says"
                       : s->source.processors_stated ? "as the workload's file says" : "of its widest job";
    fprintf(out, "%smachine: %u processors, %s\n", before, s->processors, from);
}

void batch_describe(const void *data, FILE *out)
{
    const struct batch_scenario *s = data;

    print_machine(s, "# ", out);
    print_counts(s, "# workload: ", out);
}

static double class_value(const struct summary *summary, unsigned class, const char *key)
{
    g_autofree char *path = g_strdup_printf("classes.%s.%s", batch_classes[class].name, key);
    return summary_value(summary, path);
}

void batch_details(const void *data, const struct summary *summary, FILE *out)
{
    const struct batch_scenario *s = data;

    print_machine(s, "", out);
    print_counts(s, "workload: ", out);
    fprintf(out, "from the first start to the last end: %.6g s, %.2f %% used\n",
            summary_value(summary, "schedule.start_span_s"),
            summary_value(summary, "schedule.start_span_utilisation") * 100);
    fprintf(out, "%-24s %10s %14s %14s %18s\n", "jobs of", "jobs", "mean wait", "longest wait", "bounded slowdown");
    for (unsigned c = 0; c < BATCH_CLASSES; c++)
        if (class_value(summary, c, "jobs") > 0)
            fprintf(out, "%-24s %10.0f %12.6g s %12.6g s %18.6g\n", batch_classes[c].text,
                    class_value(summary, c, "jobs"), class_value(summary, c, "mean_wait_s"),
                    class_value(summary, c, "max_wait_s"), class_value(summary, c, "mean_bounded_slowdown"));
}
