/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collected heap, as a process of a language with a garbage collector has one.
 *
 *     struct heap heap;
 *     heap_init(&heap, &setup);
 *     pause_ns = heap_allocate(&heap, now_ns, bytes, held_bytes);     the whole process stands still for so long
 *     if (heap.exhausted) ...                                         it would have died of OutOfMemoryError
 *     heap_leak(&heap, bytes);                                        something that nobody will ever let go of
 *
 * The mechanism. What is allocated stays in the heap until a collection, whether or not it is still in use. When an
 * allocation does not fit, everything is collected: what is alive is traversed (and moved), which takes a fixed time
 * and a time for each live byte; then the heap holds what is alive and nothing else. So a pause follows from the live
 * data, and the time between two from what is free: with little free there are many, all of them long. One class of
 * collections, all of them full and all of them stopping the process: the client of 2008 ran a heap whose free part was
 * ever smaller, and what was reported are such pauses.
 *
 * What is alive: the setup's base, what has leaked, and what the caller says it holds.
 *
 * The end. An allocation that does not fit into an empty heap exhausts it. So does a collector that runs all the time:
 * more than 98 % of the time in collections that leave less than 2 % of the heap free, five times in a row. That is the
 * rule of HotSpot (UseGCOverheadLimit, with GCTimeLimit = 98, GCHeapFreeLimit = 2), in every release since 2006.
 *
 * Plain data, no clock, no messages. All counts are exact integers; nothing is allocated.
 */
#ifndef TIERCEL_RANKS_HEAP_H
#define TIERCEL_RANKS_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct heap_setup {
    uint64_t size_bytes;            /* of the whole heap, which does not grow; 0: there is no heap, nothing costs */
    uint64_t base_bytes;            /* alive from the beginning, for ever */
    int64_t pause_fixed_ns;         /* a collection, whatever it finds; 0 or above */
    int64_t pause_per_byte_ps;      /* and for each live byte; 0 or above */
    bool overhead_limit;            /* whether a collector that runs all the time ends the process */
};

struct heap {
    const struct heap_setup *setup;
    uint64_t used_bytes;            /* live data and garbage */
    uint64_t leaked_bytes;
    uint64_t collections;
    int64_t paused_ns;              /* in all */
    int64_t last_end_ns;            /* when the last collection ended */
    uint32_t overruns;              /* collections in a row above the overhead limit */
    bool exhausted;
};

/* The setup stays the caller's and must live as long. */
void heap_init(struct heap *heap, const struct heap_setup *setup);

/* Allocates `bytes` at now_ns while the caller has held_bytes in use beside them. The pause of the collection that this
 * took, in ns; 0 when it took none. Sets heap->exhausted when there was no room for it: nothing may be allocated after
 * that. */
int64_t heap_allocate(struct heap *heap, int64_t now_ns, uint64_t bytes, uint64_t held_bytes);

/* So many bytes of what was allocated will never be let go of. */
void heap_leak(struct heap *heap, uint64_t bytes);

/* What a collection would leave free at this moment; 0 when there is no heap. */
uint64_t heap_free_bytes(const struct heap *heap, uint64_t held_bytes);

#endif
