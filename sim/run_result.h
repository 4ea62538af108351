/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a run came to: the summary, the balances, the expectations, and what is printed of them.
 *
 *     struct run_result result;
 *     run_result_init(&result, deck, scenario, &facts);
 *     run_result_print(&result, deck, scenario, verbose, stdout);
 *     status = run_result_complain(&result, deck, strict, stderr);
 *     run_result_release(&result);
 *
 * Process 0 only; local.
 */
#ifndef TIERCEL_RUN_RESULT_H
#define TIERCEL_RUN_RESULT_H

#include <stdio.h>

#include "engine/engine.h"
#include "rate_limits.h"
#include "scenario.h"
#include "service_times.h"
#include "trace/trace.h"

/* What the run loop knows at the end. */
struct run_facts {
    const struct engine_result *engine;
    const struct collector *figures;            /* merged */
    const struct role **roles;                  /* as engine_role_totals gave them */
    const struct engine_role_totals *totals;
    unsigned role_count;
    const struct steady *steady;                /* gathered; NULL: none was kept */
    uint32_t processes;                         /* of the whole run */
    uint32_t machines;                          /* on which those are that played */
    const struct service_times *times;          /* of the live clock, else NULL; gathered */
    bool stopped;                               /* by a signal or the wall limit */
    double wall_s;
    uint64_t engine_bytes;                      /* over all processes */
    uint64_t peak_rss_bytes;                    /* of the largest process */
};

struct run_result {
    struct summary *summary;
    GArray *balances;                           /* struct scenario_balance */
    GArray *expectations;                       /* struct summary_expectation, in the deck's order */
    struct trace_role_figures *roles;           /* for the trace; role_count of them */
    unsigned role_count;
    const struct service_times *times;
    struct rate_limits limits;
    char digest[33];                            /* 32 hexadecimal digits */
};

void run_result_init(struct run_result *result, const struct deck *deck, const struct scenario *scenario,
                     const struct run_facts *facts);
void run_result_release(struct run_result *result);

/* Results for people. */
void run_result_print(const struct run_result *result, const struct deck *deck, const struct scenario *scenario,
                      bool verbose, FILE *out);

/* Says which balances do not hold (with `strict`: and which expectations are missed); returns TIERCEL_ERROR_BALANCE
 * when there is one, else TIERCEL_OK. */
int run_result_complain(const struct run_result *result, const struct deck *deck, bool strict, FILE *out);

#endif
