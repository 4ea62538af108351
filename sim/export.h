/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tiercel export TRACE --format FORMAT`: a trace in the form of other tools, on standard output.
 *
 * To add a format: a function that writes it, declared here, and its name and itself in export.c; options.c and
 * doc/tiercel.1 name the formats as well. A writer returns FALSE with *error when the trace does not hold what it needs
 * (nothing is written then) or cannot be read to its end (what was written stays).
 */
#ifndef TIERCEL_EXPORT_H
#define TIERCEL_EXPORT_H

#include <stdio.h>

#include "share.h"
#include "trace/reader.h"

/* Process 0 reads and writes; all return the same exit status (enum tiercel_error). Collective. `format` is what was
 * typed, NULL for nothing. */
int export_trace(const char *path, const char *format, const struct share *share);

/* Batsim's jobs.csv. */
gboolean export_write_batsim(struct reader *r, FILE *out, GError **error);
/* The Standard Workload Format, version 2.2, with the waits of the simulation. */
gboolean export_write_swf(struct reader *r, FILE *out, GError **error);

#endif
