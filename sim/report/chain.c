/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/chain.h"

#include <stdlib.h>

struct chain {
    const struct reader_names *names;
    int64_t from_ns, to_ns;
    int64_t latency_ns, local_latency_ns;
    uint64_t rows;
    int64_t *time_ns;
    int64_t *start_ns;
    uint32_t *actor;
    uint32_t *from;
    uint32_t *sequence;
    uint32_t *handled_first;    /* by actor: where its rows begin in `handled`; one more at the end */
    uint32_t *handled;          /* rows, an actor's in the order of their arrival */
    uint32_t *sent_first;       /* the same by sender, in the order of their numbers */
    uint32_t *sent;
};

/* The first row that arrived at or after time_ns. */
static gboolean find_row(struct reader *r, unsigned table, unsigned column, int64_t time_ns, uint64_t *row,
                         GError **error)
{
    uint64_t low = 0, high = reader_rows(r, table);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int64_t here_ns;
        if (!reader_read(r, table, column, middle, 1, &here_ns, error))
            return FALSE;
        if (here_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    *row = low;
    return TRUE;
}

static int by_sequence(const void *a, const void *b, void *data)
{
    const struct chain *c = data;
    uint32_t x = c->sequence[*(const uint32_t *)a], y = c->sequence[*(const uint32_t *)b];
    return x < y ? -1 : x > y;
}

/* Rows by the actor in `key`, in the order of the rows. */
static void sort_rows(const struct chain *c, const uint32_t *key, uint32_t **first, uint32_t **rows)
{
    uint32_t actors = c->names->actors;
    *first = g_new0(uint32_t, (size_t)actors + 2);
    *rows = g_new(uint32_t, c->rows);
    for (uint64_t i = 0; i < c->rows; i++)
        (*first)[key[i] + 2]++;
    for (uint32_t a = 2; a <= actors + 1; a++)
        (*first)[a] += (*first)[a - 1];
    for (uint64_t i = 0; i < c->rows; i++)
        (*rows)[(*first)[key[i] + 1]++] = (uint32_t)i;
}

static gboolean read_rows(struct chain *c, struct reader *r, unsigned table, uint64_t first, GError **error)
{
    struct {
        const char *name;
        enum table_type type;
        size_t size;
        void **values;
    } columns[] = {
        { "time", TABLE_I64, 8, (void **)&c->time_ns },     { "start", TABLE_I64, 8, (void **)&c->start_ns },
        { "actor", TABLE_U32, 4, (void **)&c->actor },      { "from", TABLE_U32, 4, (void **)&c->from },
        { "sequence", TABLE_U32, 4, (void **)&c->sequence }
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(columns); i++) {
        int column = reader_column_find(r, table, columns[i].name);
        if (column < 0 || reader_table(r, table)->columns[column].type != columns[i].type) {
            g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: /events has other columns than expected; the "
                        "file is damaged", reader_path(r));
            return FALSE;
        }
        *columns[i].values = g_malloc(c->rows * columns[i].size);
        if (!reader_read(r, table, (unsigned)column, first, c->rows, *columns[i].values, error))
            return FALSE;
    }
    for (uint64_t i = 0; i < c->rows; i++)
        if (c->actor[i] >= c->names->actors || c->from[i] >= c->names->actors || c->start_ns[i] < c->time_ns[i]) {
            g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: /events has a row that cannot be; the file "
                        "is damaged", reader_path(r));
            return FALSE;
        }
    return TRUE;
}

struct chain *chain_new(struct reader *reader, const struct reader_names *names, int64_t from_ns, int64_t to_ns,
                        int64_t latency_ns, int64_t local_latency_ns, GError **error)
{
    int table = reader_table_find(reader, "events");
    int time = table < 0 ? -1 : reader_column_find(reader, (unsigned)table, "time");
    uint64_t first, end;

    if (time < 0 || reader_table(reader, (unsigned)table)->columns[time].type != TABLE_I64 ||
        !find_row(reader, (unsigned)table, (unsigned)time, from_ns, &first, error) ||
        !find_row(reader, (unsigned)table, (unsigned)time, to_ns + 1, &end, error))
        return NULL;
    if (end <= first || end - first > CHAIN_ROWS_MOST)
        return NULL;
    struct chain *c = g_new0(struct chain, 1);
    *c = (struct chain){ .names = names, .from_ns = from_ns, .to_ns = to_ns, .latency_ns = latency_ns,
                         .local_latency_ns = local_latency_ns, .rows = end - first };
    if (!read_rows(c, reader, (unsigned)table, first, error)) {
        chain_free(c);
        return NULL;
    }
    sort_rows(c, c->actor, &c->handled_first, &c->handled);
    sort_rows(c, c->from, &c->sent_first, &c->sent);
    for (uint32_t a = 0; a < names->actors; a++)
        g_qsort_with_data(&c->sent[c->sent_first[a]], (gint)(c->sent_first[a + 1] - c->sent_first[a]),
                          sizeof(uint32_t), by_sequence, c);
    return c;
}

void chain_free(struct chain *c)
{
    if (c == NULL)
        return;
    g_free(c->time_ns);
    g_free(c->start_ns);
    g_free(c->actor);
    g_free(c->from);
    g_free(c->sequence);
    g_free(c->handled_first);
    g_free(c->handled);
    g_free(c->sent_first);
    g_free(c->sent);
    g_free(c);
}

/* The actor's last handling that began at or before t; -1: none within the span. */
static int64_t handling_at(const struct chain *c, uint32_t actor, int64_t t)
{
    uint32_t low = c->handled_first[actor], high = c->handled_first[actor + 1];
    uint32_t first = low;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->start_ns[c->handled[middle]] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low == first ? -1 : (int64_t)c->handled[low - 1];
}

static int64_t way_ns(const struct chain *c, uint64_t row)
{
    bool local = c->names->node[c->from[row]] == c->names->node[c->actor[row]];
    return local ? c->local_latency_ns : c->latency_ns;
}

/* When the handling that started this timer or act was at it: as it sent its next message to another. */
static int64_t timer_departure(const struct chain *c, uint64_t row)
{
    uint32_t sender = c->from[row];
    uint32_t low = c->sent_first[sender], end = c->sent_first[sender + 1], high = end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->sequence[c->sent[middle]] <= c->sequence[row])
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < end; low++) {
        uint32_t next = c->sent[low];
        if (c->actor[next] == sender)
            continue;
        int64_t departure_ns = c->time_ns[next] - way_ns(c, next);
        return MIN(departure_ns, c->time_ns[row] - 1);
    }
    return c->time_ns[row] - 1;
}

int64_t chain_walk(const struct chain *c, uint32_t actor, struct chain_part *parts)
{
    int64_t t = c->to_ns, on_the_way_ns = 0;
    while (t > c->from_ns) {
        struct chain_part *part = &parts[c->names->role[actor]];
        int64_t row = handling_at(c, actor, t);
        int64_t start_ns = row < 0 ? c->from_ns : MAX(c->start_ns[row], c->from_ns);
        int64_t arrival_ns = row < 0 ? c->from_ns : MAX(c->time_ns[row], c->from_ns);
        part->busy_ns += t - start_ns;
        part->waited_ns += start_ns - arrival_ns;
        part->handlings++;
        t = arrival_ns;
        if (row < 0 || t <= c->from_ns)
            break;
        bool timer = c->from[row] == actor;
        int64_t departure_ns = timer ? timer_departure(c, (uint64_t)row) : t - way_ns(c, (uint64_t)row);
        departure_ns = MAX(departure_ns, c->from_ns);
        if (timer)
            part->timer_ns += t - departure_ns;
        else
            on_the_way_ns += t - departure_ns;
        actor = c->from[row];
        t = MIN(departure_ns, t - 1);
    }
    return on_the_way_ns;
}
