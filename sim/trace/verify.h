/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is a trace whole and consistent? And joining the parts of a killed run. What `tiercel verify` does.
 *
 * Both functions are local, and read in blocks: memory does not go with the size of the trace.
 */
#ifndef TIERCEL_TRACE_VERIFY_H
#define TIERCEL_TRACE_VERIFY_H

#include <stdbool.h>

#include "base/error.h"

/*
 * Reads everything: size and checksum (of a run that ended), every value of every column, that enums name a value, that
 * events stand in canonical order, that curves and histograms add up to their totals, that the deck is the one whose
 * hash is stated. TRUE when all is right; *complete then says whether the run had ended, and *report (g_free) what is
 * in the file, in a few lines for people. FALSE and one line in *error when something is wrong.
 */
gboolean verify_trace(const char *path, bool *complete, char **report, GError **error);

/*
 * Joins the parts of a run of level `events` that was killed: writes the trace anew beside the old one, with the rows
 * that each part had flushed, closes it with a checksum, reads it all, replaces the old one, and removes the parts.
 * `complete` stays 0; the attribute `complete_before_ns` says that no handling which began before that virtual time is
 * missing. Refused, with everything left as it was: a trace that is whole already, that is not of level `events`, or
 * whose parts are not all there. *report as above.
 */
gboolean verify_merge(const char *path, char **report, GError **error);

#endif
