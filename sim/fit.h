/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tiercel fit FILE`: costs from measurements.
 *
 * The fit file (fit_plan.h) names free costs and measured rows; what is printed is each cost with its standard
 * uncertainty and whether the rows tell it at all, each row before and after, what each row's value would do if a cost
 * changed, and the directions that the rows leave open. With --profile the costs are written as a cost profile. With
 * --sensitivity nothing is fitted.
 *
 * Method: least_squares.h. A cost counts as identified when its uncertainty is at most a third of what its range alone
 * gives (the standard deviation of a uniform distribution of its logarithm).
 */
#ifndef TIERCEL_FIT_H
#define TIERCEL_FIT_H

struct options;
struct share;

/* Runs are shared out over the processes; process 0 prints and writes. Collective; the exit status, the same on all. */
int fit_file(const struct options *options, struct share *share);

#endif
