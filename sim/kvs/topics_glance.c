/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/topics_glance.h"

#include <string.h>

/* Topics whose hashes are remembered: those of the events under way, 1 KiB each. */
enum { PLACES = 64 };

/* FNV-1a: the hash of each prefix comes out on the way. */
static const uint64_t HASH_START = 14695981039346656037u;

static inline uint64_t hash_step(uint64_t hash, char c)
{
    return (hash ^ (uint8_t)c) * 1099511628211u;
}

static bool glance_put(struct topics_glance *glance, uint32_t place, const char *text)
{
    uint32_t size = 0;
    uint64_t hash = HASH_START;
    for (; text[size] != '\0'; size++)
        hash = hash_step(hash, text[size]);
    if (place == TOPICS_GLANCE_ENTRIES || size > TOPICS_GLANCE_TEXT)
        return false;
    glance->sizes[place] = (uint8_t)size;
    glance->hashes[place] = hash;
    return true;
}

void topics_glance_renew(struct topics_glance *glance, const struct topics *const lists[], uint32_t count)
{
    uint32_t place = 0;
    g_assert(count <= TOPICS_GLANCE_LISTS);
    glance->lists = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *text;
        for (uint32_t at = 0; (text = topics_walk(lists[i], &at)) != NULL; place++)
            if (!glance_put(glance, place, text))
                return;
        glance->ends[i] = (uint8_t)place;
    }
    glance->lists = (uint8_t)count;
}

const struct topics_prefixes *topics_prefixes_of(uint64_t event_hash, const char *topic)
{
    static struct topics_prefixes memory[PLACES];
    struct topics_prefixes *p = &memory[event_hash % PLACES];
    if (p->event_hash == event_hash && p->hashes[0] == HASH_START)
        return p;
    p->event_hash = event_hash;
    p->hashes[0] = HASH_START;
    for (p->size = 0; topic[p->size] != '\0'; p->size++) {
        if (p->size == TOPICS_GLANCE_TEXT) {
            p->hashes[0] = 0;
            return NULL;
        }
        p->hashes[p->size + 1] = hash_step(p->hashes[p->size], topic[p->size]);
    }
    return p;
}

void topics_glance_match(const struct topics_glance *glance, const struct topics_prefixes *prefixes,
                         struct topics_match matches[])
{
    for (uint32_t i = 0, place = 0; i < glance->lists; place = glance->ends[i++]) {
        uint32_t first = place;
        matches[i].matched = false;
        for (; place < glance->ends[i] && !matches[i].matched; place++)
            matches[i].matched = glance->sizes[place] <= prefixes->size &&
                                 glance->hashes[place] == prefixes->hashes[glance->sizes[place]];
        matches[i].scanned = place - first;
    }
}
