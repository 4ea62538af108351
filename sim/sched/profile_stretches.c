/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/profile_tree.h"

/* The widest class that a need of so many processors includes. */
static uint32_t class_of(const struct profile *p, uint64_t cores)
{
    return MIN(63 - (uint32_t)__builtin_clzll(cores), p->classes - 1);
}

static struct stretches *stretches_of(const struct profile *p, uint32_t i)
{
    return p->stretches + (size_t)i * p->classes;
}

void profile_stretches_init(struct profile *p)
{
    p->step[NIL].first = PROFILE_NEVER;
    for (uint32_t k = 0; k < p->classes; k++)
        stretches_of(p, NIL)[k] = (struct stretches){ PROFILE_NEVER, PROFILE_NEVER, 0 };
}

/* Puts the stretches of what begins at `first` behind others. Either may be of nothing. Without branches: it is what a
 * change of the profile spends its time on. */
static inline struct stretches stretches_append(struct stretches a, struct stretches b, int64_t first)
{
    int64_t begin = MIN(a.tail, first);
    bool between = (a.obstacle != PROFILE_NEVER) & (b.obstacle != PROFILE_NEVER);
    int64_t length = between ? b.obstacle - begin : 0;
    int64_t longest = MAX(a.longest, b.longest);
    return (struct stretches){
        .obstacle = MIN(a.obstacle, b.obstacle),
        .tail = b.obstacle != PROFILE_NEVER ? b.tail : begin,
        .longest = MAX(longest, length)
    };
}

void profile_stretches_pull(struct profile *p, uint32_t i)
{
    const struct step *s = &p->step[i];
    const struct stretches *left = stretches_of(p, s->left), *right = stretches_of(p, s->right);
    struct stretches *mine = stretches_of(p, i);
    int64_t right_first = p->step[s->right].first;
    for (uint32_t k = 0; k < p->classes; k++) {
        bool enough = s->free >= INT64_C(1) << k;
        struct stretches one = { enough ? PROFILE_NEVER : s->time, enough ? s->time : PROFILE_NEVER, 0 };
        mine[k] = stretches_append(stretches_append(left[k], one, s->time), right[k], right_first);
    }
}

/* A walk along the steps for the first stretch that lasts `length` from `from` or from a later begin on. */
struct stretch_walk {
    uint32_t class;
    int64_t from;
    int64_t length;
    int64_t begin;      /* of the stretch under way, `from` at the earliest; NEVER behind an obstacle */
};

/* TRUE when one has ended that is long enough; it begins at w->begin. */
static bool stretch_find(const struct profile *p, uint32_t i, struct stretch_walk *w)
{
    if (i == NIL)
        return false;
    const struct step *s = &p->step[i];
    bool enough = s->free >= INT64_C(1) << w->class;
    if (s->time <= w->from) {
        w->begin = enough ? w->from : PROFILE_NEVER;
        return stretch_find(p, s->right, w);
    }
    if (s->first >= w->from) {
        const struct stretches *all = &stretches_of(p, i)[w->class];
        int64_t begin = MIN(w->begin, s->first);
        if (all->obstacle == PROFILE_NEVER) {
            w->begin = begin;
            return false;
        }
        if (all->obstacle - begin >= w->length) {
            w->begin = begin;
            return true;
        }
        if (all->longest < w->length) {
            w->begin = all->tail;
            return false;
        }
    }
    if (stretch_find(p, s->left, w))
        return true;
    if (!enough && w->begin != PROFILE_NEVER && s->time - w->begin >= w->length)
        return true;
    w->begin = enough ? MIN(w->begin, s->time) : PROFILE_NEVER;
    return stretch_find(p, s->right, w);
}

int64_t profile_stretch_begin(const struct profile *p, uint64_t cores, int64_t length_ns, int64_t from_ns)
{
    struct stretch_walk walk = { class_of(p, cores), from_ns, length_ns, PROFILE_NEVER };
    stretch_find(p, p->root, &walk);
    return walk.begin;
}
