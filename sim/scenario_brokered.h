/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * [system] kind = brokered: a tree of brokers with a key-value store and a job pipeline (ranks/instance.h).
 *
 *     scenario_brokered.c            from the deck to the instance and its actors
 *     scenario_brokered_estimate.c   from the instance to how much there will be to do
 *     scenario_brokered_scheme.c     the event scheme, in and out
 *     scenario_brokered_result.c     from the figures to the summary and the terminal
 */
#ifndef TIERCEL_SCENARIO_BROKERED_H
#define TIERCEL_SCENARIO_BROKERED_H

#include "ranks/instance.h"
#include "ranks/jobs.h"
#include "scenario.h"
#include "scenario_file.h"
#include "scenario_source.h"

extern const struct scenario_kind scenario_brokered;

struct brokered {
    struct instance inst;
    struct instance_jobs jobs;
    struct scheme *scheme;              /* [topics]; NULL with a preset */
    struct engine_link link;            /* between nodes */
    struct engine_link local_link;      /* within a node */
    bool by_role;                       /* placement */
    bool live;                          /* the cores are real ones */
    uint32_t cpus;                      /* of a machine; 0: no sharing */
    uint32_t nodes_per_machine;
    struct table_column columns[32];    /* of the job table */
    struct job_file file;               /* that jobs write */
    struct table tables[2];             /* jobs, and watches of their namespaces */
    struct job_source source;           /* jobs.source points to it */
};

/* From [events] and [topics] to inst.scheme, complaining to the deck. */
void brokered_read_scheme(struct brokered *b, struct deck *deck);

/* Fills in b->tables; they are the same for every deck. */
void brokered_describe_tables(struct brokered *b);

/* scenario_kind.describe. */
void brokered_describe(const void *data, FILE *out);

/* scenario_kind.estimate. */
void brokered_estimate(const void *data, struct scenario_estimate *estimate);

/* scenario_kind.summarise, .pools, .headline and .details. */
void brokered_pools(const void *data, const struct scenario_run *run, GArray *pools);
void brokered_summarise(const void *data, const struct scenario_run *run, struct summary *summary, GArray *balances);
void brokered_headline(const void *data, const struct summary *summary, FILE *out);
void brokered_details(const void *data, const struct summary *summary, FILE *out);

#endif
