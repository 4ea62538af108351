/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Student's t: how far the mean of a few runs may be from the true one.
 *
 *     half_width = student_quantile(0.975, n - 1) * s / sqrt(n)          of a 95 % interval
 *
 * For what is printed about results, never for what a model computes. Local.
 */
#ifndef TIERCEL_STUDENT_H
#define TIERCEL_STUDENT_H

/* The t below which a value with `degrees` degrees of freedom lies with this probability. 0 < probability < 1,
 * degrees > 0. Exact to nine digits or more. From the regularised incomplete beta function, DLMF 8.17.22 (its continued
 * fraction, by Lentz's method). */
double student_quantile(double probability, double degrees);

/* Mean of `count` values, and half the width of its two-sided interval that holds with this probability (0.95); the
 * latter NAN for less than two values. */
struct student_estimate {
    double mean;
    double deviation;               /* of a single value; NAN for less than two */
    double half_width;
};
struct student_estimate student_estimate(const double *values, unsigned count, double probability);

#endif
