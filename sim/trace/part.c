/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/part.h"

#include <stdlib.h>

#include "trace/columns.h"
#include "trace/seal.h"

static const struct table_column event_columns[EVENT_COLUMNS] = {
    [EVENT_TIME] = { "time", "ns", "arrival of the message", TABLE_I64, NULL },
    [EVENT_ACTOR] = { "actor", "1", "id of the actor that handled it", TABLE_U32, NULL },
    [EVENT_CLASS] = { "order_class", "1", "1: at the end of the instant, else 0", TABLE_U8, NULL },
    [EVENT_FROM] = { "from", "1", "id of the actor that sent it", TABLE_U32, NULL },
    [EVENT_SEQUENCE] = { "sequence", "1", "the sender's count of sends, low 32 bits", TABLE_U32, NULL },
    [EVENT_KIND] = { "kind", "1", "kind of the message", TABLE_U16, NULL },
    [EVENT_START] = { "start", "ns", "start of the handling", TABLE_I64, NULL },
    [EVENT_END] = { "end", "ns", "end of the handling", TABLE_I64, NULL },
    [EVENT_CONTENT] = { "content", "1", "the message's word, or the hash of its payload", TABLE_U64, NULL },
};

const char events_order[] = "time, actor, order_class, from, sequence";
const struct table events_table = { "events", "one row a handled message", event_columns, EVENT_COLUMNS };

struct part_file {
    hid_t file;
    struct columns columns;
};

void event_arrays_init(struct event_arrays *a, unsigned rows)
{
    *a = (struct event_arrays){
        g_new(int64_t, rows), g_new(uint32_t, rows), g_new(uint8_t, rows), g_new(uint32_t, rows),
        g_new(uint32_t, rows), g_new(uint16_t, rows), g_new(int64_t, rows), g_new(int64_t, rows),
        g_new(uint64_t, rows)
    };
}

void event_arrays_release(struct event_arrays *a)
{
    void *list[EVENT_COLUMNS];
    event_arrays_list(a, 0, list);
    for (unsigned c = 0; c < EVENT_COLUMNS; c++)
        g_free(list[c]);
    *a = (struct event_arrays){ 0 };
}

void event_arrays_list(const struct event_arrays *a, unsigned first, void *list[EVENT_COLUMNS])
{
    list[EVENT_TIME] = a->time_ns + first;
    list[EVENT_ACTOR] = a->actor + first;
    list[EVENT_CLASS] = a->order_class + first;
    list[EVENT_FROM] = a->from + first;
    list[EVENT_SEQUENCE] = a->sequence + first;
    list[EVENT_KIND] = a->kind + first;
    list[EVENT_START] = a->start_ns + first;
    list[EVENT_END] = a->end_ns + first;
    list[EVENT_CONTENT] = a->content + first;
}

void event_arrays_copy(struct event_arrays *to, unsigned at, const struct event_arrays *from, unsigned first,
                       unsigned n)
{
    void *target[EVENT_COLUMNS], *source[EVENT_COLUMNS];
    event_arrays_list(to, at, target);
    event_arrays_list(from, first, source);
    for (unsigned c = 0; c < EVENT_COLUMNS; c++)
        memcpy(target[c], source[c], n * table_type_size(event_columns[c].type));
}

int event_arrays_compare(const struct event_arrays *a, unsigned i, const struct event_arrays *b, unsigned j)
{
    if (a->time_ns[i] != b->time_ns[j])
        return a->time_ns[i] < b->time_ns[j] ? -1 : 1;
    if (a->actor[i] != b->actor[j])
        return a->actor[i] < b->actor[j] ? -1 : 1;
    if (a->order_class[i] != b->order_class[j])
        return a->order_class[i] < b->order_class[j] ? -1 : 1;
    if (a->from[i] != b->from[j])
        return a->from[i] < b->from[j] ? -1 : 1;
    return a->sequence[i] < b->sequence[j] ? -1 : a->sequence[i] > b->sequence[j];
}

/* --- sorting a batch: by time with a radix sort, then what falls on one instant by comparison --- */

struct sort_entry {
    uint64_t key;
    uint32_t row;
};

static void radix_sort(struct sort_entry *entry, struct sort_entry *spare, unsigned n, unsigned bits)
{
    enum { DIGIT = 11, VALUES = 1 << DIGIT };
    unsigned *at = g_new(unsigned, VALUES);
    struct sort_entry *from = entry, *to = spare;
    for (unsigned shift = 0; shift < bits; shift += DIGIT) {
        memset(at, 0, VALUES * sizeof at[0]);
        for (unsigned i = 0; i < n; i++)
            at[from[i].key >> shift & (VALUES - 1)]++;
        unsigned first = 0;
        for (unsigned v = 0; v < VALUES; v++) {
            unsigned count = at[v];
            at[v] = first;
            first += count;
        }
        for (unsigned i = 0; i < n; i++)
            to[at[from[i].key >> shift & (VALUES - 1)]++] = from[i];
        struct sort_entry *swap = from;
        from = to;
        to = swap;
    }
    if (from != entry)
        memcpy(entry, from, n * sizeof entry[0]);
    g_free(at);
}

static int same_instant_compare(const void *one, const void *other, void *arrays)
{
    const struct sort_entry *a = one, *b = other;
    return event_arrays_compare(arrays, a->row, arrays, b->row);
}

static void batch_sort(struct part *p)
{
    unsigned n = p->filled;
    int64_t smallest = INT64_MAX, largest = INT64_MIN;
    for (unsigned i = 0; i < n; i++) {
        smallest = MIN(smallest, p->batch.time_ns[i]);
        largest = MAX(largest, p->batch.time_ns[i]);
    }
    uint64_t range = (uint64_t)largest - (uint64_t)smallest;
    struct sort_entry *entry = g_new(struct sort_entry, n);
    struct sort_entry *spare = g_new(struct sort_entry, n);
    for (unsigned i = 0; i < n; i++)
        entry[i] = (struct sort_entry){ (uint64_t)p->batch.time_ns[i] - (uint64_t)smallest, i };
    radix_sort(entry, spare, n, range == 0 ? 0 : 64 - (unsigned)__builtin_clzll(range));
    for (unsigned first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && entry[end].key == entry[first].key; end++)
            ;
        if (end - first > 1)
            g_qsort_with_data(entry + first, (gint)(end - first), sizeof entry[0], same_instant_compare, &p->batch);
    }
    struct event_arrays sorted;
    event_arrays_init(&sorted, PART_BATCH_ROWS);
    for (unsigned i = 0; i < n; i++) {
        unsigned row = entry[i].row;
        sorted.time_ns[i] = p->batch.time_ns[row];
        sorted.actor[i] = p->batch.actor[row];
        sorted.order_class[i] = p->batch.order_class[row];
        sorted.from[i] = p->batch.from[row];
        sorted.sequence[i] = p->batch.sequence[row];
        sorted.kind[i] = p->batch.kind[row];
        sorted.start_ns[i] = p->batch.start_ns[row];
        sorted.end_ns[i] = p->batch.end_ns[row];
        sorted.content[i] = p->batch.content[row];
    }
    event_arrays_release(&p->batch);
    p->batch = sorted;
    g_free(spare);
    g_free(entry);
}

/* --- the file --- */

char *part_path(const char *trace_path, unsigned process)
{
    size_t length = strlen(trace_path);
    if (g_str_has_suffix(trace_path, ".h5"))
        length -= 3;
    return g_strdup_printf("%.*s.part-%04u.h5", (int)length, trace_path, process);
}

static gboolean part_create(struct part *p, unsigned process, unsigned processes, uint64_t seed, GError **error)
{
    struct part_file *f = p->file;
    f->file = hdf5_create(p->path, error);
    if (f->file < 0)
        return FALSE;
    bool good = hdf5_put_text(f->file, "format", "tiercel trace part") && hdf5_put_u64(f->file, "format_version", 1) &&
                hdf5_put_u64(f->file, "process", process) && hdf5_put_u64(f->file, "processes", processes) &&
                hdf5_put_u64(f->file, "seed", seed) &&
                columns_create(&f->columns, f->file, &events_table, PART_CHUNK_ROWS, false,
                               "in batches, each by time, actor, class, sender, sequence") &&
                hdf5_put_i64(f->columns.group, "horizon_ns", 0) && hdf5_put_u64(f->columns.group, "stretches", 0) &&
                H5Fflush(f->file, H5F_SCOPE_LOCAL) >= 0;
    if (!good)
        return hdf5_failure(error, p->path, "cannot be written");
    return seal_open(p->path, error);
}

struct part *part_new(const char *trace_path, unsigned process, unsigned processes, uint64_t seed, GError **error)
{
    struct part *p = g_new0(struct part, 1);
    struct part_file *f = g_new0(struct part_file, 1);
    f->file = f->columns.group = -1;
    p->file = f;
    p->path = part_path(trace_path, process);
    p->sorted = true;
    event_arrays_init(&p->batch, PART_BATCH_ROWS);
    event_arrays_init(&p->last, 1);
    p->stretch_row = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    p->stretch_time = g_array_new(FALSE, FALSE, sizeof(int64_t));
    if (part_create(p, process, processes, seed, error))
        return p;
    part_free(p);
    return NULL;
}

void part_write(struct part *p)
{
    struct part_file *f = p->file;
    if (p->filled == 0)
        return;
    if (!p->sorted)
        batch_sort(p);
    if (f->columns.rows == 0 || event_arrays_compare(&p->last, 0, &p->batch, 0) > 0) {
        g_array_append_val(p->stretch_row, f->columns.rows);
        g_array_append_val(p->stretch_time, p->batch.time_ns[0]);
    }
    event_arrays_copy(&p->last, 0, &p->batch, p->filled - 1, 1);
    void *list[EVENT_COLUMNS];
    event_arrays_list(&p->batch, 0, list);
    if (p->error == NULL && !columns_append(&f->columns, (const void *const *)list, p->filled))
        hdf5_failure(&p->error, p->path, "rows cannot be written");
    p->filled = 0;
    p->sorted = true;
}

gboolean part_flush(struct part *p, int64_t horizon_ns, GError **error)
{
    struct part_file *f = p->file;
    part_write(p);
    if (p->error == NULL &&
        !(hdf5_put_array(f->file, "stretch_row", H5T_NATIVE_UINT64, p->stretch_row->data, p->stretch_row->len, true,
                         "1", "first row of a stretch whose rows rise") &&
          hdf5_put_array(f->file, "stretch_time", H5T_NATIVE_INT64, p->stretch_time->data, p->stretch_time->len, true,
                         "ns", "arrival of that row's message") &&
          H5Fflush(f->file, H5F_SCOPE_LOCAL) >= 0 && hdf5_put_i64(f->columns.group, "horizon_ns", horizon_ns) &&
          hdf5_put_u64(f->columns.group, "stretches", p->stretch_row->len) &&
          columns_mark(&f->columns) && H5Fflush(f->file, H5F_SCOPE_LOCAL) >= 0))
        hdf5_failure(&p->error, p->path, "cannot be flushed");
    if (p->error == NULL)
        return TRUE;
    g_propagate_error(error, g_error_copy(p->error));
    return FALSE;
}

bool part_is_sorted(const struct part *p)
{
    return p->stretch_row->len <= 1;
}

const char *const part_links[] = { "stretch_row", "stretch_time", NULL };
const char *const part_attributes[] = { "horizon_ns", "stretches", NULL };

void part_free(struct part *p)
{
    if (p == NULL)
        return;
    struct part_file *f = p->file;
    columns_close(&f->columns);
    if (f->file >= 0)
        hdf5_close(f->file);
    g_free(f);
    event_arrays_release(&p->batch);
    event_arrays_release(&p->last);
    g_array_free(p->stretch_row, TRUE);
    g_array_free(p->stretch_time, TRUE);
    g_clear_error(&p->error);
    g_free(p->path);
    g_free(p);
}
