/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scheduling policies: which waiting job starts next, and on what.
 *
 * A policy owns the queue of waiting jobs, the pool of resources and what each running job holds. It has no clock:
 * its driver (a scheduler role, or a test) says what happens and when, and asks what to start:
 *
 *     struct policy *policy = policy_new(&config, &error);
 *     ...
 *     policy_submit(policy, now, &job)        a job arrived: FALSE when it can never run here and was rejected
 *     policy_end(policy, now, id)             a running job ended, was killed, or its resources came back
 *     policy_cancel(policy, now, id)          a waiting job is withdrawn
 *     ...
 *     struct policy_start start;
 *     while (policy_next(policy, now, &start))
 *         ... start.id starts now on start.allocation ...
 *     policy_wake(policy)                     look again at this time even if nothing happens until then
 *     ...
 *     policy_free(policy);
 *
 * Each policy_next() starts at most one job, and has taken its resources when it returns. A driver that wants one
 * decision a turn (Flux's sched-simple) calls it once a turn while policy_ready() holds; one that wants decisions at
 * once loops until FALSE. Whether all events of an instant are told before the first policy_next() ("ties = together")
 * or one at a time is the driver's choice, and changes schedules by a little; the order within an instant is: ends,
 * then cancellations, then submissions, then the policy.
 *
 * `now` never goes back. Plans trust `limit_ns`: a job that overruns its limit (a driver whose kill costs messages) is
 * taken to end in the next nanosecond, again and again, until it does. Times are virtual nanoseconds.
 *
 * Order of the queue: the policy's. All but sjf: higher priority first, then earlier submit time, then lower
 * id; sjf: shorter limit first, then these. All functions are local; a call that breaks the rules (an id twice,
 * an end of a job that does not run) is a programming mistake and asserts.
 *
 * To add a policy: CONTRIBUTING.md, "A scheduling policy".
 */
#ifndef TIERCEL_SCHED_POLICY_H
#define TIERCEL_SCHED_POLICY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "sched/resource.h"

/* The limit of a job that has none: plans take it to run for ever. 0 is the limit of a job of no length. */
#define POLICY_NO_LIMIT INT64_MAX

/* What a plan of the future counts. It matters to policies that promise starts (easy, conservative). */
enum policy_by {
    POLICY_BY_PROCESSORS,   /* so many processors at that time, whichever: the textbook form */
    POLICY_BY_MACHINES      /* named machines, lowest ids first, kept until the promise is renewed: as batsched */
};

struct policy_config {
    const char *name;           /* one of policy_names() */
    uint32_t nodes;
    uint32_t cores_per_node;
    enum resource_fit fit;
    enum policy_by by;
    uint32_t depth;             /* easy: how many waiting jobs have a promised start; 0 counts as 1 */
};

struct policy_job {
    uint64_t id;
    int64_t submit_ns;
    int64_t limit_ns;           /* the requested time; POLICY_NO_LIMIT without one */
    uint32_t priority;          /* higher first; Flux's default is 16 */
    struct resource_request request;
};

struct policy_start {
    uint64_t id;
    const struct allocation *allocation;    /* the policy's, until policy_end(id) */
};

struct policy;

/* Names of all policies in the order of the manual, ended by NULL. */
const char *const *policy_names(void);

/* An empty queue over a free pool. An unknown name is TIERCEL_ERROR_INPUT. */
struct policy *policy_new(const struct policy_config *config, GError **error);
void policy_free(struct policy *policy);

bool policy_submit(struct policy *policy, int64_t now_ns, const struct policy_job *job);
bool policy_next(struct policy *policy, int64_t now_ns, struct policy_start *start);
void policy_end(struct policy *policy, int64_t now_ns, uint64_t id);

/* FALSE when the job does not wait (it is unknown, or has started). */
bool policy_cancel(struct policy *policy, int64_t now_ns, uint64_t id);

/* True when the next policy_next() may start something: false after it said no, until something changes. */
bool policy_ready(const struct policy *policy);

/* The earliest time at which a promised start falls due without any event, or INT64_MAX. */
int64_t policy_wake(const struct policy *policy);

uint64_t policy_waiting(const struct policy *policy);
uint64_t policy_running(const struct policy *policy);

/* The waiting job that is next in queue order; FALSE when none waits. */
bool policy_head(const struct policy *policy, struct policy_job *job);

/* What a running job holds, or NULL when it does not run. */
const struct allocation *policy_allocation(const struct policy *policy, uint64_t id);

const struct resource_pool *policy_pool(const struct policy *policy);

/* Writes queue, running jobs, plan and pool in canonical form. */
void policy_save(const struct policy *policy, struct bytes *sink);

#endif
