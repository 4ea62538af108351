/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collector's figures in an HDF5 file: /counters, /series, /histograms, /stages. Internal to sim/trace/.
 *
 *     /counters/ROLE/METRIC       scalar
 *     /series/ROLE/METRIC         one value a bin; attributes bin_start_ns, bin_width_ns, total
 *     /histograms/ROLE/METRIC/    lower, upper, count of each filled bucket; attributes count, mean, smallest, largest,
 *                                 p50, p99, relative_error, and the exact sum, sum_high x 2^64 + sum_low
 *     /stages/                    a row a stage: role, name, count, mean, p50, p99, smallest, largest in ns
 */
#ifndef TIERCEL_TRACE_FIGURES_FILE_H
#define TIERCEL_TRACE_FIGURES_FILE_H

#include "trace/collector.h"
#include "trace/hdf5_file.h"

/* Writes them, over what was there. False when HDF5 failed. */
bool figures_put(hid_t file, const struct collector *figures);

/* Reads them: roles and metrics in the order of their names in the file, which is alphabetical. NULL with *reason (the
 * caller's) when something in them does not fit together. */
struct collector *figures_get(hid_t file, char **reason);

#endif
