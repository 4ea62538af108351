/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path of a job, from its row in the trace's table of jobs: its times in order, and so the steps between them,
 * which follow one another without a gap. A step is named after the time that ends it.
 */
#include "report/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1e9

enum { CHUNK_ROWS = 65536 };

struct jobs {
    struct reader *reader;
    unsigned table;
    unsigned id;                /* columns */
    unsigned times[64];
    unsigned time_count;
    uint64_t rows;
    int64_t *span_ns;           /* a row: from its first time to its last; below 0: it has none */
};

static gboolean read_column(const struct jobs *jobs, unsigned column, void *values, size_t size, GError **error)
{
    for (uint64_t first = 0; first < jobs->rows; first += CHUNK_ROWS) {
        uint64_t n = MIN(jobs->rows - first, CHUNK_ROWS);
        if (!reader_read(jobs->reader, jobs->table, column, first, n, (char *)values + first * size, error))
            return FALSE;
    }
    return TRUE;
}

/* False, without an error, when the trace has no such table. */
static bool open_jobs(struct jobs *jobs, struct reader *reader)
{
    int table = reader_table_find(reader, "jobs");
    if (table < 0 || reader_rows(reader, (unsigned)table) == 0)
        return false;
    const struct table *t = reader_table(reader, (unsigned)table);
    int id = reader_column_find(reader, (unsigned)table, "id");
    *jobs = (struct jobs){ .reader = reader, .table = (unsigned)table, .id = (unsigned)id,
                           .rows = reader_rows(reader, (unsigned)table) };
    for (unsigned i = 0; i < t->column_count && jobs->time_count < G_N_ELEMENTS(jobs->times); i++)
        if (t->columns[i].type == TABLE_I64 && strcmp(t->columns[i].unit, "ns") == 0)
            jobs->times[jobs->time_count++] = i;
    return id >= 0 && t->columns[id].type == TABLE_U64 && jobs->time_count >= 2;
}

static gboolean read_spans(struct jobs *jobs, GError **error)
{
    g_autofree int64_t *last = g_new(int64_t, jobs->rows);
    jobs->span_ns = g_new(int64_t, jobs->rows);
    if (!read_column(jobs, jobs->times[0], jobs->span_ns, sizeof(int64_t), error) ||
        !read_column(jobs, jobs->times[jobs->time_count - 1], last, sizeof(int64_t), error))
        return FALSE;
    for (uint64_t i = 0; i < jobs->rows; i++)
        jobs->span_ns[i] = jobs->span_ns[i] == INT64_MIN || last[i] == INT64_MIN ? -1 : last[i] - jobs->span_ns[i];
    return TRUE;
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
static unsigned choose(const struct jobs *jobs, uint64_t rows[2])
{
    g_autoptr(GArray) ranked = g_array_new(FALSE, FALSE, sizeof(struct ranked));
    for (uint64_t i = 0; i < jobs->rows; i++) {
        struct ranked r = { jobs->span_ns[i], i };
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

static gboolean find_job(const struct jobs *jobs, const char *text, uint64_t *row, GError **error)
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

struct step {
    int64_t time_ns;
    const char *name;
    const char *text;
};

static int by_time(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static gboolean add_path(struct section *s, const struct jobs *jobs, const char *what, uint64_t row, GError **error)
{
    const struct table *t = reader_table(jobs->reader, jobs->table);
    struct step steps[64];
    unsigned count = 0;
    uint64_t id;

    if (!reader_read(jobs->reader, jobs->table, jobs->id, row, 1, &id, error))
        return FALSE;
    for (unsigned i = 0; i < jobs->time_count; i++) {
        const struct table_column *column = &t->columns[jobs->times[i]];
        steps[count] = (struct step){ 0, column->name, column->text };
        if (!reader_read(jobs->reader, jobs->table, jobs->times[i], row, 1, &steps[count].time_ns, error))
            return FALSE;
        count += steps[count].time_ns != INT64_MIN;
    }
    /* What happens at two places at once is in the order of their times, else in that of the columns. */
    for (unsigned i = 1; i < count; i++)
        for (unsigned j = i; j > 0 && by_time(&steps[j - 1], &steps[j]) > 0; j--) {
            struct step swap = steps[j];
            steps[j] = steps[j - 1];
            steps[j - 1] = swap;
        }
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
        section_text(s, steps[i].text);
    }
    return TRUE;
}

gboolean section_add_path(struct document *d, const struct report_source *source, GError **error)
{
    static const struct report_column columns[] = {
        { "job", "job", REPORT_TEXT },            { "id", "id", REPORT_TEXT },
        { "step", "step", REPORT_TEXT },          { "since_submit_s", "at", REPORT_SECONDS },
        { "length_s", "took", REPORT_SECONDS },   { "share", "share", REPORT_SHARE },
        { "text", "until", REPORT_TEXT }
    };
    struct jobs jobs;
    uint64_t rows[2];

    if (!open_jobs(&jobs, source->reader)) {
        if (source->job == NULL)
            return TRUE;
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "--job: %s has no table of jobs; expected a trace of "
                    "level jobs or events of jobs that are told apart", reader_path(source->reader));
        return FALSE;
    }
    struct section *s = document_section(d, "path", "The path of a job", columns, G_N_ELEMENTS(columns));
    if (source->job != NULL)
        return find_job(&jobs, source->job, &rows[0], error) && add_path(s, &jobs, "chosen", rows[0], error);
    gboolean good = read_spans(&jobs, error);
    unsigned count = good ? choose(&jobs, rows) : 0;
    for (unsigned i = 0; i < count && good; i++)
        good = add_path(s, &jobs, i == 0 ? "median" : "slowest", rows[i], error);
    g_free(jobs.span_ns);
    return good;
}
