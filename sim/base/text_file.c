/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text_file.h"

gboolean text_file_write(const char *path, const char *text, GError **error)
{
    g_autoptr(GError) why = NULL;

    if (g_file_set_contents(path, text, -1, &why))
        return TRUE;
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s cannot be written: %s", path, why->message);
    return FALSE;
}
