/* SPDX-License-Identifier: BSD-3-Clause */
#include "export.h"

#include <string.h>

#include "report/chrome.h"
#include "run_folder.h"

struct export_format {
    const char *name;               /* as typed */
    gboolean (*write)(struct reader *r, FILE *out, GError **error);
};

static const struct export_format formats[] = {
    { "batsim", export_write_batsim },
    { "chrome", chrome_write },
    { "swf", export_write_swf },
    { NULL, NULL }
};

static const struct export_format *format_find(const char *name, GError **error)
{
    g_autoptr(GString) known = g_string_new(NULL);

    for (const struct export_format *f = formats; f->name != NULL; f++) {
        if (g_strcmp0(f->name, name) == 0)
            return f;
        g_string_append_printf(known, "%s%s", known->len == 0 ? "" : f[1].name == NULL ? " or " : ", ", f->name);
    }
    if (name == NULL)
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "export: no --format is given; expected %s", known->str);
    else
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "--format: '%s' is not one of its choices; expected %s",
                    name, known->str);
    return NULL;
}

static gboolean write_trace(const char *named, const char *name, GError **error)
{
    g_autofree char *path = run_folder_trace(named);
    const struct export_format *format = format_find(name, error);
    struct reader *reader = format == NULL ? NULL : reader_open(path, error);
    gboolean ok = reader != NULL && format->write(reader, stdout, error);

    if (reader != NULL)
        reader_free(reader);
    return ok;
}

int export_trace(const char *path, const char *format, const struct share *share)
{
    GError *error = NULL;
    int status = TIERCEL_OK;

    if (share->process == 0 && !write_trace(path, format, &error)) {
        fprintf(stderr, "tiercel: %s\n", error->message);
        status = error->code;
        g_error_free(error);
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, share->comm);
    return status;
}
