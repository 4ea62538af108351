/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare_rows KILLED WHOLE: the rows of a run that was killed against those of the same run, undisturbed.
 *
 * Of a table that process 0 writes (jobs and others) the killed run's rows must be the first rows of the whole run's.
 * Of /events, once the parts are joined, every row must be a row of the whole run, and none may be missing whose
 * handling began before complete_before_ns. Prints how many rows there were; exit status 1 when one is wrong.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/hdf5_file.h"
#include "trace/part.h"
#include "trace/reader.h"

enum { BLOCK_ROWS = 65536 };

/* The values of a whole column; ends the program when it cannot be read. */
static uint8_t *column(const struct reader *r, unsigned table, unsigned c)
{
    uint64_t rows = reader_rows(r, table);
    size_t size = table_type_size(reader_table(r, table)->columns[c].type);
    uint8_t *values = g_malloc(rows * size + 1);
    GError *error = NULL;

    for (uint64_t first = 0; first < rows; first += BLOCK_ROWS)
        if (!reader_read(r, table, c, first, MIN(BLOCK_ROWS, rows - first), values + first * size, &error)) {
            fprintf(stderr, "%s\n", error->message);
            exit(1);
        }
    return values;
}

static bool compare_table(const struct reader *killed, const struct reader *whole, unsigned t)
{
    const struct table *table = reader_table(killed, t);
    int other = reader_table_find(whole, table->name);
    uint64_t rows = reader_rows(killed, t);
    bool same = other >= 0 && rows <= reader_rows(whole, (unsigned)other) &&
                table->column_count == reader_table(whole, (unsigned)other)->column_count;

    for (unsigned c = 0; same && c < table->column_count; c++) {
        uint8_t *a = column(killed, t, c);
        uint8_t *b = column(whole, (unsigned)other, c);
        same = memcmp(a, b, rows * table_type_size(table->columns[c].type)) == 0;
        g_free(a);
        g_free(b);
    }
    printf("/%s %" PRIu64 " rows%s\n", table->name, rows, same ? "" : ", which are not those of the whole run");
    return same;
}

static void events_read(const struct reader *r, unsigned table, struct event_arrays *rows)
{
    void *list[EVENT_COLUMNS];

    event_arrays_init(rows, (unsigned)reader_rows(r, table) + 1);
    event_arrays_list(rows, 0, list);
    for (unsigned c = 0; c < EVENT_COLUMNS; c++) {
        uint8_t *values = column(r, table, c);
        memcpy(list[c], values, reader_rows(r, table) * table_type_size(events_table.columns[c].type));
        g_free(values);
    }
}

static bool same_event(const struct event_arrays *a, unsigned i, const struct event_arrays *b, unsigned j)
{
    return event_arrays_compare(a, i, b, j) == 0 && a->kind[i] == b->kind[j] && a->start_ns[i] == b->start_ns[j] &&
           a->end_ns[i] == b->end_ns[j] && a->content[i] == b->content[j];
}

/* Both stand in the canonical order: one walk finds what is missing. */
static bool compare_events(const struct reader *killed, const struct reader *whole, unsigned ta, unsigned tb)
{
    struct event_arrays a, b;
    unsigned rows = (unsigned)reader_rows(killed, ta), all = (unsigned)reader_rows(whole, tb), i = 0, missing = 0;
    uint64_t horizon_ns = 0;
    bool same = reader_count(killed, "complete_before_ns", &horizon_ns);

    events_read(killed, ta, &a);
    events_read(whole, tb, &b);
    for (unsigned j = 0; j < all; j++) {
        if (i < rows && same_event(&a, i, &b, j))
            i++;
        else if (b.start_ns[j] < (int64_t)horizon_ns)
            missing++;
    }
    printf("/events %u rows, complete before %.6f s: %u missing, %u of none\n", rows, (double)horizon_ns / 1e9, missing,
           rows - i);
    event_arrays_release(&a);
    event_arrays_release(&b);
    return same && missing == 0 && i == rows;
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    bool same = true;

    if (argc != 3)
        return 2;
    hdf5_quiet();
    struct reader *killed = reader_open(argv[1], &error);
    struct reader *whole = killed == NULL ? NULL : reader_open(argv[2], &error);
    if (whole == NULL) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    if (reader_complete(killed) || !reader_complete(whole)) {
        printf("expected a run that was killed and one that was not\n");
        same = false;
    }
    for (unsigned t = 0; t < reader_tables(killed); t++) {
        const char *name = reader_table(killed, t)->name;
        int other = reader_table_find(whole, name);
        if (strcmp(name, events_table.name) == 0)
            same = other >= 0 && compare_events(killed, whole, t, (unsigned)other) && same;
        else
            same = compare_table(killed, whole, t) && same;
    }
    reader_free(killed);
    reader_free(whole);
    return same ? 0 : 1;
}
