/* SPDX-License-Identifier: BSD-3-Clause */
#include "deck.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

/* --- a schema and a file system of our own --- */

static const struct deck_group groups[] = {
    { "deck", DECK_ALL_KINDS, false, "" },
    { "system", DECK_ALL_KINDS, false, "" },
    { "cluster", DECK_ALL_KINDS, false, "" },
    { "heap", 2, false, "" },
    { "costs", DECK_ALL_KINDS, false, "" },
    { "expect", DECK_ALL_KINDS, true, "" },
    { "test", DECK_ALL_KINDS, true, "" },
    { "sweep", DECK_ALL_KINDS, true, "" },
    { NULL, 0, false, NULL }
};

static const struct deck_key keys[] = {
    { "deck", "format", QUANTITY_COUNT, NULL, "1", "1", NULL, NULL, DECK_ALL_KINDS,
      DECK_REQUIRED | DECK_UNMODELLED | DECK_OWN, "" },
    { "deck", "title", DECK_TEXT, NULL, NULL, NULL, NULL, NULL, DECK_ALL_KINDS, DECK_UNMODELLED, "" },
    { "deck", "base", DECK_FILE, NULL, NULL, NULL, NULL, NULL, DECK_ALL_KINDS, DECK_UNMODELLED | DECK_OWN, "" },
    { "deck", "scale", QUANTITY_PERCENTAGE, NULL, NULL, NULL, NULL, NULL, DECK_ALL_KINDS, DECK_UNMODELLED | DECK_OWN,
      "" },
    { "deck", "comparable", QUANTITY_BOOLEAN, "true", NULL, NULL, NULL, NULL, DECK_ALL_KINDS,
      DECK_UNMODELLED | DECK_OWN, "" },
    { "system", "kind", DECK_CHOICE, NULL, NULL, NULL, "brokered|dispatcher", NULL, DECK_ALL_KINDS, DECK_REQUIRED, "" },
    { "system", "seed", QUANTITY_COUNT, "1", NULL, NULL, NULL, NULL, DECK_ALL_KINDS, DECK_UNMODELLED, "" },
    { "cluster", "nodes", QUANTITY_COUNT, "1", "1", "16384", NULL, NULL, DECK_ALL_KINDS, 0, "" },
    { "cluster", "cores", QUANTITY_COUNT, "4", "1", NULL, NULL, NULL, DECK_ALL_KINDS, 0, "" },
    { "cluster", "latency", QUANTITY_DURATION, "50us", "1ns", "1h", NULL, NULL, DECK_ALL_KINDS, 0, "" },
    { "cluster", "stop-after", QUANTITY_DURATION, NULL, NULL, NULL, NULL, NULL, DECK_ALL_KINDS, 0, "" },
    { "cluster", "mode", DECK_CHOICE, "single", NULL, NULL, "single|unlimited|limited:N", NULL, DECK_ALL_KINDS, 0, "" },
    { "cluster", "source", DECK_CHOICE, "bulk", NULL, NULL, "bulk|files|log", NULL, DECK_ALL_KINDS, 0, "" },
    { "cluster", "dir", DECK_DIRECTORY, NULL, NULL, NULL, NULL, "cluster.source=files|log", DECK_ALL_KINDS, 0, "" },
    { "cluster", "jobs", QUANTITY_COUNT, "10", NULL, NULL, NULL, "cluster.source=bulk", DECK_ALL_KINDS, 0, "" },
    { "heap", "size", QUANTITY_SIZE, "1GB", NULL, NULL, NULL, NULL, 2, 0, "" },
    { "costs", "profile", DECK_NAME, NULL, NULL, NULL, NULL, NULL, DECK_ALL_KINDS, 0, "" },
    { "costs", "move", QUANTITY_DURATION, "1us", NULL, NULL, NULL, NULL, DECK_ALL_KINDS, 0, "" },
    { "costs", "share", QUANTITY_PERCENTAGE, "0%", NULL, NULL, NULL, NULL, DECK_ALL_KINDS, 0, "" },
    { "costs", "send", QUANTITY_COST, "1us", NULL, NULL, NULL, NULL, DECK_ALL_KINDS, 0, "" },
    { "costs", "store", QUANTITY_COST, "2us", NULL, NULL, NULL, NULL, DECK_ALL_KINDS, 0, "" }
};

static const char *const kinds[] = { "brokered", "dispatcher", NULL };

static const struct deck_schema schema = { groups, keys, G_N_ELEMENTS(keys), kinds };

struct file {
    const char *path;
    const char *text;
};

static GBytes *read_file(void *data, const char *path, GError **error)
{
    for (const struct file *file = data; file->path != NULL; file++)
        if (strcmp(file->path, path) == 0)
            return g_bytes_new_static(file->text, strlen(file->text));
    g_set_error(error, TIERCEL_ERROR, DECK_READ_ABSENT, "cannot be read: No such file or directory");
    return NULL;
}

static struct deck *load(const struct file *files, const char *path, bool test, const char *const *settings)
{
    struct deck_setting list[8];
    unsigned count = 0;

    for (; settings != NULL && settings[count] != NULL; count++)
        list[count] = (struct deck_setting){ (char *)settings[count], (char *)settings[count] + strlen("--set ") };
    struct deck_request request = {
        .schema = &schema, .path = path, .installed_dir = "/lib", .settings = list, .setting_count = count,
        .test = test, .reader = { read_file, (void *)files }
    };
    return deck_load(&request);
}

static void expect_problems(const struct file *files, const char *const *settings, const char *expected)
{
    struct deck *deck = load(files, files[0].path, false, settings);
    g_autofree char *problems = deck_problems_text(deck);

    if (strcmp(problems, expected) != 0)
        printf("\ngot:\n%sexpected:\n%s", problems, expected);
    CU_ASSERT_STRING_EQUAL(problems, expected);
    deck_free(deck);
}

#define HEAD "[deck]\nformat = 1\n[system]\nkind = brokered\n"

/* --- tests --- */

static void test_values(void)
{
    static const struct file files[] = {
        { "in/x.deck", HEAD "[cluster]\nnodes = 16\nlatency = 1ms\nmode = limited:8\nsource = log\ndir = jobs\n"
          "[costs]\nsend = 1us + 2ns/B\n" },
        { NULL, NULL }
    };
    struct deck *deck = load(files, "in/x.deck", false, NULL);
    int64_t count;

    CU_ASSERT_EQUAL_FATAL(deck_problem_count(deck), 0);
    CU_ASSERT_EQUAL(deck_integer(deck, "cluster", "nodes"), 16);
    CU_ASSERT_EQUAL(deck_integer(deck, "cluster", "cores"), 4);
    CU_ASSERT_EQUAL(deck_integer(deck, "cluster", "latency"), 1000000);
    CU_ASSERT_FALSE(deck_has(deck, "cluster", "stop-after"));
    CU_ASSERT_FALSE(deck_has(deck, "cluster", "jobs"));
    CU_ASSERT_FALSE(deck_has(deck, "heap", "size"));
    CU_ASSERT_EQUAL(deck_choice(deck, "cluster", "mode", &count), 2);
    CU_ASSERT_EQUAL(count, 8);
    CU_ASSERT_STRING_EQUAL(deck_text(deck, "cluster", "dir"), "in/jobs");
    CU_ASSERT_EQUAL(deck_cost(deck, "costs", "send").per_byte_ps, 2000);
    CU_ASSERT_STRING_EQUAL(deck_where(deck, "cluster", "nodes"), "in/x.deck:6");
    CU_ASSERT_STRING_EQUAL(deck_where(deck, "cluster", "cores"), "default");
    CU_ASSERT_STRING_EQUAL(deck_name(deck), "x");
    deck_free(deck);
}

static void test_scaled_profiles(void)
{
    static const struct file files[] = {
        { "x.deck", HEAD "[cluster]\nnodes = 1\n[costs]\nprofile = half\nmove = 9us\n" },
        { "y.deck", "[deck]\nformat = 1\nbase = x.deck\n[costs]\nprofile = own\n" },
        { "costs/half.costs", "[deck]\nformat = 1\nbase = whole.costs\nscale = 50%\n" },
        { "costs/own.costs", "[deck]\nformat = 1\nbase = half.costs\nscale = 30%\n[costs]\nstore = 7us\n" },
        { "costs/whole.costs", "[deck]\nformat = 1\n[costs]\nmove = 8us\nshare = 20%\nsend = 10us + 3ns/B\n"
          "store = 20us\n" },
        { NULL, NULL }
    };
    struct deck *deck = load(files, "x.deck", false, NULL);

    CU_ASSERT_EQUAL_FATAL(deck_problem_count(deck), 0);
    CU_ASSERT_EQUAL(deck_cost(deck, "costs", "send").fixed_ns, 5000);
    CU_ASSERT_EQUAL(deck_cost(deck, "costs", "send").per_byte_ps, 1500);
    CU_ASSERT_STRING_EQUAL(deck_text(deck, "costs", "send"), "5us + 1.5ns/B");
    CU_ASSERT_STRING_EQUAL(deck_where(deck, "costs", "send"), "costs/whole.costs:6, times 50%");
    CU_ASSERT_EQUAL(deck_integer(deck, "costs", "move"), 9000);
    CU_ASSERT_EQUAL(deck_integer(deck, "costs", "share"), 200000);
    CU_ASSERT_TRUE(deck_comparable(deck));
    deck_free(deck);

    /* Factors multiply; what a profile states itself is taken as it is. */
    deck = load(files, "y.deck", false, NULL);
    CU_ASSERT_EQUAL_FATAL(deck_problem_count(deck), 0);
    CU_ASSERT_EQUAL(deck_cost(deck, "costs", "send").fixed_ns, 1500);
    CU_ASSERT_EQUAL(deck_cost(deck, "costs", "store").fixed_ns, 7000);
    CU_ASSERT_EQUAL(deck_integer(deck, "costs", "move"), 1200);
    deck_free(deck);
}

static void test_layers(void)
{
    static const struct file files[] = {
        { "a/x.deck", "[deck]\nformat = 1\nbase = ../b/base.deck\n[cluster]\nnodes = 3\n[costs]\nsend = 30us\n" },
        { "a/../b/base.deck", "[deck]\nformat = 1\nbase = far.deck\ntitle = base\n[cluster]\nnodes = 2\ncores = 2\n"
          "[costs]\nprofile = fast\nsend = 20us\nstore = 20us\n" },
        { "a/../b/far.deck", HEAD "[cluster]\nnodes = 1\ncores = 1\nlatency = 1ns\n[costs]\nstore = 10us\n" },
        { "a/../b/costs/fast.costs", "[deck]\nformat = 1\n[costs]\nsend = 5us\nstore = 5us\n" },
        { "a/slow.costs", "[deck]\nformat = 1\n[costs]\nsend = 90us\nstore = 90us\n" },
        { "/lib/costs/own.costs", "[deck]\nformat = 1\n[costs]\nstore = 7us\n" },
        { NULL, NULL }
    };
    static const char *const settings[] = { "--set cluster.cores=9", "--set costs.profile=slow", NULL };
    static const char *const installed[] = { "--set costs.profile=own", NULL };
    struct deck *deck = load(files, "a/x.deck", false, NULL);

    CU_ASSERT_EQUAL_FATAL(deck_problem_count(deck), 0);
    CU_ASSERT_EQUAL(deck_integer(deck, "cluster", "nodes"), 3);
    CU_ASSERT_EQUAL(deck_integer(deck, "cluster", "cores"), 2);
    CU_ASSERT_EQUAL(deck_integer(deck, "cluster", "latency"), 1);
    CU_ASSERT_EQUAL(deck_cost(deck, "costs", "send").fixed_ns, 30000);
    CU_ASSERT_EQUAL(deck_cost(deck, "costs", "store").fixed_ns, 20000);
    CU_ASSERT_STRING_EQUAL(deck_text(deck, "deck", "title"), "base");
    CU_ASSERT_TRUE(deck_comparable(deck));
    deck_free(deck);

    deck = load(files, "a/x.deck", false, settings);
    CU_ASSERT_EQUAL(deck_problem_count(deck), 0);
    CU_ASSERT_EQUAL(deck_integer(deck, "cluster", "cores"), 9);
    CU_ASSERT_STRING_EQUAL(deck_where(deck, "cluster", "cores"), "--set cluster.cores=9");
    /* A profile beats bases, the deck's own cost beats the profile. */
    CU_ASSERT_EQUAL(deck_cost(deck, "costs", "send").fixed_ns, 30000);
    CU_ASSERT_EQUAL(deck_cost(deck, "costs", "store").fixed_ns, 90000);
    CU_ASSERT_STRING_EQUAL(deck_where(deck, "costs", "store"), "a/slow.costs:5");
    CU_ASSERT_FALSE(deck_comparable(deck));
    deck_free(deck);

    deck = load(files, "a/x.deck", false, installed);
    CU_ASSERT_EQUAL(deck_cost(deck, "costs", "store").fixed_ns, 7000);
    deck_free(deck);
}

static void test_installed(void)
{
    static const struct file files[] = {
        { "/lib/demo.deck", HEAD "[cluster]\nsource = files\ndir = jobs\n" },
        { "/lib/part/other.deck", HEAD "[cluster]\nsource = bulk\n" },
        { "d/mine", "[deck]\nformat = 1\nbase = demo\n[system]\nkind = brokered\n" }, { NULL, NULL }
    };
    struct deck *deck = load(files, "demo", false, NULL);

    CU_ASSERT_EQUAL(deck_problem_count(deck), 0);
    CU_ASSERT_STRING_EQUAL(deck_path(deck), "/lib/demo.deck");
    CU_ASSERT_STRING_EQUAL(deck_text(deck, "cluster", "dir"), "/lib/jobs");
    deck_free(deck);
    deck = load(files, "part/other", false, NULL);
    CU_ASSERT_EQUAL(deck_problem_count(deck), 0);
    CU_ASSERT_STRING_EQUAL(deck_path(deck), "/lib/part/other.deck");
    deck_free(deck);
    /* Beside the deck first, then among the installed ones. */
    deck = load(files, "d/mine", false, NULL);
    CU_ASSERT_EQUAL(deck_problem_count(deck), 0);
    CU_ASSERT_STRING_EQUAL(deck_text(deck, "cluster", "dir"), "/lib/jobs");
    deck_free(deck);
    deck = load(files, "other", false, NULL);
    g_autofree char *problems = deck_problems_text(deck);
    CU_ASSERT_STRING_EQUAL(problems, "other: cannot be read: No such file or directory, and no deck in /lib has this name; "
                           "expected the path of a deck, or the name of an installed one\n");
    deck_free(deck);
}

static void test_all_problems(void)
{
    static const struct file files[] = {
        { "x.deck", "[deck]\nformat = 1\nbase = y.deck\n[system]\nkind = broker\n[cluster]\nnodse = 5\nnodes = 10 ms\n"
          "cores = 0\nlatency = 2\n\n[clutser]\nx = 1\n[heap]\nnodes = 4\n[kvs]\n[costs]\nprofile = none\n" },
        { "y.deck", "[deck]\nformat = 1\n[cluster]\nnodes = 1\nnodes = 2\nmode = limited:0\nfrobnicate = 1\n" },
        { NULL, NULL }
    };
    static const char *const settings[] = {
        "--set cluster.latency=2h", "--set nonsense", "--set nodes=4", "--set expect.x=4", "--set deck.base=z", NULL
    };

    expect_problems(files, settings,
        "x.deck:5: [system] kind: 'broker' is not one of its choices; expected brokered or dispatcher\n"
        "x.deck:7: [cluster] nodse: unknown key; did you mean [cluster] nodes?\n"
        "x.deck:8: [cluster] nodes: '10 ms' is not a count: ' ms' follows the number; expected a whole number in "
        "1..16384\n"
        "x.deck:9: [cluster] cores: '0' is not in its range; expected a whole number of 1 or more\n"
        "x.deck:10: [cluster] latency: '2' is not a duration: it has no unit; expected a number with its unit (ns, us, "
        "ms, s, min, h, d) such as 150us, in 1ns..1h\n"
        "x.deck:12: [clutser]: unknown group; did you mean [cluster]?\n"
        "x.deck:15: [heap] nodes: unknown key; did you mean [cluster] nodes?\n"
        "x.deck:16: [kvs]: unknown group; expected one of deck, system, cluster, heap, costs, expect, test, sweep\n"
        "x.deck:18: [costs] profile: 'none' is not a cost profile that can be read; expected one of none.costs, "
        "costs/none.costs, /lib/none.costs, /lib/costs/none.costs\n"
        "y.deck:5: [cluster] nodes: the key stands in line 4 already; expected it once\n"
        "y.deck:6: [cluster] mode: 'limited:0' is not one of its choices; expected single, unlimited or limited:N\n"
        "y.deck:7: [cluster] frobnicate: unknown key; expected one of nodes, cores, latency, stop-after, mode, source, "
        "dir, jobs\n"
        "--set cluster.latency=2h: [cluster] latency: '2h' is not in its range; expected a number with its unit (ns, "
        "us, ms, s, min, h, d) such as 150us, in 1ns..1h\n"
        "--set nonsense: has no value; expected group.key=value, such as cluster.nodes=4\n"
        "--set nodes=4: nodes: 'nodes' is not group.key; expected for example cluster.nodes\n"
        "--set expect.x=4: expect.x: [expect] can only stand in a deck; expected a key of another group\n"
        "--set deck.base=z: deck.base: [deck] base can only stand in a deck; expected another key\n");
}

static void test_form(void)
{
    static const struct file newer[] = { { "x", "[deck]\nformat = 2\nnonsense = 4\n" }, { NULL, NULL } };
    static const struct file none[] = { { "x", "# nothing\n" }, { NULL, NULL } };
    static const struct file late[] = { { "x", "[system]\nkind = brokered\n[deck]\nformat = 1\n" }, { NULL, NULL } };
    static const struct file binary[] = { { "x", "[deck]\nformat = 1\n\x01\n" }, { NULL, NULL } };
    static const struct file missing[] = { { "x", "[deck]\nformat = 1\n" }, { NULL, NULL } };

    expect_problems(newer, NULL, "x:2: [deck] format: '2' is newer than this program reads; expected 1 (or a newer "
                    "tiercel)\n");
    expect_problems(none, NULL,
                    "x: [deck] format: is not the first entry; expected [deck] and format = 1 before anything else\n"
                    "x: [system] kind: is not stated; expected brokered or dispatcher\n");
    expect_problems(late, NULL,
                    "x:2: [deck] format: is not the first entry; expected [deck] and format = 1 before anything "
                    "else\n");
    expect_problems(binary, NULL,
                    "x:3: byte 1 of the line is the control character \\x01; expected a deck in plain text\n");
    expect_problems(missing, NULL, "x: [system] kind: is not stated; expected brokered or dispatcher\n");
}

static void test_circle(void)
{
    static const struct file own[] = { { "x", "[deck]\nformat = 1\nbase = x\n[system]\nkind = brokered\n" },
                                       { NULL, NULL } };
    static const struct file two[] = { { "d/x", "[deck]\nformat = 1\nbase = y\n[system]\nkind = brokered\n" },
                                       { "d/y", "[deck]\nformat = 1\nbase = ../d/x\n" }, { NULL, NULL } };
    static const struct file gone[] = { { "d/x", "[deck]\nformat = 1\nbase = y\n[system]\nkind = brokered\n" },
                                        { NULL, NULL } };

    expect_problems(own, NULL, "x:3: [deck] base: 'x' builds on this deck in turn; expected decks without a circle\n");
    expect_problems(two, NULL,
                    "d/y:3: [deck] base: '../d/x' builds on this deck in turn; expected decks without a circle\n");
    expect_problems(gone, NULL, "d/x:3: [deck] base: 'y' (d/y) cannot be read: No such file or directory; expected the "
                    "path of a deck, relative to this one, or the name of an installed one\n");
}

static void test_when(void)
{
    static const struct file wrong[] = { { "x", HEAD "[cluster]\nsource = bulk\ndir = d\n[heap]\nsize = 1GB\n" },
                                         { NULL, NULL } };
    static const struct file overlay[] = { { "x", "[deck]\nformat = 1\nbase = y\n[cluster]\nsource = bulk\n[system]\n"
                                             "kind = brokered\n" },
                                           { "y", "[deck]\nformat = 1\n[cluster]\nsource = files\ndir = d\n[heap]\n"
                                             "size = 2GB\n" }, { NULL, NULL } };

    expect_problems(wrong, NULL,
                    "x:7: [cluster] dir: has no meaning with [cluster] source = bulk; expected source = files|log, "
                    "or no dir here\n"
                    "x:9: [heap] size: has no meaning with [system] kind = brokered; expected kind = dispatcher, or no "
                    "size here\n");
    struct deck *deck = load(overlay, "x", false, NULL);
    CU_ASSERT_EQUAL(deck_problem_count(deck), 0);
    CU_ASSERT_FALSE(deck_has(deck, "cluster", "dir"));
    CU_ASSERT_FALSE(deck_has(deck, "heap", "size"));
    CU_ASSERT_EQUAL(deck_integer(deck, "cluster", "jobs"), 10);
    deck_free(deck);
}

static void test_test(void)
{
    static const struct file files[] = {
        { "x", "[deck]\nformat = 1\nbase = y\n[cluster]\nnodes = 100\ncores = 100\n[test]\ncluster.nodes = 2\n" },
        { "y", HEAD "[test]\ncluster.nodes = 1\ncluster.cores = 3\n" }, { NULL, NULL }
    };
    static const struct file wrong[] = {
        { "x", HEAD "[test]\ncluster.nodes = -1\ncluster.node = 1\nnodes = 1\ntest.x = 1\n" }, { NULL, NULL }
    };
    struct deck *deck = load(files, "x", false, NULL);

    CU_ASSERT_EQUAL(deck_problem_count(deck), 0);
    CU_ASSERT_EQUAL(deck_integer(deck, "cluster", "nodes"), 100);
    CU_ASSERT_TRUE(deck_comparable(deck));
    deck_free(deck);
    deck = load(files, "x", true, NULL);
    CU_ASSERT_EQUAL(deck_problem_count(deck), 0);
    CU_ASSERT_EQUAL(deck_integer(deck, "cluster", "nodes"), 2);
    CU_ASSERT_EQUAL(deck_integer(deck, "cluster", "cores"), 3);
    CU_ASSERT_FALSE(deck_comparable(deck));
    deck_free(deck);
    expect_problems(wrong, NULL,
                    "x:6: [test] cluster.nodes: '-1' is not a count: it is negative; expected a whole number in "
                    "1..16384\n"
                    "x:7: [test] cluster.node: unknown key; did you mean [cluster] nodes?\n"
                    "x:8: [test] nodes: 'nodes' is not group.key; expected for example cluster.nodes\n"
                    "x:9: [test] test.x: [test] can only stand in a deck; expected a key of another group\n");
}

#define FORM "expected a number with its unit, a tolerance and a source, such as 67.6/s 2% \"who, where\"\n"

static void test_expect(void)
{
    static const struct file files[] = {
        { "x", "[deck]\nformat = 1\nbase = y\n[expect]\njobs.run_rate = 67.6/s 2% \"PR 2792, mean of 5\"\n"
          "subscribe.namespace_calls  =  6912   0%   \"by count\"\n" },
        { "y", HEAD "[expect]\njobs.first_done_s = 1s 2% \"base\"\n" }, { NULL, NULL }
    };
    static const struct file wrong[] = {
        { "x", HEAD "[expect]\njobs.run_rate = 67.6/s\njobs.makespan_s = 067s 2% \"x\"\njobs.submitted = 5 2 \"x\"\n"
          "jobs.failed = 5 2% x\njobs.submit_rate = 5 2% \"x\"\njobs.lost = -5 2% \"x\"\njobs.retried = 5 2% \"\"\n" },
        { NULL, NULL }
    };
    struct deck *deck = load(files, "x", false, NULL);

    CU_ASSERT_EQUAL(deck_problem_count(deck), 0);
    CU_ASSERT_EQUAL_FATAL(deck_expectation_count(deck), 2);
    CU_ASSERT_STRING_EQUAL(deck_expectation(deck, 0)->key, "jobs.run_rate");
    CU_ASSERT_DOUBLE_EQUAL(deck_expectation(deck, 0)->published, 67.6, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(deck_expectation(deck, 0)->tolerance, 0.02, 1e-12);
    CU_ASSERT_STRING_EQUAL(deck_expectation(deck, 0)->source, "PR 2792, mean of 5");
    CU_ASSERT_STRING_EQUAL(deck_expectation(deck, 0)->unit, "/s");
    CU_ASSERT_EQUAL(deck_expectation(deck, 1)->published, 6912);
    CU_ASSERT_EQUAL(deck_expectation(deck, 1)->tolerance, 0);
    deck_free(deck);
    expect_problems(wrong, NULL,
        "x:6: [expect] jobs.run_rate: '67.6/s' is not an expectation: its three parts are not there; " FORM
        "x:7: [expect] jobs.makespan_s: '067s 2% \"x\"' is not an expectation: '067s' is not a number with a unit (/s, "
        "s, B or none); " FORM
        "x:8: [expect] jobs.submitted: '5 2 \"x\"' is not an expectation: '2' is not a percentage; " FORM
        "x:9: [expect] jobs.failed: '5 2% x' is not an expectation: 'x' is not a source in double quotes; " FORM
        "x:10: [expect] jobs.submit_rate: '5 2% \"x\"' has another unit than this key; expected a number and the unit "
        "/s\n"
        "x:11: [expect] jobs.lost: '-5 2% \"x\"' is not an expectation: '-5' is not a number with a unit (/s, s, B or "
        "none); " FORM
        "x:12: [expect] jobs.retried: '5 2% \"\"' is not an expectation: '\"\"' is not a source in double quotes; "
        FORM);
}

static void test_sweep(void)
{
    static const struct file files[] = {
        { "x", HEAD "[sweep]\ncluster.nodes = 1; 2; 4\ncluster.cores = 1..64 *2\ncluster.latency = 1us\n"
          "cluster.jobs = 1..100 +10\n" },
        { NULL, NULL }
    };
    static const struct file wrong[] = {
        { "x", HEAD "[sweep]\ncluster.nodes = 1; 2x\ncluster.cores = 4..1\ncluster.jobs = 0..4 *2\n"
          "cluster.node = 1; 2\ncluster.latency = 1..4\n" },
        { NULL, NULL }
    };
    struct deck *deck = load(files, "x", false, NULL);

    CU_ASSERT_EQUAL(deck_problem_count(deck), 0);
    deck_refuse_sweep(deck);
    g_autofree char *problems = deck_problems_text(deck);
    CU_ASSERT_STRING_EQUAL(problems, "x:6: [sweep]: asks for many runs, and this is one; expected `tiercel "
                           "sweep`, `tiercel run --point N`, or a deck without [sweep]\n");
    deck_free(deck);
    expect_problems(wrong, NULL,
        "x:6: [sweep] cluster.nodes: '2x' is not a count: 'x' follows the number; expected a whole number in 1..16384\n"
        "x:7: [sweep] cluster.cores: '4..1' is not a range: its low end is above its high end; expected value; value; "
        "... or a range of whole numbers such as 1..1024 *2\n"
        "x:8: [sweep] cluster.jobs: '0..4 *2' is not a range: a range with a factor begins at 1 or above, and its "
        "factor is 2 or above; expected value; value; ... or a range of whole numbers such as 1..1024 *2\n"
        "x:9: [sweep] cluster.node: unknown key; did you mean [cluster] nodes?\n"
        "x:10: [sweep] cluster.latency: '1..4' is not a range: its ends are not quantities with their units; expected "
        "value; value; ... or a range of whole numbers such as 1..1024 *2\n");
}

/* Every key of the schema has the same text, or none, in both. */
static void expect_same_values(const struct deck *a, const struct deck *b)
{
    for (unsigned i = 0; i < schema.key_count; i++) {
        const char *group = keys[i].group;
        const char *name = keys[i].name;
        if (strcmp(name, "base") == 0 || strcmp(name, "profile") == 0 || strcmp(name, "comparable") == 0)
            continue;
        CU_ASSERT_EQUAL(deck_has(a, group, name), deck_has(b, group, name));
        if (deck_has(a, group, name) && deck_has(b, group, name) && keys[i].type != DECK_DIRECTORY)
            CU_ASSERT_STRING_EQUAL(deck_text(a, group, name), deck_text(b, group, name));
    }
}

static char *without_comments(const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
    GString *rest = g_string_new(NULL);

    for (unsigned i = 0; lines[i] != NULL; i++)
        if (lines[i][0] != '#')
            g_string_append_printf(rest, "%s\n", lines[i]);
    return g_string_free(rest, FALSE);
}

static void test_effective(void)
{
    static const struct file files[] = {
        { "a/x.deck", "[deck]\nformat = 1\nbase = y.deck\n[cluster]\nnodes = 3\nsource = files\ndir = d\n[costs]\n"
          "profile = p\nsend = 3us\n[expect]\njobs.run_rate = 67.625/s 0.25% \"who = me\"\n"
          "jobs.submit_rate = 18446744073709551615.5/s   1000000000000%  \"much\"\n"
          "[test]\ncluster.cores = 1\ncluster.dir = small\n" },
        { "a/y.deck", HEAD "[cluster]\ncores = 2\n[test]\ncluster.nodes = 1\n" },
        { "a/p.costs", "[deck]\nformat = 1\n[costs]\nstore = 9us\n" },
        { NULL, NULL }
    };
    static const char *const settings[] = { "--set cluster.latency=5ms", NULL };

    for (unsigned with_settings = 0; with_settings < 2; with_settings++) {
        struct deck *deck = load(files, "a/x.deck", false, with_settings ? settings : NULL);
        g_autofree char *text = deck_effective(deck);
        struct file again[] = { { "b/e.deck", text }, { NULL, NULL } };
        struct deck *echo = load(again, "b/e.deck", false, NULL);
        g_autofree char *problems = deck_problems_text(echo);
        g_autofree char *second = deck_effective(echo);
        g_autofree char *stated = without_comments(text);
        g_autofree char *stated_again = without_comments(second);

        CU_ASSERT_STRING_EQUAL(problems, "");
        expect_same_values(deck, echo);
        CU_ASSERT_EQUAL(deck_comparable(deck), deck_comparable(echo));
        CU_ASSERT_EQUAL(deck_comparable(echo), with_settings == 0);
        CU_ASSERT_EQUAL_FATAL(deck_expectation_count(echo), 2);
        for (unsigned i = 0; i < 2; i++) {
            CU_ASSERT_EQUAL(deck_expectation(echo, i)->published, deck_expectation(deck, i)->published);
            CU_ASSERT_EQUAL(deck_expectation(echo, i)->tolerance, deck_expectation(deck, i)->tolerance);
        }
        CU_ASSERT_TRUE(g_path_is_absolute(deck_text(echo, "cluster", "dir")));
        CU_ASSERT_TRUE(g_str_has_suffix(deck_text(echo, "cluster", "dir"), "/a/d"));
        CU_ASSERT_PTR_NOT_NULL(strstr(text, "# a/p.costs:4\nstore = 9us\n"));
        CU_ASSERT_PTR_NOT_NULL(strstr(text, "cluster.nodes = 1\n"));
        CU_ASSERT_PTR_NOT_NULL(strstr(text, "/a/small\n"));
        CU_ASSERT_STRING_EQUAL(stated, stated_again);
        deck_free(echo);
        deck_free(deck);
    }
}

static void test_complain(void)
{
    static const struct file files[] = { { "x", HEAD "[cluster]\nnodes = 3\n" }, { NULL, NULL } };
    static const char *const settings[] = { "--set cluster.latency=5ms", NULL };
    struct deck *deck = load(files, "x", false, settings);

    CU_ASSERT_TRUE(deck_usable(deck, "cluster", "nodes"));
    deck_complain(deck, "cluster", "latency", "'%s' is odd", "5ms");
    deck_complain(deck, "cluster", "cores", "are too few");
    deck_complain(deck, "cluster", "nodes", "'3' is odd");
    CU_ASSERT_FALSE(deck_usable(deck, "cluster", "nodes"));
    g_autofree char *problems = deck_problems_text(deck);
    CU_ASSERT_STRING_EQUAL(problems, "x: [cluster] cores: are too few\nx:6: [cluster] nodes: '3' is odd\n"
                           "--set cluster.latency=5ms: [cluster] latency: '5ms' is odd\n");
    deck_free(deck);
}

/* The program's own table keeps its promises. */
static void test_schema(void)
{
    const struct deck_schema *own = deck_schema_tiercel();

    CU_ASSERT_TRUE(own->key_count > 60);
    for (unsigned i = 0; i < own->key_count; i++) {
        const struct deck_key *key = &own->keys[i];
        struct deck_value value = { .text = NULL };
        bool ok = key->fallback == NULL || deck_key_parse(key, key->fallback, &value, NULL);
        if (!ok)
            printf("\n[%s] %s: default %s\n", key->group, key->name, key->fallback);
        CU_ASSERT_TRUE(ok);
        g_free(value.text);
        CU_ASSERT_TRUE(deck_schema_find_group(own, key->group) >= 0);
        CU_ASSERT_EQUAL(deck_schema_find(own, key->group, key->name), (int)i);
        CU_ASSERT_TRUE(strlen(key->text) > 10 && !g_str_has_suffix(key->text, "."));
        CU_ASSERT_TRUE((key->flags & DECK_REQUIRED) == 0 || key->fallback == NULL);
        CU_ASSERT_EQUAL(key->type == DECK_CHOICE, key->choices != NULL);
    }
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "values, defaults and their places are there", test_values },
        { "defaults, bases, profile, deck and settings come in this order", test_layers },
        { "a profile is another one times a factor, but for what it states itself", test_scaled_profiles },
        { "a name is that of an installed deck, for a base as well", test_installed },
        { "all problems are told at once, in order", test_all_problems },
        { "the form comes first", test_form },
        { "a circle of bases and a missing base are refused", test_circle },
        { "a key without its choice or kind is refused, or passed over when it is a base's", test_when },
        { "[test] is checked always and applied when asked for", test_test },
        { "expectations are the deck's own", test_expect },
        { "[sweep] is checked", test_sweep },
        { "an effective deck reads as the same deck", test_effective },
        { "a scenario can complain of a value where it stands", test_complain },
        { "the program's schema is consistent", test_schema },
        { NULL, NULL }
    };
    return suite_run("deck", tests);
}
