/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a brokered run came to: the groups jobs, kvs, event and subscribe of the summary, its balances, and the lines
 * that people know from the bulk-submit benchmark.
 */
#include "scenario_brokered.h"

#include <math.h>

#include "scenario_parts.h"

#define SECOND_NS 1e9

static uint64_t total(const struct collector *figures, const char *role, const char *metric)
{
    return collector_named_total(figures, role, metric);
}

static const struct statistic *statistic(const struct collector *figures, const char *role, const char *metric)
{
    return collector_named_statistic(figures, role, metric);
}

/* Of the kvs on node 0 and on the others. */
static uint64_t kvs_total(const struct collector *figures, const char *metric)
{
    return total(figures, "kvs-root", metric) + total(figures, "kvs-worker", metric);
}

/* A span of which there is one value; NAN when it did not end. */
static double span_s(const struct collector *figures, const char *metric)
{
    return statistic_mean(statistic(figures, "client", metric)) / SECOND_NS;
}

/* Of the client that makes namespaces; NAN when there is none. */
static double namespace_rate(const struct collector *figures, const char *count, const char *span)
{
    return (double)total(figures, "namespace-client", count) /
           (statistic_mean(statistic(figures, "namespace-client", span)) / SECOND_NS);
}

/* --- jobs --- */

static struct scenario_jobs count_jobs(const struct collector *figures)
{
    return (struct scenario_jobs){
        .submitted = total(figures, "client", "submitted"),
        .completed = total(figures, "job-manager", "completed"),
        .failed = total(figures, "job-manager", "failed"),
        .killed = total(figures, "job-manager", "killed"),
        .cancelled = total(figures, "job-manager", "cancelled"),
        .rejected = total(figures, "job-manager", "rejected") + total(figures, "client", "refused")
    };
}

static void summarise_jobs(const struct brokered *b, const struct scenario_run *run, struct summary *summary,
                           GArray *balances)
{
    const struct collector *figures = run->figures;
    struct scenario_jobs jobs = count_jobs(figures);
    const struct statistic *wait = statistic(figures, "job-manager", "wait");
    double cores = (double)b->inst.nodes * b->inst.cores_per_node;
    double makespan_s = span_s(figures, "makespan");

    scenario_jobs_summarise(&jobs, run, summary, balances);
    summary_number(summary, "jobs", "submit_rate", (double)jobs.submitted / span_s(figures, "submit_span"));
    summary_number(summary, "jobs", "run_rate",
                   (double)total(figures, "client", "ended") / span_s(figures, "run_span"));
    summary_number(summary, "jobs", "follow_rate",
                   (double)total(figures, "client", "watches") / span_s(figures, "follow_span"));
    summary_number(summary, "jobs", "first_done_s", span_s(figures, "first_done"));
    summary_number(summary, "jobs", "makespan_s", makespan_s);
    summary_number(summary, "jobs", "mean_wait_s", statistic_mean(wait) / SECOND_NS);
    summary_number(summary, "jobs", "max_wait_s", statistic_quantile(wait, 1) / SECOND_NS);
    summary_number(summary, "jobs", "mean_bounded_slowdown",
                   statistic_mean(statistic(figures, "job-manager", "bounded_slowdown")) / 1000);
    summary_number(summary, "jobs", "utilisation",
                   (double)total(figures, "job-manager", "core_us") / 1e6 / (cores * makespan_s));
}

/* --- the store and its events --- */

static const char *const event_classes[] = { "setroot", "error", "removed", "created", "job_state", "heartbeat",
                                             "other" };
static const char *const overlay_classes[] = { "kvs", "job_state", "heartbeat", "other" };

static uint64_t sum_of(const struct collector *figures, const char *prefix, const char *const *names, unsigned count)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < count; i++) {
        g_autofree char *metric = g_strdup_printf("%s_%s", prefix, names[i]);
        sum += total(figures, "broker", metric);
    }
    return sum;
}

static void summarise_kvs(const struct collector *figures, struct summary *summary)
{
    summary_count(summary, "kvs", "transactions", total(figures, "kvs-root", "transactions"));
    summary_count(summary, "kvs", "commits", total(figures, "kvs-root", "setroots"));
    summary_count(summary, "kvs", "merged", total(figures, "kvs-root", "merged"));
    summary_count(summary, "kvs", "lookups", kvs_total(figures, "lookups"));
    summary_count(summary, "kvs", "blobs", total(figures, "kvs-root", "blobs"));
    summary_count(summary, "kvs", "namespaces_created", total(figures, "kvs-root", "created"));
    summary_count(summary, "kvs", "namespaces_removed", total(figures, "kvs-root", "removed"));
    summary_count(summary, "kvs", "fences", total(figures, "kvs-root", "fences"));
    summary_count(summary, "kvs", "syncs", total(figures, "kvs-root", "syncs"));
    summary_count(summary, "kvs", "refused", total(figures, "kvs-root", "refused"));
    summary_number(summary, "kvs", "create_rate", namespace_rate(figures, "created", "create_span"));
    summary_number(summary, "kvs", "remove_rate", namespace_rate(figures, "removed", "remove_span"));
}

static void summarise_events(const struct collector *figures, struct summary *summary)
{
    summary_count(summary, "event", "published",
                  sum_of(figures, "published", event_classes, G_N_ELEMENTS(event_classes)));
    summary_count(summary, "event", "delivered", total(figures, "broker", "delivered"));
    summary_count(summary, "event", "dropped", total(figures, "broker", "dropped"));
    summary_count(summary, "event", "discarded",
                  kvs_total(figures, "discarded") + total(figures, "watcher", "discarded"));
    summary_count(summary, "event", "duplicates", total(figures, "broker", "duplicates"));
    summary_count(summary, "event", "overlay_messages",
                  sum_of(figures, "overlay", overlay_classes, G_N_ELEMENTS(overlay_classes)));
    uint64_t discard_ns = kvs_total(figures, "discard_time") + total(figures, "watcher", "discard_time");
    summary_number(summary, "event", "match_s", (double)total(figures, "broker", "match_time") / SECOND_NS);
    summary_number(summary, "event", "deliver_s", (double)total(figures, "broker", "deliver_time") / SECOND_NS);
    summary_number(summary, "event", "discard_s", (double)discard_ns / SECOND_NS);
}

static void summarise_subscribe(const struct collector *figures, struct summary *summary)
{
    uint64_t added = kvs_total(figures, "entries_added") + total(figures, "watcher", "entries_added");
    uint64_t removed = kvs_total(figures, "entries_removed") + total(figures, "watcher", "entries_removed");

    summary_count(summary, "subscribe", "namespace_calls",
                  kvs_total(figures, "namespace_calls") + total(figures, "watcher", "namespace_calls"));
    summary_count(summary, "subscribe", "other_calls",
                  kvs_total(figures, "other_calls") + total(figures, "watcher", "other_calls"));
    summary_count(summary, "subscribe", "entries_left", added - removed);
    uint64_t blocked_ns = kvs_total(figures, "call_blocked") + total(figures, "watcher", "call_blocked");
    summary_number(summary, "subscribe", "blocked_s", (double)blocked_ns / SECOND_NS);
}

/* A job has 14 transactions of its own: R, six of job-exec in its guest namespace, the link to it and the copy of it,
 * and five of its shell. With windows for log entries the six are two, and one for each window that ended by itself.
 * All others are of batches, which jobs share. */
static void balance_transactions(const struct brokered *b, const struct collector *figures, GArray *balances)
{
    bool windows = b->inst.exec_batch_ns > 0;
    uint64_t own = total(figures, "scheduler", "commits_own") + total(figures, "job-exec", "commits_own") +
                   total(figures, "job-exec", "commits_own_link") + total(figures, "job-exec", "commits_own_copy") +
                   total(figures, "executor", "commits_own");
    uint64_t shared = total(figures, "ingest", "commits_shared") + total(figures, "job-manager", "commits_shared") +
                      total(figures, "kvs-root", "fences");

    scenario_balance_add(balances, "own_transactions", "transactions of single jobs", own,
                         windows ? "1 an allocation + 4 a start + 1 a window + 5 a shell"
                                 : "1 an allocation + 8 a start + 5 a shell",
                         total(figures, "scheduler", "allocations") +
                             (windows ? 4 : 8) * total(figures, "job-exec", "starts") +
                             total(figures, "job-exec", "windows") + 5 * total(figures, "executor", "shells"));
    scenario_balance_add(balances, "transactions", "transactions", total(figures, "kvs-root", "transactions"),
                         "of single jobs, and of batches", own + shared);
}

/* What must hold when nothing is on its way any more. */
static void balance_store(const struct brokered *b, const struct collector *figures, GArray *balances)
{
    uint64_t setroots = total(figures, "broker", "published_setroot");
    uint64_t applied = total(figures, "kvs-root", "transactions") - total(figures, "kvs-root", "merged") -
                       total(figures, "kvs-root", "failed");
    uint64_t created = total(figures, "kvs-root", "created");
    uint64_t removed = total(figures, "kvs-root", "removed");
    uint64_t published = sum_of(figures, "published", event_classes, G_N_ELEMENTS(event_classes));
    uint64_t overlay = sum_of(figures, "overlay", overlay_classes, G_N_ELEMENTS(overlay_classes));

    /* A run does not wait for a heartbeat that is on its way down the tree. */
    published -= total(figures, "broker", "published_heartbeat");
    overlay -= total(figures, "broker", "overlay_heartbeat");
    uint64_t kvs_events = setroots + total(figures, "broker", "published_created") +
                          total(figures, "broker", "published_removed");

    scenario_balance_add(balances, "setroot_events", "setroot events", setroots, "transactions applied and not merged",
                         applied);
    scenario_balance_add(balances, "kvs_events", "kvs events without errors", kvs_events,
                         "new roots + namespaces created + removed",
                         total(figures, "kvs-root", "setroots") + created + removed);
    scenario_balance_add(balances, "namespaces", "namespaces created", created, "removed", removed);
    scenario_balance_add(balances, "overlay_messages", "overlay messages but heartbeats", overlay,
                         "events x (nodes - 1)", published * (b->inst.nodes - 1));
}

void brokered_summarise(const void *data, const struct scenario_run *run, struct summary *summary, GArray *balances)
{
    const struct brokered *b = data;

    summarise_jobs(b, run, summary, balances);
    summarise_kvs(run->figures, summary);
    summarise_events(run->figures, summary);
    summarise_subscribe(run->figures, summary);
    job_file_summarise(&b->file, run, summary, balances, summary_value(summary, "jobs.makespan_s"));
    if (run->result->end == ENGINE_ENDED) {
        balance_transactions(b, run->figures, balances);
        balance_store(b, run->figures, balances);
    }
}

/* --- what jobs hold --- */

/* Core slots: held from the allocation to the release. A job that waits behind no other holds one for about the
 * shortest of each stage, since the first jobs find the instance idle. */
void brokered_pools(const void *data, const struct scenario_run *run, GArray *pools)
{
    static const char *const stages[] = { "namespace", "commits", "launch", "shell", "run", "finish", "move",
                                          "release" };
    const struct brokered *b = data;
    struct scenario_pool slots = { .name = "slots", .capacity = (double)b->inst.nodes * b->inst.cores_per_node };

    for (unsigned i = 0; i < G_N_ELEMENTS(stages); i++) {
        const struct statistic *s = statistic(run->figures, "job-manager", stages[i]);
        if (s->count == 0)
            return;
        slots.held_s += statistic_mean(s) / SECOND_NS;
        slots.least_s += (double)s->smallest / SECOND_NS;
    }
    slots.capacity /= b->source.cores;
    g_array_append_val(pools, slots);
}

/* --- the terminal --- */

/* Three digits or so, without an exponent. */
static const char *span_format(double span_s)
{
    return span_s >= 100 ? "%.0f s" : span_s >= 10 ? "%.1f s" : span_s >= 1 ? "%.2f s" : "%.3f s";
}

static void print_rate(FILE *out, const char *done, double count, double rate)
{
    char span[32];

    if (isnan(rate)) {
        fprintf(out, "%s %.0f jobs\n", done, count);
        return;
    }
    g_snprintf(span, sizeof span, span_format(count / rate), count / rate);
    fprintf(out, "%s %.0f jobs in %s: %.1f jobs/s\n", done, count, span, rate);
}

static void print_namespaces(const struct summary *summary, FILE *out)
{
    fprintf(out, "created %.0f namespaces: %.1f/s\n", summary_value(summary, "kvs.namespaces_created"),
            summary_value(summary, "kvs.create_rate"));
    fprintf(out, "removed %.0f namespaces: %.1f/s\n", summary_value(summary, "kvs.namespaces_removed"),
            summary_value(summary, "kvs.remove_rate"));
}

void brokered_headline(const void *data, const struct summary *summary, FILE *out)
{
    if (((const struct brokered *)data)->jobs.namespaces > 0) {
        print_namespaces(summary, out);
        return;
    }
    double submitted = summary_value(summary, "jobs.submitted");
    double first_s = summary_value(summary, "jobs.first_done_s");
    double rejected = summary_value(summary, "jobs.rejected");
    double unfinished = summary_value(summary, "jobs.unfinished");
    double ended = submitted - rejected - unfinished;

    print_rate(out, "submitted", submitted, summary_value(summary, "jobs.submit_rate"));
    if (!isnan(first_s))
        fprintf(out, "first job finished in %.3f s\n", first_s);
    print_rate(out, "ran", ended, summary_value(summary, "jobs.run_rate"));
    if (!isnan(summary_value(summary, "jobs.follow_rate")))
        fprintf(out, "followed them all to their ends: %.1f jobs/s\n", summary_value(summary, "jobs.follow_rate"));
    if (rejected > 0)
        fprintf(out, "rejected %.0f jobs\n", rejected);
    if (unfinished > 0)
        fprintf(out, "left %.0f jobs unfinished\n", unfinished);
}

void brokered_details(const void *data, const struct summary *summary, FILE *out)
{
    double submitted = summary_value(summary, "jobs.submitted");
    double calls = summary_value(summary, "subscribe.namespace_calls");

    fprintf(out, "subscribe calls: %.0f for job namespaces (%.2f a job), %.0f others, blocked %.3f s in all\n", calls,
            submitted > 0 ? calls / submitted : 0, summary_value(summary, "subscribe.other_calls"),
            summary_value(summary, "subscribe.blocked_s"));
    fprintf(out, "entries that they left in the lists of subscriptions: %.0f\n",
            summary_value(summary, "subscribe.entries_left"));
    fprintf(out, "kvs: %.0f transactions, %.0f of them merged, %.0f roots, %.0f lookups, %.0f blobs\n",
            summary_value(summary, "kvs.transactions"), summary_value(summary, "kvs.merged"),
            summary_value(summary, "kvs.commits"), summary_value(summary, "kvs.lookups"),
            summary_value(summary, "kvs.blobs"));
    fprintf(out, "events: %.0f published, %.0f overlay messages, %.0f delivered, %.0f dropped, %.0f discarded\n",
            summary_value(summary, "event.published"), summary_value(summary, "event.overlay_messages"),
            summary_value(summary, "event.delivered"), summary_value(summary, "event.dropped"),
            summary_value(summary, "event.discarded"));
    fprintf(out, "cost of events: %.3f s of matching, %.3f s of delivery, %.3f s of discarding\n",
            summary_value(summary, "event.match_s"), summary_value(summary, "event.deliver_s"),
            summary_value(summary, "event.discard_s"));
    job_file_details(&((const struct brokered *)data)->file, summary, out);
}
