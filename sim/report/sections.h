/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections of a report, one function each: it reads what it needs of the trace and adds a section, or none where
 * the trace has nothing for it. Internal to sim/report/.
 *
 * FALSE with *error when the trace contradicts itself; a damaged file was refused before (trace/reader.h).
 */
#ifndef TIERCEL_REPORT_SECTIONS_H
#define TIERCEL_REPORT_SECTIONS_H

#include "report/document.h"
#include "report/job_rows.h"
#include "trace/reader.h"
#include "trace/summary.h"

struct report_source {
    struct reader *reader;
    const struct collector *figures;
    const struct summary *summary;      /* NULL: the run had not ended */
    const char *job;                    /* asked for; NULL: none */
};

gboolean section_add_run(struct document *d, const struct report_source *source, GError **error);
gboolean section_add_results(struct document *d, const struct report_source *source, GError **error);
gboolean section_add_roles(struct document *d, const struct report_source *source, GError **error);
gboolean section_add_stages(struct document *d, const struct report_source *source, GError **error);
gboolean section_add_limits(struct document *d, const struct report_source *source, GError **error);
/* section_lists.c: what the summary has by name: expectations, classes, stations, files, services, balances */
gboolean section_add_lists(struct document *d, const struct report_source *source, GError **error);
/* section_heap.c */
gboolean section_add_heap(struct document *d, const struct report_source *source, GError **error);
/* section_path.c */
gboolean section_add_path(struct document *d, const struct report_source *source, GError **error);
/* section_chain.c */
gboolean section_add_chain(struct document *d, const struct report_source *source, GError **error);

/* --- shared --- */

/* The rows of the table of jobs that a report is about: the chosen job, or the median and the slowest one; how many
 * of them in *count. *what names each. FALSE with *error when there is no such job. */
gboolean report_jobs_choose(const struct report_source *source, const struct job_rows *jobs, uint64_t rows[2],
                            const char *what[2], unsigned *count, GError **error);

/* The unit of a key of the summary, which its name tells. */
enum report_unit report_key_unit(const char *key);

/* A metric of a role; false when the trace has none of that name. */
bool report_metric_find(const struct collector *figures, const char *role, const char *metric, unsigned *role_index,
                        unsigned *metric_index);

/* A value of the effective deck as its text, NULL when it is not there. Free with g_free. */
char *report_deck_value(const struct report_source *source, const char *group, const char *key);

#endif
