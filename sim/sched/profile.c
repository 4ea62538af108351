/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/profile.h"

#include <glib.h>
#include <string.h>

enum { NIL = 0 };

/* A step: what is free from `time` until the next step. Index 0 is no node. */
struct step {
    int64_t time;
    int64_t free;       /* processors free in this step */
    int64_t low;        /* free throughout the subtree: the least count, or the size of the sets' intersection */
    int64_t high;       /* the largest `free` of the subtree */
    int64_t pending;    /* still to be added to both children's subtrees */
    uint32_t priority;
    uint32_t left;
    uint32_t right;
};

/* The sets of step i stand at sets + i * 3 * words: its own, the subtree's intersection, and the machines that are
 * still to be flipped in the children. A machine is only ever flipped where it was the same in all steps, so flipping
 * it in an intersection is right too. */
enum { OWN, BOTH, FLIP };

struct profile {
    uint32_t nodes;
    uint32_t cores_per_node;
    uint32_t words;             /* 0: counting only */
    int64_t now;
    uint32_t root;
    uint32_t used;              /* indices given out so far, index 0 included */
    uint32_t capacity;
    uint32_t spare;             /* freed indices, chained by `left` */
    uint32_t steps;
    uint32_t seed;              /* of the priorities, which shape the tree and change no result */
    struct step *step;
    uint64_t *sets;
    uint64_t *scratch;          /* two sets, for searches */
};

static uint64_t *set_of(const struct profile *p, uint32_t i, int which)
{
    return p->sets + ((size_t)i * 3 + (size_t)which) * p->words;
}

static void set_flip(uint64_t *set, const uint64_t *mask, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        set[w] ^= mask[w];
}

static void set_intersect(uint64_t *set, const uint64_t *other, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        set[w] &= other[w];
}

static int64_t set_size(const uint64_t *set, uint32_t words)
{
    int64_t size = 0;
    for (uint32_t w = 0; w < words; w++)
        size += __builtin_popcountll(set[w]);
    return size;
}

/* --- the tree --- */

static uint32_t step_new(struct profile *p, int64_t time)
{
    uint32_t i = p->spare;
    if (i != NIL) {
        p->spare = p->step[i].left;
    } else {
        if (p->used == p->capacity) {
            p->capacity *= 2;
            p->step = g_renew(struct step, p->step, p->capacity);
            p->sets = g_renew(uint64_t, p->sets, (size_t)p->capacity * 3 * p->words);
        }
        i = p->used++;
    }
    p->seed ^= p->seed << 13;
    p->seed ^= p->seed >> 17;
    p->seed ^= p->seed << 5;
    p->step[i] = (struct step){ .time = time, .priority = p->seed };
    if (p->words > 0)
        memset(set_of(p, i, OWN), 0, (size_t)3 * p->words * sizeof(uint64_t));
    p->steps++;
    return i;
}

static void step_free(struct profile *p, uint32_t i)
{
    p->step[i].left = p->spare;
    p->spare = i;
    p->steps--;
}

/* Adds `cores` (or flips `set`, of which the count is `cores` by value) in the whole subtree. */
static void subtree_change(struct profile *p, uint32_t i, int64_t cores, const uint64_t *set)
{
    if (i == NIL)
        return;
    struct step *s = &p->step[i];
    s->free += cores;
    s->low += cores;
    s->high += cores;
    s->pending += cores;
    if (p->words > 0) {
        set_flip(set_of(p, i, OWN), set, p->words);
        set_flip(set_of(p, i, BOTH), set, p->words);
        set_flip(set_of(p, i, FLIP), set, p->words);
    }
}

static void push(struct profile *p, uint32_t i)
{
    struct step *s = &p->step[i];
    uint64_t *flip = p->words > 0 ? set_of(p, i, FLIP) : NULL;
    if (s->pending == 0 && (flip == NULL || set_size(flip, p->words) == 0))
        return;
    subtree_change(p, s->left, s->pending, flip);
    subtree_change(p, s->right, s->pending, flip);
    s->pending = 0;
    if (flip != NULL)
        memset(flip, 0, p->words * sizeof flip[0]);
}

/* Recomputes what the subtree's root knows; nothing may be pending in it. */
static void pull(struct profile *p, uint32_t i)
{
    struct step *s = &p->step[i];
    s->low = s->high = s->free;
    for (int side = 0; side < 2; side++) {
        uint32_t child = side == 0 ? s->left : s->right;
        if (child == NIL)
            continue;
        s->low = MIN(s->low, p->step[child].low);
        s->high = MAX(s->high, p->step[child].high);
    }
    if (p->words == 0)
        return;
    uint64_t *both = set_of(p, i, BOTH);
    memcpy(both, set_of(p, i, OWN), p->words * sizeof both[0]);
    if (s->left != NIL)
        set_intersect(both, set_of(p, s->left, BOTH), p->words);
    if (s->right != NIL)
        set_intersect(both, set_of(p, s->right, BOTH), p->words);
    s->low = set_size(both, p->words);
}

/* Splits into the steps before `time` and those from it on. */
static void split(struct profile *p, uint32_t i, int64_t time, uint32_t *before, uint32_t *from)
{
    if (i == NIL) {
        *before = *from = NIL;
        return;
    }
    push(p, i);
    uint32_t part;
    if (p->step[i].time < time) {
        split(p, p->step[i].right, time, &part, from);
        p->step[i].right = part;
        *before = i;
    } else {
        split(p, p->step[i].left, time, before, &part);
        p->step[i].left = part;
        *from = i;
    }
    pull(p, i);
}

static uint32_t merge(struct profile *p, uint32_t a, uint32_t b)
{
    if (a == NIL || b == NIL)
        return a == NIL ? b : a;
    uint32_t root = p->step[a].priority > p->step[b].priority ? a : b;
    push(p, root);
    if (root == a)
        p->step[a].right = merge(p, p->step[a].right, b);
    else
        p->step[b].left = merge(p, a, p->step[b].left);
    pull(p, root);
    return root;
}

static uint32_t leftmost(struct profile *p, uint32_t i)
{
    for (push(p, i); p->step[i].left != NIL; push(p, i))
        i = p->step[i].left;
    return i;
}

static uint32_t rightmost(struct profile *p, uint32_t i)
{
    for (push(p, i); p->step[i].right != NIL; push(p, i))
        i = p->step[i].right;
    return i;
}

static bool steps_equal(const struct profile *p, uint32_t a, uint32_t b)
{
    return p->step[a].free == p->step[b].free &&
           (p->words == 0 || memcmp(set_of(p, a, OWN), set_of(p, b, OWN), p->words * sizeof(uint64_t)) == 0);
}

/* Makes a step begin at `time` (now or later) and returns the trees before and from it. */
static void cut(struct profile *p, uint32_t root, int64_t time, uint32_t *before, uint32_t *from)
{
    split(p, root, time, before, from);
    if (*from != NIL && p->step[leftmost(p, *from)].time == time)
        return;
    uint32_t last = rightmost(p, *before);
    uint32_t i = step_new(p, time);
    p->step[i].free = p->step[last].free;
    if (p->words > 0)
        memcpy(set_of(p, i, OWN), set_of(p, last, OWN), p->words * sizeof(uint64_t));
    pull(p, i);
    *from = merge(p, i, *from);
}

/* Merges two neighbouring trees, without the first step of `b` when it says the same as the last of `a`. */
static uint32_t join(struct profile *p, uint32_t a, uint32_t b)
{
    if (a == NIL || b == NIL)
        return merge(p, a, b);
    uint32_t first = leftmost(p, b);
    if (steps_equal(p, rightmost(p, a), first)) {
        uint32_t one, rest;
        split(p, b, p->step[first].time + 1, &one, &rest);
        step_free(p, one);
        b = rest;
    }
    return merge(p, a, b);
}

/* --- making, advancing, changing --- */

struct profile *profile_new(uint32_t nodes, uint32_t cores_per_node, bool named, int64_t now_ns)
{
    struct profile *p = g_new0(struct profile, 1);
    uint64_t machines = (uint64_t)nodes * cores_per_node;
    p->nodes = nodes;
    p->cores_per_node = cores_per_node;
    p->words = named ? (uint32_t)((machines + 63) / 64) : 0;
    p->now = now_ns;
    p->used = 1;
    p->capacity = 16;
    p->seed = 2463534242u;
    p->step = g_new0(struct step, p->capacity);
    p->sets = g_new0(uint64_t, (size_t)p->capacity * 3 * p->words);
    p->scratch = g_new0(uint64_t, (size_t)2 * p->words);
    p->root = step_new(p, now_ns);
    p->step[p->root].free = (int64_t)machines;
    for (uint64_t m = 0; named && m < machines; m++)
        set_of(p, p->root, OWN)[m / 64] |= 1ull << m % 64;
    pull(p, p->root);
    return p;
}

void profile_free(struct profile *p)
{
    if (p == NULL)
        return;
    g_free(p->scratch);
    g_free(p->sets);
    g_free(p->step);
    g_free(p);
}

uint32_t profile_words(const struct profile *p)
{
    return p->words;
}

static void subtree_free(struct profile *p, uint32_t i)
{
    if (i == NIL)
        return;
    subtree_free(p, p->step[i].left);
    subtree_free(p, p->step[i].right);
    step_free(p, i);
}

void profile_advance(struct profile *p, int64_t now_ns)
{
    g_assert(now_ns >= p->now);
    if (now_ns == p->now)
        return;
    uint32_t past, rest;
    cut(p, p->root, now_ns, &past, &rest);
    subtree_free(p, past);
    p->root = rest;
    p->now = now_ns;
}

static void change(struct profile *p, int64_t start_ns, int64_t end_ns, int64_t cores, const uint64_t *set)
{
    start_ns = MAX(start_ns, p->now);
    if (start_ns >= end_ns || cores == 0)
        return;
    uint32_t before, middle, after = NIL;
    cut(p, p->root, start_ns, &before, &middle);
    if (end_ns != INT64_MAX) {
        uint32_t rest = middle;
        cut(p, rest, end_ns, &middle, &after);
    }
    g_assert(cores > 0 || p->step[middle].low >= -cores);
    subtree_change(p, middle, cores, set);
    p->root = join(p, join(p, before, middle), after);
}

void profile_take(struct profile *p, int64_t start_ns, int64_t end_ns, uint64_t cores, const uint64_t *set)
{
    change(p, start_ns, end_ns, -(int64_t)cores, set);
}

void profile_give(struct profile *p, int64_t start_ns, int64_t end_ns, uint64_t cores, const uint64_t *set)
{
    change(p, start_ns, end_ns, (int64_t)cores, set);
}

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
    push(p, i);
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
    push(p, i);
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
    push(p, i);
    if (p->step[i].time > time) {
        uint32_t found = opening_after(p, p->step[i].left, time, cores);
        if (found != NIL)
            return found;
        if (p->step[i].free >= cores)
            return i;
    }
    return opening_after(p, p->step[i].right, time, cores);
}

static int64_t end_of(int64_t start_ns, int64_t length_ns)
{
    return length_ns >= INT64_MAX - MAX(start_ns, 0) ? INT64_MAX : start_ns + length_ns;
}

/* The obstacle to starting at `start`, or NIL; then s->passed is what is free in the whole interval. */
static uint32_t obstacle_to(struct profile *p, struct search *s, int64_t start, int64_t length_ns)
{
    passed_clear(p, s);
    return obstacle_after(p, s, p->root, (struct range){ .start = start, .end = end_of(start, length_ns) });
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

int64_t profile_find_within(struct profile *p, const struct need *need, int64_t length_ns, int64_t from_ns,
                            int64_t until_ns, uint64_t *set)
{
    g_assert(length_ns >= 1);
    struct search s = { need, p->scratch, p->scratch + p->words };
    int64_t before_ns = from_ns > p->now ? from_ns - 1 : INT64_MIN;
    uint32_t at = opening_after(p, p->root, before_ns, (int64_t)need->cores);
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
        at = opening_after(p, p->root, failed, (int64_t)need->cores);
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

uint64_t profile_free_at(struct profile *p, int64_t time_ns)
{
    int64_t free = 0;
    for (uint32_t i = p->root; i != NIL; ) {
        push(p, i);
        bool after = p->step[i].time > time_ns;
        if (!after)
            free = p->step[i].free;
        i = after ? p->step[i].left : p->step[i].right;
    }
    return (uint64_t)free;
}

uint32_t profile_steps(const struct profile *p)
{
    return p->steps;
}

/* --- sets and allocations --- */

struct allocation *profile_allocation(const struct profile *p, const uint64_t *set)
{
    g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(struct core_span));
    struct core_span span = { 0 };
    uint64_t machines = (uint64_t)p->nodes * p->cores_per_node;
    for (uint64_t m = 0; m < machines; m++) {
        if (m % 64 == 0 && set[m / 64] == 0) {
            m += 63;
            continue;
        }
        if ((set[m / 64] >> m % 64 & 1) == 0)
            continue;
        uint32_t node = (uint32_t)(m / p->cores_per_node), core = (uint32_t)(m % p->cores_per_node);
        if (span.cores > 0 && span.node == node && span.first_core + span.cores == core) {
            span.cores++;
            continue;
        }
        if (span.cores > 0)
            g_array_append_val(spans, span);
        span = (struct core_span){ node, core, 1 };
    }
    g_assert(span.cores > 0);
    g_array_append_val(spans, span);
    struct allocation *a = g_malloc(sizeof *a + spans->len * sizeof a->spans[0]);
    a->count = spans->len;
    memcpy(a->spans, spans->data, spans->len * sizeof a->spans[0]);
    return a;
}

void profile_set(const struct profile *p, const struct allocation *allocation, uint64_t *set)
{
    memset(set, 0, p->words * sizeof set[0]);
    for (uint32_t i = 0; i < allocation->count; i++) {
        const struct core_span *span = &allocation->spans[i];
        uint64_t machine = (uint64_t)span->node * p->cores_per_node + span->first_core;
        for (uint32_t c = 0; c < span->cores; c++, machine++)
            set[machine / 64] |= 1ull << machine % 64;
    }
}

static void subtree_save(struct profile *p, uint32_t i, struct bytes *sink)
{
    if (i == NIL)
        return;
    push(p, i);
    subtree_save(p, p->step[i].left, sink);
    bytes_put_i64(sink, p->step[i].time);
    bytes_put_i64(sink, p->step[i].free);
    if (p->words > 0)
        bytes_put(sink, set_of(p, i, OWN), p->words * sizeof(uint64_t));
    subtree_save(p, p->step[i].right, sink);
}

void profile_save(struct profile *p, struct bytes *sink)
{
    bytes_put_u32(sink, p->steps);
    subtree_save(p, p->root, sink);
}
