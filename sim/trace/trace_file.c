/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/trace_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/figures_file.h"
#include "trace/seal.h"

const char trace_format_name[] = "tiercel trace";

static const char row_order[] = "time of the record, then actor id, then the actor's own order";

struct trace_file {
    char *path;
    hid_t file;
    GPtrArray *tables;          /* struct columns */
    enum figures_place figures; /* where they are written next */
};

static const char *level_name(enum trace_level level)
{
    static const char *const names[] = { "stats", "jobs", "events" };
    return names[level];
}

static bool put_run(hid_t file, const struct trace_config *config, unsigned processes)
{
    GDateTime *now = g_date_time_new_now_local();
    char *date = g_date_time_format(now, "%Y-%m-%dT%H:%M:%S%:z");
    char *sha = g_compute_checksum_for_string(G_CHECKSUM_SHA256, config->deck, -1);
    bool good = hdf5_put_text(file, "format", trace_format_name) &&
                hdf5_put_u64(file, "format_version", TRACE_FORMAT_VERSION) &&
                hdf5_put_text(file, "software", "tiercel") &&
                hdf5_put_text(file, "software_version", config->version) && hdf5_put_text(file, "date", date) &&
                hdf5_put_text(file, "hostname", g_get_host_name()) &&
                hdf5_put_text(file, "command_line", config->command_line) && hdf5_put_u64(file, "seed", config->seed) &&
                hdf5_put_u64(file, "processes", processes) && hdf5_put_text(file, "level", level_name(config->level)) &&
                hdf5_put_text(file, "deck_sha256", sha) && hdf5_put_text(file, "digest", "") &&
                hdf5_put_text(file, "end", "") && hdf5_put_i64(file, "end_ns", 0) &&
                hdf5_put_double(file, "walltime_s", 0) && figures_mark(file, FIGURES_ROOT) &&
                hdf5_put_u64(file, "complete", 0);
    g_free(sha);
    g_free(date);
    g_date_time_unref(now);
    return good;
}

static bool put_config(hid_t file, const struct trace_config *config)
{
    hid_t group = hdf5_group(file, "config");
    bool good = group >= 0 && hdf5_put_document(group, "deck", config->deck, "the deck as it was read");
    if (good && config->effective != NULL)
        good = hdf5_put_document(group, "effective", config->effective, "the deck with all defaults and overrides");
    if (group >= 0)
        H5Gclose(group);
    return good;
}

/* What the numbers in /events stand for. */
static bool put_actors(hid_t file, const struct trace_config *config)
{
    const char **names = g_new(const char *, MAX(config->role_count, config->kind_count) + 1);
    uint16_t *kinds = g_new(uint16_t, config->kind_count + 1);
    hid_t group = hdf5_group(file, "actors");
    for (unsigned r = 0; r < config->role_count; r++)
        names[r] = config->roles[r].name;
    bool good = group >= 0 &&
                hdf5_put_array(group, "role", H5T_NATIVE_UINT16, config->actor_roles, config->actor_count, false,
                               "1", "role by actor id, an index into role_name") &&
                hdf5_put_array(group, "node", H5T_NATIVE_UINT32, config->actor_nodes, config->actor_count, false,
                               "1", "simulated node by actor id") &&
                hdf5_put_texts(group, "role_name", names, config->role_count, "names of the roles");
    if (group >= 0)
        H5Gclose(group);
    group = good ? hdf5_group(file, "kinds") : -1;
    for (unsigned k = 0; k < config->kind_count; k++) {
        names[k] = config->kinds[k].name;
        kinds[k] = config->kinds[k].kind;
    }
    good = group >= 0 &&
           hdf5_put_array(group, "kind", H5T_NATIVE_UINT16, kinds, config->kind_count, false, "1",
                          "message kind") &&
           hdf5_put_texts(group, "name", names, config->kind_count, "name of the message kind");
    if (group >= 0)
        H5Gclose(group);
    g_free(kinds);
    g_free(names);
    return good;
}

static gboolean failure(const struct trace_file *f, const char *what, GError **error)
{
    return hdf5_failure(error, f->path, what);
}

/* In two steps, so that nothing is declared right that a kill kept from the file. */
static gboolean file_flush(struct trace_file *f, enum figures_place figures, GError **error)
{
    bool good = H5Fflush(f->file, H5F_SCOPE_LOCAL) >= 0 && figures_mark(f->file, figures);
    for (guint t = 0; good && t < f->tables->len; t++)
        good = columns_mark(g_ptr_array_index(f->tables, t));
    good = good && H5Fflush(f->file, H5F_SCOPE_LOCAL) >= 0;
    return good || failure(f, "cannot be flushed", error);
}

static gboolean file_fill(struct trace_file *f, const struct trace_config *config, unsigned processes, GError **error)
{
    bool good = put_run(f->file, config, processes) && put_config(f->file, config);
    if (good && config->level == TRACE_LEVEL_EVENTS)
        good = put_actors(f->file, config);
    for (unsigned t = 0; good && config->level >= TRACE_LEVEL_JOBS && t < config->table_count; t++) {
        struct columns *c = g_new0(struct columns, 1);
        g_ptr_array_add(f->tables, c);
        good = columns_create(c, f->file, &config->tables[t], TRACE_FILE_CHUNK_ROWS, config->compress, row_order);
    }
    if (!good)
        return failure(f, "cannot be written", error);
    return file_flush(f, FIGURES_ROOT, error) && seal_open(f->path, error);
}

struct trace_file *trace_file_create(const struct trace_config *config, unsigned processes, GError **error)
{
    hid_t file = hdf5_create(config->path, error);
    if (file < 0)
        return NULL;
    struct trace_file *f = g_new0(struct trace_file, 1);
    f->file = file;
    f->path = g_strdup(config->path);
    f->tables = g_ptr_array_new();
    f->figures = FIGURES_FLUSH_0;
    if (file_fill(f, config, processes, error))
        return f;
    trace_file_free(f);
    return NULL;
}

static bool file_close(struct trace_file *f)
{
    bool good = true;
    for (guint t = 0; t < f->tables->len; t++) {
        struct columns *c = g_ptr_array_index(f->tables, t);
        good = columns_close(c) && good;
        g_free(c);
    }
    g_ptr_array_set_size(f->tables, 0);
    if (f->file >= 0)
        good = hdf5_close(f->file) && good;
    f->file = -1;
    return good;
}

void trace_file_free(struct trace_file *f)
{
    if (f == NULL)
        return;
    file_close(f);
    g_ptr_array_free(f->tables, TRUE);
    g_free(f->path);
    g_free(f);
}

gboolean trace_file_put_figures(struct trace_file *f, const struct collector *figures, GError **error)
{
    return figures_put(f->file, f->figures, figures) || failure(f, "figures cannot be written", error);
}

gboolean trace_file_append(struct trace_file *f, unsigned table, const void *rows, uint64_t count, GError **error)
{
    g_assert(table < f->tables->len);
    return columns_append_rows(g_ptr_array_index(f->tables, table), rows, count) ||
           failure(f, "rows cannot be written", error);
}

gboolean trace_file_flush(struct trace_file *f, GError **error)
{
    if (access(f->path, F_OK) != 0)
        return failure(f, "is gone: it was removed while its run went on", error);
    if (!file_flush(f, f->figures, error))
        return FALSE;
    f->figures = f->figures == FIGURES_FLUSH_0 ? FIGURES_FLUSH_1 : FIGURES_FLUSH_0;
    return TRUE;
}

struct columns *trace_file_add_table(struct trace_file *f, const struct table *t, unsigned chunk_rows,
                                     const char *order, GError **error)
{
    struct columns *c = g_new0(struct columns, 1);
    g_ptr_array_add(f->tables, c);
    if (columns_create(c, f->file, t, chunk_rows, false, order))
        return c;
    failure(f, "a table cannot be made", error);
    return NULL;
}

static herr_t attribute_list(hid_t from, const char *name, const H5A_info_t *info, void *data)
{
    g_ptr_array_add(data, g_strdup(name));
    return 0;
}

/* Of the root; not while iterating. */
static bool attributes_clear(hid_t file)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    bool good = H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, NULL, attribute_list, names) >= 0;

    for (guint i = 0; good && i < names->len; i++)
        good = H5Adelete(file, names->pdata[i]) >= 0;
    return good;
}

static herr_t link_copy(hid_t from, const char *name, const H5L_info_t *info, void *data)
{
    return H5Ocopy(from, name, *(hid_t *)data, name, H5P_DEFAULT, H5P_DEFAULT);
}

static bool adopt_table(hid_t file, const char *table, const char *order, const char *const *links,
                        const char *const *attributes)
{
    hid_t group = H5Gopen2(file, table, H5P_DEFAULT);
    bool good = group >= 0 && hdf5_put_text(group, "order", order);

    for (; good && *attributes != NULL; attributes++)
        good = H5Adelete(group, *attributes) >= 0;
    for (; good && *links != NULL; links++)
        good = !hdf5_has(file, *links) || H5Ldelete(file, *links, H5P_DEFAULT) >= 0;
    if (group >= 0)
        H5Gclose(group);
    return good;
}

gboolean trace_file_adopt(struct trace_file *f, const char *path, const char *table, const char *order,
                          const char *const *links, const char *const *attributes, GError **error)
{
    bool good = true;
    /* Its own tables are at their end, too. */
    for (guint t = 0; t < f->tables->len; t++) {
        struct columns *c = g_ptr_array_index(f->tables, t);
        good = columns_mark(c) && columns_close(c) && good;
        g_free(c);
    }
    g_ptr_array_set_size(f->tables, 0);
    hid_t file = hdf5_open(path, true, error);
    if (file < 0)
        return FALSE;
    good = good && adopt_table(file, table, order, links, attributes) && attributes_clear(file) &&
           hdf5_copy_attributes(f->file, file) &&
           H5Literate(f->file, H5_INDEX_NAME, H5_ITER_INC, NULL, link_copy, &file) >= 0 &&
           H5Fflush(file, H5F_SCOPE_LOCAL) >= 0 && rename(path, f->path) == 0;
    good = hdf5_close(f->file) && good;
    f->file = file;
    return good || failure(f, "cannot take over the rows of its events", error);
}

hid_t trace_file_root(const struct trace_file *f)
{
    return f->file;
}

const char *trace_file_path(const struct trace_file *f)
{
    return f->path;
}

const struct trace_role_column trace_role_columns[] = {
    { "actors", "1", "actors of the role", offsetof(struct trace_role_figures, actors), true },
    { "handled", "1", "messages handled", offsetof(struct trace_role_figures, handled), true },
    { "busy_fraction", "1", "share of the time that an actor was busy, mean over the actors",
      offsetof(struct trace_role_figures, busy_fraction), false },
    { "blocked_fraction", "1", "share of the time that an actor was blocked in a call",
      offsetof(struct trace_role_figures, blocked_fraction), false },
    { "mean_queue", "1", "messages waiting at an actor, mean over the time",
      offsetof(struct trace_role_figures, mean_queue), false },
    { "mean_wait", "s", "mean time from a message's arrival to its handling",
      offsetof(struct trace_role_figures, mean_wait_s), false },
    { NULL, NULL, NULL, 0, false }
};

static bool put_roles(hid_t file, const struct trace_ending *ending)
{
    unsigned count = ending->role_count;
    hid_t group = hdf5_group(file, "roles");
    const char **names = g_new(const char *, count + 1);
    uint64_t *values = g_new(uint64_t, count + 1);      /* or doubles, of the same size */
    for (unsigned r = 0; r < count; r++)
        names[r] = ending->roles[r].name;
    bool good = group >= 0 && hdf5_put_texts(group, "name", names, count, "role");
    for (const struct trace_role_column *c = trace_role_columns; good && c->name != NULL; c++) {
        for (unsigned r = 0; r < count; r++)
            memcpy(&values[r], (const char *)&ending->roles[r] + c->offset, sizeof values[r]);
        good = hdf5_put_array(group, c->name, c->whole ? H5T_NATIVE_UINT64 : H5T_NATIVE_DOUBLE, values, count, false,
                              c->unit, c->text);
    }
    g_free(values);
    g_free(names);
    if (group >= 0)
        H5Gclose(group);
    return good;
}

static bool put_summary(hid_t file, const char *summary)
{
    if (summary == NULL)
        return true;
    hid_t group = hdf5_group(file, "config");
    bool good = group >= 0 && hdf5_put_document(group, "summary", summary, "summary.json of the run");
    if (group >= 0)
        H5Gclose(group);
    return good;
}

gboolean trace_file_end(struct trace_file *f, const struct collector *figures, const struct trace_ending *ending,
                        GError **error)
{
    bool good = figures_put(f->file, FIGURES_ROOT, figures) && put_roles(f->file, ending) &&
                put_summary(f->file, ending->summary) &&
                hdf5_put_text(f->file, "digest", ending->digest) && hdf5_put_text(f->file, "end", ending->end) &&
                hdf5_put_i64(f->file, "end_ns", ending->end_ns) &&
                hdf5_put_double(f->file, "walltime_s", ending->walltime_s);
    if (!good)
        return failure(f, "the end of the run cannot be written", error);
    if (!file_flush(f, FIGURES_ROOT, error))
        return FALSE;
    if (!figures_clean(f->file) || !hdf5_put_u64(f->file, "complete", 1) || !file_close(f))
        return failure(f, "cannot be closed", error);
    return seal_close(f->path, error);
}
