/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A report as plain data: sections, each a small table with notes, whatever it will be written as.
 *
 *     struct document *d = document_new("report of x.h5");
 *     struct section *s = document_section(d, "roles", "Roles", columns, G_N_ELEMENTS(columns));
 *     section_text(s, "broker");  section_number(s, 0.115);           row after row, column after column
 *     section_note(s, "over the steady part, %.3f s", span_s);
 *     document_write_text(d, out);  document_write_json(d, out);  document_write_tsv(d, out);
 *     document_free(d);
 *
 * Numbers are in the column's base unit (seconds, bytes, per second, shares of 1); only the form for people scales
 * them. NAN stands for "no value": "-" for people, null in JSON, nothing in TSV. All functions are local and cannot
 * fail; whoever owns the stream looks at ferror.
 */
#ifndef TIERCEL_REPORT_DOCUMENT_H
#define TIERCEL_REPORT_DOCUMENT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum report_unit {
    REPORT_TEXT,
    REPORT_COUNT,               /* a whole number */
    REPORT_NUMBER,              /* of no unit */
    REPORT_SECONDS,
    REPORT_RATE,                /* per second */
    REPORT_SHARE,               /* of 1 */
    REPORT_BYTES,
    REPORT_BYTE_RATE            /* bytes per second */
};

struct report_column {
    const char *name;           /* [a-z0-9_]+, a key in JSON and TSV */
    const char *title;          /* for people */
    enum report_unit unit;
};

struct report_value {
    char *text;                 /* NULL: a number */
    double number;
    enum report_unit unit;      /* of the column, or of this value alone (section_quantity) */
    bool is_exact;              /* `count` is the number, which may be too large for a double */
    uint64_t count;
};

struct section {
    char *name;                 /* [a-z0-9_]+ */
    char *title;
    const struct report_column *columns;
    unsigned column_count;
    GArray *values;             /* struct report_value, row after row */
    GPtrArray *notes;           /* char * */
};

struct document {
    char *title;
    GPtrArray *sections;        /* struct section */
};

struct document *document_new(const char *title);
void document_free(struct document *d);

/* The columns are constant and outlive the document. */
struct section *document_section(struct document *d, const char *name, const char *title,
                                 const struct report_column *columns, unsigned column_count);
/* NULL when there is none. */
const struct section *document_find(const struct document *d, const char *name);

/* The next cell of the section. */
void section_text(struct section *s, const char *text);
void section_number(struct section *s, double number);
/* A whole number to its last digit, such as a seed. */
void section_count(struct section *s, uint64_t count);
/* Of a unit of its own, in a column of mixed values. */
void section_quantity(struct section *s, double number, enum report_unit unit);
void section_note(struct section *s, const char *format, ...) G_GNUC_PRINTF(2, 3);

unsigned section_rows(const struct section *s);
const struct report_value *section_value(const struct section *s, unsigned row, unsigned column);

/* A value as people read it: "21.46 ms", "87.5 %", "200 MB". Free with g_free. */
char *report_value_text(const struct report_value *value);

void document_write_text(const struct document *d, FILE *out);
/* One object: "format": 1, "title", and an object a section with its "notes" and "rows", an object a row. */
void document_write_json(const struct document *d, FILE *out);
/* One table for all: section, row, column, unit, value. Notes are rows of the column "note". */
void document_write_tsv(const struct document *d, FILE *out);

#endif
