/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A deck: the values of a run, each with its source, read and checked completely before anything runs.
 *
 *     struct deck_request request = { .path = "inputs/x.deck", .settings = ..., .reader = ... };
 *     struct deck *deck = deck_load(&request);
 *     nodes = deck_integer(deck, "cluster", "nodes");
 *     if (...) deck_complain(deck, "workload", "dir", "...");         what only a scenario can find wrong
 *     if (deck_problem_count(deck) > 0)
 *         deck_print_problems(deck, "nothing was run", stderr), exit 2
 *     ...
 *     deck_free(deck);
 *
 * Values come from: defaults < base < cost profile < the deck < [test] (when asked for) < settings of the command line.
 * A base may have a base; a profile lies just below the file that names it, or below the deck when a setting does.
 * [expect] and [sweep] are the deck's own; all other groups are taken over from a base.
 *
 * Loading never fails as such: whatever is wrong, from an unreadable file to a value out of range, is collected as
 * problems, all of them, each one line
 *     FILE:LINE: [group] key: 'value' is not ...; expected ...
 * in the order of files and lines. A key whose value is wrong reads as its default, so that further checks can go on
 * (deck_usable says whether they should).
 *
 * All functions are local. Reading goes through the request's reader only; with a reader that gives every process the
 * same bytes, all processes have the same deck and the same problems.
 */
#ifndef TIERCEL_DECK_H
#define TIERCEL_DECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "deck_file.h"
#include "deck_schema.h"

/* An override from the command line. */
struct deck_setting {
    char *where;                    /* the option, as messages show it: "--set cluster.nodes=4", "--seed 7" */
    char *assignment;               /* "group.key=value" */
};

/* A list of them that owns their texts; free with g_array_unref. deck_settings_add takes its texts over,
 * deck_settings_copy copies. */
GArray *deck_settings_new(void);
void deck_settings_add(GArray *settings, char *where, char *assignment);
void deck_settings_copy(GArray *settings, const GArray *from);

struct deck_request {
    const struct deck_schema *schema;   /* NULL: the program's */
    const char *path;                   /* of the deck, or the name of an installed one */
    const char *installed_dir;          /* where decks and costs/ are installed; NULL: nowhere */
    const struct deck_setting *settings;
    unsigned setting_count;
    bool test;                          /* apply [test] */
    struct deck_reader reader;
};

struct deck;

struct deck *deck_load(const struct deck_request *request);
void deck_free(struct deck *deck);

/* --- problems --- */

/* Adds a problem of a key, in the place where its value comes from. */
void deck_complain(struct deck *deck, const char *group, const char *key, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

unsigned deck_problem_count(const struct deck *deck);

/* All problems, a line each, ending in a newline; empty when there is none. Free with g_free. */
char *deck_problems_text(const struct deck *deck);

/* Prints them, and in a last line how many there are and what came of it: "nothing was run". Nothing without problems;
 * of several processes one should. */
void deck_print_problems(const struct deck *deck, const char *outcome, FILE *out);

/* FALSE when the key's value was complained of. */
bool deck_usable(const struct deck *deck, const char *group, const char *key);

/* --- values ---
 *
 * The key must be in the schema and of a fitting type. Asking for the value of an absent key is a programming mistake,
 * except with deck_has. */

/* TRUE when the key has a value: stated, or a default. */
bool deck_has(const struct deck *deck, const char *group, const char *key);

int64_t deck_integer(const struct deck *deck, const char *group, const char *key);
/* `otherwise` where the key has no value. */
int64_t deck_integer_or(const struct deck *deck, const char *group, const char *key, int64_t otherwise);
bool deck_boolean(const struct deck *deck, const char *group, const char *key);
struct distribution deck_distribution(const struct deck *deck, const char *group, const char *key);
struct cost deck_cost(const struct deck *deck, const char *group, const char *key);
/* Fills a struct of costs from [costs], by its list of names. */
void deck_costs(const struct deck *deck, const struct cost_name *names, void *costs);
bool deck_is_live(const struct deck *deck);     /* [run] clock = live */
/* Index into the key's choices; *count, unless NULL, is that of a choice like "limited:8". */
unsigned deck_choice(const struct deck *deck, const char *group, const char *key, int64_t *count);
/* As stated; a path already joined to the folder of the file that states it. The deck's. */
const char *deck_text(const struct deck *deck, const char *group, const char *key);

/* The groups that this deck named after a pattern of the schema: of [station.NAME], with "station" and i = 0, 1, ...,
 * "station.disk"; NULL behind the last. Those of a base come first, each file's in its order. The deck's. */
const char *deck_named_group(const struct deck *deck, const char *stem, unsigned i);

/* Where a value comes from: "inputs/x.deck:12", "--set cluster.nodes=4", "default". The deck's. */
const char *deck_where(const struct deck *deck, const char *group, const char *key);

/* --- the deck as a whole --- */

/* File name without folder and ".deck": what output is named after. The deck's. */
const char *deck_name(const struct deck *deck);

/* The deck's own path, as found. The deck's. */
const char *deck_path(const struct deck *deck);

/* All that was read: the deck, then its bases and its cost profile, each behind a line that names it. Free with
 * g_free. */
char *deck_as_read(const struct deck *deck);

/*
 * The effective deck: every value that holds, each behind a comment that says where it comes from. It is itself a deck
 * that builds on no other file and gives the same run. Free with g_free.
 */
char *deck_effective(const struct deck *deck);

/* --- the sweep ---
 *
 * The points of [sweep] are the product of its keys' values, counted from 0: the first key changes slowest, the repeats
 * fastest. Keys of one zip list go on together. */

enum { DECK_SWEEP_POINTS_MAX = 100000 };

struct deck_axis {                  /* a key of [sweep] */
    const char *key;                /* "cluster.nodes" */
    const struct deck_key *schema_key;
    unsigned set;                   /* the same for keys that go on together: the index of the first of them */
};

/* 0: the deck has no [sweep]. */
unsigned deck_sweep_points(const struct deck *deck);
unsigned deck_sweep_repeats(const struct deck *deck);

/* The i-th key, in the deck's order; NULL when there are fewer. */
const struct deck_axis *deck_axis(const struct deck *deck, unsigned i);
/* How many values it has, and the i-th as a deck states it (a path already joined). The deck's. */
unsigned deck_axis_values(const struct deck *deck, unsigned axis);
const char *deck_axis_value(const struct deck *deck, unsigned axis, unsigned i);

/* What the key has in a point, and which repeat the point is, from 0. */
const char *deck_point_value(const struct deck *deck, unsigned axis, unsigned point);
unsigned deck_point_repeat(const struct deck *deck, unsigned point);

/* Complains of [sweep] where the deck has one: for a command that plays one run. */
void deck_refuse_sweep(struct deck *deck);

/* Takes [sweep] out: the deck is one of its points, whose values are among the settings. */
void deck_drop_sweep(struct deck *deck);

/* --- expectations --- */

struct deck_expectation {
    const char *key;                /* of the summary: "jobs.run_rate" */
    const char *unit;               /* "", "/s", "s" or "B", as stated */
    double published;
    double tolerance;               /* relative: 0.02 */
    const char *stated;             /* both as the deck has them: "67.6/s 2%" */
    const char *source;
    const char *where;
};

/* In the deck's order; all the deck's. */
unsigned deck_expectation_count(const struct deck *deck);
const struct deck_expectation *deck_expectation(const struct deck *deck, unsigned i);

/* FALSE when [test] or a setting changed a key that is modelled: what was measured is then another experiment. */
bool deck_comparable(const struct deck *deck);

#endif
