/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * [expect]: a key of the summary and  NUMBER[UNIT] TOLERANCE% "SOURCE"
 */
#include <string.h>

#include "deck_internal.h"
#include "trace/summary.h"

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

/* As it stands behind a number; of a rate of bytes only that it is one. */
static const char *unit_of(const char *key)
{
    const char *unit = summary_key_unit(key);

    return g_str_has_suffix(unit, "/s") ? "/s" : strcmp(unit, "1") == 0 ? "" : unit;
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
