/* SPDX-License-Identifier: BSD-3-Clause */
#include "scratch.h"
#include "suite.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/diff.h"
#include "trace/estimate.h"
#include "trace/merge.h"
#include "trace/part.h"
#include "trace/reader.h"
#include "trace/trace_file.h"
#include "trace/verify.h"
#include "trace_model.h"

static char *folder;

static char *path_in(const char *name)
{
    return g_build_filename(folder, name, NULL);
}

static void check_good(gboolean good, GError *error)
{
    CU_ASSERT(good);
    if (error != NULL)
        fprintf(stderr, "%s\n", error->message);
    g_clear_error(&error);
}

static char *make_trace(const char *name, enum trace_level level, uint64_t steps, uint64_t flush_steps)
{
    char *path = path_in(name);
    struct trace_config config = model_config(path, level);
    GError *error = NULL;
    gboolean good = model_run(&config, NULL, steps, flush_steps, &error);
    check_good(good, error);
    return path;
}

/* --- rows on their way --- */

static void test_rows(void)
{
    static const struct table_column column = { "id", "1", "number", TABLE_U32, NULL };
    static const struct table table = { "t", "numbers", &column, 1 };
    struct rows here, other;
    rows_init(&here, &table);
    rows_init(&other, &table);
    static const struct { int64_t time_ns; uint32_t actor, id; } made[] = {
        { 30, 2, 6 }, { 10, 7, 1 }, { 10, 3, 0 }, { 20, 2, 2 }, { 20, 2, 3 }, { 20, 9, 4 }, { 29, 1, 5 }, { 40, 0, 7 }
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(made); i++)
        rows_add(made[i].actor % 2 ? &other : &here, made[i].time_ns, made[i].actor, &made[i].id, 4);
    struct bytes moved = BYTES_INIT, out = BYTES_INIT;
    rows_save(&other, &moved);
    CU_ASSERT_EQUAL(other.count, 0);
    struct cursor from = cursor_init(moved.data, moved.size);
    CU_ASSERT(rows_load(&here, &from, NULL) && cursor_done(&from));
    CU_ASSERT_EQUAL(rows_take(&here, 10, &out), 0);
    CU_ASSERT_EQUAL(rows_take(&here, 30, &out), 6);
    CU_ASSERT_EQUAL(rows_take(&here, 30, &out), 0);
    CU_ASSERT_EQUAL(rows_take(&here, INT64_MAX, &out), 2);
    CU_ASSERT_EQUAL(here.count, 0);
    CU_ASSERT_EQUAL_FATAL(out.size, 8 * 4);
    for (uint32_t i = 0; i < 8; i++)
        CU_ASSERT_EQUAL(memcmp(out.data + 4 * i, &i, 4), 0);
    /* Rows of another table are refused. */
    GError *error = NULL;
    from = cursor_init(moved.data, moved.size - 1);
    CU_ASSERT_FALSE(rows_load(&here, &from, &error));
    g_clear_error(&error);
    moved.data[0]++;
    from = cursor_init(moved.data, moved.size);
    CU_ASSERT_FALSE(rows_load(&here, &from, &error));
    g_clear_error(&error);
    bytes_release(&moved);
    bytes_release(&out);
    rows_release(&here);
    rows_release(&other);
}

/* --- a trace of a run that ended --- */

/* All rows of the jobs, in the order (time of the record, actor). */
static void check_jobs(struct reader *r, uint64_t least, uint64_t most)
{
    int jobs = reader_table_find(r, "jobs");
    CU_ASSERT_FATAL(jobs >= 0);
    uint64_t rows = reader_rows(r, (unsigned)jobs);
    CU_ASSERT(rows >= least && rows <= most);
    const struct table *t = reader_table(r, (unsigned)jobs);
    CU_ASSERT_EQUAL_FATAL(t->column_count, G_N_ELEMENTS(model_columns));
    uint64_t *id = g_new(uint64_t, rows + 1);
    CU_ASSERT(reader_read(r, (unsigned)jobs, 0, 0, rows, id, NULL));
    struct bytes row = BYTES_INIT;
    size_t offset = 0;
    for (unsigned c = 0; c < t->column_count; c++) {
        CU_ASSERT_STRING_EQUAL(t->columns[c].name, model_columns[c].name);
        CU_ASSERT_STRING_EQUAL(t->columns[c].unit, model_columns[c].unit);
        CU_ASSERT_STRING_EQUAL(t->columns[c].text, model_columns[c].text);
        CU_ASSERT_EQUAL_FATAL(t->columns[c].type, model_columns[c].type);
        size_t size = table_type_size(t->columns[c].type);
        uint8_t *values = g_malloc(rows * size + 1);
        CU_ASSERT(reader_read(r, (unsigned)jobs, c, 0, rows, values, NULL));
        uint64_t wrong = 0;
        for (uint64_t i = 0; i < rows; i++) {
            model_row(&row, id[i]);
            wrong += memcmp(values + i * size, row.data + offset, size) != 0;
        }
        CU_ASSERT_EQUAL(wrong, 0);
        offset += size;
        g_free(values);
    }
    uint64_t falls = 0;
    for (uint64_t i = 1; i < rows; i++)
        falls += id[i - 1] * MODEL_STEP_NS + id[i - 1] % 13 * 777777 > id[i] * MODEL_STEP_NS + id[i] % 13 * 777777;
    CU_ASSERT_EQUAL(falls, 0);
    bytes_release(&row);
    g_free(id);
}

static void test_jobs(void)
{
    enum { STEPS = 10000 };
    char *path = make_trace("jobs.h5", TRACE_LEVEL_JOBS, STEPS, 777);
    GError *error = NULL;
    struct reader *r = reader_open(path, &error);
    check_good(r != NULL, error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    CU_ASSERT(reader_complete(r) && reader_sealed(r));
    CU_ASSERT_STRING_EQUAL(reader_text(r, "digest"), "00112233445566778899aabbccddeeff");
    CU_ASSERT_STRING_EQUAL(reader_text(r, "software"), "tiercel");
    CU_ASSERT_STRING_EQUAL(reader_text(r, "level"), "jobs");
    CU_ASSERT_PTR_NULL(reader_text(r, "no such attribute"));
    uint64_t seed = 0;
    double wall = 0;
    CU_ASSERT(reader_count(r, "seed", &seed) && seed == 17);
    CU_ASSERT(reader_number(r, "walltime_s", &wall) && wall == 1.5);
    char *deck = reader_document(r, "deck");
    CU_ASSERT_STRING_EQUAL(deck, model_config(NULL, 0).deck);
    g_free(deck);
    CU_ASSERT_PTR_NULL(reader_document(r, "nothing"));
    check_jobs(r, STEPS, STEPS);
    const struct table *t = reader_table(r, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t->columns[7].names);
    CU_ASSERT_STRING_EQUAL(t->columns[7].names[2], "killed");
    CU_ASSERT_PTR_NULL(t->columns[7].names[3]);

    unsigned count;
    struct trace_role_figures *roles = reader_roles(r, &count, NULL);
    CU_ASSERT_EQUAL_FATAL(count, 2);
    CU_ASSERT_STRING_EQUAL(roles[1].name, "job-manager");
    CU_ASSERT_DOUBLE_EQUAL(roles[1].busy_fraction, 0.75, 0);
    CU_ASSERT_EQUAL(roles[0].handled, STEPS * 4 / 5);
    reader_roles_free(roles, count);
    reader_free(r);

    bool complete = false;
    char *report = NULL;
    gboolean good = verify_trace(path, &complete, &report, &error);
    check_good(good && complete, error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report);
    CU_ASSERT_PTR_NOT_NULL(strstr(report, "/jobs has 10000 rows"));
    g_free(report);
    g_free(path);
}

static void test_figures(void)
{
    enum { STEPS = 5000 };
    char *path = make_trace("stats.h5", TRACE_LEVEL_STATS, STEPS, 0);
    struct trace_config config = model_config(NULL, TRACE_LEVEL_STATS);
    /* The same without a file: what the figures must be. */
    struct trace *t = trace_new(&config, NULL, NULL);
    model_steps(t, 0, 1, 0, STEPS);
    CU_ASSERT_FALSE(trace_flush_due(t));
    CU_ASSERT(trace_merge(t, NULL));
    const struct collector *expected = trace_collector(t);
    struct reader *r = reader_open(path, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    CU_ASSERT_EQUAL(reader_tables(r), 0);
    struct collector *figures = reader_figures(r, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(figures);
    CU_ASSERT_EQUAL_FATAL(collector_role_count(figures), 2);
    CU_ASSERT_EQUAL(collector_total(expected, 0, 0), 2 * STEPS * 4 / 5);
    for (unsigned role = 0; role < 2; role++) {
        for (unsigned m = 0; m < collector_role(expected, role)->metric_count; m++) {
            const struct trace_metric *metric = &collector_role(expected, role)->metrics[m];
            int found = collector_find_metric(figures, role, metric->name);
            CU_ASSERT_FATAL(found >= 0);
            const struct trace_metric *read = &collector_role(figures, role)->metrics[found];
            CU_ASSERT_EQUAL_FATAL(read->type, metric->type);
            CU_ASSERT_STRING_EQUAL(read->unit, metric->unit);
            CU_ASSERT_STRING_EQUAL(read->text, metric->text);
            if (metric->type == TRACE_COUNTER) {
                CU_ASSERT_EQUAL(collector_total(figures, role, (unsigned)found), collector_total(expected, role, m));
                continue;
            }
            struct bytes one = BYTES_INIT, other = BYTES_INIT;
            series_save(collector_series(expected, role, m), &one);
            series_save(collector_series(figures, role, (unsigned)found), &other);
            if (metric->type >= TRACE_SAMPLE) {
                statistic_save(collector_statistic(expected, role, m), &one);
                statistic_save(collector_statistic(figures, role, (unsigned)found), &other);
            }
            CU_ASSERT_EQUAL_FATAL(one.size, other.size);
            CU_ASSERT_EQUAL(memcmp(one.data, other.data, one.size), 0);
            bytes_release(&one);
            bytes_release(&other);
        }
    }
    collector_free(figures);
    reader_free(r);
    trace_free(t);
    g_free(path);
}

static void test_flushes(void)
{
    char *never = make_trace("never.h5", TRACE_LEVEL_EVENTS, 3000, 0);
    char *often = make_trace("often.h5", TRACE_LEVEL_EVENTS, 3000, 11);
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    GError *error = NULL;
    gboolean good = diff_traces(never, often, lines, &error);
    check_good(good, error);
    CU_ASSERT_EQUAL(lines->len, 0);
    g_ptr_array_free(lines, TRUE);
    g_free(never);
    g_free(often);
}

/* --- level events --- */

static int event_compare(const void *one, const void *other)
{
    const struct trace_event *a = one, *b = other;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->actor != b->actor)
        return a->actor < b->actor ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static void check_events(const char *path, uint64_t least, uint64_t most)
{
    GError *error = NULL;
    struct reader *r = reader_open(path, &error);
    check_good(r != NULL, error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    int table = reader_table_find(r, "events");
    CU_ASSERT_FATAL(table >= 0);
    uint64_t rows = reader_rows(r, (unsigned)table);
    CU_ASSERT_FATAL(rows >= least && rows <= most);
    struct trace_event *expected = g_new(struct trace_event, rows);
    for (uint64_t i = 0; i < rows; i++)
        expected[i] = model_event(i);
    qsort(expected, rows, sizeof expected[0], event_compare);
    struct event_arrays a;
    void *list[EVENT_COLUMNS];
    event_arrays_init(&a, (unsigned)rows);
    event_arrays_list(&a, 0, list);
    for (unsigned c = 0; c < EVENT_COLUMNS; c++)
        CU_ASSERT(reader_read(r, (unsigned)table, c, 0, rows, list[c], NULL));
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < rows; i++) {
        const struct trace_event *e = &expected[i];
        wrong += a.time_ns[i] != e->time_ns || a.actor[i] != e->actor || a.from[i] != e->from ||
                 a.sequence[i] != e->sequence || a.kind[i] != e->kind || a.start_ns[i] != e->start_ns ||
                 a.end_ns[i] != e->end_ns || a.content[i] != e->content || a.order_class[i] != e->order_class;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    event_arrays_release(&a);
    g_free(expected);
    reader_free(r);
}

static void test_events(void)
{
    /* More than one batch, and more than one block of the joining. */
    enum { STEPS = 70000 };
    char *path = make_trace("events.h5", TRACE_LEVEL_EVENTS, STEPS, 0);
    check_events(path, STEPS, STEPS);
    char *part = part_path(path, 0);
    CU_ASSERT_FALSE(g_file_test(part, G_FILE_TEST_EXISTS));
    g_free(part);
    bool complete = false;
    char *report = NULL;
    GError *error = NULL;
    gboolean good = verify_trace(path, &complete, &report, &error);
    check_good(good && complete, error);
    g_free(report);
    CU_ASSERT_FALSE(verify_merge(path, &report, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "nothing to join"));
    g_clear_error(&error);
    g_free(path);
}

/* Events that arrive in no order at all: every batch is a stretch of its own, and all overlap. */
static void test_events_unordered(void)
{
    enum { EVENTS = 9 * PART_BATCH_ROWS + 5 };
    char *path = path_in("unordered.h5");
    struct trace_config config = model_config(path, TRACE_LEVEL_EVENTS);
    struct trace *t = trace_new(&config, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    for (uint64_t i = 0; i < EVENTS; i++) {
        struct trace_event event = model_event(i * 7919 % EVENTS);
        trace_event(t, &event);
    }
    GError *error = NULL;
    gboolean good = model_finish(t, EVENTS, &error);
    check_good(good, error);
    trace_free(t);
    check_events(path, EVENTS, EVENTS);
    g_free(path);
}

/* --- killed --- */

/* A child that flushes after `flushed` steps, goes on, and is killed; with the level's parts left behind. */
static void run_and_die(const char *path, enum trace_level level, uint64_t flushed, uint64_t steps)
{
    pid_t child = fork();
    if (child == 0) {
        struct trace_config config = model_config(path, level);
        struct trace *t = trace_new(&config, NULL, NULL);
        if (flushed != 0) {
            model_steps(t, 0, 1, 0, flushed);
            trace_flush(t, (int64_t)flushed * MODEL_STEP_NS, NULL);
        }
        model_steps(t, 0, 1, flushed, steps);
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_killed(void)
{
    char *path = path_in("killed.h5");
    run_and_die(path, TRACE_LEVEL_JOBS, 5000, 8000);
    GError *error = NULL;
    struct reader *r = reader_open(path, &error);
    check_good(r != NULL, error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    CU_ASSERT_FALSE(reader_complete(r));
    CU_ASSERT_FALSE(reader_sealed(r));
    /* Rows that were recorded ahead of the flush's time wait for the next one. */
    check_jobs(r, 4985, 5000);
    struct collector *figures = reader_figures(r, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(figures);
    CU_ASSERT_EQUAL(collector_total(figures, 0, 0), 2 * 4000);
    collector_free(figures);
    reader_free(r);
    bool complete = true;
    char *report = NULL;
    gboolean good = verify_trace(path, &complete, &report, &error);
    check_good(good && !complete, error);
    CU_ASSERT_PTR_NOT_NULL(strstr(report, "did not end"));
    g_free(report);
    CU_ASSERT_FALSE(verify_merge(path, &report, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "level events"));
    g_clear_error(&error);
    g_free(path);
}

/* Killed between the writing of figures and rows and the moment when they are declared right: the flush before counts.
 * The file is what it is just after the first of the two steps. */
static void test_killed_in_flush(void)
{
    char *path = path_in("in-flush.h5");
    pid_t child = fork();
    if (child == 0) {
        struct trace_config config = model_config(path, TRACE_LEVEL_JOBS);
        struct trace_file *f = trace_file_create(&config, 1, NULL);
        struct collector *c = collector_new(model_roles, 2, MODEL_STEP_NS);
        struct bytes row = BYTES_INIT;
        for (uint64_t id = 0; id < 6; id++) {
            model_row(&row, id);
            trace_file_append(f, 0, row.data, 1, NULL);
            collector_count(c, 0, 0, 0, 1);
            collector_count(c, 0, 1, 1 << 30, 1);
            trace_file_put_figures(f, c, NULL);
            if (id < 5)
                trace_file_flush(f, NULL);
        }
        H5Fflush(trace_file_root(f), H5F_SCOPE_LOCAL);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
    GError *error = NULL;
    struct reader *r = reader_open(path, &error);
    check_good(r != NULL, error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    CU_ASSERT_EQUAL(reader_rows(r, 0), 5);
    struct collector *figures = reader_figures(r, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(figures);
    CU_ASSERT_EQUAL(collector_total(figures, 0, 0), 5);
    CU_ASSERT_EQUAL(collector_total(figures, 0, 1), 5);
    collector_free(figures);
    reader_free(r);
    g_free(path);
}

static void test_killed_unflushed(void)
{
    char *path = path_in("unflushed.h5");
    run_and_die(path, TRACE_LEVEL_JOBS, 0, 100);
    struct reader *r = reader_open(path, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    CU_ASSERT_EQUAL(reader_rows(r, 0), 0);
    CU_ASSERT_STRING_EQUAL(reader_text(r, "command_line"), "tiercel run model.deck");
    reader_free(r);
    g_free(path);
}

static void test_killed_events(void)
{
    char *path = path_in("killed-events.h5");
    run_and_die(path, TRACE_LEVEL_EVENTS, 40000, 90000);
    GError *error = NULL;
    char *report = NULL;
    gboolean good = verify_merge(path, &report, &error);
    check_good(good, error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(report);
    CU_ASSERT_PTR_NOT_NULL(strstr(report, "no handling that began before 40000000000 ns is missing"));
    g_free(report);
    check_events(path, 40000, 40000);
    char *part = part_path(path, 0);
    CU_ASSERT_FALSE(g_file_test(part, G_FILE_TEST_EXISTS));
    struct reader *r = reader_open(path, NULL);
    CU_ASSERT_FALSE(reader_complete(r));
    CU_ASSERT(reader_sealed(r));
    CU_ASSERT_STRING_EQUAL(reader_text(r, "command_line"), "tiercel run model.deck");
    check_jobs(r, 39985, 40000);
    reader_free(r);
    CU_ASSERT_FALSE(verify_merge(path, &report, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "nothing to join"));
    g_clear_error(&error);
    g_free(part);
    g_free(path);
}

static void test_merge_refused(void)
{
    char *path = path_in("lost-part.h5");
    GError *error = NULL;
    char *report = NULL;
    run_and_die(path, TRACE_LEVEL_EVENTS, 100, 200);
    char *part = part_path(path, 0), *aside = path_in("aside.h5");
    CU_ASSERT_EQUAL(rename(part, aside), 0);
    char *before = NULL, *after = NULL;
    gsize size_before = 0, size_after = 0;
    g_file_get_contents(path, &before, &size_before, NULL);
    CU_ASSERT_FALSE(verify_merge(path, &report, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "part-0000.h5: cannot be opened"));
    g_clear_error(&error);
    /* Nothing was changed, and nothing is left. */
    g_file_get_contents(path, &after, &size_after, NULL);
    CU_ASSERT_EQUAL_FATAL(size_before, size_after);
    CU_ASSERT_EQUAL(memcmp(before, after, size_before), 0);
    char *joining = g_strconcat(path, ".joining", NULL);
    CU_ASSERT_FALSE(g_file_test(joining, G_FILE_TEST_EXISTS));
    /* A trace is not its own part; neither is another run's part. */
    CU_ASSERT_EQUAL(rename(aside, part), 0);
    g_free(aside);
    struct reader *r = reader_open(part, &error);
    CU_ASSERT_PTR_NULL(r);
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "is a part of a trace"));
    g_clear_error(&error);
    unlink(part);
    struct part *other = part_new(path, 0, 1, 18, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(other);
    CU_ASSERT(part_flush(other, 0, NULL));
    part_free(other);
    CU_ASSERT_FALSE(verify_merge(path, &report, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "is not the part of this run"));
    g_clear_error(&error);
    g_free(joining);
    g_free(before);
    g_free(after);
    g_free(part);
    g_free(path);
}

/* --- differences --- */

static gboolean mentions(GPtrArray *lines, const char *text)
{
    for (guint i = 0; i < lines->len; i++)
        if (strstr(lines->pdata[i], text) != NULL)
            return TRUE;
    return FALSE;
}

static void test_diff(void)
{
    char *short_path = make_trace("short.h5", TRACE_LEVEL_EVENTS, 500, 0);
    char *long_path = make_trace("long.h5", TRACE_LEVEL_EVENTS, 502, 0);
    char *jobs_path = make_trace("less.h5", TRACE_LEVEL_JOBS, 500, 0);
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    CU_ASSERT(diff_traces(short_path, long_path, lines, NULL));
    CU_ASSERT(mentions(lines, "/jobs: 500 rows, 502 rows"));
    CU_ASSERT(mentions(lines, "/events: 500 rows, 502 rows"));
    CU_ASSERT(mentions(lines, "broker forwarded: total"));
    CU_ASSERT(mentions(lines, "job-manager alloc: 500 values"));
    CU_ASSERT(mentions(lines, "end_ns: 500000000, 502000000"));
    g_ptr_array_set_size(lines, 0);
    CU_ASSERT(diff_traces(jobs_path, short_path, lines, NULL));
    CU_ASSERT_EQUAL(lines->len, 1);
    CU_ASSERT(mentions(lines, "/events: only in"));
    g_ptr_array_set_size(lines, 0);

    /* One value of one row. */
    char *changed_path = path_in("changed.h5");
    struct trace_config config = model_config(changed_path, TRACE_LEVEL_EVENTS);
    config.effective = "[deck]\n# a comment\nformat = 1\n[run]\nseed = 18\nspread = always\n[trace]\nlevel = jobs\n";
    struct trace *t = trace_new(&config, NULL, NULL);
    model_steps(t, 0, 1, 0, 499);
    struct bytes row = BYTES_INIT;
    model_row(&row, 499);
    row.data[row.size - 1] = 2;
    trace_count(t, 0, 0, 499 * MODEL_STEP_NS, 2);
    trace_count(t, 0, 1, 499 * MODEL_STEP_NS, 5);
    trace_sample(t, 1, 0, 499 * MODEL_STEP_NS, 99);
    trace_sample(t, 1, 1, 499 * MODEL_STEP_NS, 499 * 499);
    trace_sample(t, 1, 2, 499 * MODEL_STEP_NS, 499 % 13 * 777777);
    trace_record(t, 0, 499 * MODEL_STEP_NS + 499 % 13 * 777777, 499 * 3 % MODEL_ACTORS, row.data, row.size);
    struct trace_event event = model_event(499);
    event.content ^= 1;
    trace_event(t, &event);
    CU_ASSERT(model_finish(t, 500, NULL));
    trace_free(t);
    CU_ASSERT(diff_traces(short_path, changed_path, lines, NULL));
    CU_ASSERT_EQUAL(lines->len, 3);
    CU_ASSERT(mentions(lines, "/jobs: 1 of 500 rows differ, first row "));
    CU_ASSERT(mentions(lines, ": state failed, killed"));
    CU_ASSERT(mentions(lines, ": content 249001, 249000"));
    CU_ASSERT(mentions(lines, "deck: run.seed = 17, run.seed = 18"));
    bytes_release(&row);
    GError *error = NULL;
    CU_ASSERT_FALSE(diff_traces(short_path, "/nowhere.h5", lines, &error));
    g_clear_error(&error);
    g_ptr_array_free(lines, TRUE);
    g_free(short_path);
    g_free(long_path);
    g_free(jobs_path);
    g_free(changed_path);
}

/* --- errors and limits --- */

static void test_cannot_create(void)
{
    GError *error = NULL;
    for (unsigned level = 0; level <= TRACE_LEVEL_EVENTS; level++) {
        struct trace_config config = model_config("/nowhere/at/all/trace.h5", level);
        CU_ASSERT_PTR_NULL(trace_new(&config, NULL, &error));
        CU_ASSERT(g_error_matches(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME));
        CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "/nowhere/at/all/trace.h5: cannot be created"));
        g_clear_error(&error);
    }
}

/* A disk that is full is played by a limit on the size of a file, in a child: the limit stays with a process. */
static void test_disk_full(void)
{
    for (unsigned level = TRACE_LEVEL_JOBS; level <= TRACE_LEVEL_EVENTS; level++) {
        char *path = path_in(level == TRACE_LEVEL_JOBS ? "full.h5" : "full-events.h5");
        pid_t child = fork();
        if (child == 0) {
            struct rlimit limit = { 400000, 400000 };
            signal(SIGXFSZ, SIG_IGN);
            struct trace_config config = model_config(path, level);
            config.compress = false;
            struct trace *t = trace_new(&config, NULL, NULL);
            setrlimit(RLIMIT_FSIZE, &limit);
            model_steps(t, 0, 1, 0, 60000);
            GError *error = NULL;
            gboolean good = trace_flush(t, 60000 * INT64_C(1000000), &error);
            bool right = !good && error != NULL && error->code == TIERCEL_ERROR_RUNTIME &&
                         strstr(error->message, ".h5: ") != NULL && strchr(error->message, '\n') == NULL;
            if (!right)
                fprintf(stderr, "%s\n", error == NULL ? "no error" : error->message);
            _exit(right ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        g_free(path);
    }
}

static void test_flush_due(void)
{
    char *path = path_in("due.h5");
    struct trace_config config = model_config(path, TRACE_LEVEL_JOBS);
    config.flush_every_s = 1000;
    struct trace *t = trace_new(&config, NULL, NULL);
    CU_ASSERT_FALSE(trace_flush_due(t));
    model_steps(t, 0, 1, 0, 100000);        /* 6 MB of rows */
    CU_ASSERT(trace_flush_due(t));
    CU_ASSERT(trace_flush(t, INT64_MAX, NULL));
    CU_ASSERT_FALSE(trace_flush_due(t));
    trace_free(t);
    config.flush_every_s = 1e-6;
    t = trace_new(&config, NULL, NULL);
    g_usleep(100);
    CU_ASSERT(trace_flush_due(t));
    trace_free(t);
    g_free(path);
}

static void test_estimate(void)
{
    static const uint64_t steps[] = { 2000, 60000 };
    for (unsigned level = 0; level <= TRACE_LEVEL_EVENTS; level++) {
        for (unsigned i = 0; i < G_N_ELEMENTS(steps); i++) {
            for (unsigned compress = 0; compress < 2; compress++) {
                char *path = path_in("size.h5");
                struct trace_config config = model_config(path, level);
                config.compress = compress;
                CU_ASSERT(model_run(&config, NULL, steps[i], 0, NULL));
                struct stat status;
                CU_ASSERT_EQUAL(stat(path, &status), 0);
                double estimate = (double)trace_estimate_bytes(&config, steps[i], steps[i]);
                CU_ASSERT((double)status.st_size < 1.25 * estimate);
                CU_ASSERT((double)status.st_size > 0.4 * estimate);
                if ((double)status.st_size >= 1.25 * estimate || (double)status.st_size <= 0.4 * estimate)
                    fprintf(stderr, "level %u steps %d compress %u: %.0f estimated %.0f\n", level, (int)steps[i],
                            compress, (double)status.st_size, estimate);
                g_free(path);
            }
        }
    }
    /* Ten thousand million events are counted without overflow. */
    struct trace_config config = model_config(NULL, TRACE_LEVEL_EVENTS);
    CU_ASSERT(trace_estimate_bytes(&config, 1000000000, UINT64_C(10000000000)) > UINT64_C(470000000000));
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "rows leave in the order of their records, whoever recorded them", test_rows },
        { "the jobs, roles and attributes of a run read back as they were written", test_jobs },
        { "curves, histograms and totals read back exactly", test_figures },
        { "the moments of flushing do not change a trace", test_flushes },
        { "messages are joined in canonical order", test_events },
        { "messages in no order at all are joined in canonical order", test_events_unordered },
        { "a killed run's file opens and is right up to the last flush", test_killed },
        { "a run killed in the middle of a flush leaves what the flush before wrote", test_killed_in_flush },
        { "a run killed before its first flush leaves a file that opens", test_killed_unflushed },
        { "the parts of a killed run are joined", test_killed_events },
        { "parts that are missing or another run's are refused, and nothing is changed", test_merge_refused },
        { "differences are found, and only those", test_diff },
        { "a file that cannot be made is an error", test_cannot_create },
        { "a full disk is an error of the flush", test_disk_full },
        { "a flush is due after its time or with many rows", test_flush_due },
        { "the size of a trace is estimated", test_estimate },
        { NULL, NULL }
    };
    folder = g_dir_make_tmp("tiercel-trace-XXXXXX", NULL);
    int status = suite_run("trace", tests);
    scratch_remove(folder);
    g_free(folder);
    return status;
}
