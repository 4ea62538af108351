/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How large a trace will be: for `check`, before anything runs.
 */
#ifndef TIERCEL_TRACE_ESTIMATE_H
#define TIERCEL_TRACE_ESTIMATE_H

#include <stdint.h>

#include "trace/trace.h"

/*
 * Bytes of the file of a run with `rows` rows in each table and `events` handled messages, at the configuration's
 * level. Uncompressed sizes are exact up to a percent, but for the figures, of which a short run fills less than is
 * reckoned here (up to half a megabyte); compressed columns are taken at a third of their size, which measured job
 * tables stay below. While a run of level `events` goes on, its parts take as much again as the events.
 * Only level, compress, roles, tables and actor_count of the configuration are looked at. Local.
 */
uint64_t trace_estimate_bytes(const struct trace_config *config, uint64_t rows, uint64_t events);

#endif
