/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/collector.h"

/* One metric of one role. What its type does not need stays empty. */
struct cell {
    uint64_t total;
    struct series series;
    struct statistic statistic;
};

struct collector {
    struct trace_role *role;
    unsigned roles;
    unsigned *first;            /* a role's first cell */
    struct cell *cell;
    unsigned cells;
};

struct collector *collector_new(const struct trace_role *roles, unsigned role_count, int64_t bin_ns)
{
    g_assert(bin_ns > 0);
    struct collector *c = g_new0(struct collector, 1);
    c->roles = role_count;
    c->role = g_new0(struct trace_role, role_count);
    c->first = g_new0(unsigned, role_count);
    for (unsigned r = 0; r < role_count; r++) {
        struct trace_metric *metrics = g_new0(struct trace_metric, roles[r].metric_count);
        for (unsigned m = 0; m < roles[r].metric_count; m++) {
            const struct trace_metric *from = &roles[r].metrics[m];
            metrics[m] = (struct trace_metric){ g_strdup(from->name), g_strdup(from->unit), g_strdup(from->text),
                                                from->type };
        }
        c->role[r] = (struct trace_role){ g_strdup(roles[r].name), g_strdup(roles[r].text), metrics,
                                          roles[r].metric_count };
        c->first[r] = c->cells;
        c->cells += roles[r].metric_count;
    }
    c->cell = g_new0(struct cell, c->cells);
    for (unsigned i = 0; i < c->cells; i++)
        c->cell[i].series = (struct series)SERIES_INIT(bin_ns);
    return c;
}

void collector_free(struct collector *c)
{
    if (c == NULL)
        return;
    for (unsigned i = 0; i < c->cells; i++) {
        series_release(&c->cell[i].series);
        statistic_release(&c->cell[i].statistic);
    }
    for (unsigned r = 0; r < c->roles; r++) {
        for (unsigned m = 0; m < c->role[r].metric_count; m++) {
            g_free((char *)c->role[r].metrics[m].name);
            g_free((char *)c->role[r].metrics[m].unit);
            g_free((char *)c->role[r].metrics[m].text);
        }
        g_free((struct trace_metric *)c->role[r].metrics);
        g_free((char *)c->role[r].name);
        g_free((char *)c->role[r].text);
    }
    g_free(c->role);
    g_free(c->first);
    g_free(c->cell);
    g_free(c);
}

static struct cell *collector_cell(const struct collector *c, unsigned role, unsigned metric)
{
    g_assert(role < c->roles && metric < c->role[role].metric_count);
    return &c->cell[c->first[role] + metric];
}

static enum trace_metric_type collector_type(const struct collector *c, unsigned role, unsigned metric)
{
    return c->role[role].metrics[metric].type;
}

void collector_count(struct collector *c, unsigned role, unsigned metric, int64_t time_ns, uint64_t count)
{
    struct cell *cell = collector_cell(c, role, metric);
    if (collector_type(c, role, metric) == TRACE_COUNTER) {
        cell->total += count;
        return;
    }
    g_assert(collector_type(c, role, metric) == TRACE_SERIES);
    series_add(&cell->series, time_ns, count);
}

void collector_sample(struct collector *c, unsigned role, unsigned metric, int64_t time_ns, int64_t value)
{
    struct cell *cell = collector_cell(c, role, metric);
    g_assert(collector_type(c, role, metric) >= TRACE_SAMPLE);
    statistic_add(&cell->statistic, value);
    series_add(&cell->series, time_ns, 1);
}

void collector_add(struct collector *c, unsigned role, unsigned metric, uint64_t total, const struct series *series,
                   const struct statistic *statistic)
{
    struct cell *cell = collector_cell(c, role, metric);
    cell->total += total;
    if (series != NULL) {
        /* An empty curve may begin with the other one's width: whose first width it was is not known in a file. */
        if (cell->series.bin == NULL)
            cell->series.width_ns = series->width_ns;
        series_merge(&cell->series, series);
    }
    if (statistic != NULL)
        statistic_merge(&cell->statistic, statistic);
}

/* A cell is saved as what its type uses, so that a collector of another table is told apart by the reader. */
void collector_save(const struct collector *c, struct bytes *sink)
{
    bytes_put_u32(sink, c->cells);
    for (unsigned r = 0; r < c->roles; r++) {
        for (unsigned m = 0; m < c->role[r].metric_count; m++) {
            const struct cell *cell = collector_cell(c, r, m);
            enum trace_metric_type type = collector_type(c, r, m);
            bytes_put_u8(sink, (uint8_t)type);
            if (type == TRACE_COUNTER)
                bytes_put_u64(sink, cell->total);
            else
                series_save(&cell->series, sink);
            if (type >= TRACE_SAMPLE)
                statistic_save(&cell->statistic, sink);
        }
    }
}

static void cell_merge(struct cell *cell, enum trace_metric_type type, struct cursor *from)
{
    struct series series = SERIES_INIT(1);
    struct statistic statistic = STATISTIC_INIT;
    if (cursor_u8(from) != (uint8_t)type)
        from->failed = true;
    else if (type == TRACE_COUNTER)
        cell->total += cursor_u64(from);
    else if (series_load(&series, from) && (type < TRACE_SAMPLE || statistic_load(&statistic, from))) {
        series_merge(&cell->series, &series);
        statistic_merge(&cell->statistic, &statistic);
    }
    series_release(&series);
    statistic_release(&statistic);
}

gboolean collector_merge(struct collector *c, const void *data, size_t size, GError **error)
{
    struct cursor from = cursor_init(data, size);
    if (cursor_u32(&from) != c->cells)
        from.failed = true;
    for (unsigned r = 0; r < c->roles && cursor_ok(&from); r++)
        for (unsigned m = 0; m < c->role[r].metric_count && cursor_ok(&from); m++)
            cell_merge(collector_cell(c, r, m), collector_type(c, r, m), &from);
    if (cursor_done(&from))
        return TRUE;
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME,
                "the figures of another process (%zu bytes) do not fit the roles of this one; "
                "do all processes run the same program?", size);
    return FALSE;
}

unsigned collector_role_count(const struct collector *c)
{
    return c->roles;
}

const struct trace_role *collector_role(const struct collector *c, unsigned role)
{
    g_assert(role < c->roles);
    return &c->role[role];
}

int collector_find_role(const struct collector *c, const char *role)
{
    for (unsigned r = 0; r < c->roles; r++)
        if (strcmp(c->role[r].name, role) == 0)
            return (int)r;
    return -1;
}

int collector_find_metric(const struct collector *c, unsigned role, const char *metric)
{
    g_assert(role < c->roles);
    for (unsigned m = 0; m < c->role[role].metric_count; m++)
        if (strcmp(c->role[role].metrics[m].name, metric) == 0)
            return (int)m;
    return -1;
}

uint64_t collector_total(const struct collector *c, unsigned role, unsigned metric)
{
    const struct cell *cell = collector_cell(c, role, metric);
    g_assert(collector_type(c, role, metric) <= TRACE_SERIES);
    return collector_type(c, role, metric) == TRACE_COUNTER ? cell->total : cell->series.total;
}

const struct series *collector_series(const struct collector *c, unsigned role, unsigned metric)
{
    const struct cell *cell = collector_cell(c, role, metric);
    g_assert(collector_type(c, role, metric) != TRACE_COUNTER);
    return &cell->series;
}

const struct statistic *collector_statistic(const struct collector *c, unsigned role, unsigned metric)
{
    const struct cell *cell = collector_cell(c, role, metric);
    g_assert(collector_type(c, role, metric) >= TRACE_SAMPLE);
    return &cell->statistic;
}

static unsigned named_metric(const struct collector *c, const char *role, const char *metric, unsigned *role_index)
{
    int r = collector_find_role(c, role);
    int m = r < 0 ? -1 : collector_find_metric(c, (unsigned)r, metric);

    if (m < 0)
        g_error("role %s has no metric %s", role, metric);
    *role_index = (unsigned)r;
    return (unsigned)m;
}

uint64_t collector_named_total(const struct collector *c, const char *role, const char *metric)
{
    unsigned r;
    unsigned m = named_metric(c, role, metric, &r);

    return collector_total(c, r, m);
}

const struct statistic *collector_named_statistic(const struct collector *c, const char *role, const char *metric)
{
    unsigned r;
    unsigned m = named_metric(c, role, metric, &r);

    return collector_statistic(c, r, m);
}
