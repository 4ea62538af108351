/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace as the JSON that Perfetto (ui.perfetto.dev) and chrome://tracing read: "Trace Event Format", 2016.
 *
 *     if (!chrome_write(reader, out, &error)) ...
 *
 * Of a trace of level `events`, each node is a process and each actor a thread of it, with a slice for every
 * handling, named after the message's kind; what it waited before is an argument. Of one of level `jobs` (or above),
 * each job is an asynchronous slice with one nested slice for each step of its path. An actor handles one message at
 * a time and steps follow one another, so slices are properly nested.
 *
 * Streamed: memory does not grow with the trace. FALSE with *error when the trace has neither, or is damaged; what
 * was written until then is no whole document. Local.
 */
#ifndef TIERCEL_REPORT_CHROME_H
#define TIERCEL_REPORT_CHROME_H

#include <stdio.h>

#include "trace/reader.h"

gboolean chrome_write(struct reader *reader, FILE *out, GError **error);

#endif
