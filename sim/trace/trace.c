/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/trace.h"

#include "trace/gather.h"
#include "trace/merge.h"
#include "trace/part.h"
#include "trace/trace_file.h"

enum {
    DEFAULT_BIN_NS = 1000000,
    HELD_BYTES = 4 << 20        /* of rows at one process, from where on it asks for a flush */
};

struct trace {
    struct gather *gather;
    enum trace_level level;
    struct collector *mine;
    struct collector *all;      /* process 0, after a merge */
    int64_t bin_ns;

    unsigned table_count;
    struct rows *rows;          /* by table, recorded here */
    struct rows *arrived;       /* process 0: of all processes, not in the file yet */

    struct trace_file *file;    /* process 0 */
    struct part *part;          /* level events */
    unsigned processes;
    uint64_t seed;

    double flush_every_s;
    int64_t flushed_us;         /* monotonic clock */
};

static bool is_root(const struct trace *t)
{
    return gather_process(t->gather) == 0;
}

/* Process 0 makes the file, then everybody its part: an old run's parts are gone by then. */
static gboolean files_create(struct trace *t, const struct trace_config *config, GError **error)
{
    GError *local = NULL;
    if (is_root(t)) {
        merge_remove_parts(config->path);
        t->file = trace_file_create(config, t->processes, &local);
    }
    if (!gather_agree(t->gather, local, error))
        return FALSE;
    if (t->level < TRACE_LEVEL_EVENTS)
        return TRUE;
    local = NULL;
    t->part = part_new(config->path, gather_process(t->gather), t->processes, t->seed, &local);
    return gather_agree(t->gather, local, error);
}

struct trace *trace_new(const struct trace_config *config, struct gather *gather, GError **error)
{
    struct trace *t = g_new0(struct trace, 1);
    t->gather = gather;
    t->level = config->level;
    t->bin_ns = config->bin_ns > 0 ? config->bin_ns : DEFAULT_BIN_NS;
    t->mine = collector_new(config->roles, config->role_count, t->bin_ns);
    t->processes = gather_processes(gather);
    t->seed = config->seed;
    t->flush_every_s = config->flush_every_s;
    t->flushed_us = g_get_monotonic_time();
    if (config->path == NULL)
        return t;
    t->table_count = t->level >= TRACE_LEVEL_JOBS ? config->table_count : 0;
    t->rows = g_new0(struct rows, t->table_count);
    t->arrived = g_new0(struct rows, t->table_count);
    for (unsigned i = 0; i < t->table_count; i++) {
        rows_init(&t->rows[i], &config->tables[i]);
        rows_init(&t->arrived[i], &config->tables[i]);
    }
    if (files_create(t, config, error))
        return t;
    trace_free(t);
    return NULL;
}

void trace_free(struct trace *t)
{
    if (t == NULL)
        return;
    part_free(t->part);
    trace_file_free(t->file);
    for (unsigned i = 0; i < t->table_count; i++) {
        rows_release(&t->rows[i]);
        rows_release(&t->arrived[i]);
    }
    g_free(t->rows);
    g_free(t->arrived);
    collector_free(t->mine);
    collector_free(t->all);
    g_free(t);
}

void trace_count(struct trace *t, unsigned role, unsigned metric, int64_t time_ns, uint64_t count)
{
    collector_count(t->mine, role, metric, time_ns, count);
}

void trace_sample(struct trace *t, unsigned role, unsigned metric, int64_t time_ns, int64_t value)
{
    collector_sample(t->mine, role, metric, time_ns, value);
}

void trace_record(struct trace *t, unsigned table, int64_t time_ns, uint32_t actor, const void *row, size_t size)
{
    if (table < t->table_count)
        rows_add(&t->rows[table], time_ns, actor, row, size);
}

void trace_event(struct trace *t, const struct trace_event *event)
{
    if (t->part != NULL)
        part_add(t->part, event);
}

bool trace_flush_due(const struct trace *t)
{
    size_t held = 0;
    for (unsigned i = 0; i < t->table_count; i++)
        held += t->rows[i].records.size;
    if (held >= HELD_BYTES)
        return true;
    return t->file != NULL && t->flush_every_s > 0 &&
           (double)(g_get_monotonic_time() - t->flushed_us) >= t->flush_every_s * 1e6;
}

/* --- from all processes to process 0 --- */

static gboolean figures_arrive(void *data, unsigned process, const void *bytes, size_t size, GError **error)
{
    struct trace *t = data;
    return collector_merge(t->all, bytes, size, error);
}

gboolean trace_merge(struct trace *t, GError **error)
{
    struct bytes mine = BYTES_INIT;
    collector_save(t->mine, &mine);
    if (is_root(t)) {
        struct trace_role *roles = g_new(struct trace_role, collector_role_count(t->mine));
        for (unsigned r = 0; r < collector_role_count(t->mine); r++)
            roles[r] = *collector_role(t->mine, r);
        collector_free(t->all);
        t->all = collector_new(roles, collector_role_count(t->mine), t->bin_ns);
        g_free(roles);
    }
    gboolean good = gather_parts(t->gather, &mine, figures_arrive, t, error);
    bytes_release(&mine);
    return good;
}

const struct collector *trace_collector(const struct trace *t)
{
    return t->all;
}

static gboolean rows_arrive(void *data, unsigned process, const void *bytes, size_t size, GError **error)
{
    struct trace *t = data;
    struct cursor from = cursor_init(bytes, size);
    for (unsigned i = 0; i < t->table_count; i++)
        if (!rows_load(&t->arrived[i], &from, error))
            return FALSE;
    return TRUE;
}

static gboolean rows_gather(struct trace *t, GError **error)
{
    if (t->table_count == 0)
        return TRUE;
    struct bytes mine = BYTES_INIT;
    for (unsigned i = 0; i < t->table_count; i++)
        rows_save(&t->rows[i], &mine);
    gboolean good = gather_parts(t->gather, &mine, rows_arrive, t, error);
    bytes_release(&mine);
    return good;
}

/* Process 0: the rows that are certain go to the file. */
static gboolean file_append(struct trace *t, int64_t horizon_ns, GError **error)
{
    struct bytes rows = BYTES_INIT;
    gboolean good = TRUE;
    for (unsigned i = 0; good && i < t->table_count; i++) {
        bytes_clear(&rows);
        uint64_t count = rows_take(&t->arrived[i], horizon_ns, &rows);
        good = trace_file_append(t->file, i, rows.data, count, error);
    }
    bytes_release(&rows);
    return good;
}

gboolean trace_flush(struct trace *t, int64_t now_ns, GError **error)
{
    if (!trace_merge(t, error) || !rows_gather(t, error))
        return FALSE;
    GError *local = NULL;
    if (t->file != NULL && file_append(t, now_ns, &local) && trace_file_put_figures(t->file, t->all, &local))
        trace_file_flush(t->file, &local);
    if (t->part != NULL && local == NULL)
        part_flush(t->part, now_ns, &local);
    t->flushed_us = g_get_monotonic_time();
    return gather_agree(t->gather, local, error);
}

/* --- the end --- */

/* The one part of a process that was alone, with all rows in order: it becomes the trace. */
static gboolean events_adopt(struct trace *t, GError **error)
{
    char *path = part_path(trace_file_path(t->file), 0);
    gboolean good = trace_file_adopt(t->file, path, events_table.name, events_order, part_links, part_attributes,
                                     error);
    g_free(path);
    return good;
}

static gboolean events_join(struct trace *t, GError **error)
{
    struct columns *events = trace_file_add_table(t->file, &events_table, PART_CHUNK_ROWS, events_order, error);
    int64_t horizon_ns;
    return events != NULL && merge_parts(trace_file_path(t->file), t->processes, t->seed, events, &horizon_ns, error);
}

gboolean trace_finish(struct trace *t, const struct trace_ending *ending, GError **error)
{
    if (!trace_merge(t, error) || !rows_gather(t, error))
        return FALSE;
    bool events = t->part != NULL;
    bool whole = false;
    GError *local = NULL;
    if (events) {
        part_flush(t->part, INT64_MAX, &local);
        whole = t->processes == 1 && part_is_sorted(t->part);
    }
    part_free(t->part);
    t->part = NULL;
    if (!gather_agree(t->gather, local, error))
        return FALSE;
    local = NULL;
    if (t->file != NULL && file_append(t, INT64_MAX, &local) &&
        (!events || (whole ? events_adopt(t, &local) : events_join(t, &local))) &&
        trace_file_end(t->file, t->all, ending, &local) && events)
        merge_remove_parts(trace_file_path(t->file));
    return gather_agree(t->gather, local, error);
}
