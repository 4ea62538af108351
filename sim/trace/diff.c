/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/diff.h"

#include <inttypes.h>
#include <string.h>

#include "trace/reader.h"

enum { BLOCK_ROWS = 65536 };

struct diff {
    struct reader *a, *b;
    GPtrArray *lines;
};

static void say(struct diff *d, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void say(struct diff *d, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_ptr_array_add(d->lines, g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

static void diff_run(struct diff *d)
{
    static const char *const texts[] = { "digest", "end" };
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
        const char *a = reader_text(d->a, texts[i]), *b = reader_text(d->b, texts[i]);
        if (g_strcmp0(a, b) != 0)
            say(d, "%s: %s, %s", texts[i], a == NULL || *a == '\0' ? "none" : a, b == NULL || *b == '\0' ? "none" : b);
    }
    static const char *const counts[] = { "seed", "end_ns" };
    for (unsigned i = 0; i < G_N_ELEMENTS(counts); i++) {
        uint64_t a = 0, b = 0;
        reader_count(d->a, counts[i], &a);
        reader_count(d->b, counts[i], &b);
        if (a != b)
            say(d, "%s: %" PRIu64 ", %" PRIu64, counts[i], a, b);
    }
}

/* What of a deck can change a result, as lines "group.key = value": no comments, not the group [trace], and not where
 * actors are placed. */
static GPtrArray *deck_lines(const char *deck)
{
    GPtrArray *kept = g_ptr_array_new_with_free_func(g_free);
    char **lines = g_strsplit(deck == NULL ? "" : deck, "\n", -1);
    char *group = g_strdup("");
    for (char **at = lines; *at != NULL; at++) {
        const char *line = g_strstrip(*at);
        if (*line == '[') {
            g_free(group);
            group = g_strndup(line + 1, strcspn(line + 1, "]"));
        } else if (*line != '\0' && *line != '#' && strcmp(group, "trace") != 0 &&
                   !(strcmp(group, "run") == 0 && (g_str_has_prefix(line, "spread") ||
                                                   g_str_has_prefix(line, "placement") ||
                                                   g_str_has_prefix(line, "waiting")))) {
            g_ptr_array_add(kept, g_strdup_printf("%s.%s", group, line));
        }
    }
    g_free(group);
    g_strfreev(lines);
    return kept;
}

/* The first line in which the decks differ. */
static void diff_deck(struct diff *d)
{
    char *a = reader_document(d->a, "effective"), *b = reader_document(d->b, "effective");
    if (a == NULL || b == NULL) {
        g_free(a);
        g_free(b);
        a = reader_document(d->a, "deck");
        b = reader_document(d->b, "deck");
    }
    GPtrArray *lines_a = deck_lines(a), *lines_b = deck_lines(b);
    for (guint i = 0; i < MAX(lines_a->len, lines_b->len); i++) {
        const char *x = i < lines_a->len ? lines_a->pdata[i] : "nothing";
        const char *y = i < lines_b->len ? lines_b->pdata[i] : "nothing";
        if (strcmp(x, y) != 0) {
            say(d, "deck: %s, %s", x, y);
            break;
        }
    }
    g_ptr_array_free(lines_a, TRUE);
    g_ptr_array_free(lines_b, TRUE);
    g_free(a);
    g_free(b);
}

/* --- figures --- */

static void diff_series(struct diff *d, const char *where, const struct series *a, const struct series *b)
{
    if (a->total != b->total || a->width_ns != b->width_ns) {
        say(d, "%s: total %" PRIu64 " in bins of %" PRId64 " ns, %" PRIu64 " in bins of %" PRId64 " ns", where,
            a->total, a->width_ns, b->total, b->width_ns);
        return;
    }
    for (unsigned i = 0; i < MAX(a->bins, b->bins); i++) {
        uint64_t x = i < a->bins ? a->bin[i] : 0, y = i < b->bins ? b->bin[i] : 0;
        if (x != y) {
            say(d, "%s: at %" PRId64 " ns: %" PRIu64 ", %" PRIu64, where, i * a->width_ns, x, y);
            return;
        }
    }
}

static void diff_statistic(struct diff *d, const char *where, const struct statistic *a, const struct statistic *b)
{
    struct bytes x = BYTES_INIT, y = BYTES_INIT;
    statistic_save(a, &x);
    statistic_save(b, &y);
    if (x.size != y.size || memcmp(x.data, y.data, x.size) != 0)
        say(d, "%s: %" PRIu64 " values with mean %.15g, %" PRIu64 " values with mean %.15g", where, a->count,
            statistic_mean(a), b->count, statistic_mean(b));
    bytes_release(&x);
    bytes_release(&y);
}

static void diff_metric(struct diff *d, const struct collector *a, const struct collector *b, unsigned ra, unsigned ma)
{
    const struct trace_role *role = collector_role(a, ra);
    const struct trace_metric *metric = &role->metrics[ma];
    char *where = g_strdup_printf("%s %s", role->name, metric->name);
    int rb = collector_find_role(b, role->name);
    int mb = rb < 0 ? -1 : collector_find_metric(b, (unsigned)rb, metric->name);
    if (mb < 0 || collector_role(b, (unsigned)rb)->metrics[mb].type != metric->type) {
        say(d, "%s: only in one of them", where);
    } else if (metric->type == TRACE_COUNTER) {
        uint64_t x = collector_total(a, ra, ma), y = collector_total(b, (unsigned)rb, (unsigned)mb);
        if (x != y)
            say(d, "%s: %" PRIu64 ", %" PRIu64, where, x, y);
    } else {
        diff_series(d, where, collector_series(a, ra, ma), collector_series(b, (unsigned)rb, (unsigned)mb));
        if (metric->type >= TRACE_SAMPLE)
            diff_statistic(d, where, collector_statistic(a, ra, ma),
                           collector_statistic(b, (unsigned)rb, (unsigned)mb));
    }
    g_free(where);
}

static gboolean diff_figures(struct diff *d, GError **error)
{
    struct collector *a = reader_figures(d->a, error);
    struct collector *b = a == NULL ? NULL : reader_figures(d->b, error);
    gboolean good = b != NULL;
    if (good) {
        for (unsigned r = 0; r < collector_role_count(a); r++)
            for (unsigned m = 0; m < collector_role(a, r)->metric_count; m++)
                diff_metric(d, a, b, r, m);
        for (unsigned r = 0; r < collector_role_count(b); r++) {
            const struct trace_role *role = collector_role(b, r);
            int ra = collector_find_role(a, role->name);
            for (unsigned m = 0; m < role->metric_count; m++)
                if (ra < 0 || collector_find_metric(a, (unsigned)ra, role->metrics[m].name) < 0)
                    say(d, "%s %s: only in one of them", role->name, role->metrics[m].name);
        }
    }
    collector_free(a);
    collector_free(b);
    return good;
}

/* --- tables --- */

struct table_diff {
    unsigned ta, tb;
    uint64_t rows;              /* that both have */
    uint64_t first;             /* row that differs */
    uint64_t count;
    char *text;                 /* of the first difference */
};

static char *value_text(const struct table_column *c, const uint8_t *value)
{
    int64_t whole = 0;
    memcpy(&whole, value, table_type_size(c->type));
    if (c->type == TABLE_ENUM && c->names != NULL && (guint)whole < g_strv_length((char **)c->names))
        return g_strdup(c->names[whole]);
    return c->type == TABLE_I64 ? g_strdup_printf("%" PRId64, whole) : g_strdup_printf("%" PRIu64, (uint64_t)whole);
}

/* Compares rows [first, first + n) of a column, and marks in `differs` the rows that do. */
static gboolean diff_block(struct diff *d, struct table_diff *t, unsigned ca, unsigned cb, uint64_t first, uint64_t n,
                           uint8_t *differs, GError **error)
{
    const struct table_column *column = &reader_table(d->a, t->ta)->columns[ca];
    size_t size = table_type_size(column->type);
    uint8_t *a = g_malloc(n * size), *b = g_malloc(n * size);
    gboolean good =
        reader_read(d->a, t->ta, ca, first, n, a, error) && reader_read(d->b, t->tb, cb, first, n, b, error);
    for (uint64_t i = 0; good && i < n; i++) {
        if (memcmp(a + i * size, b + i * size, size) == 0)
            continue;
        differs[i] = 1;
        if (first + i < t->first) {
            char *x = value_text(column, a + i * size), *y = value_text(column, b + i * size);
            t->first = first + i;
            g_free(t->text);
            t->text = g_strdup_printf("%s %s, %s", column->name, x, y);
            g_free(x);
            g_free(y);
        }
    }
    g_free(a);
    g_free(b);
    return good;
}

static gboolean diff_rows(struct diff *d, struct table_diff *t, const int *column_b, GError **error)
{
    const struct table *a = reader_table(d->a, t->ta);
    uint8_t *differs = g_malloc(BLOCK_ROWS);
    gboolean good = TRUE;
    for (uint64_t first = 0; good && first < t->rows; first += BLOCK_ROWS) {
        uint64_t n = MIN(BLOCK_ROWS, t->rows - first);
        memset(differs, 0, n);
        for (unsigned c = 0; good && c < a->column_count; c++)
            if (column_b[c] >= 0)
                good = diff_block(d, t, c, (unsigned)column_b[c], first, n, differs, error);
        for (uint64_t i = 0; i < n; i++)
            t->count += differs[i];
    }
    g_free(differs);
    return good;
}

static gboolean diff_table(struct diff *d, unsigned ta, unsigned tb, GError **error)
{
    const struct table *a = reader_table(d->a, ta), *b = reader_table(d->b, tb);
    uint64_t rows_a = reader_rows(d->a, ta), rows_b = reader_rows(d->b, tb);
    struct table_diff t = { .ta = ta, .tb = tb, .rows = MIN(rows_a, rows_b), .first = UINT64_MAX };
    int *column_b = g_new(int, a->column_count + 1);
    for (unsigned c = 0; c < a->column_count; c++) {
        column_b[c] = reader_column_find(d->b, tb, a->columns[c].name);
        if (column_b[c] >= 0 && b->columns[column_b[c]].type != a->columns[c].type)
            column_b[c] = -1;
        if (column_b[c] < 0)
            say(d, "/%s/%s: only in one of them, or of two types", a->name, a->columns[c].name);
    }
    for (unsigned c = 0; c < b->column_count; c++)
        if (reader_column_find(d->a, ta, b->columns[c].name) < 0)
            say(d, "/%s/%s: only in one of them, or of two types", b->name, b->columns[c].name);
    if (rows_a != rows_b)
        say(d, "/%s: %" PRIu64 " rows, %" PRIu64 " rows", a->name, rows_a, rows_b);
    gboolean good = diff_rows(d, &t, column_b, error);
    if (good && t.count != 0)
        say(d, "/%s: %" PRIu64 " of %" PRIu64 " rows differ, first row %" PRIu64 ": %s", a->name, t.count, t.rows,
            t.first, t.text);
    g_free(t.text);
    g_free(column_b);
    return good;
}

static gboolean diff_tables(struct diff *d, GError **error)
{
    for (unsigned ta = 0; ta < reader_tables(d->a); ta++) {
        int tb = reader_table_find(d->b, reader_table(d->a, ta)->name);
        if (tb < 0)
            say(d, "/%s: only in %s", reader_table(d->a, ta)->name, reader_path(d->a));
        else if (!diff_table(d, ta, (unsigned)tb, error))
            return FALSE;
    }
    for (unsigned tb = 0; tb < reader_tables(d->b); tb++)
        if (reader_table_find(d->a, reader_table(d->b, tb)->name) < 0)
            say(d, "/%s: only in %s", reader_table(d->b, tb)->name, reader_path(d->b));
    return TRUE;
}

gboolean diff_traces(const char *path_a, const char *path_b, GPtrArray *lines, GError **error)
{
    struct diff d = { .lines = lines };
    d.a = reader_open(path_a, error);
    d.b = d.a == NULL ? NULL : reader_open(path_b, error);
    gboolean good = d.b != NULL;
    if (good) {
        diff_run(&d);
        diff_deck(&d);
        good = diff_figures(&d, error) && diff_tables(&d, error);
    }
    reader_free(d.a);
    reader_free(d.b);
    return good;
}
