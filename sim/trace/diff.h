/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where two traces differ: what `tiercel diff` does.
 *
 * Compared: seed, end and digest of the runs, the effective decks (or the decks, where there is none) but for [trace],
 * run.spread, run.placement and run.waiting, every figure and every row of every table. Not compared: what may differ
 * between two runs of one deck (date, host, command line, wall time, number of processes, version, level) and the
 * summary. A table that only one of them has, because its level is higher, is named as a difference.
 */
#ifndef TIERCEL_TRACE_DIFF_H
#define TIERCEL_TRACE_DIFF_H

#include "base/error.h"

/*
 * One line a difference, with both values, of each table the first row that differs and how many do, into `lines`
 * (texts, to be freed). No line: they are the same. FALSE with *error when one cannot be read. Local; reads in blocks.
 */
gboolean diff_traces(const char *path_a, const char *path_b, GPtrArray *lines, GError **error);

#endif
