/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/file.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/error.h"

static FILE *refuse(const char *path, const char *why, GError **error)
{
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s: cannot be read: %s", path, why);
    return NULL;
}

FILE *file_open(const char *path, GError **error)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return refuse(path, g_strerror(errno), error);
    if (!S_ISREG(status.st_mode))
        return refuse(path, S_ISDIR(status.st_mode) ? "it is a directory, expected a file" : "it is not a regular file",
                      error);
    FILE *stream = fopen(path, "rb");
    return stream != NULL ? stream : refuse(path, g_strerror(errno), error);
}

bool file_load(const char *path, size_t limit, char **text, size_t *size, GError **error)
{
    FILE *stream = file_open(path, error);
    if (stream == NULL)
        return false;
    GString *all = g_string_new(NULL);
    char block[16384];
    size_t got;
    while (all->len <= limit && (got = fread(block, 1, sizeof block, stream)) > 0)
        g_string_append_len(all, block, (gssize)got);
    bool failed = ferror(stream) != 0;
    int cause = errno;
    fclose(stream);
    if (failed || all->len > limit) {
        if (failed)
            g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: reading failed: %s", path, g_strerror(cause));
        else
            g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s: has more than %zu bytes, the most that is read "
                        "of such a file", path, limit);
        g_string_free(all, TRUE);
        return false;
    }
    *size = all->len;
    *text = g_string_free(all, FALSE);
    return true;
}
