/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/job_rows.h"

#include <string.h>

enum { CHUNK_ROWS = 4096 };

/* The columns that say which job it is: of a brokered instance, of a batch scheduler. */
static const char *const id_names[] = { "id", "job" };

/* The batch scheduler's lengths of time, which stand among the times. */
static const char *const length_names[] = { "run", "limit", NULL };

static bool is_time(const struct table_column *column)
{
    return column->type == TABLE_I64 && strcmp(column->unit, "ns") == 0 && !g_strv_contains(length_names, column->name);
}

bool job_rows_open(struct job_rows *jobs, struct reader *reader)
{
    int table = reader_table_find(reader, "jobs");
    if (table < 0 || reader_rows(reader, (unsigned)table) == 0)
        return false;
    const struct table *t = reader_table(reader, (unsigned)table);
    int id = -1;
    for (unsigned i = 0; i < G_N_ELEMENTS(id_names) && id < 0; i++)
        id = reader_column_find(reader, (unsigned)table, id_names[i]);
    *jobs = (struct job_rows){ .reader = reader, .table = (unsigned)table, .id = (unsigned)id,
                               .rows = reader_rows(reader, (unsigned)table) };
    for (unsigned i = 0; i < t->column_count && jobs->time_count < JOB_STEPS_MOST; i++)
        if (is_time(&t->columns[i]))
            jobs->times[jobs->time_count++] = i;
    return id >= 0 && t->columns[id].type == TABLE_U64 && jobs->time_count >= 2;
}

gboolean job_rows_read(const struct job_rows *jobs, unsigned column, uint64_t first, uint64_t n, void *values,
                       GError **error)
{
    return reader_read(jobs->reader, jobs->table, column, first, n, values, error);
}

/* The steps of row i of `n`; each time's column has its `n` values behind the one before. */
static unsigned order(const struct job_rows *jobs, const int64_t *times, uint64_t n, uint64_t i, struct job_step *steps)
{
    const struct table *t = reader_table(jobs->reader, jobs->table);
    unsigned count = 0;
    for (unsigned c = 0; c < jobs->time_count; c++) {
        int64_t time_ns = times[c * n + i];
        if (time_ns == INT64_MIN)
            continue;
        unsigned at = count++;
        /* What happens at two places at once is in the order of the times. */
        for (; at > 0 && steps[at - 1].time_ns > time_ns; at--)
            steps[at] = steps[at - 1];
        steps[at] = (struct job_step){ time_ns, t->columns[jobs->times[c]].name, t->columns[jobs->times[c]].text };
    }
    return count;
}

static gboolean read_rows(const struct job_rows *jobs, uint64_t first, uint64_t n, uint64_t *ids, int64_t *times,
                          GError **error)
{
    if (!job_rows_read(jobs, jobs->id, first, n, ids, error))
        return FALSE;
    for (unsigned c = 0; c < jobs->time_count; c++)
        if (!job_rows_read(jobs, jobs->times[c], first, n, times + c * n, error))
            return FALSE;
    return TRUE;
}

gboolean job_rows_path(const struct job_rows *jobs, uint64_t row, struct job_step *steps, unsigned *count, uint64_t *id,
                       GError **error)
{
    int64_t times[JOB_STEPS_MOST];
    if (!read_rows(jobs, row, 1, id, times, error))
        return FALSE;
    *count = order(jobs, times, 1, 0, steps);
    return TRUE;
}

gboolean job_rows_each(const struct job_rows *jobs, job_rows_fn *visit, void *data, GError **error)
{
    g_autofree uint64_t *ids = g_new(uint64_t, CHUNK_ROWS);
    g_autofree int64_t *times = g_new(int64_t, (size_t)CHUNK_ROWS * jobs->time_count);
    struct job_step steps[JOB_STEPS_MOST];
    for (uint64_t first = 0; first < jobs->rows; first += CHUNK_ROWS) {
        uint64_t n = MIN(jobs->rows - first, CHUNK_ROWS);
        if (!read_rows(jobs, first, n, ids, times, error))
            return FALSE;
        for (uint64_t i = 0; i < n; i++)
            visit(data, ids[i], steps, order(jobs, times, n, i, steps));
    }
    return TRUE;
}
