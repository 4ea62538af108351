/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/collapse.h"

#include <math.h>
#include <string.h>

enum { COLLECTIONS_LEAST = 8 };
#define SHRINKS 1e-3                    /* by less of what is free, and it is what the tasks under way happen to hold */
/* of a collection: what the overhead limit wants between two */
#define WORK_LEAST (2.0 / 98)

/* A line through weighted points. */
struct line {
    double weight, x, y, xx, xy;
};

static void line_add(struct line *l, double x, double y, double weight)
{
    l->weight += weight;
    l->x += weight * x;
    l->y += weight * y;
    l->xx += weight * x * x;
    l->xy += weight * x * y;
}

/* False when all x are the same, as far as numbers tell. */
static bool line_fit(const struct line *l, double *intercept, double *slope)
{
    double mean_x = l->x / l->weight, mean_y = l->y / l->weight;
    double variance = l->xx / l->weight - mean_x * mean_x;
    if (!(variance > 1e-12 * mean_x * mean_x))
        return false;
    *slope = (l->xy / l->weight - mean_x * mean_y) / variance;
    *intercept = mean_y - *slope * mean_x;
    return true;
}

/* time - paused = t0 tasks - h collections, all counted from the beginning: then a collection on the border of two
 * bins, which counts with the first and runs on in the second, is a small error of large numbers. */
static bool fit_task(struct collapse *c, const struct collapse_bin *bins, unsigned count)
{
    double nn = 0, nk = 0, kk = 0, ny = 0, ky = 0;
    double work_s = 0, collections = 0, tasks = 0;
    for (unsigned i = 0; i < count; i++) {
        work_s += bins[i].width_s - bins[i].paused_s;
        collections += bins[i].collections;
        tasks += bins[i].tasks;
        nn += tasks * tasks;
        nk += tasks * collections;
        kk += collections * collections;
        ny += tasks * work_s;
        ky += collections * work_s;
    }
    double determinant = nn * kk - nk * nk;
    if (nn <= 0 || ny <= 0)
        return false;
    c->task_s = ny / nn;
    c->hidden_s = 0;
    if (determinant > 1e-6 * nn * kk) {
        double hidden_s = (ny * nk - ky * nn) / determinant;
        if (hidden_s > 0) {
            c->hidden_s = hidden_s;
            c->task_s = (ny + hidden_s * nk) / nn;
        }
    }
    return c->task_s > 0;
}

static double pause_s(const struct collapse *c, double size_bytes, double free_bytes)
{
    return c->pause_fixed_s + c->pause_byte_s * (size_bytes - free_bytes);
}

static double task_time_s(const struct collapse *c, double size_bytes, double free_bytes)
{
    double lost_s = fmax(0, pause_s(c, size_bytes, free_bytes) - c->hidden_s);
    return c->task_s + lost_s * c->allocated_bytes / free_bytes;
}

/* From one amount free to a smaller one: the integral of task_time_s over the tasks. */
static double span_s(const struct collapse *c, double size_bytes, double from_bytes, double to_bytes)
{
    double lost = c->pause_fixed_s + c->pause_byte_s * size_bytes - c->hidden_s;
    return (c->task_s - c->allocated_bytes * c->pause_byte_s) * (from_bytes - to_bytes) / c->leak_bytes +
           c->allocated_bytes * lost / c->leak_bytes * log(from_bytes / to_bytes);
}

static struct collapse_point point_at(const struct collapse *c, double size_bytes, double free_bytes)
{
    return (struct collapse_point){
        .tasks = c->now.tasks + (c->now.free_bytes - free_bytes) / c->leak_bytes,
        .time_s = c->now.time_s + span_s(c, size_bytes, c->now.free_bytes, free_bytes),
        .free_bytes = free_bytes,
        .rate = 1 / task_time_s(c, size_bytes, free_bytes)
    };
}

/* Where a task takes `time_s`. */
static double free_for(const struct collapse *c, double size_bytes, double time_s)
{
    double lost = c->pause_fixed_s + c->pause_byte_s * size_bytes - c->hidden_s;
    return c->allocated_bytes * lost / (time_s - c->task_s + c->allocated_bytes * c->pause_byte_s);
}

/* The lines through what the collections left free, and through how long they took. */
static const char *fit_heap(struct collapse *c, const struct collapse_bin *bins, unsigned count, double size_bytes)
{
    struct line left = { 0 }, pauses = { 0 };
    double tasks = 0, freed = 0, filled = 0, collections = 0, paused_s = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct collapse_bin *b = &bins[i];
        if (b->collections > 0) {
            double free_bytes = b->freed_bytes / b->collections;
            line_add(&left, tasks + b->tasks / 2, free_bytes, b->collections);
            line_add(&pauses, size_bytes - free_bytes, b->paused_s / b->collections, b->collections);
            collections += b->collections;
            freed += b->freed_bytes;
            paused_s += b->paused_s;
        }
        if (collections > 0)
            filled += b->tasks;
        tasks += b->tasks;
        c->now.time_s += b->width_s;
    }
    c->now.tasks = tasks;
    if (collections < COLLECTIONS_LEAST)
        return "fewer than 8 collections: nothing can be told from them";
    double slope, live = pauses.x / pauses.weight;
    if (!line_fit(&left, &c->start.free_bytes, &slope) || -slope * tasks < SHRINKS * c->start.free_bytes)
        return "what is free does not shrink: no end is in sight";
    c->leak_bytes = -slope;
    c->allocated_bytes = freed / filled;
    if (!line_fit(&pauses, &c->pause_fixed_s, &c->pause_byte_s) || c->pause_byte_s < 0 || c->pause_fixed_s < 0) {
        c->pause_fixed_s = 0;
        c->pause_byte_s = live > 0 ? paused_s / collections / live : 0;
    }
    return NULL;
}

void collapse_predict(struct collapse *c, const struct collapse_bin *bins, unsigned count, double size_bytes)
{
    const struct collapse_point nowhere = { NAN, NAN, NAN, NAN };
    memset(c, 0, sizeof *c);
    c->half = c->end = nowhere;
    c->reason = fit_heap(c, bins, count, size_bytes);
    if (c->reason == NULL && !fit_task(c, bins, count))
        c->reason = "too few stretches of time to tell work from collections";
    if (c->reason != NULL)
        return;
    c->now.free_bytes = c->start.free_bytes - c->leak_bytes * c->now.tasks;
    c->empty_tasks = c->start.free_bytes / c->leak_bytes;
    c->start.rate = 1 / task_time_s(c, size_bytes, c->start.free_bytes);
    double full_s = pause_s(c, size_bytes, 0);
    double end_bytes = fmin(c->allocated_bytes * (c->hidden_s + WORK_LEAST * full_s) / c->task_s, 0.02 * size_bytes);
    end_bytes = fmax(end_bytes, c->allocated_bytes);
    if (c->now.free_bytes <= end_bytes) {
        c->reason = "the end has come: the last collections left less free than work needs";
        return;
    }
    c->now.rate = 1 / task_time_s(c, size_bytes, c->now.free_bytes);
    c->end = point_at(c, size_bytes, end_bytes);
    double half_bytes = free_for(c, size_bytes, 2 / c->start.rate);
    if (half_bytes > end_bytes && half_bytes < c->start.free_bytes)
        c->half = point_at(c, size_bytes, half_bytes);
}
