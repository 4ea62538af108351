/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/contents.h"

#include <string.h>

#include <glib.h>

#include "base/mix.h"

enum { SECTOR = 512, WORD = 8, PAGE = 4096 };

/* The word at `offset`, a multiple of its size. The first one of a sector is the sector's own. */
static uint64_t word_at(uint64_t seed, uint64_t offset)
{
    uint64_t place = offset % SECTOR;
    return place == 0 ? mix_bits(mix_bits(seed) ^ offset) : mix_bits(seed ^ place << 48);
}

static uint8_t byte_at(uint64_t seed, uint64_t offset)
{
    return (uint8_t)(word_at(seed, offset - offset % WORD) >> 8 * (offset % WORD));
}

void contents_init(struct contents *c, uint64_t capacity, uint64_t seed)
{
    *c = (struct contents){ .bytes = g_aligned_alloc(1, (capacity + PAGE - 1) / PAGE * PAGE, PAGE),
                            .capacity = capacity, .seed = seed };
}

void contents_release(struct contents *c)
{
    g_aligned_free(c->bytes);
}

/* Bytes from `from` to `to` of the buffer, which begins at `offset`. */
static void set_all(struct contents *c, uint64_t offset, uint64_t from, uint64_t to)
{
    uint64_t i = from;
    while (i < to) {
        if ((offset + i) % WORD == 0 && to - i >= WORD) {
            uint64_t word = word_at(c->seed, offset + i);
            memcpy(c->bytes + i, &word, WORD);
            i += WORD;
        } else {
            c->bytes[i] = byte_at(c->seed, offset + i);
            i++;
        }
    }
}

void contents_set(struct contents *c, uint64_t offset, uint64_t length)
{
    uint64_t phase = offset % SECTOR;

    g_assert(length <= c->capacity);
    if (phase != c->phase)
        c->set = 0;
    c->phase = phase;
    /* What was set before is right but for the first words, of which one may be cut at either end. */
    uint64_t right = MIN(c->set, length);
    for (uint64_t sector = 0; sector < phase + right; sector += SECTOR) {
        uint64_t first = sector < phase ? 0 : sector - phase;
        uint64_t end = sector + WORD < phase ? 0 : sector + WORD - phase;
        set_all(c, offset, MIN(first, right), MIN(end, right));
    }
    set_all(c, offset, right, length);
    c->set = MAX(c->set, length);
}

uint64_t contents_compare(struct contents *c, const uint8_t *bytes, uint64_t offset, uint64_t length)
{
    contents_set(c, offset, length);
    if (memcmp(c->bytes, bytes, length) == 0)
        return length;
    uint64_t i = 0;
    while (c->bytes[i] == bytes[i])
        i++;
    return i;
}
