/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is kept of many values, in little memory: count, sum, smallest, largest and a histogram (struct statistic), or
 * a total and a curve over time (struct series).
 *
 *     struct statistic s = STATISTIC_INIT;
 *     statistic_add(&s, latency_ns);
 *     statistic_merge(&s, &part_of_another_process);
 *     mean = statistic_mean(&s);  p99 = statistic_quantile(&s, 0.99);
 *     statistic_release(&s);
 *
 * Everything is integers and free of order: parts merged in any order, from any number of processes, give the same
 * bits as one process that saw all values. Sums have 128 bits and cannot overflow in fewer than 2^64 values.
 *
 * Histogram. Buckets are fixed, the same in every run: values up to 127 have one each; above, each power of two is
 * divided into 64 equal buckets. A bucket stands for its middle, so a quantile differs from the value at that place
 * by at most STATISTIC_RELATIVE_ERROR (1/128, below 0.8 %), and is exact up to 127. Mean, smallest and largest are
 * exact. The scheme is that of HdrHistogram (G. Tene), with a layout that never adapts, so that counts merge by
 * addition. A value below 0 counts in the bucket of 0.
 *
 * Series. Bins of one width from time 0; when a time falls beyond the last of SERIES_BINS bins, pairs of bins are added
 * and the width doubles. The final width follows from the largest time alone. Memory is bounded, and a merge first
 * brings both to the larger width.
 *
 * All functions are local. Saved bytes are canonical: equal content, equal bytes.
 */
#ifndef TIERCEL_TRACE_STATISTICS_H
#define TIERCEL_TRACE_STATISTICS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum {
    STATISTIC_EXACT = 128,                  /* values below have a bucket each */
    STATISTIC_PER_OCTAVE = 64,
    STATISTIC_BUCKETS = STATISTIC_EXACT + (63 - 7) * STATISTIC_PER_OCTAVE,
    SERIES_BINS = 1024
};
#define STATISTIC_RELATIVE_ERROR (1.0 / 128)

struct statistic {
    uint64_t count;
    __int128 sum;
    int64_t smallest;                       /* valid while count is above 0 */
    int64_t largest;
    uint64_t *bucket;                       /* `buckets` counts, NULL while there are none */
    unsigned buckets;                       /* grows with the largest value, up to STATISTIC_BUCKETS */
};

#define STATISTIC_INIT { 0, 0, 0, 0, NULL, 0 }

/* The bucket of a value, 0..STATISTIC_BUCKETS-1. */
static inline unsigned statistic_bucket(int64_t value)
{
    if (value < STATISTIC_EXACT)
        return value < 0 ? 0 : (unsigned)value;
    unsigned octave = 63 - (unsigned)__builtin_clzll((uint64_t)value);
    return STATISTIC_EXACT + (octave - 7) * STATISTIC_PER_OCTAVE +
           (unsigned)((uint64_t)value >> (octave - 6)) - STATISTIC_PER_OCTAVE;
}

/* The smallest value of a bucket, and the largest. */
int64_t statistic_bucket_lower(unsigned bucket);
int64_t statistic_bucket_upper(unsigned bucket);

void statistic_add(struct statistic *s, int64_t value);

/* Adds what `from` holds; `from` stays as it is. */
void statistic_merge(struct statistic *s, const struct statistic *from);

/* part / whole; NAN where there is no whole, as in a mean of nothing. */
static inline double statistic_ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* NAN while there are no values: what has no value is null in the summary. */
double statistic_mean(const struct statistic *s);

/* The value below or at which the share `q` (0..1) of the values lies: the smallest value whose place is at least
 * q x count; q = 0 and 1 are the smallest and the largest, exactly. NAN while there are no values. */
double statistic_quantile(const struct statistic *s, double q);

void statistic_save(const struct statistic *s, struct bytes *sink);

/* Replaces the content of *s (initialised). False, with *s empty, when the bytes are not a saved statistic. */
bool statistic_load(struct statistic *s, struct cursor *from);

void statistic_release(struct statistic *s);

struct series {
    int64_t width_ns;                       /* of a bin; the first width x a power of two */
    uint64_t total;                         /* the sum of all bins */
    unsigned bins;                          /* used: the last one that something was added to, plus 1 */
    uint64_t *bin;                          /* SERIES_BINS counts, NULL while nothing was added */
};

#define SERIES_INIT(width) { (width), 0, 0, NULL }

/* Adds `count` at a time of 0 or above (an earlier one counts at 0). */
void series_add(struct series *s, int64_t time_ns, uint64_t count);

/* Both must have begun with the same width. */
void series_merge(struct series *s, const struct series *from);

void series_save(const struct series *s, struct bytes *sink);
bool series_load(struct series *s, struct cursor *from);
void series_release(struct series *s);

#endif
