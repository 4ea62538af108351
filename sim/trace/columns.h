/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table in an HDF5 file: a group with one growing dataset a column. Internal to sim/trace/.
 *
 * Appending is cheap in batches of thousands of rows and dear one by one (2.6 us a call). The group's attributes:
 * `columns` (their names in order), `rows` (how many of the rows are right), `order`, `long_name`. `rows` is written by
 * columns_mark, after the data behind it have reached the file: a kill between leaves the older number, and older rows
 * are never touched again.
 */
#ifndef TIERCEL_TRACE_COLUMNS_H
#define TIERCEL_TRACE_COLUMNS_H

#include "trace/hdf5_file.h"
#include "trace/table.h"

enum { COLUMNS_MAX = 64 };

struct columns {
    hid_t group;
    unsigned count;
    hid_t dataset[COLUMNS_MAX];
    enum table_type type[COLUMNS_MAX];
    char *name[COLUMNS_MAX];
    char *unit[COLUMNS_MAX];
    char *text[COLUMNS_MAX];
    uint64_t rows;              /* appended, or marked in a file that was opened */
};

/* False when HDF5 failed; the caller makes the error. Space is taken in chunks of chunk_rows values a column: what is
 * appended at once, or a few thousand. */
bool columns_create(struct columns *c, hid_t parent, const struct table *t, unsigned chunk_rows, bool compress,
                    const char *order);

/* n values of each column, each array in the column's type. */
bool columns_append(struct columns *c, const void *const *values, uint64_t n);

/* n rows as canonical bytes, one after another. */
bool columns_append_rows(struct columns *c, const void *rows, uint64_t n);

/* Declares all appended rows right; the caller has flushed the file before, and does so afterwards. */
bool columns_mark(struct columns *c);

/* An existing table. False with *reason (the caller's) when the group is not a table of ours, or fewer values are there
 * than `rows` says. */
bool columns_open(struct columns *c, hid_t parent, const char *name, char **reason);

/* Values [first, first + n) of a column, in its type (ENUM: bytes). */
bool columns_read(const struct columns *c, unsigned column, uint64_t first, uint64_t n, void *values);

/* The names of an ENUM's values, ended by NULL (g_strfreev); NULL for another type or a damaged one. */
char **columns_names(const struct columns *c, unsigned column);

/* False when a dataset could not be closed, which includes writing what HDF5 still held. */
bool columns_close(struct columns *c);

#endif
