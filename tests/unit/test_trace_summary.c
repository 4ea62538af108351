/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <math.h>
#include <unistd.h>

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>

#include "trace/summary.h"

static void set_run(struct summary *s)
{
    summary_flag(s, "run", "completed", true);
    summary_text(s, "run", "digest", "0123456789abcdef0123456789abcdef");
    summary_text(s, "run", "clock", "virtual");
    summary_text(s, "run", "spread", "auto");
    summary_text(s, "run", "version", "0.1 \"quoted\" \\ \x01 \xff");
    static const char *const counts[] = { "processes", "active_processes", "windows", "remote_messages", "events",
                                          "peak_rss_bytes", "actors", "seed" };
    for (unsigned i = 0; i < G_N_ELEMENTS(counts); i++)
        summary_count(s, "run", counts[i], i + 1);
    static const char *const numbers[] = { "events_per_window", "wall_s", "sim_end_s", "events_per_s",
                                           "bytes_per_actor" };
    for (unsigned i = 0; i < G_N_ELEMENTS(numbers); i++)
        summary_number(s, "run", numbers[i], 0.1 * i);
}

static void set_subscribe(struct summary *s)
{
    summary_count(s, "subscribe", "namespace_calls", 23424);
    summary_count(s, "subscribe", "other_calls", UINT64_MAX / 2);
    summary_count(s, "subscribe", "entries_left", 3456);
    summary_number(s, "subscribe", "blocked_s", 67.6);
}

static void set_lists(struct summary *s)
{
    summary_role(s, "broker", &(struct summary_role){ 10, 0.5, 1.25, 1e-6, NAN });
    summary_role(s, "kvs.root", &(struct summary_role){ 20, 0.25, 0, 0, 0 });
    summary_stage(s, "alloc", 0.1, 0.2, 0.3);
    summary_limit(s, "job-manager", 0.9, 75.5);
    summary_limit(s, "broker", 0.5, 80);
    summary_balance(s, "jobs", 1024, 1024, true);
    summary_expect(s, "jobs.run_rate", &(struct summary_expectation){ 67.6, 68, 0.0059, true, true });
}

static JsonNode *parse(const char *text)
{
    JsonParser *parser = json_parser_new();
    GError *error = NULL;
    CU_ASSERT_TRUE_FATAL(json_parser_load_from_data(parser, text, -1, &error));
    JsonNode *root = json_parser_steal_root(parser);
    g_object_unref(parser);
    return root;
}

static void test_document(void)
{
    struct summary *s = summary_new();
    set_run(s);
    set_subscribe(s);
    set_lists(s);
    char *text = summary_to_text(s, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    JsonNode *root = parse(text);
    JsonObject *object = json_node_get_object(root);
    CU_ASSERT_EQUAL(json_object_get_int_member(object, "format"), 1);
    JsonObject *run = json_object_get_object_member(object, "run");
    CU_ASSERT_EQUAL(json_object_get_size(run), 18);
    CU_ASSERT(json_object_get_boolean_member(run, "completed"));
    CU_ASSERT(g_str_has_prefix(json_object_get_string_member(run, "version"), "0.1 \"quoted\" \\ \x01 "));
    JsonObject *subscribe = json_object_get_object_member(object, "subscribe");
    CU_ASSERT_EQUAL(json_object_get_int_member(subscribe, "namespace_calls"), 23424);
    CU_ASSERT_DOUBLE_EQUAL(json_object_get_double_member(subscribe, "blocked_s"), 67.6, 0);
    JsonObject *broker = json_object_get_object_member(json_object_get_object_member(object, "roles"), "broker");
    CU_ASSERT(json_object_get_null_member(broker, "blocked_fraction"));
    JsonArray *limits = json_object_get_array_member(object, "limits");
    CU_ASSERT_STRING_EQUAL(json_object_get_string_member(json_array_get_object_element(limits, 0), "name"),
                           "job-manager");
    /* A part that the deck does not have is not there. */
    CU_ASSERT_FALSE(json_object_has_member(object, "jobs"));
    CU_ASSERT_FALSE(json_object_has_member(object, "io"));
    /* Numbers are written shortly, and as numbers with a point. */
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"blocked_s\": 67.6\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"rate_if_free\": 80.0 "));
    json_node_unref(root);
    g_free(text);
    summary_free(s);
}

static void test_missing(void)
{
    struct summary *s = summary_new();
    set_run(s);
    summary_count(s, "subscribe", "namespace_calls", 1);
    summary_number(s, "subscribe", "blocked_s", 1);
    GError *error = NULL;
    CU_ASSERT_PTR_NULL(summary_to_text(s, &error));
    CU_ASSERT(g_error_matches(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "subscribe.other_calls"));
    g_clear_error(&error);
    summary_count(s, "subscribe", "other_calls", 2);
    summary_count(s, "subscribe", "entries_left", 0);
    summary_group(s, "jobs");
    CU_ASSERT_PTR_NULL(summary_to_text(s, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "jobs.submitted"));
    g_clear_error(&error);
    summary_free(s);
}

static void test_empty_groups(void)
{
    struct summary *s = summary_new();
    set_run(s);
    char *text = summary_to_text(s, NULL);
    JsonNode *root = parse(text);
    CU_ASSERT_EQUAL(json_object_get_size(json_node_get_object(root)), 2);
    json_node_unref(root);
    g_free(text);
    summary_free(s);
}

static void check_lookup(const struct summary *s, const char *path, double expected)
{
    double value = -1;
    GError *error = NULL;
    CU_ASSERT(summary_lookup(s, path, &value, &error));
    CU_ASSERT_DOUBLE_EQUAL(value, expected, 0);
    g_clear_error(&error);
}

static void check_unknown(const struct summary *s, const char *path, const char *part)
{
    double value = -1;
    GError *error = NULL;
    CU_ASSERT_FALSE(summary_lookup(s, path, &value, &error));
    CU_ASSERT(g_error_matches(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, part));
    g_clear_error(&error);
}

static void test_lookup(void)
{
    struct summary *s = summary_new();
    set_run(s);
    set_subscribe(s);
    set_lists(s);
    check_lookup(s, "subscribe.namespace_calls", 23424);
    check_lookup(s, "subscribe.blocked_s", 67.6);
    check_lookup(s, "run.completed", 1);
    check_lookup(s, "roles.broker.mean_queue", 1.25);
    check_lookup(s, "roles.kvs.root.handled", 20);
    check_lookup(s, "stages.alloc.p99_s", 0.3);
    check_unknown(s, "subscribe.namespace_cals", "subscribe.namespace_calls");
    check_unknown(s, "jobs.run_rat", "jobs.run_rate");
    check_unknown(s, "jobs.run_rate", "no such part");
    check_unknown(s, "run.digest", "text");
    check_unknown(s, "", "is not a key");
    check_unknown(s, "run", "is not a key");
    check_unknown(s, "roles.brokr.handled", "no such role");
    check_unknown(s, "roles.broker.handle", "expected roles.ROLE.KEY");
    CU_ASSERT(summary_key_known("jobs.run_rate"));
    CU_ASSERT(summary_key_known("stages.alloc.p99_s"));
    CU_ASSERT(summary_key_known("roles.any.busy_fraction"));
    CU_ASSERT_FALSE(summary_key_known("roles..busy_fraction"));
    CU_ASSERT_FALSE(summary_key_known("roles.busy_fraction"));
    CU_ASSERT_FALSE(summary_key_known("jobs.rate"));
    CU_ASSERT_FALSE(summary_key_known("run.digest"));
    summary_free(s);
}

static void test_read_back(void)
{
    char *folder = g_dir_make_tmp("tiercel-summary-XXXXXX", NULL);
    char *path = g_build_filename(folder, "summary.json", NULL);
    struct summary *s = summary_new();
    set_run(s);
    set_subscribe(s);
    set_lists(s);
    CU_ASSERT_FATAL(summary_write(s, path, NULL));
    GError *error = NULL;
    struct summary *back = summary_read(path, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    char *one = summary_to_text(s, NULL), *other = summary_to_text(back, NULL);
    CU_ASSERT_STRING_EQUAL(one, other);
    g_free(one);
    g_free(other);
    summary_free(back);
    summary_free(s);

    /* Only the file itself is left. */
    GDir *dir = g_dir_open(folder, 0, NULL);
    CU_ASSERT_STRING_EQUAL(g_dir_read_name(dir), "summary.json");
    CU_ASSERT_PTR_NULL(g_dir_read_name(dir));
    g_dir_close(dir);
    unlink(path);
    g_rmdir(folder);
    g_free(path);
    g_free(folder);
}

static void test_write_fails(void)
{
    struct summary *s = summary_new();
    set_run(s);
    GError *error = NULL;
    CU_ASSERT_FALSE(summary_write(s, "/nowhere/at/all/summary.json", &error));
    CU_ASSERT(g_error_matches(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME));
    g_clear_error(&error);
    summary_free(s);
}

static void test_read_refused(void)
{
    static const char *const texts[] = {
        "", "{", "[]", "null", "{}", "{ \"format\": \"1\" }", "{ \"format\": 2, \"run\": {} }", "{ \"format\": 1 }",
        "{ \"format\": 1, \"run\": 7 }", "{ \"format\": 1, \"run\": {} }",
        "{ \"format\": 1, \"run\": { \"completed\": 1 } }", "\x89HDF\r\n"
    };
    char *folder = g_dir_make_tmp("tiercel-summary-XXXXXX", NULL);
    char *path = g_build_filename(folder, "summary.json", NULL);
    GError *error = NULL;
    CU_ASSERT_PTR_NULL(summary_read(path, &error));
    CU_ASSERT(g_error_matches(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME));
    g_clear_error(&error);
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_file_set_contents(path, texts[i], -1, NULL);
        CU_ASSERT_PTR_NULL(summary_read(path, &error));
        CU_ASSERT(g_error_matches(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME));
        CU_ASSERT_PTR_NULL(strchr(error->message, '\n'));
        g_clear_error(&error);
    }
    /* Damaged lists. */
    struct summary *s = summary_new();
    set_run(s);
    set_lists(s);
    char *text = summary_to_text(s, NULL);
    static const char *const changes[][2] = {
        { "\"busy_fraction\"", "\"busy\"" }, { "\"limits\": [", "\"limits\": 7, \"other\": [" },
        { "\"name\"", "\"nom\"" }, { "\"ok\": true", "\"ok\": 1" }, { "\"roles\": {", "\"roles\": [], \"x\": {" }
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(changes); i++) {
        char **parts = g_strsplit(text, changes[i][0], 2);
        CU_ASSERT_EQUAL_FATAL(g_strv_length(parts), 2);
        char *changed = g_strjoinv(changes[i][1], parts);
        g_file_set_contents(path, changed, -1, NULL);
        CU_ASSERT_PTR_NULL(summary_read(path, &error));
        g_clear_error(&error);
        g_free(changed);
        g_strfreev(parts);
    }
    g_free(text);
    summary_free(s);
    unlink(path);
    g_rmdir(folder);
    g_free(path);
    g_free(folder);
}

static void test_texts(void)
{
    CU_ASSERT_NOT_EQUAL(*summary_key_text("jobs.run_rate"), '\0');
    CU_ASSERT_NOT_EQUAL(*summary_key_text("stages.alloc.mean_s"), '\0');
    CU_ASSERT_NOT_EQUAL(*summary_key_text("roles.a.b.busy_fraction"), '\0');
    CU_ASSERT_STRING_EQUAL(summary_key_text("jobs.nothing"), "");
    CU_ASSERT_STRING_EQUAL(summary_key_text("stages.mean_s"), "");
    CU_ASSERT_STRING_EQUAL(summary_key_text("jobs"), "");
    CU_ASSERT_STRING_EQUAL(summary_key_text(""), "");
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "the document is JSON with the keys in their groups", test_document },
        { "a key that was never set is named", test_missing },
        { "parts that are not in the deck are absent", test_empty_groups },
        { "keys are looked up by path, unknown ones get a suggestion", test_lookup },
        { "keys tell what they are", test_texts },
        { "a written summary reads back the same and leaves no other file", test_read_back },
        { "a folder that is not there is an error", test_write_fails },
        { "what is not a summary is refused in one line", test_read_refused },
        { NULL, NULL }
    };
    return suite_run("summary", tests);
}
