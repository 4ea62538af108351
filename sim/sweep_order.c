/* SPDX-License-Identifier: BSD-3-Clause */
#include "sweep_order.h"

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "sweep_states.h"

enum { POINTS_MAX = 1024 };

struct item {
    unsigned point;
    double events;                  /* INFINITY: nobody can tell */
};

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a;
    const struct item *y = b;

    if (x->events != y->events)
        return x->events > y->events ? -1 : 1;
    return x->point < y->point ? -1 : x->point > y->point;
}

/* A point with problems takes no time. */
static double events_of(struct sweep_plan *plan, unsigned point, struct share *alone)
{
    struct check_needs needs;
    int64_t seed;
    g_autofree char *problem = sweep_plan_needs(plan, point, alone, &needs, &seed);

    return problem != NULL ? 0 : isnan(needs.events) ? INFINITY : needs.events;
}

/* Each process's share of the points, then all. Repeats differ in their seed alone. */
static void reckon(struct sweep_plan *plan, const struct sweep_states *states, struct item *items, unsigned points,
                   struct share *share)
{
    unsigned repeats = deck_sweep_repeats(plan->deck);
    g_autofree double *events = g_new0(double, points);
    struct share alone;

    share_init(&alone, MPI_COMM_SELF);
    for (unsigned first = (unsigned)share->process * repeats; first < points;
         first += (unsigned)share->processes * repeats) {
        unsigned open = first;
        while (open < first + repeats && states->state[open] != SWEEP_OPEN)
            open++;
        if (open < first + repeats)
            events[first] = events_of(plan, open, &alone);
    }
    share_release(&alone);
    MPI_Allreduce(MPI_IN_PLACE, events, (int)points, MPI_DOUBLE, MPI_SUM, share->comm);
    for (unsigned point = 0; point < points; point++)
        items[point] = (struct item){ point, events[point - point % repeats] };
}

unsigned *sweep_order_new(struct sweep_plan *plan, const struct sweep_folder *folder, unsigned from, unsigned to,
                          struct share *share)
{
    unsigned points = deck_sweep_points(plan->deck);
    unsigned *order = g_new(unsigned, to - from);
    struct sweep_states states;

    for (unsigned i = 0; i < to - from; i++)
        order[i] = from + i;
    if (share->processes == 1 || to - from < points || points > POINTS_MAX)
        return order;
    g_autofree struct item *items = g_new(struct item, points);
    sweep_states_init(&states, folder, points);
    reckon(plan, &states, items, points, share);
    qsort(items, points, sizeof *items, compare_items);
    for (unsigned i = 0; i < points; i++)
        order[i] = items[i].point;
    sweep_states_release(&states);
    return order;
}
