/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * [system] kind = batch: a batch scheduler alone (ranks/batch.h), one actor. For scenario_batch*.c and scenario.c.
 */
#ifndef TIERCEL_SCENARIO_BATCH_H
#define TIERCEL_SCENARIO_BATCH_H

#include "ranks/batch.h"
#include "scenario.h"
#include "scenario_source.h"

struct batch_scenario {
    struct batch batch;
    struct job_source source;
    uint32_t processors;
    bool processors_stated;         /* by the deck */
};

extern const struct scenario_kind scenario_batch;

void batch_describe(const void *data, FILE *out);
void batch_summarise(const void *data, const struct scenario_run *run, struct summary *summary, GArray *balances);
void batch_headline(const void *data, const struct summary *summary, FILE *out);
void batch_details(const void *data, const struct summary *summary, FILE *out);

#endif
