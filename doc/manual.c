/* SPDX-License-Identifier: BSD-3-Clause */
#include "doc/manual.h"

#include <stdio.h>

#include <glib.h>

/* mdoc reads '.' and '\'' at the beginning of a line, and '\\' anywhere, as its own. */
void manual_text(const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (; *text != '\0'; text++) {
        if (*text == '\\')
            fputs("\\e", stdout);
        else
            putchar(*text);
        /* A sentence ends its line, so that the page has the right space after it. */
        if (*text == '.' && text[1] == ' ' && g_ascii_isupper(text[2])) {
            putchar('\n');
            text++;
        }
    }
}

void manual_sentence(const char *text)
{
    manual_text(text);
    puts(".");
}
