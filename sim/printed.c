/* SPDX-License-Identifier: BSD-3-Clause */
#include "printed.h"

#include <string.h>

#include "base/quantity.h"

char *printed_names(const char *const *names)
{
    GString *text = g_string_new(NULL);

    for (unsigned i = 0; names[i] != NULL; i++)
        g_string_append_printf(text, "%s%s", i == 0 ? "" : names[i + 1] == NULL ? " or " : ", ", names[i]);
    return g_string_free(text, FALSE);
}

int printed_choose(const char *name, const char *const *names, GError **error)
{
    if (name == NULL)
        return 0;
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    g_autofree char *quoted = quantity_quote(name);
    g_autofree char *known = printed_names(names);
    error_refuse(error, "--format: %s is not a form of output; expected %s", quoted, known);
    return -1;
}

gboolean printed_form(const char *name, enum printed_form *form, GError **error)
{
    static const char *const names[] = {
        [PRINTED_TEXT] = "text", [PRINTED_JSON] = "json", [PRINTED_TSV] = "tsv", NULL
    };
    int chosen = printed_choose(name, names, error);

    *form = (enum printed_form)MAX(chosen, 0);
    return chosen >= 0;
}

void printed_write(const struct document *document, enum printed_form form, FILE *out)
{
    switch (form) {
    case PRINTED_TEXT:
        document_write_text(document, out);
        break;
    case PRINTED_JSON:
        document_write_json(document, out);
        break;
    case PRINTED_TSV:
        document_write_tsv(document, out);
        break;
    }
}
