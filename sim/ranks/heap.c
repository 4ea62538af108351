/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/heap.h"

enum {
    OVERHEAD_PERCENT = 98,
    OVERHEAD_FREE_PERCENT = 2,
    OVERHEAD_COUNT = 5
};

void heap_init(struct heap *heap, const struct heap_setup *setup)
{
    *heap = (struct heap){ .setup = setup, .used_bytes = setup->base_bytes };
}

static uint64_t live_bytes(const struct heap *heap, uint64_t held_bytes)
{
    return heap->setup->base_bytes + heap->leaked_bytes + held_bytes;
}

uint64_t heap_free_bytes(const struct heap *heap, uint64_t held_bytes)
{
    uint64_t live = live_bytes(heap, held_bytes);
    return live < heap->setup->size_bytes ? heap->setup->size_bytes - live : 0;
}

void heap_leak(struct heap *heap, uint64_t bytes)
{
    heap->leaked_bytes += bytes;
}

/* Counts collections that leave no time for anything else. */
static void judge_overhead(struct heap *heap, int64_t now_ns, int64_t pause_ns, uint64_t free_bytes)
{
    const struct heap_setup *setup = heap->setup;
    __int128 span_ns = (__int128)now_ns - heap->last_end_ns + pause_ns;
    bool too_long = (__int128)pause_ns * 100 > span_ns * OVERHEAD_PERCENT;
    bool too_little = free_bytes < setup->size_bytes / 100 * OVERHEAD_FREE_PERCENT;
    heap->overruns = too_long && too_little ? heap->overruns + 1 : 0;
    if (setup->overhead_limit && heap->overruns >= OVERHEAD_COUNT)
        heap->exhausted = true;
}

int64_t heap_allocate(struct heap *heap, int64_t now_ns, uint64_t bytes, uint64_t held_bytes)
{
    const struct heap_setup *setup = heap->setup;
    if (setup->size_bytes == 0)
        return 0;
    heap->used_bytes += bytes;
    if (heap->used_bytes <= setup->size_bytes)
        return 0;
    uint64_t live = live_bytes(heap, held_bytes);
    int64_t pause_ns = setup->pause_fixed_ns + (int64_t)((__int128)live * setup->pause_per_byte_ps / 1000);
    heap->collections++;
    heap->paused_ns += pause_ns;
    heap->used_bytes = live + bytes;
    if (heap->used_bytes > setup->size_bytes)
        heap->exhausted = true;
    judge_overhead(heap, now_ns, pause_ns, heap_free_bytes(heap, held_bytes));
    heap->last_end_ns = now_ns + pause_ns;
    return pause_ns;
}
