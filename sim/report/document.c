/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/document.h"

#include <math.h>
#include <string.h>

#include "base/json_text.h"

enum { FORMAT = 1 };

static void section_free(void *data)
{
    struct section *s = data;
    for (unsigned i = 0; i < s->values->len; i++)
        g_free(g_array_index(s->values, struct report_value, i).text);
    g_array_free(s->values, TRUE);
    g_ptr_array_free(s->notes, TRUE);
    g_free(s->name);
    g_free(s->title);
    g_free(s);
}

struct document *document_new(const char *title)
{
    struct document *d = g_new0(struct document, 1);
    d->title = g_strdup(title);
    d->sections = g_ptr_array_new_with_free_func(section_free);
    return d;
}

void document_free(struct document *d)
{
    if (d == NULL)
        return;
    g_ptr_array_free(d->sections, TRUE);
    g_free(d->title);
    g_free(d);
}

struct section *document_section(struct document *d, const char *name, const char *title,
                                 const struct report_column *columns, unsigned column_count)
{
    struct section *s = g_new0(struct section, 1);
    s->name = g_strdup(name);
    s->title = g_strdup(title);
    s->columns = columns;
    s->column_count = column_count;
    s->values = g_array_new(FALSE, FALSE, sizeof(struct report_value));
    s->notes = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(d->sections, s);
    return s;
}

const struct section *document_find(const struct document *d, const char *name)
{
    for (guint i = 0; i < d->sections->len; i++) {
        const struct section *s = g_ptr_array_index(d->sections, i);
        if (strcmp(s->name, name) == 0)
            return s;
    }
    return NULL;
}

void section_text(struct section *s, const char *text)
{
    struct report_value value = { .text = g_utf8_make_valid(text, -1), .number = NAN, .unit = REPORT_TEXT };
    g_array_append_val(s->values, value);
}

void section_quantity(struct section *s, double number, enum report_unit unit)
{
    struct report_value value = { .number = number, .unit = unit };
    g_array_append_val(s->values, value);
}

void section_number(struct section *s, double number)
{
    section_quantity(s, number, s->columns[s->values->len % s->column_count].unit);
}

void section_count(struct section *s, uint64_t count)
{
    struct report_value value = { .number = (double)count, .unit = REPORT_COUNT, .is_exact = true, .count = count };
    g_array_append_val(s->values, value);
}

void section_note(struct section *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *note = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_ptr_array_add(s->notes, g_utf8_make_valid(note, -1));
}

unsigned section_rows(const struct section *s)
{
    return s->column_count == 0 ? 0 : s->values->len / s->column_count;
}

const struct report_value *section_value(const struct section *s, unsigned row, unsigned column)
{
    return &g_array_index(s->values, struct report_value, row * s->column_count + column);
}

/* --- values --- */

struct scale {
    double factor;
    const char *unit;
};

/* The largest scale that leaves 1 or more before the point; they begin with the largest. */
static char *scaled(double number, const struct scale *scales, unsigned count)
{
    unsigned i = 0;
    while (i + 1 < count && fabs(number) < scales[i].factor)
        i++;
    double shown = number / scales[i].factor;
    int decimals = fabs(shown) >= 100 ? 1 : fabs(shown) >= 10 ? 2 : 3;
    return g_strdup_printf("%.*f %s", decimals, shown, scales[i].unit);
}

char *report_value_text(const struct report_value *value)
{
    static const struct scale seconds[] = { { 7200, "h" }, { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" }, { 1e-9, "ns" } };
    static const struct scale bytes[] = { { 1073741824, "GiB" }, { 1048576, "MiB" }, { 1024, "KiB" }, { 1, "B" } };
    struct scale hours[] = { { 3600, "h" } };

    if (value->text != NULL)
        return g_strdup(value->text);
    if (value->is_exact)
        return g_strdup_printf("%" G_GUINT64_FORMAT, value->count);
    if (!isfinite(value->number))
        return g_strdup("-");
    switch (value->unit) {
    case REPORT_SECONDS:
        if (value->number == 0)
            return g_strdup("0 s");
        return fabs(value->number) >= 7200 ? scaled(value->number, hours, 1)
                                           : scaled(value->number, &seconds[1], G_N_ELEMENTS(seconds) - 1);
    case REPORT_BYTES:
        return scaled(value->number, bytes, G_N_ELEMENTS(bytes));
    case REPORT_BYTE_RATE: {
        g_autofree char *size = scaled(value->number, bytes, G_N_ELEMENTS(bytes));
        return g_strconcat(size, "/s", NULL);
    }
    case REPORT_SHARE:
        return g_strdup_printf("%.1f %%", value->number * 100);
    case REPORT_RATE:
        return g_strdup_printf(fabs(value->number) >= 1000 ? "%.0f/s" : "%.4g/s", value->number);
    case REPORT_COUNT:
        return g_strdup_printf("%.0f", value->number);
    case REPORT_NUMBER:
    case REPORT_TEXT:
        break;
    }
    return g_strdup_printf("%.4g", value->number);
}

/* --- for people --- */

static void print_row(FILE *out, char *const *cells, const glong *widths, const struct section *s)
{
    for (unsigned c = 0; c < s->column_count; c++) {
        glong pad = widths[c] - g_utf8_strlen(cells[c], -1);
        bool left = s->columns[c].unit == REPORT_TEXT;
        bool last = c + 1 == s->column_count;
        fprintf(out, "%s%*s%s%*s", c == 0 ? "" : "  ", left ? 0 : (int)pad, "", cells[c], left && !last ? (int)pad : 0,
                "");
    }
    fputc('\n', out);
}

static void write_section(const struct section *s, FILE *out)
{
    unsigned rows = section_rows(s), columns = s->column_count;
    g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
    g_autofree glong *widths = g_new0(glong, columns);

    for (unsigned c = 0; c < columns; c++)
        g_ptr_array_add(cells, g_strdup(s->columns[c].title));
    for (unsigned r = 0; r < rows; r++)
        for (unsigned c = 0; c < columns; c++)
            g_ptr_array_add(cells, report_value_text(section_value(s, r, c)));
    for (guint i = 0; i < cells->len; i++)
        widths[i % columns] = MAX(widths[i % columns], g_utf8_strlen(g_ptr_array_index(cells, i), -1));
    fprintf(out, "\n%s\n", s->title);
    for (unsigned r = 0; rows > 0 && r <= rows; r++) {
        fputs("  ", out);
        print_row(out, (char *const *)&cells->pdata[r * columns], widths, s);
    }
    for (guint i = 0; i < s->notes->len; i++)
        fprintf(out, "  %s\n", (const char *)g_ptr_array_index(s->notes, i));
}

void document_write_text(const struct document *d, FILE *out)
{
    fprintf(out, "%s\n", d->title);
    for (guint i = 0; i < d->sections->len; i++)
        write_section(g_ptr_array_index(d->sections, i), out);
}

/* --- for programs --- */

static char *number_text(const struct report_value *value, const char *missing)
{
    return value->is_exact ? g_strdup_printf("%" G_GUINT64_FORMAT, value->count)
                           : json_text_number(value->number, missing);
}

static void put_json_value(FILE *out, const struct report_value *value)
{
    g_autofree char *text = value->text != NULL ? json_text_string(value->text) : number_text(value, "null");
    fputs(text, out);
}

static void write_json_section(const struct section *s, FILE *out)
{
    fprintf(out, ",\n  \"%s\": {\n    \"notes\": [", s->name);
    for (guint i = 0; i < s->notes->len; i++) {
        g_autofree char *note = json_text_string(g_ptr_array_index(s->notes, i));
        fprintf(out, "%s\n      %s", i == 0 ? "" : ",", note);
    }
    fputs("],\n    \"rows\": [", out);
    for (unsigned r = 0; r < section_rows(s); r++) {
        fprintf(out, "%s\n      { ", r == 0 ? "" : ",");
        for (unsigned c = 0; c < s->column_count; c++) {
            fprintf(out, "%s\"%s\": ", c == 0 ? "" : ", ", s->columns[c].name);
            put_json_value(out, section_value(s, r, c));
        }
        fputs(" }", out);
    }
    fputs("]\n  }", out);
}

void document_write_json(const struct document *d, FILE *out)
{
    g_autofree char *title = json_text_string(d->title);

    fprintf(out, "{\n  \"format\": %d,\n  \"title\": %s", FORMAT, title);
    for (guint i = 0; i < d->sections->len; i++)
        write_json_section(g_ptr_array_index(d->sections, i), out);
    fputs("\n}\n", out);
}

/* A cell of a table that knows no quotes. */
static char *plain(const char *text)
{
    return g_strdelimit(g_strdup(text), "\t\n\r", ' ');
}

void document_write_tsv(const struct document *d, FILE *out)
{
    static const char *const units[] = { [REPORT_TEXT] = "", [REPORT_COUNT] = "1", [REPORT_NUMBER] = "1",
                                         [REPORT_SECONDS] = "s", [REPORT_RATE] = "1/s", [REPORT_SHARE] = "1",
                                         [REPORT_BYTES] = "B", [REPORT_BYTE_RATE] = "B/s" };

    fputs("section\trow\tcolumn\tunit\tvalue\n", out);
    for (guint i = 0; i < d->sections->len; i++) {
        const struct section *s = g_ptr_array_index(d->sections, i);
        for (unsigned r = 0; r < section_rows(s); r++)
            for (unsigned c = 0; c < s->column_count; c++) {
                const struct report_value *value = section_value(s, r, c);
                g_autofree char *cell = value->text != NULL ? plain(value->text) : number_text(value, "");
                fprintf(out, "%s\t%u\t%s\t%s\t%s\n", s->name, r + 1, s->columns[c].name, units[value->unit], cell);
            }
        for (guint n = 0; n < s->notes->len; n++) {
            g_autofree char *note = plain(g_ptr_array_index(s->notes, n));
            fprintf(out, "%s\t%u\tnote\t\t%s\n", s->name, n + 1, note);
        }
    }
}
