/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "deck_internal.h"

static void fill_default(struct deck *deck, unsigned index)
{
    const struct deck_key *key = &deck->schema->keys[index];
    struct deck_held *held = &deck->held[index];

    if (held->has || key->fallback == NULL)
        return;
    gboolean ok = deck_key_parse(key, key->fallback, &held->value, NULL);
    g_assert(ok);   /* the table is wrong */
    held->has = true;
    if (!held->bad)
        held->layer = LAYER_DEFAULT;
    held->where = g_strdup("default");
}

static void drop(struct deck_held *held)
{
    g_clear_pointer(&held->value.text, g_free);
    g_clear_pointer(&held->where, g_free);
    held->has = false;
}

/* `kind` is one bit, or all when the deck does not say which. */
static void check_required(struct deck *deck, unsigned index, int kind)
{
    const struct deck_key *key = &deck->schema->keys[index];
    const struct deck_held *held = &deck->held[index];
    g_autofree char *expected = NULL;

    for (unsigned i = 0; i < deck->files->len; i++)
        if (((const struct deck_file *)deck->files->pdata[i])->broken)
            return; /* it may stand in what was not read */
    /* That the format is missing was said of each file. */
    if (held->has || held->bad || (key->flags & DECK_REQUIRED) == 0 || (key->flags & DECK_OWN) != 0 ||
        (key->kinds & kind) != kind)
        return;
    expected = deck_key_expectation(key);
    deck_complain(deck, key->group, key->name, "is not stated; expected %s", expected);
}

static bool is_in_list(const char *list, const char *text)
{
    g_auto(GStrv) choices = g_strsplit(list, "|", 0);
    return g_strv_contains((const char *const *)choices, text);
}

/* A key that needs a choice elsewhere. Stated beside another choice it is a mistake; stated in a base whose choice was
 * replaced, or only a default, it is passed over. */
static void check_when(struct deck *deck, unsigned index)
{
    const struct deck_key *key = &deck->schema->keys[index];
    struct deck_held *held = &deck->held[index];

    if (key->when == NULL || !held->has)
        return;
    const char *equals = strchr(key->when, '=');
    const char *dot = strchr(key->when, '.');
    g_autofree char *group = g_strndup(key->when, (size_t)(dot - key->when));
    g_autofree char *name = g_strndup(dot + 1, (size_t)(equals - dot - 1));
    const struct deck_held *choice = &deck->held[deck_index(deck, group, name)];
    if (!choice->has || choice->bad || is_in_list(equals + 1, choice->value.text))
        return;
    if (held->layer != LAYER_DEFAULT && held->layer >= choice->layer && !held->bad)
        deck_complain(deck, key->group, key->name, "has no meaning with [%s] %s = %s; expected %s = %s, or no %s here",
                      group, name, choice->value.text, name, equals + 1, key->name);
    drop(held);
}

static void check_kind(struct deck *deck, unsigned index, int kind, const struct deck_held *stated)
{
    const struct deck_key *key = &deck->schema->keys[index];
    struct deck_held *held = &deck->held[index];

    if ((key->kinds & kind) != 0 || !held->has)
        return;
    if (held->layer != LAYER_DEFAULT && held->layer >= stated->layer && !held->bad) {
        g_autofree char *kinds = deck_schema_kinds_text(deck->schema, key->kinds);
        deck_complain(deck, key->group, key->name, "has no meaning with [system] kind = %s; expected kind = %s, or no "
                      "%s here", stated->value.text, kinds, key->name);
    }
    drop(held);
}

void deck_check(struct deck *deck)
{
    int kind_index = deck_schema_find(deck->schema, "system", "kind");
    bool known = kind_index >= 0 && deck->held[kind_index].has;
    int kind = known ? 1 << deck->held[kind_index].value.choice : DECK_ALL_KINDS;

    for (unsigned i = 0; i < deck->schema->key_count; i++) {
        fill_default(deck, i);
        check_required(deck, i, kind);
    }
    /* The kind first: of a key of another kind it would not help to know that it needs a choice besides. */
    for (unsigned i = 0; known && i < deck->schema->key_count; i++)
        check_kind(deck, i, kind, &deck->held[kind_index]);
    for (unsigned i = 0; i < deck->schema->key_count; i++)
        check_when(deck, i);
}
