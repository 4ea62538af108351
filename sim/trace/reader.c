/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "trace/columns.h"
#include "trace/figures_file.h"
#include "trace/probe.h"
#include "trace/seal.h"
#include "trace/trace_file.h"

struct reader {
    char *path;
    bool sealed;
    bool complete;
    hid_t file;
    GHashTable *texts;          /* attributes that were asked for */
    GPtrArray *columns;         /* struct columns */
    GPtrArray *tables;          /* struct table, parallel */
};

static gboolean failure(const struct reader *r, GError **error, const char *reason)
{
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: %s", r->path, reason);
    return FALSE;
}

static void columns_free(void *data)
{
    columns_close(data);
    g_free(data);
}

static void table_free(void *data)
{
    struct table *t = data;
    for (unsigned c = 0; c < t->column_count; c++)
        g_strfreev((char **)t->columns[c].names);
    g_free((struct table_column *)t->columns);
    g_free((char *)t->name);
    g_free((char *)t->text);
    g_free(t);
}

/* HDF5 would say only that it cannot open a file that another process has locked for writing. */
static gboolean check_unlocked(const struct reader *r, GError **error)
{
    int fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return TRUE;            /* what follows will say why */
    bool locked = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return !locked || failure(r, error, "is still being written by its run");
}

static gboolean check_format(struct reader *r, GError **error)
{
    uint64_t version = 0, complete = 0;
    const char *format = reader_text(r, "format");
    if (format == NULL || strcmp(format, trace_format_name) != 0)
        return failure(r, error, strcmp(format == NULL ? "" : format, "tiercel trace part") == 0
                                     ? "is a part of a trace; use verify --merge on the trace"
                                     : "is an HDF5 file, but not a trace of tiercel");
    if (!reader_count(r, "format_version", &version) || version != TRACE_FORMAT_VERSION)
        return failure(r, error, "has another format_version than 1, which this program reads");
    if (!reader_count(r, "complete", &complete) || complete > 1)
        return failure(r, error, "does not say whether it is complete; it is damaged");
    r->complete = complete == 1 && r->sealed;
    return TRUE;
}

/* A group of the root is a table when it lists columns. */
static herr_t table_keep(hid_t root, const char *name, const H5L_info_t *info, void *names)
{
    if (H5Aexists_by_name(root, name, "columns", H5P_DEFAULT) > 0)
        g_ptr_array_add(names, g_strdup(name));
    return 0;
}

static struct table *table_of(const char *name, const struct columns *c)
{
    struct table *t = g_new0(struct table, 1);
    struct table_column *column = g_new0(struct table_column, c->count);
    for (unsigned i = 0; i < c->count; i++)
        column[i] = (struct table_column){ c->name[i], c->unit[i], c->text[i], c->type[i],
                                           (const char *const *)columns_names(c, i) };
    char *text = NULL;
    hdf5_get_text(c->group, "long_name", &text);
    *t = (struct table){ g_strdup(name), text == NULL ? g_strdup("") : text, column, c->count };
    return t;
}

static gboolean tables_open(struct reader *r, GError **error)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    gboolean good = TRUE;
    if (H5Literate(r->file, H5_INDEX_NAME, H5_ITER_INC, NULL, table_keep, names) < 0)
        good = failure(r, error, "its groups cannot be listed; it is damaged");
    for (guint i = 0; good && i < names->len; i++) {
        struct columns *c = g_new0(struct columns, 1);
        char *reason = NULL;
        good = columns_open(c, r->file, names->pdata[i], &reason);
        if (good) {
            g_ptr_array_add(r->columns, c);
            g_ptr_array_add(r->tables, table_of(names->pdata[i], c));
            continue;
        }
        g_free(c);
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: its table /%s is damaged: %s", r->path,
                    (const char *)names->pdata[i], reason);
        g_free(reason);
    }
    g_ptr_array_free(names, TRUE);
    return good;
}

static struct reader *reader_new(const char *path)
{
    struct reader *r = g_new0(struct reader, 1);
    r->path = g_strdup(path);
    r->file = -1;
    r->texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    r->columns = g_ptr_array_new_with_free_func(columns_free);
    r->tables = g_ptr_array_new_with_free_func(table_free);
    return r;
}

static gboolean reader_start(struct reader *r, GError **error)
{
    return (r->file = hdf5_open(r->path, false, error)) >= 0 && check_format(r, error) && tables_open(r, error);
}

/* In a child: everything that does not grow with the run. */
static void reader_try(void *data)
{
    static const char *const documents[] = { "deck", "effective", "summary" };
    struct reader *r = data;
    unsigned count;
    if (!reader_start(r, NULL))
        return;
    struct collector *figures = reader_figures(r, NULL);
    struct trace_role_figures *roles = reader_roles(r, &count, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(documents); i++)
        g_free(reader_document(r, documents[i]));
    static const char *const texts[] = { "digest", "level", "end", "hostname", "date", "command_line" };
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++)
        reader_text(r, texts[i]);
    reader_roles_free(roles, count);
    collector_free(figures);
    reader_free(r);
}

struct reader *reader_open(const char *path, GError **error)
{
    struct reader *r = reader_new(path);
    if (check_unlocked(r, error) && seal_check(path, &r->sealed, error) &&
        (r->sealed || probe_run(path, reader_try, r, error)) && reader_start(r, error))
        return r;
    reader_free(r);
    return NULL;
}

void reader_free(struct reader *r)
{
    if (r == NULL)
        return;
    g_ptr_array_free(r->tables, TRUE);
    g_ptr_array_free(r->columns, TRUE);
    if (r->file >= 0)
        H5Fclose(r->file);
    g_hash_table_destroy(r->texts);
    g_free(r->path);
    g_free(r);
}

const char *reader_path(const struct reader *r)
{
    return r->path;
}

bool reader_complete(const struct reader *r)
{
    return r->complete;
}

bool reader_sealed(const struct reader *r)
{
    return r->sealed;
}

const char *reader_text(struct reader *r, const char *name)
{
    char *text = g_hash_table_lookup(r->texts, name);
    if (text == NULL && hdf5_get_text(r->file, name, &text))
        g_hash_table_insert(r->texts, g_strdup(name), text);
    return text;
}

bool reader_count(const struct reader *r, const char *name, uint64_t *value)
{
    return hdf5_get_u64(r->file, name, value);
}

bool reader_number(const struct reader *r, const char *name, double *value)
{
    uint64_t count;
    if (hdf5_get_double(r->file, name, value))
        return true;
    if (!hdf5_get_u64(r->file, name, &count))
        return false;
    *value = (double)count;
    return true;
}

char *reader_document(const struct reader *r, const char *name)
{
    char *text = NULL;
    hid_t group = hdf5_has(r->file, "config") ? H5Gopen2(r->file, "config", H5P_DEFAULT) : -1;
    if (group < 0)
        return NULL;
    hdf5_get_document(group, name, &text);
    H5Gclose(group);
    return text;
}

struct collector *reader_figures(const struct reader *r, GError **error)
{
    char *reason = NULL;
    struct collector *figures = figures_get(r->file, &reason);
    if (figures == NULL)
        failure(r, error, reason);
    g_free(reason);
    return figures;
}

/* --- the roles --- */

static bool roles_read(hid_t group, struct trace_role_figures *roles, uint64_t count)
{
    bool good = true;
    uint64_t *value = g_new0(uint64_t, count + 1);      /* or doubles, of the same size */
    for (const struct trace_role_column *c = trace_role_columns; good && c->name != NULL; c++) {
        good = hdf5_get_array(group, c->name, c->whole ? H5T_NATIVE_UINT64 : H5T_NATIVE_DOUBLE, value, count);
        for (uint64_t i = 0; good && i < count; i++)
            memcpy((char *)&roles[i] + c->offset, &value[i], sizeof value[i]);
    }
    g_free(value);
    return good;
}

struct trace_role_figures *reader_roles(const struct reader *r, unsigned *count, GError **error)
{
    *count = 0;
    hid_t group = hdf5_has(r->file, "roles") ? H5Gopen2(r->file, "roles", H5P_DEFAULT) : -1;
    if (group < 0)
        return NULL;
    char **names = NULL;
    uint64_t size = 0;
    struct trace_role_figures *roles = NULL;
    if (hdf5_get_texts(group, "name", &names, &size)) {
        roles = g_new0(struct trace_role_figures, size + 1);
        *count = (unsigned)size;
        for (uint64_t i = 0; i < size; i++)
            roles[i].name = g_strdup(names[i]);
        if (!roles_read(group, roles, size)) {
            reader_roles_free(roles, *count);
            roles = NULL;
        }
    }
    if (roles == NULL) {
        *count = 0;
        failure(r, error, "its table of roles is damaged");
    }
    g_strfreev(names);
    H5Gclose(group);
    return roles;
}

void reader_roles_free(struct trace_role_figures *roles, unsigned count)
{
    for (unsigned i = 0; roles != NULL && i < count; i++)
        g_free((char *)roles[i].name);
    g_free(roles);
}

/* --- what numbers stand for --- */

static bool actors_read(hid_t group, struct reader_names *names)
{
    uint64_t actors, roles;
    if (group < 0 || !hdf5_array_size(group, "role", &actors) || actors > UINT32_MAX ||
        !hdf5_get_texts(group, "role_name", &names->role_name, &roles))
        return false;
    names->actors = (uint32_t)actors;
    names->role = g_new(uint16_t, actors + 1);
    names->node = g_new(uint32_t, actors + 1);
    if (!hdf5_get_array(group, "role", H5T_NATIVE_UINT16, names->role, actors) ||
        !hdf5_get_array(group, "node", H5T_NATIVE_UINT32, names->node, actors))
        return false;
    for (uint64_t i = 0; i < actors; i++)
        if (names->role[i] >= roles)
            return false;
    return true;
}

static bool kinds_read(hid_t group, struct reader_names *names)
{
    uint64_t kinds, texts;
    if (group < 0 || !hdf5_array_size(group, "kind", &kinds) || kinds > UINT16_MAX + 1U ||
        !hdf5_get_texts(group, "name", &names->kind_name, &texts) || texts != kinds)
        return false;
    names->kinds = (unsigned)kinds;
    names->kind = g_new(uint16_t, kinds + 1);
    return hdf5_get_array(group, "kind", H5T_NATIVE_UINT16, names->kind, kinds);
}

gboolean reader_names_read(const struct reader *r, struct reader_names *names, GError **error)
{
    hid_t actors = hdf5_has(r->file, "actors") ? H5Gopen2(r->file, "actors", H5P_DEFAULT) : -1;
    hid_t kinds = hdf5_has(r->file, "kinds") ? H5Gopen2(r->file, "kinds", H5P_DEFAULT) : -1;
    memset(names, 0, sizeof *names);
    bool good = actors_read(actors, names) && kinds_read(kinds, names);
    if (actors >= 0)
        H5Gclose(actors);
    if (kinds >= 0)
        H5Gclose(kinds);
    if (good)
        return TRUE;
    reader_names_release(names);
    return failure(r, error, "does not say what the numbers of its events stand for; it is damaged");
}

void reader_names_release(struct reader_names *names)
{
    g_free(names->role);
    g_free(names->node);
    g_strfreev(names->role_name);
    g_free(names->kind);
    g_strfreev(names->kind_name);
    memset(names, 0, sizeof *names);
}

/* --- tables --- */

unsigned reader_tables(const struct reader *r)
{
    return r->tables->len;
}

const struct table *reader_table(const struct reader *r, unsigned table)
{
    g_assert(table < r->tables->len);
    return r->tables->pdata[table];
}

int reader_table_find(const struct reader *r, const char *name)
{
    for (guint t = 0; t < r->tables->len; t++)
        if (strcmp(reader_table(r, t)->name, name) == 0)
            return (int)t;
    return -1;
}

int reader_column_find(const struct reader *r, unsigned table, const char *name)
{
    const struct table *t = reader_table(r, table);
    for (unsigned c = 0; c < t->column_count; c++)
        if (strcmp(t->columns[c].name, name) == 0)
            return (int)c;
    return -1;
}

uint64_t reader_rows(const struct reader *r, unsigned table)
{
    g_assert(table < r->columns->len);
    return ((const struct columns *)r->columns->pdata[table])->rows;
}

gboolean reader_read(const struct reader *r, unsigned table, unsigned column, uint64_t first, uint64_t n,
                     void *values, GError **error)
{
    g_assert(table < r->columns->len);
    if (columns_read(r->columns->pdata[table], column, first, n, values))
        return TRUE;
    const struct table *t = reader_table(r, table);
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME,
                "%s: rows of /%s/%s cannot be read; the file is damaged", r->path, t->name, t->columns[column].name);
    return FALSE;
}
