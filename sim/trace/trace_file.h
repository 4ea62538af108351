/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The HDF5 file of a trace as process 0 writes it. Internal to sim/trace/; README.md lists the layout.
 *
 * Steps: create, then any number of (put figures, append rows, flush), then end. Nothing is shared with other
 * processes.
 */
#ifndef TIERCEL_TRACE_TRACE_FILE_H
#define TIERCEL_TRACE_TRACE_FILE_H

#include "trace/columns.h"
#include "trace/trace.h"

struct trace_file;

/* The version of the layout. */
enum { TRACE_FORMAT_VERSION = 1 };
/* Values of a chunk of a table's column. */
enum { TRACE_FILE_CHUNK_ROWS = 4096 };
extern const char trace_format_name[];      /* root attribute `format` */

/* The columns of /roles besides the name, by their places in struct trace_role_figures; ended by a NULL name. */
struct trace_role_column {
    const char *name;
    const char *unit;
    const char *text;
    size_t offset;
    bool whole;                 /* a uint64_t, else a double */
};
extern const struct trace_role_column trace_role_columns[];

struct trace_file *trace_file_create(const struct trace_config *config, unsigned processes, GError **error);

/* Closes it as it is. NULL is allowed. */
void trace_file_free(struct trace_file *f);

/* Curves, histograms, counters and stages as they are now; before each flush. */
gboolean trace_file_put_figures(struct trace_file *f, const struct collector *figures, GError **error);

gboolean trace_file_append(struct trace_file *f, unsigned table, const void *rows, uint64_t count, GError **error);

/* Brings everything to the file, then declares it right. */
gboolean trace_file_flush(struct trace_file *f, GError **error);

/* A further table in the file, for the joined events; f's own until the file is closed. NULL and *error. */
struct columns *trace_file_add_table(struct trace_file *f, const struct table *t, unsigned chunk_rows,
                                     const char *order, GError **error);
/* Goes on in another HDF5 file that holds a whole table already: all that is in f's file is copied there, and it takes
 * the place of f's. It saves writing a long table a second time. `order` is the table's from now on; `links` of the
 * other file and `attributes` of the table, each ended by NULL, are not wanted any more. Local; FALSE and *error. */
gboolean trace_file_adopt(struct trace_file *f, const char *path, const char *table, const char *order,
                          const char *const *links, const char *const *attributes, GError **error);
hid_t trace_file_root(const struct trace_file *f);
const char *trace_file_path(const struct trace_file *f);

/* The figures, roles and attributes at the end of the run; sets `complete`, closes and seals the file. f is then only
 * good for trace_file_free. */
gboolean trace_file_end(struct trace_file *f, const struct collector *figures, const struct trace_ending *ending,
                        GError **error);

#endif
