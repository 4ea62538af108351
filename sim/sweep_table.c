/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "sweep_table.h"

#include <math.h>
#include <string.h>

#include "base/json_text.h"
#include "base/text_file.h"
#include "run_folder.h"
#include "sweep_plan.h"
#include "trace/results.h"
#include "trace/summary.h"

/* What of the summary is this machine's, not the point's. */
static const char *const machine_keys[] = {
    "run.wall_s", "run.events_per_s", "run.peak_rss_bytes", "run.bytes_per_actor"
};

static int machine_key(const char *name)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(machine_keys); i++)
        if (strcmp(machine_keys[i], name) == 0)
            return (int)i;
    return -1;
}

/* --- parameters --- */

static bool value_number(const struct deck_key *key, const char *text, double *number)
{
    struct deck_value value;
    bool good = deck_key_parse(key, text, &value, NULL);

    if (!good)
        return false;
    const struct quantity *q = &value.quantity;
    switch (key->type) {
    case QUANTITY_COUNT:
    case QUANTITY_SIZE:
    case QUANTITY_BANDWIDTH:
    case QUANTITY_CLOCK_TIME:
        *number = (double)q->integer;
        break;
    case QUANTITY_DURATION:
        *number = (double)q->integer / 1e9;
        break;
    case QUANTITY_RATE:
    case QUANTITY_PERCENTAGE:
        *number = (double)q->integer / 1e6;
        break;
    case QUANTITY_DISTRIBUTION:
        *number = (double)q->distribution.a_ns / 1e9;
        good = q->distribution.type == DISTRIBUTION_CONSTANT;
        break;
    case QUANTITY_COST:
        *number = (double)q->cost.fixed_ns / 1e9;
        good = q->cost.per_byte_ps == 0 && q->cost.per_entry_ns == 0;
        break;
    default:
        good = false;
    }
    g_free(value.text);
    return good;
}

static const char *unit_of(const struct deck_key *key, bool is_number)
{
    if (!is_number)
        return "1";
    switch (key->type) {
    case QUANTITY_SIZE:
        return "B";
    case QUANTITY_BANDWIDTH:
        return "B/s";
    case QUANTITY_RATE:
        return "1/s";
    case QUANTITY_COUNT:
    case QUANTITY_PERCENTAGE:
        return "1";
    default:
        return "s";
    }
}

static bool is_number(const struct deck *deck, unsigned axis)
{
    double number;

    for (unsigned i = 0; i < deck_axis_values(deck, axis); i++)
        if (!value_number(deck_axis(deck, axis)->schema_key, deck_axis_value(deck, axis, i), &number))
            return false;
    return true;
}

static void add_parameters(struct results *table, const struct deck *deck)
{
    const struct deck_axis *axis;

    for (unsigned a = 0; (axis = deck_axis(deck, a)) != NULL; a++) {
        bool number = is_number(deck, a);
        unsigned column = results_column(table, RESULTS_PARAMETERS, axis->key, !number,
                                         unit_of(axis->schema_key, number), axis->schema_key->text);
        for (unsigned point = 0; point < deck_sweep_points(deck); point++) {
            const char *text = deck_point_value(deck, a, point);
            double value;
            if (number && value_number(axis->schema_key, text, &value))
                results_number(table, column, point, value);
            else
                results_text(table, column, point, text);
        }
    }
}

/* --- results --- */

struct row {
    struct results *table;
    struct results *machine;        /* points.tsv */
    unsigned point;
};

static unsigned machine_column(int key)
{
    return 3 + (unsigned)key;       /* behind point, status and folder */
}

static void take_value(void *data, const char *group, const char *key, const char *text, double number)
{
    const struct row *row = data;
    g_autofree char *name = g_strdup_printf("%s.%s", group, key);
    int machine = machine_key(name);
    int column = results_find(row->table, name);

    if (machine >= 0) {
        results_number(row->machine, machine_column(machine), row->point, number);
        return;
    }
    if (column < 0)
        column = (int)results_column(row->table, RESULTS_RESULTS, name, text != NULL,
                                     text != NULL ? "1" : summary_key_unit(name),
                                     *summary_key_text(name) != '\0' ? summary_key_text(name) : name);
    /* A key that is swept is there as a parameter. */
    if (results_group(row->table, (unsigned)column) != RESULTS_RESULTS)
        return;
    if (text != NULL)
        results_text(row->table, (unsigned)column, row->point, text);
    else
        results_number(row->table, (unsigned)column, row->point, number);
}

static gboolean take_point(const struct sweep_folder *folder, struct row *row, GError **error)
{
    g_autofree char *path = sweep_folder_point_file(folder, row->point, RUN_FOLDER_SUMMARY);
    g_autoptr(GError) why = NULL;
    struct summary *summary = summary_read(path, &why);

    if (summary == NULL) {
        g_autofree char *point_folder = sweep_folder_point_file(folder, row->point, "");
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "point %u is damaged: %s; remove %s, and the same "
                    "command plays it again", row->point + 1, why->message, point_folder);
        return FALSE;
    }
    summary_each(summary, take_value, row);
    summary_each_entry(summary, take_value, row);
    summary_free(summary);
    return TRUE;
}

static const char *const state_names[] = { [SWEEP_OPEN] = "open", [SWEEP_DONE] = "done", [SWEEP_FAILED] = "failed" };

static gboolean fill(const struct sweep_folder *folder, const struct deck *deck, struct results *table,
                     struct results *machine, const struct sweep_states *states, GError **error)
{
    unsigned number = results_column(table, RESULTS_POINT, "point", false, "1", "number of the point, from 1");
    unsigned status = results_column(table, RESULTS_POINT, "status", true, "1", "done, failed or open");
    unsigned repeat = results_column(table, RESULTS_POINT, "repeat", false, "1", "number of the repeat, from 1");
    unsigned seed = results_column(table, RESULTS_POINT, "seed", false, "1", "run.seed");
    unsigned reason = results_column(table, RESULTS_POINT, "reason", true, "1", "why the point failed");

    results_column(machine, RESULTS_POINT, "point", false, "1", "");
    results_column(machine, RESULTS_POINT, "status", true, "1", "");
    results_column(machine, RESULTS_POINT, "folder", true, "1", "");
    for (unsigned i = 0; i < G_N_ELEMENTS(machine_keys); i++)
        results_column(machine, RESULTS_RESULTS, machine_keys[i], false, summary_key_unit(machine_keys[i]), "");
    add_parameters(table, deck);
    for (unsigned point = 0; point < states->points; point++) {
        enum sweep_state state = states->state[point];
        struct row row = { table, machine, point };
        results_number(table, number, point, point + 1);
        results_text(table, status, point, state_names[state]);
        results_number(table, repeat, point, deck_point_repeat(deck, point) + 1);
        results_number(table, seed, point, (double)sweep_plan_seed(deck, point));
        results_number(machine, 0, point, point + 1);
        results_text(machine, 1, point, state_names[state]);
        if (state == SWEEP_FAILED) {
            g_autofree char *why = sweep_folder_reason(folder, point);
            results_text(table, reason, point, why);
        } else if (state == SWEEP_DONE) {
            g_autofree char *point_folder = sweep_folder_point_file(folder, point, "");
            results_text(machine, 2, point, point_folder);
            if (!take_point(folder, &row, error))
                return FALSE;
        }
    }
    return TRUE;
}

/* --- the manifest --- */

static void put_parameter(GString *out, const struct deck *deck, unsigned axis)
{
    const struct deck_key *key = deck_axis(deck, axis)->schema_key;
    bool number = is_number(deck, axis);
    g_autofree char *name = json_text_string(deck_axis(deck, axis)->key);
    g_autofree char *text = json_text_string(key->text);

    g_string_append_printf(out, "%s\n    { \"key\": %s, \"unit\": \"%s\", \"set\": %u,\n      \"text\": %s,\n"
                           "      \"values\": [", axis == 0 ? "" : ",", name, number ? unit_of(key, true) : "",
                           deck_axis(deck, axis)->set + 1, text);
    for (unsigned i = 0; i < deck_axis_values(deck, axis); i++) {
        g_autofree char *value = json_text_string(deck_axis_value(deck, axis, i));
        g_string_append_printf(out, "%s%s", i == 0 ? "" : ", ", value);
    }
    g_string_append(out, "] }");
}

static gboolean write_manifest(const struct sweep_folder *folder, const struct deck *deck,
                               const struct sweep_states *states, GError **error)
{
    g_autofree char *path = sweep_folder_file(folder, SWEEP_FOLDER_MANIFEST);
    g_autofree char *name = json_text_string(deck_name(deck));
    g_autofree char *title = json_text_string(deck_has(deck, "deck", "title") ? deck_text(deck, "deck", "title") : "");
    GString *out = g_string_new(NULL);

    g_string_append_printf(out, "{\n  \"format\": %d,\n  \"version\": \"%s\",\n  \"deck\": %s,\n  \"title\": %s,\n"
                           "  \"points\": %u,\n  \"done\": %u,\n  \"failed\": %u,\n  \"open\": %u,\n"
                           "  \"repeats\": %u,\n  \"first_seed\": %" G_GUINT64_FORMAT ",\n  \"parameters\": [",
                           RESULTS_FORMAT, PACKAGE_VERSION, name, title, states->points, states->done, states->failed,
                           states->open, deck_sweep_repeats(deck), sweep_plan_seed(deck, 0));
    for (unsigned a = 0; deck_axis(deck, a) != NULL; a++)
        put_parameter(out, deck, a);
    g_string_append(out, "\n  ]\n}\n");
    gboolean good = text_file_write(path, out->str, error);
    g_string_free(out, TRUE);
    return good;
}

gboolean sweep_table_write(const struct sweep_folder *folder, const struct deck *deck, struct sweep_states *states,
                           GError **error)
{
    unsigned points = deck_sweep_points(deck);
    const char *title = deck_has(deck, "deck", "title") ? deck_text(deck, "deck", "title") : deck_name(deck);
    g_autofree char *tsv = sweep_folder_file(folder, SWEEP_FOLDER_TSV);
    g_autofree char *hdf5 = sweep_folder_file(folder, SWEEP_FOLDER_HDF5);
    g_autofree char *played = sweep_folder_file(folder, SWEEP_FOLDER_POINTS);
    int lock = sweep_folder_lock(folder, error);

    *states = (struct sweep_states){ .points = 0 };
    if (lock < 0)
        return FALSE;
    sweep_states_init(states, folder, points);
    struct results *table = results_new(title, PACKAGE_VERSION, points);
    struct results *machine = results_new(title, PACKAGE_VERSION, points);
    gboolean good = fill(folder, deck, table, machine, states, error) && results_write_tsv(table, tsv, error) &&
                    results_write_hdf5(table, hdf5, error) && results_write_tsv(machine, played, error) &&
                    write_manifest(folder, deck, states, error);
    results_free(table);
    results_free(machine);
    sweep_folder_unlock(lock);
    return good;
}
