/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a whole input file, with errors that name it.
 */
#ifndef TIERCEL_WORKLOAD_FILE_H
#define TIERCEL_WORKLOAD_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Opens a regular file for reading; anything else (missing, not readable, a directory, a pipe that could block for
 * ever) is TIERCEL_ERROR_INPUT. */
FILE *file_open(const char *path, GError **error);

/* Reads all of a regular file of at most `limit` bytes into *text (freed by the caller with g_free; a NUL follows the
 * last byte). A failing disk is TIERCEL_ERROR_RUNTIME. */
bool file_load(const char *path, size_t limit, char **text, size_t *size, GError **error);

#endif
