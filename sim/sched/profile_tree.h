/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of a profile, as profile.c changes it, profile_stretches.c keeps the stretches of its subtrees, and
 * profile_search.c walks it.
 */
#ifndef TIERCEL_SCHED_PROFILE_TREE_H
#define TIERCEL_SCHED_PROFILE_TREE_H

#include <glib.h>
#include <string.h>

#include "sched/profile.h"

enum { NIL = 0 };

/* A step: what is free from `time` until the next step. Index 0 is no node, and has what no steps have. */
struct step {
    int64_t time;
    int64_t free;       /* processors free in this step */
    int64_t low;        /* free throughout the subtree: the least count, or the size of the sets' intersection */
    int64_t high;       /* the largest `free` of the subtree */
    int64_t pending;    /* still to be added to both children's subtrees */
    int64_t first;      /* the time of the subtree's first step */
    uint32_t priority;
    uint32_t left;
    uint32_t right;
};

/* The stretches of a subtree's steps in which at least 2^k processors are free, from one obstacle (a step with fewer)
 * to the next, for width class k. */
struct stretches {
    int64_t obstacle;   /* the first obstacle, or NEVER */
    int64_t tail;       /* the begin of the last stretch: the first step behind the last obstacle, the subtree's first
                         * when there is none; NEVER when the last step is an obstacle */
    int64_t longest;    /* of those between two obstacles of the subtree */
};

/* The sets of step i stand at sets + i * 3 * words: its own, the subtree's intersection, and the machines that are
 * still to be flipped in the children. A machine is only ever flipped where it was the same in all steps, so flipping
 * it in an intersection is right too. */
enum { OWN, BOTH, FLIP };

struct profile {
    uint32_t nodes;
    uint32_t cores_per_node;
    uint32_t words;             /* 0: counting only */
    uint32_t classes;           /* of widths whose stretches are known: 1, 2, 4 ... processors; 0: of none */
    int64_t now;
    uint32_t root;
    uint32_t used;              /* indices given out so far, index 0 included */
    uint32_t capacity;
    uint32_t spare;             /* freed indices, chained by `left` */
    uint32_t steps;
    uint32_t seed;              /* of the priorities, which shape the tree and change no result */
    struct step *step;
    uint64_t *sets;
    struct stretches *stretches;    /* `classes` a step */
    uint64_t *scratch;          /* two sets, for searches */
};

static inline uint64_t *set_of(const struct profile *p, uint32_t i, int which)
{
    return p->sets + ((size_t)i * 3 + (size_t)which) * p->words;
}

static inline void set_flip(uint64_t *set, const uint64_t *mask, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        set[w] ^= mask[w];
}

static inline void set_intersect(uint64_t *set, const uint64_t *other, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        set[w] &= other[w];
}

static inline int64_t set_size(const uint64_t *set, uint32_t words)
{
    int64_t size = 0;
    for (uint32_t w = 0; w < words; w++)
        size += __builtin_popcountll(set[w]);
    return size;
}

/* Before the children of a step are looked at: hands down what is pending. */
void profile_push(struct profile *p, uint32_t i);

/* Recomputes the stretches of a subtree from those of its root's children. */
void profile_stretches_pull(struct profile *p, uint32_t i);

/* A profile of no steps has none; once, when the profile is made. */
void profile_stretches_init(struct profile *p);

/* The earliest time from `from_ns` on from which so many processors may be free for so long, or PROFILE_NEVER. Never
 * later than the first start of such a need. */
int64_t profile_stretch_begin(const struct profile *p, uint64_t cores, int64_t length_ns, int64_t from_ns);

#endif
