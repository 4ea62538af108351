/* SPDX-License-Identifier: BSD-3-Clause */
#include "export.h"

#include "printed.h"
#include "report/chrome.h"
#include "run_folder.h"

static const char *const names[] = { "batsim", "chrome", "swf", NULL };

/* By their names. */
static gboolean (*const writers[])(struct reader *r, FILE *out, GError **error) = {
    export_write_batsim, chrome_write, export_write_swf
};

static int choose(const char *name, GError **error)
{
    g_autofree char *known = printed_names(names);

    if (name != NULL)
        return printed_choose(name, names, error);
    error_refuse(error, "export: no --format is given; expected %s", known);
    return -1;
}

static gboolean write_trace(const char *named, const char *name, GError **error)
{
    int chosen = choose(name, error);
    g_autofree char *path = chosen < 0 ? NULL : run_folder_trace(named, error);
    struct reader *reader = path == NULL ? NULL : reader_open(path, error);
    gboolean ok = reader != NULL && writers[chosen](reader, stdout, error);

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
