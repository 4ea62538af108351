/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In which form a command prints its document (report/document.h): what --format says.
 *
 *     if (!printed_form(options->format, &form, &error)) ...      INPUT: an unknown name
 *     printed_write(document, form, stdout);
 *
 * Local.
 */
#ifndef TIERCEL_PRINTED_H
#define TIERCEL_PRINTED_H

#include <stdio.h>

#include "base/error.h"
#include "report/document.h"

enum printed_form {
    PRINTED_TEXT,
    PRINTED_JSON,
    PRINTED_TSV
};

/* NULL: text. */
gboolean printed_form(const char *name, enum printed_form *form, GError **error);

/* The same for a command with forms of its own: the index of `name` among the names, which NULL ends; -1 with *error.
 * No name: 0. */
int printed_choose(const char *name, const char *const *names, GError **error);

/* "text, json or tsv". Free with g_free. */
char *printed_names(const char *const *names);

void printed_write(const struct document *document, enum printed_form form, FILE *out);

#endif
