/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/random.h"

#include <math.h>
#include <string.h>

/* x = 2^e * m with m in (sqrt(1/2), sqrt(2)]; log m = 2 atanh(s), s = (m-1)/(m+1), |s| < 0.1716, by its series to
 * s^21: the first term left out is below 2e-19. */
double random_log(double x)
{
    static const double ln2_high = 6.93147180369123816490e-01;  /* ln 2 split so that e * ln2_high is exact */
    static const double ln2_low = 1.90821492927058770002e-10;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int64_t exponent = (int64_t)(bits >> 52) - 1023;
    bits = (bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        exponent++;
    }
    double s = (m - 1.0) / (m + 1.0), z = s * s;
    double series = 1.0 / 21;
    series = series * z + 1.0 / 19;
    series = series * z + 1.0 / 17;
    series = series * z + 1.0 / 15;
    series = series * z + 1.0 / 13;
    series = series * z + 1.0 / 11;
    series = series * z + 1.0 / 9;
    series = series * z + 1.0 / 7;
    series = series * z + 1.0 / 5;
    series = series * z + 1.0 / 3;
    double e = (double)exponent;
    return e * ln2_high + (2.0 * s + (2.0 * s * z * series + e * ln2_low));
}

/* A span of time, at most all of virtual time: what is longer could not be told apart, nor be an integer. */
static int64_t span_ns(double value)
{
    return value < 0x1p62 ? (int64_t)value : INT64_C(1) << 62;
}

int64_t random_exponential(uint64_t bits, int64_t mean_ns)
{
    return span_ns(-random_log(random_unit(bits)) * (double)mean_ns);
}

int64_t random_uniform(uint64_t bits, int64_t low_ns, int64_t high_ns)
{
    return low_ns + (int64_t)random_below(bits, (uint64_t)(high_ns - low_ns) + 1);
}

int64_t random_normal(uint64_t bits, int64_t mean_ns, int64_t deviation_ns)
{
    static const double a[] = { -3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02,
                                1.383577518672690e+02, -3.066479806614716e+01, 2.506628277459239e+00 };
    static const double b[] = { -5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                                6.680131188771972e+01, -1.328068155288572e+01 };
    static const double c[] = { -7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                                -2.549732539343734e+00, 4.374664141464968e+00, 2.938163982698783e+00 };
    static const double d[] = { 7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                                3.754408661907416e+00 };
    double p = random_unit(bits);
    double tail = p < 0.5 ? p : 1.0 - p, z;
    if (tail < 0.02425) {
        double q = sqrt(-2.0 * random_log(tail));   /* IEEE 754 rounds sqrt the same everywhere */
        z = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
            ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1.0);
        z = p < 0.5 ? z : -z;
    } else {
        double q = p - 0.5, r = q * q;
        z = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
            (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1.0);
    }
    double value = (double)mean_ns + z * (double)deviation_ns;
    return value > 0 ? span_ns(value) : 0;
}

int64_t random_duration(const struct distribution *d, uint64_t bits)
{
    switch (d->type) {
    case DISTRIBUTION_EXPONENTIAL:
        return random_exponential(bits, d->a_ns);
    case DISTRIBUTION_UNIFORM:
        return random_uniform(bits, d->a_ns, d->b_ns);
    case DISTRIBUTION_NORMAL:
        return random_normal(bits, d->a_ns, d->b_ns);
    case DISTRIBUTION_CONSTANT:
        break;
    }
    return d->a_ns;
}
