/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the manual page tiercel-trace(5), in mdoc: what a run leaves. Roles with their metrics and kinds, tables with
 * their columns, and the keys of the summary come from the tables that the program itself uses; where a thing stands in
 * the file is told here, and tests/python/ holds that a trace has just these things. Run by make.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "doc/manual.h"
#include "ranks/batch.h"
#include "ranks/file_program.h"
#include "ranks/mount.h"
#include "ranks/phold.h"
#include "ranks/plain_tasks.h"
#include "ranks/queueing.h"
#include "ranks/roles.h"
#include "ranks/storage.h"
#include "ranks/task_service.h"
#include "ranks/writer.h"
#include "scenario_brokered.h"
#include "trace/part.h"
#include "trace/summary.h"
#include "trace/summary_keys.h"

/* --- what stands where --- */

struct place {
    const char *name;
    const char *text;
};

static const struct place attributes[] = {
    { "format", "the text \"tiercel trace\"" },
    { "format_version", "1; what is there keeps its meaning as long as this stays" },
    { "software", "the text \"tiercel\"" },
    { "software_version", "of the program that wrote it" },
    { "date", "when the run began, ISO 8601 with the zone" },
    { "hostname", "of process 0" },
    { "command_line", "as typed" },
    { "seed", "run.seed" },
    { "processes", "MPI processes of the run" },
    { "level", "stats, jobs or events" },
    { "deck_sha256", "hash of the deck as it was read" },
    { "digest", "hash of the run, 32 hexadecimal digits; empty until its end" },
    { "end", "how it ended: \"ended\", \"stop-after\" (run.stop-after), or \"stopped\" by a signal or a wall limit; "
             "empty until then" },
    { "end_ns", "virtual time at the end" },
    { "walltime_s", "real time that the run took" },
    { "figures", "where counters, series and histograms stand: 0 or 1 below /flush_0 or /flush_1, 2 here" },
    { "complete", "1 when the run has ended and all is there; set last" },
};

static const struct place layout[] = {
    { "/config/deck", "the deck as it was read, a text" },
    { "/config/effective", "every value that was in force; it can be run again" },
    { "/config/summary", "the summary, as in summary.json" },
    { "/counters/ROLE/METRIC", "a total over the run" },
    { "/series/ROLE/METRIC", "one value a bin, with the attributes bin_start_ns, bin_width_ns and total. Of a metric "
                             "of type sample or stage: how many values fell into the bin" },
    { "/histograms/ROLE/METRIC/lower", "the smallest value of each filled bucket. The group has the attributes count, "
                                       "mean, smallest, largest, p50, p99, relative_error, and sum_high and sum_low, "
                                       "the halves of a 128-bit sum" },
    { "/histograms/ROLE/METRIC/upper", "the largest value of each filled bucket" },
    { "/histograms/ROLE/METRIC/count", "values in it" },
    { "/stages/COLUMN", "a row a stage of a job's path: role, name, count, and in nanoseconds mean, p50, p99, "
                        "smallest, largest" },
    { "/roles/COLUMN", "a row a role: name, actors, handled, busy_fraction, blocked_fraction, mean_queue, "
                       "mean_wait (s)" },
    { "/TABLE/COLUMN", "the tables below; a table has the attributes columns, rows (only so many are right), order "
                       "and long_name" },
    { "/actors/role", "level events: each actor's role, an index into role_name" },
    { "/actors/node", "each actor's simulated node" },
    { "/actors/role_name", "names of the roles" },
    { "/kinds/kind", "level events: the numbers of message kinds" },
    { "/kinds/name", "and their names" },
};

static void print_places(const struct place *places, unsigned count)
{
    puts(".Bl -tag -width Ds");
    for (unsigned i = 0; i < count; i++) {
        printf(".It Li %s\n", places[i].name);
        manual_sentence(places[i].text);
    }
    puts(".El");
}

/* --- tables --- */

static const char *column_type(enum table_type type)
{
    static const char *const names[] = { [TABLE_U8] = "8-bit unsigned", [TABLE_U16] = "16-bit unsigned",
                                         [TABLE_U32] = "32-bit unsigned", [TABLE_U64] = "64-bit unsigned",
                                         [TABLE_I64] = "64-bit signed", [TABLE_ENUM] = "enumeration" };
    return names[type];
}

static void print_table(const char *kind, const struct table *t)
{
    printf(".Ss /%s\n", t->name);
    printf("%s: ", kind);
    manual_sentence(t->text);
    puts(".Bl -tag -width Ds");
    for (unsigned c = 0; c < t->column_count; c++) {
        const struct table_column *column = &t->columns[c];
        printf(".It Li %s\n", column->name);
        manual_sentence(column->text);
        printf("%s, unit %s.\n", column_type(column->type), column->unit);
        for (unsigned n = 0; column->names != NULL && column->names[n] != NULL; n++)
            printf(".Li %u = %s%s\n", n, column->names[n], column->names[n + 1] != NULL ? " ," : " .");
    }
    puts(".El");
}

static void print_tables(void)
{
    struct brokered brokered = { .by_role = false };

    brokered_describe_tables(&brokered);
    for (unsigned t = 0; t < G_N_ELEMENTS(brokered.tables); t++)
        print_table("Kind brokered", &brokered.tables[t]);
    for (unsigned t = 0; t < BATCH_TABLES; t++)
        print_table("Kind batch", &batch_tables[t]);
    struct table writes = { "writes", "one row a write that ended", mount_write_columns, MOUNT_WRITE_COLUMNS };
    print_table("Kind io", &writes);
    print_table("Level events, every kind", &events_table);
}

/* --- roles --- */

static const struct role *const dispatcher_roles[] = {
    &role_lb_client, &role_dispatcher, &role_task_executor, &role_provisioner, &role_plain_client,
    &role_plain_dispatcher, &role_plain_executor, NULL
};
static const struct role *const file_roles[] = {
    &role_writer, &role_mount, &role_meeting, &role_storage, &role_file_program, NULL
};
static const struct role *const batch_roles[] = { &role_batch, NULL };
static const struct role *const queueing_roles[] = { &role_source, &role_station, NULL };
static const struct role *const phold_roles[] = { &role_phold, NULL };

static const struct system {
    const char *kind;
    const struct role *const *roles;
    const char *note;
} systems[] = {
    { "brokered", roles, "" },
    { "dispatcher", dispatcher_roles, "" },
    { "io", file_roles, "Where jobs or tasks write, mount and storage stand beside the roles of their system; with "
                        "kind io each role's name is followed by that of its group, as in writer-file" },
    { "batch", batch_roles, "" },
    { "queueing", queueing_roles, "Each station's name is that of its group" },
    { "phold", phold_roles, "" },
};

static void print_metrics(const struct role *role)
{
    static const char *const types[] = { [METRIC_COUNTER] = "counter", [METRIC_SERIES] = "series",
                                         [METRIC_SAMPLE] = "sample", [METRIC_STAGE] = "stage" };

    if (role->metrics == NULL || role->metrics->name == NULL)
        return;
    puts(".Bl -tag -width Ds");
    for (const struct metric *m = role->metrics; m->name != NULL; m++) {
        printf(".It Li %s\n", m->name);
        manual_sentence(m->text);
        printf("%c%s, unit %s.\n", g_ascii_toupper(types[m->type][0]), types[m->type] + 1, m->unit);
    }
    puts(".El");
}

static void print_kinds(const struct role *role)
{
    if (role->kinds == NULL || role->kinds->name == NULL)
        return;
    puts("Kinds of messages:");
    puts(".Bl -tag -width Ds -compact");
    for (const struct kind_name *k = role->kinds; k->name != NULL; k++) {
        printf(".It Li %s Pq 0x%04x\n", k->name, k->kind);
        manual_sentence(k->text);
    }
    puts(".El");
}

static void print_role(const struct role *role)
{
    printf(".Ss %s\n", role->name);
    manual_sentence(role->text);
    print_metrics(role);
    print_kinds(role);
}

static void print_roles(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(systems); i++) {
        printf(".Sh ROLES OF KIND %s\n", systems[i].kind);
        if (*systems[i].note != '\0')
            manual_sentence(systems[i].note);
        for (const struct role *const *role = systems[i].roles; *role != NULL; role++)
            print_role(*role);
    }
}

/* --- the summary --- */

static void print_key(const char *name, enum summary_type type, const char *text)
{
    static const char *const types[] = { [SUMMARY_TEXT] = "text", [SUMMARY_FLAG] = "true or false",
                                         [SUMMARY_COUNT] = "a count", [SUMMARY_NUMBER] = "a number" };
    const char *unit = summary_key_unit(name);

    printf(".It Li %s\n", name);
    manual_sentence(text);
    if (strcmp(unit, "1") == 0)
        printf("%c%s.\n", g_ascii_toupper(types[type][0]), types[type] + 1);
    else
        printf("%c%s, unit %s.\n", g_ascii_toupper(types[type][0]), types[type] + 1, unit);
}

static void print_summary(void)
{
    for (unsigned g = 0; g < SUMMARY_GROUPS; g++) {
        printf(".Ss %s\n", summary_group_names[g]);
        manual_sentence(summary_group_texts[g]);
        puts(".Bl -tag -width Ds");
        for (unsigned k = 0; k < summary_key_count; k++)
            if (summary_keys[k].group == g)
                print_key(summary_keys[k].name, summary_keys[k].type, summary_keys[k].text);
        puts(".El");
    }
    for (unsigned l = 0; l < SUMMARY_LISTS; l++) {
        printf(".Ss %s.NAME\n", summary_list_names[l]);
        manual_sentence(summary_list_texts[l]);
        puts(".Bl -tag -width Ds");
        for (unsigned k = 0; summary_entry_keys[l][k].name != NULL; k++)
            print_key(summary_entry_keys[l][k].name, summary_entry_keys[l][k].type, summary_entry_keys[l][k].text);
        puts(".El");
    }
}

/* --- the page --- */

static const char *const head =
    ".\\\" SPDX-License-Identifier: BSD-3-Clause\n"
    ".Dd November 30, 2026\n"
    ".Dt TIERCEL-TRACE 5\n"
    ".Os tiercel " PACKAGE_VERSION "\n"
    ".Sh NAME\n"
    ".Nm tiercel-trace\n"
    ".Nd what a run of tiercel leaves: trace and summary\n"
    ".Sh DESCRIPTION\n"
    "A run leaves a trace,\n"
    ".Pa trace.h5 ,\n"
    "and its figures as a short document,\n"
    ".Pa summary.json .\n"
    "The trace is a plain HDF5 file that\n"
    ".Xr h5ls 1 ,\n"
    ".Xr h5dump 1 ,\n"
    "h5py and every other program on HDF5 read, whatever HDF5 they were built with.\n"
    "It begins with 512 bytes of text (HDF5's user block), which have the size of the file and the checksum (CRC-32)\n"
    "of all that follows, or say that the run has not ended.\n"
    ".Ql tiercel verify\n"
    "checks it.\n"
    ".Pp\n"
    "Every dataset has the attributes\n"
    ".Li units\n"
    "and\n"
    ".Li long_name .\n"
    "Times are 64-bit integers of nanoseconds of virtual time, unless the unit is s.\n"
    "In names of groups and datasets all but letters and digits is\n"
    ".Ql _ :\n"
    "the role kvs-root is\n"
    ".Li kvs_root ;\n"
    "the attribute\n"
    ".Li role\n"
    "of the group has the true name.\n"
    ".Pp\n"
    "The level\n"
    ".Pq trace.level\n"
    "says how much is there:\n"
    ".Li stats\n"
    "has everything but tables of jobs and messages;\n"
    ".Li jobs ,\n"
    "the default, adds a row a job, and\n"
    ".Li events\n"
    "a row a handled message.\n"
    "A file whose run was killed opens, and is right up to its last flush.\n"
    ".Sh ATTRIBUTES OF THE FILE\n";

static const char *const summary_head =
    ".Sh SUMMARY\n"
    "The summary is a JSON object with the number\n"
    ".Li format ,\n"
    "1, and an object for each of the following groups whose part is in the deck.\n"
    "A number that has no value, such as a mean of nothing, is null.\n"
    "In decks\n"
    ".Pq Li [expect] ,\n"
    "in the options of programs and in the table of a sweep a key is\n"
    ".Li group.key ,\n"
    "as in\n"
    ".Li jobs.run_rate ,\n"
    "or\n"
    ".Li list.NAME.key ,\n"
    "as in\n"
    ".Li stages.alloc.mean_s .\n"
    "Keys are never renamed without a new format number.\n";

static const char *const tail =
    ".Sh TABLE OF A SWEEP\n"
    ".Ql tiercel sweep\n"
    "leaves\n"
    ".Pa results.tsv ,\n"
    "whose first line names the columns, and the same as\n"
    ".Pa results.h5\n"
    "with the groups\n"
    ".Li point ,\n"
    ".Li parameters\n"
    "and\n"
    ".Li results ;\n"
    "a row a point.\n"
    "Columns are point, status (done, failed, open), repeat, seed, reason; then the swept keys of the deck, in base\n"
    "units where they are quantities; then every key of the summary that does not depend on the machine.\n"
    ".Sh EXAMPLES\n"
    "The first jobs of a run, and the latency distribution of a stage:\n"
    ".Bd -literal\n"
    "h5dump -d /jobs/submit -s 0 -c 10 trace.h5\n"
    "h5dump -g /histograms/job_manager/alloc trace.h5\n"
    ".Ed\n"
    ".Sh SEE ALSO\n"
    ".Xr h5dump 1 ,\n"
    ".Xr tiercel 1 ,\n"
    ".Xr tiercel-deck 5\n";

int main(void)
{
    fputs(head, stdout);
    print_places(attributes, G_N_ELEMENTS(attributes));
    puts(".Sh LAYOUT\nWhile a run goes on, counters, series, histograms and stages stand below\n"
         ".Li /flush_0\nor\n.Li /flush_1 .");
    print_places(layout, G_N_ELEMENTS(layout));
    puts(".Sh TABLES");
    print_tables();
    print_roles();
    fputs(summary_head, stdout);
    print_summary();
    fputs(tail, stdout);
    return ferror(stdout) || fflush(stdout) != 0;
}
