/* SPDX-License-Identifier: BSD-3-Clause */
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "scratch.h"
#include "suite.h"
#include "workload/bulk.h"
#include "workload/decimal.h"
#include "workload/json.h"
#include "workload/jobspec.h"

#define SECOND G_GINT64_CONSTANT(1000000000)

/* --- decimals --- */

static void test_decimal(void)
{
    const struct { const char *text; int64_t unit; enum decimal_result result; int64_t ns; } cases[] = {
        { "0", SECOND, DECIMAL_OK, 0 },                     { "-0.0e5", SECOND, DECIMAL_OK, 0 },
        { "1", SECOND, DECIMAL_OK, SECOND },                { "+1.5", SECOND, DECIMAL_OK, 3 * SECOND / 2 },
        { "552.21", SECOND, DECIMAL_OK, 552210000000 },     { ".25", SECOND, DECIMAL_OK, SECOND / 4 },
        { "3.", SECOND, DECIMAL_OK, 3 * SECOND },           { "-1", SECOND, DECIMAL_OK, -SECOND },
        { "1e3", SECOND, DECIMAL_OK, 1000 * SECOND },       { "1.5E-3", SECOND, DECIMAL_OK, 1500000 },
        { "0.0000000004", SECOND, DECIMAL_OK, 0 },          { "0.0000000005", SECOND, DECIMAL_OK, 1 },
        { "1.4999999999", 1, DECIMAL_OK, 1 },               { "0.1", 60 * SECOND, DECIMAL_OK, 6 * SECOND },
        { "0.333333333333333333333333333333", SECOND, DECIMAL_OK, 333333333 },
        { "0000000000000000000000000000000000000000000001", SECOND, DECIMAL_OK, SECOND },
        { "1e-99999999999", SECOND, DECIMAL_OK, 0 },        { "4611686018", SECOND, DECIMAL_OK, 4611686018 * SECOND },
        { "4611686019", SECOND, DECIMAL_TOO_LARGE, 0 },     { "100000000000000000000", SECOND, DECIMAL_TOO_LARGE, 0 },
        { "1e99999999999", SECOND, DECIMAL_TOO_LARGE, 0 },  { "-1e19", SECOND, DECIMAL_TOO_LARGE, 0 },
        { "", SECOND, DECIMAL_NOT_A_NUMBER, 0 },            { "-", SECOND, DECIMAL_NOT_A_NUMBER, 0 },
        { ".", SECOND, DECIMAL_NOT_A_NUMBER, 0 },           { "1.2.3", SECOND, DECIMAL_NOT_A_NUMBER, 0 },
        { "1e", SECOND, DECIMAL_NOT_A_NUMBER, 0 },          { "1e+", SECOND, DECIMAL_NOT_A_NUMBER, 0 },
        { "nan", SECOND, DECIMAL_NOT_A_NUMBER, 0 },         { "inf", SECOND, DECIMAL_NOT_A_NUMBER, 0 },
        { "0x10", SECOND, DECIMAL_NOT_A_NUMBER, 0 },        { "1 ", SECOND, DECIMAL_NOT_A_NUMBER, 0 },
        { "1,5", SECOND, DECIMAL_NOT_A_NUMBER, 0 },         { "--1", SECOND, DECIMAL_NOT_A_NUMBER, 0 },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        int64_t ns = 0;
        CU_ASSERT_EQUAL(decimal_read_ns(cases[i].text, strlen(cases[i].text), cases[i].unit, &ns), cases[i].result);
        CU_ASSERT_EQUAL(ns, cases[i].ns);
    }
}

/* --- JSON --- */

static bool json_accepts(const char *text, size_t size)
{
    GError *error = NULL;
    struct json_document *d = json_parse("x.json", text, size, &error);
    CU_ASSERT_EQUAL(d == NULL, error != NULL);
    bool accepted = d != NULL;
    json_document_free(d);
    g_clear_error(&error);
    return accepted;
}

static void test_json(void)
{
    const char *good =
        " {\"a\": [1, -2.5e+3, true, false, null, \"\\u00e9\\ud83d\\ude00\\n\"], \"b\": {}, \"\": 0}\r\n";
    struct json_document *d = json_parse("x.json", good, strlen(good), NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    const struct json *a = json_member(d->root, "a");
    CU_ASSERT_EQUAL(a->count, 6);
    CU_ASSERT_STRING_EQUAL(a->first->next->text, "-2.5e+3");
    const struct json *text = a->first->next->next->next->next->next;
    CU_ASSERT_STRING_EQUAL(text->text, "\303\251\360\237\230\200\n");
    int64_t number;
    CU_ASSERT_TRUE(json_integer(a->first, 1, 1, &number));
    CU_ASSERT_FALSE(json_integer(a->first, 2, 9, &number));
    CU_ASSERT_FALSE(json_integer(a->first->next, -9999, 9999, &number));
    CU_ASSERT_FALSE(json_integer(text, 0, 9, &number));
    CU_ASSERT_PTR_NULL(json_member(a, "a"));
    CU_ASSERT_PTR_NOT_NULL(json_member(d->root, ""));
    json_document_free(d);

    const char *bad[] = {
        "", " ", "{", "[", "[1", "[1,", "[1,]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{'a':1}", "01", "1.",
        ".5", "+1", "-", "1e", "tru", "nul", "\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\u0000\"",
        "\"\\ud800\\u0041\"", "\"\t\"", "\"\xff\"", "1 2", "{} // no", "/* no */ {}", "\xef\xbb\xbf{}",
        "{\"a\":1,\"a\":2}", "NaN", "Infinity", "\"\\", "{\"a\" 1}", "[1 2]",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
        CU_ASSERT_FALSE(json_accepts(bad[i], strlen(bad[i])));
    CU_ASSERT_FALSE(json_accepts("1\0", 2));

    g_autoptr(GString) deep = g_string_new(NULL);
    for (int i = 0; i < JSON_DEPTH; i++)
        g_string_append_c(deep, '[');
    for (int i = 0; i < JSON_DEPTH; i++)
        g_string_append_c(deep, ']');
    CU_ASSERT_TRUE(json_accepts(deep->str, deep->len));
    g_string_set_size(deep, 1000000);
    memset(deep->str, '[', deep->len);
    CU_ASSERT_FALSE(json_accepts(deep->str, deep->len));
}

static void test_json_place(void)
{
    GError *error = NULL;
    const char *bad = "{\n  \"a\": 1,\n  \"b\" 2\n}";
    CU_ASSERT_PTR_NULL(json_parse("x.json", bad, strlen(bad), &error));
    CU_ASSERT_STRING_EQUAL(error->message, "x.json:3:7: malformed JSON: found \"2\", expected \":\" after a key");
    g_clear_error(&error);

    const char *good = "{\n  \"a\": [1,\n   {\"b\": \"text\"}]\n}";
    struct json_document *d = json_parse("x.json", good, strlen(good), NULL);
    const struct json *object = json_member(d->root, "a")->first->next;
    CU_ASSERT_FALSE(json_refuse(d, json_member(object, "b"), "a number", &error));
    CU_ASSERT_STRING_EQUAL(error->message, "x.json:3:10: a[1].b = \"text\": expected a number");
    g_clear_error(&error);
    CU_ASSERT_FALSE(json_refuse_missing(d, object, "c", "a number", &error));
    CU_ASSERT_STRING_EQUAL(error->message, "x.json:3:4: a[1].c is missing: expected a number");
    g_clear_error(&error);
    json_document_free(d);
}

/* --- jobspec --- */

#define SLOT "{\"type\": \"slot\", \"count\": 2, \"with\": [{\"type\": \"core\", \"count\": 3}], \"label\": \"task\"}"
#define TASK(command) "[{\"command\": " command ", \"slot\": \"task\", \"count\": {\"per_slot\": 1}}]"
#define SPEC(resources, tasks, system) \
    "{\"resources\": " resources ", \"tasks\": " tasks ", \"attributes\": {\"system\": " system "}, \"version\": 1}"
#define SLEEP TASK("[\"sleep\", \"0\"]")

static void test_jobspec(void)
{
    const struct {
        const char *text;
        uint32_t nodes, slots, cores;
        bool exclusive;
        int64_t duration, limit;
    } cases[] = {
        { SPEC("[" SLOT "]", SLEEP, "{\"duration\": 0}"), 0, 2, 3, false, 0, WORKLOAD_NO_LIMIT },
        { SPEC("[{\"type\": \"node\", \"count\": 4, \"with\": [" SLOT "]}]", TASK("[\"/bin/sleep\", \"1.5m\"]"),
               "{\"duration\": 120.0}"), 4, 2, 3, false, 90 * SECOND, 120 * SECOND },
        { SPEC("[{\"type\": \"node\", \"count\": 4, \"exclusive\": true, \"with\": [" SLOT "]}]", TASK("\"hostname\""),
               "{\"duration\": 0.5, \"cwd\": \"/\", \"environment\": {\"A\": \"b\"}}"), 4, 2, 3, true, 0, SECOND / 2 },
        { SPEC("[" SLOT "]", TASK("[\"./app\", \"-x\"]"), "{\"duration\": 60}"), 0, 2, 3, false, 60 * SECOND,
          60 * SECOND },
        { SPEC("[" SLOT "]", TASK("[\"./app\"]"),
               "{\"duration\": 0, \"exec\": {\"test\": {\"run_duration\": \"250ms\"}}}"), 0, 2, 3, false, SECOND / 4,
          WORKLOAD_NO_LIMIT },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct workload_job job = { .index = 7 };
        GError *error = NULL;
        CU_ASSERT_TRUE(jobspec_parse("job.json", cases[i].text, strlen(cases[i].text), &job, &error));
        CU_ASSERT_PTR_NULL(error);
        g_clear_error(&error);
        CU_ASSERT_EQUAL(job.nodes, cases[i].nodes);
        CU_ASSERT_EQUAL(job.slots, cases[i].slots);
        CU_ASSERT_EQUAL(job.cores_per_slot, cases[i].cores);
        CU_ASSERT_EQUAL(job.exclusive, cases[i].exclusive);
        CU_ASSERT_EQUAL(job.duration_ns, cases[i].duration);
        CU_ASSERT_EQUAL(job.limit_ns, cases[i].limit);
        CU_ASSERT_EQUAL(job.index, 7);
    }
}

static void test_jobspec_refused(void)
{
    const struct { const char *text; const char *says; } cases[] = {
        { "", "job.json:1:1: malformed JSON: found the end of the file" },
        { "[]", "job.json:1:1: found an array of 0: expected a jobspec" },
        { "{}", "version is missing" },
        { "{\"version\": 2}", "version = 2: expected 1" },
        { "{\"version\": 1.0}", "version = 1.0" },
        { "{\"version\": \"1\"}", "version = \"1\"" },
        { "{\"version\": 1}", "resources is missing" },
        { "{\"version\": 1, \"job\": 1}", "job = 1: expected no such key" },
        { SPEC("{}", SLEEP, "{\"duration\": 0}"), "resources = an object of 0" },
        { SPEC("[]", SLEEP, "{\"duration\": 0}"), "resources = an array of 0: expected exactly one" },
        { SPEC("[" SLOT ", " SLOT "]", SLEEP, "{\"duration\": 0}"), "resources = an array of 2" },
        { SPEC("[5]", SLEEP, "{\"duration\": 0}"), "resources[0] = 5" },
        { SPEC("[{\"type\": \"core\", \"count\": 1}]", SLEEP, "{\"duration\": 0}"), "resources[0].type = \"core\"" },
        { SPEC("[{\"type\": \"slot\", \"count\": 0}]", SLEEP, "{\"duration\": 0}"), "resources[0].count = 0" },
        { SPEC("[{\"type\": \"slot\", \"count\": 99999999}]", SLEEP, "{\"duration\": 0}"), "count = 99999999" },
        { SPEC("[{\"type\": \"slot\", \"count\": 1e2}]", SLEEP, "{\"duration\": 0}"), "count = 1e2" },
        { SPEC("[{\"type\": \"slot\", \"count\": {\"min\": 1}}]", SLEEP, "{\"duration\": 0}"), "ranges of version 2" },
        { SPEC("[{\"type\": \"slot\"}]", SLEEP, "{\"duration\": 0}"), "resources[0].count is missing" },
        { SPEC("[{\"type\": \"slot\", \"count\": 1}]", SLEEP, "{\"duration\": 0}"), "resources[0].label is missing" },
        { SPEC("[{\"type\": \"slot\", \"count\": 1, \"label\": \"t\"}]", SLEEP, "{\"duration\": 0}"),
          "resources[0].with is missing" },
        { SPEC("[{\"type\": \"node\", \"count\": 1}]", SLEEP, "{\"duration\": 0}"), "resources[0].with is missing" },
        { SPEC("[{\"type\": \"node\", \"count\": 1, \"exclusive\": 1, \"with\": [" SLOT "]}]", SLEEP, "{}"),
          "resources[0].exclusive = 1" },
        { SPEC("[{\"type\": \"slot\", \"count\": 1, \"label\": \"task\", "
               "\"with\": [{\"type\": \"core\", \"count\": 1}, "
               "{\"type\": \"gpu\", \"count\": 1}]}]", SLEEP, "{\"duration\": 0}"), "gpus, memory" },
        { SPEC("[{\"type\": \"slot\", \"count\": 1, \"label\": \"task\", "
               "\"with\": [{\"type\": \"gpu\", \"count\": 1}]}]",
               SLEEP, "{\"duration\": 0}"), "with[0].type = \"gpu\": expected \"core\"" },
        { SPEC("[{\"type\": \"node\", \"count\": 1, \"with\": [{\"type\": \"socket\", \"count\": 1}]}]", SLEEP, "{}"),
          "resources[0].with[0].type = \"socket\": expected \"slot\"" },
        { SPEC("[" SLOT "]", "[]", "{\"duration\": 0}"), "tasks = an array of 0" },
        { SPEC("[" SLOT "]", "[{\"slot\": \"task\"}]", "{\"duration\": 0}"), "tasks[0].command is missing" },
        { SPEC("[" SLOT "]", TASK("[]"), "{\"duration\": 0}"), "tasks[0].command = an array of 0" },
        { SPEC("[" SLOT "]", TASK("[\"sleep\", 0]"), "{\"duration\": 0}"), "tasks[0].command[1] = 0: expected a text" },
        { SPEC("[" SLOT "]", TASK("[\"sleep\"]"), "{\"duration\": 0}"), "one duration" },
        { SPEC("[" SLOT "]", TASK("[\"sleep\", \"-1\"]"), "{\"duration\": 0}"), "command[1] = \"-1\"" },
        { SPEC("[" SLOT "]", TASK("[\"sleep\", \"1e30\"]"), "{\"duration\": 0}"), "command[1] = \"1e30\"" },
        { SPEC("[" SLOT "]", TASK("[\"sleep\", \"\"]"), "{\"duration\": 0}"), "command[1] = \"\"" },
        { SPEC("[" SLOT "]", TASK("[\"./app\"]"), "{\"duration\": 0}"), "give it a duration" },
        { SPEC("[" SLOT "]", "[{\"command\": [\"true\"], \"slot\": \"other\"}]", "{\"duration\": 0}"),
          "tasks[0].slot = \"other\": expected \"task\"" },
        { SPEC("[" SLOT "]", "[{\"command\": [\"true\"], \"slot\": \"task\"}]", "{\"duration\": 0}"),
          "tasks[0].count is missing" },
        { SPEC("[" SLOT "]", "[{\"command\": [\"true\"], \"slot\": \"task\", \"count\": {\"per_slot\": 1, "
               "\"total\": 2}}]", "{\"duration\": 0}"), "either per_slot or total" },
        { SPEC("[" SLOT "]", "[{\"command\": [\"true\"], \"slot\": \"task\", \"count\": {\"per_core\": 1}}]", "{}"),
          "tasks[0].count.per_core = 1" },
        { SPEC("[" SLOT "]", SLEEP, "{}"), "attributes.system.duration is missing" },
        { SPEC("[" SLOT "]", SLEEP, "{\"duration\": -1}"), "attributes.system.duration = -1" },
        { SPEC("[" SLOT "]", SLEEP, "{\"duration\": 1e20}"), "attributes.system.duration = 1e20" },
        { SPEC("[" SLOT "]", SLEEP, "{\"duration\": \"1\"}"), "attributes.system.duration = \"1\"" },
        { SPEC("[" SLOT "]", SLEEP, "{\"duration\": 0, \"cwd\": 1}"), "attributes.system.cwd = 1" },
        { SPEC("[" SLOT "]", SLEEP, "{\"duration\": 0, \"environment\": {\"A\": 1}}"),
          "attributes.system.environment.A = 1" },
        { SPEC("[" SLOT "]", SLEEP, "{\"duration\": 0, \"exec\": {\"test\": {\"run_duration\": \"soon\"}}}"),
          "run_duration = \"soon\"" },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct workload_job job = { .slots = 77 };
        GError *error = NULL;
        CU_ASSERT_FALSE(jobspec_parse("job.json", cases[i].text, strlen(cases[i].text), &job, &error));
        CU_ASSERT_TRUE_FATAL(g_error_matches(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT));
        CU_ASSERT_TRUE(g_str_has_prefix(error->message, "job.json:"));
        CU_ASSERT_PTR_NOT_NULL(strstr(error->message, cases[i].says));
        if (strstr(error->message, cases[i].says) == NULL)
            fprintf(stderr, "\n  %s\n  does not say %s\n", error->message, cases[i].says);
        CU_ASSERT_EQUAL(job.slots, 77);
        g_clear_error(&error);
    }
}

/* Every prefix and every single-byte change of a good jobspec is read or refused, and nothing worse. */
static void test_jobspec_damaged(void)
{
    const char *good = SPEC("[{\"type\": \"node\", \"count\": 4, \"with\": [" SLOT "]}]", SLEEP,
                            "{\"duration\": 1.5, \"environment\": {\"A\": \"\\u00e9\"}}");
    size_t size = strlen(good);
    unsigned refused = 0;
    for (size_t cut = 0; cut < size; cut++) {
        g_autofree char *text = g_memdup2(good, cut == 0 ? 1 : cut);
        struct workload_job job;
        refused += !jobspec_parse("x", text, cut, &job, NULL);
    }
    CU_ASSERT_EQUAL(refused, size);
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    refused = 0;
    for (int i = 0; i < 20000; i++) {
        g_autofree char *text = g_memdup2(good, size);
        for (int n = g_rand_int_range(rand, 1, 4); n > 0; n--)
            text[g_rand_int_range(rand, 0, (gint32)size)] = (char)g_rand_int_range(rand, 0, 256);
        struct workload_job job;
        refused += !jobspec_parse("x", text, size, &job, NULL);
    }
    CU_ASSERT_TRUE(refused > 10000 && refused < 20000);
}

static void test_jobspec_write(void)
{
    const struct workload_job jobs[] = {
        { .slots = 1, .cores_per_slot = 1, .duration_ns = 0, .limit_ns = WORKLOAD_NO_LIMIT },
        { .slots = 3, .cores_per_slot = 2, .duration_ns = 1, .limit_ns = 10 * SECOND },
        { .nodes = 5, .slots = 1, .cores_per_slot = 4, .exclusive = true, .duration_ns = 1500 * SECOND / 1000,
          .limit_ns = 2500000001 },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(jobs); i++) {
        GString *text = jobspec_write(&jobs[i]);
        struct workload_job job = { 0 };
        CU_ASSERT_TRUE(jobspec_parse("x", text->str, text->len, &job, NULL));
        CU_ASSERT_EQUAL(job.nodes, jobs[i].nodes);
        CU_ASSERT_EQUAL(job.slots, jobs[i].slots);
        CU_ASSERT_EQUAL(job.cores_per_slot, jobs[i].cores_per_slot);
        CU_ASSERT_EQUAL(job.exclusive, jobs[i].exclusive);
        CU_ASSERT_EQUAL(job.duration_ns, jobs[i].duration_ns);
        CU_ASSERT_EQUAL(job.limit_ns, jobs[i].limit_ns);
        g_string_free(text, TRUE);
    }
}

/* --- a directory of jobspecs --- */

static char *directory_new(void)
{
    char *directory = g_dir_make_tmp("tiercel-XXXXXX", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(directory);
    return directory;
}

static void file_put(const char *directory, const char *name, const char *text)
{
    g_autofree char *path = g_build_filename(directory, name, NULL);
    CU_ASSERT_TRUE(g_file_set_contents(path, text, -1, NULL));
}

static void test_directory(void)
{
    g_autofree char *directory = directory_new();
    file_put(directory, "b.json", SPEC("[" SLOT "]", TASK("[\"sleep\", \"2\"]"), "{\"duration\": 0}"));
    file_put(directory, "a.json", SPEC("[" SLOT "]", TASK("[\"sleep\", \"1\"]"), "{\"duration\": 0}"));
    file_put(directory, "B.json", SPEC("[" SLOT "]", TASK("[\"sleep\", \"3\"]"), "{\"duration\": 0}"));
    file_put(directory, "README", "not a jobspec");
    struct workload *w = workload_jobspec_new(directory, 2, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    CU_ASSERT_EQUAL(workload_jobs(w), 6);
    const int64_t seconds[] = { 3, 1, 2, 3, 1, 2 };
    struct workload_job job;
    for (uint64_t i = 0; i < 6; i++) {
        CU_ASSERT_TRUE_FATAL(workload_next(w, &job, NULL));
        CU_ASSERT_EQUAL(job.index, i);
        CU_ASSERT_EQUAL(job.duration_ns, seconds[i] * SECOND);
        CU_ASSERT_EQUAL(job.submit_ns, 0);
        CU_ASSERT_EQUAL(job.priority, WORKLOAD_PRIORITY);
        CU_ASSERT_EQUAL(job.spec[job.spec_size - 1], '}');
    }
    CU_ASSERT_FALSE(workload_next(w, &job, NULL));
    CU_ASSERT_FALSE(workload_next(w, &job, NULL));
    workload_free(w);
    scratch_remove(directory);
}

static void expect_refused(const char *directory, uint64_t repeat, const char *says, const char *says_too)
{
    GError *error = NULL;
    CU_ASSERT_PTR_NULL(workload_jobspec_new(directory, repeat, &error));
    CU_ASSERT_TRUE_FATAL(g_error_matches(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, says));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, says_too));
    g_clear_error(&error);
}

static void test_directory_refused(void)
{
    g_autofree char *directory = directory_new();
    g_autofree char *missing = g_build_filename(directory, "none", NULL);
    g_autofree char *good = g_build_filename(directory, "good.json", NULL);
    expect_refused(directory, 1, directory, "no file whose name ends in .json");
    expect_refused(missing, 1, missing, "No such file or directory");
    file_put(directory, "good.json", SPEC("[" SLOT "]", SLEEP, "{\"duration\": 0}"));
    expect_refused(good, 1, good, "Not a directory");
    expect_refused(directory, UINT64_MAX, directory, "smaller repeat");
    if (geteuid() != 0) {
        CU_ASSERT_EQUAL(g_chmod(good, 0), 0);
        expect_refused(directory, 1, good, "Permission denied");
        CU_ASSERT_EQUAL(g_chmod(good, 0600), 0);
    }
    /* all malformed files at once; a pipe does not block */
    file_put(directory, "x.json", "{");
    file_put(directory, "y.json", "{\"version\": 3}");
    expect_refused(directory, 1, "x.json:1:2: malformed JSON", "y.json:1:13: version = 3");
    g_autofree char *pipe = g_build_filename(directory, "z.json", NULL);
    CU_ASSERT_EQUAL(mkfifo(pipe, 0600), 0);
    expect_refused(directory, 1, "z.json", "not a regular file");
    scratch_remove(directory);
}

static void test_shipped(void)
{
    const char *source = g_getenv("srcdir");
    g_autofree char *directory =
        g_build_filename(source == NULL ? "." : source, "inputs", "jobspec", "flux-bulksubmit", NULL);
    GError *error = NULL;
    struct workload *w = workload_jobspec_new(directory, 64, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    CU_ASSERT_EQUAL(workload_jobs(w), 1024);
    g_autoptr(GHashTable) texts = g_hash_table_new(g_str_hash, g_str_equal);
    struct workload_job job;
    uint64_t jobs = 0;
    for (; workload_next(w, &job, &error); jobs++) {
        CU_ASSERT_EQUAL(job.duration_ns, 0);
        CU_ASSERT_EQUAL(job.limit_ns, WORKLOAD_NO_LIMIT);
        CU_ASSERT_EQUAL(job.nodes, 0);
        CU_ASSERT_EQUAL(job.slots * job.cores_per_slot, 1);
        CU_ASSERT_TRUE(job.spec_size > 900 && job.spec_size < 4096);
        g_hash_table_add(texts, (gpointer)job.spec);
    }
    CU_ASSERT_PTR_NULL(error);
    CU_ASSERT_EQUAL(jobs, 1024);
    CU_ASSERT_EQUAL(g_hash_table_size(texts), 16);
    workload_free(w);
}

/* --- bulk --- */

static int64_t draw(void *context, uint64_t index)
{
    ++*(unsigned *)context;
    return (int64_t)(index / 2) * SECOND;
}

static void test_bulk(void)
{
    struct workload_bulk plan = { .jobs = 3, .slots = 1, .cores_per_slot = 2, .duration_ns = 5 * SECOND,
                                  .limit_ns = 9 * SECOND };
    struct workload *w = workload_bulk_new(&plan);
    struct workload_job job, parsed;
    CU_ASSERT_EQUAL(workload_jobs(w), 3);
    for (uint64_t i = 0; i < 3; i++) {
        CU_ASSERT_TRUE_FATAL(workload_next(w, &job, NULL));
        CU_ASSERT_EQUAL(job.index, i);
        CU_ASSERT_EQUAL(job.number, i);
        CU_ASSERT_EQUAL(job.duration_ns, 5 * SECOND);
        CU_ASSERT_TRUE(jobspec_parse("x", job.spec, job.spec_size, &parsed, NULL));
        CU_ASSERT_EQUAL(parsed.duration_ns, 5 * SECOND);
        CU_ASSERT_EQUAL(parsed.cores_per_slot, 2);
        CU_ASSERT_EQUAL(parsed.limit_ns, 9 * SECOND);
    }
    CU_ASSERT_FALSE(workload_next(w, &job, NULL));
    workload_free(w);

    unsigned draws = 0;
    plan = (struct workload_bulk){ .jobs = 4, .slots = 1, .cores_per_slot = 1, .limit_ns = WORKLOAD_NO_LIMIT,
                                   .draw = draw, .draw_context = &draws };
    w = workload_bulk_new(&plan);
    for (uint64_t i = 0; workload_next(w, &job, NULL); i++) {
        CU_ASSERT_EQUAL(job.duration_ns, (int64_t)(i / 2) * SECOND);
        CU_ASSERT_TRUE(jobspec_parse("x", job.spec, job.spec_size, &parsed, NULL));
        CU_ASSERT_EQUAL(parsed.duration_ns, job.duration_ns);
    }
    CU_ASSERT_EQUAL(draws, 4);
    workload_free(w);

    unsigned gaps = 0;
    plan.gap = draw;
    plan.gap_context = &gaps;
    w = workload_bulk_new(&plan);
    const int64_t submits[] = { 0, 0, 1, 2 };
    for (uint64_t i = 0; workload_next(w, &job, NULL); i++)
        CU_ASSERT_EQUAL(job.submit_ns, submits[i] * SECOND);
    CU_ASSERT_EQUAL(gaps, 4);
    workload_free(w);
    plan.gap = NULL;

    plan.jobs = 0;
    w = workload_bulk_new(&plan);
    CU_ASSERT_FALSE(workload_next(w, &job, NULL));
    workload_free(w);

    plan = (struct workload_bulk){ .jobs = 1, .slots = 1, .cores_per_slot = 1, .without_text = true };
    w = workload_bulk_new(&plan);
    CU_ASSERT_TRUE(workload_next(w, &job, NULL));
    CU_ASSERT_PTR_NULL(job.spec);
    workload_free(w);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "decimals are read exactly, and refused when they are none or too large", test_decimal },
        { "JSON is read strictly", test_json },
        { "messages name line, column, path and value", test_json_place },
        { "a jobspec of version 1 gives resources, duration and limit", test_jobspec },
        { "what a jobspec may not hold is refused by name", test_jobspec_refused },
        { "damaged jobspecs are refused, never worse", test_jobspec_damaged },
        { "a written jobspec reads back", test_jobspec_write },
        { "a directory yields its files in the order of their names, repeated", test_directory },
        { "a directory that is no good is refused, all its problems at once", test_directory_refused },
        { "the 16 shipped jobspecs make the 1,024 jobs of the reference", test_shipped },
        { "bulk jobs are alike or drawn, with their texts", test_bulk },
        { NULL, NULL },
    };
    return suite_run("workload", tests);
}
