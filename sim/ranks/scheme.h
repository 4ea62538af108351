/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event schemes as people write them (a deck's [topics]), and whether one can work.
 *
 *     struct scheme *s = scheme_new("custom");
 *     scheme_set_topic(s, EVENT_SETROOT, "kvs.namespace-{ns}-setroot", &error);
 *     scheme_set_list(s, SCHEME_WATCHER, SCHEME_AT_REMOVAL, "-kvs.namespace-{ns}", &error);
 *     ...
 *     if (scheme_check(s, complain, context) == 0)
 *         inst.scheme = s;                        as good as a preset
 *     scheme_free(s);
 *
 * A list is one line: prefixes with blanks between them, or "none". In the list at removal each prefix has a sign:
 * "-" unsubscribes it, "+" subscribes it once more (pr2777 did, by mistake). A topic or prefix is made of letters,
 * digits, '.', '_' and '-', and may hold "{ns}" once, for the name of the namespace; those that are subscribed whatever
 * the namespaces are may not.
 *
 * All functions are local.
 */
#ifndef TIERCEL_RANKS_SCHEME_H
#define TIERCEL_RANKS_SCHEME_H

#include <glib.h>

#include "ranks/instance.h"

enum scheme_list {
    SCHEME_AT_LOAD,
    SCHEME_AT_FIRST_USE,
    SCHEME_PER_NAMESPACE,
    SCHEME_AT_REMOVAL,
    SCHEME_LISTS
};

/* What decks call the topics, by enum event_class, and the lists; NULL where a role has no such list. */
extern const char *const scheme_topic_names[EVENT_KVS_CLASSES];
extern const char *const scheme_list_names[SCHEME_USERS][SCHEME_LISTS];

/* What a role needs that uses the store's events: bits 1 << enum event_class. */
extern const unsigned scheme_needs[SCHEME_USERS];

/* A scheme without topics and with empty lists; texts are copied. */
struct scheme *scheme_new(const char *name);
void scheme_free(struct scheme *scheme);

/* Of a scheme made by scheme_new, once each. FALSE with an error (INPUT) that says what is wrong with the text. */
gboolean scheme_set_topic(struct scheme *scheme, enum event_class event_class, const char *text, GError **error);
gboolean scheme_set_list(struct scheme *scheme, enum scheme_user user, enum scheme_list list, const char *text,
                         GError **error);

/* A list as scheme_set_list reads it. Free with g_free. */
char *scheme_list_text(const struct scheme *scheme, enum scheme_user user, enum scheme_list list);

/* The whole scheme as lines of a deck, [topics] and all. Free with g_free. */
char *scheme_text(const struct scheme *scheme);

/* `key` is the name of the topic or list, `text` goes on from it. */
typedef void (*scheme_complain_fn)(void *context, const char *key, const char *text);

/*
 * Returns the number of complaints. A complete scheme works when
 * - no two kinds of events have the same topic;
 * - each role gets every event that it needs: a kvs the new roots, errors and removals of each namespace and the
 *   heartbeat, the watcher the new roots, removals and creations; of the first namespace as of any other, and still
 *   when another one has been removed;
 * - what is unsubscribed at removal has been subscribed.
 * Names are tried, not proved: "primary" and those of jobs.
 */
unsigned scheme_check(const struct scheme *scheme, scheme_complain_fn complain, void *context);

struct scheme_counts {
    unsigned begin;     /* calls for a namespace: created, first used, first watched */
    unsigned end;       /* at its removal, or when its last watcher is gone */
    unsigned leaked;    /* entries that stay in the broker's list */
};

/* What a namespace costs the role's module on one node. */
struct scheme_counts scheme_count(const struct scheme *scheme, enum scheme_user user);

#endif
