/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of results: what a sweep's points were given and what came out, as results.tsv and results.h5.
 *
 * Both files hold the same columns, a row a point in the order of the points, and nothing that depends on when, where
 * or in which order the points were played: the same sweep gives the same bytes, interrupted or not.
 *
 *     results.tsv    one header line of column names, then a line a point, cut by tabs. A number has the shortest form
 *                    that reads back the same; a missing value is empty. No comments, no quotes.
 *     results.h5     a dataset a column, each with the attributes `units` ("s", "B", "1/s", "1"; "1" for texts) and
 *                    `long_name`, in three groups:
 *                        /point/NAME        point, status, repeat, seed, reason
 *                        /parameters/NAME   what the sweep goes through: /parameters/cluster.nodes
 *                        /results/NAME      the keys of the summary: /results/jobs.run_rate
 *                    Numbers are 64-bit floats, NaN where there is none; texts are UTF-8 of one fixed length, empty
 *                    where there is none. /columns holds the names in the order of the TSV. Attributes of the file:
 *                    `format` = 1, `kind` = "sweep", `title`, `version` (of tiercel), `rows`.
 *
 * The columns: `point` counts from 1; `status` is done, failed or open (not yet played); `repeat` counts from 1;
 * `seed` is run.seed; `reason` says why a point failed. A parameter that is a quantity is a number in its base unit
 * (seconds, bytes, bytes per second, per second, shares of 1), as is a cost or a distribution whose values are all mere
 * durations; any other (a choice, true and false) is the text as the deck states it. Results are all keys of the
 * summary (doc/design.md, section 6) but those that tell how fast this machine was (run.wall_s, run.events_per_s,
 * run.peak_rss_bytes, run.bytes_per_actor: they stand in points.tsv) and those that are parameters. Entries of lists
 * are named by their path: stages.alloc.mean_s, roles.broker.busy_fraction, files.shared-8.gain, limits.1.name (the
 * first of the ranking), balance.jobs.ok. Flags are 0 or 1.
 */
#ifndef TIERCEL_TRACE_RESULTS_H
#define TIERCEL_TRACE_RESULTS_H

#include <stdbool.h>

#include "base/error.h"

enum { RESULTS_FORMAT = 1 };

enum results_group {
    RESULTS_POINT,
    RESULTS_PARAMETERS,
    RESULTS_RESULTS
};

struct results;

/* Of so many rows; all values are missing at first. */
struct results *results_new(const char *title, const char *version, unsigned rows);
void results_free(struct results *r);

/* Adds a column and gives its index; `is_text` chooses between texts and numbers. */
unsigned results_column(struct results *r, enum results_group group, const char *name, bool is_text, const char *unit,
                        const char *long_name);
/* The index of a column; -1 when there is none of that name. */
int results_find(const struct results *r, const char *name);
enum results_group results_group(const struct results *r, unsigned column);

/* NAN: missing. */
void results_number(struct results *r, unsigned column, unsigned row, double number);
/* Control characters become blanks, so that a row stays a line. */
void results_text(struct results *r, unsigned column, unsigned row, const char *text);

/* Each under a temporary name beside `path`, then renamed: what was there stays until the new file is whole. FALSE
 * with *error (RUNTIME) when it cannot be written. */
gboolean results_write_tsv(const struct results *r, const char *path, GError **error);
gboolean results_write_hdf5(const struct results *r, const char *path, GError **error);

#endif
