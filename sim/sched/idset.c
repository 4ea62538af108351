/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/idset.h"

#include <glib.h>

enum { LEVELS_MAX = 5 };

struct idset {
    uint32_t size;
    unsigned levels;
    uint64_t *level[LEVELS_MAX];    /* [0]: the members; the last one is a single word */
    uint64_t words[];
};

static uint32_t words_for(uint32_t bits)
{
    return (bits + 63) / 64;
}

struct idset *idset_new(uint32_t size)
{
    g_assert(size >= 1 && size <= 1u << 30);
    size_t total = 0;
    uint32_t bits = size;
    do {
        bits = words_for(bits);
        total += bits;
    } while (bits > 1);

    struct idset *set = g_malloc0(sizeof *set + total * sizeof set->words[0]);
    set->size = size;
    uint64_t *at = set->words;
    bits = size;
    do {
        bits = words_for(bits);
        set->level[set->levels++] = at;
        at += bits;
    } while (bits > 1);
    return set;
}

void idset_free(struct idset *set)
{
    g_free(set);
}

void idset_add(struct idset *set, uint32_t id)
{
    g_assert(id < set->size);
    for (unsigned l = 0; l < set->levels; l++, id /= 64) {
        uint64_t *word = &set->level[l][id / 64];
        uint64_t before = *word;
        *word |= 1ull << id % 64;
        if (before != 0)
            return;
    }
}

void idset_remove(struct idset *set, uint32_t id)
{
    g_assert(id < set->size);
    for (unsigned l = 0; l < set->levels; l++, id /= 64) {
        uint64_t *word = &set->level[l][id / 64];
        *word &= ~(1ull << id % 64);
        if (*word != 0)
            return;
    }
}

bool idset_empty(const struct idset *set)
{
    return set->level[set->levels - 1][0] == 0;
}

uint32_t idset_next(const struct idset *set, uint32_t from)
{
    g_assert(from <= set->size);
    /* Up, until a word has a bit at or right of the place; then down along the lowest bits. */
    uint32_t bits = set->size;
    for (unsigned l = 0; l < set->levels; l++) {
        if (from >= bits)
            return IDSET_NONE;
        uint64_t rest = set->level[l][from / 64] >> from % 64;
        if (rest != 0) {
            from += (uint32_t)__builtin_ctzll(rest);
            while (l-- > 0)
                from = from * 64 + (uint32_t)__builtin_ctzll(set->level[l][from]);
            return from;
        }
        from = from / 64 + 1;
        bits = words_for(bits);
    }
    return IDSET_NONE;
}

uint32_t idset_last(const struct idset *set)
{
    if (idset_empty(set))
        return IDSET_NONE;
    uint32_t at = 0;
    for (unsigned l = set->levels; l-- > 0; )
        at = at * 64 + 63 - (uint32_t)__builtin_clzll(set->level[l][at]);
    return at;
}
