/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tiercel report`: what a trace says, for people and for programs.
 *
 *     struct report_request request = { .path = path, .format = REPORT_FORMAT_TEXT };
 *     if (!report_write(&request, stdout, &error)) ...
 *
 * A report has sections (document.h): the run, its results, roles, stages, what limits, a job's path, and of a
 * dispatcher with a collected heap when that comes to its end. What the trace does not have, its report does not have
 * either. A damaged trace is refused with one line (TIERCEL_ERROR_RUNTIME) before anything is written. Local.
 */
#ifndef TIERCEL_REPORT_REPORT_H
#define TIERCEL_REPORT_REPORT_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum report_format {
    REPORT_FORMAT_TEXT,
    REPORT_FORMAT_JSON,
    REPORT_FORMAT_TSV,
    REPORT_FORMAT_HTML,
    REPORT_FORMATS
};
/* Their names, by enum report_format, ended by NULL. */
extern const char *const report_format_names[];

struct report_request {
    const char *path;
    enum report_format format;
    const char *job;            /* id of the job whose path is told; NULL: the median one and the slowest */
};

gboolean report_write(const struct report_request *request, FILE *out, GError **error);

#endif
