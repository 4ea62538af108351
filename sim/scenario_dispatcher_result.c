/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the run of a dispatcher service came to: the groups jobs and client of the summary, its balances, and lines for
 * people.
 */
#include <math.h>

#include "scenario_dispatcher.h"
#include "scenario_parts.h"

#define SECOND_NS 1e9

struct figures {
    const struct collector *collector;
    unsigned client;                    /* indices of roles */
    int dispatcher;                     /* -1: the plain model, which counts nothing there */
    int executor;
};

static struct figures open_figures(const struct dispatcher_scenario *s, const struct collector *collector)
{
    bool plain = s->service.protocol == TASK_PLAIN;
    int client = collector_find_role(collector, plain ? "plain-client" : "lb-client");

    g_assert(client >= 0);
    return (struct figures){ collector, (unsigned)client, plain ? -1 : collector_find_role(collector, "dispatcher"),
                             plain ? -1 : collector_find_role(collector, "task-executor") };
}

static uint64_t total(const struct figures *f, int role, const char *name)
{
    if (role < 0)
        return 0;
    int metric = collector_find_metric(f->collector, (unsigned)role, name);
    g_assert(metric >= 0);
    return collector_total(f->collector, (unsigned)role, (unsigned)metric);
}

static uint64_t client_total(const struct figures *f, const char *name)
{
    return total(f, (int)f->client, name);
}

static const struct statistic *client_statistic(const struct figures *f, const char *name)
{
    int metric = collector_find_metric(f->collector, f->client, name);
    g_assert(metric >= 0);
    return collector_statistic(f->collector, f->client, (unsigned)metric);
}

/* The sum over the clients of what each tells once; NAN where one told nothing. */
static double told_once(const struct figures *f, const struct task_service *t, const char *name)
{
    const struct statistic *s = client_statistic(f, name);
    return s->count == t->clients ? (double)s->sum : NAN;
}

/* When the last client was there; NAN where one never was. */
static double last_s(const struct figures *f, const struct task_service *t, const char *name)
{
    const struct statistic *s = client_statistic(f, name);
    return s->count == t->clients ? statistic_quantile(s, 1) / SECOND_NS : NAN;
}

/* --- jobs --- */

static void summarise_jobs(const struct task_service *t, const struct figures *f, const struct scenario_run *run,
                           struct summary *summary, GArray *balances)
{
    const struct scenario_jobs tasks = {
        .submitted = t->tasks, .completed = client_total(f, "completed"), .failed = client_total(f, "failed"),
        .lost = client_total(f, "lost"), .rejected = client_total(f, "rejected"),
        .retried = total(f, f->dispatcher, "retried")
    };
    double makespan_s = last_s(f, t, "makespan"), executors = (double)t->services * t->executors;
    double dispatched = (double)total(f, f->dispatcher, "dispatched");

    scenario_jobs_summarise(&tasks, run, summary, balances);
    summary_number(summary, "jobs", "submit_rate", (double)client_total(f, "submitted") / last_s(f, t, "submit_span"));
    summary_number(summary, "jobs", "run_rate",
                   statistic_ratio((double)(scenario_jobs_ended(&tasks) - tasks.rejected), makespan_s));
    summary_number(summary, "jobs", "follow_rate", NAN);
    summary_number(summary, "jobs", "first_done_s",
                   statistic_quantile(client_statistic(f, "first_done"), 0) / SECOND_NS);
    summary_number(summary, "jobs", "makespan_s", makespan_s);
    summary_number(summary, "jobs", "mean_wait_s",
                   statistic_ratio((double)total(f, f->dispatcher, "queued_us") / 1e6, dispatched));
    summary_number(summary, "jobs", "max_wait_s", NAN);             /* no task is anybody's record */
    summary_number(summary, "jobs", "mean_bounded_slowdown", NAN);
    summary_number(summary, "jobs", "utilisation",
                   statistic_ratio((double)total(f, f->executor, "run_us") / 1e6, executors * makespan_s));
}

/* Each task's way through the services, once nothing is under way. */
static void balance_services(const struct figures *f, GArray *balances)
{
    uint64_t completed = total(f, f->dispatcher, "completed"), failed = total(f, f->dispatcher, "failed");
    uint64_t lost = total(f, f->dispatcher, "lost");

    scenario_balance_add(balances, "tasks", "accepted by services", total(f, f->dispatcher, "accepted"),
                         "completed, failed or lost there", completed + failed + lost);
    scenario_balance_add(balances, "dispatches", "dispatches", total(f, f->dispatcher, "dispatched"),
                         "tasks ended, failed runs repeated, and returned",
                         completed + failed + lost + total(f, f->dispatcher, "retried") +
                             total(f, f->dispatcher, "returned"));
    scenario_balance_add(balances, "submissions", "handed to services", client_total(f, "submitted"),
                         "accepted by services", total(f, f->dispatcher, "accepted"));
}

/* --- the client --- */

static void summarise_client(const struct task_service *t, const struct figures *f, struct summary *summary)
{
    const struct statistic *pause = client_statistic(f, "pause"), *free = client_statistic(f, "last_free");

    summary_number(summary, "client", "gc_s", (double)pause->sum / SECOND_NS);
    summary_number(summary, "client", "gc_s_per_minute",
                   told_once(f, t, "last_minute_pause") / SECOND_NS / t->clients);
    summary_count(summary, "client", "heap_free_bytes",
                  free->count == 0 ? 0 : (uint64_t)statistic_quantile(free, 0));
    summary_number(summary, "client", "first_minute_rate", told_once(f, t, "first_minute") / 60);
    summary_number(summary, "client", "last_minute_rate", told_once(f, t, "last_minute") / 60);
}

void dispatcher_summarise(const void *data, const struct scenario_run *run, struct summary *summary, GArray *balances)
{
    const struct dispatcher_scenario *s = data;
    struct figures f = open_figures(s, run->figures);

    summarise_jobs(&s->service, &f, run, summary, balances);
    summarise_client(&s->service, &f, summary);
    job_file_summarise(&s->file, run, summary, balances, last_s(&f, &s->service, "makespan"));
    if (run->result->end == ENGINE_ENDED && f.dispatcher >= 0)
        balance_services(&f, balances);
}

/* --- what tasks hold --- */

/* The threads that notify an executor and wait for its acknowledgement (TCP): each is held for the dispatch, a round
 * trip, and what both ends do with the acknowledgement. */
void dispatcher_pools(const void *data, G_GNUC_UNUSED const struct scenario_run *run, GArray *pools)
{
    const struct dispatcher_scenario *s = data;
    const struct task_service *t = &s->service;
    const struct task_service_costs *costs = &t->costs;

    if (t->protocol != TASK_TCP)
        return;
    double own_s = (double)(cost_ns(&costs->dispatcher_dispatch, 0, 0) + cost_ns(&costs->dispatcher_ack, 0, 0)) /
                   SECOND_NS;
    double answer_s = (double)(2 * t->latency_ns + cost_ns(&costs->executor_ack, 0, 0)) / SECOND_NS;
    struct scenario_pool threads = {
        .name = "notification threads", .capacity = (double)t->services * t->threads, .held_s = own_s + answer_s,
        .least_s = own_s + answer_s, .role = "dispatcher", .role_s = own_s
    };
    g_array_append_val(pools, threads);
}

/* --- the terminal --- */

void dispatcher_headline(const void *data, const struct summary *summary, FILE *out)
{
    double submitted = summary_value(summary, "jobs.submitted"), makespan_s = summary_value(summary, "jobs.makespan_s");
    double rest = submitted - summary_value(summary, "jobs.completed");

    if (isnan(makespan_s))
        fprintf(out, "completed %.0f of %.0f tasks\n", summary_value(summary, "jobs.completed"), submitted);
    else
        fprintf(out, "completed %.0f of %.0f tasks in %.3f s: %.1f tasks/s\n", summary_value(summary, "jobs.completed"),
                submitted, makespan_s, summary_value(summary, "jobs.run_rate"));
    if (rest > 0)
        fprintf(out, "the others: %.0f failed, %.0f lost, %.0f rejected, %.0f unfinished\n",
                summary_value(summary, "jobs.failed"), summary_value(summary, "jobs.lost"),
                summary_value(summary, "jobs.rejected"), summary_value(summary, "jobs.unfinished"));
}

/* Where a straight line would have the heap empty. */
static void print_heap(const struct task_service *t, const struct summary *summary, FILE *out)
{
    double start = (double)(t->heap.size_bytes - t->heap.base_bytes);
    double free = summary_value(summary, "client.heap_free_bytes");
    double ended = summary_value(summary, "jobs.completed");
    double leaked = start - free;

    double last_s = summary_value(summary, "client.gc_s_per_minute");

    fprintf(out, "client: collected for %.1f s in all", summary_value(summary, "client.gc_s"));
    if (!isnan(last_s))             /* it ran for a minute */
        fprintf(out, ", %.2f s in the last minute", last_s);
    if (!isnan(free))
        fprintf(out, "; %.1f MiB free of %.1f at first", free / 1048576, start / 1048576);
    fputc('\n', out);
    if (leaked > 0 && ended > 0 && t->leak != TASK_LEAK_NONE)
        fprintf(out, "client: %.3f bytes leaked a task; a straight line has the heap empty after %.4g tasks\n",
                leaked / ended, start / leaked * ended);
}

void dispatcher_details(const void *data, const struct summary *summary, FILE *out)
{
    const struct dispatcher_scenario *s = data;
    double first = summary_value(summary, "client.first_minute_rate");
    double last = summary_value(summary, "client.last_minute_rate");

    if (!isnan(first) && !isnan(last))
        fprintf(out, "rates: %.1f tasks/s in the first minute, %.1f in the last full one\n", first, last);
    if (s->service.heap.size_bytes != 0)
        print_heap(&s->service, summary, out);
    job_file_details(&s->file, summary, out);
}
