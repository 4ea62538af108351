/* SPDX-License-Identifier: BSD-3-Clause */
#include "fit_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trial.h"

/* --- costs as text --- */

static int64_t scaled(int64_t value, double factor)
{
    return value == 0 ? 0 : MAX(llround((double)value * factor), 1);
}

char *fit_cost_text(const struct fit_cost *cost, double factor)
{
    struct cost value = {
        .fixed_ns = scaled(cost->cost.fixed_ns, factor),
        .per_byte_ps = scaled(cost->cost.per_byte_ps, factor),
        .per_entry_ns = scaled(cost->cost.per_entry_ns, factor)
    };
    return cost_text(&value);
}

/* --- the decks --- */

static struct trial_request request_of(const struct fit_row *row)
{
    return (struct trial_request){
        .deck = row->deck, .settings = (const struct deck_setting *)row->settings->data,
        .setting_count = row->settings->len
    };
}

static bool complain(const struct fit_model *model, const char *where, const char *format, ...) G_GNUC_PRINTF(3, 4);

static bool complain(const struct fit_model *model, const char *where, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (model->share->process == 0)
        fprintf(stderr, "tiercel: %s: %s: %s\n", model->plan->path, where, text);
    return false;
}

/* Group and name of a dotted key whose value can be scaled; -1 when it is not one. */
static int find_key(const struct fit_model *model, const char *free, const char *dotted, char **group)
{
    const struct deck_schema *schema = deck_schema_tiercel();
    const char *dot = strrchr(dotted, '.');
    int index;

    *group = dot == NULL ? g_strdup("") : g_strndup(dotted, (size_t)(dot - dotted));
    index = dot == NULL ? -1 : deck_schema_find(schema, *group, dot + 1);
    if (index < 0) {
        g_autofree char *suggestion = dot == NULL ? g_strdup("expected group.key, such as costs.kvs-apply")
                                                  : deck_schema_suggest(schema, *group, dot + 1);
        complain(model, free, "%s is not a key of a deck; %s", dotted, suggestion);
        return -1;
    }
    if (schema->keys[index].type == QUANTITY_COST || schema->keys[index].type == QUANTITY_DURATION)
        return index;
    complain(model, free, "%s has no duration that a factor could change; expected a cost or a duration", dotted);
    return -1;
}

/* Takes the value from the first row's deck, and compares it with the others. */
static bool take_cost(struct fit_model *model, const struct deck *deck, unsigned row_index, unsigned free_index,
                      unsigned key_index)
{
    const struct fit_row *row = &g_array_index(model->plan->rows, struct fit_row, row_index);
    const struct fit_free *free = &g_array_index(model->plan->frees, struct fit_free, free_index);
    const char *dotted = free->keys->pdata[key_index];
    GArray *costs = ((GPtrArray *)model->costs->pdata[row_index])->pdata[free_index];
    struct fit_cost cost = { .key = dotted };
    g_autofree char *group = NULL;
    int index = find_key(model, free->name, dotted, &group);

    if (index < 0)
        return false;
    const struct deck_key *key = &deck_schema_tiercel()->keys[index];
    if (!deck_has(deck, group, key->name))
        return complain(model, row->name, "%s has no value in %s; expected a deck that uses it", dotted, row->deck);
    cost.is_cost = key->type == QUANTITY_COST;
    if (cost.is_cost)
        cost.cost = deck_cost(deck, group, key->name);
    else
        cost.cost.fixed_ns = deck_integer(deck, group, key->name);
    g_autofree char *here = fit_cost_text(&cost, 1);
    if (strcmp(here, "0ns") == 0)
        return complain(model, row->name, "%s is 0 in %s (%s), which no factor changes; expected a value to begin "
                        "with, for example in [start]", dotted, row->deck, deck_where(deck, group, key->name));
    g_array_append_val(costs, cost);
    if (row_index == 0 || !model->alike)
        return true;
    const GArray *first = fit_model_costs(model, 0, free_index);
    g_autofree char *before = fit_cost_text(&g_array_index(first, struct fit_cost, key_index), 1);
    if (strcmp(before, here) != 0)
        return complain(model, row->name, "%s is %s in %s (%s), and %s in the rows before; expected one value for all, "
                        "for example in [start]", dotted, here, row->deck, deck_where(deck, group, key->name), before);
    return true;
}

/* All costs that the deck, its bases or its profile state. */
static void take_profile(struct fit_model *model, const struct deck *deck)
{
    const struct deck_schema *schema = deck_schema_tiercel();

    for (unsigned i = 0; i < schema->key_count; i++) {
        const struct deck_key *key = &schema->keys[i];
        if (strcmp(key->group, "costs") != 0 || strcmp(key->name, "profile") == 0 ||
            !deck_has(deck, "costs", key->name) || strcmp(deck_where(deck, "costs", key->name), "default") == 0 ||
            g_hash_table_contains(model->profile, key->name))
            continue;
        g_hash_table_insert(model->profile, g_strdup(key->name), g_strdup(deck_text(deck, "costs", key->name)));
        g_ptr_array_add(model->profile_order, (gpointer)key->name);
    }
}

static void free_costs(gpointer costs)
{
    g_array_free(costs, TRUE);
}

static void free_row_costs(gpointer costs)
{
    g_ptr_array_free(costs, TRUE);
}

static GPtrArray *new_costs(unsigned count)
{
    GPtrArray *costs = g_ptr_array_new_with_free_func(free_costs);

    for (unsigned f = 0; f < count; f++)
        g_ptr_array_add(costs, g_array_new(FALSE, FALSE, sizeof(struct fit_cost)));
    return costs;
}

static bool are_same(const struct fit_row *a, const struct fit_row *b)
{
    bool same = strcmp(a->deck, b->deck) == 0 && a->settings->len == b->settings->len;

    for (unsigned i = 0; i < a->settings->len && same; i++)
        same = strcmp(g_array_index(a->settings, struct deck_setting, i).assignment,
                      g_array_index(b->settings, struct deck_setting, i).assignment) == 0;
    return same;
}

static void find_played(struct fit_model *model, unsigned row_index)
{
    const struct fit_row *row = &g_array_index(model->plan->rows, struct fit_row, row_index);
    unsigned first = 0;

    while (!are_same(row, &g_array_index(model->plan->rows, struct fit_row, first)))
        first++;
    model->played[row_index] = first;
    if (first == row_index)
        g_array_append_val(model->distinct, row_index);
}

static bool take_row(struct fit_model *model, unsigned row_index)
{
    const struct fit_row *row = &g_array_index(model->plan->rows, struct fit_row, row_index);
    struct trial_request request = request_of(row);
    struct deck *deck;
    bool good = true;
    int status;

    if (!trial_check(&request, model->share, &status))
        return false;
    deck = trial_deck(&request, model->share);
    for (unsigned f = 0; f < model->plan->frees->len; f++) {
        const struct fit_free *free = &g_array_index(model->plan->frees, struct fit_free, f);
        for (unsigned k = 0; k < free->keys->len && good; k++)
            good = take_cost(model, deck, row_index, f, k);
    }
    find_played(model, row_index);
    take_profile(model, deck);
    deck_free(deck);
    return good;
}

static bool check_once(const struct fit_model *model)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

    for (unsigned f = 0; f < model->plan->frees->len; f++) {
        const struct fit_free *free = &g_array_index(model->plan->frees, struct fit_free, f);
        for (unsigned k = 0; k < free->keys->len; k++)
            if (!g_hash_table_add(seen, free->keys->pdata[k]))
                return complain(model, free->name, "%s is free twice; expected it once",
                                (const char *)free->keys->pdata[k]);
    }
    return true;
}

gboolean fit_model_init(struct fit_model *model, const struct fit_plan *plan, bool alike, struct share *share,
                        int64_t progress_s)
{
    *model = (struct fit_model){ .plan = plan, .share = share, .progress_s = progress_s, .alike = alike };
    model->costs = g_ptr_array_new_with_free_func(free_row_costs);
    model->played = g_new0(unsigned, plan->rows->len);
    model->distinct = g_array_new(FALSE, FALSE, sizeof(unsigned));
    model->profile = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    model->profile_order = g_ptr_array_new();
    bool good = check_once(model);
    for (unsigned i = 0; i < plan->rows->len && good; i++) {
        g_ptr_array_add(model->costs, new_costs(plan->frees->len));
        good = take_row(model, i);
    }
    if (!good)
        fit_model_release(model);
    return good;
}

void fit_model_release(struct fit_model *model)
{
    g_ptr_array_free(model->costs, TRUE);
    g_hash_table_destroy(model->profile);
    g_ptr_array_free(model->profile_order, TRUE);
    g_free(model->played);
    g_array_free(model->distinct, TRUE);
}

const GArray *fit_model_costs(const struct fit_model *model, unsigned row, unsigned free)
{
    return ((const GPtrArray *)model->costs->pdata[row])->pdata[free];
}

/* --- playing --- */

/* The row's settings and the free costs. */
static GArray *settings_of(const struct fit_model *model, unsigned row_index, const double *theta)
{
    const struct fit_row *row = &g_array_index(model->plan->rows, struct fit_row, row_index);
    GArray *settings = deck_settings_new();

    deck_settings_copy(settings, row->settings);
    for (unsigned f = 0; f < model->plan->frees->len; f++) {
        const GArray *costs = fit_model_costs(model, row_index, f);
        for (unsigned k = 0; k < costs->len; k++) {
            const struct fit_cost *cost = &g_array_index(costs, struct fit_cost, k);
            g_autofree char *text = fit_cost_text(cost, exp(theta[f]));
            deck_settings_add(settings, g_strdup("fit"), g_strdup_printf("%s=%s", cost->key, text));
        }
    }
    return settings;
}

/* The logarithm of what a row's key holds. */
static bool look_up(const struct fit_row *row, const struct summary *summary, double *value, GError **error)
{
    double found = NAN;

    if (!summary_lookup(summary, row->key, &found, error))
        return false;
    if (found > 0) {
        *value = log(found);
        return true;
    }
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "[row.%s] key: %s is %g in %s; expected a key with a value "
                "above 0", row->name, row->key, found, row->deck);
    return false;
}

/* Plays a row's deck, and fills in all rows that are the same: values[row * seeds]. */
static void play(const struct fit_model *model, unsigned row_index, const double *theta, unsigned seed, double *values,
                 GError **error)
{
    const GArray *rows = model->plan->rows;
    const struct fit_row *row = &g_array_index(rows, struct fit_row, row_index);
    g_autoptr(GArray) settings = settings_of(model, row_index, theta);
    struct trial_request request = request_of(row);

    request.settings = (const struct deck_setting *)settings->data;
    request.setting_count = settings->len;
    request.seeded = true;
    request.seed = seed;
    struct summary *summary = trial_run(&request, error);
    bool good = summary != NULL;
    for (unsigned i = row_index; i < rows->len && good; i++)
        if (model->played[i] == row_index)
            good = look_up(&g_array_index(rows, struct fit_row, i), summary, &values[i * model->plan->seeds], error);
    summary_free(summary);
}

gboolean fit_model_evaluate(void *data, const double *thetas, unsigned count, double *values, GError **error)
{
    const struct fit_model *model = data;
    const struct fit_plan *plan = model->plan;
    size_t width = (size_t)plan->rows->len * plan->seeds;
    struct trial_round round;
    GError *local = NULL;
    unsigned i;

    memset(values, 0, count * width * sizeof *values);
    trial_begin(&round, model->share, count * model->distinct->len * plan->seeds, "fit", model->progress_s);
    while (local == NULL && trial_next(&round, &i)) {
        unsigned seed = i % plan->seeds;
        unsigned row = g_array_index(model->distinct, unsigned, i / plan->seeds % model->distinct->len);
        unsigned point = i / plan->seeds / model->distinct->len;
        play(model, row, &thetas[point * plan->frees->len], 1 + seed, &values[point * width + seed], &local);
    }
    return trial_end(&round, local, values, count * width, error);
}
