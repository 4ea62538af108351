/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What writing shared files came to: the group io of the summary, the figures of each file, the balances, and lines for
 * people.
 */
#include "scenario_file.h"

#include <math.h>
#include <string.h>

#include "io/mpiio.h"
#include "scenario_parts.h"

#define SECOND_NS 1e9

/* The last of the moments that a role reported; NAN where there is none. */
static double last_s(const struct collector *figures, const char *role, const char *metric)
{
    const struct statistic *s = collector_named_statistic(figures, role, metric);
    return s->count != 0 ? (double)s->largest / SECOND_NS : NAN;
}

struct summary_file file_figures(const struct collector *figures, const char *mount, const char *storage)
{
    const struct statistic *inflight = collector_named_statistic(figures, storage, "inflight");
    struct summary_file x = {
        .bytes = collector_named_total(figures, storage, "bytes"),
        .writes = collector_named_total(figures, mount, "writes"),
        .extending_writes = collector_named_total(figures, storage, "extending"),
        .exclusive_locks = collector_named_total(figures, mount, "exclusive"),
        .shared_locks = collector_named_total(figures, mount, "shared"),
        .lone_writes = collector_named_total(figures, storage, "lone"),
        .inflight_max = inflight->count != 0 ? (uint64_t)inflight->largest : 0,
        .steals = collector_named_total(figures, mount, "steals"),
        .handoffs = collector_named_total(figures, mount, "handoffs"),
        .lock_wait_s = statistic_mean(collector_named_statistic(figures, mount, "lock_wait")) / SECOND_NS,
        .gain = NAN
    };
    x.extending_share = statistic_ratio((double)x.extending_writes, (double)x.writes);
    x.exclusive_share = statistic_ratio((double)x.exclusive_locks, (double)x.writes);
    return x;
}

void file_summarise_all(struct summary *summary, const struct summary_file *sum, double span_s)
{
    summary_count(summary, "io", "bytes", sum->bytes);
    summary_count(summary, "io", "writes", sum->writes);
    summary_count(summary, "io", "extending_writes", sum->extending_writes);
    summary_count(summary, "io", "exclusive_locks", sum->exclusive_locks);
    summary_count(summary, "io", "shared_locks", sum->shared_locks);
    summary_count(summary, "io", "lone_writes", sum->lone_writes);
    summary_count(summary, "io", "inflight_max", sum->inflight_max);
    summary_number(summary, "io", "lock_wait_s", sum->lock_wait_s);
    summary_number(summary, "io", "bandwidth_bytes_per_s", statistic_ratio((double)sum->bytes, span_s));
}

/* What all writes of a file waited for its lock; a file without a lock of ours has no wait. */
static double waited(const struct summary_file *x)
{
    return x->writes == 0 || isnan(x->lock_wait_s) ? 0 : x->lock_wait_s * (double)x->writes;
}

/* Sums over files; the mean wait is weighed by the writes, and not known where no file has a lock. */
static void add_to(struct summary_file *sum, const struct summary_file *x)
{
    double waited_s = isnan(sum->lock_wait_s) && isnan(x->lock_wait_s) ? NAN : waited(sum) + waited(x);
    sum->bytes += x->bytes;
    sum->writes += x->writes;
    sum->extending_writes += x->extending_writes;
    sum->exclusive_locks += x->exclusive_locks;
    sum->shared_locks += x->shared_locks;
    sum->lone_writes += x->lone_writes;
    sum->inflight_max = MAX(sum->inflight_max, x->inflight_max);
    sum->lock_wait_s = statistic_ratio(waited_s, (double)sum->writes);
}

static void balance_all(const struct file_scenario *s, const struct collector *figures, const struct summary_file *sum,
                        GArray *balances)
{
    uint64_t bytes = 0, grown = 0, expected = 0, written = 0;

    for (unsigned i = 0; i < s->group_count; i++) {
        const struct file_group *group = &s->groups[i];
        const struct shared_file *f = &group->file;
        uint64_t group_bytes = f->file_bytes * (f->each ? f->writers : 1);
        bytes += group_bytes;
        expected += shared_file_existed(f) ? 0 : group_bytes;
        grown += collector_named_total(figures, group->role_names[3], "grown");
        written += collector_named_total(figures, group->role_names[0], "written");
    }
    scenario_balance_add(balances, "bytes", "of the patterns", bytes, "written", sum->bytes);
    scenario_balance_add(balances, "writes", "asked for", sum->writes, "ended", written);
    scenario_balance_add(balances, "locks", "writes", sum->writes, "exclusive and shared",
                         sum->exclusive_locks + sum->shared_locks);
    scenario_balance_add(balances, "sizes", "growth of files", grown, "of the patterns, beyond what was there",
                         expected);
}

/* On the live clock. */
static void balance_live(const struct file_scenario *s, const struct mpiio_figures *live,
                         const struct summary_file *sum, GArray *balances)
{
    uint64_t bytes = 0, expected = 0, verified = 0, locked = 0, broken = 0;

    for (unsigned i = 0; i < s->group_count; i++) {
        const struct file_group *group = &s->groups[i];
        uint64_t group_bytes = group->file.file_bytes * (group->file.each ? group->file.writers : 1);
        bytes += group_bytes;
        expected += group->live.verify ? group_bytes : 0;
        verified += live[i].verified;
        locked += group->live.locked ? live[i].writes : 0;
        broken += live[i].lock.broken;
    }
    scenario_balance_add(balances, "bytes", "of the patterns", bytes, "written", sum->bytes);
    scenario_balance_add(balances, "verified", "bytes to read back", expected, "read, and right", verified);
    scenario_balance_add(balances, "locks", "writes under a lock", locked, "exclusive and shared",
                         sum->exclusive_locks + sum->shared_locks);
    scenario_balance_add(balances, "excluded", "locks held beside one that excludes them", broken, "allowed", 0);
}

static struct summary_file figures_of(const struct file_group *group, const struct collector *figures)
{
    struct summary_file x = file_figures(figures, group->role_names[1], group->role_names[3]);

    x.prepared_s = last_s(figures, group->role_names[0], "ready");
    x.ended_s = last_s(figures, group->role_names[0], "ended");
    if (collector_named_statistic(figures, group->role_names[0], "ended")->count < group->file.writers)
        x.ended_s = NAN;
    x.bandwidth_bytes_per_s = statistic_ratio((double)x.bytes, x.ended_s);
    x.mib_per_s = x.bandwidth_bytes_per_s / FILE_MIB;
    x.writes_per_s = statistic_ratio((double)x.writes, x.ended_s);
    return x;
}

/* From when all began to open the file until the last has closed it. */
static struct summary_file live_figures_of(const struct file_group *group, const struct mpiio_figures *x)
{
    const struct file_live_span span = { file_seconds(x->ready_ns), file_seconds(x->closed_ns),
                                         file_seconds(x->written_ns) - file_seconds(x->ready_ns) };
    return file_live_file(x, group->live.locked, &span);
}

static void summarise_live(const struct file_scenario *s, const struct mpiio_figures *live, struct summary *summary)
{
    file_live_tell(summary, live, s->group_count);
    for (unsigned i = 0; i < s->group_count; i++) {
        struct summary_live_file x = file_live_times(&live[i]);
        summary_live_file(summary, s->groups[i].name, &x);
    }
}

void file_summarise(const void *data, const struct scenario_run *run, struct summary *summary, GArray *balances)
{
    const struct file_scenario *s = data;
    g_autofree struct summary_file *files = g_new0(struct summary_file, s->group_count);
    g_autofree struct mpiio_figures *live = g_new0(struct mpiio_figures, s->group_count);
    struct summary_file sum = { .lock_wait_s = NAN };
    double span_s = NAN;

    for (unsigned i = 0; i < s->group_count; i++) {
        const struct file_group *group = &s->groups[i];
        struct summary_file *x = &files[i];
        if (s->live) {
            file_live_collect(run->figures, group->role_names[0], &live[i]);
            *x = live_figures_of(group, &live[i]);
            span_s = isnan(span_s) ? x->ended_s : span_s + x->ended_s;
        } else {
            *x = figures_of(group, run->figures);
            span_s = isnan(span_s) ? x->ended_s : MAX(span_s, x->ended_s);
        }
        add_to(&sum, x);
    }
    for (unsigned i = 0; i < s->group_count; i++) {
        const struct file_group *group = &s->groups[i];
        if (group->against >= 0)
            files[i].gain = statistic_ratio(files[i].bandwidth_bytes_per_s,
                                            files[group->against].bandwidth_bytes_per_s);
        summary_file(summary, group->name, &files[i]);
    }
    file_summarise_all(summary, &sum, span_s);
    if (s->live)
        summarise_live(s, live, summary);
    if (run->result->end != ENGINE_ENDED)
        return;
    if (s->live)
        balance_live(s, live, &sum, balances);
    else
        balance_all(s, run->figures, &sum, balances);
}

/* --- the terminal --- */

static double file_value(const struct summary *summary, const char *file, const char *key)
{
    g_autofree char *path = g_strdup_printf("files.%s.%s", file, key);
    return summary_value(summary, path);
}

static double live_value(const struct summary *summary, const char *file, const char *key)
{
    g_autofree char *path = g_strdup_printf("live_files.%s.%s", file, key);
    return summary_value(summary, path);
}

void file_headline(const void *data, const struct summary *summary, FILE *out)
{
    const struct file_scenario *s = data;

    fprintf(out, "%u file%s written: %.0f bytes in %.0f writes, %.0f of them exclusive\n", s->group_count,
            s->group_count == 1 ? "" : "s", summary_value(summary, "io.bytes"), summary_value(summary, "io.writes"),
            summary_value(summary, "io.exclusive_locks"));
}

/* A share of a whole in percent, or that it is not known. */
static void print_share(double share, FILE *out)
{
    if (isnan(share))
        fprintf(out, "%10s ", "-");
    else
        fprintf(out, "%9.2f%% ", share * 100);
}

static int name_width(const struct file_scenario *s)
{
    size_t width = 20;

    for (unsigned i = 0; i < s->group_count; i++)
        width = MAX(width, strlen(s->groups[i].name));
    return (int)width;
}

static void print_live(const struct file_scenario *s, const struct summary *summary, FILE *out)
{
    int width = name_width(s);

    fprintf(out, "%-*s %10s %10s %10s %12s %10s %10s\n", width, "file, live", "open s", "write s", "close s",
            "verified", "re-taken", "held up s");
    for (unsigned i = 0; i < s->group_count; i++) {
        const char *name = s->groups[i].name;
        fprintf(out, "%-*s %10.4f %10.4f %10.4f %12.0f ", width, name, live_value(summary, name, "open_s"),
                live_value(summary, name, "write_s"), live_value(summary, name, "close_s"),
                live_value(summary, name, "verified_bytes"));
        print_share(live_value(summary, name, "retake_share"), out);
        fprintf(out, "%10.4f\n", live_value(summary, name, "held_up_s"));
    }
}

void file_details(const void *data, const struct summary *summary, FILE *out)
{
    const struct file_scenario *s = data;
    int width = name_width(s);

    fprintf(out, "%-*s %8s %10s %12s %10s %10s %9s %8s\n", width, "file", "writers", "writes", "MiB/s", "extending",
            "exclusive", "at once", "gain");
    for (unsigned i = 0; i < s->group_count; i++) {
        const struct file_group *group = &s->groups[i];
        double gain = file_value(summary, group->name, "gain");
        fprintf(out, "%-*s %8u %10.0f %12.6g ", width, group->name, group->file.writers,
                file_value(summary, group->name, "writes"), file_value(summary, group->name, "mib_per_s"));
        print_share(file_value(summary, group->name, "extending_share"), out);
        print_share(file_value(summary, group->name, "exclusive_share"), out);
        if (s->live && !group->live.locked)
            fprintf(out, "%9s ", "-");
        else
            fprintf(out, "%9.0f ", file_value(summary, group->name, "inflight_max"));
        if (isnan(gain))
            fprintf(out, "%8s\n", "-");
        else
            fprintf(out, "%8.3f\n", gain);
    }
    if (s->live)
        print_live(s, summary, out);
}
