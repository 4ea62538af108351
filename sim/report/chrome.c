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

static const char *kind_name(const struct reader_names *names, uint16_t kind)
{
    for (unsigned k = 0; k < names->kinds; k++)
        if (names->kind[k] == kind)
            return names->kind_name[k];
    return "message";
}

static gboolean write_events(struct writer *w, struct reader *r, unsigned table, const struct reader_names *names,
                             GError **error)
{
    struct column columns[COLUMNS] = {
        [TIME] = { "time", TABLE_I64, 0 }, [ACTOR] = { "actor", TABLE_U32, 0 }, [FROM] = { "from", TABLE_U32, 0 },
        [KIND] = { "kind", TABLE_U16, 0 }, [START] = { "start", TABLE_I64, 0 }, [END] = { "end", TABLE_I64, 0 }
    };
    uint64_t rows = reader_rows(r, table);

    if (!find_columns(r, table, columns, error))
        return FALSE;
    g_autofree int64_t *time = g_new(int64_t, CHUNK_ROWS), *start = g_new(int64_t, CHUNK_ROWS);
    g_autofree int64_t *end = g_new(int64_t, CHUNK_ROWS);
    g_autofree uint32_t *actor = g_new(uint32_t, CHUNK_ROWS), *from = g_new(uint32_t, CHUNK_ROWS);
    g_autofree uint16_t *kind = g_new(uint16_t, CHUNK_ROWS);
    void *values[COLUMNS] = { time, actor, from, kind, start, end };
    for (uint64_t first = 0; first < rows; first += CHUNK_ROWS) {
        uint64_t n = MIN(rows - first, CHUNK_ROWS);
        for (unsigned c = 0; c < COLUMNS; c++)
            if (!reader_read(r, table, (unsigned)columns[c].index, first, n, values[c], error))
                return FALSE;
        for (uint64_t i = 0; i < n; i++) {
            if (actor[i] >= names->actors || end[i] < start[i] || start[i] < time[i] || time[i] < 0)
                return damaged(r, error, "/events has a row that cannot be");
            separate(w);
            fprintf(w->out, "{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu32 ",",
                    kind_name(names, kind[i]), names->role_name[names->role[actor[i]]],
                    (uint64_t)names->node[actor[i]] + FIRST_NODE, actor[i]);
            put_time(w, "ts", start[i]);
            fputc(',', w->out);
            put_time(w, "dur", end[i] - start[i]);
            fprintf(w->out, ",\"args\":{\"from\":%" PRIu32 ",", from[i]);
            put_time(w, "waited_us", start[i] - time[i]);
            fputs("}}", w->out);
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
    if (events >= 0 && !reader_names_read(reader, &names, error))
        return FALSE;
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
    gboolean good = TRUE;
    if (events >= 0) {
        name_actors(&w, &names);
        good = write_events(&w, reader, (unsigned)events, &names, error);
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
