/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a client's collected heap will bring it to a stop, told from how it went so far.
 *
 * What is taken from a trace is what a collector's log has: over time, how many tasks ended, how many collections
 * there were, how long they took, and how much they left free. A straight line through the free heap alone says when
 * it is empty; but the client stands still before, since with less free there are more collections. With
 *
 *     F = size - live bytes       falls by `leak` with each task (least squares over the collections)
 *     a                           allocated by a task: what was freed, by the tasks that filled it again
 *     P = p0 + p1 x live          one collection (least squares)
 *     t0                          a task's time outside collections, and
 *     h                           what of each collection costs nothing, since services go on with what they hold
 *                                 (least squares of tasks = ((time - paused) + h x collections) / t0)
 *
 * there are F / a tasks between two collections, and a task takes t0 + (P - h) a / F. Its integral over the tasks, F
 * falling linearly, is elementary. The end comes where work fills less than 2 % of the time between two collections:
 * there HotSpot's overhead limit ends the process (its defaults, GCTimeLimit = 98 and GCHeapFreeLimit = 2, as in the
 * model of the heap), at F = a (h + 2/98 P) / t0, and at the latest where nothing is free.
 *
 * Plain numbers; local.
 */
#ifndef TIERCEL_REPORT_COLLAPSE_H
#define TIERCEL_REPORT_COLLAPSE_H

#include <stdbool.h>

struct collapse_bin {           /* a stretch of time */
    double width_s;
    double tasks;               /* that ended */
    double collections;
    double paused_s;
    double freed_bytes;         /* free after each collection, in all */
};

struct collapse_point {
    double tasks;
    double time_s;
    double free_bytes;
    double rate;                /* tasks a second */
};

struct collapse {
    const char *reason;         /* why there is no prediction; NULL: there is one */
    double leak_bytes;          /* a task */
    double allocated_bytes;     /* a task */
    double pause_fixed_s;       /* p0 */
    double pause_byte_s;        /* p1 */
    double task_s;              /* t0 */
    double hidden_s;            /* h */
    struct collapse_point start;
    struct collapse_point now;      /* at the end of the last bin, by the law */
    struct collapse_point half;     /* half the rate of the start; all NAN when that lies behind the end */
    struct collapse_point end;      /* the client stands still for good */
    double empty_tasks;             /* where the straight line has nothing free */
};

/* `count` bins from time 0 on, all of them while tasks were still handed out; size_bytes of the whole heap, above 0.
 * */
void collapse_predict(struct collapse *c, const struct collapse_bin *bins, unsigned count, double size_bytes);

#endif
