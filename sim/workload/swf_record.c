/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/swf_record.h"

#include <string.h>

#include "workload/decimal.h"

enum { FIELDS = 18 };

enum field_type { FIELD_INTEGER, FIELD_TIME, FIELD_NUMBER };

static const struct field {
    const char *name;
    enum field_type type;
    size_t offset;          /* in struct swf_record; SIZE_MAX: checked only */
} fields[FIELDS] = {
    { "job number", FIELD_INTEGER, offsetof(struct swf_record, number) },
    { "submit time", FIELD_TIME, offsetof(struct swf_record, submit_ns) },
    { "wait time", FIELD_TIME, SIZE_MAX },
    { "run time", FIELD_TIME, offsetof(struct swf_record, run_ns) },
    { "allocated processors", FIELD_INTEGER, offsetof(struct swf_record, allocated) },
    { "average CPU time", FIELD_NUMBER, SIZE_MAX },
    { "used memory", FIELD_NUMBER, SIZE_MAX },
    { "requested processors", FIELD_INTEGER, offsetof(struct swf_record, requested) },
    { "requested time", FIELD_TIME, offsetof(struct swf_record, limit_ns) },
    { "requested memory", FIELD_NUMBER, SIZE_MAX },
    { "status", FIELD_INTEGER, offsetof(struct swf_record, status) },
    { "user", FIELD_INTEGER, SIZE_MAX },
    { "group", FIELD_INTEGER, SIZE_MAX },
    { "executable", FIELD_INTEGER, SIZE_MAX },
    { "queue", FIELD_INTEGER, SIZE_MAX },
    { "partition", FIELD_INTEGER, SIZE_MAX },
    { "preceding job", FIELD_INTEGER, offsetof(struct swf_record, preceding) },
    { "think time", FIELD_TIME, offsetof(struct swf_record, think_ns) },
};

struct field_text {
    const char *start;
    size_t size;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Splits at blanks and tabs; returns the number of fields, of which at most FIELDS + 1 are stored. */
static size_t fields_split(const char *text, size_t size, struct field_text *found)
{
    size_t count = 0;
    for (size_t i = 0; i < size; ) {
        if (is_blank(text[i])) {
            i++;
            continue;
        }
        size_t start = i;
        while (i < size && !is_blank(text[i]))
            i++;
        if (count <= FIELDS)
            found[count] = (struct field_text){ text + start, i - start };
        count++;
    }
    return count;
}

/* A whole number of at most 15 digits: more than any log has, and safe to multiply by small numbers. */
static enum decimal_result integer_read(struct field_text f, int64_t *value)
{
    bool negative = f.size > 0 && f.start[0] == '-';
    size_t i = negative || (f.size > 0 && f.start[0] == '+');
    if (i == f.size)
        return DECIMAL_NOT_A_NUMBER;
    int64_t n = 0;
    for (; i < f.size; i++) {
        if (!g_ascii_isdigit(f.start[i]))
            return DECIMAL_NOT_A_NUMBER;
        if (n > G_GINT64_CONSTANT(99999999999999))
            return DECIMAL_TOO_LARGE;
        n = n * 10 + (f.start[i] - '0');
    }
    *value = negative ? -n : n;
    return DECIMAL_OK;
}

static enum decimal_result field_read(enum field_type type, struct field_text f, int64_t *value)
{
    switch (type) {
    case FIELD_INTEGER:
        return integer_read(f, value);
    case FIELD_TIME:
        return decimal_read_ns(f.start, f.size, G_GINT64_CONSTANT(1000000000), value);
    case FIELD_NUMBER:
        break;
    }
    /* Only checked to be a number: memory and CPU time may be of any size. */
    return decimal_read_ns(f.start, f.size, 1, value) == DECIMAL_NOT_A_NUMBER ? DECIMAL_NOT_A_NUMBER : DECIMAL_OK;
}

static char *excerpt(struct field_text f)
{
    g_autofree char *start = g_strndup(f.start, MIN(f.size, 40));
    g_autofree char *valid = g_utf8_make_valid(start, -1);
    return g_strescape(valid, NULL);
}

static char *field_problem(size_t i, struct field_text f, enum decimal_result result)
{
    g_autofree char *value = excerpt(f);
    const char *expected = fields[i].type == FIELD_INTEGER ? "a whole number" :
                           fields[i].type == FIELD_TIME ? "seconds" : "a number";
    return g_strdup_printf("field %zu (%s) = \"%s\": expected %s%s (-1 for unknown)%s", i + 1, fields[i].name, value,
                           expected, result == DECIMAL_TOO_LARGE ? " within range" : "",
                           i == 0 && !g_ascii_isdigit(f.start[0]) ? "; a header line must begin with \";\"" : "");
}

enum swf_line swf_record_read(const char *text, size_t size, struct swf_record *record, char **problem)
{
    while (size > 0 && is_blank(text[0])) {
        text++;
        size--;
    }
    if (size == 0)
        return SWF_LINE_EMPTY;
    if (text[0] == ';')
        return SWF_LINE_COMMENT;
    struct field_text found[FIELDS + 1];
    size_t count = fields_split(text, size, found);
    if (count != FIELDS) {
        const char *hint = memchr(text, ';', size) != NULL ? "; fields are separated by blanks, not semicolons" :
                           !g_ascii_isdigit(text[0]) && text[0] != '-' ? "; a header line must begin with \";\"" : "";
        *problem = g_strdup_printf("%zu field%s: expected the %d of the Standard Workload Format%s", count,
                                   count == 1 ? "" : "s", FIELDS, hint);
        return SWF_LINE_BAD;
    }
    for (size_t i = 0; i < FIELDS; i++) {
        int64_t value;
        enum decimal_result result = field_read(fields[i].type, found[i], &value);
        if (result != DECIMAL_OK) {
            *problem = field_problem(i, found[i], result);
            return SWF_LINE_BAD;
        }
        if (fields[i].offset != SIZE_MAX)
            *(int64_t *)((char *)record + fields[i].offset) = value;
    }
    return SWF_LINE_JOB;
}

/* The leading whole number of a header's value; 0 when it has none. */
static int64_t header_number(const char *value)
{
    gchar *end;
    guint64 n = g_ascii_strtoull(value, &end, 10);
    return end == value || n > INT64_MAX ? 0 : (int64_t)n;
}

void swf_header_read(const char *text, size_t size, struct swf_header *header)
{
    g_autofree char *line = g_strndup(text, size);
    char *key = line + strspn(line, "; \t");
    char *colon = strchr(key, ':');
    if (colon == NULL)
        return;
    *colon = '\0';
    g_strchomp(key);
    char *value = g_strchug(colon + 1);
    int64_t n = header_number(value);
    if (g_ascii_strcasecmp(key, "MaxProcs") == 0 && n <= UINT32_MAX)
        header->max_procs = (uint32_t)n;
    else if (g_ascii_strcasecmp(key, "MaxNodes") == 0 && n <= UINT32_MAX)
        header->max_nodes = (uint32_t)n;
    else if (g_ascii_strcasecmp(key, "UnixStartTime") == 0)
        header->unix_start_time = n;
}
