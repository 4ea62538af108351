/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * [system] kind = dispatcher: clients, services that dispatch, and executors (ranks/task_service.h).
 *
 *     scenario_dispatcher.c            from the deck to the setup and its actors
 *     scenario_dispatcher_estimate.c   from the setup to how much there will be to do
 *     scenario_dispatcher_result.c     from the figures to the summary and the terminal
 */
#ifndef TIERCEL_SCENARIO_DISPATCHER_H
#define TIERCEL_SCENARIO_DISPATCHER_H

#include "ranks/task_service.h"
#include "scenario_file.h"

extern const struct scenario_kind scenario_dispatcher;

struct dispatcher_scenario {
    struct task_service service;
    bool by_role;                       /* placement */
    struct job_file file;               /* that tasks write */
    bool live;                          /* the cores are real ones */
    uint32_t cpus;                      /* of a machine; 0: no sharing */
    uint32_t machines;
    int64_t local_latency_ns;           /* within a machine */
};

/* scenario_kind.estimate. */
void dispatcher_estimate(const void *data, struct scenario_estimate *estimate);

/* scenario_kind.summarise, .pools, .headline and .details. */
void dispatcher_pools(const void *data, const struct scenario_run *run, GArray *pools);
void dispatcher_summarise(const void *data, const struct scenario_run *run, struct summary *summary, GArray *balances);
void dispatcher_headline(const void *data, const struct summary *summary, FILE *out);
void dispatcher_details(const void *data, const struct summary *summary, FILE *out);

#endif
