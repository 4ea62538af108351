/* SPDX-License-Identifier: BSD-3-Clause */
#include "deck_schema.h"

#include <string.h>

#include "base/nearest.h"

int deck_schema_find_group(const struct deck_schema *schema, const char *group)
{
    for (int i = 0; schema->groups[i].name != NULL; i++)
        if (strcmp(schema->groups[i].name, group) == 0)
            return i;
    return -1;
}

int deck_schema_find(const struct deck_schema *schema, const char *group, const char *key)
{
    for (unsigned i = 0; i < schema->key_count; i++)
        if (strcmp(schema->keys[i].group, group) == 0 && strcmp(schema->keys[i].name, key) == 0)
            return (int)i;
    return -1;
}

enum { NAMES_LISTED = 32 };

static char *list_names(const GPtrArray *names)
{
    GString *text = g_string_new("expected one of ");

    for (unsigned i = 0; i < names->len && i < NAMES_LISTED; i++)
        g_string_append_printf(text, "%s%s", i == 0 ? "" : ", ", (const char *)names->pdata[i]);
    if (names->len > NAMES_LISTED)
        g_string_append(text, " ...");
    return g_string_free(text, FALSE);
}

char *deck_schema_suggest_group(const struct deck_schema *schema, const char *group)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    for (const struct deck_group *g = schema->groups; g->name != NULL; g++)
        g_ptr_array_add(names, (gpointer)g->name);
    const char *nearest = nearest_name(group, (const char *const *)names->pdata, names->len);
    return nearest == NULL ? list_names(names) : g_strdup_printf("did you mean [%s]?", nearest);
}

char *deck_schema_suggest(const struct deck_schema *schema, const char *group, const char *key)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    for (unsigned i = 0; i < schema->key_count; i++)
        if (strcmp(schema->keys[i].group, group) == 0)
            g_ptr_array_add(names, (gpointer)schema->keys[i].name);
    const char *nearest = nearest_name(key, (const char *const *)names->pdata, names->len);
    if (nearest != NULL)
        return g_strdup_printf("did you mean [%s] %s?", group, nearest);
    /* A key that is right but stands in the wrong group. */
    for (unsigned i = 0; i < schema->key_count; i++)
        if (strcmp(schema->keys[i].name, key) == 0)
            return g_strdup_printf("did you mean [%s] %s?", schema->keys[i].group, key);
    return list_names(names);
}

char *deck_schema_kinds_text(const struct deck_schema *schema, int kinds)
{
    GString *text = g_string_new(NULL);

    if (kinds == DECK_ALL_KINDS)
        return g_string_free(g_string_assign(text, "all"), FALSE);
    for (unsigned i = 0; schema->kinds[i] != NULL; i++)
        if ((kinds & 1 << i) != 0)
            g_string_append_printf(text, "%s%s", text->len == 0 ? "" : ", ", schema->kinds[i]);
    return g_string_free(text, FALSE);
}

/* "a, b or limited:N" of "a|b|limited:N". */
static char *choices_text(const char *choices)
{
    g_auto(GStrv) list = g_strsplit(choices, "|", 0);
    unsigned count = g_strv_length(list);
    GString *text = g_string_new(NULL);

    for (unsigned i = 0; i < count; i++)
        g_string_append_printf(text, "%s%s", i == 0 ? "" : i == count - 1 ? " or " : ", ", list[i]);
    return g_string_free(text, FALSE);
}

/* The range behind an expectation, with its blank; empty when there is none. */
static char *range_text(const struct deck_key *key)
{
    if (key->low != NULL && key->high != NULL && strcmp(key->low, key->high) == 0)
        return g_strdup_printf(": %s", key->low);
    if (key->low != NULL && key->high != NULL)
        return g_strdup_printf(" in %s..%s", key->low, key->high);
    if (key->low != NULL)
        return g_strdup_printf(" of %s or more", key->low);
    if (key->high != NULL)
        return g_strdup_printf(" of %s or less", key->high);
    return g_strdup("");
}

char *deck_key_expectation(const struct deck_key *key)
{
    if (key->type < QUANTITY_TYPES) {
        g_autofree char *range = range_text(key);
        if (key->type == QUANTITY_COUNT && *range != '\0')
            return g_strdup_printf("a whole number%s", range);
        return g_strdup_printf("%s%s%s", quantity_expectation(key->type), *range == '\0' ? "" : ",", range);
    }
    switch (key->type) {
    case DECK_CHOICE:
        return choices_text(key->choices);
    case DECK_NAME:
        return g_strdup("a name of letters, digits, '.', '_' and '-'");
    case DECK_FILE:
        /* `base`: the one file that says something about the deck alone */
        return g_strdup((key->flags & DECK_OWN) != 0
                        ? "the path of a deck, relative to this one, or the name of an installed deck"
                        : "the path of a file, relative to this deck");
    case DECK_DIRECTORY:
        return g_strdup("the path of a directory, relative to this deck");
    default:
        return g_strdup("a text");
    }
}

static gboolean refuse(const struct deck_key *key, const char *text, const char *why, GError **error)
{
    g_autofree char *quoted = quantity_quote(text);
    g_autofree char *expected = deck_key_expectation(key);

    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s is not %s; expected %s", quoted, why, expected);
    return FALSE;
}

static int64_t limit_value(const struct deck_key *key, const char *limit)
{
    struct quantity q;
    gboolean ok = quantity_parse(key->type, limit, NULL, &q, NULL);

    g_assert(ok);   /* the table is wrong */
    return q.integer;
}

static gboolean parse_quantity(const struct deck_key *key, const char *text, struct deck_value *value, GError **error)
{
    g_autofree char *expected = deck_key_expectation(key);

    if (!quantity_parse(key->type, text, expected, &value->quantity, error))
        return FALSE;
    if ((key->low != NULL && value->quantity.integer < limit_value(key, key->low)) ||
        (key->high != NULL && value->quantity.integer > limit_value(key, key->high)))
        return refuse(key, text, "in its range", error);
    return TRUE;
}

static gboolean parse_choice(const struct deck_key *key, const char *text, struct deck_value *value, GError **error)
{
    g_auto(GStrv) list = g_strsplit(key->choices, "|", 0);

    for (unsigned i = 0; list[i] != NULL; i++) {
        size_t length = strlen(list[i]);
        value->choice = i;
        if (strcmp(list[i], text) == 0 && !g_str_has_suffix(list[i], ":N"))
            return TRUE;
        if (g_str_has_suffix(list[i], ":N") && strncmp(list[i], text, length - 1) == 0 &&
            quantity_parse(QUANTITY_COUNT, text + length - 1, NULL, &value->quantity, NULL) &&
            value->quantity.count >= 1)
            return TRUE;
    }
    return refuse(key, text, "one of its choices", error);
}

static bool is_name(const char *text)
{
    for (const char *at = text; *at != '\0'; at++)
        if (!g_ascii_isalnum(*at) && strchr("._-", *at) == NULL)
            return false;
    return *text != '\0' && *text != '.';
}

gboolean deck_key_parse(const struct deck_key *key, const char *text, struct deck_value *value, GError **error)
{
    struct deck_value v = { 0 };

    if (key->type < QUANTITY_TYPES) {
        if (!parse_quantity(key, text, &v, error))
            return FALSE;
    } else if (key->type == DECK_CHOICE) {
        if (!parse_choice(key, text, &v, error))
            return FALSE;
    } else if (key->type == DECK_NAME && !is_name(text)) {
        return refuse(key, text, "a name", error);
    } else if (*text == '\0' || !g_utf8_validate(text, -1, NULL)) {
        return refuse(key, text, "a text", error);
    }
    v.text = g_strdup(text);
    *value = v;
    return TRUE;
}
