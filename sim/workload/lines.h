/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines of a large text file, one after the other in bounded memory, or from given places. Bytes are taken as they
 * are; a line ends with \n or \r\n, the last one may end with the file. All functions are local.
 */
#ifndef TIERCEL_WORKLOAD_LINES_H
#define TIERCEL_WORKLOAD_LINES_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LINES_SIZE_MAX 65536    /* bytes of the longest line that is read */

struct lines {
    char *path;
    FILE *stream;
    char *buffer;
    size_t begin;               /* of what is unread in the buffer */
    size_t end;
    uint64_t buffer_offset;     /* of the buffer's first byte in the file */
    uint64_t offset;            /* of the last line returned */
    uint64_t number;            /* of the last line returned, from 1; not kept over lines_seek */
};

bool lines_open(struct lines *lines, const char *path, GError **error);
void lines_release(struct lines *lines);

/* The next line without its end: TRUE. It is not terminated, and lives until the next call. FALSE at the end of the
 * file, or with *error set when the line is too long or the disk fails. */
bool lines_next(struct lines *lines, const char **text, size_t *size, GError **error);

/* Goes to the line that begins at `offset`, which must have been returned before. */
void lines_seek(struct lines *lines, uint64_t offset);

#endif
