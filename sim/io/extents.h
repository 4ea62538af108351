/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set of byte ranges: which parts of a file have blocks. Neighbours are merged, so that a file that is written
 * without holes is one range. Searching is logarithmic; adding a range between others moves those behind it.
 */
#ifndef TIERCEL_IO_EXTENTS_H
#define TIERCEL_IO_EXTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct extent {
    uint64_t first;
    uint64_t end;               /* the first byte behind it */
};

struct extents {
    struct extent *list;        /* in order; they neither overlap nor touch */
    uint32_t count;
    uint32_t capacity;
};

void extents_init(struct extents *x);
void extents_release(struct extents *x);

/* `length` 1 or above; first + length at most UINT64_MAX. */
void extents_add(struct extents *x, uint64_t first, uint64_t length);
bool extents_cover(const struct extents *x, uint64_t first, uint64_t length);

/* Forgets what lies at `end` and behind. */
void extents_cut(struct extents *x, uint64_t end);

void extents_save(const struct extents *x, struct bytes *sink);

#endif
