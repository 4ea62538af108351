/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worked examples of CONTRIBUTING.md: one thing of each kind that is added most often. In the program each line of
 * this header stands in the header of the part that it belongs to.
 */
#ifndef TIERCEL_TESTS_EXAMPLES_H
#define TIERCEL_TESTS_EXAMPLES_H

#include "engine/actor.h"
#include "io/inode.h"
#include "sched/rule.h"
#include "workload/source.h"

/* --- policy_widest.c (sched/rule.h) --- */

extern const struct policy_rule policy_rule_widest;

/* --- rule_chunks.c (io/inode.h) --- */

extern const struct inode_rule inode_rule_chunks;

/* --- source_list.c (a header of its own in workload/) --- */

/* NULL with *error when the file cannot be read. What is wrong in it workload_next tells. */
struct workload *workload_list_new(const char *path, GError **error);

/* --- role_ping.c (the role's header in ranks/, or ranks/protocol.h) --- */

enum ping_kind { PING_DUE = 1, PING_QUESTION, PING_ANSWER };

struct ping_setup {
    uint32_t actors;                    /* with the ids from 0 on */
    uint64_t questions;                 /* of each */
    int64_t period_ns;                  /* from an answer to the next question */
    int64_t cost_ns;                    /* of answering */
};

extern const struct role role_ping;

#endif
