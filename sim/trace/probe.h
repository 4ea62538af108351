/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trying something that may crash: in a child process. Internal to sim/trace/.
 *
 * HDF5 (1.10.8 at least) can end the program over a damaged file. A file that is closed by a checksum never comes that
 * far; that of a killed run has none, and is read in a child first.
 */
#ifndef TIERCEL_TRACE_PROBE_H
#define TIERCEL_TRACE_PROBE_H

#include "base/error.h"

typedef void (*probe_fn)(void *data);

/*
 * Runs `step` in a child, silently, and with as much processor time as reading the file at `path` may take. TRUE when
 * it returned, whatever it found. FALSE with *error when it crashed or did not end. Where no child can be made: TRUE.
 */
gboolean probe_run(const char *path, probe_fn step, void *data, GError **error);

#endif
