/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The group [workload] of a deck, where it says what jobs there are: `source` and the keys of each source.
 *
 *     struct job_source source;
 *     job_source_read(&source, deck);
 *     job_source_check(&source, deck, share, machine);     complains to the deck; collective
 *     w = job_source_open(&source, actor, &error);         by the client's role
 *     job_source_release(&source);
 *
 * Files of jobs are looked at by process 0 before the run, which keeps what it opened for its role to take.
 */
#ifndef TIERCEL_SCENARIO_SOURCE_H
#define TIERCEL_SCENARIO_SOURCE_H

#include "deck.h"
#include "engine/actor.h"
#include "share.h"
#include "workload/swf.h"
#include "workload/workload.h"

/* In the order of the choices of [workload] source. */
enum job_source_type { JOB_SOURCE_BULK, JOB_SOURCE_JOBSPEC, JOB_SOURCE_NAMESPACES, JOB_SOURCE_POISSON, JOB_SOURCE_SWF,
                       JOB_SOURCE_BATSIM };

struct job_source {
    enum job_source_type type;
    char *path;                         /* jobspec: directory; swf, batsim: file */
    uint64_t repeat;                    /* jobspec */
    struct swf_rules rules;
    uint64_t jobs;                      /* bulk, poisson; and what a look at the files told, or WORKLOAD_UNKNOWN */
    uint32_t cores;                     /* bulk, poisson: of each job; else 1 */
    bool with_text;                     /* bulk: each job has a jobspec, of one slot */
    struct distribution duration;
    struct distribution interval;       /* poisson */
    int64_t limit_ns;
    unsigned stream_duration;           /* of the actor that opens it */
    unsigned stream_gap;
    struct actor *actor;                /* that draws */
    uint32_t processors;                /* of the machine that the file says it is for; 0: it does not say */
    bool processors_stated;             /* swf: in the header; else its widest job */
    struct workload *looked_at;         /* process 0: not taken yet */
    struct workload_extent extent;      /* swf, batsim: what the look told; bulk, poisson: expected */
    GArray *counts;                     /* struct workload_count: what the look told */
};

/* FALSE when the deck states none (namespaces are no jobs), or an unusable one: no jobs then. The caller sets streams
 * and with_text. */
bool job_source_read(struct job_source *source, const struct deck *deck);
void job_source_release(struct job_source *source);

/* Process 0 opens the files for all; complaints go to the key that names them. Collective; processes alike know jobs,
 * extent and processors afterwards. `machine`: processors of the machine, for counting jobs that are too wide; 0: as
 * the file says. */
void job_source_check(struct job_source *source, struct deck *deck, struct share *share, uint32_t machine);

/* As the setups of roles have it: `source` is a struct job_source. The actor's, NULL with *error. What is drawn comes
 * from the actor's streams. */
struct workload *job_source_open(const void *source, struct actor *actor, GError **error);

#endif
