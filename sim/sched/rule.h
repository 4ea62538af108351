/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a scheduling policy is made of, for the files of this folder that are one (fcfs.c, ...). Others include
 * sched/policy.h only.
 *
 * policy.c keeps the queue, the running jobs and the pool, and checks the caller. A rule says in which order the queue
 * stands and which job starts next; it may keep a plan of its own (struct policy, `plan`). To add one: CONTRIBUTING.md,
 * "A scheduling policy".
 */
#ifndef TIERCEL_SCHED_RULE_H
#define TIERCEL_SCHED_RULE_H

#include "sched/policy.h"

/* A waiting job. */
struct waiting {
    struct policy_job job;
    uint64_t cores;             /* what it takes of the pool */
    GSequenceIter *at;          /* its place in the queue */
    GSequenceIter *also_at;     /* its place in a second order that the rule keeps */
    void *plan;                 /* the rule's own, or NULL; the rule clears it before the job starts or leaves */
};

struct running {
    struct policy_job job;
    int64_t start_ns;
    struct allocation *allocation;
    void *plan;                 /* the rule's own, or NULL */
};

struct policy {
    const struct policy_rule *rule;
    struct policy_config config;
    struct resource_pool pool;
    GSequence *queue;           /* struct waiting, in the rule's order */
    GHashTable *waiting;        /* id -> struct waiting; only looked up, never walked */
    GHashTable *running;        /* id -> struct running; walked for saving only, sorted */
    int64_t now_ns;             /* the latest time told */
    bool ready;                 /* the next attempt may succeed */
    void *plan;                 /* the rule's own, or NULL */
};

struct policy_rule {
    const char *name;
    /* The queue's order: < 0 when a stands before b. Must order any two jobs. */
    int (*compare)(const struct policy_job *a, const struct policy_job *b);

    /* Those from `init` to `save` may be NULL. `now` is policy->now_ns. A scheduler that decides once a turn (policy.h)
     * asks only while policy->ready is set, and `next` clears it when it has nothing to start. So a rule must set it
     * again whenever the answer may have changed: when a job comes, when one ends, and, where one that waits can keep
     * others from starting, when that one is cancelled. policy.c never sets it. */
    void (*init)(struct policy *policy);
    void (*release)(struct policy *policy);
    void (*submitted)(struct policy *policy, struct waiting *job);              /* after it stands in the queue */
    void (*cancelled)(struct policy *policy, struct waiting *job);              /* before it leaves the queue */
    void (*started)(struct policy *policy, struct running *job);                /* after its resources were taken */
    void (*ended)(struct policy *policy, struct running *job);                  /* after its resources came back */
    int64_t (*wake)(const struct policy *policy);
    void (*save)(const struct policy *policy, struct bytes *sink);

    /* The waiting job to start now and, in *allocation, its resources, already taken from the pool; or NULL. Leave the
     * queue as it is. Sets policy->ready to whether another call may succeed. */
    struct waiting *(*next)(struct policy *policy, struct allocation **allocation);
};

/* As policy_new, for a rule that need not stand in the table. Cannot fail. */
struct policy *policy_new_with_rule(const struct policy_rule *rule, const struct policy_config *config);

/* The order of policy.h: priority, submit time, id. */
int policy_job_compare(const struct policy_job *a, const struct policy_job *b);
/* The shorter limit first, then as above. */
int policy_job_compare_limit(const struct policy_job *a, const struct policy_job *b);

/* The first waiting job, or NULL. */
struct waiting *policy_first(const struct policy *policy);

extern const struct policy_rule policy_rule_fcfs;
extern const struct policy_rule policy_rule_sjf;
extern const struct policy_rule policy_rule_easy;
extern const struct policy_rule policy_rule_easy_sjf;
extern const struct policy_rule policy_rule_conservative;

#endif
