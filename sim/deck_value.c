/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "deck_internal.h"

char *deck_join_path(const char *stated_in, const char *path)
{
    if (stated_in == NULL || g_path_is_absolute(path) || strchr(stated_in, '/') == NULL)
        return g_strdup(path);
    g_autofree char *folder = g_path_get_dirname(stated_in);
    return g_build_filename(folder, path, NULL);
}

char *deck_value_text(const struct deck_key *key, const char *stated_in, const char *text)
{
    return deck_key_is_path(key) ? deck_join_path(stated_in, text) : g_strdup(text);
}

static bool is_hidden(const struct deck_held *held, const struct deck_origin *origin)
{
    return (held->has || held->bad) && held->layer > origin->layer;
}

static void place_value(struct deck *deck, unsigned index, const struct deck_value *value,
                        const struct deck_origin *origin)
{
    const struct deck_key *key = &deck->schema->keys[index];
    struct deck_held *held = &deck->held[index];

    if (is_hidden(held, origin))
        return;
    char *text = deck_value_text(key, origin->is_file ? origin->path : NULL, value->text);
    if (origin->layer >= LAYER_TEST - 2 * DECK_BASES_MAX && (key->flags & DECK_UNMODELLED) == 0) {
        const char *before = held->has ? held->value.text : key->fallback;
        if (before == NULL || strcmp(before, text) != 0)
            deck->comparable = false;
    }
    g_free(held->value.text);
    g_free(held->where);
    held->value = *value;
    held->value.text = text;
    held->where = deck_place(origin->path, origin->line);
    if (origin->scale_ppm != 0) {
        g_autofree char *place = held->where;
        held->where = g_strdup_printf("%s, times %g%%", place, (double)origin->scale_ppm / 10000);
    }
    held->path = origin->path;
    held->line = origin->line;
    held->layer = origin->layer;
    held->has = true;
    held->bad = false;
}

/* A value that could not be read still hides those of lower layers: the key reads as its default and is marked. */
static void place_bad(struct deck *deck, unsigned index, const struct deck_origin *origin)
{
    struct deck_held *held = &deck->held[index];

    if (is_hidden(held, origin))
        return;
    g_clear_pointer(&held->value.text, g_free);
    g_clear_pointer(&held->where, g_free);
    *held = (struct deck_held){ .path = origin->path, .line = origin->line, .layer = origin->layer, .bad = true };
}

static void scale_value(struct deck_value *value, enum quantity_type type, int64_t scale_ppm)
{
    struct cost cost = { .fixed_ns = 0 };

    if (type == QUANTITY_COST)
        cost = value->quantity.cost;
    else
        cost.fixed_ns = value->quantity.duration_ns;
    cost = cost_scaled(&cost, scale_ppm);
    if (type == QUANTITY_COST)
        value->quantity.cost = cost;
    else
        value->quantity.duration_ns = cost.fixed_ns;
    g_free(value->text);
    value->text = cost_text(&cost);
}

bool deck_take_value(struct deck *deck, unsigned index, const char *text, const struct deck_origin *origin,
                     const char *prefix, bool only_check)
{
    struct deck_value value;
    GError *error = NULL;

    if (!deck_key_parse(&deck->schema->keys[index], text, &value, &error)) {
        deck_complain_at(deck, origin->path, origin->line, "%s: %s%s", prefix, error->message,
                         strstr(text, " #") != NULL ? " (a comment needs a line of its own)" : "");
        g_error_free(error);
        if (!only_check)
            place_bad(deck, index, origin);
        return false;
    }
    if (origin->scale_ppm != 0)
        scale_value(&value, (enum quantity_type)deck->schema->keys[index].type, origin->scale_ppm);
    if (!only_check)
        place_value(deck, index, &value, origin);
    g_free(value.text);
    return true;
}

int deck_find_key(struct deck *deck, const char *group, const char *name, const char *path, unsigned line,
                  const char *prefix)
{
    int index = deck_schema_find(deck->schema, group, name);

    if (index < 0) {
        g_autofree char *suggestion = deck_schema_suggest(deck->schema, group, name);
        deck_complain_at(deck, path, line, "%s: unknown key; %s", prefix, suggestion);
    }
    return index;
}

int deck_find_dotted(struct deck *deck, const char *dotted, const char *path, unsigned line, const char *prefix)
{
    const char *dot = strrchr(dotted, '.');

    if (dot == NULL || dot == dotted || dot[1] == '\0') {
        g_autofree char *quoted = quantity_quote(dotted);
        deck_complain_at(deck, path, line, "%s: %s is not group.key; expected for example cluster.nodes", prefix,
                         quoted);
        return -1;
    }
    g_autofree char *group = g_strndup(dotted, (size_t)(dot - dotted));
    int group_index = deck_schema_find_group(deck->schema, group);
    if (group_index < 0) {
        g_autofree char *suggestion = deck_schema_suggest_group(deck->schema, group);
        deck_complain_at(deck, path, line, "%s: unknown group; %s", prefix, suggestion);
        return -1;
    }
    if (deck->schema->groups[group_index].free) {
        deck_complain_at(deck, path, line, "%s: [%s] can only stand in a deck; expected a key of another group", prefix,
                         group);
        return -1;
    }
    int index = deck_find_key(deck, group, dot + 1, path, line, prefix);
    if (index >= 0 && (deck->schema->keys[index].flags & DECK_OWN) != 0) {
        deck_complain_at(deck, path, line, "%s: [%s] %s can only stand in a deck; expected another key", prefix, group,
                         dot + 1);
        return -1;
    }
    return index;
}
