/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The figures that roles report: for each role and each of its metrics a total, a curve or a statistic.
 *
 *     struct collector *c = collector_new(roles, role_count, bin_ns);
 *     collector_count(c, role, metric, time_ns, 1);           on the process where it happens, as often as it happens
 *     collector_sample(c, role, metric, time_ns, latency_ns);
 *     collector_save(c, &bytes);  ... collector_merge(all, bytes.data, bytes.size, &error);       to join processes
 *     mean = statistic_mean(collector_statistic(all, role, metric));
 *
 * Roles and metrics are plain data: indices into the table that collector_new was given, alike on every process. The
 * merged collector is the same for every number of processes and order of merging. All functions are local.
 */
#ifndef TIERCEL_TRACE_COLLECTOR_H
#define TIERCEL_TRACE_COLLECTOR_H

#include "base/error.h"
#include "trace/statistics.h"

enum trace_metric_type {
    TRACE_COUNTER,          /* a total */
    TRACE_SERIES,           /* a total, and a curve over time */
    TRACE_SAMPLE,           /* a statistic, and a curve of how many values there were over time */
    TRACE_STAGE             /* the same, in ns: one stage of a job's path */
};

struct trace_metric {
    const char *name;       /* as in the trace, [A-Za-z0-9_]+ */
    const char *unit;       /* "1" for counts, "ns", "bytes" */
    const char *text;       /* one line for people */
    enum trace_metric_type type;
};

struct trace_role {
    const char *name;       /* as in output; '-' becomes '_' in the trace's paths */
    const char *text;
    const struct trace_metric *metrics;
    unsigned metric_count;
};

struct collector;

/* The table is copied. bin_ns: the width that a curve's bins begin with, above 0. */
struct collector *collector_new(const struct trace_role *roles, unsigned role_count, int64_t bin_ns);
void collector_free(struct collector *c);

/* For TRACE_COUNTER and TRACE_SERIES. */
void collector_count(struct collector *c, unsigned role, unsigned metric, int64_t time_ns, uint64_t count);

/* For TRACE_SAMPLE and TRACE_STAGE. */
void collector_sample(struct collector *c, unsigned role, unsigned metric, int64_t time_ns, int64_t value);

/* Adds a total, a whole curve or a whole statistic: what was read from a file. `series` and `statistic` may be NULL. */
void collector_add(struct collector *c, unsigned role, unsigned metric, uint64_t total, const struct series *series,
                   const struct statistic *statistic);

void collector_save(const struct collector *c, struct bytes *sink);

/* Adds what another collector of the same table saved. FALSE with *error (TIERCEL_ERROR_RUNTIME) when the bytes are
 * not such; what was read until then has been added. */
gboolean collector_merge(struct collector *c, const void *data, size_t size, GError **error);

/* The table as copied. */
unsigned collector_role_count(const struct collector *c);
const struct trace_role *collector_role(const struct collector *c, unsigned role);

/* A role's or a metric's index by name; -1 when there is none. */
int collector_find_role(const struct collector *c, const char *role);
int collector_find_metric(const struct collector *c, unsigned role, const char *metric);

/* The total of a TRACE_COUNTER or TRACE_SERIES. */
uint64_t collector_total(const struct collector *c, unsigned role, unsigned metric);
/* Of all but a TRACE_COUNTER; of a TRACE_SAMPLE or TRACE_STAGE it counts the values. Owned by the collector. */
const struct series *collector_series(const struct collector *c, unsigned role, unsigned metric);
/* Of a TRACE_SAMPLE or TRACE_STAGE; owned by the collector. */
const struct statistic *collector_statistic(const struct collector *c, unsigned role, unsigned metric);

/* The same two by name, for scenarios, which know their roles: a name that is not there is a mistake in the program. */
uint64_t collector_named_total(const struct collector *c, const char *role, const char *metric);
const struct statistic *collector_named_statistic(const struct collector *c, const char *role, const char *metric);

#endif
