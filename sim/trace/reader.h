/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a trace: for report, compare, export, verify and diff.
 *
 *     struct reader *r = reader_open(path, &error);           refuses what is not a whole, readable trace
 *     reader_text(r, "digest");  reader_number(r, "walltime_s", &value);
 *     struct collector *figures = reader_figures(r, &error);
 *     int jobs = reader_table_find(r, "jobs");
 *     for (first = 0; first < reader_rows(r, jobs); first += n)
 *         reader_read(r, jobs, column, first, n, values, &error);
 *     reader_free(r);
 *
 * A trace whose run was killed is readable as of its last flush; reader_complete tells it apart. A damaged file is
 * refused with one line (TIERCEL_ERROR_RUNTIME); nothing a file contains ends the program: where no checksum tells
 * that a file is as it was written, a child process reads it first (probe.h). All functions are local.
 */
#ifndef TIERCEL_TRACE_READER_H
#define TIERCEL_TRACE_READER_H

#include "trace/collector.h"
#include "trace/table.h"
#include "trace/trace.h"

struct reader;

struct reader *reader_open(const char *path, GError **error);
void reader_free(struct reader *r);

const char *reader_path(const struct reader *r);
/* The run ended and everything it wrote is here. */
bool reader_complete(const struct reader *r);
/* The file is closed by size and checksum: of a run that ended, or of one whose parts were joined. */
bool reader_sealed(const struct reader *r);

/* Attributes of the trace (README.md). NULL, or false, when there is no such one. Texts belong to the reader. */
const char *reader_text(struct reader *r, const char *name);
bool reader_count(const struct reader *r, const char *name, uint64_t *value);
bool reader_number(const struct reader *r, const char *name, double *value);

/* "deck", "effective", "summary"; NULL when it is not there. The caller frees it. */
char *reader_document(const struct reader *r, const char *name);

/* All that roles reported; the caller's. NULL and *error when it does not fit together. Roles come in the order of
 * their names. */
struct collector *reader_figures(const struct reader *r, GError **error);

/* The roles' table, of a run that ended; *count of them, texts included in the caller's array (reader_roles_free).
 * NULL with no error when there is none. */
struct trace_role_figures *reader_roles(const struct reader *r, unsigned *count, GError **error);
void reader_roles_free(struct trace_role_figures *roles, unsigned count);

/* What the numbers of a trace of level `events` stand for. */
struct reader_names {
    uint32_t actors;
    uint16_t *role;                 /* by actor id: index into role_name */
    uint32_t *node;                 /* by actor id */
    char **role_name;               /* ended by NULL */
    unsigned kinds;
    uint16_t *kind;
    char **kind_name;               /* parallel, ended by NULL */
};
/* FALSE and *error, with *names empty, when they are not there or do not fit together. */
gboolean reader_names_read(const struct reader *r, struct reader_names *names, GError **error);
void reader_names_release(struct reader_names *names);

/* --- tables --- */

unsigned reader_tables(const struct reader *r);
/* Name, text, columns: as they were written. Owned by the reader. */
const struct table *reader_table(const struct reader *r, unsigned table);
int reader_table_find(const struct reader *r, const char *name);
int reader_column_find(const struct reader *r, unsigned table, const char *name);
uint64_t reader_rows(const struct reader *r, unsigned table);

/* Values [first, first + n) of a column, in its own type; in range. */
gboolean reader_read(const struct reader *r, unsigned table, unsigned column, uint64_t first, uint64_t n,
                     void *values, GError **error);

#endif
