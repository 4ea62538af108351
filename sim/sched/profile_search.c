/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/profile_tree.h"

/* --- machines that satisfy a request --- */

/* Free cores of a node in a set. */
static uint32_t node_free(const struct profile *p, const uint64_t *set, uint32_t node)
{
    uint64_t machine = (uint64_t)node * p->cores_per_node;
    uint32_t left = p->cores_per_node, count = 0;
    while (left > 0) {
        uint32_t in_word = (uint32_t)MIN(left, 64 - machine % 64);
        uint64_t mask = in_word == 64 ? UINT64_MAX : (1ull << in_word) - 1;
        count += (uint32_t)__builtin_popcountll(set[machine / 64] >> machine % 64 & mask);
        machine += in_word;
        left -= in_word;
    }
    return count;
}

/* Adds the `count` lowest machines of [from_machine, to_machine) that are in one set to another. */
static void machines_copy(uint64_t from_machine, uint64_t to_machine, uint64_t count, const uint64_t *from,
                          uint64_t *to)
{
    for (uint64_t m = from_machine; m < to_machine && count > 0; m++) {
        if (m % 64 == 0 && from[m / 64] == 0) {
            m += 63;    /* a word without any */
            continue;
        }
        if ((from[m / 64] >> m % 64 & 1) != 0) {
            to[m / 64] |= 1ull << m % 64;
            count--;
        }
    }
}

/* A request for single cores wherever they are. */
static bool is_flat(const struct profile *p, const struct resource_request *r)
{
    return (r->nodes == 0 && r->cores_per_slot == 1) || (p->nodes == 1 && r->nodes <= 1 && !r->exclusive);
}

/* Whether the request fits into a set of machines; fills *chosen (zeroed) with the lowest that do, when not NULL. */
static bool set_fits(const struct profile *p, const struct need *need, const uint64_t *set, uint64_t *chosen)
{
    const struct resource_request *r = &need->request;
    if (is_flat(p, r)) {
        uint64_t wanted = need->cores;
        if (set_size(set, p->words) < (int64_t)wanted)
            return false;
        if (chosen != NULL)
            machines_copy(0, (uint64_t)p->nodes * p->cores_per_node, wanted, set, chosen);
        return true;
    }
    uint64_t missing = r->nodes == 0 ? r->slots : r->nodes;
    uint32_t each = r->nodes == 0 ? r->cores_per_slot : r->exclusive ? p->cores_per_node : r->slots * r->cores_per_slot;
    for (uint32_t node = 0; node < p->nodes && missing > 0; node++) {
        uint32_t times = node_free(p, set, node) / each;
        times = (uint32_t)MIN(times, r->nodes == 0 ? missing : 1);
        missing -= times;
        uint64_t first = (uint64_t)node * p->cores_per_node;
        if (chosen != NULL)
            machines_copy(first, first + p->cores_per_node, (uint64_t)times * each, set, chosen);
    }
    return missing == 0;
}

/* --- searching --- */

/* What a search looks for, and the intersection of all steps that it has passed (named machines only). */
struct search {
    const struct need *need;
    uint64_t *passed;
    uint64_t *attempt;
};

/* Adds a set (or a count that is free) to what was passed, unless the need no longer fits: then false. */
static bool pass(struct profile *p, struct search *s, int64_t count, const uint64_t *set)
{
    if (count < (int64_t)s->need->cores)
        return false;
    if (p->words == 0)
        return true;
    memcpy(s->attempt, s->passed, p->words * sizeof(uint64_t));
    set_intersect(s->attempt, set, p->words);
    if (!set_fits(p, s->need, s->attempt, NULL))
        return false;
    uint64_t *t = s->passed;
    s->passed = s->attempt;
    s->attempt = t;
    return true;
}

static void passed_clear(const struct profile *p, struct search *s)
{
    if (p->words > 0)
        memset(s->passed, 0xff, p->words * sizeof(uint64_t));
}

static bool pass_subtree(struct profile *p, struct search *s, uint32_t i)
{
    return pass(p, s, p->step[i].low, p->words > 0 ? set_of(p, i, BOTH) : NULL);
}

static bool pass_step(struct profile *p, struct search *s, uint32_t i)
{
    return pass(p, s, p->step[i].free, p->words > 0 ? set_of(p, i, OWN) : NULL);
}

/* The steps that a walk looks at, [start, end), and on which sides all of the present subtree is known to be inside. */
struct range {
    int64_t start;
    int64_t end;
    bool start_met;
    bool end_met;
};

/* The first step of the range at which the need stops fitting, given all steps of the range before it; or NIL. */
static uint32_t obstacle_after(struct profile *p, struct search *s, uint32_t i, struct range r)
{
    if (i == NIL)
        return NIL;
    profile_push(p, i);
    const struct step *step = &p->step[i];
    if (step->time < r.start)
        return obstacle_after(p, s, step->right, r);
    struct range left = r;
    if (step->time >= r.end) {
        left.end_met = false;
        return obstacle_after(p, s, step->left, left);
    }
    if (r.start_met && r.end_met && pass_subtree(p, s, i))
        return NIL;
    left.end_met = true;
    uint32_t found = obstacle_after(p, s, step->left, left);
    if (found != NIL)
        return found;
    if (!pass_step(p, s, i))
        return i;
    r.start_met = true;
    return obstacle_after(p, s, step->right, r);
}

/* The same from the end of the range backwards: the last step from which on the need does not fit. */
static uint32_t obstacle_before(struct profile *p, struct search *s, uint32_t i, struct range r)
{
    if (i == NIL)
        return NIL;
    profile_push(p, i);
    const struct step *step = &p->step[i];
    if (step->time >= r.end)
        return obstacle_before(p, s, step->left, r);
    if (r.end_met && pass_subtree(p, s, i))
        return NIL;
    uint32_t found = obstacle_before(p, s, step->right, r);
    if (found != NIL)
        return found;
    if (!pass_step(p, s, i))
        return i;
    r.end_met = true;
    return obstacle_before(p, s, step->left, r);
}

/* The first step later than `time` with at least `cores` free, or NIL. */
static uint32_t opening_after(struct profile *p, uint32_t i, int64_t time, int64_t cores)
{
    if (i == NIL || p->step[i].high < cores)
        return NIL;
    profile_push(p, i);
    if (p->step[i].time > time) {
        uint32_t found = opening_after(p, p->step[i].left, time, cores);
        if (found != NIL)
            return found;
        if (p->step[i].free >= cores)
            return i;
    }
    return opening_after(p, p->step[i].right, time, cores);
}

/* The obstacle to starting at `start`, or NIL; then s->passed is what is free in the whole interval. */
static uint32_t obstacle_to(struct profile *p, struct search *s, int64_t start, int64_t length_ns)
{
    passed_clear(p, s);
    return obstacle_after(p, s, p->root, (struct range){ .start = start, .end = profile_end(start, length_ns) });
}

static void search_choose(const struct profile *p, const struct search *s, uint64_t *set)
{
    if (p->words == 0 || set == NULL)
        return;
    memset(set, 0, p->words * sizeof set[0]);
    set_fits(p, s->need, s->passed, set);
}

int64_t profile_find(struct profile *p, const struct need *need, int64_t length_ns, uint64_t *set)
{
    return profile_find_within(p, need, length_ns, INT64_MIN, INT64_MAX, set);
}

/* The first step from `from_ns` on, which is now or later, at which a search goes on. */
static uint32_t candidate_from(struct profile *p, const struct need *need, int64_t length_ns, int64_t from_ns)
{
    if (p->classes > 0) {
        from_ns = profile_stretch_begin(p, need->cores, length_ns, from_ns);
        if (from_ns == PROFILE_NEVER)
            return NIL;
    }
    return opening_after(p, p->root, from_ns - 1, (int64_t)need->cores);
}

int64_t profile_find_within(struct profile *p, const struct need *need, int64_t length_ns, int64_t from_ns,
                            int64_t until_ns, uint64_t *set)
{
    g_assert(length_ns >= 1);
    struct search s = { need, p->scratch, p->scratch + p->words };
    uint32_t at = candidate_from(p, need, length_ns, MAX(from_ns, p->now));
    while (at != NIL && p->step[at].time < until_ns) {
        int64_t start = p->step[at].time;
        uint32_t obstacle = obstacle_to(p, &s, start, length_ns);
        if (obstacle == NIL) {
            search_choose(p, &s, set);
            return start;
        }
        /* Whatever starts at or before the last step from which the need does not fit up to here must fail too. */
        int64_t failed = p->step[obstacle].time;
        if (p->words > 0) {
            passed_clear(p, &s);
            obstacle = obstacle_before(p, &s, p->root, (struct range){ .end = failed + 1 });
            failed = p->step[obstacle].time;
        }
        at = candidate_from(p, need, length_ns, failed + 1);
    }
    return PROFILE_NEVER;
}

bool profile_fits_now(struct profile *p, const struct need *need, int64_t length_ns, uint64_t *set)
{
    struct search s = { need, p->scratch, p->scratch + p->words };
    if (obstacle_to(p, &s, p->now, length_ns) != NIL)
        return false;
    search_choose(p, &s, set);
    return true;
}
