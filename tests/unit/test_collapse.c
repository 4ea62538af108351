/* SPDX-License-Identifier: BSD-3-Clause */
/* The prediction of a heap's end, against a client that is played step by step by the very law. */
#include "suite.h"

#include <glib.h>
#include <math.h>

#include "report/collapse.h"

enum { BINS_MOST = 4096 };

struct client {
    double size, leak, allocated, pause_byte_s, task_s, hidden_s;
};

static const struct client falkon = { 1536e6, 2.048, 1034, 1.1e-9, 58.2e-6, 0.3 };

/* Plays cycles of work and collection from start_free bytes until stop_tasks, or until nothing is free. */
static unsigned play(const struct client *c, double start_free, double stop_tasks, double width_s,
                     struct collapse_bin *bins, double *end_tasks, double *end_s)
{
    double tasks = 0, now_s = 0;
    unsigned count = 0;
    for (unsigned i = 0; i < BINS_MOST; i++)
        bins[i] = (struct collapse_bin){ .width_s = width_s };
    while (tasks < stop_tasks) {
        double left = start_free - c->leak * tasks;
        double cycle = left / c->allocated, pause_s = c->pause_byte_s * (c->size - left);
        double work_s = cycle * c->task_s - c->hidden_s;
        if (left <= 0 || work_s < pause_s * 2 / 98)
            break;
        /* The work of the cycle, spread evenly. */
        for (unsigned part = 0; part < 16; part++) {
            unsigned at = (unsigned)((now_s + work_s * part / 16) / width_s);
            g_assert(at < BINS_MOST);
            bins[at].tasks += cycle / 16;
        }
        now_s += work_s;
        unsigned at = (unsigned)(now_s / width_s);
        tasks += cycle;
        bins[at].collections++;
        bins[at].paused_s += pause_s;
        bins[at].freed_bytes += start_free - c->leak * tasks;
        now_s += pause_s;
        count = (unsigned)(now_s / width_s);
    }
    *end_tasks = tasks;
    *end_s = now_s;
    return count;
}

static bool near(double value, double expected, double tolerance)
{
    bool ok = fabs(value - expected) <= tolerance * fabs(expected);
    if (!ok)
        printf("\n%.9g, expected %.9g within %g%%\n", value, expected, tolerance * 100);
    return ok;
}

static void test_predicts(void)
{
    static struct collapse_bin bins[BINS_MOST];
    struct collapse c;
    double tasks, time_s, end_tasks, end_s;

    play(&falkon, 600e6, 1e12, 8, bins, &end_tasks, &end_s);
    unsigned count = play(&falkon, 600e6, 200e6, 8, bins, &tasks, &time_s);
    CU_ASSERT(tasks < 0.7 * end_tasks);
    collapse_predict(&c, bins, count, falkon.size);
    CU_ASSERT_PTR_NULL(c.reason);
    CU_ASSERT(near(c.leak_bytes, falkon.leak, 0.01));
    CU_ASSERT(near(c.allocated_bytes, falkon.allocated, 0.02));
    CU_ASSERT(near(c.pause_byte_s, falkon.pause_byte_s, 0.02));
    CU_ASSERT(near(c.task_s, falkon.task_s, 0.02));
    CU_ASSERT(near(c.end.tasks, end_tasks, 0.01));
    CU_ASSERT(near(c.end.time_s, end_s, 0.02));
    CU_ASSERT(c.half.tasks > c.now.tasks && c.half.tasks < c.end.tasks && c.end.tasks < c.empty_tasks);
    CU_ASSERT(near(c.half.rate, c.start.rate / 2, 1e-6));
}

static void test_no_leak(void)
{
    static struct collapse_bin bins[BINS_MOST];
    struct client sound = falkon;
    struct collapse c;
    double tasks, time_s;

    sound.leak = 0;
    unsigned count = play(&sound, 600e6, 200e6, 8, bins, &tasks, &time_s);
    collapse_predict(&c, bins, count, sound.size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c.reason);
    CU_ASSERT_STRING_EQUAL(c.reason, "what is free does not shrink: no end is in sight");
    CU_ASSERT(isnan(c.end.tasks));
}

static void test_little(void)
{
    struct collapse_bin bins[3] = { { 1, 1000, 1, 0.1, 1e6 }, { 1, 1000, 1, 0.1, 9e5 }, { 1, 1000, 1, 0.1, 8e5 } };
    struct collapse c;

    collapse_predict(&c, bins, 3, 1e7);
    CU_ASSERT_PTR_NOT_NULL(c.reason);
    CU_ASSERT(isnan(c.end.tasks) && isnan(c.half.tasks));
    collapse_predict(&c, bins, 0, 1e7);
    CU_ASSERT_PTR_NOT_NULL(c.reason);
}

static void test_over(void)
{
    static struct collapse_bin bins[BINS_MOST];
    struct collapse c;
    double tasks, time_s;

    unsigned count = play(&falkon, 600e6, 1e12, 8, bins, &tasks, &time_s);
    collapse_predict(&c, bins, count, falkon.size);
    /* The law sees the end, at most a few cycles away. */
    CU_ASSERT(c.reason != NULL || near(c.end.tasks, tasks, 0.01));
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "two thirds of a run predict its end", test_predicts },
        { "a heap that does not leak has no end", test_no_leak },
        { "a few collections tell nothing", test_little },
        { "a run that came to its end says so", test_over },
        { NULL, NULL }
    };
    return suite_run("collapse", tests);
}
