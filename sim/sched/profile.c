/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/profile_tree.h"

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
            p->stretches = g_renew(struct stretches, p->stretches, (size_t)p->capacity * p->classes);
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
    s->first = MIN(s->time, p->step[s->left].first);
    if (p->classes > 0)
        profile_stretches_pull(p, i);
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

/* Adds `cores` (or flips `set`, of which the count is `cores` by value) in the whole subtree. */
static void subtree_change(struct profile *p, uint32_t i, int64_t cores, const uint64_t *set)
{
    if (i == NIL)
        return;
    struct step *s = &p->step[i];
    s->free += cores;
    if (p->classes > 0) {
        subtree_change(p, s->left, cores, set);
        subtree_change(p, s->right, cores, set);
        pull(p, i);
        return;
    }
    s->low += cores;
    s->high += cores;
    s->pending += cores;
    if (p->words > 0) {
        set_flip(set_of(p, i, OWN), set, p->words);
        set_flip(set_of(p, i, BOTH), set, p->words);
        set_flip(set_of(p, i, FLIP), set, p->words);
    }
}

void profile_push(struct profile *p, uint32_t i)
{
    struct step *s = &p->step[i];
    if (p->classes > 0)
        return;                 /* changes are made at once there */
    uint64_t *flip = p->words > 0 ? set_of(p, i, FLIP) : NULL;
    if (s->pending == 0 && (flip == NULL || set_size(flip, p->words) == 0))
        return;
    subtree_change(p, s->left, s->pending, flip);
    subtree_change(p, s->right, s->pending, flip);
    s->pending = 0;
    if (flip != NULL)
        memset(flip, 0, p->words * sizeof flip[0]);
}

/* Splits into the steps before `time` and those from it on. */
static void split(struct profile *p, uint32_t i, int64_t time, uint32_t *before, uint32_t *from)
{
    if (i == NIL) {
        *before = *from = NIL;
        return;
    }
    profile_push(p, i);
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
    profile_push(p, root);
    if (root == a)
        p->step[a].right = merge(p, p->step[a].right, b);
    else
        p->step[b].left = merge(p, a, p->step[b].left);
    pull(p, root);
    return root;
}

static uint32_t leftmost(struct profile *p, uint32_t i)
{
    for (profile_push(p, i); p->step[i].left != NIL; profile_push(p, i))
        i = p->step[i].left;
    return i;
}

static uint32_t rightmost(struct profile *p, uint32_t i)
{
    for (profile_push(p, i); p->step[i].right != NIL; profile_push(p, i))
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

struct profile *profile_new(uint32_t nodes, uint32_t cores_per_node, enum profile_kind kind, int64_t now_ns)
{
    bool named = kind == PROFILE_NAMED;
    struct profile *p = g_new0(struct profile, 1);
    uint64_t machines = (uint64_t)nodes * cores_per_node;
    p->nodes = nodes;
    p->cores_per_node = cores_per_node;
    p->words = named ? (uint32_t)((machines + 63) / 64) : 0;
    p->classes = kind == PROFILE_LONG ? 64 - (uint32_t)__builtin_clzll(machines) : 0;
    p->now = now_ns;
    p->used = 1;
    p->capacity = 16;
    p->seed = 2463534242u;
    p->step = g_new0(struct step, p->capacity);
    p->sets = g_new0(uint64_t, (size_t)p->capacity * 3 * p->words);
    p->stretches = g_new0(struct stretches, (size_t)p->capacity * p->classes);
    p->scratch = g_new0(uint64_t, (size_t)2 * p->words);
    profile_stretches_init(p);
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
    g_free(p->stretches);
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

uint64_t profile_free_at(struct profile *p, int64_t time_ns)
{
    int64_t free = 0;
    for (uint32_t i = p->root; i != NIL; ) {
        profile_push(p, i);
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
    return allocation_new((const struct core_span *)spans->data, spans->len);
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
    profile_push(p, i);
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
