/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/bulk.h"

#include "workload/jobspec.h"
#include "workload/source.h"

struct bulk {
    struct workload base;
    struct workload_bulk plan;
    int64_t submit_ns;          /* of the job before */
    int64_t text_duration_ns;   /* what `text` says; -1 while there is none */
    GString *text;
};

static bool bulk_next(struct workload *w, struct workload_job *job, GError **error)
{
    struct bulk *bulk = (struct bulk *)w;
    const struct workload_bulk *plan = &bulk->plan;
    if (job->index == plan->jobs)
        return false;
    if (plan->gap != NULL) {
        int64_t gap_ns = plan->gap(plan->gap_context, job->index);
        g_assert(gap_ns >= 0 && gap_ns <= INT64_MAX - bulk->submit_ns);
        bulk->submit_ns += gap_ns;
    }
    job->submit_ns = bulk->submit_ns;
    job->nodes = plan->nodes;
    job->slots = plan->slots;
    job->cores_per_slot = plan->cores_per_slot;
    job->exclusive = plan->exclusive;
    job->duration_ns = plan->draw == NULL ? plan->duration_ns : plan->draw(plan->draw_context, job->index);
    job->limit_ns = plan->limit_ns;
    g_assert(job->duration_ns >= 0);
    if (plan->without_text)
        return true;
    if (bulk->text_duration_ns != job->duration_ns) {
        if (bulk->text != NULL)
            g_string_free(bulk->text, TRUE);
        bulk->text = jobspec_write(job);
        bulk->text_duration_ns = job->duration_ns;
    }
    job->spec = bulk->text->str;
    job->spec_size = bulk->text->len;
    return true;
}

static void bulk_free(struct workload *w)
{
    struct bulk *bulk = (struct bulk *)w;
    if (bulk->text != NULL)
        g_string_free(bulk->text, TRUE);
    g_free(bulk);
}

static const struct workload_type bulk_type = { .next = bulk_next, .free = bulk_free };

struct workload *workload_bulk_new(const struct workload_bulk *plan)
{
    g_assert(plan->slots >= 1 && plan->cores_per_slot >= 1 && plan->duration_ns >= 0 && plan->limit_ns >= 0);
    struct bulk *bulk = g_new0(struct bulk, 1);
    bulk->base.type = &bulk_type;
    bulk->base.jobs = plan->jobs;
    bulk->plan = *plan;
    bulk->text_duration_ns = -1;
    return &bulk->base;
}
