/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/link_times.h"

#include <glib.h>
#include <stdlib.h>

#include "engine/memory.h"

enum { LEAST_PLACES = 256 };

void link_times_release(struct link_times *t)
{
    free(t->places);
    *t = (struct link_times)LINK_TIMES_INIT;
}

/* The link's place, or the free one where it belongs. */
static inline struct link_time *place_of(const struct link_times *t, uint32_t from, uint32_t to)
{
    const uint64_t golden = 0x9e3779b97f4a7c15ull;      /* 2^64 by the golden ratio, as in Knuth's hash */
    size_t at = (size_t)((from * golden) >> 24) + to;
    for (;; at++) {
        struct link_time *place = &t->places[at & (t->size - 1)];
        if ((place->from == from && place->to == to) || place->free_ns == 0)
            return place;
    }
}

/* Makes room: on twice as many places, or on as many when most of those that were taken have been left at 0. */
static void make_room(struct link_times *t)
{
    struct link_times old = *t;
    t->used = 0;
    for (size_t i = 0; i < old.size; i++)
        t->used += old.places[i].free_ns != 0;
    t->size = t->used >= old.size / 4 ? MAX(2 * old.size, (size_t)LEAST_PLACES) : old.size;
    t->places = memory_new(t->size * sizeof *t->places);
    for (size_t i = 0; i < old.size; i++)
        if (old.places[i].free_ns != 0)
            *place_of(t, old.places[i].from, old.places[i].to) = old.places[i];
    free(old.places);
}

int64_t *link_times_find(struct link_times *t, uint32_t from, uint32_t to)
{
    struct link_time *place = t->size != 0 ? place_of(t, from, to) : NULL;
    if (place == NULL || place->free_ns == 0) {
        if (t->used >= t->size / 2) {
            make_room(t);
            place = place_of(t, from, to);
        }
        *place = (struct link_time){ from, to, 0 };
        t->used++;
    }
    return &place->free_ns;
}
