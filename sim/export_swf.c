/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A log in the Standard Workload Format, version 2.2, of what was simulated: submit time, simulated wait, run time,
 * processors held and requested, requested time. What a simulation does not know is -1. A job killed at its limit has
 * status 0, a rejected one 5 with its run time and no wait; so the log, read again on the same machine, gives the same
 * schedule (dependencies are in the submit times). Times have decimals where they are no whole seconds.
 */
#include "config.h"

#include "export.h"
#include "export_jobs.h"
#include "trace/summary.h"
#include "workload/workload.h"

static void put_field(FILE *out, int64_t time_ns)
{
    if (time_ns < 0)
        fputs(" -1", out);
    else {
        fputc(' ', out);
        export_put_seconds(out, time_ns, 0);
    }
}

static void put_job(FILE *out, const struct export_job *job)
{
    bool ran = job->start_ns != JOB_NEVER && job->end_ns != JOB_NEVER;
    int status = job->result == JOB_COMPLETED ? 1 : job->result == JOB_REJECTED || job->result == JOB_CANCELLED ? 5 : 0;

    fprintf(out, "%" G_GUINT64_FORMAT, job->number);
    put_field(out, job->submit_ns);
    put_field(out, ran ? job->start_ns - job->submit_ns : -1);
    put_field(out, ran ? job->end_ns - job->start_ns : job->run_ns);
    fprintf(out, " %" G_GINT64_FORMAT " -1 -1 %u", ran ? (int64_t)job->cores : -1, job->requested);
    put_field(out, job->limit_ns == WORKLOAD_NO_LIMIT ? -1 : job->limit_ns);
    fprintf(out, " -1 %d -1 -1 -1 -1 -1 -1 -1\n", status);
}

/* The size of the machine; 0 where the summary does not tell. */
static double machine_of(struct reader *r)
{
    g_autofree char *document = reader_document(r, "summary");
    struct summary *summary = document == NULL ? NULL : summary_parse(document, reader_path(r), NULL);
    double processors = 0;

    if (summary != NULL) {
        if (!summary_lookup(summary, "schedule.processors", &processors, NULL))
            processors = 0;
        summary_free(summary);
    }
    return processors;
}

static void put_header(struct reader *r, FILE *out, uint64_t jobs)
{
    double processors = machine_of(r);

    fputs("; Version: 2.2\n", out);
    fprintf(out, "; Computer: simulated by tiercel %s\n", PACKAGE_VERSION);
    fprintf(out, "; MaxJobs: %" G_GUINT64_FORMAT "\n; MaxRecords: %" G_GUINT64_FORMAT "\n", jobs, jobs);
    if (processors > 0)
        fprintf(out, "; MaxProcs: %.0f\n", processors);
    fputs("; Note: field 3 is the simulated wait\n", out);
}

gboolean export_write_swf(struct reader *r, FILE *out, GError **error)
{
    struct export_jobs jobs;
    uint64_t ended = 0;

    if (!export_jobs_load(&jobs, r, error))
        return FALSE;
    for (uint64_t i = 0; i < jobs.count; i++)
        ended += jobs.job[i].result != JOB_UNFINISHED;
    put_header(r, out, ended);
    for (uint64_t i = 0; i < jobs.count; i++)
        if (jobs.job[i].result != JOB_UNFINISHED)
            put_job(out, &jobs.job[i]);
    export_jobs_release(&jobs);
    return TRUE;
}
