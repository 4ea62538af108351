/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One file of a deck, read and cut into entries: groups, keys, raw values and the lines where they stand.
 *
 *     GBytes *bytes = reader.read(reader.data, path, &error);
 *     struct deck_file *file = deck_file_scan(path, bytes, complain, data);
 *     for (i = 0; i < file->entries->len; i++)
 *         use(deck_file_entry(file, i));
 *     deck_file_free(file);
 *
 * The form is that of GLib's key files, of which this takes a strict part: whatever is accepted here, GLib reads the
 * same. UTF-8 text in lines that end with LF; a line is blank, a comment ("#" is its first character that is not a
 * blank), a group "[name]", or "key = value". Refused, each in one line with its number: everything else, a key or a
 * group a second time (GLib would take the last or join them), a key outside a group, a key without a value, a byte
 * order mark, CR, control characters and NUL, a line of more than DECK_LINE_MAX bytes, a file of more than
 * DECK_FILE_MAX bytes or of none.
 *
 * Nothing here knows which groups and keys there are: that is deck_schema.h. Scanning is local and reads no files.
 */
#ifndef TIERCEL_DECK_FILE_H
#define TIERCEL_DECK_FILE_H

#include <stdbool.h>

#include "base/error.h"

enum {
    DECK_LINE_MAX = 4096,       /* bytes of a line, without its end */
    DECK_FILE_MAX = 4194304     /* bytes of a file */
};

struct deck_entry {
    const char *group;
    const char *key;
    const char *value;          /* without blanks at either end; never empty */
    unsigned line;              /* from 1 */
    bool repeated;              /* the group has this key already; complained of, and not to be used */
};

struct deck_file {
    char *path;                 /* as messages show it */
    GBytes *bytes;              /* as read, for the record of a run */
    GArray *entries;            /* struct deck_entry, in the file's order */
    GArray *groups;             /* struct deck_entry with key and value NULL: each group once, with or without keys */
    GStringChunk *texts;        /* what the entries point to */
    bool broken;                /* not text, or too large: what follows the first complaint was not looked at */
};

/* Where a scan and everything after it leave what is wrong. `line` is 0 when the whole file is meant. */
typedef void (*deck_complain_fn)(void *data, const char *path, unsigned line, const char *text);

/*
 * How files are read: a run over several processes puts a collective function here, so that all see the same bytes.
 * Returns at most DECK_FILE_MAX + 1 bytes of the file (more tells the scan that it is too large). On failure NULL with
 * a text that names no path; the code is TIERCEL_ERROR_INPUT, or DECK_READ_ABSENT when there is no such file.
 */
struct deck_reader {
    GBytes *(*read)(void *data, const char *path, GError **error);
    void *data;
};
enum { DECK_READ_ABSENT = 100 };

/* The plain reader of this process; `data` is not used. Regular files only: a directory, a pipe or a device is refused
 * without waiting for it. */
GBytes *deck_file_read(void *data, const char *path, GError **error);

/* Cuts `bytes` (a reference is kept) into entries. What is wrong goes to `complain`; the entries that could be
 * understood are there all the same. */
struct deck_file *deck_file_scan(const char *path, GBytes *bytes, deck_complain_fn complain, void *data);
void deck_file_free(struct deck_file *file);

static inline const struct deck_entry *deck_file_entry(const struct deck_file *file, unsigned i)
{
    return &g_array_index(file->entries, struct deck_entry, i);
}

#endif
