/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of the trace: what their columns are, and rows on their way to the file.
 *
 * A table is plain data: a name, and columns with name, unit, text and type. A row is its columns' values in order, as
 * canonical bytes with no padding: U8 and ENUM one byte, U16 two, U32 four, U64 and I64 eight, little-endian. So all
 * rows of a table have the same size. In the file a table is a group with one dataset a column.
 *
 *     static const struct table_column columns[] = {
 *         { "id", "1", "job id", TABLE_U64, NULL },
 *         { "submitted", "ns", "when it was submitted", TABLE_I64, NULL },
 *         { "state", "1", "how it ended", TABLE_ENUM, state_names },
 *     };
 *     static const struct table jobs = { "jobs", "one row a job", columns, G_N_ELEMENTS(columns) };
 *
 * Rows (struct rows) collects them on the way: each with the time of its record and the actor that made it, so that
 * the file's order (time, actor, the actor's own order) is the same for every number of processes and whatever the
 * moments of flushing. All functions are local.
 */
#ifndef TIERCEL_TRACE_TABLE_H
#define TIERCEL_TRACE_TABLE_H

#include "base/bytes.h"
#include "base/error.h"

enum table_type {
    TABLE_U8,
    TABLE_U16,
    TABLE_U32,
    TABLE_U64,
    TABLE_I64,
    TABLE_ENUM              /* one byte, an index into `names` */
};

struct table_column {
    const char *name;       /* [A-Za-z0-9_]+, unique within the table */
    const char *unit;       /* "1" for counts and ids, "ns", "bytes" */
    const char *text;       /* one line for people */
    enum table_type type;
    const char *const *names;   /* TABLE_ENUM: names of the values 0, 1, ..., ended by NULL; else NULL */
};

struct table {
    const char *name;       /* the group in the file */
    const char *text;
    const struct table_column *columns;
    unsigned column_count;
};

/* Bytes of one value, and of one row. */
size_t table_type_size(enum table_type type);
size_t table_row_size(const struct table *t);

/* Rows on their way: records of (time, actor, sequence, row). */
struct rows {
    size_t row_size;
    struct bytes records;
    uint64_t count;         /* records held */
    uint64_t added;         /* rows added since the start: the sequence */
};

void rows_init(struct rows *r, const struct table *t);
void rows_release(struct rows *r);

/* Appends a row of the table; `size` must be its row size. */
void rows_add(struct rows *r, int64_t time_ns, uint32_t actor, const void *row, size_t size);

/* The held records as bytes for another process, which adds them with rows_load; forgets them here. */
void rows_save(struct rows *r, struct bytes *sink);
gboolean rows_load(struct rows *r, struct cursor *from, GError **error);

/*
 * Takes out all rows recorded before `horizon_ns`, in the order (time, actor, sequence), as rows of the table one after
 * another in *sink, and returns how many. Later ones stay: another process may still make an earlier row.
 */
uint64_t rows_take(struct rows *r, int64_t horizon_ns, struct bytes *sink);

#endif
