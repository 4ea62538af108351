/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario_parts.h"

void scenario_policy_read(struct policy_config *policy, const struct deck *deck)
{
    policy->name = deck_text(deck, "scheduler", "policy");
    policy->fit = (enum resource_fit)deck_choice(deck, "scheduler", "fit", NULL);
    if (deck_has(deck, "scheduler", "by"))
        policy->by = (enum policy_by)deck_choice(deck, "scheduler", "by", NULL);
    policy->depth = (uint32_t)deck_integer_or(deck, "scheduler", "depth", policy->depth);
}

void scenario_balance_add(GArray *balances, const char *name, const char *left_text, uint64_t left,
                          const char *right_text, uint64_t right)
{
    struct scenario_balance balance = { name, left_text, right_text, left, right };
    g_array_append_val(balances, balance);
}

uint64_t scenario_jobs_ended(const struct scenario_jobs *jobs)
{
    return jobs->completed + jobs->failed + jobs->killed + jobs->cancelled + jobs->rejected + jobs->lost;
}

void scenario_jobs_summarise(const struct scenario_jobs *jobs, const struct scenario_run *run, struct summary *summary,
                             GArray *balances)
{
    uint64_t ended = scenario_jobs_ended(jobs);
    uint64_t unfinished = run->result->end == ENGINE_ENDED || ended > jobs->submitted ? 0 : jobs->submitted - ended;

    summary_count(summary, "jobs", "submitted", jobs->submitted);
    summary_count(summary, "jobs", "completed", jobs->completed);
    summary_count(summary, "jobs", "failed", jobs->failed);
    summary_count(summary, "jobs", "killed", jobs->killed);
    summary_count(summary, "jobs", "cancelled", jobs->cancelled);
    summary_count(summary, "jobs", "rejected", jobs->rejected);
    summary_count(summary, "jobs", "unfinished", unfinished);
    summary_count(summary, "jobs", "retried", jobs->retried);
    summary_count(summary, "jobs", "lost", jobs->lost);
    scenario_balance_add(balances, "jobs", "submitted", jobs->submitted,
                         unfinished == 0 ? "ended in one state" : "ended in one state or unfinished",
                         ended + unfinished);
}
