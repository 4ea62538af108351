/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the summary has by name: what was expected and what came, classes of jobs, stations, shared files, services of
 * the live clock, and the balances. A section a list; columns are named after the summary's keys.
 */
#include "report/sections.h"

#include <string.h>

enum { COLUMNS_MOST = 14 };

struct list {
    const char *name;               /* in the summary, and of the section */
    const char *title;
    struct report_column columns[COLUMNS_MOST];     /* first the entry's name; ended by a name of NULL */
    char *(*tell)(const struct report_source *source, unsigned i);  /* the last column, a text; NULL: there is none */
};

static double number(const struct report_source *source, const char *list, unsigned i, const char *key)
{
    return summary_entry_number(source->summary, list, i, key);
}

static char *tell_expectation(const struct report_source *source, unsigned i)
{
    if (number(source, "expect", i, "comparable") == 0)
        return g_strdup("not comparable");
    return g_strdup(number(source, "expect", i, "ok") != 0 ? "ok" : "missed");
}

static char *tell_balance(const struct report_source *source, unsigned i)
{
    return g_strdup(number(source, "balance", i, "ok") != 0 ? "ok" : "failed");
}

/* "wait of jobs with 2 to 8 processors": the text of the class's own metric says who belongs to it. */
static char *tell_class(const struct report_source *source, unsigned i)
{
    g_autofree char *metric = g_strconcat("wait_", summary_entry_name(source->summary, "classes", i), NULL);
    static const char before[] = "wait of jobs with ";
    unsigned r, m;

    if (!report_metric_find(source->figures, "batch", metric, &r, &m))
        return g_strdup("");
    const char *text = collector_role(source->figures, r)->metrics[m].text;
    return g_strdup(g_str_has_prefix(text, before) ? text + strlen(before) : text);
}

static const struct list lists[] = {
    { "expect", "Measured against published",
      { { "name", "key", REPORT_TEXT }, { "published", "published", REPORT_NUMBER },
        { "measured", "measured", REPORT_NUMBER }, { "error", "off by", REPORT_SHARE },
        { "text", "verdict", REPORT_TEXT } }, tell_expectation },
    { "classes", "Jobs by width and by length",
      { { "name", "class", REPORT_TEXT }, { "jobs", "jobs", REPORT_COUNT },
        { "mean_wait_s", "mean wait", REPORT_SECONDS }, { "max_wait_s", "longest wait", REPORT_SECONDS },
        { "mean_bounded_slowdown", "bounded slowdown", REPORT_NUMBER }, { "text", "jobs with", REPORT_TEXT } },
      tell_class },
    { "stations", "Stations",
      { { "name", "station", REPORT_TEXT }, { "servers", "servers", REPORT_COUNT }, { "jobs", "jobs", REPORT_COUNT },
        { "utilisation", "utilisation", REPORT_SHARE }, { "mean_queue", "mean queue", REPORT_NUMBER },
        { "mean_wait_s", "mean wait", REPORT_SECONDS } }, NULL },
    { "files", "Shared files",
      { { "name", "file", REPORT_TEXT }, { "writes", "writes", REPORT_COUNT }, { "writes_per_s", "rate", REPORT_RATE },
        { "mib_per_s", "MiB/s", REPORT_NUMBER }, { "gain", "gain", REPORT_NUMBER },
        { "lock_wait_s", "mean wait for the lock", REPORT_SECONDS },
        { "extending_share", "extending", REPORT_SHARE }, { "exclusive_share", "exclusive", REPORT_SHARE },
        { "inflight_max", "at once", REPORT_COUNT }, { "steals", "steals", REPORT_COUNT },
        { "handoffs", "hand-offs", REPORT_COUNT }, { "ended_s", "ended at", REPORT_SECONDS } }, NULL },
    { "services", "Handlings on the live clock",
      { { "name", "role/kind", REPORT_TEXT }, { "handled", "handled", REPORT_COUNT },
        { "mean_s", "mean", REPORT_SECONDS }, { "p50_s", "median", REPORT_SECONDS },
        { "p99_s", "99 percent", REPORT_SECONDS } }, NULL },
    { "balance", "Balances",
      { { "name", "balance", REPORT_TEXT }, { "left", "left", REPORT_COUNT }, { "right", "right", REPORT_COUNT },
        { "text", "verdict", REPORT_TEXT } }, tell_balance }
};

/* What is expected has the unit of its key, not of its column. */
static void add_number(struct section *s, const struct list *list, unsigned c, const char *name, double value)
{
    bool own = list->tell == tell_expectation && list->columns[c].unit == REPORT_NUMBER;
    section_quantity(s, value, own ? report_key_unit(name) : list->columns[c].unit);
}

static void add_list(struct document *d, const struct report_source *source, const struct list *list)
{
    unsigned columns = 0;
    const char *name;

    while (list->columns[columns].name != NULL)
        columns++;
    struct section *s = document_section(d, list->name, list->title, list->columns, columns);
    unsigned numbers = list->tell != NULL ? columns - 1 : columns;
    for (unsigned i = 0; (name = summary_entry_name(source->summary, list->name, i)) != NULL; i++) {
        section_text(s, name);
        for (unsigned c = 1; c < numbers; c++)
            add_number(s, list, c, name, number(source, list->name, i, list->columns[c].name));
        if (list->tell != NULL) {
            g_autofree char *text = list->tell(source, i);
            section_text(s, text);
        }
    }
}

gboolean section_add_lists(struct document *d, const struct report_source *source, G_GNUC_UNUSED GError **error)
{
    for (unsigned i = 0; source->summary != NULL && i < G_N_ELEMENTS(lists); i++)
        if (summary_entry_name(source->summary, lists[i].name, 0) != NULL)
            add_list(d, source, &lists[i]);
    return TRUE;
}
