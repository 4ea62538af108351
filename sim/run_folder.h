/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folder that receives the results of a run: trace.h5, summary.json, effective.deck.
 *
 *     char *folder = run_folder_make("runs", "flux-bulksubmit", NULL, false, &error);
 *     ...
 *     run_folder_remove(folder);          when the run could not even begin
 *
 * An existing folder is never touched without `force`, and with it only when it holds nothing but the files of an
 * earlier run; those are then removed. All functions are local: process 0 calls them.
 */
#ifndef TIERCEL_RUN_FOLDER_H
#define TIERCEL_RUN_FOLDER_H

#include <stdbool.h>

#include "base/error.h"

#define RUN_FOLDER_TRACE "trace.h5"
#define RUN_FOLDER_SUMMARY "summary.json"
#define RUN_FOLDER_DECK "effective.deck"

/*
 * Makes `chosen`, or with NULL the next free PARENT/NAME-NNN, with all folders above it. The path, to be freed with
 * g_free; NULL and *error when it is there already and may not be replaced (INPUT) or cannot be made (RUNTIME).
 */
char *run_folder_make(const char *parent, const char *name, const char *chosen, bool force, GError **error);

/* The trace that is meant with `path`: that of a run's folder, or `path` itself where it is no folder. Free with
 * g_free. NULL and *error (RUNTIME) for a folder that has no trace. */
char *run_folder_trace(const char *path, GError **error);

/* Removes the trace and its parts, so that it can be begun anew. */
void run_folder_clear_trace(const char *folder);

/* Removes the files of a run, and the folder when nothing else is in it. */
void run_folder_remove(const char *folder);

#endif
