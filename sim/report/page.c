/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/page.h"

#include <math.h>
#include <string.h>

#include "report/svg.h"

#define SECOND_NS 1e9

enum { BARS_MOST = 24, POINTS = 48, COLLECTION_POINTS = 16 };

static const char style[] =
    "body{font:16px/1.45 system-ui,sans-serif;margin:0 auto;padding:1rem;max-width:82rem;color:#1a1a1a;background:#fff}"
    "h1{font-size:1.3rem;overflow-wrap:anywhere}h2{font-size:1.1rem;margin:1.6rem 0 .4rem}"
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1rem}"
    ".figures svg{width:100%;height:auto;border:1px solid #ddd}"
    ".table{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem}"
    "th,td{padding:.15rem .7rem;text-align:right;border-bottom:1px solid #e4e4e4;white-space:nowrap}"
    "th.t,td.t{text-align:left;white-space:normal}#run td.t:last-child{overflow-wrap:anywhere}"
    "#results .table{columns:22rem}p{font-size:.9rem;margin:.3rem 0}"
    "svg text{font-family:system-ui,sans-serif;fill:#1a1a1a}svg .title{font-size:17px;font-weight:600}"
    "svg .label{font-size:14px}svg .tick{font-size:13px}svg .grid{stroke:#e2e2e2;stroke-width:1}";

/* --- curves of the trace --- */

struct metric_name {
    const char *role;
    const char *metric;
};

/* The first metric of a list that the trace has a curve, or with `samples` a statistic, of. */
static bool find_first(const struct collector *figures, const struct metric_name *names, unsigned count, bool samples,
                       unsigned *role, unsigned *metric)
{
    for (unsigned i = 0; i < count; i++) {
        if (!report_metric_find(figures, names[i].role, names[i].metric, role, metric))
            continue;
        enum trace_metric_type type = collector_role(figures, *role)->metrics[*metric].type;
        if (samples ? type >= TRACE_SAMPLE : type != TRACE_COUNTER)
            return true;
    }
    return false;
}

struct points {
    double *x;
    double *y;
    unsigned count;
};

static struct points points_new(unsigned count)
{
    return (struct points){ g_new(double, MAX(count, 1)), g_new(double, MAX(count, 1)), count };
}

static void points_release(struct points *p)
{
    g_free(p->x);
    g_free(p->y);
}

/* The sum over the bins that point i of a curve stands for. */
static double bins_sum(const struct series *s, unsigned i, unsigned bins)
{
    double sum = 0;
    for (unsigned j = i * bins; j < (i + 1) * bins && j < s->bins; j++)
        sum += (double)s->bin[j];
    return sum;
}

/* `over` divided by `under`, or where that is NULL by the time, in at most some 2 x `most` points: in many more the
 * chance of what falls into which bin is all that is seen. A point of which `under` has nothing is left out. */
static struct points curve_points(const struct series *over, const struct series *under, double scale, unsigned most)
{
    unsigned bins = MAX(1, over->bins / most);
    struct points p = points_new(over->bins / bins);
    unsigned count = 0;
    for (unsigned i = 0; i < over->bins / bins; i++) {
        double width_s = (double)over->width_ns / SECOND_NS * bins;
        double by = under == NULL ? width_s : bins_sum(under, i, bins);
        if (by <= 0)
            continue;
        p.x[count] = ((double)i + 0.5) * width_s;
        p.y[count++] = bins_sum(over, i, bins) / by * scale;
    }
    p.count = count;
    return p;
}

static void put_curve(FILE *out, const char *title, const char *label, const struct points *p)
{
    struct svg_curve curve = { "", p->x, p->y, p->count };
    svg_curves(out, title, "time (s)", label, &curve, 1);
}

static void put_throughput(FILE *out, const struct collector *figures)
{
    static const struct metric_name names[] = { { "lb-client", "ended" }, { "client", "ended" },
                                                { "job-manager", "release" }, { "plain-client", "ended" },
                                                { "source", "sojourn" }, { "namespace-client", "removed" },
                                                { "batch", "completed" } };
    unsigned r, m;

    if (!find_first(figures, names, G_N_ELEMENTS(names), false, &r, &m))
        return;
    struct points p = curve_points(collector_series(figures, r, m), NULL, 1, POINTS);
    put_curve(out, "Throughput over time", "ended per second (1/s)", &p);
    points_release(&p);
}

static void put_distribution(FILE *out, const struct collector *figures)
{
    static const struct metric_name names[] = { { "job-manager", "wait" }, { "source", "sojourn" },
                                                { "lb-client", "pause" }, { "batch", "wait" } };
    unsigned r, m, count = 0;

    if (!find_first(figures, names, G_N_ELEMENTS(names), true, &r, &m))
        return;
    const struct statistic *s = collector_statistic(figures, r, m);
    const struct trace_role *role = collector_role(figures, r);
    g_autofree double *lower = g_new(double, s->buckets + 1), *upper = g_new(double, s->buckets + 1);
    g_autofree double *share = g_new(double, s->buckets + 1);
    /* Eight buckets together: an eighth of a factor of two. */
    for (unsigned i = STATISTIC_EXACT; i < s->buckets; i += 8) {
        uint64_t values = 0;
        for (unsigned j = i; j < i + 8 && j < s->buckets; j++)
            values += s->bucket[j];
        if (values == 0)
            continue;
        lower[count] = (double)statistic_bucket_lower(i) / SECOND_NS;
        upper[count] = (double)(statistic_bucket_upper(i + 7) + 1) / SECOND_NS;
        share[count++] = (double)values / (double)s->count;
    }
    g_autofree char *label = g_strdup_printf("%s (s)", role->metrics[m].text);
    svg_histogram(out, "Distribution of times", label, lower, upper, share, count);
}

static void put_heap(FILE *out, const struct collector *figures)
{
    unsigned r, freed, paused, pause;

    if (!report_metric_find(figures, "lb-client", "freed", &r, &freed) ||
        !report_metric_find(figures, "lb-client", "paused", &r, &paused) ||
        !report_metric_find(figures, "lb-client", "pause", &r, &pause))
        return;
    const struct series *number = collector_series(figures, r, pause);
    const struct series *left = collector_series(figures, r, freed);
    if (left->total == 0 || left->width_ns != number->width_ns)
        return;
    struct points p = curve_points(left, number, 1.0 / 1048576, POINTS);
    put_curve(out, "Free in the client's heap after a collection", "MiB", &p);
    points_release(&p);
    p = curve_points(collector_series(figures, r, paused), NULL, 60 / SECOND_NS, COLLECTION_POINTS);
    put_curve(out, "Collections of the client's heap", "seconds in a minute (s)", &p);
    points_release(&p);
}

/* --- figures of sections --- */

static int column_find(const struct section *s, const char *name)
{
    for (unsigned c = 0; c < s->column_count; c++)
        if (strcmp(s->columns[c].name, name) == 0)
            return (int)c;
    g_assert_not_reached();
}

static double number_at(const struct section *s, unsigned row, const char *column)
{
    return section_value(s, row, (unsigned)column_find(s, column))->number;
}

static const char *text_at(const struct section *s, unsigned row, const char *column)
{
    return section_value(s, row, (unsigned)column_find(s, column))->text;
}

static void put_waterfall(FILE *out, const struct document *d)
{
    const struct section *s = document_find(d, "stages");
    if (s == NULL)
        return;
    unsigned count = 0;
    g_autofree struct svg_span *spans = g_new0(struct svg_span, section_rows(s));
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    double at_s = 0;
    for (unsigned i = 0; i < section_rows(s); i++) {
        double mean_s = number_at(s, i, "mean_s");
        if (!isfinite(mean_s))
            continue;
        struct report_value value = { .number = mean_s, .unit = REPORT_SECONDS };
        char *text = report_value_text(&value);
        g_ptr_array_add(texts, text);
        spans[count++] = (struct svg_span){ text_at(s, i, "stage"), at_s, at_s + mean_s, text };
        at_s += mean_s;
    }
    svg_spans(out, "Stages of a job's path, mean of each", "time since submission (s)", spans, count);
}

static void put_roles(FILE *out, const struct document *d)
{
    const struct section *s = document_find(d, "roles");
    struct svg_bar bars[BARS_MOST];
    unsigned count = s == NULL ? 0 : MIN(section_rows(s), BARS_MOST);
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < count; i++) {
        double busy = number_at(s, i, "busy_share"), blocked = number_at(s, i, "blocked_share");
        char *text = g_strdup_printf("%.1f %%", (busy + blocked) * 100);
        g_ptr_array_add(texts, text);
        bars[i] = (struct svg_bar){ text_at(s, i, "role"), busy * 100, blocked * 100, text };
    }
    svg_bars(out, "Roles: mean over their actors and the whole run", "share of the time (%)", "busy",
             "blocked in calls", bars, count);
}

/* A bar a row of a section, but for rows without a value: names from its first column. `tell` gives the text at the
 * end of a bar, which the caller frees. */
struct row_bars {
    const char *section;
    const char *title;
    const char *label;
    const char *column;             /* of the values */
    double scale, offset;
    char *(*tell)(const struct section *s, unsigned row);
    bool (*belongs)(const struct section *s, unsigned row);     /* NULL: all do */
};

static void put_row_bars(FILE *out, const struct document *d, const struct row_bars *b)
{
    const struct section *s = document_find(d, b->section);
    struct svg_bar bars[BARS_MOST];
    unsigned count = 0;
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; s != NULL && i < section_rows(s) && count < BARS_MOST; i++) {
        double value = number_at(s, i, b->column);
        if (!isfinite(value) || (b->belongs != NULL && !b->belongs(s, i)))
            continue;
        char *text = b->tell(s, i);
        g_ptr_array_add(texts, text);
        bars[count++] = (struct svg_bar){ section_value(s, i, 0)->text, value * b->scale + b->offset, 0,
                                          text };
    }
    svg_bars(out, b->title, b->label, NULL, NULL, bars, count);
}

static char *value_text(const struct section *s, unsigned row, const char *column)
{
    return report_value_text(section_value(s, row, (unsigned)column_find(s, column)));
}

static char *tell_limit(const struct section *s, unsigned row)
{
    g_autofree char *rate = value_text(s, row, "rate_if_free");
    return isfinite(number_at(s, row, "rate_if_free")) ? g_strdup_printf("%s if free", rate) : g_strdup("");
}

static char *tell_file(const struct section *s, unsigned row)
{
    g_autofree char *rate = value_text(s, row, "writes_per_s"), *gain = value_text(s, row, "gain");
    return isfinite(number_at(s, row, "gain")) ? g_strdup_printf("%s, gain %s", rate, gain) : g_strdup(rate);
}

static char *tell_class(const struct section *s, unsigned row)
{
    g_autofree char *wait = value_text(s, row, "mean_wait_s");
    return g_strdup_printf("%s, %.0f jobs", wait, number_at(s, row, "jobs"));
}

static char *tell_expectation(const struct section *s, unsigned row)
{
    g_autofree char *measured = value_text(s, row, "measured");
    return g_strdup_printf("%s, %s", measured, text_at(s, row, "text"));
}

static bool is_comparable(const struct section *s, unsigned row)
{
    return strcmp(text_at(s, row, "text"), "not comparable") != 0;
}

static void put_lists(FILE *out, const struct document *d)
{
    static const struct row_bars figures[] = {
        { "limits", "What limits: busiest thread of each role, steady part", "share of the time (%)", "share", 100,
          0, tell_limit, NULL },
        { "files", "Shared files", "writes per second (1/s)", "writes_per_s", 1, 0, tell_file, NULL },
        { "classes", "Wait of jobs by width and by length", "mean wait (s)", "mean_wait_s", 1, 0, tell_class,
          NULL },
        { "expect", "Measured against published", "measured over published (%)", "error", 100, 100, tell_expectation,
          is_comparable }
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(figures); i++)
        put_row_bars(out, d, &figures[i]);
}

/* --- the page --- */

static void put_cell(FILE *out, const char *element, bool text, const char *content)
{
    g_autofree char *escaped = svg_escape(content);
    fprintf(out, "<%s%s>%s</%s>", element, text ? " class=\"t\"" : "", escaped, element);
}

static void put_section(FILE *out, const struct section *s)
{
    g_autofree char *title = svg_escape(s->title);
    fprintf(out, "<section id=\"%s\"><h2>%s</h2>\n<div class=\"table\"><table>\n<tr>", s->name, title);
    for (unsigned c = 0; c < s->column_count; c++)
        put_cell(out, "th", s->columns[c].unit == REPORT_TEXT, s->columns[c].title);
    fputs("</tr>\n", out);
    for (unsigned r = 0; r < section_rows(s); r++) {
        fputs("<tr>", out);
        for (unsigned c = 0; c < s->column_count; c++) {
            g_autofree char *text = report_value_text(section_value(s, r, c));
            put_cell(out, "td", s->columns[c].unit == REPORT_TEXT, text);
        }
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
    for (guint i = 0; i < s->notes->len; i++) {
        put_cell(out, "p", false, g_ptr_array_index(s->notes, i));
        fputc('\n', out);
    }
    fputs("</section>\n", out);
}

void page_write(const struct document *d, const struct report_source *source, FILE *out)
{
    g_autofree char *title = svg_escape(d->title);

    fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<title>%s</title>\n<style>%s</style></head>\n<body>\n<h1>%s</h1>\n<div class=\"figures\">\n", title, style,
            title);
    put_throughput(out, source->figures);
    put_lists(out, d);
    put_waterfall(out, d);
    put_roles(out, d);
    put_distribution(out, source->figures);
    put_heap(out, source->figures);
    fputs("</div>\n", out);
    for (guint i = 0; i < d->sections->len; i++)
        put_section(out, g_ptr_array_index(d->sections, i));
    fputs("</body></html>\n", out);
}
