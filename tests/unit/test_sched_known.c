/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known schedules: small cases that were worked out by hand, and random ones against a second implementation of the
 * textbook definitions that plans instant by instant.
 */
#include <glib.h>

#include "sched/policy.h"
#include "suite.h"
#include "test_sched_replay.h"

#define JOB(submits, processors, limits, runs) { .submit = submits, .width = processors, .limit = limits, .run = runs }

struct expected {
    const char *policy;
    enum policy_by by;
    uint32_t depth;
    int64_t starts[8];
};

static void check(uint32_t processors, const struct replay_job *jobs, guint count, const struct expected *expected)
{
    g_autofree struct replay_job *played = g_memdup2(jobs, count * sizeof jobs[0]);
    struct replay r = { .config = { .name = expected->policy, .nodes = 1, .cores_per_node = processors,
                                    .by = expected->by, .depth = expected->depth }, .kill = true };
    replay_run(&r, played, count);
    for (guint i = 0; i < count; i++) {
        CU_ASSERT_EQUAL(played[i].start, expected->starts[i]);
        if (played[i].start != expected->starts[i])
            fprintf(stderr, "\n  %s by %d: job %u starts at %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT "\n",
                    expected->policy, expected->by, i + 1, played[i].start, expected->starts[i]);
    }
    CU_ASSERT_TRUE(r.widest_use <= processors);
}

#define CHECK(processors, jobs, expected) do { \
        for (size_t e = 0; e < G_N_ELEMENTS(expected); e++) \
            check(processors, jobs, G_N_ELEMENTS(jobs), &(expected)[e]); \
    } while (0)

/* 4 processors. At 3 the head J2 is promised 10 with one processor to spare. EASY starts J4 on it, and J3 slides to 28;
 * conservative has promised J3 20 and J4 would run to 28, so J4 waits, but J5 ends exactly at 20 and starts at once. */
static void test_three_policies(void)
{
    const struct replay_job jobs[] = { JOB(0, 3, 10, 10), JOB(1, 3, 10, 10), JOB(2, 4, 10, 10), JOB(3, 1, 25, 25),
                                       JOB(4, 1, 16, 16) };
    const struct expected expected[] = {
        { "fcfs", POLICY_BY_PROCESSORS, 0, { 0, 10, 20, 30, 30 } },
        { "easy", POLICY_BY_PROCESSORS, 0, { 0, 10, 28, 3, 38 } },
        { "easy", POLICY_BY_PROCESSORS, 1, { 0, 10, 28, 3, 38 } },
        { "easy", POLICY_BY_MACHINES, 1, { 0, 10, 28, 3, 38 } },
        { "easy", POLICY_BY_PROCESSORS, 9, { 0, 10, 20, 30, 4 } },      /* deep enough: as conservative */
        { "easy", POLICY_BY_PROCESSORS, 2, { 0, 10, 20, 30, 4 } },
        { "conservative", POLICY_BY_PROCESSORS, 0, { 0, 10, 20, 30, 4 } },
        { "conservative", POLICY_BY_MACHINES, 0, { 0, 10, 20, 30, 4 } },
    };
    CHECK(4, jobs, expected);
}

/* The same, but J1 ends after 6 of its 10: plans use limits, ends use run times. */
static void test_early_end(void)
{
    const struct replay_job jobs[] = { JOB(0, 3, 10, 6), JOB(1, 3, 10, 10), JOB(2, 4, 10, 10), JOB(3, 1, 25, 25),
                                       JOB(4, 1, 16, 16) };
    const struct expected expected[] = {
        { "fcfs", POLICY_BY_PROCESSORS, 0, { 0, 6, 16, 26, 26 } },
        { "easy", POLICY_BY_PROCESSORS, 0, { 0, 6, 28, 3, 38 } },
        { "easy", POLICY_BY_MACHINES, 0, { 0, 6, 28, 3, 38 } },
        { "conservative", POLICY_BY_PROCESSORS, 0, { 0, 6, 20, 30, 4 } },
        { "conservative", POLICY_BY_MACHINES, 0, { 0, 6, 20, 30, 4 } },
    };
    CHECK(4, jobs, expected);
}

/* 5 processors: D's promise at 10 is any two processors, or the machines {0, 3}: then E cannot have machine 0. */
static void test_counting_or_naming(void)
{
    const struct replay_job jobs[] = { JOB(0, 1, 1, 1), JOB(0, 2, 20, 20), JOB(0, 2, 10, 10), JOB(2, 2, 10, 10),
                                       JOB(3, 1, 15, 15) };
    const struct expected expected[] = {
        { "easy", POLICY_BY_PROCESSORS, 0, { 0, 0, 0, 10, 3 } },
        { "conservative", POLICY_BY_PROCESSORS, 0, { 0, 0, 0, 10, 3 } },
        { "easy", POLICY_BY_MACHINES, 0, { 0, 0, 0, 10, 10 } },
        { "conservative", POLICY_BY_MACHINES, 0, { 0, 0, 0, 10, 10 } },
    };
    CHECK(5, jobs, expected);
}

/* 100 processors: EASY starts the narrow long job at once, and it delays the third; conservative has promised the third
 * 200. */
static void test_conservative_case(void)
{
    const struct replay_job jobs[] = { JOB(0, 70, 100, 100), JOB(1, 80, 100, 100), JOB(2, 90, 100, 100),
                                       JOB(50, 20, 250, 250) };
    const struct expected expected[] = {
        { "conservative", POLICY_BY_PROCESSORS, 0, { 0, 100, 200, 300 } },
        { "conservative", POLICY_BY_MACHINES, 0, { 0, 100, 200, 300 } },
        { "easy", POLICY_BY_PROCESSORS, 0, { 0, 100, 300, 50 } },
        { "fcfs", POLICY_BY_PROCESSORS, 0, { 0, 100, 200, 300 } },
    };
    CHECK(100, jobs, expected);
}

/* 2 processors. At 0 the head J2 is promised 10; J3 and J4 both fit beside J1, but only one of them. */
static void test_shortest_first(void)
{
    const struct replay_job jobs[] = { JOB(0, 1, 10, 10), JOB(0, 2, 5, 5), JOB(0, 1, 9, 9), JOB(0, 1, 2, 2),
                                       JOB(0, 1, 7, 7) };
    const struct expected expected[] = {
        { "easy", POLICY_BY_PROCESSORS, 0, { 0, 10, 0, 15, 15 } },
        { "easy-sjf", POLICY_BY_PROCESSORS, 0, { 0, 10, 15, 0, 2 } },
        { "easy-sjf", POLICY_BY_MACHINES, 0, { 0, 10, 15, 0, 2 } },
        { "sjf", POLICY_BY_PROCESSORS, 0, { 14, 2, 7, 0, 7 } },
    };
    CHECK(2, jobs, expected);
}

/* Jobs of no length take processors and give them back within their instant, and block nothing for longer. */
static void test_zero_length(void)
{
    const struct replay_job jobs[] = { JOB(0, 2, 0, 0), JOB(0, 2, 0, 0), JOB(0, 2, 10, 10), JOB(1, 2, 0, 0),
                                       JOB(1, 1, 5, 0), JOB(1, 2, 3, 3) };
    static const struct expected expected[] = {
        { "fcfs", POLICY_BY_PROCESSORS, 0, { 0, 0, 0, 10, 10, 10 } },
        { "easy", POLICY_BY_PROCESSORS, 0, { 0, 0, 0, 10, 10, 10 } },
        { "easy", POLICY_BY_MACHINES, 0, { 0, 0, 0, 10, 10, 10 } },
        { "easy-sjf", POLICY_BY_PROCESSORS, 0, { 0, 0, 0, 10, 10, 10 } },
        { "conservative", POLICY_BY_PROCESSORS, 0, { 0, 0, 0, 10, 10, 10 } },
        { "conservative", POLICY_BY_MACHINES, 0, { 0, 0, 0, 10, 10, 10 } },
    };
    CHECK(2, jobs, expected);
}

/* A job wider than the machine is rejected; one without a limit is planned to run for ever. */
static void test_wide_and_endless(void)
{
    const struct replay_job jobs[] = { JOB(0, 5, 1, 1), JOB(0, 1, POLICY_NO_LIMIT, 50), JOB(1, 4, 10, 10),
                                       JOB(2, 3, POLICY_NO_LIMIT, 7), JOB(3, 1, 5, 5) };
    const struct expected expected[] = {
        { "fcfs", POLICY_BY_PROCESSORS, 0, { -1, 0, 50, 60, 60 } },
        { "easy", POLICY_BY_PROCESSORS, 0, { -1, 0, 50, 2, 9 } },
        { "easy", POLICY_BY_MACHINES, 0, { -1, 0, 50, 2, 9 } },
        { "conservative", POLICY_BY_PROCESSORS, 0, { -1, 0, 50, 2, 9 } },
        { "conservative", POLICY_BY_MACHINES, 0, { -1, 0, 50, 2, 9 } },
    };
    CHECK(4, jobs, expected);
}

/* --- a second implementation, instant by instant --- */

struct model_job {
    bool waiting, running;
    int64_t promise;        /* conservative; -1: none */
};

/* What is free at time t when running jobs hold to their limits and promised ones to theirs, except job `but`. */
static int64_t model_free(const struct replay_job *jobs, const struct model_job *model, guint count, int64_t total,
                          int64_t t, guint but)
{
    for (guint i = 0; i < count; i++) {
        int64_t start = model[i].running ? jobs[i].start : model[i].promise;
        bool holds = model[i].running || (model[i].waiting && model[i].promise >= 0 && i != but);
        if (holds && start <= t && t < start + MAX(jobs[i].limit, 1))
            total -= jobs[i].width;
    }
    return total;
}

static int64_t model_first_fit(const struct replay_job *jobs, const struct model_job *model, guint count, int64_t total,
                               int64_t now, guint job)
{
    for (int64_t start = now;; start++) {
        bool fits = true;
        for (int64_t t = start; t < start + MAX(jobs[job].limit, 1) && fits; t++)
            fits = model_free(jobs, model, count, total, t, job) >= jobs[job].width;
        if (fits)
            return start;
    }
}

/* `depth` promises at most (all: conservative), made anew in each pass; conservative keeps places as its rules say. */
static void model_run(struct replay_job *jobs, guint count, int64_t total, guint depth, bool conservative)
{
    g_autofree struct model_job *model = g_new0(struct model_job, count);
    guint done = 0;
    for (guint i = 0; i < count; i++)
        model[i].promise = -1;
    for (int64_t now = 0; done < count; now++) {
        for (bool again = true; again; ) {
            again = false;
            bool ended = false;
            for (guint i = 0; i < count; i++)
                if (model[i].running && jobs[i].end == now) {
                    model[i].running = false;
                    done++;
                    ended = true;
                }
            for (guint i = 0; i < count; i++)
                if (jobs[i].submit == now && !model[i].waiting && jobs[i].start == -2)
                    model[i].waiting = true;
            if (!conservative)
                for (guint i = 0; i < count; i++)
                    model[i].promise = -1;
            guint promises = 0;
            for (guint i = 0; i < count; i++) {
                if (!model[i].waiting)
                    continue;
                bool look = !conservative || ended || model[i].promise < 0 || model[i].promise == now;
                if (!look)
                    continue;
                int64_t start = model_first_fit(jobs, model, count, total, now, i);
                if (start == now) {
                    model[i].waiting = false;
                    model[i].running = true;
                    jobs[i].start = now;
                    jobs[i].end = now + MIN(jobs[i].run, jobs[i].limit);
                    again = again || jobs[i].end == now;
                } else if (conservative || promises < depth) {
                    model[i].promise = start;
                    promises++;
                }
            }
        }
    }
}

static void compare_random(const char *policy, uint32_t depth, bool conservative, bool exact, guint rounds)
{
    enum { COUNT = 40, PROCESSORS = 10 };
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    guint waited = 0;
    for (guint round = 0; round < rounds; round++) {
        struct replay_job jobs[COUNT], played[COUNT];
        int64_t now = 0;
        for (guint i = 0; i < COUNT; i++) {
            now += g_rand_int_range(rand, 0, 5);
            int64_t limit = g_rand_int_range(rand, 0, 20);
            jobs[i] = (struct replay_job){ .submit = now, .width = (uint32_t)g_rand_int_range(rand, 1, PROCESSORS + 1),
                                           .limit = limit, .start = -2 };
            if (g_rand_boolean(rand))
                jobs[i].width = 1 + jobs[i].width / 3;
            jobs[i].run = exact ? limit : g_rand_int_range(rand, 0, (gint32)limit + 1);
            played[i] = jobs[i];
        }
        struct replay r = { .config = { .name = policy, .nodes = 1, .cores_per_node = PROCESSORS, .depth = depth },
                            .kill = true };
        replay_run(&r, played, COUNT);
        model_run(jobs, COUNT, PROCESSORS, depth, conservative);
        for (guint i = 0; i < COUNT; i++) {
            CU_ASSERT_EQUAL(played[i].start, jobs[i].start);
            waited += played[i].start > played[i].submit;
        }
    }
    CU_ASSERT_TRUE(waited > 10 * rounds);
}

static void test_random_easy(void)
{
    compare_random("easy", 1, false, true, 50);
    compare_random("easy", 1, false, false, 50);
    compare_random("easy", 3, false, false, 50);
}

static void test_random_conservative(void)
{
    compare_random("conservative", 0, true, true, 50);
    compare_random("conservative", 0, true, false, 50);
}

/* --- drivers that are not ideal --- */

/* Without a kill jobs overrun their limits; everything still starts, and never on processors in use. */
static void test_overrun(void)
{
    static const char *const policies[] = { "fcfs", "sjf", "easy", "easy-sjf", "conservative" };
    g_autoptr(GRand) rand = g_rand_new_with_seed(3);
    for (size_t p = 0; p < G_N_ELEMENTS(policies); p++)
        for (int by = 0; by < 2; by++) {
            struct replay_job jobs[200];
            int64_t now = 0;
            for (guint i = 0; i < 200; i++) {
                now += g_rand_int_range(rand, 0, 8);
                jobs[i] = (struct replay_job){ .submit = now, .width = (uint32_t)g_rand_int_range(rand, 1, 9),
                                               .limit = g_rand_int_range(rand, 0, 20),
                                               .run = g_rand_int_range(rand, 0, 40) };
            }
            struct replay r = { .config = { .name = policies[p], .nodes = 1, .cores_per_node = 8,
                                            .by = (enum policy_by)by, .depth = 2 }, .one_by_one = by == 1 };
            replay_run(&r, jobs, 200);
            for (guint i = 0; i < 200; i++)
                CU_ASSERT_TRUE(jobs[i].start >= jobs[i].submit);
            CU_ASSERT_TRUE(r.widest_use <= 8);
            /* one decision an event, and few more: no busy waiting for jobs that are overdue */
            CU_ASSERT_TRUE(r.passes <= 1200);
        }
}

/* Machines in use at the same time are different ones, and promises of conservative hold when run times are exact. */
static void test_machines_disjoint(void)
{
    static const char *const policies[] = { "easy", "easy-sjf", "conservative" };
    g_autoptr(GRand) rand = g_rand_new_with_seed(11);
    for (size_t p = 0; p < G_N_ELEMENTS(policies); p++) {
        struct replay_job jobs[150];
        int64_t now = 0;
        for (guint i = 0; i < 150; i++) {
            now += g_rand_int_range(rand, 0, 6);
            int64_t limit = g_rand_int_range(rand, 1, 30);
            jobs[i] = (struct replay_job){ .submit = now, .width = (uint32_t)g_rand_int_range(rand, 1, 20),
                                           .limit = limit, .run = g_rand_int_range(rand, 1, (gint32)limit + 1) };
        }
        struct replay r = { .config = { .name = policies[p], .nodes = 1, .cores_per_node = 70,
                                        .by = POLICY_BY_MACHINES }, .kill = true, .keep_machines = true };
        replay_run(&r, jobs, 150);
        for (guint i = 0; i < 150; i++)
            for (guint j = 0; j < i; j++) {
                if (jobs[i].start >= jobs[j].end || jobs[j].start >= jobs[i].end)
                    continue;
                for (uint32_t a = 0; a < jobs[i].machines->count; a++)
                    for (uint32_t b = 0; b < jobs[j].machines->count; b++) {
                        const struct core_span *x = &jobs[i].machines->spans[a], *y = &jobs[j].machines->spans[b];
                        CU_ASSERT_TRUE(x->first_core + x->cores <= y->first_core ||
                                       y->first_core + y->cores <= x->first_core);
                    }
            }
        for (guint i = 0; i < 150; i++) {
            CU_ASSERT_EQUAL(allocation_cores(jobs[i].machines), jobs[i].width);
            allocation_free(jobs[i].machines);
        }
    }
}

/* Whole nodes and jobs within a node, planned by machines: 2 nodes of 4 cores. */
static void test_nodes_planned(void)
{
    struct policy_config config = { .name = "easy", .nodes = 2, .cores_per_node = 4, .by = POLICY_BY_MACHINES };
    struct policy *p = policy_new(&config, NULL);
    struct policy_start start;
    struct policy_job jobs[] = {
        { 1, 0, 10, 16, { .slots = 1, .cores_per_slot = 3 } },
        { 2, 0, 20, 16, { .slots = 1, .cores_per_slot = 3 } },
        { 3, 0, 5, 16, { .slots = 1, .cores_per_slot = 2 } },                       /* 1 + 1 free: not on one node */
        { 4, 0, 30, 16, { .nodes = 1, .slots = 1, .cores_per_slot = 1, .exclusive = true } },
        { 5, 0, 9, 16, { .slots = 2, .cores_per_slot = 1 } },                       /* anywhere */
    };
    for (int i = 0; i < 5; i++)
        CU_ASSERT_TRUE(policy_submit(p, 0, &jobs[i]));
    const uint64_t first[] = { 1, 2, 5 };
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_TRUE_FATAL(policy_next(p, 0, &start));
        CU_ASSERT_EQUAL(start.id, first[i]);
    }
    CU_ASSERT_FALSE(policy_next(p, 0, &start));
    policy_end(p, 9, 5);
    CU_ASSERT_FALSE(policy_next(p, 9, &start));
    policy_end(p, 10, 1);
    CU_ASSERT_TRUE(policy_next(p, 10, &start));
    CU_ASSERT_EQUAL(start.id, 3);
    CU_ASSERT_EQUAL(start.allocation->spans[0].node, 0);
    CU_ASSERT_FALSE(policy_next(p, 10, &start));
    policy_end(p, 15, 3);
    CU_ASSERT_TRUE(policy_next(p, 15, &start));
    CU_ASSERT_EQUAL(start.id, 4);
    CU_ASSERT_EQUAL(allocation_cores(start.allocation), 4);
    struct bytes b = BYTES_INIT;
    policy_save(p, &b);
    CU_ASSERT_TRUE(b.size > 100);
    bytes_release(&b);
    policy_free(p);
}

/* A promised job that is withdrawn frees its place; higher priority overtakes; one decision a call. */
static void test_cancel_and_priority(void)
{
    static const char *const policies[] = { "easy", "easy-sjf", "conservative" };
    for (size_t i = 0; i < G_N_ELEMENTS(policies); i++) {
        struct policy_config config = { .name = policies[i], .nodes = 1, .cores_per_node = 4 };
        struct policy *p = policy_new(&config, NULL);
        struct policy_start start;
        struct policy_job jobs[] = { { 1, 0, 10, 16, { .slots = 3, .cores_per_slot = 1 } },
                                     { 2, 0, 10, 16, { .slots = 4, .cores_per_slot = 1 } },
                                     { 3, 0, 99, 16, { .slots = 1, .cores_per_slot = 1 } },
                                     { 4, 1, 50, 31, { .slots = 1, .cores_per_slot = 1 } } };
        for (int j = 0; j < 3; j++)
            policy_submit(p, 0, &jobs[j]);
        CU_ASSERT_TRUE(policy_next(p, 0, &start));
        CU_ASSERT_FALSE(policy_next(p, 0, &start));     /* 3 would delay 2 */
        CU_ASSERT_FALSE(policy_ready(p));
        CU_ASSERT_TRUE(policy_submit(p, 1, &jobs[3]));
        CU_ASSERT_TRUE(policy_next(p, 1, &start));      /* 4 stands before 2 */
        CU_ASSERT_EQUAL(start.id, 4);
        CU_ASSERT_FALSE(policy_next(p, 1, &start));
        policy_end(p, 2, 4);
        CU_ASSERT_FALSE(policy_next(p, 2, &start));
        CU_ASSERT_TRUE(policy_cancel(p, 3, 2));
        CU_ASSERT_TRUE(policy_ready(p));
        CU_ASSERT_TRUE(policy_next(p, 3, &start));
        CU_ASSERT_EQUAL(start.id, 3);
        CU_ASSERT_FALSE(policy_next(p, 3, &start));
        policy_free(p);
    }
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "fcfs, easy and conservative give three schedules", test_three_policies },
        { "plans use limits, ends use run times", test_early_end },
        { "counting processors or naming machines changes the answer", test_counting_or_naming },
        { "conservative holds the third job's promise", test_conservative_case },
        { "shortest first backfills the short job first", test_shortest_first },
        { "jobs of no length take and give back within an instant", test_zero_length },
        { "too wide is rejected, no limit is for ever", test_wide_and_endless },
        { "easy agrees with its definition on random jobs", test_random_easy },
        { "conservative agrees with its definition on random jobs", test_random_conservative },
        { "jobs that overrun their limit break nothing", test_overrun },
        { "machines in use at once are different machines", test_machines_disjoint },
        { "jobs within nodes and whole nodes are planned", test_nodes_planned },
        { "withdrawal and priority change the plan", test_cancel_and_priority },
        { NULL, NULL },
    };
    return suite_run("schedules", tests);
}
