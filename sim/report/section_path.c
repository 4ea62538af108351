/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path of a job, from its row in the trace's table of jobs: its times in order, and so the steps between them,
 * which follow one another without a gap. A step is named after the time that ends it.
 */
#include "report/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/job_rows.h"

#define SECOND_NS 1e9

enum { CHUNK_ROWS = 65536 };

static gboolean read_column(const struct job_rows *jobs, unsigned column, void *values, size_t size, GError **error)
{
    for (uint64_t first = 0; first < jobs->rows; first += CHUNK_ROWS) {
        uint64_t n = MIN(jobs->rows - first, CHUNK_ROWS);
        if (!job_rows_read(jobs, column, first, n, (char *)values + first * size, error))
            return FALSE;
    }
    return TRUE;
}

/* For each row from its first time to its last; below 0: it has none. */
static int64_t *read_spans(const struct job_rows *jobs, GError **error)
{
    g_autofree int64_t *last = g_new(int64_t, jobs->rows);
    int64_t *span_ns = g_new(int64_t, jobs->rows);
    if (!read_column(jobs, jobs->times[0], span_ns, sizeof(int64_t), error) ||
        !read_column(jobs, jobs->times[jobs->time_count - 1], last, sizeof(int64_t), error)) {
        g_free(span_ns);
        return NULL;
    }
    for (uint64_t i = 0; i < jobs->rows; i++)
        span_ns[i] = span_ns[i] == INT64_MIN || last[i] == INT64_MIN ? -1 : last[i] - span_ns[i];
    return span_ns;
}

struct ranked {
    int64_t span_ns;
    uint64_t row;
};

static int by_span(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->span_ns != y->span_ns)
        return x->span_ns < y->span_ns ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The median job and the slowest one; how many of them there are. */
static unsigned choose(const struct job_rows *jobs, const int64_t *span_ns, uint64_t rows[2])
{
    g_autoptr(GArray) ranked = g_array_new(FALSE, FALSE, sizeof(struct ranked));
    for (uint64_t i = 0; i < jobs->rows; i++) {
        struct ranked r = { span_ns[i], i };
        if (r.span_ns >= 0)
            g_array_append_val(ranked, r);
    }
    if (ranked->len == 0)
        return 0;
    qsort(ranked->data, ranked->len, sizeof(struct ranked), by_span);
    rows[0] = g_array_index(ranked, struct ranked, (ranked->len - 1) / 2).row;
    rows[1] = g_array_index(ranked, struct ranked, ranked->len - 1).row;
    return rows[0] == rows[1] ? 1 : 2;
}

static gboolean find_job(const struct job_rows *jobs, const char *text, uint64_t *row, GError **error)
{
    g_autofree uint64_t *ids = g_new(uint64_t, jobs->rows);
    uint64_t id;

    if (!g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, &id, NULL)) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "--job: '%s' is not the id of a job; expected a whole "
                    "number, as in the table jobs of the trace", text);
        return FALSE;
    }
    if (!read_column(jobs, jobs->id, ids, sizeof *ids, error))
        return FALSE;
    for (*row = 0; *row < jobs->rows; ++*row)
        if (ids[*row] == id)
            return TRUE;
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "--job: %s: no job of this trace has the id %s; expected "
                "one of the table jobs", reader_path(jobs->reader), text);
    return FALSE;
}

/* "scheduler: resources were allocated": who works in the step, and what ends it. */
static void add_text(struct section *s, const char *text)
{
    const char *colon = strstr(text, ": ");
    g_autofree char *role = colon != NULL ? g_strndup(text, (gsize)(colon - text)) : g_strdup("");

    section_text(s, role);
    section_text(s, colon != NULL ? colon + 2 : text);
}

static gboolean add_path(struct section *s, const struct job_rows *jobs, const char *what, uint64_t row,
                         GError **error)
{
    struct job_step steps[JOB_STEPS_MOST];
    unsigned count;
    uint64_t id;

    if (!job_rows_path(jobs, row, steps, &count, &id, error))
        return FALSE;
    g_autofree char *number = g_strdup_printf("%" G_GUINT64_FORMAT, id);
    for (unsigned i = 1; i < count; i++) {
        double length = (double)(steps[i].time_ns - steps[i - 1].time_ns);
        double whole = (double)(steps[count - 1].time_ns - steps[0].time_ns);
        section_text(s, what);
        section_text(s, number);
        section_text(s, steps[i].name);
        section_number(s, (double)(steps[i].time_ns - steps[0].time_ns) / SECOND_NS);
        section_number(s, length / SECOND_NS);
        section_number(s, whole > 0 ? length / whole : NAN);
        add_text(s, steps[i].text);
    }
    return TRUE;
}

gboolean report_jobs_choose(const struct report_source *source, const struct job_rows *jobs, uint64_t rows[2],
                            const char *what[2], unsigned *count, GError **error)
{
    if (source->job != NULL) {
        what[0] = "chosen";
        *count = 1;
        return find_job(jobs, source->job, &rows[0], error);
    }
    g_autofree int64_t *span_ns = read_spans(jobs, error);
    if (span_ns == NULL)
        return FALSE;
    what[0] = "median";
    what[1] = "slowest";
    *count = choose(jobs, span_ns, rows);
    return TRUE;
}

gboolean section_add_path(struct document *d, const struct report_source *source, GError **error)
{
    static const struct report_column columns[] = {
        { "job", "job", REPORT_TEXT },            { "id", "id", REPORT_TEXT },
        { "step", "step", REPORT_TEXT },          { "since_submit_s", "at", REPORT_SECONDS },
        { "length_s", "took", REPORT_SECONDS },   { "share", "share", REPORT_SHARE },
        { "role", "role", REPORT_TEXT },          { "text", "until", REPORT_TEXT }
    };
    struct job_rows jobs;
    uint64_t rows[2];

    if (!job_rows_open(&jobs, source->reader)) {
        if (source->job == NULL)
            return TRUE;
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "--job: %s has no table of jobs; expected a trace of "
                    "level jobs or events of jobs that are told apart", reader_path(source->reader));
        return FALSE;
    }
    const char *what[2];
    unsigned count;
    if (!report_jobs_choose(source, &jobs, rows, what, &count, error))
        return FALSE;
    struct section *s = document_section(d, "path", "The path of a job", columns, G_N_ELEMENTS(columns));
    for (unsigned i = 0; i < count; i++)
        if (!add_path(s, &jobs, what[i], rows[i], error))
            return FALSE;
    return TRUE;
}
