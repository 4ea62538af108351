/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/extents.h"

#include <glib.h>
#include <string.h>

void extents_init(struct extents *x)
{
    *x = (struct extents){ NULL, 0, 0 };
}

void extents_release(struct extents *x)
{
    g_free(x->list);
}

/* How many ranges end before `at`: the first of the others may hold or touch it. */
static uint32_t ranges_before(const struct extents *x, uint64_t at)
{
    uint32_t low = 0;

    for (uint32_t high = x->count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (x->list[middle].end < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Puts `with` in the place of the ranges from..to-1. */
static void replace(struct extents *x, uint32_t from, uint32_t to, struct extent with)
{
    if (from == to && x->count == x->capacity) {
        x->capacity = MAX(x->capacity * 2, 8);
        x->list = g_renew(struct extent, x->list, x->capacity);
    }
    memmove(x->list + from + 1, x->list + to, (x->count - to) * sizeof *x->list);
    x->list[from] = with;
    x->count = x->count - (to - from) + 1;
}

void extents_add(struct extents *x, uint64_t first, uint64_t length)
{
    struct extent whole = { first, first + length };
    uint32_t from = ranges_before(x, first);
    uint32_t to = from;

    g_assert(length > 0 && whole.end > first);
    for (; to < x->count && x->list[to].first <= whole.end; to++) {
        whole.first = MIN(whole.first, x->list[to].first);
        whole.end = MAX(whole.end, x->list[to].end);
    }
    replace(x, from, to, whole);
}

bool extents_cover(const struct extents *x, uint64_t first, uint64_t length)
{
    uint32_t at = ranges_before(x, first + 1);

    return at < x->count && x->list[at].first <= first && x->list[at].end >= first + length;
}

void extents_cut(struct extents *x, uint64_t end)
{
    while (x->count > 0 && x->list[x->count - 1].first >= end)
        x->count--;
    if (x->count > 0)
        x->list[x->count - 1].end = MIN(x->list[x->count - 1].end, end);
}

void extents_save(const struct extents *x, struct bytes *sink)
{
    bytes_put_u32(sink, x->count);
    for (uint32_t i = 0; i < x->count; i++) {
        bytes_put_u64(sink, x->list[i].first);
        bytes_put_u64(sink, x->list[i].end);
    }
}
