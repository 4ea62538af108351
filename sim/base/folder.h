/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a folder holds, in an order that does not depend on the file system.
 *
 *     g_autoptr(GPtrArray) names = folder_names("runs");
 *     for (unsigned i = 0; i < names->len; i++)
 *         use(names->pdata[i]);
 */
#ifndef TIERCEL_BASE_FOLDER_H
#define TIERCEL_BASE_FOLDER_H

#include <glib.h>

/* The names in a folder (char *), sorted by their bytes, without "." and ".."; none when it is not there or cannot be
 * read. Free with g_ptr_array_unref, names and all. Local. */
GPtrArray *folder_names(const char *path);

#endif
