/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collector's figures in an HDF5 file: /counters, /series, /histograms, /stages. Internal to sim/trace/.
 *
 *     /counters/ROLE/METRIC       scalar
 *     /series/ROLE/METRIC         one value a bin; attributes bin_start_ns, bin_width_ns, total
 *     /histograms/ROLE/METRIC/    lower, upper, count of each filled bucket; attributes count, mean, smallest, largest,
 *                                 p50, p99, relative_error, and the exact sum, sum_high x 2^64 + sum_low
 *     /stages/                    a row a stage: role, name, count, mean, p50, p99, smallest, largest in ns
 *
 * While a run goes on they stand in turn below /flush_0 and /flush_1, and the root attribute `figures` says where
 * (0, 1; 2: at the root): what a kill may leave half written is never what the attribute names.
 */
#ifndef TIERCEL_TRACE_FIGURES_FILE_H
#define TIERCEL_TRACE_FIGURES_FILE_H

#include "trace/collector.h"
#include "trace/hdf5_file.h"

enum figures_place { FIGURES_FLUSH_0, FIGURES_FLUSH_1, FIGURES_ROOT };

/* Writes them at the place, over what was there. False when HDF5 failed. */
bool figures_put(hid_t file, enum figures_place place, const struct collector *figures);

/* Declares what is at the place right; the file has been flushed in between. */
bool figures_mark(hid_t file, enum figures_place place);

/* Removes what was written before FIGURES_ROOT was declared. */
bool figures_clean(hid_t file);

/* Reads those that were declared right: roles and metrics in the order of their names in the file, which is
 * alphabetical. NULL with *reason (the caller's) when something in them does not fit together. */
struct collector *figures_get(hid_t file, char **reason);

#endif
