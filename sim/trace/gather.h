/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From all processes to process 0: the only file of this folder that uses MPI.
 *
 * The trace is written by process 0. Parts travel there at flushes and at the end; and what process 0, or any other,
 * has to report as an error travels to all, so that every process returns the same.
 */
#ifndef TIERCEL_TRACE_GATHER_H
#define TIERCEL_TRACE_GATHER_H

#include <mpi.h>

#include "base/bytes.h"
#include "base/error.h"

struct gather;

/* On a duplicate of the communicator. Collective. MPI must have been initialised; its errors end in *error. */
struct gather *gather_new(MPI_Comm comm, GError **error);

/* Collective. NULL is allowed. */
void gather_free(struct gather *g);

/* In all functions below NULL stands for a process that is alone. */
unsigned gather_process(const struct gather *g);
unsigned gather_processes(const struct gather *g);

/* Called on process 0 with each process's bytes, in the order of the processes, its own first. */
typedef gboolean (*gather_part_fn)(void *data, unsigned process, const void *bytes, size_t size, GError **error);

/* Collective. Brings `mine` to process 0, of any size, one process at a time. All processes return the same; *error as
 * the first failing process (in their order) has it. */
gboolean gather_parts(struct gather *g, const struct bytes *mine, gather_part_fn part, void *data, GError **error);

/*
 * Collective. Every process comes with its own outcome (local_error NULL: good) and leaves with the joint one: TRUE
 * everywhere, or FALSE everywhere with the error of the first failing process. Takes local_error over.
 */
gboolean gather_agree(struct gather *g, GError *local_error, GError **error);

#endif
