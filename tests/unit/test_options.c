/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

static gboolean parse(struct options *options, const char *line, GError **error)
{
    g_auto(GStrv) words = g_strsplit(line, " ", 0);
    return options_parse(options, (int)g_strv_length(words), words, error);
}

static const struct deck_setting *setting(const struct options *options, unsigned i)
{
    return &g_array_index(options->settings, struct deck_setting, i);
}

static void test_run(void)
{
    struct options options;

    CU_ASSERT_TRUE_FATAL(parse(&options, "tiercel run x.deck", NULL));
    CU_ASSERT_EQUAL(options.command, COMMAND_RUN);
    CU_ASSERT_STRING_EQUAL(options.words[0], "x.deck");
    CU_ASSERT_EQUAL(options.settings->len, 0);
    CU_ASSERT_PTR_NULL(options.output);
    CU_ASSERT_EQUAL(options.progress_s, 10);
    CU_ASSERT_EQUAL(options.walltime_s, 0);
    CU_ASSERT_EQUAL(options.verbosity, 0);
    options_release(&options);

    CU_ASSERT_TRUE_FATAL(parse(&options, "tiercel run -o out --set a.b=1 --seed=7 x.deck --set=c.d=2=3 --clock virtual "
                               "--trace stats --summary s.json --walltime 01:00:05 --progress 0 --strict --force "
                               "--test -q", NULL));
    CU_ASSERT_STRING_EQUAL(options.output, "out");
    CU_ASSERT_STRING_EQUAL(options.summary, "s.json");
    CU_ASSERT_EQUAL(options.walltime_s, 3605);
    CU_ASSERT_EQUAL(options.progress_s, 0);
    CU_ASSERT_TRUE(options.strict && options.force && options.test);
    CU_ASSERT_EQUAL(options.verbosity, -1);
    CU_ASSERT_EQUAL_FATAL(options.settings->len, 5);
    CU_ASSERT_STRING_EQUAL(setting(&options, 0)->where, "--set a.b=1");
    CU_ASSERT_STRING_EQUAL(setting(&options, 0)->assignment, "a.b=1");
    CU_ASSERT_STRING_EQUAL(setting(&options, 1)->where, "--seed 7");
    CU_ASSERT_STRING_EQUAL(setting(&options, 1)->assignment, "run.seed=7");
    CU_ASSERT_STRING_EQUAL(setting(&options, 2)->assignment, "c.d=2=3");
    CU_ASSERT_STRING_EQUAL(setting(&options, 3)->assignment, "run.clock=virtual");
    CU_ASSERT_STRING_EQUAL(setting(&options, 4)->assignment, "trace.level=stats");
    options_release(&options);

    CU_ASSERT_TRUE_FATAL(parse(&options, "tiercel run -v -- -odd.deck", NULL));
    CU_ASSERT_STRING_EQUAL(options.words[0], "-odd.deck");
    CU_ASSERT_EQUAL(options.verbosity, 1);
    options_release(&options);
}

static void test_many_runs(void)
{
    struct options options;
    g_autoptr(GError) error = NULL;

    CU_ASSERT_TRUE_FATAL(parse(&options, "tiercel compare a.deck b.deck --seeds 20 --seed 3 --set a.b=1 --set-b c.d=2 "
                               "--set-b=e.f=3 --format json", NULL));
    CU_ASSERT_EQUAL(options.command, COMMAND_COMPARE);
    CU_ASSERT_STRING_EQUAL(options.words[1], "b.deck");
    CU_ASSERT_EQUAL(options.seeds, 20);
    CU_ASSERT_EQUAL(options.settings->len, 2);
    CU_ASSERT_EQUAL_FATAL(options.settings_b->len, 2);
    CU_ASSERT_STRING_EQUAL(g_array_index(options.settings_b, struct deck_setting, 1).where, "--set-b e.f=3");
    CU_ASSERT_STRING_EQUAL(options.format, "json");
    options_release(&options);

    CU_ASSERT_TRUE_FATAL(parse(&options, "tiercel sweep x.deck -o out --point 7 --dry-run --array --retry --set a.b=1 "
                               "--seed 3 --test --force", NULL));
    CU_ASSERT_EQUAL(options.command, COMMAND_SWEEP);
    CU_ASSERT_EQUAL(options.point, 7);
    CU_ASSERT_TRUE(options.dry_run && options.array && options.retry && options.test && options.force);
    CU_ASSERT_EQUAL(options.settings->len, 2);
    options_release(&options);

    CU_ASSERT_TRUE_FATAL(parse(&options, "tiercel fit x.fit --profile y.costs --force --sensitivity", NULL));
    CU_ASSERT_EQUAL(options.command, COMMAND_FIT);
    CU_ASSERT_EQUAL(options.seeds, 0);
    CU_ASSERT_STRING_EQUAL(options.profile, "y.costs");
    CU_ASSERT_TRUE(options.force && options.sensitivity);
    options_release(&options);

    CU_ASSERT_FALSE_FATAL(parse(&options, "tiercel fit x.fit --set a.b=1", &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "unknown option"));
}

static void test_umlaut(void)
{
    struct options options;

    CU_ASSERT_TRUE_FATAL(parse(&options, "tiercel run \303\274.deck -o \303\274 --set deck.title=\303\274 "
                               "--summary=\377", NULL));
    CU_ASSERT_STRING_EQUAL(options.words[0], "\303\274.deck");
    CU_ASSERT_STRING_EQUAL(options.output, "\303\274");
    CU_ASSERT_STRING_EQUAL(options.summary, "\377");
    CU_ASSERT_STRING_EQUAL(setting(&options, 0)->assignment, "deck.title=\303\274");
    options_release(&options);
}

static void test_long_setting(void)
{
    struct options options;
    g_autofree char *value = g_strnfill(5000, 'x');
    g_autofree char *line = g_strdup_printf("tiercel run a --set deck.title=%s", value);
    g_autoptr(GError) error = NULL;

    CU_ASSERT_FALSE_FATAL(parse(&options, line, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "is longer than 4032 bytes"));
}

static void test_others(void)
{
    struct options options;

    CU_ASSERT_TRUE_FATAL(parse(&options, "tiercel check x --processes 16", NULL));
    CU_ASSERT_EQUAL(options.command, COMMAND_CHECK);
    CU_ASSERT_EQUAL(options.processes, 16);
    options_release(&options);
    CU_ASSERT_TRUE_FATAL(parse(&options, "tiercel --version", NULL));
    CU_ASSERT_TRUE(options.version && !options.help);
    options_release(&options);
    CU_ASSERT_TRUE_FATAL(parse(&options, "tiercel -h", NULL));
    CU_ASSERT_TRUE(options.help);
    CU_ASSERT_EQUAL(options.command, COMMAND_NONE);
    options_release(&options);
    CU_ASSERT_TRUE_FATAL(parse(&options, "tiercel run --help", NULL));
    CU_ASSERT_TRUE(options.help);
    CU_ASSERT_EQUAL(options.command, COMMAND_RUN);
    options_release(&options);
}

static void test_refused(void)
{
    static const char *const table[][2] = {
        { "tiercel", "no command is given; expected `tiercel run DECK` or `tiercel check DECK` (`tiercel --help` lists "
          "all)" },
        { "tiercel rnu x", "unknown command 'rnu'; did you mean run?" },
        { "tiercel simulate x", "unknown command 'simulate'; `tiercel --help` lists all" },
        { "tiercel --run x", "unknown option '--run'; `tiercel --help` lists all" },
        { "tiercel --verison", "unknown option '--verison'; did you mean --version?" },
        { "tiercel -- run x", "no command is given; expected it first: `tiercel run DECK` or `tiercel check DECK`" },
        { "tiercel run a --set x.y=\xff", "--set: 'x.y=\\xff' is not plain text; expected UTF-8 without control "
          "characters" },
        { "tiercel run a --seed 1\x7f", "--seed: '1\\x7f' is not plain text; expected UTF-8 without control "
          "characters" },
        { "tiercel run a\nb", "run: the deck's name 'a\\x0ab' is not plain text; expected UTF-8 without control "
          "characters" },
        { "tiercel run", "run: no deck is given; expected `tiercel run DECK`" },
        { "tiercel verify", "verify: no trace is given; expected `tiercel verify TRACE`" },
        { "tiercel diff a", "diff: 1 of 2 arguments are given; expected `tiercel diff A B`" },
        { "tiercel diff a b c", "diff: 'c' is one argument too many; expected `tiercel diff A B`" },
        { "tiercel check", "check: no deck is given; expected `tiercel check DECK`" },
        { "tiercel run a b", "run: 'b' is one argument too many; expected `tiercel run DECK`" },
        { "tiercel run a --processes 4", "unknown option '--processes'; `tiercel run --help` lists all" },
        { "tiercel check a --output=x", "unknown option '--output=x'; `tiercel check --help` lists all" },
        { "tiercel run a --forse", "unknown option '--forse'; did you mean --force?" },
        { "tiercel run a -z", "unknown option '-z'; `tiercel run --help` lists all" },
        { "tiercel run a --version", "unknown option '--version'; `tiercel run --help` lists all" },
        { "tiercel run a --seed", "missing argument for --seed; see `tiercel run --help`" },
        { "tiercel run a -o", "missing argument for -o; see `tiercel run --help`" },
        { "tiercel run a --output=", "--output: is empty; expected a path" },
        { "tiercel report a --job=", "--job: is empty; expected the id of a job" },
        { "tiercel run a --force=yes", "--force: takes no value" },
        { "tiercel run a --seed 1 --seed 2", "--seed: is given twice; expected it once" },
        { "tiercel run a -o x --output y", "--output: is given twice; expected it once" },
        { "tiercel run a -q -v", "--quiet and --verbose: are given both; expected one of them" },
        { "tiercel run a --walltime 90", "--walltime: '90' is not a clock time: minutes and seconds are two digits "
          "below 60 behind a colon; expected hours, minutes and seconds such as 01:30:00, at least 00:00:01" },
        { "tiercel run a --walltime 00:00:00", "--walltime: '00:00:00' is not in its range; expected hours, minutes "
          "and seconds such as 01:30:00, at least 00:00:01" },
        { "tiercel run a --progress 1.5", "--progress: '1.5' is not a count: it has decimals; expected a whole "
          "number of seconds such as 10; 0 for none" },
        { "tiercel run a --progress never", "--progress: 'never' is not a count: it does not begin with a digit; "
          "expected a whole number of seconds such as 10; 0 for none" },
        { "tiercel check a --processes 0", "--processes: '0' is not in its range; expected a whole number in "
          "1..1000000" },
        { "tiercel check a --processes 4294967296", "--processes: '4294967296' is not in its range; expected a whole "
          "number in 1..1000000" }
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
        struct options options;
        g_autoptr(GError) error = NULL;
        gboolean ok = parse(&options, table[i][0], &error);
        CU_ASSERT_FALSE(ok);
        if (ok) {
            printf("\naccepted: %s\n", table[i][0]);
            options_release(&options);
            continue;
        }
        CU_ASSERT_EQUAL(error->code, TIERCEL_ERROR_INPUT);
        if (strcmp(error->message, table[i][1]) != 0)
            printf("\ngot      %s\nexpected %s\n", error->message, table[i][1]);
        CU_ASSERT_STRING_EQUAL(error->message, table[i][1]);
    }
}

/* An option may have several rows, but no more than one for a command. */
static bool has_option(const char *name, unsigned command)
{
    unsigned rows = 0;
    for (const struct option_text *option = option_texts; option->name != NULL; option++)
        rows += strcmp(option->name, name) == 0 && (option->commands & 1U << command) != 0;
    CU_ASSERT(rows <= 1);
    return rows == 1;
}

/* Each option is in the help of each of its commands, and in no other. */
static void test_help(void)
{
    for (unsigned command = COMMAND_NONE; command <= COMMAND_CHECK; command++) {
        g_autofree char *help = options_help(command);
        for (const struct option_text *option = option_texts; option->name != NULL; option++) {
            g_autofree char *name = g_strdup_printf("--%s%s", option->name, option->argument != NULL ? "=" : " ");
            bool listed = strstr(help, name) != NULL;
            bool belongs = has_option(option->name, command);
            /* The closing line of the program's own help names --strict and --help in passing. */
            if (belongs || command != COMMAND_NONE)
                CU_ASSERT_EQUAL(listed, belongs);
        }
    }
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "run takes its options in any order", test_run },
        { "compare and fit have options of their own", test_many_runs },
        { "names and values need not be ASCII, whatever the locale", test_umlaut },
        { "a setting that is no line of a deck is refused", test_long_setting },
        { "check, --help and --version are understood", test_others },
        { "what is not understood is refused by name", test_refused },
        { "help lists what a command takes", test_help },
        { NULL, NULL }
    };
    return suite_run("options", tests);
}
