/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * [sweep]:  group.key = ITEM; ITEM; ...   an item is a value, or LOW..HIGH [+STEP | *FACTOR] of counts, durations or
 *                                         sizes, both ends included if they are hit
 *           zip = KEY, KEY, ...; KEY, KEY ...    keys that go on together, each with as many values
 *           repeats = N
 */
#include <string.h>

#include "deck_internal.h"

#define SWEEP_FORM "expected value; value; ... or a range of whole numbers such as 1..1024 *2"
#define REPEATS_EXPECTED "a whole number in 1..10000"

enum { REPEATS_MAX = 10000 };

struct deck_sweep_axis {
    struct deck_axis axis;
    GPtrArray *values;
    unsigned line;
    const char *path;
};

void deck_sweep_init(struct deck *deck)
{
    deck->sweep = g_array_new(FALSE, FALSE, sizeof(struct deck_entry));
    deck->axes = g_array_new(FALSE, FALSE, sizeof(struct deck_sweep_axis));
    deck->repeats = 1;
}

static struct deck_sweep_axis *axis_at(const struct deck *deck, unsigned i)
{
    return &g_array_index(deck->axes, struct deck_sweep_axis, i);
}

void deck_sweep_release(struct deck *deck)
{
    for (unsigned i = 0; i < deck->axes->len; i++)
        g_ptr_array_free(axis_at(deck, i)->values, TRUE);
    g_array_free(deck->axes, TRUE);
    g_array_free(deck->sweep, TRUE);
}

/* --- ranges --- */

struct range {
    enum quantity_type type;
    int64_t low;
    int64_t high;
    int64_t step;
    bool factor;                /* the step multiplies */
};

static bool can_range(const struct deck_key *key)
{
    return key->type == QUANTITY_COUNT || key->type == QUANTITY_DURATION || key->type == QUANTITY_SIZE;
}

/* As a deck states it, in the largest unit that it is a whole number of. */
static char *quantity_text(enum quantity_type type, int64_t value)
{
    static const struct {
        enum quantity_type type;
        int64_t factor;
        const char *name;
    } units[] = {
        { QUANTITY_DURATION, 1000000000, "s" }, { QUANTITY_DURATION, 1000000, "ms" }, { QUANTITY_DURATION, 1000, "us" },
        { QUANTITY_DURATION, 1, "ns" }, { QUANTITY_SIZE, 1 << 30, "GiB" }, { QUANTITY_SIZE, 1 << 20, "MiB" },
        { QUANTITY_SIZE, 1 << 10, "KiB" }, { QUANTITY_SIZE, 1, "B" }, { QUANTITY_COUNT, 1, "" }
    };
    unsigned i = 0;

    while (units[i].type != type || value % units[i].factor != 0 || (value == 0 && units[i].factor != 1))
        i++;
    return g_strdup_printf("%" G_GINT64_FORMAT "%s", value / units[i].factor, units[i].name);
}

static bool read_step(const struct range *range, char *text, int64_t *step, bool *factor, char **why)
{
    struct quantity q;

    *factor = *text == '*';
    if ((*text != '+' && *text != '*') ||
        !quantity_parse(*factor ? QUANTITY_COUNT : range->type, g_strchug(text + 1), NULL, &q, NULL)) {
        *why = g_strdup("its step is not +STEP or *FACTOR");
        return false;
    }
    *step = q.integer;
    return true;
}

/* `low` and `high` are its ends as stated, for their own check. */
static bool read_range(enum quantity_type type, const char *text, struct range *range, char **low, char **high,
                       char **why)
{
    const char *dots = strstr(text, "..");
    g_auto(GStrv) rest = g_strsplit(dots + 2, " ", 2);
    struct quantity a;
    struct quantity b;

    *low = g_strstrip(g_strndup(text, (size_t)(dots - text)));
    *high = g_strdup(rest[0] == NULL ? "" : rest[0]);
    *range = (struct range){ .type = type, .step = 1 };
    if (!quantity_parse(type, *low, NULL, &a, NULL) || !quantity_parse(type, *high, NULL, &b, NULL)) {
        *why = g_strdup(type == QUANTITY_COUNT ? "its ends are not whole numbers"
                                               : "its ends are not quantities with their units");
        return false;
    }
    range->low = a.integer;
    range->high = b.integer;
    if (rest[0] != NULL && rest[1] != NULL) {
        if (!read_step(range, g_strstrip(rest[1]), &range->step, &range->factor, why))
            return false;
    } else if (type != QUANTITY_COUNT) {
        *why = g_strdup("it has no step (+STEP or *FACTOR)");
    }
    if (*why == NULL && range->low > range->high)
        *why = g_strdup("its low end is above its high end");
    else if (*why == NULL && !range->factor && range->step < 1)
        *why = g_strdup("its step is 0");
    else if (*why == NULL && range->factor && (range->step < 2 || range->low < 1))
        *why = g_strdup("a range with a factor begins at 1 or above, and its factor is 2 or above");
    return *why == NULL;
}

/* How many values a range has: more than DECK_SWEEP_POINTS_MAX are not counted further. */
static bool fill_range(const struct range *range, GPtrArray *values)
{
    int64_t value = range->low;

    for (;;) {
        if (values->len >= DECK_SWEEP_POINTS_MAX)
            return false;
        g_ptr_array_add(values, quantity_text(range->type, value));
        if (range->factor ? value > range->high / range->step : value > range->high - range->step)
            return true;
        value = range->factor ? value * range->step : value + range->step;
    }
}

/* --- entries --- */

static void complain_range(struct deck *deck, const struct deck_file *file, const struct deck_entry *entry,
                           const char *text, const char *why)
{
    g_autofree char *quoted = quantity_quote(text);

    deck_complain_at(deck, file->path, entry->line, "[sweep] %s: %s is not a range: %s; " SWEEP_FORM, entry->key,
                     quoted, why);
}

static bool check_value(struct deck *deck, const struct deck_key *key, const struct deck_file *file,
                        const struct deck_entry *entry, const char *text)
{
    struct deck_value value;
    g_autoptr(GError) error = NULL;

    if (deck_key_parse(key, text, &value, &error)) {
        g_free(value.text);
        return true;
    }
    deck_complain_at(deck, file->path, entry->line, "[sweep] %s: %s", entry->key, error->message);
    return false;
}

static void take_item(struct deck *deck, const struct deck_key *key, const struct deck_file *file,
                      const struct deck_entry *entry, const char *text, GPtrArray *values)
{
    g_autofree char *why = NULL;
    g_autofree char *low = NULL;
    g_autofree char *high = NULL;
    struct range range;

    if (strstr(text, "..") == NULL || !can_range(key)) {
        if (check_value(deck, key, file, entry, text))
            g_ptr_array_add(values, deck_value_text(key, file->path, text));
        return;
    }
    if (!read_range((enum quantity_type)key->type, text, &range, &low, &high, &why)) {
        complain_range(deck, file, entry, text, why);
        return;
    }
    if (check_value(deck, key, file, entry, low) && check_value(deck, key, file, entry, high) &&
        !fill_range(&range, values))
        deck_complain_at(deck, file->path, entry->line, "[sweep] %s: has more than %d values; expected fewer, such as "
                         "a range with a larger step", entry->key, DECK_SWEEP_POINTS_MAX);
}

static void read_repeats(struct deck *deck, const struct deck_file *file, const struct deck_entry *entry)
{
    g_autoptr(GError) error = NULL;
    struct quantity q;

    if (!quantity_parse(QUANTITY_COUNT, entry->value, REPEATS_EXPECTED, &q, &error)) {
        deck_complain_at(deck, file->path, entry->line, "[sweep] repeats: %s", error->message);
    } else if (q.count < 1 || q.count > REPEATS_MAX) {
        g_autofree char *quoted = quantity_quote(entry->value);
        deck_complain_at(deck, file->path, entry->line, "[sweep] repeats: %s is not in its range; expected "
                         REPEATS_EXPECTED, quoted);
    } else {
        deck->repeats = (unsigned)q.count;
    }
}

void deck_read_sweep(struct deck *deck, const struct deck_file *file, const struct deck_entry *entry)
{
    g_autofree char *prefix = g_strdup_printf("[sweep] %s", entry->key);

    g_array_append_val(deck->sweep, *entry);
    if (strcmp(entry->key, "repeats") == 0)
        read_repeats(deck, file, entry);
    if (strcmp(entry->key, "repeats") == 0 || strcmp(entry->key, "zip") == 0)
        return;
    int index = deck_find_dotted(deck, entry->key, file->path, entry->line, prefix);
    if (index < 0)
        return;
    struct deck_sweep_axis axis = {
        .axis = { .key = entry->key, .schema_key = &deck->schema->keys[index], .set = deck->axes->len },
        .values = g_ptr_array_new_with_free_func(g_free), .line = entry->line, .path = file->path
    };
    g_auto(GStrv) items = g_strsplit(entry->value, ";", 0);
    for (unsigned i = 0; items[i] != NULL; i++)
        take_item(deck, axis.axis.schema_key, file, entry, g_strstrip(items[i]), axis.values);
    g_array_append_val(deck->axes, axis);
}

/* --- the whole --- */

static struct deck_sweep_axis *find_axis(const struct deck *deck, const char *key)
{
    for (unsigned i = 0; i < deck->axes->len; i++)
        if (strcmp(axis_at(deck, i)->axis.key, key) == 0)
            return axis_at(deck, i);
    return NULL;
}

/* Joins one list of keys: all get the first one's set. */
static void join(struct deck *deck, const char *path, unsigned line, const char *list, bool *joined)
{
    g_auto(GStrv) keys = g_strsplit(list, ",", 0);
    struct deck_sweep_axis *first = NULL;

    if (keys[0] == NULL || keys[1] == NULL) {
        g_autofree char *quoted = quantity_quote(list);
        deck_complain_at(deck, path, line, "[sweep] zip: %s is not a list of keys; expected two or more that go on "
                         "together, such as cluster.nodes, workload.jobs", quoted);
        return;
    }
    for (unsigned i = 0; keys[i] != NULL; i++) {
        struct deck_sweep_axis *axis = find_axis(deck, g_strstrip(keys[i]));
        g_autofree char *quoted = quantity_quote(keys[i]);
        if (axis == NULL) {
            deck_complain_at(deck, path, line, "[sweep] zip: %s is not a key of this [sweep]; expected keys that have "
                             "values here", quoted);
            return;
        }
        unsigned index = (unsigned)(axis - axis_at(deck, 0));
        if (joined[index])
            deck_complain_at(deck, path, line, "[sweep] zip: %s stands there twice; expected each key once", quoted);
        joined[index] = true;
        if (first == NULL)
            first = axis;
        else if (axis->values->len != first->values->len)
            deck_complain_at(deck, path, line, "[sweep] zip: %s has %u values and '%s' %u; expected as many, since "
                             "they go on together", quoted, axis->values->len, first->axis.key, first->values->len);
        axis->axis.set = first->axis.set;
    }
}

static void check_count(struct deck *deck)
{
    const struct deck_entry *entry = &g_array_index(deck->sweep, struct deck_entry, 0);
    double points = deck->repeats;

    for (unsigned i = 0; i < deck->axes->len; i++)
        if (axis_at(deck, i)->axis.set == i)
            points *= axis_at(deck, i)->values->len;
    if (points > DECK_SWEEP_POINTS_MAX)
        deck_complain_at(deck, deck_path(deck), entry->line, "[sweep]: has %.0f points; expected at most %d", points,
                         DECK_SWEEP_POINTS_MAX);
    deck->points = points > DECK_SWEEP_POINTS_MAX ? 0 : (unsigned)points;
}

void deck_check_sweep(struct deck *deck)
{
    g_autofree bool *joined = g_new0(bool, deck->axes->len + 1);
    const struct deck_sweep_axis *seed = find_axis(deck, "run.seed");

    if (deck->sweep->len == 0)
        return;
    for (unsigned i = 0; i < deck->sweep->len; i++) {
        const struct deck_entry *entry = &g_array_index(deck->sweep, struct deck_entry, i);
        if (strcmp(entry->key, "zip") != 0)
            continue;
        g_auto(GStrv) lists = g_strsplit(entry->value, ";", 0);
        for (unsigned l = 0; lists[l] != NULL; l++)
            join(deck, deck_path(deck), entry->line, g_strstrip(lists[l]), joined);
    }
    /* The set of a list is its first key's, which may come later in the group than another of its keys. */
    for (unsigned i = 0; i < deck->axes->len; i++) {
        unsigned set = axis_at(deck, i)->axis.set;
        for (unsigned k = i + 1; set > i && k < deck->axes->len; k++)
            if (axis_at(deck, k)->axis.set == set)
                axis_at(deck, k)->axis.set = i;
        axis_at(deck, i)->axis.set = MIN(set, i);
    }
    if (seed != NULL && deck->repeats > 1)
        deck_complain_at(deck, seed->path, seed->line, "[sweep] run.seed: has values of its own, and repeats gives "
                         "each repeat its seed; expected one of the two");
    check_count(deck);
}

void deck_refuse_sweep(struct deck *deck)
{
    if (deck->sweep->len > 0)
        deck_complain_at(deck, deck_path(deck), g_array_index(deck->sweep, struct deck_entry, 0).line,
                         "[sweep]: asks for many runs, and this is one; expected `tiercel sweep`, `tiercel run "
                         "--point N`, or a deck without [sweep]");
}

void deck_drop_sweep(struct deck *deck)
{
    g_array_set_size(deck->sweep, 0);
    deck->points = 0;
}

/* --- points --- */

unsigned deck_sweep_points(const struct deck *deck)
{
    return deck->points;
}

unsigned deck_sweep_repeats(const struct deck *deck)
{
    return deck->repeats;
}

const struct deck_axis *deck_axis(const struct deck *deck, unsigned i)
{
    return i < deck->axes->len ? &axis_at(deck, i)->axis : NULL;
}

unsigned deck_axis_values(const struct deck *deck, unsigned axis)
{
    return axis_at(deck, axis)->values->len;
}

const char *deck_axis_value(const struct deck *deck, unsigned axis, unsigned i)
{
    return axis_at(deck, axis)->values->pdata[i];
}

const char *deck_point_value(const struct deck *deck, unsigned axis, unsigned point)
{
    unsigned stride = deck->repeats;
    unsigned set = axis_at(deck, axis)->axis.set;

    g_assert(point < deck->points);
    for (unsigned i = deck->axes->len; i-- > set + 1;)
        if (axis_at(deck, i)->axis.set == i)
            stride *= axis_at(deck, i)->values->len;
    return deck_axis_value(deck, axis, point / stride % deck_axis_values(deck, axis));
}

unsigned deck_point_repeat(const struct deck *deck, unsigned point)
{
    return point % deck->repeats;
}
