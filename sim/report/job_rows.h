/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of jobs of a trace, as paths: the times of a row in order. Every column of unit ns and type I64 is a
 * time of the job, named after what happened then, but for the lengths "run" and "limit" of a batch scheduler; a time
 * that did not come is the least value of its type. Column "id", or of a batch scheduler "job", tells jobs apart.
 *
 *     struct job_rows jobs;
 *     if (job_rows_open(&jobs, reader)) ...               false: the trace has no such table, or an empty one
 *     job_rows_each(&jobs, visit, data, &error);          row after row, in constant memory
 *     job_rows_path(&jobs, row, steps, &count, &id, &error);
 *
 * Internal to sim/report/; all local.
 */
#ifndef TIERCEL_REPORT_JOB_ROWS_H
#define TIERCEL_REPORT_JOB_ROWS_H

#include "trace/reader.h"

enum { JOB_STEPS_MOST = 64 };

struct job_step {
    int64_t time_ns;
    const char *name;           /* of the column; the reader's */
    const char *text;
};

struct job_rows {
    struct reader *reader;
    unsigned table;
    unsigned id;                /* columns */
    unsigned times[JOB_STEPS_MOST];
    unsigned time_count;
    uint64_t rows;
};

bool job_rows_open(struct job_rows *jobs, struct reader *reader);

/* Values [first, first + n) of a column. */
gboolean job_rows_read(const struct job_rows *jobs, unsigned column, uint64_t first, uint64_t n, void *values,
                       GError **error);

/* The steps of one row, by their times (of equal ones in the order of the columns); JOB_STEPS_MOST fit. */
gboolean job_rows_path(const struct job_rows *jobs, uint64_t row, struct job_step *steps, unsigned *count, uint64_t *id,
                       GError **error);

typedef void job_rows_fn(void *data, uint64_t id, const struct job_step *steps, unsigned count);
gboolean job_rows_each(const struct job_rows *jobs, job_rows_fn *visit, void *data, GError **error);

#endif
