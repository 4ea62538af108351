/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Batsim's jobs.csv (https://batsim.readthedocs.io, "Job output"): its columns, in its order and with its names of
 * states. Times have at least the six decimals of Batsim, more where they need them. A job that was rejected has no
 * times, as in Batsim; one that never ended has no row. A stretch without a run time is inf, and 1 without a wait.
 */
#include <string.h>

#include "export.h"
#include "export_jobs.h"
#include "workload/workload.h"

enum { DECIMALS = 6 };

static const char *const states[JOB_RESULTS] = {
    [JOB_COMPLETED] = "COMPLETED_SUCCESSFULLY",
    [JOB_FAILED] = "COMPLETED_FAILED",
    [JOB_KILLED] = "COMPLETED_WALLTIME_REACHED",
    [JOB_CANCELLED] = "COMPLETED_KILLED",
    [JOB_REJECTED] = "REJECTED",
};

/* A field, in quotes where CSV asks for them. */
static void put_text(FILE *out, const char *text)
{
    if (text == NULL || text[strcspn(text, ",\"\r\n")] == '\0') {
        fputs(text == NULL ? "" : text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++)
        fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', out);
}

static void put_time(FILE *out, int64_t time_ns)
{
    export_put_seconds(out, time_ns, DECIMALS);
    fputc(',', out);
}

static void put_stretch(FILE *out, int64_t turnaround_ns, int64_t run_ns)
{
    if (run_ns > 0)
        fprintf(out, "%.6f,", (double)turnaround_ns / (double)run_ns);
    else
        fputs(turnaround_ns > 0 ? "inf," : "1.000000,", out);
}

static void put_machines(FILE *out, const struct export_jobs *jobs, const struct export_job *job)
{
    for (uint32_t s = 0; s < job->spans; s++) {
        const struct export_span *span = &jobs->span[job->first_span + s];
        fprintf(out, "%s%u", s == 0 ? "" : " ", span->first);
        if (span->last > span->first)
            fprintf(out, "-%u", span->last);
    }
}

static void put_job(FILE *out, const struct export_jobs *jobs, const struct export_job *job)
{
    const char *name = export_jobs_text(jobs, job->name);
    bool ran = job->start_ns != JOB_NEVER && job->end_ns != JOB_NEVER;

    if (name != NULL)
        put_text(out, name);
    else
        fprintf(out, "%" G_GUINT64_FORMAT, job->number);
    fputs(",w0,", out);
    put_text(out, export_jobs_text(jobs, job->profile));
    fputc(',', out);
    put_time(out, job->submit_ns);
    fprintf(out, "%u,", job->requested);
    if (job->limit_ns < 0 || job->limit_ns == WORKLOAD_NO_LIMIT)
        fputs("-1.000000,", out);
    else
        put_time(out, job->limit_ns);
    fprintf(out, "%d,%s,", job->result == JOB_COMPLETED, states[job->result]);
    if (ran) {
        put_time(out, job->start_ns);
        put_time(out, job->end_ns - job->start_ns);
        put_time(out, job->end_ns);
        put_time(out, job->start_ns - job->submit_ns);
        put_time(out, job->end_ns - job->submit_ns);
        put_stretch(out, job->end_ns - job->submit_ns, job->end_ns - job->start_ns);
    } else {
        fputs(",,,,,,", out);
    }
    put_machines(out, jobs, job);
    fputs(ran ? ",0,\"\"\n" : ",,\"\"\n", out);     /* energy is not modelled */
}

gboolean export_write_batsim(struct reader *r, FILE *out, GError **error)
{
    struct export_jobs jobs;

    if (!export_jobs_load(&jobs, r, error))
        return FALSE;
    fputs("job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,"
          "final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,"
          "allocated_resources,consumed_energy,metadata\n", out);
    for (uint64_t i = 0; i < jobs.count; i++)
        if (jobs.job[i].result < JOB_RESULTS && states[jobs.job[i].result] != NULL)
            put_job(out, &jobs, &jobs.job[i]);
    export_jobs_release(&jobs);
    return TRUE;
}
