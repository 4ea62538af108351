/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/pattern.h"

#include "base/mix.h"

/* Place `i` of a shuffled 0..n-1: a Feistel network over the next power of four, walked until it falls inside. So a
 * shuffle of any length needs no memory. */
static uint64_t shuffled(uint64_t i, uint64_t n, uint64_t key)
{
    unsigned half = 1;

    while (half < 32 && UINT64_C(1) << 2 * half < n)
        half++;
    uint64_t mask = (UINT64_C(1) << half) - 1;
    do {
        uint64_t left = i >> half, right = i & mask;
        for (unsigned round = 0; round < 4; round++) {
            uint64_t next = left ^ (mix_bits(key ^ mix_bits(right << 8 | round)) & mask);
            left = right;
            right = next;
        }
        i = left << half | right;
    } while (i >= n);
    return i;
}

static uint64_t interleaved(const struct pattern *p, uint32_t writer, uint64_t write)
{
    uint64_t transfers = p->block / p->transfer;

    return (write / transfers * p->writers + writer) * p->block + write % transfers * p->transfer;
}

/* Segment s of the turn: the last one first, then from the beginning. */
static uint64_t last_first(const struct pattern *p, uint64_t write)
{
    uint64_t transfers = p->block / p->transfer;
    uint64_t segment = write / transfers;

    segment = segment == 0 ? p->segments - 1 : segment - 1;
    return segment * transfers + write % transfers;
}

uint64_t pattern_offset(const struct pattern *p, uint32_t writer, uint64_t write)
{
    uint64_t writes = pattern_writes(p);

    switch (p->order) {
    case PATTERN_CONTIGUOUS:
        return writer * p->segments * p->block + write * p->transfer;
    case PATTERN_DESCENDING:
        return interleaved(p, writer, writes - 1 - write);
    case PATTERN_LAST_FIRST:
        return interleaved(p, writer, last_first(p, write));
    case PATTERN_RANDOM:
        return interleaved(p, writer, shuffled(write, writes, mix_bits(p->seed) + writer));
    default:
        return interleaved(p, writer, write);
    }
}
