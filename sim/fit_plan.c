/* SPDX-License-Identifier: BSD-3-Clause */
#include "fit_plan.h"

#include <math.h>
#include <string.h>

#include "least_squares.h"
#include "trace/summary.h"

enum { SEEDS_DEFAULT = 4, SEEDS_MAX = 1000, ROWS_MAX = 1000 };
#define STEP_DEFAULT 0.1

/* What is read before it is put together. */
struct reading {
    struct fit_plan *plan;
    const struct deck_file *file;
    GArray *start;                  /* struct deck_setting */
};

static void complain_at(void *data, const char *path, unsigned line, const char *text)
{
    struct fit_plan *plan = data;

    g_ptr_array_add(plan->problems, line == 0 ? g_strdup_printf("%s: %s", path, text)
                                              : g_strdup_printf("%s:%u: %s", path, line, text));
}

static void complain(struct reading *r, const struct deck_entry *entry, const char *format, ...) G_GNUC_PRINTF(3, 4);

static void complain(struct reading *r, const struct deck_entry *entry, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *full = entry->key == NULL ? g_strdup_printf("[%s]: %s", entry->group, text)
                                               : g_strdup_printf("[%s] %s: %s", entry->group, entry->key, text);
    complain_at(r->plan, r->file->path, entry->line, full);
}

/* --- values --- */

static bool read_quantity(struct reading *r, const struct deck_entry *entry, enum quantity_type type,
                          struct quantity *q)
{
    g_autoptr(GError) why = NULL;

    if (quantity_parse(type, entry->value, NULL, q, &why))
        return true;
    complain(r, entry, "%s", why->message);
    return false;
}

/* A plain decimal number above 0. */
static bool read_number(const char *text, double *number)
{
    char *end;

    if (!g_ascii_isdigit(*text) || strspn(text, "0123456789.") != strlen(text))
        return false;
    *number = g_ascii_strtod(text, &end);
    return *end == '\0' && isfinite(*number) && *number > 0;
}

/* What values of a key of the summary are stated as; QUANTITY_TYPES: plain numbers. */
static enum quantity_type type_of(const char *key)
{
    static const struct {
        const char *unit;
        enum quantity_type type;
    } types[] = {
        { "s", QUANTITY_DURATION }, { "1/s", QUANTITY_RATE }, { "MiB/s", QUANTITY_RATE },
        { "B/s", QUANTITY_BANDWIDTH }, { "B", QUANTITY_SIZE }
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(types); i++)
        if (strcmp(types[i].unit, summary_key_unit(key)) == 0)
            return types[i].type;
    return QUANTITY_TYPES;
}

static bool read_value(struct reading *r, const struct deck_entry *entry, const char *key, double *value)
{
    enum quantity_type type = type_of(key);
    struct quantity q;

    if (type == QUANTITY_TYPES) {
        if (read_number(entry->value, value))
            return true;
        g_autofree char *quoted = quantity_quote(entry->value);
        complain(r, entry, "%s is not a number above 0; expected one such as 0.25", quoted);
        return false;
    }
    if (!read_quantity(r, entry, type, &q))
        return false;
    *value = (double)q.integer / (type == QUANTITY_RATE ? 1e6 : type == QUANTITY_DURATION ? 1e9 : 1);
    if (*value > 0)
        return true;
    complain(r, entry, "is 0; expected a value above it, since what is fitted is its logarithm");
    return false;
}

static bool read_share(struct reading *r, const struct deck_entry *entry, double *share)
{
    struct quantity q;

    if (!read_quantity(r, entry, QUANTITY_PERCENTAGE, &q))
        return false;
    *share = (double)q.percentage_ppm / 1e6;
    if (*share > 0 && *share <= 1)
        return true;
    g_autofree char *quoted = quantity_quote(entry->value);
    complain(r, entry, "%s is out of range; expected a share above 0%% and up to 100%%", quoted);
    return false;
}

static void add_setting(GArray *settings, const char *path, unsigned line, const char *assignment)
{
    deck_settings_add(settings, g_strdup_printf("%s:%u", path, line), g_strdup(assignment));
}

/* --- [fit] and [free] --- */

static void take_fit(struct reading *r, const struct deck_entry *entry)
{
    struct fit_plan *plan = r->plan;
    struct quantity q;

    if (strcmp(entry->key, "format") == 0) {
        if (read_quantity(r, entry, QUANTITY_COUNT, &q) && q.count != 1)
            complain(r, entry, "is not a form that this program reads; expected 1");
    } else if (strcmp(entry->key, "title") == 0) {
        g_free(plan->title);
        plan->title = g_strdup(entry->value);
    } else if (strcmp(entry->key, "profile") == 0) {
        g_autofree char *assignment = g_strdup_printf("costs.profile=%s", entry->value);
        add_setting(r->start, r->file->path, entry->line, assignment);
    } else if (strcmp(entry->key, "seeds") == 0) {
        if (!read_quantity(r, entry, QUANTITY_COUNT, &q))
            return;
        if (q.count < 1 || q.count > SEEDS_MAX)
            complain(r, entry, "is out of range; expected a whole number in 1..%d", SEEDS_MAX);
        else
            plan->seeds = (unsigned)q.count;
    } else if (strcmp(entry->key, "step") == 0) {
        if (read_share(r, entry, &plan->step))
            plan->step = log1p(plan->step);
    } else {
        complain(r, entry, "unknown key; expected format, title, profile, seeds or step");
    }
}

#define FREE_FORM "expected its range and the costs that it is a factor of, such as 0.25..4 costs.kvs-apply"

static void take_free(struct reading *r, const struct deck_entry *entry)
{
    g_auto(GStrv) words = g_strsplit_set(entry->value, " ", 0);
    const char *dots = strstr(words[0], "..");
    g_autofree char *low = dots == NULL ? NULL : g_strndup(words[0], (size_t)(dots - words[0]));
    struct fit_free free = { .name = NULL };

    if (dots == NULL || !read_number(low, &free.low) || !read_number(dots + 2, &free.high)) {
        complain(r, entry, "has no range; " FREE_FORM);
        return;
    }
    if (free.low > 1 || free.high < 1 || free.low == free.high) {
        complain(r, entry, "has a range without 1 or without width; expected one around 1, where the fit begins");
        return;
    }
    free.keys = g_ptr_array_new_with_free_func(g_free);
    for (char **word = &words[1]; *word != NULL; word++)
        if (**word != '\0')
            g_ptr_array_add(free.keys, g_strdup(*word));
    if (free.keys->len == 0)
        complain(r, entry, "names no cost; " FREE_FORM);
    free.name = g_strdup(entry->key);
    g_array_append_val(r->plan->frees, free);
}

/* --- rows --- */

struct row_entries {
    const struct deck_entry *deck;
    const struct deck_entry *set;
    const struct deck_entry *key;
    const struct deck_entry *value;
    const struct deck_entry *uncertainty;
    const struct deck_entry *source;
};

static bool collect_row(struct reading *r, const char *group, struct row_entries *found)
{
    const struct {
        const char *key;
        const struct deck_entry **entry;
    } known[] = {
        { "deck", &found->deck }, { "set", &found->set }, { "key", &found->key }, { "value", &found->value },
        { "uncertainty", &found->uncertainty }, { "source", &found->source }
    };
    bool good = true;

    for (unsigned e = 0; e < r->file->entries->len; e++) {
        const struct deck_entry *entry = deck_file_entry(r->file, e);
        unsigned i = 0;
        if (entry->repeated || strcmp(entry->group, group) != 0)
            continue;
        while (i < G_N_ELEMENTS(known) && strcmp(known[i].key, entry->key) != 0)
            i++;
        if (i < G_N_ELEMENTS(known)) {
            *known[i].entry = entry;
            continue;
        }
        complain(r, entry, "unknown key; expected deck, set, key, value, uncertainty or source");
        good = false;
    }
    return good;
}

/* Decks stand relative to the fit file; a plain name is that of an installed one. */
static char *deck_path_of(const struct reading *r, const char *stated)
{
    bool bare = strchr(stated, '/') == NULL && !g_str_has_suffix(stated, ".deck");

    if (bare || g_path_is_absolute(stated) || strchr(r->file->path, '/') == NULL)
        return g_strdup(stated);
    g_autofree char *folder = g_path_get_dirname(r->file->path);
    return g_build_filename(folder, stated, NULL);
}

static void take_row(struct reading *r, const struct deck_entry *group)
{
    struct row_entries found = { NULL };
    struct fit_row row = { .name = NULL };
    bool good = collect_row(r, group->group, &found);

    if (found.deck == NULL || found.key == NULL || found.value == NULL || found.uncertainty == NULL) {
        complain(r, group, "is not complete; expected deck, key, value and uncertainty");
        return;
    }
    if (!summary_key_known(found.key->value)) {
        complain(r, found.key, "is not a key of the summary; expected one such as jobs.run_rate");
        good = false;
    }
    good = read_value(r, found.value, found.key->value, &row.value) && good;
    good = read_share(r, found.uncertainty, &row.uncertainty) && good;
    if (!good)
        return;
    row.name = g_strdup(group->group + strlen("row."));
    row.deck = deck_path_of(r, found.deck->value);
    row.key = g_strdup(found.key->value);
    row.stated = g_strdup_printf("%s +- %s", found.value->value, found.uncertainty->value);
    row.source = g_strdup(found.source == NULL ? "" : found.source->value);
    row.settings = deck_settings_new();
    deck_settings_copy(row.settings, r->start);
    g_auto(GStrv) own = g_strsplit(found.set == NULL ? "" : found.set->value, ";", 0);
    for (char **assignment = own; *assignment != NULL; assignment++)
        if (*g_strstrip(*assignment) != '\0')
            add_setting(row.settings, r->file->path, found.set->line, *assignment);
    g_array_append_val(r->plan->rows, row);
}

/* --- the file --- */

static void take_entries(struct reading *r)
{
    for (unsigned i = 0; i < r->file->entries->len; i++) {
        const struct deck_entry *entry = deck_file_entry(r->file, i);
        if (entry->repeated)
            continue;
        if (strcmp(entry->group, "fit") == 0) {
            take_fit(r, entry);
        } else if (strcmp(entry->group, "free") == 0) {
            take_free(r, entry);
        } else if (strcmp(entry->group, "start") == 0) {
            g_autofree char *assignment = g_strdup_printf("%s=%s", entry->key, entry->value);
            add_setting(r->start, r->file->path, entry->line, assignment);
        }
    }
    for (unsigned i = 0; i < r->file->groups->len; i++) {
        const struct deck_entry *group = &g_array_index(r->file->groups, struct deck_entry, i);
        if (g_str_has_prefix(group->group, "row.") && group->group[strlen("row.")] != '\0')
            take_row(r, group);
        else if (strcmp(group->group, "fit") != 0 && strcmp(group->group, "free") != 0 &&
                 strcmp(group->group, "start") != 0)
            complain(r, group, "unknown group; expected fit, free, start or row.NAME");
    }
}

static void check_whole(struct fit_plan *plan, const struct deck_file *file)
{
    const struct deck_entry *first = file->entries->len > 0 ? deck_file_entry(file, 0) : NULL;

    if (file->broken)
        return;
    if (first == NULL || strcmp(first->group, "fit") != 0 || strcmp(first->key, "format") != 0)
        complain_at(plan, file->path, first == NULL ? 0 : first->line, "[fit] format: is not the first entry; expected "
                    "[fit] and format = 1 before anything else");
    if (plan->problems->len > 0)
        return;
    if (plan->frees->len == 0 || plan->frees->len > LEAST_SQUARES_PARAMETERS_MAX)
        complain_at(plan, file->path, 0, "[free]: names no cost, or more than 64; expected NAME = LOW..HIGH KEY ...");
    if (plan->rows->len == 0 || plan->rows->len > ROWS_MAX)
        complain_at(plan, file->path, 0, "has no row, or more than 1000; expected [row.NAME] for each measured value");
}

struct fit_plan *fit_plan_load(const char *path, const struct deck_reader *reader)
{
    struct fit_plan *plan = g_new0(struct fit_plan, 1);
    g_autoptr(GError) error = NULL;
    GBytes *bytes = reader->read(reader->data, path, &error);

    plan->path = g_strdup(path);
    plan->title = g_strdup("");
    plan->seeds = SEEDS_DEFAULT;
    plan->step = log1p(STEP_DEFAULT);
    plan->frees = g_array_new(FALSE, FALSE, sizeof(struct fit_free));
    plan->rows = g_array_new(FALSE, FALSE, sizeof(struct fit_row));
    plan->problems = g_ptr_array_new_with_free_func(g_free);
    if (bytes == NULL) {
        g_autofree char *text = g_strdup_printf("%s; expected the path of a fit file", error->message);
        complain_at(plan, path, 0, text);
        return plan;
    }
    struct deck_file *file = deck_file_scan(path, bytes, complain_at, plan);
    struct reading reading = { plan, file, deck_settings_new() };
    g_bytes_unref(bytes);
    take_entries(&reading);
    check_whole(plan, file);
    g_array_free(reading.start, TRUE);
    deck_file_free(file);
    return plan;
}

void fit_plan_free(struct fit_plan *plan)
{
    for (unsigned i = 0; i < plan->frees->len; i++) {
        struct fit_free *free = &g_array_index(plan->frees, struct fit_free, i);
        g_free(free->name);
        g_ptr_array_free(free->keys, TRUE);
    }
    for (unsigned i = 0; i < plan->rows->len; i++) {
        struct fit_row *row = &g_array_index(plan->rows, struct fit_row, i);
        g_free(row->name);
        g_free(row->deck);
        g_array_free(row->settings, TRUE);
        g_free(row->key);
        g_free(row->stated);
        g_free(row->source);
    }
    g_array_free(plan->frees, TRUE);
    g_array_free(plan->rows, TRUE);
    g_ptr_array_free(plan->problems, TRUE);
    g_free(plan->title);
    g_free(plan->path);
    g_free(plan);
}
