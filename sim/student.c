/* SPDX-License-Identifier: BSD-3-Clause */
#include "student.h"

#include <glib.h>
#include <math.h>

#define TINY 1e-300
#define PRECISION 1e-15

enum { STEPS_MAX = 10000, HALVINGS = 200 };

/* The continued fraction of I_x(a, b), good for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    double c = 1;
    double d = 1 - (a + b) * x / (a + 1);
    double value;

    d = 1 / (fabs(d) < TINY ? TINY : d);
    value = d;
    for (int m = 1; m <= STEPS_MAX; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < TINY ? TINY : d);
        c = fabs(c) < TINY ? TINY : c;
        value *= d * c;
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < TINY ? TINY : d);
        c = fabs(c) < TINY ? TINY : c;
        value *= d * c;
        if (fabs(d * c - 1) < PRECISION)
            break;
    }
    return value;
}

static double beta_regularised(double x, double a, double b)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(1 - x, b, a) / b;
}

/* The probability of a value above t >= 0. */
static double upper_tail(double t, double degrees)
{
    return beta_regularised(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
}

double student_quantile(double probability, double degrees)
{
    double tail = probability < 0.5 ? probability : 1 - probability;
    double low = 0;
    double high = 1;

    g_assert(probability > 0 && probability < 1 && degrees > 0);
    while (upper_tail(high, degrees) > tail && high < 1e300)
        high *= 2;
    for (int i = 0; i < HALVINGS && high - low > PRECISION * high; i++) {
        double middle = (low + high) / 2;
        if (upper_tail(middle, degrees) > tail)
            low = middle;
        else
            high = middle;
    }
    return probability < 0.5 ? -high : high;
}

struct student_estimate student_estimate(const double *values, unsigned count, double probability)
{
    struct student_estimate e = { NAN, NAN, NAN };
    double sum = 0;
    double squares = 0;

    for (unsigned i = 0; i < count; i++)
        sum += values[i];
    if (count > 0)
        e.mean = sum / count;
    if (count < 2)
        return e;
    for (unsigned i = 0; i < count; i++)
        squares += (values[i] - e.mean) * (values[i] - e.mean);
    e.deviation = sqrt(squares / (count - 1));
    e.half_width = student_quantile((1 + probability) / 2, count - 1) * e.deviation / sqrt(count);
    return e;
}
