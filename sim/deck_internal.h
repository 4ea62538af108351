/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the deck reader share. Callers include deck.h.
 *
 *     deck.c             getters, problems
 *     deck_load.c        reads files and settings, layer by layer
 *     deck_value.c       reads one value, and lets it hold or not
 *     deck_check.c       what holds between keys: required ones, choices that need one another, kinds
 *     deck_expect.c      [expect]
 *     deck_sweep.c       [sweep]
 *     deck_effective.c   writes a deck back
 *     deck_named.c       groups that a deck names
 *     deck_nearest.c     what a mistyped path was meant to be
 */
#ifndef TIERCEL_DECK_INTERNAL_H
#define TIERCEL_DECK_INTERNAL_H

#include "deck.h"

/* A value replaces one of a lower or the same layer. A file's profile lies one below the file, a base two below the
 * deck that names it. */
enum deck_layer {
    LAYER_DEFAULT = 0,
    LAYER_DECK = 1000,
    LAYER_TEST = 2000,
    LAYER_SETTING = 3000
};

enum { DECK_BASES_MAX = 16 };

struct deck_held {                  /* what holds for a key of the schema */
    struct deck_value value;
    char *where;
    const char *path;               /* of the file; the option of a setting */
    unsigned line;                  /* 0 for a setting */
    int layer;
    bool has;
    bool bad;
};

struct deck_test {                  /* an entry of [test] */
    unsigned key;                   /* index into the schema */
    char *text;
};

struct deck_problem {
    unsigned order;                 /* of the file or setting */
    unsigned line;
    unsigned index;                 /* of the complaint: keeps the order within a line */
    char *text;
};

struct deck {
    const struct deck_schema *schema;   /* the request's, until its named groups are known; then own_schema */
    struct deck_schema own_schema;
    char *name;
    GPtrArray *files;               /* struct deck_file: the deck, its bases from near to far, its profile */
    unsigned bases;                 /* files up to here are the deck and its bases */
    GStringChunk *places;           /* options of settings */
    GPtrArray *place_order;         /* paths and options in the order in which problems are shown */
    struct deck_held *held;         /* per key of the schema */
    GArray *tests;                  /* struct deck_test, each key once, the deck's own rather than its base's */
    bool test_applied;
    bool comparable;
    GArray *expectations;           /* struct deck_expectation */
    GArray *sweep;                  /* struct deck_entry */
    GArray *axes;                   /* deck_sweep.c */
    unsigned repeats;
    unsigned points;
    GArray *problems;               /* struct deck_problem */
};

/* Index of a key; it must exist. */
unsigned deck_index(const struct deck *deck, const char *group, const char *key);

/* A complaint about a place: a path and a line, or an option and 0. */
void deck_complain_at(struct deck *deck, const char *path, unsigned line, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

/* "path:line". Free with g_free. */
char *deck_place(const char *path, unsigned line);

/* deck_check.c: after all layers; decides which keys have a value at all. */
void deck_check(struct deck *deck);

/* deck_named.c: makes the deck's own schema once its files are known, and frees it. */
void deck_name_groups(struct deck *deck);
void deck_unname_groups(struct deck *deck);

/* deck_nearest.c: the path or name of a deck that is called nearly so, in the same folder, in inputs/ (that of the
 * sources) or, unless `installed_dir` is NULL, installed; NULL when there is none. Free with g_free. */
char *deck_nearest(const char *path, const char *installed_dir);

/* deck_nearest.c: what to do about a cost profile that was looked for at these paths (char *): the nearest name in
 * their folders, else all there, else the paths. Free with g_free. */
char *deck_profile_advice(const char *name, const GPtrArray *tried);

/* deck_expect.c: the deck's own [expect]. */
void deck_read_expectation(struct deck *deck, const struct deck_file *file, const struct deck_entry *entry);

/* deck_sweep.c: the deck's own [sweep], entry by entry, and what holds between them. */
void deck_sweep_init(struct deck *deck);
void deck_sweep_release(struct deck *deck);
void deck_read_sweep(struct deck *deck, const struct deck_file *file, const struct deck_entry *entry);
void deck_check_sweep(struct deck *deck);

/* --- deck_value.c --- */

struct deck_origin {                /* where a value is stated */
    const char *path;               /* of the file, or the option */
    unsigned line;
    int layer;
    bool is_file;
    int64_t scale_ppm;              /* of a profile's base: what its costs are multiplied with; 0: they are not */
};

/* Reads a value and, unless `only_check`, lets it hold where nothing of a higher layer does. FALSE when it cannot be
 * read: complained of, and `prefix` names the place in the message, "[cluster] nodes". */
bool deck_take_value(struct deck *deck, unsigned index, const char *text, const struct deck_origin *origin,
                     const char *prefix, bool only_check);

/* Index of a key; complains and returns -1 when it is unknown. */
int deck_find_key(struct deck *deck, const char *group, const char *name, const char *path, unsigned line,
                  const char *prefix);

/* The same of a "group.key"; -1 also when it can only stand in a deck. */
int deck_find_dotted(struct deck *deck, const char *dotted, const char *path, unsigned line, const char *prefix);

/* A path as a program opens it: relative ones start from the folder of the file that states them. Free with g_free. */
char *deck_join_path(const char *stated_in, const char *path);

/* A value as a setting states it, where a path is such a one. Free with g_free. */
char *deck_value_text(const struct deck_key *key, const char *stated_in, const char *text);

#endif
