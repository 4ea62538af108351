/* SPDX-License-Identifier: BSD-3-Clause */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/error.h"
#include "suite.h"
#include "workload/batsim.h"

#define SECOND G_GINT64_CONSTANT(1000000000)

static char *path_of(const char *name)
{
    const char *source = g_getenv("srcdir");
    return g_build_filename(source == NULL ? "." : source, "tests", "workloads", name, NULL);
}

static void test_jobs(void)
{
    static const struct { const char *name, *profile; uint64_t number; int64_t submit, limit, run; uint32_t width; }
    expected[] = {
        { "7", "short", 7, 0, 100 * SECOND, 30 * SECOND + SECOND / 2, 4 },
        { "w0!2", "nothing", 2, 0, WORKLOAD_NO_LIMIT, 0, 2 },
        { "9", "long", 9, SECOND / 2, 60 * SECOND + SECOND / 2, 3600 * SECOND, 1 },
        { "late", "long", 0, 10 * SECOND + SECOND / 4, WORKLOAD_NO_LIMIT, 3600 * SECOND, 1 },
    };
    g_autofree char *path = path_of("batsim.json");
    GError *error = NULL;
    struct workload *w = workload_batsim_new(path, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    CU_ASSERT_EQUAL(workload_batsim_processors(w), 4);
    CU_ASSERT_EQUAL(workload_jobs(w), 4);
    struct workload_job job;
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_TRUE_FATAL(workload_next(w, &job, &error));
        CU_ASSERT_EQUAL(job.index, i);
        CU_ASSERT_STRING_EQUAL(job.name, expected[i].name);
        CU_ASSERT_STRING_EQUAL(job.profile, expected[i].profile);
        CU_ASSERT_EQUAL(job.number, expected[i].number);
        CU_ASSERT_EQUAL(job.submit_ns, expected[i].submit);
        CU_ASSERT_EQUAL(job.limit_ns, expected[i].limit);
        CU_ASSERT_EQUAL(job.duration_ns, expected[i].run);
        CU_ASSERT_EQUAL(job.slots, expected[i].width);
    }
    CU_ASSERT_FALSE(workload_next(w, &job, &error));
    CU_ASSERT_PTR_NULL(error);
    workload_free(w);
}

static void test_refused(void)
{
    static const struct { const char *name; const char *says; } cases[] = {
        { "truncated.json", ":2:1: malformed JSON: found the end of the file" },
        { "array.json", ":1:1: found an array of 0: expected a workload" },
        { "no-jobs.json", "jobs is missing" },
        { "no-profiles.json", "profiles is missing" },
        { "unknown-profile.json", "jobs[0].profile = \"x\": expected a key of profiles" },
        { "parallel-task.json", ":2:29: profiles.p.type = \"parallel_homogeneous\": expected \"delay\"" },
        { "twice.json", "jobs[1].id = \"1\": expected an id that no job before has" },
        { "no-processors.json", "jobs[0].res = 0" },
        { "huge-time.json", "jobs[0].subtime = 1e20" },
        { "negative-delay.json", "profiles.p.delay = -1" },
        { "zero-walltime.json", "jobs[0].walltime = 0" },
        { "text-time.json", "jobs[0].subtime = \"0\"" },
        { "none.json", "No such file" },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *name = g_build_filename("refused", cases[i].name, NULL);
        g_autofree char *path = path_of(name);
        GError *error = NULL;
        CU_ASSERT_PTR_NULL(workload_batsim_new(path, &error));
        CU_ASSERT_TRUE_FATAL(g_error_matches(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT));
        CU_ASSERT_TRUE(g_str_has_prefix(error->message, path));
        CU_ASSERT_PTR_NOT_NULL(strstr(error->message, cases[i].says));
        if (strstr(error->message, cases[i].says) == NULL)
            fprintf(stderr, "\n  %s\n  does not say %s\n", error->message, cases[i].says);
        g_clear_error(&error);
    }
}

static void test_damaged(void)
{
    g_autofree char *good_path = path_of("batsim.json"), *path = NULL, *good = NULL;
    gsize size;
    CU_ASSERT_TRUE_FATAL(g_file_get_contents(good_path, &good, &size, NULL));
    g_close(g_file_open_tmp("tiercel-XXXXXX.json", &path, NULL), NULL);
    g_autoptr(GRand) rand = g_rand_new_with_seed(5);
    guint read = 0;
    for (int i = 0; i < 2000; i++) {
        g_autofree char *text = g_memdup2(good, size);
        static const char likely[] = "0123456789-.,:{}[]\"eE";
        text[g_rand_int_range(rand, 0, (gint32)size)] = likely[g_rand_int_range(rand, 0, sizeof likely - 1)];
        gsize cut = g_rand_int_range(rand, 0, 3) == 0 ? (gsize)g_rand_int_range(rand, 0, (gint32)size) : size;
        FILE *out = fopen(path, "wb");
        CU_ASSERT_EQUAL(fwrite(text, 1, cut, out), cut);
        fclose(out);
        GError *error = NULL;
        struct workload *w = workload_batsim_new(path, &error);
        CU_ASSERT_EQUAL(w == NULL, error != NULL);
        struct workload_job job;
        while (w != NULL && workload_next(w, &job, &error))
            CU_ASSERT_TRUE(job.submit_ns >= 0 && job.duration_ns >= 0 && job.limit_ns > 0 && job.slots > 0);
        read += w != NULL;
        workload_free(w);
        g_clear_error(&error);
    }
    CU_ASSERT_TRUE(read > 100 && read < 1900);
    g_remove(path);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "jobs and delay profiles are read, in the order of submit times", test_jobs },
        { "what is malformed or not understood is refused with its place", test_refused },
        { "damaged files are refused or read, never worse", test_damaged },
        { NULL, NULL },
    };
    return suite_run("batsim", tests);
}
