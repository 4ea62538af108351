/* SPDX-License-Identifier: BSD-3-Clause */
#include "deck_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/quantity.h"

static gboolean check_regular(int fd, GError **error)
{
    struct stat status;

    if (fstat(fd, &status) != 0) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "cannot be read: %s", g_strerror(errno));
        return FALSE;
    }
    if (S_ISREG(status.st_mode))
        return TRUE;
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s",
                S_ISDIR(status.st_mode) ? "is a directory" : "is a pipe or a device");
    return FALSE;
}

GBytes *deck_file_read(void *data, const char *path, GError **error)
{
    /* Without O_NONBLOCK, opening a pipe would wait for its writer. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    size_t size = 0;
    ssize_t got;

    if (fd < 0) {
        gboolean absent = errno == ENOENT || errno == ENOTDIR;
        g_set_error(error, TIERCEL_ERROR, absent ? DECK_READ_ABSENT : TIERCEL_ERROR_INPUT, "cannot be read: %s",
                    g_strerror(errno));
        return NULL;
    }
    if (!check_regular(fd, error)) {
        close(fd);
        return NULL;
    }
    char *buffer = g_malloc(DECK_FILE_MAX + 1);
    do {
        got = read(fd, buffer + size, DECK_FILE_MAX + 1 - size);
        if (got > 0)
            size += (size_t)got;
    } while ((got > 0 && size <= DECK_FILE_MAX) || (got < 0 && errno == EINTR));
    if (got < 0) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "cannot be read: %s", g_strerror(errno));
        g_free(buffer);
        buffer = NULL;
    }
    close(fd);
    return buffer == NULL ? NULL : g_bytes_new_take(g_realloc(buffer, size), size);
}

struct scan {
    struct deck_file *file;
    GHashTable *seen;               /* "group" and "group\nkey" -> line */
    const char *group;              /* NULL before the first, and inside one that was refused */
    bool in_bad_group;
    deck_complain_fn complain;
    void *data;
};

static void complain(struct scan *scan, unsigned line, const char *format, ...) G_GNUC_PRINTF(3, 4);

static void complain(struct scan *scan, unsigned line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    scan->complain(scan->data, scan->file->path, line, text);
    g_free(text);
}

/* The number of the line where `name` was seen first, remembering this one when it is new; 0 when it is new. */
static unsigned seen_before(struct scan *scan, const char *name, unsigned line)
{
    unsigned before = GPOINTER_TO_UINT(g_hash_table_lookup(scan->seen, name));
    if (before == 0)
        g_hash_table_insert(scan->seen, g_strdup(name), GUINT_TO_POINTER(line));
    return before;
}

static bool is_name(const char *text)
{
    for (; *text != '\0'; text++)
        if (!g_ascii_isalnum(*text) && strchr("._-", *text) == NULL)
            return false;
    return true;
}

static void scan_group(struct scan *scan, char *text, unsigned line)
{
    size_t length = strlen(text);
    char *name = text + 1;
    char *quoted = quantity_quote(text);

    scan->group = NULL;
    scan->in_bad_group = true;
    if (text[length - 1] != ']' || length < 3 || (text[length - 1] = '\0', !is_name(name))) {
        complain(scan, line, "%s is not a group; expected a name of letters, digits, '.', '_' and '-' in brackets, "
                 "such as [cluster]", quoted);
    } else {
        unsigned before = seen_before(scan, name, line);
        struct deck_entry entry = { .group = g_string_chunk_insert_const(scan->file->texts, name), .line = line };

        scan->group = entry.group;
        scan->in_bad_group = false;
        if (before != 0)
            complain(scan, line, "[%s]: the group stands in line %u already; expected each group once, with all its "
                     "keys", name, before);
        else
            g_array_append_val(scan->file->groups, entry);
    }
    g_free(quoted);
}

static void scan_entry(struct scan *scan, char *text, unsigned line)
{
    char *equals = strchr(text, '=');

    if (equals == NULL || equals == text) {
        char *quoted = quantity_quote(text);
        complain(scan, line, "%s is not an entry%s; expected key = value, [group], or # and a comment", quoted,
                 *text == ';' ? " (a comment begins with #)" : "");
        g_free(quoted);
        return;
    }
    *equals = '\0';
    const char *key = g_strchomp(text);
    const char *value = g_strstrip(equals + 1);
    if (!is_name(key)) {
        char *quoted = quantity_quote(key);
        complain(scan, line, "%s is not a key; expected a name of letters, digits, '.', '_' and '-'", quoted);
        g_free(quoted);
    } else if (scan->group == NULL) {
        /* A group whose own line was refused is complained of once, not again for each of its keys. */
        if (!scan->in_bad_group)
            complain(scan, line, "%s: the key stands before the first group; expected [deck] first", key);
    } else if (*value == '\0') {
        complain(scan, line, "[%s] %s: has no value; expected key = value", scan->group, key);
    } else {
        char *full = g_strdup_printf("%s\n%s", scan->group, key);
        unsigned before = seen_before(scan, full, line);
        struct deck_entry entry = { .group = scan->group, .line = line, .repeated = before != 0 };

        entry.key = g_string_chunk_insert_const(scan->file->texts, key);
        entry.value = g_string_chunk_insert(scan->file->texts, value);
        if (before != 0)
            complain(scan, line, "[%s] %s: the key stands in line %u already; expected it once", scan->group, key,
                     before);
        g_array_append_val(scan->file->entries, entry);
        g_free(full);
    }
}

/* Whether a line is text. The first that is not ends the scan: the rest of such a file is only noise. */
static bool check_text(struct scan *scan, const char *at, size_t length, unsigned line)
{
    const char *bad;

    if (length > DECK_LINE_MAX) {
        complain(scan, line, "the line is longer than %d bytes; expected a deck of short lines", DECK_LINE_MAX);
        return false;
    }
    if (length > 0 && at[length - 1] == '\r') {
        complain(scan, line, "the line ends in CR LF; expected LF alone (dos2unix converts a file)");
        return false;
    }
    for (size_t i = 0; i < length; i++)
        if (g_ascii_iscntrl(at[i]) && at[i] != '\t') {
            complain(scan, line, "byte %zu of the line is the control character \\x%02x; expected a deck in plain text",
                     i + 1, (unsigned char)at[i]);
            return false;
        }
    if (!g_utf8_validate(at, (gssize)length, &bad)) {
        complain(scan, line, "byte %zu of the line, \\x%02x, is not UTF-8; expected a deck in plain text",
                 (size_t)(bad - at) + 1, (unsigned char)*bad);
        return false;
    }
    return true;
}

static bool scan_line(struct scan *scan, const char *at, size_t length, unsigned line)
{
    if (!check_text(scan, at, length, line))
        return false;
    char *text = g_strndup(at, length);
    char *stripped = g_strstrip(text);
    if (*stripped == '[')
        scan_group(scan, stripped, line);
    else if (*stripped != '\0' && *stripped != '#')
        scan_entry(scan, stripped, line);
    g_free(text);
    return true;
}

static void scan_lines(struct scan *scan)
{
    size_t size;
    const char *at = g_bytes_get_data(scan->file->bytes, &size);
    const char *end = at + size;

    scan->file->broken = true;
    if (size == 0) {
        complain(scan, 0, "is empty; expected a deck that begins with [deck] and format = 1");
        return;
    }
    if (size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) {
        complain(scan, 1, "the file begins with a byte order mark; expected UTF-8 without one");
        return;
    }
    for (unsigned line = 1; at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline != NULL ? newline : end) - at);
        if (!scan_line(scan, at, length, line))
            return;
        at = newline != NULL ? newline + 1 : end;
    }
    if (size > DECK_FILE_MAX)
        complain(scan, 0, "is larger than %d bytes; expected a deck", DECK_FILE_MAX);
    else
        scan->file->broken = false;
}

struct deck_file *deck_file_scan(const char *path, GBytes *bytes, deck_complain_fn complain_fn, void *data)
{
    struct deck_file *file = g_new0(struct deck_file, 1);
    struct scan scan = { .file = file, .complain = complain_fn, .data = data };

    file->path = g_strdup(path);
    file->bytes = g_bytes_ref(bytes);
    file->entries = g_array_new(FALSE, FALSE, sizeof(struct deck_entry));
    file->groups = g_array_new(FALSE, FALSE, sizeof(struct deck_entry));
    file->texts = g_string_chunk_new(4096);
    scan.seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    scan_lines(&scan);
    g_hash_table_destroy(scan.seen);
    return file;
}

void deck_file_free(struct deck_file *file)
{
    if (file == NULL)
        return;
    g_free(file->path);
    g_bytes_unref(file->bytes);
    g_array_free(file->entries, TRUE);
    g_array_free(file->groups, TRUE);
    g_string_chunk_free(file->texts);
    g_free(file);
}
