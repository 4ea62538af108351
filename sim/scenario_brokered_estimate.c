/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much a brokered instance will have to do. The messages of a job follow from the mechanism, but how many of its
 * transactions are merged, and how often a cache already has what it needs, only from a run: so they are counted in
 * runs (16 to 256 jobs on 1 to 64 nodes, November 2026), as a part that a job takes once and one that it takes on every
 * node. tests/cli/estimates.sh holds them against runs of the shipped decks, within 20 %.
 */
#include "scenario_brokered.h"

#include <math.h>

/* Messages handled for a job. */
#define JOB_SHELLS 545.0                /* with shells that start tasks */
#define JOB_SHELLS_NODE 16.0            /* on each node: the job's events on their way through the tree */
#define JOB_SIMULATED 315.0             /* job-exec.execution = simulated */
#define JOB_SIMULATED_NODE 7.0
#define JOB_INFO_NODE 83.0              /* job-info.nodes = all: each other node looks the job up, through its caches */
#define FIRST_NODE 560.0                /* once a node: empty caches */
#define WATCH_SHELLS 110.0              /* workload.watch = guest */
#define WATCH_SIMULATED 40.0
#define WATCH_LOG 56.0                  /* workload.watch = eventlog */
#define PASSES_ONE 8.0                  /* less with job-manager.passes = jobspec */
#define PASSES_BOTH 20.0                /* = all */
#define BATCHED 54.0                    /* less with job-exec.batch */
#define BATCHED_NODE 3.0
#define JOURNAL 4.0                     /* less with job-info.follows = journal */
#define NO_NEWS 13.0                    /* = nothing */
#define NO_NEWS_NODE 0.7
#define UNMERGED 1.12                   /* kvs.merge = false */
#define HEARTBEAT_NODE 5.0              /* messages of a heartbeat */
/* Of a namespace of workload.source = namespaces. */
#define NAMESPACE 9.0
#define NAMESPACE_NODE 2.0
#define NAMESPACE_V016 10.0             /* five more calls */

/* Bytes that a job leaves in the store, and in the caches of a node that looked it up. */
#define JOB_BYTES 30e3
#define JOB_NODE_BYTES 5e3

static double job_messages(const struct brokered *b)
{
    const struct instance *inst = &b->inst;
    double nodes = inst->nodes;
    double messages = inst->simulated ? JOB_SIMULATED + JOB_SIMULATED_NODE * nodes
                                      : JOB_SHELLS + JOB_SHELLS_NODE * nodes;

    if (!inst->job_info_first)
        messages += JOB_INFO_NODE * (nodes - 1);
    if (b->jobs.watch == JOBS_WATCH_GUEST)
        messages += inst->simulated ? WATCH_SIMULATED : WATCH_SHELLS;
    else if (b->jobs.watch == JOBS_WATCH_LOG)
        messages += WATCH_LOG;
    if (inst->passes != PASSES_NOTHING)
        messages -= inst->passes == PASSES_ALL ? PASSES_BOTH : PASSES_ONE;
    if (inst->exec_batch_ns > 0)
        messages -= BATCHED + BATCHED_NODE * nodes;
    if (inst->job_info_news != NEWS_EVENTS)
        messages -= inst->job_info_news == NEWS_JOURNAL ? JOURNAL : NO_NEWS + NO_NEWS_NODE * nodes;
    return inst->merge ? messages : messages * UNMERGED;
}

void brokered_estimate(const void *data, struct scenario_estimate *estimate)
{
    const struct brokered *b = data;
    const struct instance *inst = &b->inst;
    double nodes = inst->nodes;
    double jobs = (double)b->source.jobs;

    if (b->jobs.namespaces > 0) {
        bool old = inst->scheme == scheme_find("v0.16");
        estimate->events = b->jobs.namespaces * (NAMESPACE + NAMESPACE_NODE * nodes + (old ? NAMESPACE_V016 : 0));
        estimate->actor_bytes = 0;
        estimate->pending = b->jobs.namespaces;
    } else if (b->source.jobs != WORKLOAD_UNKNOWN) {
        /* A log lasts until its last job has come, or its work is done. */
        double work_ns = b->source.extent.core_ns / (nodes * inst->cores_per_node);
        double beats = MAX(work_ns, b->source.extent.last_submit_ns) / (double)inst->heartbeat_ns;
        estimate->events = jobs * job_messages(b) + beats * HEARTBEAT_NODE * nodes +
                           (inst->job_info_first ? 0 : FIRST_NODE * nodes);
        if (b->file.used)
            estimate->events += jobs * file_run_messages(&b->file.file);
        estimate->actor_bytes = jobs * (JOB_BYTES + (inst->job_info_first ? 0 : JOB_NODE_BYTES * nodes));
        estimate->pending = 10 * nodes + MIN(jobs, b->jobs.submit_window > 0 ? b->jobs.submit_window : jobs);
    }
    estimate->latency_ns = b->link.latency_ns;
}
