/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How busy each thread of a run was over its steady part.
 *
 *     struct steady *s = steady_new(actors, actor_roles, actor_nodes, role_count);
 *     steady_tick(s, engine, now_ns, done_here);          from the engine's tick, on every process
 *     steady_gather(s, comm);                             at the end, on every process
 *     if (steady_span(s, &span)) ...                      process 0
 *     steady_use(s, row, &use)
 *     steady_free(s);
 *
 * At ticks the time that every thread has been busy or blocked is noted, with how much is done (jobs, tasks). The
 * steady part lies between the first tick at which a tenth of all is done and the last at which no more than nine
 * tenths are; so neither the start nor the drain is in it. Few ticks are kept: when there are STEADY_TICKS, every
 * second one is dropped and from then on every second one noted, which is the same on every number of processes.
 *
 * Rows. A role with up to STEADY_ACTORS actors has a row for each of them; of a larger one only those on node 0 do,
 * where the central ones stand, and one row holds the others together. Nothing here changes a result.
 */
#ifndef TIERCEL_STEADY_H
#define TIERCEL_STEADY_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

enum { STEADY_TICKS = 32, STEADY_ACTORS = 1024 };

struct steady;

struct steady_span {
    int64_t from_ns;
    int64_t to_ns;
    uint64_t done;                  /* in between */
};

struct steady_use {
    uint16_t role;
    uint32_t node;                  /* of the one actor */
    uint32_t actors;                /* in the row; the times are their sums, within the span */
    int64_t busy_ns;
    int64_t blocked_ns;             /* in calls */
};

/* The arrays, by actor id, stay the caller's. */
struct steady *steady_new(uint32_t actors, const uint16_t *actor_roles, const uint32_t *actor_nodes,
                          unsigned role_count);
void steady_free(struct steady *s);

/* Local; every process at the same ticks. `done_here` is this process's share of what is done. */
void steady_tick(struct steady *s, const struct engine *e, int64_t now_ns, uint64_t done_here);

/* Collective over comm: process 0 gets the sums. */
void steady_gather(struct steady *s, MPI_Comm comm);

/* A run too short to have a steady part (fewer than two ticks in it) is taken from its beginning to the tick at
 * which all was done. False when nothing was done, or no tick noted. */
bool steady_span(const struct steady *s, struct steady_span *span);

unsigned steady_rows(const struct steady *s);
void steady_use(const struct steady *s, unsigned row, const struct steady_span *span, struct steady_use *use);

#endif
