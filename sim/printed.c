/* SPDX-License-Identifier: BSD-3-Clause */
#include "printed.h"

#include <string.h>

#include "base/quantity.h"

static const char *const names[] = { [PRINTED_TEXT] = "text", [PRINTED_JSON] = "json", [PRINTED_TSV] = "tsv" };

gboolean printed_form(const char *name, enum printed_form *form, GError **error)
{
    *form = PRINTED_TEXT;
    for (unsigned i = 0; name != NULL && i < G_N_ELEMENTS(names); i++)
        if (strcmp(name, names[i]) == 0) {
            *form = (enum printed_form)i;
            return TRUE;
        }
    if (name == NULL)
        return TRUE;
    g_autofree char *quoted = quantity_quote(name);
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "--format: %s is not a form of output; expected text, json "
                "or tsv", quoted);
    return FALSE;
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
