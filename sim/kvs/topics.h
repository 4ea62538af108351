/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The subscriptions of one module, as its broker holds them: a plain list of prefixes.
 *
 *     struct topics t = TOPICS_INIT;
 *     topics_subscribe(&t, "kvs.namespace-job-17");
 *     struct topics_match m = topics_match(&t, "kvs.namespace-job-17-setroot");
 *     if (m.matched) ... deliver ...;  charge for m.scanned entries
 *     topics_unsubscribe(&t, "kvs.namespace-job-17");
 *     topics_release(&t);
 *
 * What the list means (flux-core 0.15 to 0.17, src/broker/module.c): new entries come first; a topic matches when its
 * leading characters equal an entry; duplicates are allowed, cause one delivery and need one unsubscribe each;
 * unsubscribing removes the first equal entry, that is the newest. A broker walks the list up to the first match, so
 * leaked entries lengthen every later walk: topics_match counts what the walk would have looked at, and the model
 * charges it. The table itself does not walk: beyond a few entries it is indexed, and a match takes a time that does
 * not grow with the list.
 *
 * All functions are local. Texts are copied.
 */
#ifndef TIERCEL_KVS_TOPICS_H
#define TIERCEL_KVS_TOPICS_H

#include <glib.h>

#include "base/bytes.h"

struct topics_slot;

struct topics {
    struct topics_slot *slots;  /* entries by age, oldest first, with holes where one was removed */
    uint32_t *counts;           /* Fenwick tree over the slots in use; NULL while the table is short */
    GHashTable *index;          /* distinct texts; NULL while the table is short */
    uint32_t *lengths;          /* how many distinct texts have each length; NULL while the table is short */
    uint32_t lengths_size;
    uint32_t used;              /* slots in use, holes included */
    uint32_t capacity;
    uint32_t length;            /* entries */
};

#define TOPICS_INIT { NULL, NULL, NULL, NULL, 0, 0, 0, 0 }

struct topics_match {
    bool matched;
    uint32_t scanned;   /* entries that a walk looks at: up to and with the first match, else all of them */
};

void topics_release(struct topics *t);

/* Adds an entry in front. The empty prefix is allowed and matches everything. */
void topics_subscribe(struct topics *t, const char *prefix);

/* Removes the newest entry equal to `prefix`; false when there is none. */
bool topics_unsubscribe(struct topics *t, const char *prefix);

struct topics_match topics_match(const struct topics *t, const char *topic);

/* Entries in the list, duplicates and leaked ones included. */
static inline uint32_t topics_length(const struct topics *t)
{
    return t->length;
}

/* The texts in the order of a walk: begin with *place = 0; NULL at the end. */
const char *topics_walk(const struct topics *t, uint32_t *place);

/* How many entries equal `prefix`. */
uint32_t topics_count(const struct topics *t, const char *prefix);

/* --- a quick look ---
 *
 * The first eight bytes of the entries of one or several short lists, each once: enough to tell of most topics that no
 * list has a match, without a walk.
 *
 *     topics_heads_clear(&heads);
 *     topics_heads_add(&heads, &first_list); topics_heads_add(&heads, &second_list);
 *     if (!topics_heads_may_match(&heads, topic))     neither list matches; a walk would look at heads.entries entries
 */
enum { TOPICS_HEADS = 8, TOPICS_HEADS_OFF = UINT32_MAX };

struct topics_heads {
    uint32_t count;         /* of heads; TOPICS_HEADS_OFF: there were too many, so that anything may match */
    uint32_t entries;       /* of all lists */
    uint64_t heads[TOPICS_HEADS];
    uint64_t masks[TOPICS_HEADS];
};

static inline void topics_heads_clear(struct topics_heads *h)
{
    h->count = h->entries = 0;
}

void topics_heads_add(struct topics_heads *h, const struct topics *t);

/* False only when no entry is a prefix of the topic. */
bool topics_heads_may_match(const struct topics_heads *h, const char *topic);

/* Canonical: the number of entries, then their texts in list order (newest first). */
void topics_save(const struct topics *t, struct bytes *sink);

#endif
