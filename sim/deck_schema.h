/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a deck may say: every group and key, with type, range, default and a line of explanation.
 *
 * The reader (deck.h) accepts exactly what stands here, `tiercel check` prints it, and the manual page tiercel-deck(5)
 * is made from it. To add a key is to add a row in deck_keys.c, and to read it in a scenario.
 *
 *     const struct deck_schema *schema = deck_schema_tiercel();
 *     int i = deck_schema_find(schema, "cluster", "nodes");
 *     deck_key_parse(&schema->keys[i], "16", &value, &error);
 *
 * A test may make a schema of its own. All functions are local.
 */
#ifndef TIERCEL_DECK_SCHEMA_H
#define TIERCEL_DECK_SCHEMA_H

#include <stdbool.h>

#include "base/error.h"
#include "base/quantity.h"

/* A deck's type of value: a quantity, or one of these. */
enum deck_type {
    DECK_TEXT = QUANTITY_TYPES,     /* any text */
    DECK_NAME,                      /* letters, digits, '.', '_' and '-' */
    DECK_CHOICE,                    /* one of `choices` */
    DECK_FILE,                      /* a path, relative to the file in which the key stands */
    DECK_DIRECTORY
};

enum deck_key_flags {
    DECK_REQUIRED = 1 << 0,         /* a deck must state it: it has no default */
    DECK_UNMODELLED = 1 << 1,       /* does not change what is simulated, so that expectations stay comparable */
    DECK_OWN = 1 << 2               /* says something about the one file: not taken over from a base */
};

/* The kinds of systems, one bit each, in the order of deck_schema.kinds. */
enum deck_kinds {
    DECK_BROKERED = 1 << 0,
    DECK_QUEUEING = 1 << 1,
    DECK_PHOLD = 1 << 2,
    DECK_DISPATCHER = 1 << 3,
    DECK_BATCH = 1 << 4,
    DECK_IO = 1 << 5,
    DECK_ALL_KINDS = ~0
};

struct deck_key {
    const char *group;
    const char *name;
    unsigned type;                  /* enum quantity_type or enum deck_type */
    const char *fallback;           /* the default, as a deck would state it; NULL: required, or absent */
    const char *low;                /* the range of a quantity, as a deck would state it; NULL: no limit there */
    const char *high;
    const char *choices;            /* "a|b|limited:N": DECK_CHOICE, where N stands for a count of 1 or above */
    const char *when;               /* "group.key=a|b": only with that choice; NULL: always */
    int kinds;                      /* enum deck_kinds */
    unsigned flags;                 /* enum deck_key_flags */
    const char *text;               /* one sentence or two for people; no full stop at the end */
};

struct deck_group {
    const char *name;               /* one that ends in ".NAME" is a pattern: a deck has any number (deck_named.c) */
    int kinds;
    bool free;                      /* its keys are not in the table: [test], [sweep], [expect] */
    const char *text;
};

struct deck_schema {
    const struct deck_group *groups;    /* in the order of the manual and of effective decks; ends with NULL */
    const struct deck_key *keys;        /* grouped in the same order; ends with NULL */
    unsigned key_count;
    const char *const *kinds;           /* names of system kinds, by bit; ends with NULL */
};

/* A value that was read. */
struct deck_value {
    struct quantity quantity;       /* of a quantity; of a choice with a count: quantity.count */
    unsigned choice;                /* index into the choices */
    char *text;                     /* as stated, always there */
};

/* The program's own schema: lives as long as the program. */
const struct deck_schema *deck_schema_tiercel(void);

/* Index of a group or a key; -1 when there is none. */
int deck_schema_find_group(const struct deck_schema *schema, const char *group);
int deck_schema_find(const struct deck_schema *schema, const char *group, const char *key);

/* What to say about an unknown name: "did you mean [cluster] nodes?", or "expected one of ..." when none is near. Free
 * with g_free. */
char *deck_schema_suggest_group(const struct deck_schema *schema, const char *group);
char *deck_schema_suggest(const struct deck_schema *schema, const char *group, const char *key);

/*
 * Reads a value of that key into *value, whose text the caller frees. On failure FALSE with an error (INPUT) that says
 * what is wrong and what was expected, without naming the key. Paths are not looked at.
 */
gboolean deck_key_parse(const struct deck_key *key, const char *text, struct deck_value *value, GError **error);

/* Its value is a path. */
static inline bool deck_key_is_path(const struct deck_key *key)
{
    return key->type == DECK_FILE || key->type == DECK_DIRECTORY;
}

/* What is expected of the key's value: "a whole number in 1..16384". Free with g_free. */
char *deck_key_expectation(const struct deck_key *key);

/* The kinds in words: "brokered", "brokered, batch"; "all". Free with g_free. */
char *deck_schema_kinds_text(const struct deck_schema *schema, int kinds);

#endif
