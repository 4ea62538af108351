/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Least squares for a simulated function: Gauss and Newton's method with step halving, on logarithms.
 *
 *     struct least_squares problem = { .parameters = 2, .rows = 5, .seeds = 4, ... .evaluate = play, .data = ... };
 *     struct least_squares_result result;
 *     if (!least_squares_solve(&problem, &result, &error)) ...
 *     result.theta[j] +- result.deviation[j]
 *     least_squares_release(&result);
 *
 * Parameters theta are logarithms of factors: 0 is where one stands beforehand, and prior[j] is how far, as a standard
 * deviation, each may be from there as long as nothing is measured. What is minimised is
 *
 *     sum over rows ((f_i(theta) - measured_i) / sigma_i)^2  +  sum over parameters (theta_j / prior_j)^2
 *
 * where f_i, a logarithm too, is the mean over the seeds, and sigma_i^2 = uncertainty_i^2 + the variance of that mean.
 * So a parameter that the rows say nothing about stays where it was, with the uncertainty that it had, and what that
 * uncertainty does to others is in theirs. Derivatives are central differences over `step`; an entry that does not
 * exceed three times its own standard error (from the pairs of equal seeds, three seeds or more) counts as 0; with four
 * seeds one in seventeen of those that are nothing but noise still passes (Student's t).
 *
 * Everything is local but `evaluate`, which may be collective: all processes make the same calls.
 */
#ifndef TIERCEL_LEAST_SQUARES_H
#define TIERCEL_LEAST_SQUARES_H

#include <stdbool.h>

#include "base/error.h"

enum { LEAST_SQUARES_PARAMETERS_MAX = 64 };

/* Plays `count` points, one behind the other in `thetas`; values[(point * rows + row) * seeds + seed] receives f. */
typedef gboolean (*least_squares_fn)(void *data, const double *thetas, unsigned count, double *values, GError **error);

struct least_squares {
    unsigned parameters;            /* 1 to LEAST_SQUARES_PARAMETERS_MAX */
    unsigned rows;                  /* 1 or more */
    unsigned seeds;                 /* 1 or more */
    const double *measured;         /* by row */
    const double *uncertainty;      /* by row, above 0 */
    const double *prior;            /* by parameter, above 0 */
    const double *low;              /* by parameter: theta is kept from low, 0 or below, to high, 0 or above */
    const double *high;
    double step;                    /* above 0 */
    unsigned iterations_max;
    least_squares_fn evaluate;
    void *data;
};

struct least_squares_result {
    unsigned parameters;
    unsigned rows;
    double *theta;
    double *deviation;              /* standard uncertainty of theta */
    double *covariance;             /* parameters x parameters, of theta */
    double *jacobian;               /* rows x parameters: d f_i / d theta_j at theta */
    double *start_values;           /* by row: f at 0 */
    double *values;                 /* by row: f at theta */
    double *sigma;                  /* by row, as above, at theta */
    double *singular;               /* by direction, falling: singular values of the jacobian over sigma, times prior */
    double *directions;             /* directions x parameters: unit vectors of theta over prior */
    double misfit;                  /* the sum over rows at theta */
    unsigned iterations;
    bool converged;                 /* the last step was below a third of each uncertainty */
};

/* FALSE with *error when `evaluate` fails; *result then holds nothing. */
gboolean least_squares_solve(const struct least_squares *problem, struct least_squares_result *result, GError **error);

/* The same without a step: everything at theta = 0. */
gboolean least_squares_look(const struct least_squares *problem, struct least_squares_result *result, GError **error);

void least_squares_release(struct least_squares_result *result);

/* Whether the rows tell this parameter: its uncertainty is at most a third of what it was beforehand. */
bool least_squares_identified(const struct least_squares *problem, const struct least_squares_result *result,
                              unsigned parameter);

/* The correlation of two parameters, -1 to 1. */
double least_squares_correlation(const struct least_squares_result *result, unsigned a, unsigned b);

#endif
