/* SPDX-License-Identifier: BSD-3-Clause */
#include "deck_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "suite.h"

static void collect(void *data, const char *path, unsigned line, const char *text)
{
    g_string_append_printf(data, "%s:%u: %s\n", path, line, text);
}

static struct deck_file *scan(const char *text, size_t size, GString *complaints)
{
    g_autoptr(GBytes) bytes = g_bytes_new(text, size);
    return deck_file_scan("x", bytes, collect, complaints);
}

static void test_entries(void)
{
    static const char text[] = "# comment\n\n[deck]\nformat=1\n  title =  a title, with = and # inside  \n"
                               "\t# another comment\n[io.fast]\nwriters = 4";
    g_autoptr(GString) complaints = g_string_new(NULL);
    struct deck_file *file = scan(text, strlen(text), complaints);

    CU_ASSERT_STRING_EQUAL(complaints->str, "");
    CU_ASSERT_EQUAL_FATAL(file->entries->len, 3);
    CU_ASSERT_STRING_EQUAL(deck_file_entry(file, 0)->group, "deck");
    CU_ASSERT_STRING_EQUAL(deck_file_entry(file, 0)->key, "format");
    CU_ASSERT_STRING_EQUAL(deck_file_entry(file, 0)->value, "1");
    CU_ASSERT_EQUAL(deck_file_entry(file, 0)->line, 4);
    CU_ASSERT_STRING_EQUAL(deck_file_entry(file, 1)->value, "a title, with = and # inside");
    CU_ASSERT_STRING_EQUAL(deck_file_entry(file, 2)->group, "io.fast");
    CU_ASSERT_STRING_EQUAL(deck_file_entry(file, 2)->value, "4");
    CU_ASSERT_EQUAL(deck_file_entry(file, 2)->line, 8);
    CU_ASSERT_EQUAL(file->groups->len, 2);
    CU_ASSERT_FALSE(file->broken);
    deck_file_free(file);
}

struct refused {
    const char *text;
    size_t size;
    const char *complaints;
    bool broken;
};

#define LITERAL(text) text, sizeof text - 1

static void test_refused(void)
{
    static const struct refused table[] = {
        { LITERAL(""), "x:0: is empty; expected a deck that begins with [deck] and format = 1\n", true },
        { LITERAL("\xef\xbb\xbf[deck]\n"), "x:1: the file begins with a byte order mark; expected UTF-8 without one\n",
          true },
        { LITERAL("[deck]\r\nformat = 1\r\n"),
          "x:1: the line ends in CR LF; expected LF alone (dos2unix converts a file)\n", true },
        { LITERAL("[deck]\nformat = \0001\n"),
          "x:2: byte 10 of the line is the control character \\x00; expected a deck in plain text\n", true },
        { LITERAL("\x7f""ELF\002\001"),
          "x:1: byte 1 of the line is the control character \\x7f; expected a deck in plain text\n", true },
        { LITERAL("[deck]\ntitle = \xe4\n"), "x:2: byte 9 of the line, \\xe4, is not UTF-8; expected a deck in plain "
          "text\n", true },
        { LITERAL("[deck]\nnonsense\n= 5\n; old comment\n"),
          "x:2: 'nonsense' is not an entry; expected key = value, [group], or # and a comment\n"
          "x:3: '= 5' is not an entry; expected key = value, [group], or # and a comment\n"
          "x:4: '; old comment' is not an entry (a comment begins with #); expected key = value, [group], or # and a "
          "comment\n", false },
        { LITERAL("a = 1\n[deck\nb = 2\n[]\n[a b]\n[c] # comment\n"),
          "x:1: a: the key stands before the first group; expected [deck] first\n"
          "x:2: '[deck' is not a group; expected a name of letters, digits, '.', '_' and '-' in brackets, such as "
          "[cluster]\n"
          "x:4: '[]' is not a group; expected a name of letters, digits, '.', '_' and '-' in brackets, such as "
          "[cluster]\n"
          "x:5: '[a b]' is not a group; expected a name of letters, digits, '.', '_' and '-' in brackets, such as "
          "[cluster]\n"
          "x:6: '[c] # comment' is not a group; expected a name of letters, digits, '.', '_' and '-' in brackets, such "
          "as [cluster]\n", false },
        { LITERAL("[deck]\na b = 1\nc =\nd = \t \n"),
          "x:2: 'a b' is not a key; expected a name of letters, digits, '.', '_' and '-'\n"
          "x:3: [deck] c: has no value; expected key = value\n"
          "x:4: [deck] d: has no value; expected key = value\n", false },
        { LITERAL("[deck]\na = 1\na = 2\n[run]\na = 1\n[deck]\na = 3\n"),
          "x:3: [deck] a: the key stands in line 2 already; expected it once\n"
          "x:6: [deck]: the group stands in line 1 already; expected each group once, with all its keys\n"
          "x:7: [deck] a: the key stands in line 2 already; expected it once\n", false }
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
        g_autoptr(GString) complaints = g_string_new(NULL);
        struct deck_file *file = scan(table[i].text, table[i].size, complaints);
        if (strcmp(complaints->str, table[i].complaints) != 0)
            printf("\ngot:\n%sexpected:\n%s", complaints->str, table[i].complaints);
        CU_ASSERT_STRING_EQUAL(complaints->str, table[i].complaints);
        CU_ASSERT_EQUAL(file->broken, table[i].broken);
        deck_file_free(file);
    }
}

static void test_long(void)
{
    g_autoptr(GString) complaints = g_string_new(NULL);
    g_autoptr(GString) text = g_string_new("[deck]\ntitle = ");

    while (text->len < 7 + DECK_LINE_MAX)
        g_string_append_c(text, 'x');
    struct deck_file *file = scan(text->str, text->len, complaints);
    CU_ASSERT_STRING_EQUAL(complaints->str, "");
    CU_ASSERT_EQUAL(file->entries->len, 1);
    deck_file_free(file);

    g_string_append_c(text, 'x');
    file = scan(text->str, text->len, complaints);
    CU_ASSERT_STRING_EQUAL(complaints->str, "x:2: the line is longer than 4096 bytes; expected a deck of short "
                                            "lines\n");
    deck_file_free(file);

    g_string_assign(text, "[deck]\n");
    g_string_assign(complaints, "");
    while (text->len <= DECK_FILE_MAX)
        g_string_append(text, "# a comment\n");
    file = scan(text->str, text->len, complaints);
    CU_ASSERT_STRING_EQUAL(complaints->str, "x:0: is larger than 4194304 bytes; expected a deck\n");
    CU_ASSERT_TRUE(file->broken);
    deck_file_free(file);
}

/* What the scan accepts, GLib's parser reads as the same keys and values; random texts of the characters that
 * matter. */
static void test_as_glib(void)
{
    static const char alphabet[] = "[]=#;ab \t\n\n\n.-";
    g_autoptr(GRand) rand = g_rand_new_with_seed(20260101);
    unsigned accepted = 0;

    for (unsigned round = 0; round < 20000; round++) {
        g_autoptr(GString) complaints = g_string_new(NULL);
        g_autoptr(GString) text = g_string_new("[g]\n");
        unsigned length = (unsigned)g_rand_int_range(rand, 1, 40);
        for (unsigned i = 0; i < length; i++)
            g_string_append_c(text, alphabet[g_rand_int_range(rand, 0, sizeof alphabet - 1)]);
        struct deck_file *file = scan(text->str, text->len, complaints);
        if (complaints->len == 0) {
            g_autoptr(GKeyFile) key_file = g_key_file_new();
            CU_ASSERT_TRUE(g_key_file_load_from_data(key_file, text->str, text->len, G_KEY_FILE_NONE, NULL));
            for (unsigned i = 0; i < file->entries->len; i++) {
                const struct deck_entry *entry = deck_file_entry(file, i);
                g_autofree char *value = g_key_file_get_value(key_file, entry->group, entry->key, NULL);
                CU_ASSERT_PTR_NOT_NULL_FATAL(value);
                CU_ASSERT_STRING_EQUAL(g_strstrip(value), entry->value);
                accepted++;
            }
        }
        deck_file_free(file);
    }
    CU_ASSERT_TRUE(accepted > 100);
}

static void expect_unreadable(const char *path, int code, const char *text)
{
    g_autoptr(GError) error = NULL;
    GBytes *bytes = deck_file_read(NULL, path, &error);

    CU_ASSERT_PTR_NULL(bytes);
    CU_ASSERT_TRUE_FATAL(error != NULL);
    CU_ASSERT_EQUAL(error->code, code);
    CU_ASSERT_STRING_EQUAL(error->message, text);
}

static void test_read(void)
{
    g_autofree char *folder = g_dir_make_tmp("tiercel-test-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "deck", NULL);
    g_autofree char *pipe = g_build_filename(folder, "pipe", NULL);
    g_autofree char *below = g_build_filename(path, "deck", NULL);

    CU_ASSERT_TRUE_FATAL(g_file_set_contents(path, "[deck]\n", -1, NULL));
    CU_ASSERT_EQUAL_FATAL(mkfifo(pipe, 0600), 0);
    g_autoptr(GBytes) bytes = deck_file_read(NULL, path, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    CU_ASSERT_EQUAL(g_bytes_get_size(bytes), 7);
    expect_unreadable("/nonexistent/deck", DECK_READ_ABSENT, "cannot be read: No such file or directory");
    expect_unreadable(below, DECK_READ_ABSENT, "cannot be read: Not a directory");
    expect_unreadable(folder, TIERCEL_ERROR_INPUT, "is a directory");
    expect_unreadable(pipe, TIERCEL_ERROR_INPUT, "is a pipe or a device");
    expect_unreadable("/dev/null", TIERCEL_ERROR_INPUT, "is a pipe or a device");
    g_chmod(path, 0);
    if (geteuid() != 0)
        expect_unreadable(path, TIERCEL_ERROR_INPUT, "cannot be read: Permission denied");
    g_unlink(path);
    g_unlink(pipe);
    g_rmdir(folder);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "groups, keys, values and lines are found", test_entries },
        { "what is not a deck is refused, line by line", test_refused },
        { "a long line and a large file are refused, at the limit exactly", test_long },
        { "what is accepted, GLib reads the same", test_as_glib },
        { "only plain files are read", test_read },
        { NULL, NULL }
    };
    return suite_run("deck_file", tests);
}
