/* SPDX-License-Identifier: BSD-3-Clause */
#include "steady.h"

#include <string.h>

#include <glib.h>

enum { FIELDS = 2 };

struct row {
    uint16_t role;
    uint32_t node;
    uint32_t actors;
};

struct steady {
    uint32_t *row_of;               /* by actor id */
    GArray *rows;                   /* struct row */
    unsigned ticks;
    int64_t time_ns[STEADY_TICKS];
    uint64_t done[STEADY_TICKS];
    int64_t *used_ns;               /* for each tick, of each row: busy, and blocked */
    int64_t every_ns;               /* 0: each */
    int64_t due_ns;
};

static uint32_t add_row(struct steady *s, uint16_t role, uint32_t node)
{
    struct row row = { role, node, 0 };
    g_array_append_val(s->rows, row);
    return s->rows->len - 1;
}

struct steady *steady_new(uint32_t actors, const uint16_t *actor_roles, const uint32_t *actor_nodes,
                          unsigned role_count)
{
    struct steady *s = g_new0(struct steady, 1);
    g_autofree uint32_t *count = g_new0(uint32_t, role_count);
    g_autofree uint32_t *others = g_new(uint32_t, role_count);

    s->row_of = g_new(uint32_t, actors);
    s->rows = g_array_new(FALSE, FALSE, sizeof(struct row));
    memset(others, 0xff, role_count * sizeof *others);
    for (uint32_t id = 0; id < actors; id++)
        count[actor_roles[id]]++;
    for (uint32_t id = 0; id < actors; id++) {
        uint16_t role = actor_roles[id];
        bool alone = count[role] <= STEADY_ACTORS || actor_nodes[id] == 0;
        if (!alone && others[role] == UINT32_MAX)
            others[role] = add_row(s, role, actor_nodes[id]);
        s->row_of[id] = alone ? add_row(s, role, actor_nodes[id]) : others[role];
        g_array_index(s->rows, struct row, s->row_of[id]).actors++;
    }
    s->used_ns = g_new0(int64_t, (size_t)STEADY_TICKS * FIELDS * s->rows->len);
    return s;
}

void steady_free(struct steady *s)
{
    if (s == NULL)
        return;
    g_array_free(s->rows, TRUE);
    g_free(s->row_of);
    g_free(s->used_ns);
    g_free(s);
}

/* Keeps every second tick. */
static void thin(struct steady *s)
{
    size_t width = FIELDS * s->rows->len;
    for (unsigned i = 0; i < STEADY_TICKS / 2; i++) {
        s->time_ns[i] = s->time_ns[2 * i + 1];
        s->done[i] = s->done[2 * i + 1];
        memcpy(&s->used_ns[i * width], &s->used_ns[(2 * i + 1) * width], width * sizeof(int64_t));
    }
    s->ticks = STEADY_TICKS / 2;
    s->every_ns = (s->time_ns[s->ticks - 1] - s->time_ns[0]) / (s->ticks - 1);
    s->due_ns = s->time_ns[s->ticks - 1] + s->every_ns;
}

struct noting {
    struct steady *steady;
    int64_t *used_ns;
};

static void note(void *data, uint32_t first_actor, int64_t busy_ns, int64_t blocked_ns)
{
    struct noting *n = data;
    int64_t *row = &n->used_ns[FIELDS * n->steady->row_of[first_actor]];
    row[0] += busy_ns;
    row[1] += blocked_ns;
}

void steady_tick(struct steady *s, const struct engine *e, int64_t now_ns, uint64_t done_here)
{
    if (now_ns < s->due_ns)
        return;
    struct noting noting = { s, &s->used_ns[(size_t)s->ticks * FIELDS * s->rows->len] };
    memset(noting.used_ns, 0, FIELDS * s->rows->len * sizeof(int64_t));
    engine_each_thread(e, now_ns, note, &noting);
    s->time_ns[s->ticks] = now_ns;
    s->done[s->ticks] = done_here;
    s->due_ns = now_ns + s->every_ns;
    if (++s->ticks == STEADY_TICKS)
        thin(s);
}

void steady_gather(struct steady *s, MPI_Comm comm)
{
    int process;

    MPI_Comm_rank(comm, &process);
    MPI_Reduce(process == 0 ? MPI_IN_PLACE : s->done, s->done, (int)s->ticks, MPI_UINT64_T, MPI_SUM, 0, comm);
    for (unsigned i = 0; i < s->ticks; i++) {
        int64_t *used_ns = &s->used_ns[(size_t)i * FIELDS * s->rows->len];
        int count = (int)(FIELDS * s->rows->len);
        MPI_Reduce(process == 0 ? MPI_IN_PLACE : used_ns, used_ns, count, MPI_INT64_T, MPI_SUM, 0, comm);
    }
}

/* The steady part, by indices of ticks. */
static bool bounds(const struct steady *s, unsigned *first, unsigned *last)
{
    uint64_t all = s->ticks > 0 ? s->done[s->ticks - 1] : 0;
    unsigned from = 0, to = s->ticks;

    while (from < s->ticks && s->done[from] < all / 10)
        from++;
    while (to > 0 && s->done[to - 1] > all - all / 10)
        to--;
    if (to == 0 || from >= to - 1 || s->done[to - 1] <= s->done[from])
        return false;
    *first = from;
    *last = to - 1;
    return true;
}

bool steady_span(const struct steady *s, struct steady_span *span)
{
    unsigned first, last = 0;

    if (s->ticks == 0 || s->done[s->ticks - 1] == 0)
        return false;
    if (bounds(s, &first, &last)) {
        *span = (struct steady_span){ s->time_ns[first], s->time_ns[last], s->done[last] - s->done[first] };
        return true;
    }
    while (s->done[last] < s->done[s->ticks - 1])
        last++;
    *span = (struct steady_span){ 0, s->time_ns[last], s->done[last] };
    return true;
}

unsigned steady_rows(const struct steady *s)
{
    return s->rows->len;
}

void steady_use(const struct steady *s, unsigned row, const struct steady_span *span, struct steady_use *use)
{
    const struct row *r = &g_array_index(s->rows, struct row, row);

    *use = (struct steady_use){ .role = r->role, .node = r->node, .actors = r->actors };
    for (unsigned i = 0; i < s->ticks; i++) {
        const int64_t *here = &s->used_ns[FIELDS * ((size_t)i * s->rows->len + row)];
        int sign = (s->time_ns[i] == span->to_ns) - (s->time_ns[i] == span->from_ns);
        use->busy_ns += sign * here[0];
        use->blocked_ns += sign * here[1];
    }
}
