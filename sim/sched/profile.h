/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is free at each future time: a step function over virtual time, from now to for ever.
 *
 * It counts processors, or names them (machine = node x cores per node + core). Taking and giving back act on an
 * interval of time; searching finds the first time at which something is free for a whole duration. Steps are kept in
 * a balanced tree (a treap) whose nodes know the least that is free in all of their subtree: a count, or the
 * intersection of the sets. A change and a look at one time cost O(log n) for n steps, a search O(log n) for every
 * stretch that turns out too short. Naming machines multiplies this by the number of 64-bit words of a set. A long
 * profile also knows the longest stretches in which 1, 2, 4 ... processors are free, so that a search passes over what
 * is too short; a change then costs O(log n) and one for each step that it covers.
 *
 * Times are ns; an interval is [start, end), and INT64_MAX as its end means for ever. Searches only look at the
 * present and the future: profile_advance() says what that is. All functions are local.
 */
#ifndef TIERCEL_SCHED_PROFILE_H
#define TIERCEL_SCHED_PROFILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "sched/resource.h"

#define PROFILE_NEVER INT64_MAX

struct profile;

enum profile_kind {
    PROFILE_SHORT,      /* processors are counted; for few steps, or few searches */
    PROFILE_LONG,       /* the same, and the longest stretches are known: for many of both, at more memory a step */
    PROFILE_NAMED       /* machines are told apart */
};

/* Where an interval ends: never, when its length reaches beyond virtual time. */
static inline int64_t profile_end(int64_t start_ns, int64_t length_ns)
{
    return length_ns >= INT64_MAX - MAX(start_ns, 0) ? INT64_MAX : start_ns + length_ns;
}

/* Everything is free for ever from `now_ns` on. */
struct profile *profile_new(uint32_t nodes, uint32_t cores_per_node, enum profile_kind kind, int64_t now_ns);
void profile_free(struct profile *profile);

/* 64-bit words of a set of machines; 0 when processors are only counted. */
uint32_t profile_words(const struct profile *profile);

/* Forgets what was before `now_ns`, which must not go back. */
void profile_advance(struct profile *profile, int64_t now_ns);

/*
 * What a job needs of the profile: a number of processors, and with named machines also how they must lie. For one
 * that only counts, `cores` is all that matters.
 */
struct need {
    uint64_t cores;
    struct resource_request request;
};

/* The first time from now on at which `need` is free for `length_ns` (at least 1), or PROFILE_NEVER. With named
 * machines *set (profile_words() words, or NULL) becomes the machines chosen: the lowest that satisfy the request. */
int64_t profile_find(struct profile *profile, const struct need *need, int64_t length_ns, uint64_t *set);

/* The same, but only among starts from `from_ns` (raised to now) to before `until_ns`. */
int64_t profile_find_within(struct profile *profile, const struct need *need, int64_t length_ns, int64_t from_ns,
                            int64_t until_ns, uint64_t *set);

/* Whether `need` is free from now on for `length_ns`; sets *set as profile_find does. */
bool profile_fits_now(struct profile *profile, const struct need *need, int64_t length_ns, uint64_t *set);

/* Takes processors, or the machines of `set`, which must be free in the whole interval. An empty one does nothing. */
void profile_take(struct profile *profile, int64_t start_ns, int64_t end_ns, uint64_t cores, const uint64_t *set);

/* Gives back what was taken in the whole interval. What lies before now is left out. */
void profile_give(struct profile *profile, int64_t start_ns, int64_t end_ns, uint64_t cores, const uint64_t *set);

/* Free processors at `time_ns`, now or later. */
uint64_t profile_free_at(struct profile *profile, int64_t time_ns);

/* Number of steps: what memory and searches grow with. */
uint32_t profile_steps(const struct profile *profile);

/* A set of machines as an allocation, and back (into profile_words() words). The caller owns the allocation. */
struct allocation *profile_allocation(const struct profile *profile, const uint64_t *set);
void profile_set(const struct profile *profile, const struct allocation *allocation, uint64_t *set);

/* Writes all steps, in order. */
void profile_save(struct profile *profile, struct bytes *sink);

#endif
