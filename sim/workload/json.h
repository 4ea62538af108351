/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading JSON that people wrote: strictly RFC 8259, with the place of every value.
 *
 *     struct json_document *document = json_parse("jobs.json", text, size, &error);
 *     const struct json *count = json_member(document->root, "count");
 *     if (count == NULL || !json_integer(count, 1, 100, &n))
 *         return json_refuse(document, count, "a whole number from 1 to 100", error);
 *     json_document_free(document);
 *
 * Why not json-glib's parser: it drops positions, the text of numbers and duplicate keys, takes comments and single
 * quotes, and recurses as deep as its input says. Here a message names file, line and column, the path of the value
 * and its text; a number stays text until somebody says how to read it (base 10, exactly); a key given twice, a byte
 * order mark, control characters, bad UTF-8, and nesting deeper than JSON_DEPTH are refused. \u0000 is refused too,
 * because texts end with NUL here.
 *
 * Values live as long as their document. All functions are local.
 */
#ifndef TIERCEL_WORKLOAD_JSON_H
#define TIERCEL_WORKLOAD_JSON_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH 64

enum json_type { JSON_NULL, JSON_BOOLEAN, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_type type;
    uint32_t line;              /* from 1 */
    uint32_t column;            /* from 1, in bytes */
    uint32_t count;             /* of an array's or object's members */
    uint32_t index;             /* its place in its parent */
    const char *key;            /* in an object, else NULL */
    const char *text;           /* a text's characters, a number's as written, ended by NUL; else NULL */
    bool boolean;
    const struct json *parent;
    const struct json *first;   /* members in the order of the file */
    const struct json *next;
};

struct json_document {
    const char *name;           /* for messages */
    const struct json *root;
    void *arena;
};

/* Reads `size` bytes. TIERCEL_ERROR_INPUT when they are not one JSON value. */
struct json_document *json_parse(const char *name, const char *text, size_t size, GError **error);
void json_document_free(struct json_document *document);

/* The member of an object, or NULL (also when `object` is NULL or no object). Looks at one key after the other. */
const struct json *json_member(const struct json *object, const char *key);

/* A number that is whole, written without fraction or exponent, and in the range. */
bool json_integer(const struct json *value, int64_t lowest, int64_t highest, int64_t *result);

/*
 * Sets the error "NAME:LINE:COLUMN: PATH = VALUE: expected ..." and returns false. `expected` is what should stand
 * there, and what to change.
 */
bool json_refuse(const struct json_document *document, const struct json *value, const char *expected, GError **error);

/* The same for a member that is not there: "NAME:LINE:COLUMN: PATH.KEY is missing: expected ...". */
bool json_refuse_missing(const struct json_document *document, const struct json *object, const char *key,
                         const char *expected, GError **error);

#endif
