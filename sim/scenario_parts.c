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
