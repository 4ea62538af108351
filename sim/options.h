/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line: which commands and options there are, and what was typed.
 *
 *     struct options options;
 *     if (!options_parse(&options, argc, argv, &error))
 *         error->message, for people; exit 2
 *     ...
 *     options_release(&options);
 *
 * The two tables are what `--help` prints and what the manual page tiercel(1) is made from. Parsing is local, prints
 * nothing and never exits, so that all processes of a run parse alike and one of them speaks.
 */
#ifndef TIERCEL_OPTIONS_H
#define TIERCEL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "deck.h"

enum command {
    COMMAND_NONE,               /* only --help or --version was asked for */
    COMMAND_RUN,
    COMMAND_CHECK,
    COMMAND_VERIFY,
    COMMAND_DIFF,
    COMMAND_REPORT,
    COMMAND_COMPARE,
    COMMAND_FIT,
    COMMAND_SWEEP,
    COMMAND_EXPORT,
    COMMAND_CALIBRATE
};

enum { COMMAND_WORDS_MAX = 2 };

struct command_text {
    const char *name;
    const char *arguments;      /* "DECK", "A B" */
    unsigned words;             /* how many they are */
    const char *text;           /* one line */
    enum command command;
};

struct option_text {
    const char *name;           /* without the dashes */
    char letter;                /* '\0': none */
    const char *argument;       /* NULL: a flag */
    const char *text;           /* one line */
    unsigned commands;          /* bits, 1 << enum command; bit 0: before any command */
};

/* Both end with a NULL name. An option whose text differs by command has a row for each text, no command in two. */
extern const struct command_text command_texts[];
extern const struct option_text option_texts[];

struct options {
    enum command command;
    bool help;
    bool version;
    char *words[COMMAND_WORDS_MAX]; /* the command's arguments as typed: a deck, or traces */
    GArray *settings;           /* struct deck_setting: --set, --seed, --clock, --trace, in the order typed */
    char *output;               /* -o; NULL: runs/DECKNAME-NNN */
    char *summary;              /* --summary; NULL: none besides the run's own */
    int64_t walltime_s;         /* 0: no limit */
    int64_t progress_s;         /* seconds between progress lines; 0: none */
    int64_t processes;          /* of check --processes; 0: not said */
    bool strict;
    bool force;
    bool test;
    bool merge;
    char *format;               /* --format, one of those of the command; NULL: its first */
    char *job;                  /* of report --job; NULL: not said */
    bool sensitivity;
    char *profile;              /* of fit --profile; NULL: none is written */
    GArray *settings_b;         /* struct deck_setting: --set-b of compare */
    int64_t seeds;              /* of compare and fit --seeds; 0: not said */
    int64_t point;              /* --point of run, check and sweep, from 1; 0: not said */
    bool dry_run;
    bool array;
    bool retry;
    int verbosity;              /* -1 quiet, 0, 1 verbose */
};

/* FALSE with *error (INPUT) when something typed is not understood; *options then holds nothing. */
gboolean options_parse(struct options *options, int argc, char **argv, GError **error);
void options_release(struct options *options);

/* What loads the deck of the command line, with its settings; good as long as the options. */
struct deck_request options_deck_request(const struct options *options, struct deck_reader reader);

/* What --help prints for a command, or for the program (COMMAND_NONE). Free with g_free. */
char *options_help(enum command command);

#endif
