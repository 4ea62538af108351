/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set of small integers 0 .. size-1 that finds its lowest, its next and its highest member in a few word
 * operations: a bitmap under a tree of bitmaps, 64 children a word, a bit set where the child has a member.
 *
 * Size is at most 2^30. All functions are local; an id outside the set's size asserts.
 */
#ifndef TIERCEL_SCHED_IDSET_H
#define TIERCEL_SCHED_IDSET_H

#include <stdbool.h>
#include <stdint.h>

#define IDSET_NONE UINT32_MAX

struct idset;

struct idset *idset_new(uint32_t size);
void idset_free(struct idset *set);

void idset_add(struct idset *set, uint32_t id);
void idset_remove(struct idset *set, uint32_t id);
bool idset_empty(const struct idset *set);

/* The lowest member that is at least `from`, or IDSET_NONE. `from` may be the size. */
uint32_t idset_next(const struct idset *set, uint32_t from);

/* The highest member, or IDSET_NONE. */
uint32_t idset_last(const struct idset *set);

#endif
