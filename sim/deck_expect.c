/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * [expect]: a key of the summary and  NUMBER[UNIT] TOLERANCE% "SOURCE"
 * [sweep]:  group.key and  value; value; ...  or  LOW..HIGH, LOW..HIGH +STEP, LOW..HIGH *FACTOR  of whole numbers
 */
#include <string.h>

#include "deck_internal.h"
#include "trace/summary.h"

/* --- [expect] --- */

#define EXPECTED_FORM "expected a number with its unit, a tolerance and a source, such as 67.6/s 2%% \"who, where\""

/* A number with at most one of the units of the summary; plain, as in all of a deck. */
static bool read_published(const char *text, double *value, const char **unit)
{
    static const char *const units[] = { "", "/s", "s", "B" };
    const char *at = text;

    if (!g_ascii_isdigit(*at) || (*at == '0' && g_ascii_isdigit(at[1])))
        return false;
    while (g_ascii_isdigit(*at))
        at++;
    if (*at == '.') {
        if (!g_ascii_isdigit(*++at))
            return false;
        while (g_ascii_isdigit(*at))
            at++;
    }
    if (at - text > 30)
        return false;
    *value = g_ascii_strtod(text, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(units); i++)
        if (strcmp(at, units[i]) == 0) {
            *unit = units[i];
            return true;
        }
    return false;
}

static bool read_parts(char *text, struct deck_expectation *e, char **why)
{
    char *tolerance = strchr(text, ' ');
    char *source = tolerance == NULL ? NULL : strchr(g_strchug(tolerance + 1), ' ');
    struct quantity q;

    if (source == NULL) {
        *why = g_strdup("its three parts are not there");
        return false;
    }
    *tolerance++ = '\0';
    *source++ = '\0';
    tolerance = g_strchug(tolerance);
    source = g_strchug(source);
    size_t length = strlen(source);
    if (!read_published(text, &e->published, &e->unit)) {
        g_autofree char *quoted = quantity_quote(text);
        *why = g_strdup_printf("%s is not a number with a unit (/s, s, B or none)", quoted);
        return false;
    }
    if (!quantity_parse(QUANTITY_PERCENTAGE, tolerance, NULL, &q, NULL)) {
        g_autofree char *quoted = quantity_quote(tolerance);
        *why = g_strdup_printf("%s is not a percentage", quoted);
        return false;
    }
    e->tolerance = (double)q.percentage_ppm / 1e6;
    if (length < 3 || source[0] != '"' || source[length - 1] != '"' ||
        memchr(source + 1, '"', length - 2) != NULL) {
        g_autofree char *quoted = quantity_quote(source);
        *why = g_strdup_printf("%s is not a source in double quotes", quoted);
        return false;
    }
    source[length - 1] = '\0';
    e->source = source + 1;
    return true;
}

/* The unit that goes with a key of the summary: its name says it. */
static const char *unit_of(const char *key)
{
    if (g_str_has_suffix(key, "_rate") || g_str_has_suffix(key, "_per_s"))
        return "/s";
    if (g_str_has_suffix(key, "_s"))
        return "s";
    return g_str_has_suffix(key, "bytes") ? "B" : "";
}

void deck_read_expectation(struct deck *deck, const struct deck_file *file, const struct deck_entry *entry)
{
    g_autofree char *text = g_strdup(entry->value);
    g_autofree char *why = NULL;
    g_autofree char *place = deck_place(file->path, entry->line);
    struct deck_expectation e = { .key = entry->key };

    if (!summary_key_known(entry->key)) {
        deck_complain_at(deck, file->path, entry->line,
                         "[expect] %s: is not a key of the summary; expected one such as jobs.run_rate", entry->key);
        return;
    }
    if (!read_parts(text, &e, &why)) {
        g_autofree char *quoted = quantity_quote(entry->value);
        deck_complain_at(deck, file->path, entry->line, "[expect] %s: %s is not an expectation: %s; " EXPECTED_FORM,
                         entry->key, quoted, why);
        return;
    }
    if (strcmp(e.unit, unit_of(entry->key)) != 0) {
        g_autofree char *quoted = quantity_quote(entry->value);
        deck_complain_at(deck, file->path, entry->line,
                         "[expect] %s: %s has another unit than this key; expected a number%s%s", entry->key, quoted,
                         *unit_of(entry->key) == '\0' ? " without a unit" : " and the unit ", unit_of(entry->key));
        return;
    }
    /* The source is the part in quotes at the end. */
    g_autofree char *stated = g_strndup(entry->value, strlen(entry->value) - strlen(e.source) - 2);
    e.stated = g_string_chunk_insert(deck->places, g_strchomp(stated));
    e.source = g_string_chunk_insert(deck->places, e.source);
    e.where = g_string_chunk_insert(deck->places, place);
    g_array_append_val(deck->expectations, e);
}

/* --- [sweep] --- */

#define SWEEP_FORM "expected value; value; ... or a range of whole numbers such as 1..1024 *2"

static bool read_range(const char *text, char **why)
{
    const char *dots = strstr(text, "..");
    g_autofree char *low = g_strndup(text, (size_t)(dots - text));
    g_auto(GStrv) rest = g_strsplit(dots + 2, " ", 2);
    struct quantity a;
    struct quantity b;
    struct quantity step = { .count = 1 };
    char operator = '+';

    if (rest[0] == NULL || !quantity_parse(QUANTITY_COUNT, low, NULL, &a, NULL) ||
        !quantity_parse(QUANTITY_COUNT, rest[0], NULL, &b, NULL)) {
        *why = g_strdup("its ends are not whole numbers");
        return false;
    }
    if (rest[1] != NULL) {
        operator = *g_strstrip(rest[1]);
        if ((operator != '+' && operator != '*') ||
            !quantity_parse(QUANTITY_COUNT, rest[1] + 1, NULL, &step, NULL)) {
            *why = g_strdup("its step is not +STEP or *FACTOR");
            return false;
        }
    }
    if (a.count > b.count)
        *why = g_strdup("its low end is above its high end");
    else if (operator == '+' && step.count < 1)
        *why = g_strdup("its step is 0");
    else if (operator == '*' && (step.count < 2 || a.count < 1))
        *why = g_strdup("a range with a factor begins at 1 or above, and its factor is 2 or above");
    return *why == NULL;
}

void deck_refuse_sweep(struct deck *deck)
{
    if (deck->sweep->len > 0)
        deck_complain_at(deck, deck_path(deck), g_array_index(deck->sweep, struct deck_entry, 0).line,
                         "[sweep]: asks for many runs, and this is one; expected a deck without [sweep], with a value "
                         "for each of its keys");
}

static bool check_sweep_value(struct deck *deck, const struct deck_key *key, const struct deck_file *file,
                              const struct deck_entry *entry, char *text)
{
    struct deck_value value;
    g_autoptr(GError) error = NULL;

    if (deck_key_parse(key, g_strstrip(text), &value, &error)) {
        g_free(value.text);
        return true;
    }
    deck_complain_at(deck, file->path, entry->line, "[sweep] %s: %s", entry->key, error->message);
    return false;
}

void deck_read_sweep(struct deck *deck, const struct deck_file *file, const struct deck_entry *entry)
{
    g_autofree char *prefix = g_strdup_printf("[sweep] %s", entry->key);
    int index = deck_find_dotted(deck, entry->key, file->path, entry->line, prefix);
    g_auto(GStrv) values = g_strsplit(entry->value, ";", 0);

    g_array_append_val(deck->sweep, *entry);
    if (index < 0)
        return;
    const struct deck_key *key = &deck->schema->keys[index];
    if (values[1] == NULL && strstr(values[0], "..") != NULL && key->type == QUANTITY_COUNT) {
        g_autofree char *why = NULL;
        if (!read_range(values[0], &why)) {
            g_autofree char *quoted = quantity_quote(entry->value);
            deck_complain_at(deck, file->path, entry->line, "%s: %s is not a range: %s; " SWEEP_FORM, prefix, quoted,
                             why);
            return;
        }
        g_autofree char *low = g_strndup(values[0], (size_t)(strstr(values[0], "..") - values[0]));
        g_auto(GStrv) high = g_strsplit(strstr(values[0], "..") + 2, " ", 2);
        if (check_sweep_value(deck, key, file, entry, low))
            check_sweep_value(deck, key, file, entry, high[0]);
        return;
    }
    for (unsigned i = 0; values[i] != NULL; i++)
        check_sweep_value(deck, key, file, entry, values[i]);
}
