/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a folder that a test has made for itself (g_dir_make_tmp, g_mkdtemp).
 */
#ifndef TIERCEL_TESTS_SCRATCH_H
#define TIERCEL_TESTS_SCRATCH_H

#include <glib.h>
#include <glib/gstdio.h>

#include "base/folder.h"

/* A file, or a folder with all that it holds. Links are not followed. */
static inline void scratch_remove(const char *path)
{
    gboolean folder = g_file_test(path, G_FILE_TEST_IS_DIR) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK);
    g_autoptr(GPtrArray) names = folder ? folder_names(path) : g_ptr_array_new();

    for (unsigned i = 0; i < names->len; i++) {
        g_autofree char *inner = g_build_filename(path, names->pdata[i], NULL);
        scratch_remove(inner);
    }
    g_remove(path);
}

#endif
