/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sweep that is not played: its points with what each will need, and a job-array script that plays them.
 */
#ifndef TIERCEL_SWEEP_LIST_H
#define TIERCEL_SWEEP_LIST_H

#include <stdio.h>

#include "sweep_plan.h"

/* Process 0 prints the points [from, to), in the form of --format. Returns the exit status, the same on all: OK, or
 * INPUT when a point would be refused (its row says why), or when there is no such form, with *error. Collective. */
int sweep_list_points(struct sweep_plan *plan, unsigned from, unsigned to, struct share *share, GError **error);

/* A script for Slurm and Flux whose tasks play the points, and what makes the table of them. Local; process 0 prints
 * it. */
void sweep_list_array(const struct sweep_plan *plan, const char *folder, FILE *out);

#endif
