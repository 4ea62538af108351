/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/json_text.h"

#include <glib.h>
#include <math.h>

char *json_text_string(const char *text)
{
    GString *out = g_string_new("\"");
    g_autofree char *valid = g_utf8_make_valid(text, -1);

    for (const char *at = valid; *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '"' || c == '\\')
            g_string_append_printf(out, "\\%c", c);
        else if (c < 0x20)
            g_string_append_printf(out, "\\u%04x", c);
        else
            g_string_append_c(out, (gchar)c);
    }
    g_string_append_c(out, '"');
    return g_string_free(out, FALSE);
}

char *json_text_number(double number, const char *missing)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    if (!isfinite(number))
        return g_strdup(missing);
    for (int digits = 15; digits <= 17; digits++) {
        char format[8];
        g_snprintf(format, sizeof format, "%%.%dg", digits);
        g_ascii_formatd(text, sizeof text, format, number);
        if (g_ascii_strtod(text, NULL) == number)
            break;
    }
    return g_strdup(text);
}
