/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tiercel export TRACE --format FORMAT`: a trace in the form of other tools, on standard output.
 *
 * To add a format: a function that writes it, declared here, and its row in export.c, which names it to the command
 * line and the manual.
 */
#ifndef TIERCEL_EXPORT_H
#define TIERCEL_EXPORT_H

#include <stdio.h>

#include "share.h"
#include "trace/reader.h"

struct export_format {
    const char *name;               /* as typed */
    const char *text;               /* one line for people */
    /* FALSE with *error when the trace does not hold what the format needs, before anything was written. */
    gboolean (*write)(struct reader *r, FILE *out, GError **error);
};

/* Ended by a NULL name. */
extern const struct export_format export_formats[];

/* Process 0 reads and writes; all return the same exit status (enum tiercel_error). Collective. `format` is what was
 * typed, NULL for nothing. */
int export_trace(const char *path, const char *format, const struct share *share);

/* Batsim's jobs.csv. */
gboolean export_write_batsim(struct reader *r, FILE *out, GError **error);
/* The Standard Workload Format, version 2.2, with the waits of the simulation. */
gboolean export_write_swf(struct reader *r, FILE *out, GError **error);

#endif
