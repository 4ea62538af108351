/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups that a deck names: the schema has [station.NAME], a deck [station.disk] and [station.cpu]. Each such group
 * becomes one of the deck's own schema, with all keys of the pattern, so that the rest of the reader knows no
 * difference: defaults, ranges, [test], settings and the effective deck hold for them as for any other group.
 */
#include <string.h>

#include "deck_internal.h"

#define NAME_PATTERN ".NAME"

enum { NAME_MOST = 32 };

static bool is_pattern(const struct deck_group *group)
{
    return g_str_has_suffix(group->name, NAME_PATTERN);
}

/* Whether `name` is the pattern's with a name in place of NAME: letters, digits and '-'. */
static bool fits(const char *name, const struct deck_group *pattern)
{
    size_t stem = strlen(pattern->name) - strlen(NAME_PATTERN) + 1;

    if (strncmp(name, pattern->name, stem) != 0 || strlen(name) == stem || strlen(name + stem) > NAME_MOST)
        return false;
    for (const char *at = name + stem; *at != '\0'; at++)
        if (!g_ascii_isalnum(*at) && *at != '-')
            return false;
    return true;
}

/* The base's groups come first, so that a deck that adds some leaves the order of the others. */
static GPtrArray *names_of(const struct deck *deck, const struct deck_group *pattern)
{
    GPtrArray *names = g_ptr_array_new();

    for (unsigned f = deck->files->len; f-- > 0;) {
        const struct deck_file *file = deck->files->pdata[f];
        for (unsigned i = 0; i < file->groups->len; i++) {
            const char *name = g_array_index(file->groups, struct deck_entry, i).group;
            if (fits(name, pattern) && !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
                g_ptr_array_add(names, (gpointer)name);
        }
    }
    return names;
}

static void copy_keys(GArray *keys, const struct deck_schema *from, const char *pattern, const char *name)
{
    for (unsigned i = 0; i < from->key_count; i++) {
        struct deck_key key = from->keys[i];
        if (strcmp(key.group, pattern) != 0)
            continue;
        key.group = name;
        g_array_append_val(keys, key);
    }
}

void deck_name_groups(struct deck *deck)
{
    const struct deck_schema *from = deck->schema;
    GArray *groups = g_array_new(TRUE, TRUE, sizeof(struct deck_group));
    GArray *keys = g_array_new(TRUE, TRUE, sizeof(struct deck_key));

    for (const struct deck_group *group = from->groups; group->name != NULL; group++) {
        g_array_append_val(groups, *group);     /* the pattern stays, without keys, for suggestions */
        if (!is_pattern(group)) {
            copy_keys(keys, from, group->name, group->name);
            continue;
        }
        GPtrArray *names = names_of(deck, group);
        for (unsigned i = 0; i < names->len; i++) {
            struct deck_group named = *group;
            named.name = names->pdata[i];
            g_array_append_val(groups, named);
            copy_keys(keys, from, group->name, named.name);
        }
        g_ptr_array_free(names, TRUE);
    }
    deck->own_schema = (struct deck_schema){ .kinds = from->kinds, .key_count = keys->len };
    deck->own_schema.groups = (const struct deck_group *)g_array_free(groups, FALSE);
    deck->own_schema.keys = (const struct deck_key *)g_array_free(keys, FALSE);
    deck->schema = &deck->own_schema;
}

void deck_unname_groups(struct deck *deck)
{
    g_free((gpointer)deck->own_schema.groups);
    g_free((gpointer)deck->own_schema.keys);
}

const char *deck_named_group(const struct deck *deck, const char *stem, unsigned i)
{
    size_t length = strlen(stem);

    for (const struct deck_group *group = deck->schema->groups; group->name != NULL; group++)
        if (strncmp(group->name, stem, length) == 0 && group->name[length] == '.' && !is_pattern(group) && i-- == 0)
            return group->name;
    return NULL;
}
