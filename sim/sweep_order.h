/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In which order a sweep takes up its points: what takes longest comes first, so that no process has a long one left
 * when the others have nothing left to do. A run takes about as long as it handles messages; how many these will be is
 * reckoned as `check` does.
 *
 * What comes of a point, and the table of them, do not depend on the order.
 */
#ifndef TIERCEL_SWEEP_ORDER_H
#define TIERCEL_SWEEP_ORDER_H

#include "sweep_folder.h"
#include "sweep_plan.h"

/* The points from `from` to below `to`, those first of which nobody can tell, equal ones in the deck's order. It is all
 * the deck's order where the order gains nothing: for one process, and for so many points that a single one is little
 * of the whole. Free with g_free. Collective: the processes share the reckoning, some milliseconds a point that is
 * open in the folder and, where it has a log of jobs, the time to read it once. */
unsigned *sweep_order_new(struct sweep_plan *plan, const struct sweep_folder *folder, unsigned from, unsigned to,
                          struct share *share);

#endif
