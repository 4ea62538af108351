/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/sections.h"

#include <math.h>
#include <string.h>

#include "trace/summary.h"

#define SECOND_NS 1e9

bool report_metric_find(const struct collector *figures, const char *role, const char *metric, unsigned *role_index,
                        unsigned *metric_index)
{
    int r = collector_find_role(figures, role);
    int m = r < 0 ? -1 : collector_find_metric(figures, (unsigned)r, metric);

    if (m < 0)
        return false;
    *role_index = (unsigned)r;
    *metric_index = (unsigned)m;
    return true;
}

char *report_deck_value(const struct report_source *source, const char *group, const char *key)
{
    g_autoptr(GKeyFile) deck = g_key_file_new();
    g_autofree char *text = reader_document(source->reader, "effective");

    if (text == NULL || !g_key_file_load_from_data(deck, text, (gsize)-1, G_KEY_FILE_NONE, NULL))
        return NULL;
    return g_key_file_get_value(deck, group, key, NULL);
}

/* --- the run --- */

gboolean section_add_run(struct document *d, const struct report_source *source, G_GNUC_UNUSED GError **error)
{
    static const struct report_column columns[] = { { "name", "", REPORT_TEXT }, { "value", "", REPORT_TEXT } };
    static const char *const texts[] = { "digest", "software_version", "command_line", "date", "hostname", "level",
                                         "end" };
    struct section *s = document_section(d, "run", "Run", columns, G_N_ELEMENTS(columns));
    g_autofree char *title = report_deck_value(source, "deck", "title");
    double walltime_s;
    uint64_t seed;

    section_text(s, "title");
    section_text(s, title != NULL ? title : "-");
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
        const char *text = reader_text(source->reader, texts[i]);
        if (text == NULL)
            continue;
        section_text(s, texts[i]);
        section_text(s, text);
    }
    if (reader_count(source->reader, "seed", &seed)) {
        section_text(s, "seed");
        section_count(s, seed);
    }
    if (reader_number(source->reader, "walltime_s", &walltime_s)) {
        section_text(s, "walltime_s");
        section_quantity(s, walltime_s, REPORT_SECONDS);
    }
    if (!reader_complete(source->reader))
        section_note(s, "The run had not ended: figures are those of its last flush");
    return TRUE;
}

/* --- the summary's groups --- */

enum report_unit report_key_unit(const char *key)
{
    static const struct {
        const char *unit;
        enum report_unit as;
    } units[] = { { "s", REPORT_SECONDS }, { "B", REPORT_BYTES }, { "1/s", REPORT_RATE }, { "B/s", REPORT_BYTE_RATE } };
    const char *unit = summary_key_unit(key);

    for (unsigned i = 0; i < G_N_ELEMENTS(units); i++)
        if (strcmp(unit, units[i].unit) == 0)
            return units[i].as;
    return strcmp(key, "utilisation") == 0 ? REPORT_SHARE : REPORT_NUMBER;
}

static void add_result(void *data, const char *group, const char *key, const char *text, double number)
{
    struct section *s = data;
    g_autofree char *name = g_strdup_printf("%s.%s", group, key);

    if (strcmp(group, "run") == 0)
        return;
    section_text(s, name);
    if (text != NULL)
        section_text(s, text);
    else
        section_quantity(s, number, report_key_unit(key) == REPORT_NUMBER && number == floor(number)
                                    ? REPORT_COUNT : report_key_unit(key));
}

gboolean section_add_results(struct document *d, const struct report_source *source, G_GNUC_UNUSED GError **error)
{
    static const struct report_column columns[] = { { "name", "", REPORT_TEXT }, { "value", "", REPORT_NUMBER } };

    if (source->summary == NULL)
        return TRUE;
    struct section *s = document_section(d, "results", "Results", columns, G_N_ELEMENTS(columns));
    summary_each(source->summary, add_result, s);
    return TRUE;
}

/* --- roles and stages --- */

gboolean section_add_roles(struct document *d, const struct report_source *source, GError **error)
{
    static const struct report_column columns[] = {
        { "role", "role", REPORT_TEXT },
        { "actors", "actors", REPORT_COUNT },
        { "handled", "handled", REPORT_COUNT },
        { "busy_share", "busy", REPORT_SHARE },
        { "blocked_share", "blocked", REPORT_SHARE },
        { "busy_s", "busy in all", REPORT_SECONDS },
        { "blocked_s", "blocked in all", REPORT_SECONDS },
        { "waited_s", "waited for it", REPORT_SECONDS },
        { "mean_queue", "mean queue", REPORT_NUMBER },
        { "mean_wait_s", "mean wait", REPORT_SECONDS }
    };
    unsigned count;
    GError *reason = NULL;
    struct trace_role_figures *roles = reader_roles(source->reader, &count, &reason);
    double end_s = NAN;

    if (roles == NULL) {
        if (reason != NULL)
            g_propagate_error(error, reason);
        return reason == NULL;
    }
    if (source->summary != NULL)
        summary_lookup(source->summary, "run.sim_end_s", &end_s, NULL);
    struct section *s = document_section(d, "roles", "Roles: busy, blocked in calls, and what waited for them", columns,
                                         G_N_ELEMENTS(columns));
    for (unsigned i = 0; i < count; i++) {
        double span_s = end_s * (double)roles[i].actors;
        section_text(s, roles[i].name);
        section_number(s, (double)roles[i].actors);
        section_number(s, (double)roles[i].handled);
        section_number(s, roles[i].busy_fraction);
        section_number(s, roles[i].blocked_fraction);
        section_number(s, roles[i].busy_fraction * span_s);
        section_number(s, roles[i].blocked_fraction * span_s);
        section_number(s, roles[i].mean_wait_s * (double)roles[i].handled);
        section_number(s, roles[i].mean_queue);
        section_number(s, roles[i].mean_wait_s);
    }
    reader_roles_free(roles, count);
    return TRUE;
}

struct stage {
    unsigned role;
    unsigned metric;
};

/* All stages of the trace, in the order of a job's path where the summary tells it, else in that of their names. */
static GArray *list_stages(const struct report_source *source)
{
    GArray *stages = g_array_new(FALSE, FALSE, sizeof(struct stage));
    for (unsigned r = 0; r < collector_role_count(source->figures); r++) {
        const struct trace_role *role = collector_role(source->figures, r);
        for (unsigned m = 0; m < role->metric_count; m++) {
            struct stage stage = { r, m };
            if (role->metrics[m].type == TRACE_STAGE)
                g_array_append_val(stages, stage);
        }
    }
    unsigned placed = 0;
    const char *name;
    for (unsigned i = 0; source->summary != NULL && (name = summary_stage_name(source->summary, i)) != NULL; i++)
        for (unsigned j = placed; j < stages->len; j++) {
            struct stage found = g_array_index(stages, struct stage, j);
            if (strcmp(collector_role(source->figures, found.role)->metrics[found.metric].name, name) != 0)
                continue;
            g_array_remove_index(stages, j);
            g_array_insert_val(stages, placed, found);
            placed++;
            break;
        }
    return stages;
}

static void add_stage(struct section *s, const struct report_source *source, struct stage stage, double whole_s)
{
    const struct trace_role *role = collector_role(source->figures, stage.role);
    const struct statistic *t = collector_statistic(source->figures, stage.role, stage.metric);
    double mean_s = statistic_mean(t) / SECOND_NS;

    section_text(s, role->metrics[stage.metric].name);
    section_number(s, (double)t->count);
    section_number(s, mean_s);
    section_number(s, statistic_quantile(t, 0.5) / SECOND_NS);
    section_number(s, statistic_quantile(t, 0.95) / SECOND_NS);
    section_number(s, statistic_quantile(t, 1) / SECOND_NS);
    section_number(s, whole_s > 0 ? mean_s / whole_s : NAN);
    section_text(s, role->metrics[stage.metric].text);
}

gboolean section_add_stages(struct document *d, const struct report_source *source, G_GNUC_UNUSED GError **error)
{
    static const struct report_column columns[] = {
        { "stage", "stage", REPORT_TEXT },         { "count", "jobs", REPORT_COUNT },
        { "mean_s", "mean", REPORT_SECONDS },      { "median_s", "median", REPORT_SECONDS },
        { "p95_s", "95 percent", REPORT_SECONDS }, { "max_s", "max", REPORT_SECONDS },
        { "share", "share", REPORT_SHARE },        { "text", "from, to", REPORT_TEXT }
    };
    g_autoptr(GArray) stages = list_stages(source);
    double whole_s = 0;

    if (stages->len == 0)
        return TRUE;
    for (unsigned i = 0; i < stages->len; i++) {
        struct stage stage = g_array_index(stages, struct stage, i);
        const struct statistic *t = collector_statistic(source->figures, stage.role, stage.metric);
        whole_s += t->count > 0 ? statistic_mean(t) / SECOND_NS : 0;
    }
    struct section *s = document_section(d, "stages", "Stages of a job's path", columns, G_N_ELEMENTS(columns));
    for (unsigned i = 0; i < stages->len; i++)
        add_stage(s, source, g_array_index(stages, struct stage, i), whole_s);
    return TRUE;
}

gboolean section_add_limits(struct document *d, const struct report_source *source, G_GNUC_UNUSED GError **error)
{
    static const struct report_column columns[] = {
        { "what", "what", REPORT_TEXT },
        { "share", "share", REPORT_SHARE },
        { "rate_if_free", "rate if it cost nothing", REPORT_RATE }
    };
    struct summary_limit_row row;

    if (source->summary == NULL || !summary_limit_get(source->summary, 0, &row))
        return TRUE;
    struct section *s = document_section(d, "limits", "What limits the rate, over the steady part", columns,
                                         G_N_ELEMENTS(columns));
    for (unsigned i = 0; summary_limit_get(source->summary, i, &row); i++) {
        section_text(s, row.what);
        section_number(s, row.share);
        section_number(s, row.rate_if_free);
    }
    return TRUE;
}
