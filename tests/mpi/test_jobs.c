/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole instances: jobs from the client to their end, on all processes together and on each alone.
 */
#include "../unit/suite.h"

#include <errno.h>
#include <string.h>

#include "job_run.h"
#include "ranks/route.h"
#include "workload/jobspec.h"

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
    CU_ASSERT_EQUAL(TOTAL("kvs-root", "transactions"),
                    14 * ran + TOTAL("ingest", "commits_shared") + TOTAL("job-manager", "commits_shared"));
    CU_ASSERT_EQUAL(TOTAL("broker", "published_setroot") + TOTAL("kvs-root", "merged"),
                    TOTAL("kvs-root", "transactions"));
    /* each event floods the tree once */
    uint64_t others = run.inst.nodes - 1;
    CU_ASSERT_EQUAL(TOTAL("broker", "overlay_kvs"), others * (TOTAL("broker", "published_setroot") + 2 * ran));
    CU_ASSERT_EQUAL(TOTAL("broker", "overlay_job_state"), others * TOTAL("broker", "published_job_state"));
    CU_ASSERT_EQUAL(TOTAL("broker", "overlay_heartbeat"), others * TOTAL("broker", "published_heartbeat"));
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
    unsigned root_leak, follower_leak;      /* entries left in the list of its broker */
};

static void check_calls(const struct job_run *r, const struct scheme_calls *calls)
{
    const struct job_run run = *r;
    uint64_t uses = 0;      /* of a namespace by a kvs other than node 0's */
    for (guint i = 0; i < run.rows->len; i++)
        uses += instance_depth(&run.inst, g_array_index(run.rows, struct job_row, i).node);
    CU_ASSERT_EQUAL(TOTAL("kvs-root", "namespace_calls"), calls->root * run.jobs);
    CU_ASSERT_EQUAL(TOTAL("watcher", "namespace_calls"), calls->watcher * TOTAL("watcher", "guest_monitors"));
    CU_ASSERT_EQUAL(TOTAL("kvs-worker", "namespace_calls"), calls->follower * uses);
    CU_ASSERT_EQUAL(TOTAL("kvs-root", "entries_added") - TOTAL("kvs-root", "entries_removed"),
                    calls->root_leak * run.jobs);
    CU_ASSERT_EQUAL(TOTAL("kvs-worker", "entries_added") - TOTAL("kvs-worker", "entries_removed"),
                    calls->follower_leak * uses);
    CU_ASSERT_EQUAL(TOTAL("watcher", "entries_added"), TOTAL("watcher", "entries_removed"));
}

static void test_schemes(void)
{
    static const struct scheme_calls calls[] = { { "v0.16", 5, 5, 6, 1, 1 }, { "pr2777", 0, 6, 6, 0, 2 },
                                                 { "pr2792", 0, 2, 2, 0, 0 } };
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

static void submit_job(struct actor *self, int64_t duration_ns)
{
    const struct instance *inst = actor_setup(self);
    struct workload_job job = {
        .slots = 1, .cores_per_slot = 1, .duration_ns = duration_ns, .limit_ns = WORKLOAD_NO_LIMIT
    };
    GString *spec = jobspec_write(&job);
    struct bytes body = BYTES_INIT;
    bytes_put_u8(&body, 16);
    bytes_put_span(&body, spec->str, spec->len);
    route_send(self, instance_ingest(inst, 0), INGEST_SUBMIT, 0, &body);
    bytes_release(&body);
    g_string_free(spec, TRUE);
}

static void send_about_job(struct actor *self, uint64_t id, uint16_t kind)
{
    struct bytes body = BYTES_INIT;
    bytes_put_u64(&body, id);
    route_send(self, instance_job_manager(actor_setup(self)), kind, 0, &body);
    bytes_release(&body);
}

/* A client that submits one job after the other and withdraws each of them some time after its submission, a little
 * later each time: so every point of a job's path is met. */
struct canceller {
    uint64_t submitted;
    uint64_t id;
    uint64_t gone;          /* cancellations that came when the job was no more */
};

enum { CANCELLER_STEP_NS = 6100000, CANCELLER_JOBS = 60 };

static void canceller_submit(struct actor *self, struct canceller *c)
{
    c->submitted++;
    submit_job(self, 50000000);
}

static void canceller_init(struct actor *self, const void *setup)
{
    (void)setup;
    canceller_submit(self, actor_state(self));
}

static void canceller_handle(struct actor *self, const struct message *m)
{
    struct canceller *c = actor_state(self);
    if (m->kind == CLIENT_NEXT) {
        send_about_job(self, c->id, JOB_MANAGER_CANCEL);
        return;
    }
    struct envelope env;
    struct cursor body = route_open(self, m, &env);
    switch (m->kind) {
    case INGEST_SUBMIT | KIND_REPLY:
        c->id = cursor_u64(&body);
        send_about_job(self, c->id, JOB_MANAGER_WAIT);
        actor_timer(self, (int64_t)(c->submitted - 1) * CANCELLER_STEP_NS, CLIENT_NEXT, 0);
        return;
    case JOB_MANAGER_CANCEL | KIND_REPLY:
        c->gone += env.error != 0;
        return;
    default:
        CU_ASSERT_EQUAL(m->kind, JOB_MANAGER_WAIT | KIND_REPLY);
        CU_ASSERT_EQUAL(env.error, 0);
        CU_ASSERT_EQUAL(cursor_u64(&body), c->id);
        if (c->submitted < CANCELLER_JOBS)
            canceller_submit(self, c);
    }
}

static void canceller_save(const struct actor *self, struct bytes *sink)
{
    const struct canceller *c = actor_state(self);
    bytes_put_u64(sink, c->submitted);
    bytes_put_u64(sink, c->gone);
}

static const struct kind_name canceller_kinds[] = {
    { CLIENT_NEXT, "next", "the cancellation is due" },
    { 0, NULL, NULL }
};

static const struct role role_canceller = {
    .name = "canceller", .text = "withdraws the jobs that it submits", .state_size = sizeof(struct canceller),
    .kinds = canceller_kinds, .init = canceller_init, .handle = canceller_handle, .save = canceller_save,
};

static void test_cancel(void)
{
    struct job_run run;
    job_run_init(&run);
    run.client = &role_canceller;
    run.inst.costs.scheduler_request.fixed_ns = 4000000;
    run.inst.costs.kvs_namespace.fixed_ns = 20000000;
    job_run_go(&run, MPI_COMM_WORLD);
    CU_ASSERT_PTR_NULL_FATAL(run.error);
    check_alone(&run);
    uint64_t cancelled = TOTAL("job-manager", "cancelled"), completed = TOTAL("job-manager", "completed");
    CU_ASSERT_EQUAL(cancelled + completed, CANCELLER_JOBS);
    CU_ASSERT(cancelled > 20 && completed > 5);
    CU_ASSERT_EQUAL(TOTAL("scheduler", "allocations"), TOTAL("scheduler", "freed"));
    CU_ASSERT_EQUAL(TOTAL("job-exec", "starts"), TOTAL("job-exec", "releases"));
    CU_ASSERT_EQUAL(TOTAL("job-exec", "launches"), TOTAL("executor", "shells"));
    CU_ASSERT_EQUAL(TOTAL("broker", "published_created"), TOTAL("broker", "published_removed"));
    /* they were met while they waited, while they were prepared, and while they ran */
    CU_ASSERT(TOTAL("scheduler", "allocations") < CANCELLER_JOBS);
    CU_ASSERT(TOTAL("job-exec", "launches") < TOTAL("job-exec", "starts"));
    CU_ASSERT(TOTAL("executor", "signalled") > 5);
    job_run_release(&run);
}

/* A client that submits long jobs, of which one can run, and then withdraws them all, the last one first. */
struct withdrawer {
    uint32_t answered;
    uint32_t ended;
    uint64_t ids[4];
};

static void withdrawer_init(struct actor *self, const void *setup)
{
    (void)setup;
    for (unsigned i = 0; i < 4; i++)
        submit_job(self, 100 * INT64_C(1000000000));
}

static void withdrawer_handle(struct actor *self, const struct message *m)
{
    struct withdrawer *w = actor_state(self);
    if (m->kind == CLIENT_NEXT) {
        for (unsigned i = 4; i-- > 0;)
            send_about_job(self, w->ids[i], JOB_MANAGER_CANCEL);
        send_about_job(self, 17, JOB_MANAGER_CANCEL);
        return;
    }
    struct envelope env;
    struct cursor body = route_open(self, m, &env);
    if (m->kind == (INGEST_SUBMIT | KIND_REPLY)) {
        w->ids[w->answered++] = cursor_u64(&body);
        send_about_job(self, 0, JOB_MANAGER_WAIT);
        if (w->answered == 4)
            actor_timer(self, 1000000000, CLIENT_NEXT, 0);
    } else if (m->kind == (JOB_MANAGER_CANCEL | KIND_REPLY)) {
        CU_ASSERT_EQUAL(env.error, w->answered++ < 8 ? 0 : ENOENT);
    } else {
        CU_ASSERT_EQUAL(env.error, w->ended < 4 ? 0 : ECHILD);
        if (w->ended++ >= 4)
            return;
        /* the three that wait end before the one that runs */
        CU_ASSERT_EQUAL(cursor_u64(&body), w->ids[4 - w->ended]);
        CU_ASSERT_EQUAL(cursor_u8(&body), 0);
        if (w->ended == 4)
            send_about_job(self, 0, JOB_MANAGER_WAIT);      /* for nothing */
    }
}

static void withdrawer_save(const struct actor *self, struct bytes *sink)
{
    const struct withdrawer *w = actor_state(self);
    bytes_put_u32(sink, w->answered);
    bytes_put_u32(sink, w->ended);
}

static const struct role role_withdrawer = {
    .name = "withdrawer", .text = "withdraws jobs that wait", .state_size = sizeof(struct withdrawer),
    .kinds = canceller_kinds, .init = withdrawer_init, .handle = withdrawer_handle, .save = withdrawer_save,
};

static void test_cancel_waiting(void)
{
    static const uint32_t limits[] = { 1, 2, INSTANCE_ALLOC_UNLIMITED };
    for (unsigned i = 0; i < G_N_ELEMENTS(limits); i++) {
        struct job_run run;
        job_run_init(&run);
        run.client = &role_withdrawer;
        run.inst.nodes = 1;
        run.inst.cores_per_node = 1;
        run.inst.alloc_limit = limits[i];
        job_run_go(&run, MPI_COMM_WORLD);
        CU_ASSERT_PTR_NULL_FATAL(run.error);
        check_alone(&run);
        CU_ASSERT_EQUAL(TOTAL("job-manager", "cancelled"), 4);
        CU_ASSERT_EQUAL(TOTAL("scheduler", "allocations"), 1);
        CU_ASSERT_EQUAL(TOTAL("scheduler", "freed"), 1);
        CU_ASSERT_EQUAL(TOTAL("executor", "signalled"), 1);
        job_run_release(&run);
    }
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
        { "a job can be withdrawn at any time", test_cancel },
        { "jobs that wait can be withdrawn", test_cancel_waiting },
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
