/* SPDX-License-Identifier: BSD-3-Clause */
#include "export_jobs.h"

#include <string.h>

#include "ranks/batch.h"

#define SECOND_NS INT64_C(1000000000)

/* --- columns --- */

/* A whole column as 64-bit numbers; NULL with *error. Its values are the caller's (g_free). */
static int64_t *column_read(struct reader *r, unsigned table, const char *name, GError **error)
{
    int column = reader_column_find(r, table, name);
    uint64_t rows = reader_rows(r, table);
    if (column < 0) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: table %s has no column %s: expected a trace of a "
                    "batch scheduler or a brokered instance", reader_path(r), reader_table(r, table)->name, name);
        return NULL;
    }
    enum table_type type = reader_table(r, table)->columns[column].type;
    size_t size = table_type_size(type);
    g_autofree char *raw = g_malloc0_n(MAX(rows, 1), size);
    int64_t *values = g_new(int64_t, MAX(rows, 1));
    if (rows > 0 && !reader_read(r, table, (unsigned)column, 0, rows, raw, error)) {
        g_free(values);
        return NULL;
    }
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t value = 0;
        memcpy(&value, raw + i * size, size);       /* little-endian, as every machine that this runs on */
        values[i] = (int64_t)value;
    }
    return values;
}

enum field_type { FIELD_I64, FIELD_U32, FIELD_U8 };

/* Where a column's values go in struct export_job. */
struct field {
    const char *column;
    size_t offset;
    enum field_type type;
};

#define FIELD(column, member, type) { column, offsetof(struct export_job, member), type }

static const struct field batch_fields[] = {
    FIELD("job", index, FIELD_I64), FIELD("number", number, FIELD_I64), FIELD("submit", submit_ns, FIELD_I64),
    FIELD("start", start_ns, FIELD_I64), FIELD("end", end_ns, FIELD_I64), FIELD("run", run_ns, FIELD_I64),
    FIELD("limit", limit_ns, FIELD_I64), FIELD("requested", requested, FIELD_U32), FIELD("cores", cores, FIELD_U32),
    FIELD("name", name, FIELD_U32), FIELD("profile", profile, FIELD_U32), FIELD("result", result, FIELD_U8),
    { NULL, 0, FIELD_I64 }
};

static const struct field brokered_fields[] = {
    FIELD("id", number, FIELD_I64), FIELD("submit", submit_ns, FIELD_I64), FIELD("alloc", start_ns, FIELD_I64),
    FIELD("free", end_ns, FIELD_I64), FIELD("cores", cores, FIELD_U32), FIELD("cores", requested, FIELD_U32),
    FIELD("result", result, FIELD_U8),
    { NULL, 0, FIELD_I64 }
};

static gboolean fields_read(struct export_jobs *jobs, struct reader *r, unsigned table, const struct field *fields,
                            GError **error)
{
    for (const struct field *f = fields; f->column != NULL; f++) {
        g_autofree int64_t *values = column_read(r, table, f->column, error);
        if (values == NULL)
            return FALSE;
        for (uint64_t i = 0; i < jobs->count; i++) {
            void *to = (char *)&jobs->job[i] + f->offset;
            switch (f->type) {
            case FIELD_I64: *(int64_t *)to = values[i]; break;
            case FIELD_U32: *(uint32_t *)to = (uint32_t)values[i]; break;
            case FIELD_U8: *(uint8_t *)to = (uint8_t)values[i]; break;
            }
        }
    }
    return TRUE;
}

/* --- machines and texts --- */

static int span_compare(const void *a, const void *b)
{
    const struct export_span *x = a, *y = b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static gboolean spans_read(struct export_jobs *jobs, struct reader *r, GError **error)
{
    int table = reader_table_find(r, batch_tables[BATCH_TABLE_MACHINES].name);
    if (table < 0)
        return TRUE;
    uint64_t rows = reader_rows(r, (unsigned)table);
    g_autofree int64_t *job = column_read(r, (unsigned)table, "job", error);
    g_autofree int64_t *first = job == NULL ? NULL : column_read(r, (unsigned)table, "first", error);
    g_autofree int64_t *last = first == NULL ? NULL : column_read(r, (unsigned)table, "last", error);
    if (last == NULL)
        return FALSE;
    jobs->span = g_new(struct export_span, MAX(rows, 1));
    for (uint64_t i = 0; i < rows; i++)
        jobs->span[i] = (struct export_span){ (uint64_t)job[i], (uint32_t)first[i], (uint32_t)last[i] };
    qsort(jobs->span, rows, sizeof jobs->span[0], span_compare);
    /* Both in ascending order of the job. */
    uint64_t at = 0;
    for (uint64_t i = 0; i < jobs->count; i++) {
        while (at < rows && jobs->span[at].job < jobs->job[i].index)
            at++;
        jobs->job[i].first_span = at;
        while (at < rows && jobs->span[at].job == jobs->job[i].index) {
            jobs->job[i].spans++;
            at++;
        }
    }
    return TRUE;
}

static gboolean texts_read(struct export_jobs *jobs, struct reader *r, GError **error)
{
    int table = reader_table_find(r, batch_tables[BATCH_TABLE_TEXTS].name);
    if (table < 0)
        return TRUE;
    uint64_t rows = reader_rows(r, (unsigned)table);
    int64_t *words[BATCH_TEXT_WORDS] = { NULL };
    g_autofree int64_t *number = column_read(r, (unsigned)table, "text", error);
    gboolean ok = number != NULL;
    for (unsigned w = 0; ok && w < BATCH_TEXT_WORDS; w++) {
        g_autofree char *name = g_strdup_printf("bytes_%u", w);
        words[w] = column_read(r, (unsigned)table, name, error);
        ok = words[w] != NULL;
    }
    /* Pieces of a text stand one after the other, in order. */
    g_autoptr(GString) text = g_string_new(NULL);
    for (uint64_t i = 0; ok && i < rows; i++) {
        for (unsigned w = 0; w < BATCH_TEXT_WORDS; w++)
            g_string_append_len(text, (const char *)&words[w][i], sizeof words[w][i]);
        if (i + 1 < rows && number[i + 1] == number[i])
            continue;
        g_ptr_array_add(jobs->texts, g_strdup(text->str));
        g_string_truncate(text, 0);
    }
    for (unsigned w = 0; w < BATCH_TEXT_WORDS; w++)
        g_free(words[w]);
    return ok;
}

const char *export_jobs_text(const struct export_jobs *jobs, uint32_t number)
{
    return number == 0 || number > jobs->texts->len ? NULL : g_ptr_array_index(jobs->texts, number - 1);
}

/* --- all of it --- */

static int index_compare(const void *a, const void *b)
{
    const struct export_job *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

static int submit_compare(const void *a, const void *b)
{
    const struct export_job *x = a, *y = b;
    if (x->submit_ns != y->submit_ns)
        return x->submit_ns < y->submit_ns ? -1 : 1;
    return index_compare(a, b);
}

static gboolean load(struct export_jobs *jobs, struct reader *r, GError **error)
{
    int table = reader_table_find(r, "jobs");
    if (table < 0) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: has no rows of jobs: expected a trace of a batch "
                    "scheduler or a brokered instance, written with [trace] level = jobs", reader_path(r));
        return FALSE;
    }
    bool batch = reader_column_find(r, (unsigned)table, "requested") >= 0;
    jobs->count = reader_rows(r, (unsigned)table);
    jobs->job = g_new0(struct export_job, MAX(jobs->count, 1));
    for (uint64_t i = 0; i < jobs->count; i++) {
        jobs->job[i].index = i;
        jobs->job[i].run_ns = jobs->job[i].limit_ns = -1;
    }
    if (!fields_read(jobs, r, (unsigned)table, batch ? batch_fields : brokered_fields, error))
        return FALSE;
    qsort(jobs->job, jobs->count, sizeof jobs->job[0], index_compare);
    if (!spans_read(jobs, r, error) || !texts_read(jobs, r, error))
        return FALSE;
    qsort(jobs->job, jobs->count, sizeof jobs->job[0], submit_compare);
    return TRUE;
}

gboolean export_jobs_load(struct export_jobs *jobs, struct reader *r, GError **error)
{
    *jobs = (struct export_jobs){ .texts = g_ptr_array_new_with_free_func(g_free) };
    if (load(jobs, r, error))
        return TRUE;
    export_jobs_release(jobs);
    return FALSE;
}

void export_jobs_release(struct export_jobs *jobs)
{
    g_clear_pointer(&jobs->texts, g_ptr_array_unref);
    g_clear_pointer(&jobs->job, g_free);
    g_clear_pointer(&jobs->span, g_free);
}

void export_put_seconds(FILE *out, int64_t time_ns, unsigned decimals)
{
    int64_t rest = time_ns % SECOND_NS;
    unsigned needed = 9;
    for (; needed > decimals && rest % 10 == 0; needed--)
        rest /= 10;
    fprintf(out, "%" G_GINT64_FORMAT, time_ns / SECOND_NS);
    if (needed > 0)
        fprintf(out, ".%0*" G_GINT64_FORMAT, (int)needed, rest);
}
