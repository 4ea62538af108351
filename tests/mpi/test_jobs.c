/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole instances: jobs from the client to their end, on all processes together and on each alone.
 */
#include "../unit/suite.h"

#include <string.h>

#include "job_run.h"

#define TOTAL(role, metric) job_run_total(&run, role, metric)

/* How many jobs ended, in whichever way the job manager saw. */
static uint64_t jobs_ended(const struct job_run *run)
{
    return job_run_total(run, "job-manager", "completed") + job_run_total(run, "job-manager", "failed") +
           job_run_total(run, "job-manager", "killed") + job_run_total(run, "job-manager", "cancelled") +
           job_run_total(run, "job-manager", "rejected");
}

/* What holds in every run that came to its end. */
static void check_balances(const struct job_run *r)
{
    const struct job_run run = *r;
    CU_ASSERT_PTR_NULL_FATAL(run.error);
    CU_ASSERT_EQUAL(run.result.end, ENGINE_ENDED);
    CU_ASSERT_EQUAL(run.result.held, 0);
    CU_ASSERT_EQUAL(run.result.pending, 0);
    CU_ASSERT_EQUAL(run.result.sent, run.result.handled + run.result.pending_background);
    CU_ASSERT_EQUAL(TOTAL("client", "submitted"), run.jobs);
    CU_ASSERT_EQUAL(TOTAL("client", "submitted"), TOTAL("client", "ended") + TOTAL("client", "refused"));
    CU_ASSERT_EQUAL(TOTAL("client", "ended"), TOTAL("job-manager", "submitted"));
    CU_ASSERT_EQUAL(jobs_ended(&run), TOTAL("job-manager", "submitted"));
    uint64_t ran = jobs_ended(&run) - TOTAL("job-manager", "rejected");
    CU_ASSERT_EQUAL(TOTAL("scheduler", "allocations"), ran);
    CU_ASSERT_EQUAL(TOTAL("scheduler", "freed"), ran);
    CU_ASSERT_EQUAL(TOTAL("job-exec", "starts"), ran);
    CU_ASSERT_EQUAL(TOTAL("job-exec", "releases"), ran);
    CU_ASSERT_EQUAL(TOTAL("executor", "shells"), ran);
    CU_ASSERT_EQUAL(TOTAL("executor", "tasks"), ran);
    CU_ASSERT_EQUAL(TOTAL("executor", "watches"), ran);
    /* 14 transactions of its own a job; the others are shared */
    CU_ASSERT_EQUAL(TOTAL("scheduler", "commits_own"), ran);
    CU_ASSERT_EQUAL(TOTAL("job-exec", "commits_own"), 6 * ran);
    CU_ASSERT_EQUAL(TOTAL("job-exec", "commits_own_link"), ran);
    CU_ASSERT_EQUAL(TOTAL("job-exec", "commits_own_copy"), ran);
    CU_ASSERT_EQUAL(TOTAL("executor", "commits_own"), 5 * ran);
    /* five transitions and seven entries a job; a killed one has an exception more */
    CU_ASSERT_EQUAL(TOTAL("job-manager", "transitions"), 5 * ran + 4 * TOTAL("job-manager", "rejected"));
    CU_ASSERT_EQUAL(TOTAL("job-manager", "entries"),
                    7 * ran + 3 * TOTAL("job-manager", "rejected") + TOTAL("job-manager", "killed"));
    CU_ASSERT_EQUAL(TOTAL("broker", "published_created"), ran);
    CU_ASSERT_EQUAL(TOTAL("broker", "published_removed"), ran);
    CU_ASSERT_EQUAL(TOTAL("broker", "published_error"), 0);
    CU_ASSERT_EQUAL(TOTAL("broker", "published_job_state"), TOTAL("job-manager", "commits_shared"));
}

static void check_rows(const struct job_run *run)
{
    for (guint i = 0; i < run->rows->len; i++) {
        const struct job_row *row = &g_array_index(run->rows, struct job_row, i);
        int64_t sum = 0, length;
        for (unsigned s = 0; s < JOB_STAGES; s++) {
            CU_ASSERT_TRUE(job_stage_ns(row, s, &length));
            CU_ASSERT(length >= 0);
            sum += length;
        }
        CU_ASSERT_EQUAL(sum, row->times[JOB_TIME_CLEAN] - row->times[JOB_TIME_SUBMIT]);
        CU_ASSERT(row->node < run->inst.nodes);
        CU_ASSERT_EQUAL(row->cores, run->slots);
        for (unsigned t = 0; t < JOB_TIMES; t++)
            CU_ASSERT(row->times[t] > 0);
    }
}

static bool is_first_process(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
}

/* The same run on this process alone must give the same digest. */
static void check_alone(const struct job_run *together)
{
    struct job_run alone;
    job_run_init(&alone);
    GArray *rows = alone.rows;
    alone = *together;
    alone.rows = rows;
    alone.error = NULL;
    memset(alone.totals, 0, sizeof alone.totals);
    memset(alone.sums, 0, sizeof alone.sums);
    alone.explicit_inbox = true;
    job_run_go(&alone, MPI_COMM_SELF);
    CU_ASSERT_PTR_NULL(alone.error);
    CU_ASSERT_EQUAL(alone.result.digest[0], together->result.digest[0]);
    CU_ASSERT_EQUAL(alone.result.digest[1], together->result.digest[1]);
    CU_ASSERT_EQUAL(memcmp(alone.totals, together->totals, sizeof alone.totals), 0);
    CU_ASSERT_EQUAL(memcmp(alone.sums, together->sums, sizeof alone.sums), 0);
    job_run_release(&alone);
}

static void run_and_check(struct job_run *run)
{
    job_run_go(run, MPI_COMM_WORLD);
    if (run->error != NULL)
        fprintf(stderr, "%s\n", run->error);
    check_balances(run);
    check_alone(run);
}

static void test_one_node(void)
{
    struct job_run run;
    job_run_init(&run);
    run.inst.nodes = 1;
    run_and_check(&run);
    CU_ASSERT_EQUAL(TOTAL("job-manager", "completed"), 4);
    if (is_first_process()) {
        CU_ASSERT_EQUAL(run.rows->len, 4);
        check_rows(&run);
    }
    job_run_release(&run);
}

/* Subscribe and unsubscribe calls for a guest namespace: of the kvs on node 0, of each kvs on the path from the job's
 * node up to node 0, and of the watcher when the input watch began. */
struct scheme_calls {
    const char *name;
    unsigned root, follower, watcher;
};

static void check_calls(const struct job_run *r, const struct scheme_calls *calls)
{
    const struct job_run run = *r;
    uint64_t followers = 0;
    for (guint i = 0; i < run.rows->len; i++)
        followers += instance_depth(&run.inst, g_array_index(run.rows, struct job_row, i).node) * calls->follower;
    CU_ASSERT_EQUAL(TOTAL("kvs-root", "namespace_calls"), calls->root * run.jobs);
    CU_ASSERT_EQUAL(TOTAL("watcher", "namespace_calls"), calls->watcher * TOTAL("watcher", "guest_monitors"));
    CU_ASSERT_EQUAL(TOTAL("kvs-worker", "namespace_calls"), followers);
}

static void test_schemes(void)
{
    static const struct scheme_calls calls[] = { { "v0.16", 5, 5, 6 }, { "pr2777", 0, 6, 6 }, { "pr2792", 0, 2, 2 } };
    static const int64_t durations_ns[] = { 0, 20000000, 5 * INT64_C(1000000000) };
    for (unsigned i = 0; i < G_N_ELEMENTS(calls) * G_N_ELEMENTS(durations_ns); i++) {
        const struct scheme_calls *expected = &calls[i / G_N_ELEMENTS(durations_ns)];
        struct job_run run;
        job_run_init(&run);
        run.inst.scheme = scheme_find(expected->name);
        run.inst.nodes = 5;
        run.inst.alloc_limit = INSTANCE_ALLOC_UNLIMITED;
        run.jobs = 12;
        run.duration_ns = durations_ns[i % G_N_ELEMENTS(durations_ns)];
        run_and_check(&run);
        CU_ASSERT_EQUAL(TOTAL("job-manager", "completed"), 12);
        if (run.duration_ns > 1000000000)
            CU_ASSERT_EQUAL(TOTAL("watcher", "guest_monitors"), 12);
        if (is_first_process()) {
            check_rows(&run);
            check_calls(&run, expected);
        }
        job_run_release(&run);
    }
}

static void test_unmerged(void)
{
    struct job_run run;
    job_run_init(&run);
    run.inst.merge = false;
    run.inst.alloc_limit = INSTANCE_ALLOC_UNLIMITED;
    run_and_check(&run);
    uint64_t own = 14 * 4;
    CU_ASSERT_EQUAL(TOTAL("broker", "published_setroot"),
                    own + TOTAL("ingest", "commits_shared") + TOTAL("job-manager", "commits_shared"));
    job_run_release(&run);
}

static void test_single(void)
{
    struct job_run run;
    job_run_init(&run);
    run.inst.alloc_limit = 1;
    run.inst.nodes = 1;
    run.inst.cores_per_node = 1;        /* so jobs run one after the other */
    run.duration_ns = 100000000;
    run_and_check(&run);
    if (is_first_process()) {
        CU_ASSERT_EQUAL_FATAL(run.rows->len, 4);
        for (guint i = 1; i < 4; i++) {
            const struct job_row *row = &g_array_index(run.rows, struct job_row, i);
            CU_ASSERT(row->times[JOB_TIME_ALLOC] >= row[-1].times[JOB_TIME_RELEASE]);
            CU_ASSERT(row->id > row[-1].id);
        }
    }
    job_run_release(&run);
}

static void test_wide_jobs(void)
{
    struct job_run run;
    job_run_init(&run);
    run.slots = 2;                      /* both cores of a node: one job a node */
    run.duration_ns = 100000000;
    run_and_check(&run);
    CU_ASSERT_EQUAL(TOTAL("job-manager", "completed"), 4);
    if (is_first_process())
        check_rows(&run);
    job_run_release(&run);
}

static void test_rejected(void)
{
    static const uint32_t shapes[][2] = { { 0, 3 }, { 2, 1 }, { 1, 3 } };   /* nodes, slots: wider than one node of 2 */
    for (unsigned i = 0; i < G_N_ELEMENTS(shapes); i++) {
        struct job_run run;
        job_run_init(&run);
        run.nodes_per_job = shapes[i][0];
        run.slots = shapes[i][1];
        run_and_check(&run);
        CU_ASSERT_EQUAL(TOTAL("job-manager", "rejected"), 4);
        CU_ASSERT_EQUAL(TOTAL("scheduler", "denials"), 4);
        if (is_first_process()) {
            CU_ASSERT_EQUAL_FATAL(run.rows->len, 4);
            const struct job_row *row = &g_array_index(run.rows, struct job_row, 0);
            CU_ASSERT_EQUAL(row->result, JOB_REJECTED);
            CU_ASSERT_EQUAL(row->times[JOB_TIME_ALLOC], JOB_NEVER);
            CU_ASSERT_EQUAL(row->node, UINT32_MAX);
        }
        job_run_release(&run);
    }
}

static void test_limit(void)
{
    struct job_run run;
    job_run_init(&run);
    run.duration_ns = 100 * INT64_C(1000000000);
    run.limit_ns = 3 * INT64_C(1000000000);
    run_and_check(&run);
    CU_ASSERT_EQUAL(TOTAL("job-manager", "killed"), 4);
    CU_ASSERT_EQUAL(TOTAL("executor", "signalled"), 4);
    CU_ASSERT(run.result.end_ns < 20 * INT64_C(1000000000));
    job_run_release(&run);
}

static void test_short_limit(void)
{
    struct job_run run;
    job_run_init(&run);
    run.duration_ns = 100 * INT64_C(1000000000);
    run.limit_ns = 1000000000;
    run.inst.costs.executor_connect.fixed_ns = 2 * INT64_C(1000000000);     /* over before the task runs */
    run_and_check(&run);
    CU_ASSERT_EQUAL(TOTAL("job-manager", "killed"), 4);
    CU_ASSERT_EQUAL(TOTAL("executor", "signalled"), 4);
    job_run_release(&run);
}

static void test_watches(void)
{
    struct job_run run;
    job_run_init(&run);
    run.duration_ns = 5 * INT64_C(1000000000);      /* every watch starts */
    run_and_check(&run);
    CU_ASSERT_EQUAL(TOTAL("executor", "watched"), 4);
    job_run_release(&run);

    job_run_init(&run);
    run.duration_ns = 0;
    run.inst.watch_forced = true;
    run_and_check(&run);
    CU_ASSERT_EQUAL(TOTAL("executor", "watched"), 4);
    job_run_release(&run);
}

static void test_window(void)
{
    struct job_run run;
    job_run_init(&run);
    run.jobs = 5;
    run.setup.submit_window = 1;
    run_and_check(&run);
    CU_ASSERT_EQUAL(TOTAL("ingest", "batches"), 5);     /* each waits for the answer to the one before */
    job_run_release(&run);

    job_run_init(&run);
    run.jobs = 3;                       /* checked within one window */
    run.inst.queue_stopped = false;
    run_and_check(&run);
    CU_ASSERT_EQUAL(TOTAL("ingest", "batches"), 1);
    job_run_release(&run);
}

static void test_no_jobs(void)
{
    struct job_run run;
    job_run_init(&run);
    run.jobs = 0;
    run_and_check(&run);
    job_run_release(&run);
}

/* 1100 jobs within a millisecond. They are wider than a node, so that little else happens. */
static void test_many_ids(void)
{
    struct job_run run;
    job_run_init(&run);
    run.inst.nodes = 1;
    run.inst.alloc_limit = INSTANCE_ALLOC_UNLIMITED;
    run.jobs = 1100;
    run.slots = 3;
    struct instance_costs *costs = &run.inst.costs;
    costs->client_submit = costs->ingest_request = costs->broker_route = (struct cost){ 0, 0, 0 };
    costs->ingest_validate = costs->ingest_validator = (struct cost){ 0, 0, 0 };
    run_and_check(&run);
    CU_ASSERT_EQUAL(TOTAL("ingest", "id_waits"), 1100 - 1024);
    job_run_release(&run);
}

static void test_stopped(void)
{
    struct job_run run;
    job_run_init(&run);
    run.duration_ns = 100 * INT64_C(1000000000);
    run.stop_after_ns = 10 * INT64_C(1000000000);
    job_run_go(&run, MPI_COMM_WORLD);
    CU_ASSERT_PTR_NULL_FATAL(run.error);
    CU_ASSERT_EQUAL(run.result.end, ENGINE_STOPPED);
    CU_ASSERT_EQUAL(TOTAL("job-manager", "submitted"), 4);
    CU_ASSERT_EQUAL(jobs_ended(&run), 0);
    check_alone(&run);
    job_run_release(&run);
}

int main(int argc, char **argv)
{
    static const struct suite_test tests[] = {
        { "a node runs jobs to their end", test_one_node },
        { "each event scheme makes its calls, to the last one", test_schemes },
        { "without merge every transaction is a new root", test_unmerged },
        { "on one core jobs follow one another", test_single },
        { "a job of several slots holds them", test_wide_jobs },
        { "a job wider than a node is rejected", test_rejected },
        { "a job that overruns its limit is killed", test_limit },
        { "a limit that is over before the task runs kills it", test_short_limit },
        { "watches begin when jobs are long, or when forced", test_watches },
        { "a submission window delays submissions", test_window },
        { "no jobs are no problem", test_no_jobs },
        { "the 1025th id of a millisecond waits", test_many_ids },
        { "a run that is stopped leaves its jobs unfinished", test_stopped },
        { NULL, NULL }
    };
    MPI_Init(&argc, &argv);
    int status = suite_run("jobs", tests);
    MPI_Finalize();
    return status;
}
