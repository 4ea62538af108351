/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access patterns: which bytes of a shared file each writer writes, and in which order.
 *
 * As IOR has it: a file is `segments` segments; in a segment each writer has one block; a block is written in
 * transfers. Offset of the block of writer w in segment s: (s x writers + w) x block. The order in which a writer goes
 * through its transfers, and where they lie, is the pattern's.
 */
#ifndef TIERCEL_IO_PATTERN_H
#define TIERCEL_IO_PATTERN_H

#include <stdint.h>

enum pattern_order {
    PATTERN_INTERLEAVED,        /* as IOR: segment after segment */
    PATTERN_CONTIGUOUS,         /* each writer has a region of its own, in the order of the writers */
    PATTERN_DESCENDING,         /* as interleaved, from the end of the file to its beginning */
    PATTERN_LAST_FIRST,         /* as interleaved, the last segment before all others */
    PATTERN_RANDOM              /* as interleaved, each writer's transfers in an order of its own */
};

struct pattern {
    enum pattern_order order;
    uint32_t writers;           /* 1 or above */
    uint64_t transfer;          /* bytes of one write; 1 or above */
    uint64_t block;             /* a multiple of transfer */
    uint64_t segments;          /* 1 or above */
    uint64_t seed;              /* of PATTERN_RANDOM */
};

/* Writes of one writer. */
static inline uint64_t pattern_writes(const struct pattern *p)
{
    return p->segments * (p->block / p->transfer);
}

/* Bytes of the whole file. */
static inline uint64_t pattern_bytes(const struct pattern *p)
{
    return p->segments * p->block * p->writers;
}

/* Where writer `writer` puts its write number `write`, from 0. An interleaved pattern goes on for ever. */
uint64_t pattern_offset(const struct pattern *p, uint32_t writer, uint64_t write);

#endif
