/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/error.h"

G_DEFINE_QUARK(tiercel-error-quark, tiercel_error)

gboolean error_refuse(GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s", text);
    return FALSE;
}
