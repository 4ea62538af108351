/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where fit and calibrate put the cost profile that they make: what --profile names.
 *
 *     if (!profile_file_check(options, &error)) ...           before hours of runs
 *     if (!profile_file_write(options->profile, text, &error)) ...
 *
 * Local.
 */
#ifndef TIERCEL_PROFILE_FILE_H
#define TIERCEL_PROFILE_FILE_H

#include "base/error.h"
#include "options.h"

/* Whether a profile may be written where it was asked for; TRUE where none was. INPUT: no such folder, a folder in its
 * place, or a file that is there without --force. */
gboolean profile_file_check(const struct options *options, GError **error);

/* Whole or not at all. RUNTIME: it cannot be written. */
gboolean profile_file_write(const char *path, const char *text, GError **error);

#endif
