/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/results.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include <glib/gstdio.h>

#include "base/json_text.h"
#include "base/text_file.h"
#include "trace/hdf5_file.h"

struct column {
    enum results_group group;
    char *name;
    char *unit;
    char *long_name;
    double *numbers;                /* NULL: texts */
    char **texts;                   /* NULL: missing */
};

struct results {
    char *title;
    char *version;
    unsigned rows;
    GArray *columns;                /* struct column */
    GHashTable *by_name;            /* name -> index + 1 */
};

static const char *const group_names[] = {
    [RESULTS_POINT] = "point", [RESULTS_PARAMETERS] = "parameters", [RESULTS_RESULTS] = "results"
};

static struct column *column_at(const struct results *r, unsigned i)
{
    return &g_array_index(r->columns, struct column, i);
}

struct results *results_new(const char *title, const char *version, unsigned rows)
{
    struct results *r = g_new0(struct results, 1);

    r->title = g_strdup(title);
    r->version = g_strdup(version);
    r->rows = rows;
    r->columns = g_array_new(FALSE, FALSE, sizeof(struct column));
    r->by_name = g_hash_table_new(g_str_hash, g_str_equal);
    return r;
}

void results_free(struct results *r)
{
    if (r == NULL)
        return;
    for (unsigned i = 0; i < r->columns->len; i++) {
        struct column *c = column_at(r, i);
        for (unsigned row = 0; c->texts != NULL && row < r->rows; row++)
            g_free(c->texts[row]);
        g_free(c->texts);
        g_free(c->numbers);
        g_free(c->name);
        g_free(c->unit);
        g_free(c->long_name);
    }
    g_array_free(r->columns, TRUE);
    g_hash_table_destroy(r->by_name);
    g_free(r->title);
    g_free(r->version);
    g_free(r);
}

unsigned results_column(struct results *r, enum results_group group, const char *name, bool is_text, const char *unit,
                        const char *long_name)
{
    struct column c = { group, g_strdup(name), g_strdup(unit), g_strdup(long_name), NULL, NULL };

    if (is_text)
        c.texts = g_new0(char *, MAX(r->rows, 1));
    else
        c.numbers = g_new(double, MAX(r->rows, 1));
    for (unsigned row = 0; !is_text && row < r->rows; row++)
        c.numbers[row] = NAN;
    g_array_append_val(r->columns, c);
    bool fresh = g_hash_table_insert(r->by_name, c.name, GUINT_TO_POINTER(r->columns->len));
    g_assert(fresh);
    return r->columns->len - 1;
}

int results_find(const struct results *r, const char *name)
{
    return (int)GPOINTER_TO_UINT(g_hash_table_lookup(r->by_name, name)) - 1;
}

enum results_group results_group(const struct results *r, unsigned column)
{
    return column_at(r, column)->group;
}

void results_number(struct results *r, unsigned column, unsigned row, double number)
{
    g_assert(row < r->rows && column_at(r, column)->numbers != NULL);
    column_at(r, column)->numbers[row] = number;
}

void results_text(struct results *r, unsigned column, unsigned row, const char *text)
{
    g_assert(row < r->rows && column_at(r, column)->texts != NULL);
    char **place = &column_at(r, column)->texts[row];
    g_free(*place);
    *place = g_strdup(text);
    for (char *at = *place; *at != '\0'; at++)
        if (g_ascii_iscntrl(*at))
            *at = ' ';
}

/* --- TSV --- */

gboolean results_write_tsv(const struct results *r, const char *path, GError **error)
{
    GString *out = g_string_new(NULL);

    for (unsigned i = 0; i < r->columns->len; i++)
        g_string_append_printf(out, "%s%s", i == 0 ? "" : "\t", column_at(r, i)->name);
    g_string_append_c(out, '\n');
    for (unsigned row = 0; row < r->rows; row++) {
        for (unsigned i = 0; i < r->columns->len; i++) {
            const struct column *c = column_at(r, i);
            g_autofree char *number = c->numbers == NULL ? NULL : json_text_number(c->numbers[row], "");
            const char *text = c->numbers != NULL ? number : c->texts[row] == NULL ? "" : c->texts[row];
            g_string_append_printf(out, "%s%s", i == 0 ? "" : "\t", text);
        }
        g_string_append_c(out, '\n');
    }
    gboolean good = text_file_write(path, out->str, error);
    g_string_free(out, TRUE);
    return good;
}

/* --- HDF5 --- */

static bool put_column(hid_t file, const struct results *r, const struct column *c)
{
    hid_t group = hdf5_group(file, group_names[c->group]);
    bool good = false;

    if (group < 0)
        return false;
    if (c->numbers != NULL) {
        good = hdf5_put_array(group, c->name, H5T_NATIVE_DOUBLE, c->numbers, r->rows, false, c->unit, c->long_name);
    } else {
        const char **texts = g_new(const char *, MAX(r->rows, 1));
        for (unsigned row = 0; row < r->rows; row++)
            texts[row] = c->texts[row] == NULL ? "" : c->texts[row];
        good = hdf5_put_texts(group, c->name, texts, r->rows, c->long_name);
        g_free(texts);
    }
    return H5Gclose(group) >= 0 && good;
}

static bool put_all(hid_t file, const struct results *r)
{
    const char **names = g_new(const char *, MAX(r->columns->len, 1));
    bool good = hdf5_put_u64(file, "format", RESULTS_FORMAT) && hdf5_put_text(file, "kind", "sweep") &&
                hdf5_put_text(file, "title", r->title) && hdf5_put_text(file, "version", r->version) &&
                hdf5_put_u64(file, "rows", r->rows);

    for (unsigned i = 0; i < r->columns->len; i++)
        names[i] = column_at(r, i)->name;
    good = good && hdf5_put_texts(file, "columns", names, r->columns->len, "the columns in the order of results.tsv");
    for (unsigned i = 0; good && i < r->columns->len; i++)
        good = put_column(file, r, column_at(r, i));
    g_free(names);
    return good;
}

gboolean results_write_hdf5(const struct results *r, const char *path, GError **error)
{
    g_autofree char *temporary = g_strdup_printf("%s.part", path);
    hid_t file = hdf5_create(temporary, error);
    gboolean good = file >= 0;

    if (good && !put_all(file, r))
        good = hdf5_failure(error, path, "cannot be written");
    if (file >= 0 && !hdf5_close(file) && good)
        good = hdf5_failure(error, path, "cannot be written");
    if (good && g_rename(temporary, path) != 0) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s cannot be written: %s", path, g_strerror(errno));
        good = FALSE;
    }
    if (!good)
        g_unlink(temporary);
    return good;
}
