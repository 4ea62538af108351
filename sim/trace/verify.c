/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/columns.h"
#include "trace/merge.h"
#include "trace/part.h"
#include "trace/probe.h"
#include "trace/reader.h"
#include "trace/seal.h"

enum { BLOCK_ROWS = 65536 };

static gboolean failure(const char *path, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

static gboolean failure(const char *path, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: %s", path, text);
    g_free(text);
    return FALSE;
}

/* Every value can be read, and an enum's has a name. */
static gboolean check_column(const struct reader *r, unsigned table, unsigned column, GError **error)
{
    const struct table *t = reader_table(r, table);
    const struct table_column *c = &t->columns[column];
    uint64_t rows = reader_rows(r, table);
    unsigned names = c->names == NULL ? 0 : g_strv_length((char **)c->names);
    if (c->type == TABLE_ENUM && names == 0)
        return failure(reader_path(r), error, "/%s/%s does not name its values; it is damaged", t->name, c->name);
    uint8_t *values = g_malloc(BLOCK_ROWS * table_type_size(c->type));
    gboolean good = TRUE;
    for (uint64_t first = 0; good && first < rows; first += BLOCK_ROWS) {
        uint64_t n = MIN(BLOCK_ROWS, rows - first);
        good = reader_read(r, table, column, first, n, values, error);
        for (uint64_t i = 0; good && c->type == TABLE_ENUM && i < n; i++)
            if (values[i] >= names)
                good = failure(reader_path(r), error, "/%s/%s has the value %u in row %" PRIu64
                               ", which has no name; it is damaged", t->name, c->name, values[i], first + i);
    }
    g_free(values);
    return good;
}

static gboolean events_read(const struct reader *r, unsigned table, uint64_t first, uint64_t n,
                            struct event_arrays *rows, GError **error)
{
    void *list[EVENT_COLUMNS];
    event_arrays_list(rows, 0, list);
    for (unsigned c = 0; c < EVENT_COLUMNS; c++)
        if (!reader_read(r, table, c, first, n, list[c], error))
            return FALSE;
    return TRUE;
}

/* The rows of /events rise in the canonical order. */
static gboolean check_order(const struct reader *r, unsigned table, GError **error)
{
    const struct table *t = reader_table(r, table);
    for (unsigned c = 0; c < EVENT_COLUMNS; c++)
        if (t->column_count != EVENT_COLUMNS || strcmp(t->columns[c].name, events_table.columns[c].name) != 0 ||
            t->columns[c].type != events_table.columns[c].type)
            return failure(reader_path(r), error, "/events has other columns than expected; it is damaged");
    struct event_arrays rows, last;
    event_arrays_init(&rows, BLOCK_ROWS);
    event_arrays_init(&last, 1);
    gboolean good = TRUE;
    uint64_t count = reader_rows(r, table);
    for (uint64_t first = 0; good && first < count; first += BLOCK_ROWS) {
        unsigned n = (unsigned)MIN(BLOCK_ROWS, count - first);
        good = events_read(r, table, first, n, &rows, error);
        for (unsigned i = 0; good && i < n; i++) {
            bool rises = first + i == 0 || (i == 0 ? event_arrays_compare(&last, 0, &rows, 0) < 0
                                                   : event_arrays_compare(&rows, i - 1, &rows, i) < 0);
            if (!rises)
                good = failure(reader_path(r), error, "/events is not in order at row %" PRIu64 "; it is damaged",
                               first + i);
        }
        if (good)
            event_arrays_copy(&last, 0, &rows, n - 1, 1);
    }
    event_arrays_release(&last);
    event_arrays_release(&rows);
    return good;
}

static gboolean check_deck(struct reader *r, GError **error)
{
    char *deck = reader_document(r, "deck");
    const char *stated = reader_text(r, "deck_sha256");
    char *sha = deck == NULL ? NULL : g_compute_checksum_for_string(G_CHECKSUM_SHA256, deck, -1);
    bool good = sha != NULL && stated != NULL && strcmp(sha, stated) == 0;
    g_free(sha);
    g_free(deck);
    return good || failure(reader_path(r), error, "its deck is not the one whose SHA-256 is stated; it is damaged");
}

/* `path` is how the trace is called: it may be read under another name. */
static void report_lines(struct reader *r, const char *path, GString *out)
{
    uint64_t processes = 0, joined;
    reader_count(r, "processes", &processes);
    g_string_append_printf(out, "%s: %s, %" PRIu64 " process%s, level %s, digest %s\n", path,
                           !reader_complete(r) ? "its run did not end"
                           : g_strcmp0(reader_text(r, "end"), "stopped") != 0 ? "complete"
                           : "complete, of a run that was stopped early", processes,
                           processes == 1 ? "" : "es", reader_text(r, "level") == NULL ? "?" : reader_text(r, "level"),
                           reader_complete(r) ? reader_text(r, "digest") : "none");
    for (unsigned t = 0; t < reader_tables(r); t++)
        g_string_append_printf(out, "%s: /%s has %" PRIu64 " rows\n", path, reader_table(r, t)->name,
                               reader_rows(r, t));
    if (reader_count(r, "complete_before_ns", &joined))
        g_string_append_printf(out, "%s: /events was joined from parts, no handling that began before %" PRIu64
                               " ns is missing\n",
                               path, joined);
    else if (!reader_sealed(r) && g_strcmp0(reader_text(r, "level"), "events") == 0)
        g_string_append_printf(out, "%s: its messages are in its parts; verify --merge joins them\n", path);
}

static gboolean check_all(struct reader *r, GError **error)
{
    struct collector *figures = reader_figures(r, error);
    if (figures == NULL)
        return FALSE;
    collector_free(figures);
    GError *reason = NULL;
    unsigned count;
    struct trace_role_figures *roles = reader_roles(r, &count, &reason);
    reader_roles_free(roles, count);
    if (reason != NULL) {
        g_propagate_error(error, reason);
        return FALSE;
    }
    for (unsigned t = 0; t < reader_tables(r); t++) {
        for (unsigned c = 0; c < reader_table(r, t)->column_count; c++)
            if (!check_column(r, t, c, error))
                return FALSE;
        if (strcmp(reader_table(r, t)->name, events_table.name) == 0 && !check_order(r, t, error))
            return FALSE;
    }
    return check_deck(r, error);
}

/* In a child, with a reader of its own: HDF5's files do not cross a fork. */
static void check_try(void *path)
{
    struct reader *r = reader_open(path, NULL);
    if (r != NULL)
        check_all(r, NULL);
    reader_free(r);
}

static gboolean verify_named(const char *path, const char *name, bool *complete, char **report, GError **error)
{
    *complete = false;
    *report = NULL;
    struct reader *r = reader_open(path, error);
    if (r == NULL)
        return FALSE;
    gboolean good = (reader_sealed(r) || probe_run(path, check_try, (void *)path, error)) && check_all(r, error);
    if (good) {
        GString *out = g_string_new(NULL);
        report_lines(r, name, out);
        *report = g_string_free(out, FALSE);
        *complete = reader_complete(r);
    }
    reader_free(r);
    return good;
}

gboolean verify_trace(const char *path, bool *complete, char **report, GError **error)
{
    return verify_named(path, path, complete, report, error);
}

/* --- joining --- */

static herr_t group_copy(hid_t from, const char *name, const H5L_info_t *info, void *data)
{
    if (strcmp(name, events_table.name) == 0)
        return 0;
    return H5Ocopy(from, name, *(hid_t *)data, name, H5P_DEFAULT, H5P_DEFAULT);
}

struct joining {
    const char *path;           /* of the trace */
    char *new_path;
    uint64_t processes, seed;
    hid_t from, to;
    struct columns events;
};

static gboolean joining_fill(struct joining *j, GError **error)
{
    int64_t horizon_ns = 0;
    if (!hdf5_copy_attributes(j->from, j->to) ||
        H5Literate(j->from, H5_INDEX_NAME, H5_ITER_INC, NULL, group_copy, &j->to) < 0 ||
        !columns_create(&j->events, j->to, &events_table, PART_CHUNK_ROWS, false, events_order))
        return hdf5_failure(error, j->new_path, "cannot be written");
    if (!merge_parts(j->path, (unsigned)j->processes, j->seed, &j->events, &horizon_ns, error))
        return FALSE;
    if (!(H5Fflush(j->to, H5F_SCOPE_LOCAL) >= 0 && columns_mark(&j->events) &&
          hdf5_put_u64(j->to, "complete_before_ns", (uint64_t)MAX(horizon_ns, 0)) &&
          hdf5_put_u64(j->to, "complete", 0) && H5Fflush(j->to, H5F_SCOPE_LOCAL) >= 0))
        return hdf5_failure(error, j->new_path, "cannot be flushed");
    return TRUE;
}

/* Writes the new file; whatever happens, all is closed afterwards. */
static gboolean joining_write(struct joining *j, GError **error)
{
    j->events.group = -1;
    j->from = hdf5_open(j->path, false, error);
    if (j->from < 0)
        return FALSE;
    j->to = hdf5_create(j->new_path, error);
    gboolean good = j->to >= 0 && joining_fill(j, error);
    bool closed = columns_close(&j->events);
    if (j->to >= 0)
        closed = hdf5_close(j->to) && closed;
    H5Fclose(j->from);
    if (good && !closed)
        return hdf5_failure(error, j->new_path, "cannot be closed");
    return good && seal_close(j->new_path, error);
}

/* In a child: parts have no checksum either. */
static void parts_try(void *data)
{
    const struct joining *j = data;
    merge_check(j->path, (unsigned)j->processes, j->seed, NULL);
}

gboolean verify_merge(const char *path, char **report, GError **error)
{
    *report = NULL;
    struct reader *r = reader_open(path, error);
    if (r == NULL)
        return FALSE;
    uint64_t processes = 0, seed = 0;
    bool sealed = reader_sealed(r);
    bool events = g_strcmp0(reader_text(r, "level"), "events") == 0;
    bool known = reader_count(r, "processes", &processes) && reader_count(r, "seed", &seed);
    reader_free(r);
    if (sealed)
        return failure(path, error, "is whole; there is nothing to join");
    if (!events)
        return failure(path, error, "has no parts: only runs of trace level events have");
    if (!known || processes == 0 || processes > 1 << 20)
        return failure(path, error, "does not say how many processes its run had; it is damaged");

    struct joining j = { .path = path, .new_path = g_strconcat(path, ".joining", NULL),
                         .processes = processes, .seed = seed };
    bool complete;
    gboolean good = probe_run(path, parts_try, &j, error) && joining_write(&j, error) &&
                    verify_named(j.new_path, path, &complete, report, error);
    if (good && rename(j.new_path, path) != 0)
        good = failure(path, error, "cannot be replaced: %s", g_strerror(errno));
    if (good) {
        merge_remove_parts(path);
    } else {
        unlink(j.new_path);
        g_clear_pointer(report, g_free);
    }
    g_free(j.new_path);
    return good;
}
