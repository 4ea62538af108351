/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random numbers that belong to the model (design, law 4).
 *
 * Counter-based: draw number n of a stream of an actor is a pure function of (seed, actor, stream, n), Threefry-2x64
 * with 13 rounds (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011; 13 rounds pass
 * BigCrush). So there is no state to move and the numbers are the same for every number of processes.
 *
 * The distributions take 64 random bits (actor_draw) and give integers of nanoseconds. They use only additions,
 * multiplications and divisions of doubles, which IEEE 754 rounds the same everywhere, and a logarithm of our own:
 * the last bit of libm's varies. What would be beyond the end of virtual time, 2^62 ns, becomes that.
 */
#ifndef TIERCEL_ENGINE_RANDOM_H
#define TIERCEL_ENGINE_RANDOM_H

#include <Random123/threefry.h>
#include <stdint.h>

#include "base/quantity.h"

static inline uint64_t random_bits(uint64_t seed, uint32_t actor, unsigned stream, uint64_t draw)
{
    threefry2x64_key_t key = { { seed, (uint64_t)actor << 8 | stream } };
    threefry2x64_ctr_t counter = { { draw, 0 } };
    return threefry2x64_R(13, counter, key).v[0];
}

/* In (0, 1), never 0 and never 1: the upper 52 bits and a half. */
static inline double random_unit(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

/* Uniform in 0 .. n-1; n at least 1. The bias is below n / 2^64. */
static inline uint64_t random_below(uint64_t bits, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)bits * n) >> 64);
}

/* The bound below which 64 random bits lie with the given chance: 2^64 times it, saturated, so that what is certain is
 * missed once in 2^64 draws. */
static inline uint64_t random_bound(int64_t chance_ppm)
{
    return chance_ppm >= 1000000 ? UINT64_MAX : (uint64_t)(((unsigned __int128)chance_ppm << 64) / 1000000);
}

/* The natural logarithm of x, finite, above 0 and not subnormal; error below 1e-15 relative or absolute; the same bits
 * everywhere. */
double random_log(double x);

/* Exponential with the given mean, in nanoseconds, rounded down; at most 37 times the mean. */
int64_t random_exponential(uint64_t bits, int64_t mean_ns);

/* Uniform in low .. high, both included; 0 <= low <= high. */
int64_t random_uniform(uint64_t bits, int64_t low_ns, int64_t high_ns);

/* Normal with the given mean and deviation; what would be below 0 becomes 0. By Acklam's rational approximation of the
 * normal quantile (relative error 1.15e-9), which needs neither a loop over draws nor sine and cosine. */
int64_t random_normal(uint64_t bits, int64_t mean_ns, int64_t deviation_ns);

/* A duration of the given distribution from 64 random bits, 0 or above. */
int64_t random_duration(const struct distribution *d, uint64_t bits);

#endif
