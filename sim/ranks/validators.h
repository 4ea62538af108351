/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The co-processes that check jobspecs for an ingest server.
 *
 * Each checks one job after another, in order. A job goes to the running one with the fewest jobs; when even that one
 * holds `threshold` jobs, one more is started, up to `limit`. One that has had nothing to do for `idle_exit_ns` has
 * ended, and starting it again costs `start_ns` with the first job. (flux-core 0.16, job-ingest: limit 4, threshold
 * 32, idle exit 5 s.)
 *
 *     unsigned worker = validators_add(v, job, now_ns);
 *     while ((job = validators_begin(v, worker, &work_ns)) != NULL)   at most once: it is busy then
 *         ... its work takes work_ns ...
 *     job = validators_finish(v, worker, now_ns);                     then begin again
 *
 * Passive: no messages and no clock of its own. Jobs are the caller's pointers, never looked into.
 */
#ifndef TIERCEL_RANKS_VALIDATORS_H
#define TIERCEL_RANKS_VALIDATORS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum { VALIDATORS_MAX = 16 };

struct validator {
    GQueue jobs;            /* the head is being checked while busy */
    bool running;
    bool busy;
    int64_t idle_since_ns;  /* while running and without jobs */
};

struct validators {
    unsigned limit;
    unsigned threshold;
    int64_t idle_exit_ns;
    int64_t start_ns;
    int64_t work_ns;        /* one job */
    struct validator workers[VALIDATORS_MAX];
};

/* `limit` is 1 to VALIDATORS_MAX; no co-process runs at first. */
void validators_init(struct validators *v, unsigned limit, unsigned threshold, int64_t idle_exit_ns, int64_t start_ns,
                     int64_t work_ns);
void validators_release(struct validators *v);

/* Queues a job and returns which co-process has it. */
unsigned validators_add(struct validators *v, gpointer job, int64_t now_ns);

/* The job that the co-process starts with now and how long it takes; NULL when it is busy or has none. */
gpointer validators_begin(struct validators *v, unsigned worker, int64_t *work_ns);

/* The job that the co-process, which must be busy, has finished. */
gpointer validators_finish(struct validators *v, unsigned worker, int64_t now_ns);

/* Writes its state in canonical form; save_job writes one job. */
void validators_save(const struct validators *v, struct bytes *sink,
                     void (*save_job)(gconstpointer job, struct bytes *sink));

#endif
