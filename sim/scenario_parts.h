/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kinds of system have in common, for the files scenario_KIND*.c: placement in blocks, keys that several read
 * alike, balances, and how jobs ended. All functions are local.
 */
#ifndef TIERCEL_SCENARIO_PARTS_H
#define TIERCEL_SCENARIO_PARTS_H

#include "scenario.h"
#include "sched/policy.h"

/* The process that plays number `index` of `count` neighbours: one block after the other, as even as possible. */
static inline uint32_t scenario_block(uint32_t index, uint32_t count, uint32_t processes)
{
    return (uint32_t)((uint64_t)index * processes / count);
}

/* [scheduler] policy, fit, by and depth; the machine is the caller's. The name is the deck's. */
void scenario_policy_read(struct policy_config *policy, const struct deck *deck);

/* Adds a struct scenario_balance. */
void scenario_balance_add(GArray *balances, const char *name, const char *left_text, uint64_t left,
                          const char *right_text, uint64_t right);

/* How the jobs of a run ended, each in one of the states after `submitted`; and how often any of them was tried
 * again. */
struct scenario_jobs {
    uint64_t submitted;
    uint64_t completed;
    uint64_t failed;
    uint64_t killed;
    uint64_t cancelled;
    uint64_t rejected;
    uint64_t lost;
    uint64_t retried;
};

uint64_t scenario_jobs_ended(const struct scenario_jobs *jobs);

/* Sets the counts of the summary's group jobs and adds their balance. Jobs that did not end count as unfinished in a
 * run that was stopped; in one that ended by itself they are no remainder but a failed balance. */
void scenario_jobs_summarise(const struct scenario_jobs *jobs, const struct scenario_run *run, struct summary *summary,
                             GArray *balances);

#endif
