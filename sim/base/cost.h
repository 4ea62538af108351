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

/* A cost as a kind of system lists it, and where it lies in its struct of costs. Lists end with a NULL key; the keys of
 * [costs], the manual, `check` and `calibrate` are made from them. */
struct cost_name {
    const char *key;        /* in a deck's [costs] */
    const char *text;       /* what takes so long, and what its entry is */
    struct cost fallback;   /* the default */
    uint32_t offset;        /* bytes from the struct's beginning */
};

static inline struct cost *cost_named(void *costs, const struct cost_name *name)
{
    return (struct cost *)(void *)((char *)costs + name->offset);
}

/* Gives each cost of the list its default. */
void cost_names_init(void *costs, const struct cost_name *names);

/* Each part times factor_ppm millionths (0 or above), rounded to the nearest; what is something never becomes 0. */
struct cost cost_scaled(const struct cost *cost, int64_t factor_ppm);

/* As a deck states it, exactly, each part in the largest unit that it fills: "42.4us + 1.5ns/B"; "0ns" for none. Free
 * with g_free. */
char *cost_text(const struct cost *cost);

#endif
