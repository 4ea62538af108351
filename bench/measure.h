/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the benchmark programs share: clocks, memory, and the form of what they print. A line is a name and pairs of key
 * and value, which bench/run picks by key:
 *
 *     phold events 10457098 wall_s 1.204 cpu_s 1.201 ...
 */
#ifndef TIERCEL_BENCH_MEASURE_H
#define TIERCEL_BENCH_MEASURE_H

#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

static inline double measure_clock_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double measure_wall_s(void)
{
    return measure_clock_s(CLOCK_MONOTONIC);
}

/* Of this process: what counts where other jobs share the machine. */
static inline double measure_cpu_s(void)
{
    return measure_clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

static inline double measure_peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

/* Numbers for a benchmark's own use (xorshift64). */
static inline uint64_t measure_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
