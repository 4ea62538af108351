/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands that read traces: `tiercel verify`, `diff` and `report`. Process 0 reads and speaks; all
 * return the same exit status (enum tiercel_error). A path is that of a trace or of a run's folder. Collective.
 */
#ifndef TIERCEL_TRACES_H
#define TIERCEL_TRACES_H

#include <stdbool.h>

#include "share.h"

/* 0: whole, the run had ended; 4: right as far as it goes, but the run had not ended; 1: damaged, or not a trace.
 * With `merge` the parts of a killed run are joined first. */
int traces_verify(const char *path, bool merge, const struct share *share);

/* 0: the same; 1: they differ (each difference on stdout), or one cannot be read. */
int traces_diff(const char *path_a, const char *path_b, const struct share *share);

/* 0: written to stdout; 2: there is no such format or job; 1: the trace cannot be read. `format` and `job` as typed,
 * or NULL. */
int traces_report(const char *path, const char *format, const char *job, const struct share *share);

#endif
