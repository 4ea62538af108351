/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "installed.h"

#define EVERY (1U << COMMAND_NONE | RUN | CHECK | VERIFY | DIFF | REPORT | COMPARE | FIT | SWEEP | EXPORT | CALIBRATE)
#define PROGRAM (1U << COMMAND_NONE)
#define RUN (1U << COMMAND_RUN)
#define CHECK (1U << COMMAND_CHECK)
#define VERIFY (1U << COMMAND_VERIFY)
#define DIFF (1U << COMMAND_DIFF)
#define REPORT (1U << COMMAND_REPORT)
#define EXPORT (1U << COMMAND_EXPORT)
#define COMPARE (1U << COMMAND_COMPARE)
#define FIT (1U << COMMAND_FIT)
#define SWEEP (1U << COMMAND_SWEEP)
#define CALIBRATE (1U << COMMAND_CALIBRATE)

const struct command_text command_texts[] = {
    { "run", "DECK", 1, "run a deck and write what it did", COMMAND_RUN },
    { "check", "DECK", 1, "read a deck, print every value with its source and what a run will need; write nothing",
      COMMAND_CHECK },
    { "verify", "TRACE", 1, "read a trace and say whether it is whole and consistent", COMMAND_VERIFY },
    { "diff", "A B", 2, "say where two traces differ; exit 0 when they are the same", COMMAND_DIFF },
    { "report", "TRACE", 1, "say what a trace has: results, where the time went, what limits", COMMAND_REPORT },
    { "compare", "A B", 2, "run two decks with the same seeds; the differences, with confidence intervals",
      COMMAND_COMPARE },
    { "fit", "FILE", 1, "fit costs to measured values, with uncertainties", COMMAND_FIT },
    { "sweep", "DECK", 1, "run every point of a deck's [sweep], or go on with it; a table of all results",
      COMMAND_SWEEP },
    { "export", "TRACE", 1, "write a trace in the form of another tool: batsim (jobs.csv), chrome or swf",
      COMMAND_EXPORT },
    { "calibrate", "DECK", 1, "measure what a deck's handlings and messages take here, on the live clock",
      COMMAND_CALIBRATE },
    { NULL, NULL, 0, NULL, COMMAND_NONE }
};

const struct option_text option_texts[] = {
    { "output", 'o', "DIR", "the folder that receives the results (default: runs/DECKNAME-NNN)", RUN },
    { "output", 'o', "DIR", "the folder that receives the results (default: runs/DECKNAME-sweep)", SWEEP },
    { "force", '\0', NULL, "replace what is there: a folder of an earlier run, a profile",
      RUN | FIT | SWEEP | CALIBRATE },
    { "set", '\0', "GROUP.KEY=VALUE", "override a value of the deck; may be repeated",
      RUN | CHECK | COMPARE | SWEEP | CALIBRATE },
    { "set-b", '\0', "GROUP.KEY=VALUE", "override a value of deck B alone; may be repeated", COMPARE },
    { "seed", '\0', "N", "the same as --set run.seed=N", RUN | CHECK | COMPARE | SWEEP },
    { "seeds", '\0', "N", "how many seeds (default: 10)", COMPARE },
    { "seeds", '\0', "N", "how many seeds (default: as the file says)", FIT },
    { "clock", '\0', "CLOCK", "the same as --set run.clock=CLOCK", RUN | CHECK },
    { "trace", '\0', "LEVEL", "the same as --set trace.level=LEVEL: stats, jobs or events", RUN | CHECK | SWEEP },
    { "test", '\0', NULL, "apply the deck's [test] group, which makes it a short test",
      RUN | CHECK | COMPARE | SWEEP },
    { "point", '\0', "N", "only this point of the deck's [sweep], from 1", RUN | CHECK | SWEEP },
    { "dry-run", '\0', NULL, "list the points and what each will need; play nothing", SWEEP },
    { "array", '\0', NULL, "print a job-array script for Slurm and Flux that plays the points; play nothing", SWEEP },
    { "retry", '\0', NULL, "play points that failed once more", SWEEP },
    { "summary", '\0', "FILE", "write the summary to FILE as well", RUN },
    { "walltime", '\0', "HH:MM:SS", "stop after that much real time, save what was done, exit 4", RUN },
    { "progress", '\0', "SECONDS", "time between progress lines (default: 10; 0: none)", RUN | COMPARE | FIT | SWEEP },
    { "strict", '\0', NULL, "exit 3 also when an expectation of the deck is missed", RUN },
    { "processes", '\0', "N", "what a run on N processes would need (default: those of this run)", CHECK },
    { "merge", '\0', NULL, "join the parts that a killed run of level events left", VERIFY },
    { "format", '\0', "FORMAT", "text (default), json, tsv or html", REPORT },
    { "format", '\0', "FORMAT", "text (default), json or tsv", COMPARE | FIT | SWEEP },
    { "format", '\0', "FORMAT", "batsim, chrome or swf", EXPORT },
    { "job", '\0', "ID", "tell the path of this job (default: of the median one and of the slowest)", REPORT },
    { "profile", '\0', "FILE", "write the fitted or measured costs to FILE, as a cost profile", FIT | CALIBRATE },
    { "sensitivity", '\0', NULL, "fit nothing: what each value does when a cost changes", FIT },
    { "quiet", 'q', NULL, "print problems only", RUN | COMPARE | FIT | SWEEP },
    { "verbose", 'v', NULL, "print more: every role's figures, the engine's own", RUN },
    { "help", 'h', NULL, "print this and exit", EVERY },
    { "version", '\0', NULL, "print the versions of program and libraries and exit", PROGRAM },
    { NULL, '\0', NULL, NULL, 0 }
};

enum {
    PROGRESS_DEFAULT_S = 10,
    PROCESSES_MAX = 1000000,
    SEEDS_MIN = 1,
    SEEDS_MAX = 10000,
    SETTING_MAX = DECK_LINE_MAX - 64    /* with room for the option's name */
};
#define SECONDS_MAX (INT64_MAX / 1000000)   /* what microseconds can count */

/* --- storing what was typed --- */

struct parse {
    struct options *options;
    GHashTable *seen;           /* names of options that may not come twice */
};

/* What goes into the effective deck, which must be one. */
static bool is_plain(const char *text)
{
    for (const char *at = text; *at != '\0'; at++)
        if (g_ascii_iscntrl(*at))
            return false;
    return g_utf8_validate(text, -1, NULL);
}

static gboolean check_setting(const char *option, const char *value, GError **error)
{
    g_autofree char *quoted = quantity_quote(value);

    if (!is_plain(value))
        return error_refuse(error, "--%s: %s is not plain text; expected UTF-8 without control characters", option,
                            quoted);
    if (strlen(value) > SETTING_MAX)
        return error_refuse(error, "--%s: %s is longer than %d bytes; expected a line of a deck", option, quoted,
                            SETTING_MAX);
    return TRUE;
}

/* The key that an option is short for; NULL: it is for none. */
static const char *deck_key_of(const char *option)
{
    static const char *const keys[][2] = {
        { "seed", "run.seed" }, { "clock", "run.clock" }, { "trace", "trace.level" }
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++)
        if (strcmp(keys[i][0], option) == 0)
            return keys[i][1];
    return NULL;
}

/* --set, --set-b, and the options that are short for one. */
static gboolean store_setting(struct options *options, const char *option, const char *value, GError **error)
{
    const char *deck_key = deck_key_of(option);
    GArray *settings = strcmp(option, "set-b") == 0 ? options->settings_b : options->settings;

    g_assert(deck_key != NULL || strcmp(option, "set") == 0 || settings == options->settings_b);
    if (!check_setting(option, value, error))
        return FALSE;
    deck_settings_add(settings, g_strdup_printf("--%s %s", option, value),
                      deck_key == NULL ? g_strdup(value) : g_strdup_printf("%s=%s", deck_key, value));
    return TRUE;
}

/* --- by name: what of struct options holds its value --- */

#define MEMBER(name) offsetof(struct options, name)

static const struct {
    const char *option;
    size_t member;                  /* bool */
} flags[] = {
    { "array", MEMBER(array) }, { "dry-run", MEMBER(dry_run) }, { "force", MEMBER(force) }, { "help", MEMBER(help) },
    { "merge", MEMBER(merge) }, { "retry", MEMBER(retry) }, { "sensitivity", MEMBER(sensitivity) },
    { "strict", MEMBER(strict) }, { "test", MEMBER(test) }, { "version", MEMBER(version) }
};

static const struct {
    const char *option;
    size_t member;                  /* char * */
    const char *expected;
} texts[] = {
    { "format", MEMBER(format), "the name of a format" }, { "job", MEMBER(job), "the id of a job" },
    { "output", MEMBER(output), "a path" }, { "profile", MEMBER(profile), "a path" },
    { "summary", MEMBER(summary), "a path" }
};

static const struct number {
    const char *option;
    size_t member;                  /* int64_t */
    enum quantity_type type;
    int64_t low;
    int64_t high;
    const char *expected;
} numbers[] = {
    { "point", MEMBER(point), QUANTITY_COUNT, 1, DECK_SWEEP_POINTS_MAX, "a whole number in 1..100000" },
    { "processes", MEMBER(processes), QUANTITY_COUNT, 1, PROCESSES_MAX, "a whole number in 1..1000000" },
    { "progress", MEMBER(progress_s), QUANTITY_COUNT, 0, SECONDS_MAX,
      "a whole number of seconds such as 10; 0 for none" },
    { "seeds", MEMBER(seeds), QUANTITY_COUNT, SEEDS_MIN, SEEDS_MAX, "a whole number in 1..10000" },
    { "walltime", MEMBER(walltime_s), QUANTITY_CLOCK_TIME, 1, SECONDS_MAX,
      "hours, minutes and seconds such as 01:30:00, at least 00:00:01" }
};

static gboolean store_number(const struct number *number, const char *value, int64_t *stored, GError **error)
{
    struct quantity q;
    g_autoptr(GError) why = NULL;

    if (!quantity_parse(number->type, value, number->expected, &q, &why))
        return error_refuse(error, "--%s: %s", number->option, why->message);
    if (q.integer < number->low || q.integer > number->high) {
        g_autofree char *quoted = quantity_quote(value);
        return error_refuse(error, "--%s: %s is not in its range; expected %s", number->option, quoted,
                            number->expected);
    }
    *stored = q.integer;
    return TRUE;
}

static void *member_of(struct options *options, size_t member)
{
    return (char *)options + member;
}

static gboolean store(struct options *options, const char *option, const char *value, GError **error)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(flags); i++)
        if (strcmp(flags[i].option, option) == 0) {
            *(bool *)member_of(options, flags[i].member) = true;
            return TRUE;
        }
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++)
        if (strcmp(texts[i].option, option) == 0) {
            if (*value == '\0')
                return error_refuse(error, "--%s: is empty; expected %s", option, texts[i].expected);
            *(char **)member_of(options, texts[i].member) = g_strdup(value);
            return TRUE;
        }
    for (unsigned i = 0; i < G_N_ELEMENTS(numbers); i++)
        if (strcmp(numbers[i].option, option) == 0)
            return store_number(&numbers[i], value, member_of(options, numbers[i].member), error);
    if (strcmp(option, "quiet") == 0 || strcmp(option, "verbose") == 0) {
        options->verbosity = *option == 'q' ? -1 : 1;
        return TRUE;
    }
    return store_setting(options, option, value, error);
}

static gboolean take_option(const char *typed, const char *value, gpointer data, GError **error)
{
    struct parse *parse = data;
    const struct option_text *option = option_texts;

    while (typed[1] == '-' ? strcmp(option->name, typed + 2) != 0 : option->letter != typed[1])
        option++;
    if (!g_str_has_prefix(option->name, "set") && !g_hash_table_add(parse->seen, (gpointer)option->name))
        return error_refuse(error, "--%s: is given twice; expected it once", option->name);
    if ((strcmp(option->name, "quiet") == 0 || strcmp(option->name, "verbose") == 0) &&
        parse->options->verbosity != 0)
        return error_refuse(error, "--quiet and --verbose: are given both; expected one of them");
    return store(parse->options, option->name, value, error);
}

/* --- parsing --- */

static GOptionContext *make_context(unsigned commands, struct parse *parse)
{
    GArray *entries = g_array_new(TRUE, TRUE, sizeof(GOptionEntry));
    GOptionGroup *group = g_option_group_new("tiercel", "", "", parse, NULL);
    GOptionContext *context = g_option_context_new(NULL);

    for (const struct option_text *option = option_texts; option->name != NULL; option++) {
        GOptionEntry entry = { .long_name = option->name, .short_name = option->letter, .arg = G_OPTION_ARG_CALLBACK,
                               .arg_data = (gpointer)take_option, .arg_description = option->argument };
        /* The bytes as typed: GLib would take them for those of the locale, C here, and refuse an umlaut. */
        entry.flags = option->argument == NULL ? G_OPTION_FLAG_NO_ARG : G_OPTION_FLAG_FILENAME;
        if ((option->commands & commands) != 0)
            g_array_append_val(entries, entry);
    }
    g_option_group_add_entries(group, (const GOptionEntry *)entries->data);
    g_option_context_set_main_group(context, group);
    /* GLib's own help prints on every process and exits without MPI_Finalize. */
    g_option_context_set_help_enabled(context, FALSE);
    g_array_free(entries, TRUE);
    return context;
}

/* GLib's complaint in our words. */
static gboolean refuse_option(const GError *glib, unsigned commands, const char *command, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const char *typed = strrchr(glib->message, ' ');

    if (glib->domain != G_OPTION_ERROR)
        return error_refuse(error, "%s", glib->message);
    if (!g_error_matches(glib, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION) || typed == NULL) {
        g_autofree char *text = g_strdup(glib->message);
        text[0] = g_ascii_tolower(text[0]);
        return error_refuse(error, "%s; see `tiercel%s --help`", text, command);
    }
    for (const struct option_text *option = option_texts; option->name != NULL; option++)
        if ((option->commands & commands) != 0)
            g_ptr_array_add(names, (gpointer)option->name);
    const char *word = typed + 1 + strspn(typed + 1, "-");
    const char *near = nearest_name(word, (const char *const *)names->pdata, names->len);
    g_autofree char *quoted = quantity_quote(typed + 1);
    if (near != NULL && strlen(word) > 1)
        return error_refuse(error, "unknown option %s; did you mean --%s?", quoted, near);
    return error_refuse(error, "unknown option %s; `tiercel%s --help` lists all", quoted, command);
}

/* GLib passes over the value of a flag. */
static gboolean check_flags(char **words, unsigned commands, GError **error)
{
    for (; *words != NULL && strcmp(*words, "--") != 0; words++)
        for (const struct option_text *option = option_texts; option->name != NULL; option++) {
            g_autofree char *with_value = g_strdup_printf("--%s=", option->name);
            if ((option->commands & commands) != 0 && option->argument == NULL && g_str_has_prefix(*words, with_value))
                return error_refuse(error, "--%s: takes no value", option->name);
        }
    return TRUE;
}

static const struct command_text *find_command(const char *name)
{
    const struct command_text *text = command_texts;
    while (text->name != NULL && strcmp(text->name, name) != 0)
        text++;
    return text;
}

static gboolean refuse_command(const char *name, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autofree char *quoted = quantity_quote(name);

    for (const struct command_text *text = command_texts; text->name != NULL; text++)
        g_ptr_array_add(names, (gpointer)text->name);
    const char *near = nearest_name(name, (const char *const *)names->pdata, names->len);
    if (near != NULL)
        return error_refuse(error, "unknown command %s; did you mean %s?", quoted, near);
    return error_refuse(error, "unknown command %s; `tiercel --help` lists all", quoted);
}

static gboolean check_words(struct options *options, char **words, const struct command_text *command, GError **error)
{
    unsigned count = 0;

    if (options->help)
        return TRUE;
    if (words[0] != NULL && strcmp(words[0], "--") == 0)
        words++;
    while (words[count] != NULL && count <= command->words) {
        if (*words[count] == '\0')
            return error_refuse(error, "%s: an argument is empty; expected `tiercel %s %s`", command->name,
                                command->name, command->arguments);
        count++;
    }
    if (count < command->words && command->words == 1) {
        g_autofree char *noun = g_ascii_strdown(command->arguments, -1);
        return error_refuse(error, "%s: no %s is given; expected `tiercel %s %s`", command->name, noun, command->name,
                            command->arguments);
    }
    if (count < command->words)
        return error_refuse(error, "%s: %u of %u arguments are given; expected `tiercel %s %s`", command->name, count,
                            command->words, command->name, command->arguments);
    if (count > command->words) {
        g_autofree char *quoted = quantity_quote(words[command->words]);
        return error_refuse(error, "%s: %s is one argument too many; expected `tiercel %s %s`", command->name, quoted,
                            command->name, command->arguments);
    }
    /* Names that are written into decks, profiles and traces. */
    bool decks = options->command == COMMAND_RUN || options->command == COMMAND_CHECK ||
                 options->command == COMMAND_COMPARE || options->command == COMMAND_SWEEP ||
                 options->command == COMMAND_CALIBRATE;
    for (unsigned i = 0; (decks || options->command == COMMAND_FIT) && i < count; i++)
        if (!is_plain(words[i])) {
            g_autofree char *quoted = quantity_quote(words[i]);
            return error_refuse(error, "%s: the %s name %s is not plain text; expected UTF-8 without control "
                                "characters", command->name, decks ? "deck's" : "file's", quoted);
        }
    for (unsigned i = 0; i < count; i++)
        options->words[i] = g_strdup(words[i]);
    return TRUE;
}

static gboolean parse_words(struct options *options, char **words, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    struct parse parse = { options, seen };
    g_autofree char *first = g_strdup(words[1]);
    const struct command_text *found = NULL;
    bool has_command = first != NULL && *first != '-';
    g_autofree char *command = has_command ? g_strdup_printf(" %s", first) : g_strdup("");
    g_autoptr(GError) glib = NULL;

    if (first == NULL)
        return error_refuse(error, "no command is given; expected `tiercel run DECK` or `tiercel check DECK` (`tiercel "
                            "--help` lists all)");
    if (has_command) {
        found = find_command(first);
        options->command = found->command;
        if (options->command == COMMAND_NONE)
            return refuse_command(first, error);
        /* What is left looks like a program's own arguments again. */
        g_free(words[1]);
        memmove(&words[1], &words[2], (g_strv_length(&words[2]) + 1) * sizeof *words);
    }
    unsigned commands = 1U << options->command;
    if (!check_flags(words, commands, error))
        return FALSE;
    g_autoptr(GOptionContext) context = make_context(commands, &parse);
    if (!g_option_context_parse_strv(context, &words, &glib))
        return refuse_option(glib, commands, command, error);
    if (has_command)
        return check_words(options, &words[1], found, error);
    if (!options->help && !options->version)
        return error_refuse(error, "no command is given; expected it first: `tiercel run DECK` or `tiercel check "
                            "DECK`");
    return TRUE;
}

gboolean options_parse(struct options *options, int argc, char **argv, GError **error)
{
    char **words = g_new0(char *, argc + 1);

    *options = (struct options){ .progress_s = PROGRESS_DEFAULT_S };
    options->settings = deck_settings_new();
    options->settings_b = deck_settings_new();
    for (int i = 0; i < argc; i++)
        words[i] = g_strdup(argv[i]);
    gboolean ok = parse_words(options, words, error);
    g_strfreev(words);
    if (!ok)
        options_release(options);
    return ok;
}

struct deck_request options_deck_request(const struct options *options, struct deck_reader reader)
{
    return (struct deck_request){
        .path = options->words[0],
        .installed_dir = installed_inputs(),
        .settings = (const struct deck_setting *)options->settings->data,
        .setting_count = options->settings->len,
        .test = options->test,
        .reader = reader
    };
}

void options_release(struct options *options)
{
    g_clear_pointer(&options->settings, g_array_unref);
    g_clear_pointer(&options->settings_b, g_array_unref);
    for (unsigned i = 0; i < COMMAND_WORDS_MAX; i++)
        g_clear_pointer(&options->words[i], g_free);
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++)
        g_clear_pointer((char **)member_of(options, texts[i].member), g_free);
}

/* --- help --- */

static void append_options(GString *text, unsigned commands)
{
    for (const struct option_text *option = option_texts; option->name != NULL; option++) {
        g_autofree char *left = NULL;
        if ((option->commands & commands) == 0)
            continue;
        char letter[] = { '-', option->letter, ',', ' ', '\0' };
        left = g_strdup_printf("%s--%s%s%s", option->letter != '\0' ? letter : "    ", option->name,
                               option->argument != NULL ? "=" : "", option->argument != NULL ? option->argument : "");
        g_string_append_printf(text, "  %-28s %s\n", left, option->text);
    }
}

char *options_help(enum command command)
{
    GString *text = g_string_new(NULL);

    if (command == COMMAND_NONE) {
        g_string_append(text, "tiercel simulates distributed job systems.\n\nUsage:\n");
        for (const struct command_text *c = command_texts; c->name != NULL; c++)
            g_string_append_printf(text, "  tiercel %s %s [OPTION]...\n      %s\n", c->name, c->arguments, c->text);
        g_string_append(text, "\nOptions:\n");
        append_options(text, 1U << command);
        g_string_append(text, "\n`tiercel COMMAND --help` lists the options of a command. All work with and without "
                        "mpirun.\n");
    } else {
        const struct command_text *c = command_texts;
        while (c->command != command)
            c++;
        g_string_append_printf(text, "Usage: tiercel %s %s [OPTION]...\n  %s\n\n", c->name, c->arguments, c->text);
        if (command == COMMAND_COMPARE)
            g_string_append(text, "A and B are decks: paths, or names of installed ones.\n\n");
        if (command == COMMAND_RUN || command == COMMAND_CHECK || command == COMMAND_SWEEP)
            g_string_append(text, "DECK is a path, or the name of an installed deck.\n\n");
        if (command == COMMAND_VERIFY || command == COMMAND_REPORT || command == COMMAND_EXPORT)
            g_string_append(text, "TRACE is a file, or the folder of a run.\n\n");
        if (command == COMMAND_DIFF)
            g_string_append(text, "A and B are traces: files, or folders of runs.\n\n");
        g_string_append(text, "Options:\n");
        append_options(text, 1U << command);
    }
    if (command == COMMAND_NONE || command == COMMAND_RUN)
        g_string_append(text, "\nExit status: 0 done; 1 failed while running; 2 the command line or the deck is wrong; "
                        "3 a balance\n(with --strict: an expectation) does not hold; 4 stopped early, what was done is "
                        "saved.\n");
    return g_string_free(text, FALSE);
}
