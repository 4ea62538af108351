/* SPDX-License-Identifier: BSD-3-Clause */
#include "deck.h"

#include <string.h>

#include "deck_internal.h"

enum { PROBLEMS_SHOWN = 50, STRANGER_PROBLEMS_SHOWN = 10 };

static void clear_setting(void *data)
{
    struct deck_setting *setting = data;

    g_free(setting->where);
    g_free(setting->assignment);
}

GArray *deck_settings_new(void)
{
    GArray *settings = g_array_new(FALSE, FALSE, sizeof(struct deck_setting));

    g_array_set_clear_func(settings, clear_setting);
    return settings;
}

void deck_settings_add(GArray *settings, char *where, char *assignment)
{
    struct deck_setting setting = { where, assignment };

    g_array_append_val(settings, setting);
}

void deck_settings_copy(GArray *settings, const GArray *from)
{
    for (unsigned i = 0; i < from->len; i++) {
        const struct deck_setting *setting = &g_array_index(from, struct deck_setting, i);
        deck_settings_add(settings, g_strdup(setting->where), g_strdup(setting->assignment));
    }
}

unsigned deck_index(const struct deck *deck, const char *group, const char *key)
{
    int index = deck_schema_find(deck->schema, group, key);

    if (index < 0)
        g_error("no key [%s] %s in the schema", group, key);
    return (unsigned)index;
}

static const struct deck_held *held_of(const struct deck *deck, const char *group, const char *key)
{
    const struct deck_held *held = &deck->held[deck_index(deck, group, key)];

    if (!held->has)
        g_error("[%s] %s was asked for and has no value", group, key);
    return held;
}

bool deck_has(const struct deck *deck, const char *group, const char *key)
{
    return deck->held[deck_index(deck, group, key)].has;
}

bool deck_usable(const struct deck *deck, const char *group, const char *key)
{
    return !deck->held[deck_index(deck, group, key)].bad;
}

int64_t deck_integer(const struct deck *deck, const char *group, const char *key)
{
    const struct deck_held *held = held_of(deck, group, key);

    g_assert(held->value.quantity.type <= QUANTITY_CLOCK_TIME);
    return held->value.quantity.integer;
}

int64_t deck_integer_or(const struct deck *deck, const char *group, const char *key, int64_t otherwise)
{
    return deck_has(deck, group, key) ? deck_integer(deck, group, key) : otherwise;
}

bool deck_boolean(const struct deck *deck, const char *group, const char *key)
{
    const struct deck_held *held = held_of(deck, group, key);

    g_assert(held->value.quantity.type == QUANTITY_BOOLEAN);
    return held->value.quantity.boolean != 0;
}

struct distribution deck_distribution(const struct deck *deck, const char *group, const char *key)
{
    const struct deck_held *held = held_of(deck, group, key);

    g_assert(held->value.quantity.type == QUANTITY_DISTRIBUTION);
    return held->value.quantity.distribution;
}

struct cost deck_cost(const struct deck *deck, const char *group, const char *key)
{
    const struct deck_held *held = held_of(deck, group, key);

    g_assert(held->value.quantity.type == QUANTITY_COST);
    return held->value.quantity.cost;
}

void deck_costs(const struct deck *deck, const struct cost_name *names, void *costs)
{
    for (const struct cost_name *name = names; name->key != NULL; name++)
        *cost_named(costs, name) = deck_cost(deck, "costs", name->key);
}

bool deck_is_live(const struct deck *deck)
{
    return deck_choice(deck, "run", "clock", NULL) == 1;
}

unsigned deck_choice(const struct deck *deck, const char *group, const char *key, int64_t *count)
{
    const struct deck_held *held = held_of(deck, group, key);

    if (count != NULL)
        *count = held->value.quantity.count;
    return held->value.choice;
}

const char *deck_text(const struct deck *deck, const char *group, const char *key)
{
    return held_of(deck, group, key)->value.text;
}

const char *deck_where(const struct deck *deck, const char *group, const char *key)
{
    return held_of(deck, group, key)->where;
}

const char *deck_name(const struct deck *deck)
{
    return deck->name;
}

const char *deck_path(const struct deck *deck)
{
    return ((const struct deck_file *)deck->files->pdata[0])->path;
}

unsigned deck_expectation_count(const struct deck *deck)
{
    return deck->expectations->len;
}

const struct deck_expectation *deck_expectation(const struct deck *deck, unsigned i)
{
    g_assert(i < deck->expectations->len);
    return &g_array_index(deck->expectations, struct deck_expectation, i);
}

bool deck_comparable(const struct deck *deck)
{
    return deck->comparable && deck_boolean(deck, "deck", "comparable");
}

/* --- problems --- */

char *deck_place(const char *path, unsigned line)
{
    return line == 0 ? g_strdup(path) : g_strdup_printf("%s:%u", path, line);
}

static unsigned place_order(const struct deck *deck, const char *path)
{
    unsigned i = 0;

    while (i < deck->place_order->len && strcmp(deck->place_order->pdata[i], path) != 0)
        i++;
    return i;
}

static void add_problem(struct deck *deck, const char *path, unsigned line, const char *text)
{
    g_autofree char *place = deck_place(path, line);
    struct deck_problem problem = { .order = place_order(deck, path), .line = line, .index = deck->problems->len };

    problem.text = g_strdup_printf("%s: %s", place, text);
    g_array_append_val(deck->problems, problem);
}

void deck_complain_at(struct deck *deck, const char *path, unsigned line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    add_problem(deck, path, line, text);
}

void deck_complain(struct deck *deck, const char *group, const char *key, const char *format, ...)
{
    struct deck_held *held = &deck->held[deck_index(deck, group, key)];
    va_list arguments;

    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *full = g_strdup_printf("[%s] %s: %s", group, key, text);
    /* What was never stated is the deck's matter. */
    add_problem(deck, held->path != NULL ? held->path : deck_path(deck), held->line, full);
    held->bad = true;
}

unsigned deck_problem_count(const struct deck *deck)
{
    return deck->problems->len;
}

static int compare_problems(const void *a, const void *b)
{
    const struct deck_problem *x = a;
    const struct deck_problem *y = b;

    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Of a file that is no deck at all each line is a problem, and the first ones say it. */
static unsigned problems_shown(const struct deck *deck)
{
    const struct deck_file *file = deck->files->pdata[0];

    return file->groups->len == 0 ? STRANGER_PROBLEMS_SHOWN : PROBLEMS_SHOWN;
}

char *deck_problems_text(const struct deck *deck)
{
    unsigned shown = problems_shown(deck);
    g_autofree struct deck_problem *sorted = g_memdup2(deck->problems->data,
                                                       deck->problems->len * sizeof(struct deck_problem));
    GString *text = g_string_new(NULL);

    if (deck->problems->len > 0)
        qsort(sorted, deck->problems->len, sizeof *sorted, compare_problems);
    for (unsigned i = 0; i < deck->problems->len && i < shown; i++)
        g_string_append_printf(text, "%s\n", sorted[i].text);
    if (deck->problems->len > shown)
        g_string_append_printf(text, "%s: and %u more problems\n", deck_path(deck), deck->problems->len - shown);
    return g_string_free(text, FALSE);
}

void deck_print_problems(const struct deck *deck, const char *outcome, FILE *out)
{
    unsigned count = deck->problems->len;
    g_autofree char *text = deck_problems_text(deck);

    if (count > 0)
        fprintf(out, "%stiercel: %s: %u problem%s; %s\n", text, deck_path(deck), count, count == 1 ? "" : "s", outcome);
}

/* --- the end --- */

void deck_free(struct deck *deck)
{
    if (deck == NULL)
        return;
    for (unsigned i = 0; i < deck->schema->key_count; i++) {
        g_free(deck->held[i].value.text);
        g_free(deck->held[i].where);
    }
    g_free(deck->held);
    for (unsigned i = 0; i < deck->tests->len; i++)
        g_free(g_array_index(deck->tests, struct deck_test, i).text);
    for (unsigned i = 0; i < deck->problems->len; i++)
        g_free(g_array_index(deck->problems, struct deck_problem, i).text);
    g_array_free(deck->tests, TRUE);
    g_array_free(deck->problems, TRUE);
    g_array_free(deck->expectations, TRUE);
    deck_sweep_release(deck);
    g_ptr_array_free(deck->place_order, TRUE);
    g_ptr_array_free(deck->files, TRUE);
    deck_unname_groups(deck);
    g_string_chunk_free(deck->places);
    g_free(deck->name);
    g_free(deck);
}
