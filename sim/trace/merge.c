/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/merge.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/folder.h"
#include "trace/part.h"
#include "trace/seal.h"

enum {
    OUT_ROWS = PART_CHUNK_ROWS,     /* written at once */
    BLOCK_ROWS_MOST = PART_CHUNK_ROWS,
    BLOCK_ROWS_LEAST = 1024,        /* read at once, of an open stretch */
    HELD_ROWS = 1 << 21             /* about so many, 100 MB, if all stretches were open */
};

struct source {
    char *path;
    hid_t file;
    struct columns columns;
};

/* A sorted run of rows of one part. */
struct stretch {
    struct source *source;
    uint64_t next;              /* first row not yet in the block */
    uint64_t end;
    int64_t first_time_ns;
    struct event_arrays block;  /* allocated while open */
    unsigned at, filled;
};

struct merge {
    GPtrArray *sources;
    GArray *stretches;          /* by first time */
    unsigned block_rows;
    struct columns *to;
    struct event_arrays out;
    unsigned out_filled;
};

static gboolean failure(const struct source *s, const char *reason, GError **error)
{
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: %s", s->path, reason);
    return FALSE;
}

static void source_free(void *data)
{
    struct source *s = data;
    columns_close(&s->columns);
    if (s->file >= 0)
        H5Fclose(s->file);
    g_free(s->path);
    g_free(s);
}

static gboolean source_check(const struct source *s, unsigned process, unsigned processes, uint64_t seed,
                             GError **error)
{
    char *format = NULL;
    uint64_t version = 0, its_process = 0, its_processes = 0, its_seed = 0;
    bool good = hdf5_get_text(s->file, "format", &format) && strcmp(format, "tiercel trace part") == 0 &&
                hdf5_get_u64(s->file, "format_version", &version) && version == 1 &&
                hdf5_get_u64(s->file, "process", &its_process) && its_process == process &&
                hdf5_get_u64(s->file, "processes", &its_processes) && its_processes == processes &&
                hdf5_get_u64(s->file, "seed", &its_seed) && its_seed == seed;
    g_free(format);
    return good || failure(s, "is not the part of this run that its name says", error);
}

static gboolean columns_check(const struct source *s, GError **error)
{
    if (s->columns.count != events_table.column_count)
        return failure(s, "its table has other columns than events have", error);
    for (unsigned c = 0; c < s->columns.count; c++)
        if (strcmp(s->columns.name[c], events_table.columns[c].name) != 0 ||
            s->columns.type[c] != events_table.columns[c].type)
            return failure(s, "its table has other columns than events have", error);
    return TRUE;
}

static gboolean source_open(struct source *s, unsigned process, unsigned processes, uint64_t seed, int64_t *horizon_ns,
                            GError **error)
{
    bool sealed;
    int64_t its_horizon_ns = 0;
    if (!seal_check(s->path, &sealed, error))
        return FALSE;
    s->file = hdf5_open(s->path, false, error);
    if (s->file < 0 || !source_check(s, process, processes, seed, error))
        return FALSE;
    char *reason = NULL;
    if (!columns_open(&s->columns, s->file, events_table.name, &reason)) {
        failure(s, reason, error);
        g_free(reason);
        return FALSE;
    }
    if (!hdf5_get_i64(s->columns.group, "horizon_ns", &its_horizon_ns))
        return failure(s, "does not say up to which time it is right", error);
    *horizon_ns = MIN(*horizon_ns, its_horizon_ns);
    return columns_check(s, error);
}

static bool rows_read(const struct source *s, uint64_t first, unsigned n, struct event_arrays *to)
{
    void *list[EVENT_COLUMNS];
    event_arrays_list(to, 0, list);
    for (unsigned c = 0; c < EVENT_COLUMNS; c++)
        if (!columns_read(&s->columns, c, first, n, list[c]))
            return false;
    return true;
}

/* The stretches of one part, as it lists them. */
static gboolean stretches_read(struct merge *m, struct source *s, GError **error)
{
    uint64_t count = 0, listed = 0, rows = s->columns.rows;
    if (rows == 0)
        return TRUE;
    if (!hdf5_get_u64(s->columns.group, "stretches", &count) || !hdf5_array_size(s->file, "stretch_row", &listed) ||
        count == 0 || count > rows || listed < count)
        return failure(s, "does not list its stretches; it is damaged", error);
    /* More may be listed: by a flush that a kill interrupted. */
    uint64_t *row = g_new(uint64_t, listed);
    int64_t *time_ns = g_new(int64_t, listed);
    bool good = hdf5_get_array(s->file, "stretch_row", H5T_NATIVE_UINT64, row, listed) &&
                hdf5_get_array(s->file, "stretch_time", H5T_NATIVE_INT64, time_ns, listed) && row[0] == 0;
    for (uint64_t i = 0; good && i < count; i++) {
        struct stretch stretch = { .source = s, .next = row[i], .end = i + 1 < count ? row[i + 1] : rows,
                                   .first_time_ns = time_ns[i] };
        good = stretch.next < stretch.end && stretch.end <= rows;
        g_array_append_val(m->stretches, stretch);
    }
    g_free(time_ns);
    g_free(row);
    return good || failure(s, "its list of stretches is damaged", error);
}

static int stretch_compare(const void *one, const void *other)
{
    const struct stretch *a = one, *b = other;
    return a->first_time_ns < b->first_time_ns ? -1 : a->first_time_ns > b->first_time_ns;
}

/* The next rows into the block; false at the stretch's end (the block is then freed). */
static bool stretch_fill(const struct merge *m, struct stretch *s, bool *good)
{
    unsigned n = (unsigned)MIN((uint64_t)m->block_rows, s->end - s->next);
    if (s->block.time_ns == NULL)
        event_arrays_init(&s->block, m->block_rows);
    if (n == 0 || !rows_read(s->source, s->next, n, &s->block)) {
        *good = n == 0;
        event_arrays_release(&s->block);
        return false;
    }
    s->next += n;
    s->at = 0;
    s->filled = n;
    return true;
}

static bool out_write(struct merge *m)
{
    void *list[EVENT_COLUMNS];
    event_arrays_list(&m->out, 0, list);
    bool good = columns_append(m->to, (const void *const *)list, m->out_filled);
    m->out_filled = 0;
    return good;
}

/* Moves rows of the stretch to the output, up to the first that comes after row `limit` of another one's block (NULL:
 * all) or is not earlier than before_ns. */
static bool stretch_move(struct merge *m, struct stretch *s, const struct stretch *limit, int64_t before_ns)
{
    unsigned last = s->filled - 1, end = s->filled;
    bool whole = s->block.time_ns[last] < before_ns &&
                 (limit == NULL || event_arrays_compare(&s->block, last, &limit->block, limit->at) < 0);
    if (!whole) {
        for (end = s->at + 1; end < s->filled; end++)
            if (s->block.time_ns[end] >= before_ns ||
                (limit != NULL && event_arrays_compare(&s->block, end, &limit->block, limit->at) > 0))
                break;
    }
    while (s->at < end) {
        unsigned n = MIN(end - s->at, OUT_ROWS - m->out_filled);
        event_arrays_copy(&m->out, m->out_filled, &s->block, s->at, n);
        m->out_filled += n;
        s->at += n;
        if (m->out_filled == OUT_ROWS && !out_write(m))
            return false;
    }
    return true;
}

static int head_compare(const struct stretch *a, const struct stretch *b)
{
    return event_arrays_compare(&a->block, a->at, &b->block, b->at);
}

static int64_t head_time_ns(const struct stretch *s)
{
    return s->block.time_ns[s->at];
}

/* Restores the order of a binary heap of open stretches below `at`. */
static void heap_sink(GPtrArray *heap, guint at)
{
    for (;;) {
        guint least = at;
        for (guint child = 2 * at + 1; child <= 2 * at + 2 && child < heap->len; child++)
            if (head_compare(heap->pdata[child], heap->pdata[least]) < 0)
                least = child;
        if (least == at)
            return;
        gpointer swap = heap->pdata[at];
        heap->pdata[at] = heap->pdata[least];
        heap->pdata[least] = swap;
        at = least;
    }
}

static void heap_add(GPtrArray *heap, struct stretch *s)
{
    g_ptr_array_add(heap, s);
    for (guint at = heap->len - 1; at != 0;) {
        guint parent = (at - 1) / 2;
        if (head_compare(heap->pdata[parent], heap->pdata[at]) <= 0)
            return;
        gpointer swap = heap->pdata[at];
        heap->pdata[at] = heap->pdata[parent];
        heap->pdata[parent] = swap;
        at = parent;
    }
}

/* The second smallest of the heap, or NULL. */
static const struct stretch *heap_second(const GPtrArray *heap)
{
    if (heap->len < 2)
        return NULL;
    if (heap->len == 2 || head_compare(heap->pdata[1], heap->pdata[2]) < 0)
        return heap->pdata[1];
    return heap->pdata[2];
}

static struct stretch *stretch_at(struct merge *m, guint i)
{
    return &g_array_index(m->stretches, struct stretch, i);
}

static gboolean stretches_join(struct merge *m, GError **error)
{
    GPtrArray *heap = g_ptr_array_new();
    guint next = 0;
    bool good = true, wrote = true;
    const struct source *reading = NULL;
    while (good && wrote && (heap->len != 0 || next < m->stretches->len)) {
        /* Open every stretch that begins at or before the smallest head: after this the smallest head is the smallest
         * of all rows left, and stays so before the first time of the next unopened one. */
        while (good && next < m->stretches->len &&
               (heap->len == 0 || stretch_at(m, next)->first_time_ns <= head_time_ns(heap->pdata[0]))) {
            struct stretch *opened = stretch_at(m, next++);
            reading = opened->source;
            if (stretch_fill(m, opened, &good))
                heap_add(heap, opened);
        }
        if (!good || heap->len == 0)
            break;
        struct stretch *least = heap->pdata[0];
        int64_t before_ns = next < m->stretches->len ? stretch_at(m, next)->first_time_ns : INT64_MAX;
        wrote = stretch_move(m, least, heap_second(heap), before_ns);
        reading = least->source;
        if (least->at == least->filled && !stretch_fill(m, least, &good))
            g_ptr_array_remove_index_fast(heap, 0);
        if (heap->len != 0)
            heap_sink(heap, 0);
    }
    wrote = wrote && out_write(m);
    g_ptr_array_free(heap, TRUE);
    if (!good)
        return failure(reading, "its rows cannot be read; the file is damaged", error);
    return wrote || hdf5_failure(error, "the joined trace", "rows cannot be written");
}

static void merge_init(struct merge *m, struct columns *to)
{
    *m = (struct merge){ .to = to };
    m->sources = g_ptr_array_new_with_free_func(source_free);
    m->stretches = g_array_new(FALSE, FALSE, sizeof(struct stretch));
    event_arrays_init(&m->out, OUT_ROWS);
}

static void merge_release(struct merge *m)
{
    for (guint i = 0; i < m->stretches->len; i++)
        event_arrays_release(&stretch_at(m, i)->block);
    g_array_free(m->stretches, TRUE);
    g_ptr_array_free(m->sources, TRUE);
    event_arrays_release(&m->out);
}

static gboolean sources_open(struct merge *m, const char *trace_path, unsigned processes, uint64_t seed,
                             int64_t *horizon_ns, GError **error)
{
    *horizon_ns = INT64_MAX;
    for (unsigned process = 0; process < processes; process++) {
        struct source *s = g_new0(struct source, 1);
        s->file = s->columns.group = -1;
        s->path = part_path(trace_path, process);
        g_ptr_array_add(m->sources, s);
        if (!source_open(s, process, processes, seed, horizon_ns, error) || !stretches_read(m, s, error))
            return FALSE;
    }
    return TRUE;
}

gboolean merge_parts(const char *trace_path, unsigned processes, uint64_t seed, struct columns *to,
                     int64_t *horizon_ns, GError **error)
{
    struct merge m;
    merge_init(&m, to);
    gboolean good = sources_open(&m, trace_path, processes, seed, horizon_ns, error);
    if (good) {
        m.block_rows = CLAMP(HELD_ROWS / MAX(m.stretches->len, 1), (unsigned)BLOCK_ROWS_LEAST,
                             (unsigned)BLOCK_ROWS_MOST);
        g_array_sort(m.stretches, stretch_compare);
        good = stretches_join(&m, error);
    }
    merge_release(&m);
    return good;
}

gboolean merge_check(const char *trace_path, unsigned processes, uint64_t seed, GError **error)
{
    struct merge m;
    int64_t horizon_ns;
    merge_init(&m, NULL);
    gboolean good = sources_open(&m, trace_path, processes, seed, &horizon_ns, error);
    merge_release(&m);
    return good;
}

void merge_remove_parts(const char *trace_path)
{
    char *first = part_path(trace_path, 0);
    char *folder = g_path_get_dirname(first);
    char *prefix = g_path_get_basename(first);
    prefix[strlen(prefix) - strlen("0000.h5")] = '\0';
    GPtrArray *names = folder_names(folder);
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        if (!g_str_has_prefix(name, prefix) || !g_str_has_suffix(name, ".h5") ||
            strspn(name + strlen(prefix), "0123456789") != strlen(name) - strlen(prefix) - strlen(".h5"))
            continue;
        char *path = g_build_filename(folder, name, NULL);
        unlink(path);
        g_free(path);
    }
    g_ptr_array_unref(names);
    g_free(prefix);
    g_free(folder);
    g_free(first);
}
