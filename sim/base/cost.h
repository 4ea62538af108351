/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long one handling takes: fixed + bytes x per_byte + entries x per_entry, as decks state it
 * ("85us + 2ns/B + 10us/queued", base/quantity.h) and roles pay it. What an entry is stands where the cost is listed.
 * All integers, so that a sum is the same on every machine.
 */
#ifndef TIERCEL_BASE_COST_H
#define TIERCEL_BASE_COST_H

#include <stdint.h>

struct cost {
    int64_t fixed_ns;       /* 0 or above, as the others */
    int64_t per_byte_ps;    /* picoseconds a byte */
    int64_t per_entry_ns;   /* nanoseconds an entry, or a queued item */
};

/* Nanoseconds; 0 or above for arguments of 0 or above. Bytes are rounded down to a whole nanosecond in total. */
static inline int64_t cost_ns(const struct cost *cost, uint64_t bytes, uint64_t entries)
{
    return cost->fixed_ns + (int64_t)bytes * cost->per_byte_ps / 1000 + (int64_t)entries * cost->per_entry_ns;
}

/* Each part times factor_ppm millionths (0 or above), rounded to the nearest; what is something never becomes 0. */
struct cost cost_scaled(const struct cost *cost, int64_t factor_ppm);

/* As a deck states it, exactly, each part in the largest unit that it fills: "42.4us + 1.5ns/B"; "0ns" for none. Free
 * with g_free. */
char *cost_text(const struct cost *cost);

#endif
