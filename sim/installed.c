/* SPDX-License-Identifier: BSD-3-Clause */
#include "installed.h"

#include <glib.h>

static char *beside_program(void)
{
    g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);

    if (program == NULL)
        return NULL;
    g_autofree char *bin = g_path_get_dirname(program);
    g_autofree char *prefix = g_path_get_dirname(bin);
    return g_build_filename(prefix, "share", "tiercel", "inputs", NULL);
}

const char *installed_inputs(void)
{
    static gsize found;

    if (g_once_init_enter(&found)) {
        g_autofree char *moved = g_file_test(TIERCEL_INPUTS_DIR, G_FILE_TEST_IS_DIR) ? NULL : beside_program();
        g_once_init_leave(&found, (gsize)g_intern_string(moved != NULL ? moved : TIERCEL_INPUTS_DIR));
    }
    return (const char *)found;
}
