/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/table.h"

#include <inttypes.h>
#include <stdlib.h>

/* Before a row: when it was recorded, by whom, and which of this process's rows it is. An actor lives on one process,
 * so the last orders the rows of one actor however the actors are placed. */
struct record {
    int64_t time_ns;
    uint64_t sequence;
    uint32_t actor;
    uint32_t unused;
};

size_t table_type_size(enum table_type type)
{
    switch (type) {
    case TABLE_U8:
    case TABLE_ENUM:
        return 1;
    case TABLE_U16:
        return 2;
    case TABLE_U32:
        return 4;
    case TABLE_U64:
    case TABLE_I64:
        return 8;
    }
    g_assert_not_reached();
}

size_t table_row_size(const struct table *t)
{
    size_t size = 0;
    for (unsigned c = 0; c < t->column_count; c++)
        size += table_type_size(t->columns[c].type);
    return size;
}

void rows_init(struct rows *r, const struct table *t)
{
    *r = (struct rows){ .row_size = table_row_size(t) };
}

void rows_release(struct rows *r)
{
    bytes_release(&r->records);
    r->count = 0;
}

void rows_add(struct rows *r, int64_t time_ns, uint32_t actor, const void *row, size_t size)
{
    g_assert(size == r->row_size);
    struct record record = { time_ns, r->added++, actor, 0 };
    uint8_t *at = bytes_extend(&r->records, sizeof record + size);
    memcpy(at, &record, sizeof record);
    memcpy(at + sizeof record, row, size);
    r->count++;
}

void rows_save(struct rows *r, struct bytes *sink)
{
    bytes_put_u64(sink, r->row_size);
    bytes_put_u64(sink, r->count);
    bytes_put(sink, r->records.data, r->records.size);
    bytes_clear(&r->records);
    r->count = 0;
}

gboolean rows_load(struct rows *r, struct cursor *from, GError **error)
{
    size_t stride = sizeof(struct record) + r->row_size;
    uint64_t row_size = cursor_u64(from);
    uint64_t count = cursor_u64(from);
    const uint8_t *data = NULL;
    if (row_size == r->row_size && count <= SIZE_MAX / stride)
        data = cursor_take(from, count * stride);
    if (data == NULL) {
        from->failed = true;
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME,
                    "rows of another process (%" PRIu64 " of %" PRIu64 " bytes) do not fit the table of this one, "
                    "whose rows have %zu bytes; do all processes run the same program?", count, row_size, r->row_size);
        return FALSE;
    }
    bytes_put(&r->records, data, count * stride);
    r->count += count;
    return TRUE;
}

/* By time, actor, and the actor's own order. */
static int record_compare(const void *one, const void *other)
{
    struct record a, b;
    memcpy(&a, *(const uint8_t *const *)one, sizeof a);
    memcpy(&b, *(const uint8_t *const *)other, sizeof b);
    if (a.time_ns != b.time_ns)
        return a.time_ns < b.time_ns ? -1 : 1;
    if (a.actor != b.actor)
        return a.actor < b.actor ? -1 : 1;
    return a.sequence < b.sequence ? -1 : a.sequence > b.sequence;
}

uint64_t rows_take(struct rows *r, int64_t horizon_ns, struct bytes *sink)
{
    size_t stride = sizeof(struct record) + r->row_size;
    const uint8_t **ready = g_new(const uint8_t *, r->count);
    struct bytes later = BYTES_INIT;
    uint64_t taken = 0;
    for (uint64_t i = 0; i < r->count; i++) {
        const uint8_t *at = r->records.data + i * stride;
        struct record record;
        memcpy(&record, at, sizeof record);
        if (record.time_ns < horizon_ns)
            ready[taken++] = at;
        else
            bytes_put(&later, at, stride);
    }
    if (taken > 1)
        qsort(ready, taken, sizeof ready[0], record_compare);
    for (uint64_t i = 0; i < taken; i++)
        bytes_put(sink, ready[i] + sizeof(struct record), r->row_size);
    g_free(ready);
    bytes_release(&r->records);
    r->records = later;
    r->count -= taken;
    return taken;
}
