/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/chrome.h"

#include <inttypes.h>
#include <string.h>

#include "base/json_text.h"
#include "report/job_rows.h"

enum { CHUNK_ROWS = 16384, JOBS_PROCESS = 1 };    /* a node's number is its process's, less FIRST_NODE */
enum { FIRST_NODE = 2 };

struct writer {
    FILE *out;
    bool first;
};

static void separate(struct writer *w)
{
    fputs(w->first ? "\n" : ",\n", w->out);
    w->first = false;
}

/* Microseconds, with the nanoseconds behind the point. */
static void put_time(struct writer *w, const char *key, int64_t time_ns)
{
    fprintf(w->out, "\"%s\":%" PRId64 ".%03d", key, time_ns / 1000, (int)(time_ns % 1000));
}

static void name_process(struct writer *w, uint64_t process, const char *name)
{
    g_autofree char *quoted = json_text_string(name);
    separate(w);
    fprintf(w->out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRIu64 ",\"args\":{\"name\":%s}}", process,
            quoted);
}

/* --- handlings --- */

static void name_actors(struct writer *w, const struct reader_names *names)
{
    for (uint32_t id = 0; id < names->actors; id++) {
        uint64_t process = (uint64_t)names->node[id] + FIRST_NODE;
        if (id == 0 || names->node[id] != names->node[id - 1]) {
            g_autofree char *node = g_strdup_printf("node %" PRIu32, names->node[id]);
            name_process(w, process, node);
        }
        g_autofree char *actor = g_strdup_printf("%s %" PRIu32, names->role_name[names->role[id]], id);
        g_autofree char *quoted = json_text_string(actor);
        separate(w);
        fprintf(w->out, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu32
                ",\"args\":{\"name\":%s}}", process, id, quoted);
    }
}

/* A column of the events as it is needed here. */
struct column {
    const char *name;
    enum table_type type;
    int index;
};

enum { TIME, ACTOR, FROM, KIND, START, END, COLUMNS };

static gboolean damaged(const struct reader *r, GError **error, const char *what)
{
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: %s; the file is damaged", reader_path(r), what);
    return FALSE;
}

static gboolean find_columns(const struct reader *r, unsigned table, struct column *columns, GError **error)
{
    for (unsigned c = 0; c < COLUMNS; c++) {
        columns[c].index = reader_column_find(r, table, columns[c].name);
        if (columns[c].index < 0 || reader_table(r, table)->columns[columns[c].index].type != columns[c].type)
            return damaged(r, error, "/events has other columns than expected");
    }
    return TRUE;
}

/* The names as JSON: quoted once, not in every row. */
struct labels {
    char *kind[UINT16_MAX + 1];     /* NULL: it has none */
    char **role;                    /* ended by NULL */
};

static struct labels *labels_new(const struct reader_names *names)
{
    struct labels *labels = g_new0(struct labels, 1);
    unsigned roles = g_strv_length(names->role_name);

    for (unsigned k = 0; k < names->kinds; k++)
        if (labels->kind[names->kind[k]] == NULL)
            labels->kind[names->kind[k]] = json_text_string(names->kind_name[k]);
    labels->role = g_new0(char *, roles + 1);
    for (unsigned r = 0; r < roles; r++)
        labels->role[r] = json_text_string(names->role_name[r]);
    return labels;
}

static void labels_free(struct labels *labels)
{
    for (unsigned k = 0; k < G_N_ELEMENTS(labels->kind); k++)
        g_free(labels->kind[k]);
    g_strfreev(labels->role);
    g_free(labels);
}

/* A chunk of rows, column by column. */
struct chunk {
    int64_t time[CHUNK_ROWS];
    int64_t start[CHUNK_ROWS];
    int64_t end[CHUNK_ROWS];
    uint32_t actor[CHUNK_ROWS];
    uint32_t from[CHUNK_ROWS];
    uint16_t kind[CHUNK_ROWS];
};

static void write_event(struct writer *w, const struct reader_names *names, const struct labels *labels,
                        const struct chunk *c, uint64_t i)
{
    const char *kind = labels->kind[c->kind[i]];

    separate(w);
    fprintf(w->out, "{\"ph\":\"X\",\"name\":%s,\"cat\":%s,\"pid\":%" PRIu64 ",\"tid\":%" PRIu32 ",",
            kind != NULL ? kind : "\"message\"", labels->role[names->role[c->actor[i]]],
            (uint64_t)names->node[c->actor[i]] + FIRST_NODE, c->actor[i]);
    put_time(w, "ts", c->start[i]);
    fputc(',', w->out);
    put_time(w, "dur", c->end[i] - c->start[i]);
    fprintf(w->out, ",\"args\":{\"from\":%" PRIu32 ",", c->from[i]);
    put_time(w, "waited_us", c->start[i] - c->time[i]);
    fputs("}}", w->out);
}

static gboolean write_events(struct writer *w, struct reader *r, unsigned table, const struct reader_names *names,
                             const struct labels *labels, GError **error)
{
    struct column columns[COLUMNS] = {
        [TIME] = { "time", TABLE_I64, 0 }, [ACTOR] = { "actor", TABLE_U32, 0 }, [FROM] = { "from", TABLE_U32, 0 },
        [KIND] = { "kind", TABLE_U16, 0 }, [START] = { "start", TABLE_I64, 0 }, [END] = { "end", TABLE_I64, 0 }
    };
    g_autofree struct chunk *c = g_new(struct chunk, 1);
    void *values[COLUMNS] = { c->time, c->actor, c->from, c->kind, c->start, c->end };
    uint64_t rows = reader_rows(r, table);

    if (!find_columns(r, table, columns, error))
        return FALSE;
    for (uint64_t first = 0; first < rows; first += CHUNK_ROWS) {
        uint64_t n = MIN(rows - first, CHUNK_ROWS);
        for (unsigned k = 0; k < COLUMNS; k++)
            if (!reader_read(r, table, (unsigned)columns[k].index, first, n, values[k], error))
                return FALSE;
        for (uint64_t i = 0; i < n; i++) {
            if (c->actor[i] >= names->actors || c->end[i] < c->start[i] || c->start[i] < c->time[i] || c->time[i] < 0)
                return damaged(r, error, "/events has a row that cannot be");
            write_event(w, names, labels, c, i);
        }
        if (ferror(w->out))
            break;                      /* whoever owns the stream tells */
    }
    return TRUE;
}

/* --- jobs --- */

static void put_job_event(struct writer *w, const char *phase, const char *name, uint64_t id, int64_t time_ns)
{
    separate(w);
    fprintf(w->out, "{\"ph\":\"%s\",\"cat\":\"job\",\"name\":\"%s\",\"id\":\"%" PRIu64 "\",\"pid\":%d,\"tid\":0,",
            phase, name, id, JOBS_PROCESS);
    put_time(w, "ts", time_ns);
    fputc('}', w->out);
}

static void write_job(void *data, uint64_t id, const struct job_step *steps, unsigned count)
{
    struct writer *w = data;

    if (count < 2 || steps[0].time_ns < 0)
        return;
    put_job_event(w, "b", "job", id, steps[0].time_ns);
    for (unsigned i = 1; i < count; i++) {
        put_job_event(w, "b", steps[i].name, id, steps[i - 1].time_ns);
        put_job_event(w, "e", steps[i].name, id, steps[i].time_ns);
    }
    put_job_event(w, "e", "job", id, steps[count - 1].time_ns);
}

/* Names of columns are letters, digits and '_' (trace/table.h): they need no quoting, row by row. */
static gboolean check_names(const struct job_rows *jobs, GError **error)
{
    const struct table *t = reader_table(jobs->reader, jobs->table);

    for (unsigned c = 0; c < jobs->time_count; c++)
        for (const char *at = t->columns[jobs->times[c]].name; *at != '\0'; at++)
            if (!g_ascii_isalnum(*at) && *at != '_')
                return damaged(jobs->reader, error, "/jobs has a column whose name cannot be");
    return TRUE;
}

gboolean chrome_write(struct reader *reader, FILE *out, GError **error)
{
    struct writer w = { out, true };
    struct reader_names names = { 0 };
    struct job_rows jobs;
    int events = reader_table_find(reader, "events");
    bool has_jobs = job_rows_open(&jobs, reader);

    if (events < 0 && !has_jobs) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: has neither events nor jobs to export; expected "
                    "a trace of level events, or of level jobs with a table of jobs (--trace of the run)",
                    reader_path(reader));
        return FALSE;
    }
    if ((has_jobs && !check_names(&jobs, error)) || (events >= 0 && !reader_names_read(reader, &names, error)))
        return FALSE;
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
    gboolean good = TRUE;
    if (events >= 0) {
        struct labels *labels = labels_new(&names);
        name_actors(&w, &names);
        good = write_events(&w, reader, (unsigned)events, &names, labels, error);
        labels_free(labels);
    }
    if (good && has_jobs) {
        name_process(&w, JOBS_PROCESS, "jobs");
        good = job_rows_each(&jobs, write_job, &w, error);
    }
    if (good)
        fputs("\n]}\n", out);
    reader_names_release(&names);
    return good;
}
