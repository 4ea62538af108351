/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/lines.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "workload/file.h"

/* Room for the longest line, its end, and a block more. */
enum { BLOCK = 65536, BUFFER = LINES_SIZE_MAX + 2 + BLOCK };

bool lines_open(struct lines *lines, const char *path, GError **error)
{
    *lines = (struct lines){ .stream = file_open(path, error) };
    if (lines->stream == NULL)
        return false;
    setvbuf(lines->stream, NULL, _IONBF, 0);
    lines->path = g_strdup(path);
    lines->buffer = g_malloc(BUFFER);
    return true;
}

void lines_release(struct lines *lines)
{
    if (lines->stream != NULL)
        fclose(lines->stream);
    g_free(lines->buffer);
    g_free(lines->path);
    memset(lines, 0, sizeof *lines);
}

/* Reads more behind what is unread. FALSE when there is no more. */
static bool fill(struct lines *lines)
{
    memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
    lines->buffer_offset += lines->begin;
    lines->end -= lines->begin;
    lines->begin = 0;
    /* Little after a jump, because the next line may be elsewhere again. */
    size_t wanted = lines->end == 0 && lines->number == 0 ? 4096 : BLOCK;
    size_t got = fread(lines->buffer + lines->end, 1, MIN(wanted, BUFFER - lines->end), lines->stream);
    lines->end += got;
    return got > 0;
}

bool lines_next(struct lines *lines, const char **text, size_t *size, GError **error)
{
    size_t searched = 0;
    const char *newline;
    for (;;) {
        size_t unread = lines->end - lines->begin;
        newline = memchr(lines->buffer + lines->begin + searched, '\n', unread - searched);
        searched = unread;
        if (newline != NULL || unread > LINES_SIZE_MAX + 1 || !fill(lines))
            break;
    }
    size_t length = newline != NULL ? (size_t)(newline - lines->buffer) - lines->begin : lines->end - lines->begin;
    if (newline == NULL && ferror(lines->stream)) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: reading failed: %s", lines->path,
                    g_strerror(errno));
        return false;
    }
    if (newline == NULL && length == 0)
        return false;
    lines->number++;
    lines->offset = lines->buffer_offset + lines->begin;
    *text = lines->buffer + lines->begin;
    lines->begin += length + (newline != NULL);
    if (length > 0 && (*text)[length - 1] == '\r')
        length--;
    *size = length;
    if (length <= LINES_SIZE_MAX)
        return true;
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s:%" G_GUINT64_FORMAT ": a line of more than %d bytes: "
                "expected a text file with shorter lines", lines->path, lines->number, LINES_SIZE_MAX);
    return false;
}

void lines_seek(struct lines *lines, uint64_t offset)
{
    if (offset >= lines->buffer_offset && offset < lines->buffer_offset + lines->end) {
        lines->begin = (size_t)(offset - lines->buffer_offset);
        return;
    }
    clearerr(lines->stream);
    fseeko(lines->stream, (off_t)offset, SEEK_SET);
    lines->buffer_offset = offset;
    lines->begin = lines->end = 0;
    lines->number = 0;
}
