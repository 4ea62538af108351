/* SPDX-License-Identifier: BSD-3-Clause */
#include "traces.h"

#include <stdio.h>

#include "printed.h"
#include "report/report.h"
#include "run_folder.h"
#include "trace/diff.h"
#include "trace/verify.h"

static int complain(GError *error)
{
    int status = error->domain == TIERCEL_ERROR ? error->code : TIERCEL_ERROR_RUNTIME;

    fprintf(stderr, "tiercel: %s\n", error->message);
    g_error_free(error);
    return status;
}

static int verify(const char *named, bool merge)
{
    GError *error = NULL;
    g_autofree char *path = run_folder_trace(named, &error);
    g_autofree char *report = NULL;
    bool complete = false;

    if (path == NULL)
        return complain(error);
    if (merge ? !verify_merge(path, &report, &error) : !verify_trace(path, &complete, &report, &error))
        return complain(error);
    fputs(report, stdout);
    return merge || complete ? TIERCEL_OK : TIERCEL_ERROR_STOPPED;
}

static int diff(const char *named_a, const char *named_b)
{
    GError *error = NULL;
    g_autofree char *path_a = run_folder_trace(named_a, &error);
    g_autofree char *path_b = path_a != NULL ? run_folder_trace(named_b, &error) : NULL;
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);

    if (path_b == NULL || !diff_traces(path_a, path_b, lines, &error))
        return complain(error);
    for (unsigned i = 0; i < lines->len; i++)
        printf("%s\n", (const char *)g_ptr_array_index(lines, i));
    return lines->len == 0 ? TIERCEL_OK : TIERCEL_ERROR_RUNTIME;
}

static int report(const char *named, const char *format, const char *job)
{
    GError *error = NULL;
    int chosen = printed_choose(format, report_format_names, &error);
    g_autofree char *path = chosen < 0 ? NULL : run_folder_trace(named, &error);
    struct report_request request = { .path = path, .format = (enum report_format)MAX(chosen, 0), .job = job };

    if (path == NULL || !report_write(&request, stdout, &error))
        return complain(error);
    return TIERCEL_OK;
}

static int tell_all(int status, const struct share *share)
{
    MPI_Bcast(&status, 1, MPI_INT, 0, share->comm);
    return status;
}

int traces_verify(const char *path, bool merge, const struct share *share)
{
    return tell_all(share->process == 0 ? verify(path, merge) : TIERCEL_OK, share);
}

int traces_diff(const char *path_a, const char *path_b, const struct share *share)
{
    return tell_all(share->process == 0 ? diff(path_a, path_b) : TIERCEL_OK, share);
}

int traces_report(const char *path, const char *format, const char *job, const struct share *share)
{
    return tell_all(share->process == 0 ? report(path, format, job) : TIERCEL_OK, share);
}
