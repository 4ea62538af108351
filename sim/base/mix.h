/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scrambles 64 bits, each of which then depends on all: for contents and orders that anybody can tell from a number.
 * Not the models' random numbers, which engine/random.h has.
 *
 * Source: the finaliser of splitmix64 (Steele, Lea, Flood, 2014).
 */
#ifndef TIERCEL_BASE_MIX_H
#define TIERCEL_BASE_MIX_H

#include <stdint.h>

static inline uint64_t mix_bits(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

#endif
