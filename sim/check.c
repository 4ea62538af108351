/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <stdio.h>

#include "scenario.h"
#include "share.h"

enum { PROCESSES_SHOWN = 16 };

static void print_plan(const struct scenario *scenario, uint32_t processes, FILE *out)
{
    g_autofree uint64_t *actors = g_new0(uint64_t, processes);
    uint32_t used = 0;

    for (uint32_t id = 0; id < scenario_actors(scenario); id++) {
        struct scenario_place place;
        scenario_place(scenario, id, processes, &place);
        if (actors[place.process]++ == 0)
            used++;
    }
    fprintf(out, "# %" G_GUINT32_FORMAT " actors on %" G_GUINT32_FORMAT " process%s", scenario_actors(scenario),
            processes, processes == 1 ? "" : "es");
    if (used < processes)
        fprintf(out, ", of which %" G_GUINT32_FORMAT " have none", processes - used);
    for (uint32_t i = 0; i < processes && i < PROCESSES_SHOWN; i++)
        fprintf(out, "%s%" G_GUINT64_FORMAT, i == 0 ? ": " : " ", actors[i]);
    fprintf(out, "%s\n", processes > PROCESSES_SHOWN ? " ..." : "");
}

/* What one process plays, as "broker 2, kvs-worker 1". */
static char *played_by(const struct scenario *scenario, uint32_t process, uint32_t processes)
{
    GString *text = g_string_new(NULL);
    g_autofree uint64_t *counts = NULL;
    const struct role *const *roles = scenario_roles(scenario);
    unsigned count = 0;

    while (roles[count] != NULL)
        count++;
    counts = g_new0(uint64_t, count);
    for (uint32_t id = 0; id < scenario_actors(scenario); id++) {
        struct scenario_place place;
        unsigned r = 0;
        scenario_place(scenario, id, processes, &place);
        while (roles[r] != place.role)
            r++;
        counts[r] += place.process == process;
    }
    for (unsigned r = 0; r < count; r++)
        if (counts[r] != 0)
            g_string_append_printf(text, "%s%s %" G_GUINT64_FORMAT, text->len == 0 ? "" : ", ", roles[r]->name,
                                   counts[r]);
    if (text->len == 0)
        g_string_append(text, "nothing");
    return g_string_free(text, FALSE);
}

static void print_live_plan(const struct scenario *scenario, uint32_t processes, FILE *out)
{
    const char *why;
    uint32_t needed = scenario_live_processes(scenario, &why);

    if (needed == 0) {
        fprintf(out, "# the live clock cannot play it: %s\n", why);
        return;
    }
    fprintf(out, "# the live clock needs at least %" G_GUINT32_FORMAT " process%s, %s\n", needed,
            needed == 1 ? "" : "es", why);
    if (processes < needed) {
        fprintf(out, "# %" G_GUINT32_FORMAT " %s not enough\n", processes, processes == 1 ? "is" : "are");
        return;
    }
    for (uint32_t i = 0; i < processes && i < PROCESSES_SHOWN; i++) {
        g_autofree char *played = played_by(scenario, i, processes);
        fprintf(out, "# process %" G_GUINT32_FORMAT " plays: %s\n", i, played);
    }
    if (processes > PROCESSES_SHOWN)
        fprintf(out, "# ... and so on\n");
}

static void print_rows(const struct scenario *scenario, FILE *out)
{
    unsigned tables;
    const struct table *table = scenario_tables(scenario, &tables);
    uint64_t rows = scenario_rows(scenario);

    for (unsigned i = 0; i < tables; i++) {
        if (rows == UINT64_MAX)
            fprintf(out, "# a row of %zu bytes in table %s for each of its jobs\n", table_row_size(&table[i]),
                    table[i].name);
        else
            fprintf(out, "# %" G_GUINT64_FORMAT " rows of %zu bytes in table %s\n", rows, table_row_size(&table[i]),
                    table[i].name);
    }
}

int check_deck(const struct deck *deck, const struct scenario *scenario, uint32_t processes, const struct share *share)
{
    g_autofree char *effective = deck_effective(deck);

    if (share->process != 0)
        return TIERCEL_OK;
    fputs(effective, stdout);
    fputs("\n# What a run needs:\n", stdout);
    print_plan(scenario, processes, stdout);
    if (deck_is_live(deck))
        print_live_plan(scenario, processes, stdout);
    print_rows(scenario, stdout);
    scenario_describe(scenario, stdout);
    return TIERCEL_OK;
}
