/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports as plain data, and what is written of them. */
#include "suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-glib/json-glib.h>

#include "report/document.h"

static const struct report_column columns[] = {
    { "role", "role", REPORT_TEXT }, { "busy_share", "busy", REPORT_SHARE }, { "mean_s", "mean", REPORT_SECONDS }
};

static struct document *sample(void)
{
    struct document *d = document_new("a \"title\"\twith everything \xff");
    struct section *s = document_section(d, "roles", "Roles", columns, G_N_ELEMENTS(columns));
    section_text(s, "kvs-root");
    section_number(s, 0.875);
    section_number(s, 0.02145);
    section_text(s, "name\nwith \\ and \xc3\xa4");
    section_number(s, NAN);
    section_number(s, 0);
    section_note(s, "%d rows", 2);
    return d;
}

static char *written(void (*write)(const struct document *d, FILE *out), const struct document *d)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    write(d, out);
    fclose(out);
    return text;
}

static void test_text(void)
{
    struct document *d = sample();
    char *text = written(document_write_text, d);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "  kvs-root"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "87.5 %"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "21.45 ms"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "  2 rows\n"));
    free(text);
    document_free(d);
}

static void test_json(void)
{
    struct document *d = sample();
    char *text = written(document_write_json, d);
    g_autoptr(JsonParser) parser = json_parser_new();
    CU_ASSERT_FATAL(json_parser_load_from_data(parser, text, -1, NULL));
    JsonObject *roles = json_object_get_object_member(json_node_get_object(json_parser_get_root(parser)), "roles");
    JsonArray *rows = json_object_get_array_member(roles, "rows");
    CU_ASSERT_EQUAL(json_array_get_length(rows), 2);
    JsonObject *first = json_array_get_object_element(rows, 0), *second = json_array_get_object_element(rows, 1);
    CU_ASSERT_EQUAL(json_object_get_double_member(first, "busy_share"), 0.875);
    CU_ASSERT_EQUAL(json_object_get_double_member(first, "mean_s"), 0.02145);
    CU_ASSERT_STRING_EQUAL(json_object_get_string_member(second, "role"), "name\nwith \\ and \xc3\xa4");
    CU_ASSERT(json_object_get_null_member(second, "busy_share"));
    free(text);
    document_free(d);
}

static void test_tsv(void)
{
    struct document *d = sample();
    char *text = written(document_write_tsv, d);
    g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
    for (unsigned i = 0; lines[i] != NULL && lines[i][0] != '\0'; i++) {
        g_auto(GStrv) cells = g_strsplit(lines[i], "\t", 0);
        CU_ASSERT_EQUAL(g_strv_length(cells), 5);
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nroles\t1\tmean_s\ts\t0.02145\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nroles\t2\tbusy_share\t1\t\n"));
    free(text);
    document_free(d);
}

static void test_values(void)
{
    static const struct {
        double number;
        enum report_unit unit;
        const char *text;
    } table[] = {
        { 0, REPORT_SECONDS, "0 s" },           { 1e-9, REPORT_SECONDS, "1.000 ns" },
        { 59.5, REPORT_SECONDS, "59.50 s" },    { 64260, REPORT_SECONDS, "17.85 h" },
        { 209715200, REPORT_BYTES, "200.0 MiB" }, { 209715200, REPORT_BYTE_RATE, "200.0 MiB/s" },
        { 512, REPORT_BYTES, "512.0 B" },       { 0.5, REPORT_SHARE, "50.0 %" },
        { 15558.4, REPORT_RATE, "15558/s" },    { 67.68, REPORT_RATE, "67.68/s" },
        { 1e9, REPORT_COUNT, "1000000000" },    { NAN, REPORT_COUNT, "-" },
        { 1, REPORT_SHARE, "100.0 %" }
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
        struct report_value value = { .number = table[i].number, .unit = table[i].unit };
        g_autofree char *text = report_value_text(&value);
        if (strcmp(text, table[i].text) != 0)
            printf("\ngot %s, expected %s\n", text, table[i].text);
        CU_ASSERT_STRING_EQUAL(text, table[i].text);
    }
}

static void test_find(void)
{
    struct document *d = sample();
    CU_ASSERT_EQUAL(section_rows(document_find(d, "roles")), 2);
    CU_ASSERT_PTR_NULL(document_find(d, "stages"));
    document_free(d);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "people get scaled values in columns", test_text },
        { "JSON has the numbers as they are, and null for none", test_json },
        { "every line of TSV has five cells, whatever the texts hold", test_tsv },
        { "values are scaled to what can be read", test_values },
        { "sections are found by name", test_find },
        { NULL, NULL }
    };
    return suite_run("report", tests);
}
