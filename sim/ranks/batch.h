/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A batch scheduler without a job system around it, as the field's job-scheduling simulators have it: jobs of a
 * workload arrive, a policy (sched/policy.h) starts them, they hold their processors until they end. One actor.
 *
 * Time. A timer takes at least 1 ns, so the workload's time 0 is BATCH_ORIGIN_NS of virtual time. All times of rows and
 * metrics are the workload's.
 *
 * Order. What happens in one instant is told to the policy in this order: ends of jobs (by their place in the
 * workload), submissions (by the same), then the policy starts what it can. A job of no length ends in the instant of
 * its start, and is followed by another round of the three. With `one_by_one` the policy is asked after every single
 * end and submission instead.
 *
 * Cost. With the costs of the setup at 0 everything happens in its instant. Otherwise the scheduler is busy for each
 * end, submission, pass and start, as one thread is: what comes meanwhile waits, and jobs start when they are decided
 * on. A job's end frees its processors when the scheduler takes note of it.
 *
 * A job is killed at its limit (or runs on with `overrun`, and the policy plans around it); one wider than the machine
 * is rejected. A job's row is recorded when it ends or is rejected, and its machines as spans of numbers: node x cores
 * per node + core.
 */
#ifndef TIERCEL_RANKS_BATCH_H
#define TIERCEL_RANKS_BATCH_H

#include <glib.h>

#include "engine/actor.h"
#include "ranks/instance.h"
#include "ranks/jobs.h"
#include "sched/policy.h"
#include "trace/table.h"
#include "workload/workload.h"

#define BATCH_ORIGIN_NS 1

enum batch_kind {
    BATCH_INSTANT = 0xf200          /* to itself: something is due */
};

/* X(field, key, fixed ns, ps a byte, ns an entry, what it is), as INSTANCE_COSTS. */
#define BATCH_COSTS(X) \
    X(submit, "batch-submit", 0, 0, 0, "batch scheduler takes a job in") \
    X(end, "batch-end", 0, 0, 0, "batch scheduler notes the end of a job") \
    X(pass, "batch-pass", 0, 0, 0, "batch scheduler looks what may start; entry: a waiting job") \
    X(start, "batch-start", 0, 0, 0, "batch scheduler starts a job")

struct batch_costs {
#define BATCH_COST_FIELD(field, key, fixed, byte, entry, text) struct cost field;
    BATCH_COSTS(BATCH_COST_FIELD)
#undef BATCH_COST_FIELD
};

/* The same list at run time; offsets are in struct batch_costs. */
extern const struct cost_name batch_cost_names[];

/* The setup. */
struct batch {
    struct policy_config policy;
    bool whole_nodes;               /* a job gets all cores of as many nodes as it needs */
    bool overrun;                   /* jobs run on at their limit */
    bool one_by_one;
    int64_t slowdown_bound_ns;      /* above 0 */
    /* Makes the source of jobs; durations that are drawn use the actor's streams. NULL and *error ends the run. */
    struct workload *(*open)(const void *source, struct actor *self, GError **error);
    const void *source;
    struct batch_costs costs;
};

enum { BATCH_STREAM_DURATION, BATCH_STREAM_GAP, BATCH_STREAMS };

/* --- classes of jobs, by width and by length --- */

enum { BATCH_WIDTHS = 5, BATCH_LENGTHS = 5, BATCH_CLASSES = BATCH_WIDTHS + BATCH_LENGTHS };

struct batch_class {
    const char *name;               /* in the summary */
    const char *text;
    int64_t most;                   /* processors, or ns of run time; of the last of each: INT64_MAX */
};

/* First those of width, then those of length, each in ascending order. */
extern const struct batch_class batch_classes[BATCH_CLASSES];

/* --- metrics --- */

enum batch_metric {
    BATCH_SUBMITTED,
    BATCH_STARTED,
    BATCH_COMPLETED,
    BATCH_KILLED,
    BATCH_REJECTED,
    BATCH_PASSES,
    BATCH_QUEUE,                    /* waiting jobs, at each pass */
    BATCH_WAIT,                     /* of jobs that ended, as all of the following */
    BATCH_RUN,
    BATCH_TURNAROUND,
    BATCH_SLOWDOWN,                 /* bounded, in millionths */
    BATCH_SUBMIT_TIME,
    BATCH_START_TIME,
    BATCH_END_TIME,
    BATCH_AREA_S,                   /* processors x run time, whole seconds ... */
    BATCH_AREA_NS,                  /* ... and what is left of each job's */
    BATCH_WAIT_OF_CLASS,            /* BATCH_CLASSES of them */
    BATCH_SLOWDOWN_OF_CLASS = BATCH_WAIT_OF_CLASS + BATCH_CLASSES,
    BATCH_METRICS = BATCH_SLOWDOWN_OF_CLASS + BATCH_CLASSES
};

/* --- tables of the trace --- */

/* `jobs`: a row a job. `machines`: a row for each span of them. `texts`: the names that rows refer to, in pieces. */
enum batch_table { BATCH_TABLE_JOBS, BATCH_TABLE_MACHINES, BATCH_TABLE_TEXTS, BATCH_TABLES };
enum { BATCH_TEXT_WORDS = 4 };      /* 64-bit words of one piece of a text */

extern const struct table batch_tables[BATCH_TABLES];

extern const struct role role_batch;

#endif
