/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several short subscription lists at a glance: their entries as hashes, side by side in two or three cache lines, so
 * that an event is matched with all of them without a look at the lists.
 *
 *     topics_glance_renew(&glance, lists, count);                         after each change of a list
 *     if (topics_glance_usable(&glance))
 *         topics_glance_match(&glance, topics_prefixes_of(event_hash, topic), matches);
 *     matches[i] ...                                                      what topics_match(lists[i], topic) gives
 *
 * Thousands of brokers get the same event and each holds lists of its own: what takes time is not the comparing but the
 * way to the texts. Hashes have 64 bits, and equal ones are taken for equal texts.
 *
 * All functions are local; not for several threads.
 */
#ifndef TIERCEL_KVS_TOPICS_GLANCE_H
#define TIERCEL_KVS_TOPICS_GLANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "kvs/topics.h"

enum {
    TOPICS_GLANCE_LISTS = 7,
    TOPICS_GLANCE_ENTRIES = 14,         /* of all lists */
    TOPICS_GLANCE_TEXT = 127            /* bytes of an entry, and of a topic */
};

struct topics_glance {
    uint8_t lists;                      /* 0: not usable */
    uint8_t ends[TOPICS_GLANCE_LISTS];  /* behind each list's entries, which stand in the order of a walk */
    uint8_t sizes[TOPICS_GLANCE_ENTRIES];
    uint64_t hashes[TOPICS_GLANCE_ENTRIES];
};

/* The hashes of a topic's prefixes, by length. */
struct topics_prefixes {
    uint64_t event_hash;
    uint32_t size;                      /* of the topic */
    uint64_t hashes[TOPICS_GLANCE_TEXT + 1];
};

/* At most TOPICS_GLANCE_LISTS lists. With more entries than fit, or longer ones, the glance is not usable. */
void topics_glance_renew(struct topics_glance *glance, const struct topics *const lists[], uint32_t count);

static inline bool topics_glance_usable(const struct topics_glance *glance)
{
    return glance->lists != 0;
}

/* Remembered by the hash of the event that has the topic; NULL for a topic that is too long. Good until the next
 * call. */
const struct topics_prefixes *topics_prefixes_of(uint64_t event_hash, const char *topic);

/* One result a list. */
void topics_glance_match(const struct topics_glance *glance, const struct topics_prefixes *prefixes,
                         struct topics_match matches[]);

#endif
