/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap of a dispatcher's client: how it went, and when it comes to its end. */
#include "report/sections.h"

#include <math.h>

#include "base/quantity.h"
#include "report/collapse.h"

#define SECOND_NS 1e9

static const char client[] = "lb-client";

struct heap_curves {
    const struct series *tasks;
    const struct series *collections;
    const struct series *paused;
    const struct series *freed;
};

static const struct series *curve(const struct collector *figures, const char *metric)
{
    unsigned r, m;

    return report_metric_find(figures, client, metric, &r, &m) ? collector_series(figures, r, m) : NULL;
}

static double total(const struct collector *figures, const char *metric)
{
    unsigned r, m;

    return report_metric_find(figures, client, metric, &r, &m) ? (double)collector_total(figures, r, m) : NAN;
}

static const struct statistic *moment(const struct collector *figures, const char *metric)
{
    unsigned r, m;

    return report_metric_find(figures, client, metric, &r, &m) ? collector_statistic(figures, r, m) : NULL;
}

/* The sum over the time from first_ns to end_ns; a curve of narrower bins than asked for has whole ones in it. */
static double between(const struct series *curve, int64_t first_ns, int64_t end_ns)
{
    double sum = 0;
    for (unsigned i = (unsigned)(first_ns / curve->width_ns); i < curve->bins && i * curve->width_ns < end_ns; i++)
        sum += (double)curve->bin[i];
    return sum;
}

/* All curves in bins of the widest one, from 0 until tasks are no longer handed out. */
static struct collapse_bin *read_bins(const struct heap_curves *c, int64_t drain_ns, double clients, unsigned *count)
{
    int64_t width_ns = MAX(MAX(c->tasks->width_ns, c->collections->width_ns),
                           MAX(c->paused->width_ns, c->freed->width_ns));
    unsigned bins = (unsigned)MIN(drain_ns / width_ns, SERIES_BINS);
    struct collapse_bin *bin = g_new0(struct collapse_bin, MAX(bins, 1));

    for (unsigned i = 0; i < bins; i++) {
        int64_t first_ns = i * width_ns, end_ns = first_ns + width_ns;
        bin[i] = (struct collapse_bin){
            .width_s = (double)width_ns / SECOND_NS,
            .tasks = between(c->tasks, first_ns, end_ns) / clients,
            .collections = between(c->collections, first_ns, end_ns) / clients,
            .paused_s = between(c->paused, first_ns, end_ns) / SECOND_NS / clients,
            .freed_bytes = between(c->freed, first_ns, end_ns) / clients
        };
    }
    *count = bins;
    return bin;
}

static void add_point(struct section *s, const char *what, const struct collapse_point *p, double clients)
{
    section_text(s, what);
    section_number(s, p->tasks * clients);
    section_number(s, p->time_s);
    section_number(s, p->free_bytes);
    section_number(s, p->rate * clients);
}

/* Where the rate first was below half of that of the first full bin, and stayed so. */
static void add_measured_half(struct section *s, const struct collapse_bin *bin, unsigned count, double clients)
{
    double tasks = 0, time_s = 0;
    unsigned last = count;

    if (count < 4)
        return;
    double limit = (bin[1].tasks + bin[2].tasks) / 4;
    while (last > 0 && bin[last - 1].tasks < limit)
        last--;
    if (last == count)
        return;
    for (unsigned i = 0; i < last; i++) {
        tasks += bin[i].tasks;
        time_s += bin[i].width_s;
    }
    struct collapse_point p = { tasks, time_s, bin[last].collections > 0 ? bin[last].freed_bytes / bin[last].collections
                                                                         : NAN, bin[last].tasks / bin[last].width_s };
    add_point(s, "half the rate (measured)", &p, clients);
}

static double heap_bytes(const struct report_source *source)
{
    g_autofree char *text = report_deck_value(source, "heap", "size");
    struct quantity size;

    return text != NULL && quantity_parse(QUANTITY_SIZE, text, NULL, &size, NULL) ? (double)size.size_bytes : 0;
}

static double client_count(const struct report_source *source)
{
    unsigned count;
    struct trace_role_figures *roles = reader_roles(source->reader, &count, NULL);
    double clients = 1;

    for (unsigned i = 0; roles != NULL && i < count; i++)
        if (g_strcmp0(roles[i].name, client) == 0)
            clients = (double)roles[i].actors;
    if (roles != NULL)
        reader_roles_free(roles, count);
    return MAX(clients, 1);
}

static void add_law(struct section *s, const struct collapse *c)
{
    if (c->reason != NULL) {
        section_note(s, "No prediction: %s", c->reason);
        return;
    }
    section_note(s, "Predicted from this trace's collections: %.4g bytes leak and %.4g are allocated a task; a "
                 "collection takes %.4g s + %.4g ns a live byte, %.4g s of it hidden; a task takes %.4g us besides",
                 c->leak_bytes, c->allocated_bytes, c->pause_fixed_s, c->pause_byte_s * 1e9, c->hidden_s,
                 c->task_s * 1e6);
    section_note(s, "The end: work fills less than 2 %% of the time between collections (HotSpot's overhead limit)");
}

gboolean section_add_heap(struct document *d, const struct report_source *source, G_GNUC_UNUSED GError **error)
{
    static const struct report_column columns[] = {
        { "point", "", REPORT_TEXT },           { "tasks", "tasks", REPORT_COUNT },
        { "time_s", "time", REPORT_SECONDS },   { "free_bytes", "free", REPORT_BYTES },
        { "rate", "rate", REPORT_RATE }
    };
    const struct collector *figures = source->figures;
    struct heap_curves curves = { curve(figures, "ended"), curve(figures, "pause"), curve(figures, "paused"),
                                  curve(figures, "freed") };
    const struct statistic *drain = moment(figures, "submit_span");
    double size = heap_bytes(source), clients = client_count(source);
    struct collapse collapse;
    unsigned count;

    if (size <= 0 || curves.tasks == NULL || curves.collections == NULL || curves.paused == NULL ||
        curves.freed == NULL || curves.collections->total == 0)
        return TRUE;
    uint64_t end_ns = 0;
    reader_count(source->reader, "end_ns", &end_ns);
    int64_t drain_ns = drain != NULL && drain->count > 0 ? drain->smallest : (int64_t)end_ns;
    if (drain_ns == 0)      /* a run that was killed */
        drain_ns = (int64_t)(curves.tasks->bins > 0 ? curves.tasks->bins - 1 : 0) * curves.tasks->width_ns;
    struct collapse_bin *bins = read_bins(&curves, drain_ns, clients, &count);
    collapse_predict(&collapse, bins, count, size);

    struct section *s = document_section(d, "heap", "The client's heap", columns, G_N_ELEMENTS(columns));
    if (collapse.start.free_bytes > 0)
        add_point(s, "start", &collapse.start, clients);
    if (collapse.reason == NULL)
        add_point(s, "last full bin", &collapse.now, clients);
    add_measured_half(s, bins, count, clients);
    if (collapse.reason == NULL) {
        struct collapse_point empty = { collapse.empty_tasks, NAN, 0, NAN };
        add_point(s, "half the rate (predicted)", &collapse.half, clients);
        add_point(s, "the end (predicted)", &collapse.end, clients);
        add_point(s, "empty by a straight line", &empty, clients);
    }
    if (total(figures, "exhausted") > 0) {
        struct collapse_point end = { total(figures, "submitted") / clients, (double)drain_ns / SECOND_NS, NAN, NAN };
        add_point(s, "the end (measured)", &end, clients);
    }
    add_law(s, &collapse);
    g_free(bins);
    return TRUE;
}
