/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A text as a file that is whole or not there.
 *
 *     if (!text_file_write("runs/x/effective.deck", text, &error)) ...
 */
#ifndef TIERCEL_BASE_TEXT_FILE_H
#define TIERCEL_BASE_TEXT_FILE_H

#include "base/error.h"

/* Under a temporary name in the same folder, then renamed: what was there stays until the new file is whole. FALSE with
 * *error (RUNTIME, "PATH cannot be written: reason"). Local. */
gboolean text_file_write(const char *path, const char *text, GError **error);

#endif
