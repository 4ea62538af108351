/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins the parts of level `events` into one table in canonical order. Internal to sim/trace/.
 *
 * The order of the rows, (time, actor, class, sender, sequence), is the same for every number of processes. A part is
 * a row of sorted stretches that overlap little; a stretch is opened when the joined rows reach its first row, so that
 * memory goes with the overlap and not with the length of the run. Where nothing overlaps, whole blocks are copied.
 */
#ifndef TIERCEL_TRACE_MERGE_H
#define TIERCEL_TRACE_MERGE_H

#include "trace/columns.h"

/*
 * Reads trace_path's parts 0 .. processes-1, up to the rows that each declares right, and appends their rows to `to`, a
 * new table of the form of events_table. *horizon_ns: no handling that began before is missing (the earliest of the
 * parts' last flushes). `seed` must be the parts' seed. FALSE with *error when a part is not there, is damaged or does
 * not belong to this run.
 */
gboolean merge_parts(const char *trace_path, unsigned processes, uint64_t seed, struct columns *to,
                     int64_t *horizon_ns, GError **error);

/* Only looks whether all parts are there, and what they say of themselves can be read. */
gboolean merge_check(const char *trace_path, unsigned processes, uint64_t seed, GError **error);

/* Removes all files beside the trace that have the name of a part of it. */
void merge_remove_parts(const char *trace_path);

#endif
