/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When each link of limited bandwidth is free again: a table by (sender, receiver), read and written by every message
 * over such a link.
 *
 *     struct link_times t = LINK_TIMES_INIT;
 *     int64_t *free_ns = link_times_find(&t, from, to);
 *     *free_ns = MAX(now_ns, *free_ns) + took_ns;
 *     link_times_release(&t);
 *
 * Open addressing with the receiver as the last part of the place: what a sender's links to neighbouring receivers
 * need lies together. Links are never forgotten, so memory grows with the pairs that have talked, 32 to 64 bytes each.
 * All functions are local.
 */
#ifndef TIERCEL_ENGINE_LINK_TIMES_H
#define TIERCEL_ENGINE_LINK_TIMES_H

#include <stddef.h>
#include <stdint.h>

struct link_time {
    uint32_t from;
    uint32_t to;
    int64_t free_ns;                /* 0 in a place that nobody has: a link that is free from the start needs none */
};

struct link_times {
    struct link_time *places;
    size_t size;                    /* a power of two, or 0 */
    size_t used;
};

#define LINK_TIMES_INIT { NULL, 0, 0 }

void link_times_release(struct link_times *t);

/* Where the link's time stands, 0 when it has not been used before; good until the next call. */
int64_t *link_times_find(struct link_times *t, uint32_t from, uint32_t to);

#endif
