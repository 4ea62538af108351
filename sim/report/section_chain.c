/* SPDX-License-Identifier: BSD-3-Clause */
/* The critical path of a job through the roles (chain.h), of a trace of level `events`. */
#include "report/sections.h"

#include <math.h>
#include <string.h>

#include "base/quantity.h"
#include "report/chain.h"

#define SECOND_NS 1e9

static int64_t latency(const struct report_source *source, const char *key)
{
    g_autofree char *text = report_deck_value(source, "network", key);
    struct quantity value;

    return text != NULL && quantity_parse(QUANTITY_DURATION, text, NULL, &value, NULL) ? value.duration_ns : 1;
}

/* The one actor of the role whose stages make the path: it wrote the job's row. False when there is none, or
 * several. */
static bool find_writer(const struct report_source *source, const struct reader_names *names, uint32_t *actor)
{
    unsigned found = 0;
    for (unsigned r = 0; r < collector_role_count(source->figures); r++) {
        const struct trace_role *role = collector_role(source->figures, r);
        bool stages = false;
        for (unsigned m = 0; m < role->metric_count; m++)
            stages = stages || role->metrics[m].type == TRACE_STAGE;
        for (uint32_t id = 0; stages && id < names->actors; id++)
            if (strcmp(names->role_name[names->role[id]], role->name) == 0) {
                *actor = id;
                found++;
            }
    }
    return found == 1;
}

static void add_row(struct section *s, const char *what, const char *id, const char *role, const struct chain_part *p,
                    int64_t way_ns, int64_t span_ns)
{
    section_text(s, what);
    section_text(s, id);
    section_text(s, role);
    section_number(s, (double)p->handlings);
    section_number(s, (double)p->busy_ns / SECOND_NS);
    section_number(s, (double)p->waited_ns / SECOND_NS);
    section_number(s, (double)(p->timer_ns + way_ns) / SECOND_NS);
    section_number(s, span_ns > 0 ? (double)(p->busy_ns + p->waited_ns + p->timer_ns + way_ns) / (double)span_ns : NAN);
}

static gboolean add_chain(struct section *s, const struct report_source *source, const struct reader_names *names,
                          uint32_t writer, const struct job_rows *jobs, const char *what, uint64_t row, GError **error)
{
    struct job_step steps[JOB_STEPS_MOST];
    GError *local = NULL;
    unsigned count;
    uint64_t id;

    if (!job_rows_path(jobs, row, steps, &count, &id, error))
        return FALSE;
    if (count < 2)
        return TRUE;
    int64_t from_ns = steps[0].time_ns, to_ns = steps[count - 1].time_ns;
    g_autofree char *number = g_strdup_printf("%" G_GUINT64_FORMAT, id);
    struct chain *c = chain_new(source->reader, names, from_ns, to_ns, latency(source, "hop-latency"),
                                latency(source, "local-latency"), &local);
    if (c == NULL) {
        if (local != NULL) {
            g_propagate_error(error, local);
            return FALSE;
        }
        section_note(s, "Job %s is not told: more than %d messages within its time, or none", number, CHAIN_ROWS_MOST);
        return TRUE;
    }
    unsigned roles = g_strv_length(names->role_name);
    g_autofree struct chain_part *parts = g_new0(struct chain_part, roles + 1);
    int64_t way_ns = chain_walk(c, writer, parts);
    for (unsigned r = 0; r < roles; r++)
        if (parts[r].handlings > 0)
            add_row(s, what, number, names->role_name[r], &parts[r], 0, to_ns - from_ns);
    add_row(s, what, number, "(links)", &parts[roles], way_ns, to_ns - from_ns);
    chain_free(c);
    return TRUE;
}

gboolean section_add_chain(struct document *d, const struct report_source *source, GError **error)
{
    static const struct report_column columns[] = {
        { "job", "job", REPORT_TEXT },              { "id", "id", REPORT_TEXT },
        { "role", "role", REPORT_TEXT },            { "handlings", "handlings", REPORT_COUNT },
        { "busy_s", "busy", REPORT_SECONDS },       { "waited_s", "waited for it", REPORT_SECONDS },
        { "timer_s", "timer or way", REPORT_SECONDS }, { "share", "share", REPORT_SHARE }
    };
    struct job_rows jobs;
    struct reader_names names;
    const char *what[2];
    uint64_t rows[2];
    uint32_t writer;
    unsigned count;

    if (reader_table_find(source->reader, "events") < 0 || !job_rows_open(&jobs, source->reader))
        return TRUE;
    if (!report_jobs_choose(source, &jobs, rows, what, &count, error) ||
        !reader_names_read(source->reader, &names, error))
        return FALSE;
    gboolean good = TRUE;
    if (find_writer(source, &names, &writer)) {
        struct section *s = document_section(d, "critical_path", "The critical path of a job, by role", columns,
                                             G_N_ELEMENTS(columns));
        for (unsigned i = 0; i < count && good; i++)
            good = add_chain(s, source, &names, writer, &jobs, what[i], rows[i], error);
    }
    reader_names_release(&names);
    return good;
}
