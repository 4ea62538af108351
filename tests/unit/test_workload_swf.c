/* SPDX-License-Identifier: BSD-3-Clause */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/error.h"
#include "suite.h"
#include "test_sched_replay.h"
#include "workload/swf.h"

#define SECOND G_GINT64_CONSTANT(1000000000)

static const struct swf_rules usual = { 0 };

static char *path_of(const char *name)
{
    const char *source = g_getenv("srcdir");
    return g_build_filename(source == NULL ? "." : source, "tests", "workloads", name, NULL);
}

static struct workload *open_file(const char *name, const struct swf_rules *rules)
{
    g_autofree char *path = path_of(name);
    GError *error = NULL;
    struct workload *w = workload_swf_new(path, rules, &error);
    if (w == NULL)
        fprintf(stderr, "\n  %s\n", error->message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    return w;
}

static uint64_t count_of(const struct workload *w, enum swf_count kind)
{
    size_t number;
    const struct workload_count *counts = workload_counts(w, &number);
    CU_ASSERT_EQUAL(number, SWF_COUNTS);
    return counts[kind].count;
}

/* Takes all jobs: their numbers, submit, run and limit in seconds, and widths must be these. */
struct expected {
    uint64_t number;
    double submit, run, limit;
    uint32_t width;
};

static void check_jobs(struct workload *w, const struct expected *expected, size_t count)
{
    struct workload_job job;
    GError *error = NULL;
    CU_ASSERT_EQUAL(workload_jobs(w), count + workload_held(w));
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_TRUE_FATAL(workload_next(w, &job, &error));
        CU_ASSERT_EQUAL(job.number, expected[i].number);
        CU_ASSERT_EQUAL(job.submit_ns, (int64_t)(expected[i].submit * 1e9));
        CU_ASSERT_EQUAL(job.duration_ns, (int64_t)(expected[i].run * 1e9));
        CU_ASSERT_EQUAL(job.limit_ns, expected[i].limit < 0 ? WORKLOAD_NO_LIMIT : (int64_t)(expected[i].limit * 1e9));
        CU_ASSERT_EQUAL(job.slots, expected[i].width);
        CU_ASSERT_EQUAL(job.cores_per_slot, 1);
        CU_ASSERT_EQUAL(job.nodes, 0);
    }
    CU_ASSERT_FALSE(workload_next(w, &job, &error));
    CU_ASSERT_PTR_NULL(error);
}

static void test_odd(void)
{
    const struct expected expected[] = {
        { 1, 0, 10, 10, 2 }, { 2, 5, 10, 10, 2 }, { 3, 6, 7, 7, 2 }, { 4, 7, 5, 10, 3 }, { 5, 8, 5, 10, 2 },
        { 11, 13, 0, 10, 2 }, { 13, 15, 5, 10, 99 }, { 15, 18, 4, 10, 2 }, { 16, 19.25, 3.125, 10.5, 2 },
    };
    struct workload *w = open_file("odd.swf", &usual);
    const struct swf_header *header = workload_swf_header(w);
    CU_ASSERT_EQUAL(header->max_procs, 8);
    CU_ASSERT_EQUAL(header->max_nodes, 2);
    CU_ASSERT_EQUAL(header->processors, 8);
    CU_ASSERT_EQUAL(header->widest, 99);
    CU_ASSERT_EQUAL(header->unix_start_time, 1000000000);
    const uint64_t counts[SWF_COUNTS] = {
        [SWF_LINES] = 17, [SWF_DROPPED_SUBMIT] = 1, [SWF_DROPPED_PIECES] = 2, [SWF_DROPPED_CANCELLED] = 2,
        [SWF_DROPPED_PROCESSORS] = 1, [SWF_DROPPED_RUN] = 1, [SWF_DROPPED_LIMIT] = 1, [SWF_OTHER_PROCESSORS] = 1,
        [SWF_PROCESSORS_DIFFER] = 1, [SWF_OVERRUNS] = 1, [SWF_LIMIT_MISSING] = 1, [SWF_ZERO_RUN] = 1,
        [SWF_TOO_WIDE] = 1,
    };
    for (int kind = 0; kind < SWF_COUNTS; kind++) {
        CU_ASSERT_EQUAL(count_of(w, (enum swf_count)kind), counts[kind]);
        size_t number;
        CU_ASSERT_PTR_NOT_NULL(workload_counts(w, &number)[kind].name);
        CU_ASSERT_PTR_NOT_NULL(workload_counts(w, &number)[kind].text);
    }
    check_jobs(w, expected, G_N_ELEMENTS(expected));
    workload_free(w);
}

static void test_rules(void)
{
    const struct expected other[] = {
        { 1, 0, 10, 10, 2 }, { 2, 5, 15, 10, 2 }, { 3, 6, 7, -1, 2 }, { 4, 7, 5, 10, 3 }, { 5, 8, 5, 10, 4 },
        { 13, 15, 5, 10, 99 }, { 14, 16, 5, 10, 2 }, { 14, 17, 5, 10, 2 }, { 15, 18, 4, 10, 2 },
        { 16, 19.25, 3.125, 10.5, 2 },
    };
    struct swf_rules rules = { .overrun = SWF_OVERRUN_KILL, .missing_limit = SWF_LIMIT_NONE, .pieces = SWF_PIECES,
                               .allocated_first = true, .drop_zero_run = true, .processors = 100 };
    struct workload *w = open_file("odd.swf", &rules);
    CU_ASSERT_EQUAL(count_of(w, SWF_TOO_WIDE), 0);
    CU_ASSERT_EQUAL(count_of(w, SWF_DROPPED_RUN), 2);
    CU_ASSERT_EQUAL(workload_swf_header(w)->processors, 100);
    check_jobs(w, other, G_N_ELEMENTS(other));
    workload_free(w);

    const struct expected strict[] = {
        { 1, 0, 10, 10, 2 }, { 4, 7, 5, 10, 3 }, { 5, 8, 5, 10, 2 }, { 11, 13, 0, 10, 2 }, { 13, 15, 5, 10, 99 },
        { 15, 18, 4, 10, 2 }, { 16, 19.25, 3.125, 10.5, 2 },
    };
    rules = (struct swf_rules){ .overrun = SWF_OVERRUN_DROP, .missing_limit = SWF_LIMIT_DROP };
    w = open_file("odd.swf", &rules);
    CU_ASSERT_EQUAL(count_of(w, SWF_DROPPED_OVERRUN), 1);
    CU_ASSERT_EQUAL(count_of(w, SWF_DROPPED_LIMIT), 2);
    check_jobs(w, strict, G_N_ELEMENTS(strict));
    workload_free(w);

    rules = (struct swf_rules){ .overrun = SWF_OVERRUN_EXTEND };
    w = open_file("odd.swf", &rules);
    struct workload_job job;
    CU_ASSERT_TRUE(workload_next(w, &job, NULL) && workload_next(w, &job, NULL));
    CU_ASSERT_EQUAL(job.limit_ns, 15 * SECOND);
    CU_ASSERT_EQUAL(job.duration_ns, 15 * SECOND);
    workload_free(w);
}

/* A checkpointed job: the line of the whole, then its pieces with the same number. */
static void test_pieces(void)
{
    g_autofree char *path = NULL;
    g_close(g_file_open_tmp("tiercel-XXXXXX.swf", &path, NULL), NULL);
    CU_ASSERT_TRUE(g_file_set_contents(path,
        "1 0 0 30 2 -1 -1 2 40 -1 1 1 1 1 1 1 -1 -1\n"
        "1 0 0 10 2 -1 -1 2 40 -1 2 1 1 1 1 1 -1 -1\n"
        "1 15 0 20 2 -1 -1 2 40 -1 3 1 1 1 1 1 -1 -1\n"
        "2 20 0 5 2 -1 -1 2 40 -1 1 1 1 1 1 1 -1 -1\n", -1, NULL));
    const struct expected whole[] = { { 1, 0, 30, 40, 2 }, { 2, 20, 5, 40, 2 } };
    const struct expected pieces[] = { { 1, 0, 10, 40, 2 }, { 1, 15, 20, 40, 2 }, { 2, 20, 5, 40, 2 } };
    struct swf_rules rules = { .pieces = SWF_PIECES };
    struct workload *w = workload_swf_new(path, &usual, NULL);
    CU_ASSERT_EQUAL(count_of(w, SWF_DROPPED_PIECES), 2);
    CU_ASSERT_EQUAL(workload_swf_header(w)->processors, 2);     /* no header: the widest job */
    check_jobs(w, whole, 2);
    workload_free(w);
    w = workload_swf_new(path, &rules, NULL);
    CU_ASSERT_EQUAL(count_of(w, SWF_DROPPED_PIECES), 1);
    check_jobs(w, pieces, 3);
    workload_free(w);
    g_remove(path);
}

static void test_unsorted(void)
{
    const struct expected expected[] = { { 1, 0, 1, 5, 1 }, { 2, 10, 2, 5, 1 }, { 4, 10, 3, 5, 1 }, { 3, 20, 5, 5, 1 },
                                         { 5, 20, 5, 5, 1 } };
    struct workload *w = open_file("unsorted.swf", &usual);
    CU_ASSERT_EQUAL(count_of(w, SWF_OUT_OF_ORDER), 2);
    check_jobs(w, expected, G_N_ELEMENTS(expected));
    workload_free(w);
}

static void test_shift(void)
{
    g_autofree char *path = NULL;
    g_close(g_file_open_tmp("tiercel-XXXXXX.swf", &path, NULL), NULL);
    CU_ASSERT_TRUE(g_file_set_contents(path, "9 1000.5 -1 1 1 -1 -1 1 2 -1 1 1 1 1 1 1 -1 -1\n"
                                             "7 1003 -1 1 1 -1 -1 1 2 -1 1 1 1 1 1 1 -1 -1", -1, NULL));
    const struct expected expected[] = { { 9, 0, 1, 2, 1 }, { 7, 2.5, 1, 2, 1 } };
    struct swf_rules rules = { .shift_start = true };
    struct workload *w = workload_swf_new(path, &rules, NULL);
    check_jobs(w, expected, 2);
    workload_free(w);
    g_remove(path);
}

static void test_dependencies(void)
{
    /* 3 and 6 wait for 1, 2 for 4 (which stands behind it), 5 for a job that is not there */
    const struct expected first[] = { { 1, 0, 10, 50, 1 }, { 4, 2, 10, 50, 1 }, { 5, 3, 10, 50, 1 } };
    struct workload *w = open_file("dependencies.swf", &usual);
    CU_ASSERT_EQUAL(count_of(w, SWF_DEPENDENT), 4);
    CU_ASSERT_EQUAL(count_of(w, SWF_LOST_DEPENDENCIES), 1);
    CU_ASSERT_EQUAL(workload_held(w), 3);
    struct workload_job job;
    uint64_t index[3];
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_TRUE(workload_next(w, &job, NULL));
        CU_ASSERT_EQUAL(job.number, first[i].number);
        index[i] = job.index;
    }
    CU_ASSERT_FALSE(workload_next(w, &job, NULL));
    CU_ASSERT_FALSE(workload_released(w, &job, NULL));
    workload_ended(w, index[0], 100 * SECOND);
    workload_ended(w, index[0], 200 * SECOND);      /* only the first time counts */
    CU_ASSERT_TRUE(workload_released(w, &job, NULL));
    CU_ASSERT_EQUAL(job.number, 3);
    CU_ASSERT_EQUAL(job.submit_ns, 100 * SECOND);   /* think time -1 */
    CU_ASSERT_TRUE(workload_released(w, &job, NULL));
    CU_ASSERT_EQUAL(job.number, 6);
    CU_ASSERT_EQUAL(job.submit_ns, 102 * SECOND + SECOND / 2);
    CU_ASSERT_FALSE(workload_released(w, &job, NULL));
    workload_ended(w, index[2], 101 * SECOND);
    CU_ASSERT_FALSE(workload_released(w, &job, NULL));
    workload_ended(w, index[1], 101 * SECOND);
    CU_ASSERT_TRUE(workload_released(w, &job, NULL));
    CU_ASSERT_EQUAL(job.number, 2);
    CU_ASSERT_EQUAL(job.submit_ns, 106 * SECOND);
    CU_ASSERT_EQUAL(workload_held(w), 0);
    workload_free(w);

    struct swf_rules rules = { .ignore_dependencies = true };
    w = open_file("dependencies.swf", &rules);
    CU_ASSERT_EQUAL(workload_held(w), 0);
    uint64_t numbers = 0;
    while (workload_next(w, &job, NULL))
        numbers += job.number;
    CU_ASSERT_EQUAL(numbers, 21);
    workload_ended(w, 0, 0);
    CU_ASSERT_FALSE(workload_released(w, &job, NULL));
    workload_free(w);
}

static void test_refused(void)
{
    static const struct { const char *name; const char *says; } cases[] = {
        { "alea-header.swf", ":1: 2 fields: expected the 18 of the Standard Workload Format; a header line must" },
        { "semicolons.swf", ":1: 1 field: expected the 18 of the Standard Workload Format; fields are separated by" },
        { "17-columns.swf", ":2: 17 fields" },
        { "19-columns.swf", ":2: 19 fields" },
        { "text.swf", ":2: field 2 (submit time) = \"soon\": expected seconds" },
        { "nan.swf", ":1: field 9 (requested time) = \"nan\": expected seconds" },
        { "huge-time.swf", ":1: field 9 (requested time) = \"100000000000000000000\": expected seconds within range" },
        { "huge-number.swf", ":1: field 1 (job number) = \"1000000000000000000\": expected a whole number within" },
        { "fraction-of-a-processor.swf", ":1: field 5 (allocated processors) = \"1.5\": expected a whole number" },
        { "comma.swf", ":1: field 2 (submit time) = \"0,5\"" },
        { "hexadecimal.swf", ":1: field 1 (job number) = \"0x1\"" },
        { "only-comments.swf", "holds no job" },
        { "empty.swf", "holds no job" },
        { "cycle.swf", "waits for itself" },
        { "self.swf", ":1: field 17 (preceding job) = 1: in the end this job waits for itself" },
        { "twice.swf", ":3: field 17 (preceding job) = 1: this number is given to several jobs" },
        { "junk.swf", ":1: " },
        { "nul.swf", ":1: " },
        { "none.swf", "No such file" },
        { "", "is a directory" },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *name = g_build_filename("refused", cases[i].name, NULL);
        g_autofree char *path = path_of(name);
        GError *error = NULL;
        CU_ASSERT_PTR_NULL(workload_swf_new(path, &usual, &error));
        CU_ASSERT_TRUE_FATAL(g_error_matches(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT));
        CU_ASSERT_TRUE(g_str_has_prefix(error->message, path));
        CU_ASSERT_PTR_NOT_NULL(strstr(error->message, cases[i].says));
        if (strstr(error->message, cases[i].says) == NULL)
            fprintf(stderr, "\n  %s\n  does not say %s\n", error->message, cases[i].says);
        g_clear_error(&error);
    }
}

/* At most 20 bad lines are named, the rest counted; a line of 100 KB is refused, not kept. */
static void test_many_problems(void)
{
    g_autofree char *path = NULL;
    g_close(g_file_open_tmp("tiercel-XXXXXX.swf", &path, NULL), NULL);
    g_autoptr(GString) text = g_string_new(NULL);
    for (int i = 0; i < 50; i++)
        g_string_append(text, "x\n");
    CU_ASSERT_TRUE(g_file_set_contents(path, text->str, -1, NULL));
    GError *error = NULL;
    CU_ASSERT_PTR_NULL(workload_swf_new(path, &usual, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, ":20: "));
    CU_ASSERT_PTR_NULL(strstr(error->message, ":21: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "and 30 more lines"));
    g_clear_error(&error);

    g_string_set_size(text, 100000);
    memset(text->str, '7', text->len);
    CU_ASSERT_TRUE(g_file_set_contents(path, text->str, (gssize)text->len, NULL));
    CU_ASSERT_PTR_NULL(workload_swf_new(path, &usual, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, ":1: a line of more than 65536 bytes"));
    g_clear_error(&error);
    g_remove(path);
}

static void test_damaged(void)
{
    g_autofree char *good_path = path_of("odd.swf"), *path = NULL, *good = NULL;
    gsize size;
    CU_ASSERT_TRUE_FATAL(g_file_get_contents(good_path, &good, &size, NULL));
    g_close(g_file_open_tmp("tiercel-XXXXXX.swf", &path, NULL), NULL);
    g_autoptr(GRand) rand = g_rand_new_with_seed(5);
    guint read = 0;
    for (int i = 0; i < 2000; i++) {
        g_autofree char *text = g_memdup2(good, size);
        static const char likely[] = "0123456789-. \t\r\n;eE";
        for (int n = g_rand_int_range(rand, 1, 4); n > 0; n--)
            text[g_rand_int_range(rand, 0, (gint32)size)] = g_rand_int_range(rand, 0, 4) == 0 ?
                (char)g_rand_int_range(rand, 0, 256) : likely[g_rand_int_range(rand, 0, sizeof likely - 1)];
        gsize cut = g_rand_int_range(rand, 0, 3) == 0 ? (gsize)g_rand_int_range(rand, 0, (gint32)size) : size;
        FILE *out = fopen(path, "wb");      /* not g_file_set_contents, which waits for the disk */
        CU_ASSERT_EQUAL(fwrite(text, 1, cut, out), cut);
        fclose(out);
        GError *error = NULL;
        struct workload *w = workload_swf_new(path, &usual, &error);
        CU_ASSERT_EQUAL(w == NULL, error != NULL);
        struct workload_job job;
        uint64_t jobs = 0;
        int64_t latest = 0;
        while (w != NULL && workload_next(w, &job, &error)) {
            CU_ASSERT_TRUE(job.submit_ns >= latest && job.duration_ns >= 0 && job.limit_ns >= 0 && job.slots > 0);
            latest = job.submit_ns;
            jobs++;
        }
        if (w != NULL) {
            CU_ASSERT_PTR_NULL(error);
            CU_ASSERT_EQUAL(jobs + workload_held(w), workload_jobs(w));
            read++;
        }
        workload_free(w);
        g_clear_error(&error);
    }
    CU_ASSERT_TRUE(read > 100 && read < 1900);
    g_remove(path);
}

/* --- known schedules from files --- */

static void replay_file(const char *name, const char *policy, enum policy_by by, const int64_t *starts, guint count)
{
    struct workload *w = open_file(name, &usual);
    g_autofree struct replay_job *jobs = g_new0(struct replay_job, count);
    struct workload_job job;
    for (guint i = 0; i < count; i++) {
        CU_ASSERT_TRUE_FATAL(workload_next(w, &job, NULL));
        jobs[i] = (struct replay_job){ .submit = job.submit_ns, .width = job.slots, .limit = job.limit_ns,
                                       .run = job.duration_ns };
    }
    CU_ASSERT_FALSE(workload_next(w, &job, NULL));
    struct replay r = { .config = { .name = policy, .nodes = 1, .by = by,
                                    .cores_per_node = workload_swf_header(w)->processors }, .kill = true };
    replay_run(&r, jobs, count);
    for (guint i = 0; i < count; i++)
        CU_ASSERT_EQUAL(jobs[i].start, starts[i] * SECOND);
    workload_free(w);
}

static void test_schedules(void)
{
    static const struct { const char *file, *policy; int by; guint count; int64_t starts[5]; } cases[] = {
        { "three-policies.swf", "fcfs", 0, 5, { 0, 10, 20, 30, 30 } },
        { "three-policies.swf", "easy", 0, 5, { 0, 10, 28, 3, 38 } },
        { "three-policies.swf", "conservative", 0, 5, { 0, 10, 20, 30, 4 } },
        { "three-policies-early.swf", "fcfs", 0, 5, { 0, 6, 16, 26, 26 } },
        { "three-policies-early.swf", "easy", 0, 5, { 0, 6, 28, 3, 38 } },
        { "three-policies-early.swf", "conservative", 0, 5, { 0, 6, 20, 30, 4 } },
        { "named-machines.swf", "easy", POLICY_BY_PROCESSORS, 5, { 0, 0, 0, 10, 3 } },
        { "named-machines.swf", "easy", POLICY_BY_MACHINES, 5, { 0, 0, 0, 10, 10 } },
        { "named-machines.swf", "conservative", POLICY_BY_MACHINES, 5, { 0, 0, 0, 10, 10 } },
        { "conservative-holds.swf", "easy", 0, 4, { 0, 100, 300, 50 } },
        { "conservative-holds.swf", "conservative", 0, 4, { 0, 100, 200, 300 } },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        replay_file(cases[i].file, cases[i].policy, (enum policy_by)cases[i].by, cases[i].starts, cases[i].count);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "everything odd in a log is counted by its kind", test_odd },
        { "the rules say what becomes of it", test_rules },
        { "a checkpointed job counts whole or in pieces, never both", test_pieces },
        { "a log out of order is sorted stably", test_unsorted },
        { "the first submission can be shifted to 0", test_shift },
        { "jobs that wait for others come after them, think time later", test_dependencies },
        { "malformed logs are refused with file and line", test_refused },
        { "many problems are named together, within bounds", test_many_problems },
        { "damaged logs are refused or read, never worse", test_damaged },
        { "known schedules come out of their files", test_schedules },
        { NULL, NULL },
    };
    return suite_run("swf", tests);
}
