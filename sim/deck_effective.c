/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "deck_internal.h"

/* A value as another folder's deck would state it. */
static void append_value(GString *text, const struct deck_key *key, const char *value)
{
    if (deck_key_is_path(key)) {
        g_autofree char *absolute = g_canonicalize_filename(value, NULL);
        g_string_append_printf(text, "%s = %s\n", key->name, absolute);
    } else {
        g_string_append_printf(text, "%s = %s\n", key->name, value);
    }
}

/* The base and the profile are told but not stated: their values stand here themselves. */
static bool is_resolved(const struct deck_key *key)
{
    return (strcmp(key->group, "deck") == 0 && strcmp(key->name, "base") == 0) ||
           (strcmp(key->group, "costs") == 0 && strcmp(key->name, "profile") == 0);
}

static void append_key(const struct deck *deck, GString *text, unsigned index)
{
    const struct deck_key *key = &deck->schema->keys[index];
    const struct deck_held *held = &deck->held[index];

    if (!held->has)
        return;
    if (is_resolved(key)) {
        g_string_append_printf(text, "# %s = %s (%s)\n", key->name, held->value.text, held->where);
        return;
    }
    if (strcmp(key->group, "deck") == 0 && strcmp(key->name, "comparable") == 0) {
        if (!deck_comparable(deck))
            g_string_append(text, "# a key that matters to [expect] was overridden\ncomparable = false\n");
        return;
    }
    g_string_append_printf(text, "# %s\n", held->where);
    append_value(text, key, held->value.text);
}

static void append_group(const struct deck *deck, GString *text, const struct deck_group *group)
{
    size_t before = text->len;

    g_string_append_printf(text, "\n[%s]\n", group->name);
    size_t header = text->len;
    for (unsigned i = 0; i < deck->schema->key_count; i++)
        if (strcmp(deck->schema->keys[i].group, group->name) == 0)
            append_key(deck, text, i);
    if (text->len == header)
        g_string_truncate(text, before);
}

static void append_expectations(const struct deck *deck, GString *text)
{
    if (deck->expectations->len > 0)
        g_string_append(text, "\n[expect]\n");
    for (unsigned i = 0; i < deck->expectations->len; i++) {
        const struct deck_expectation *e = deck_expectation(deck, i);
        g_string_append_printf(text, "# %s\n%s = %s \"%s\"\n", e->where, e->key, e->stated, e->source);
    }
}

static void append_tests(const struct deck *deck, GString *text)
{
    if (deck->test_applied || deck->tests->len == 0)
        return;
    g_string_append(text, "\n[test]\n");
    for (unsigned i = 0; i < deck->tests->len; i++) {
        const struct deck_test *test = &g_array_index(deck->tests, struct deck_test, i);
        const struct deck_key *key = &deck->schema->keys[test->key];
        g_string_append_printf(text, "%s.", key->group);
        append_value(text, key, test->text);
    }
}

/* The entry of a path with its values as another folder's deck would state them. */
static void append_paths(const struct deck *deck, GString *text, unsigned axis)
{
    for (unsigned i = 0; i < deck_axis_values(deck, axis); i++) {
        g_autofree char *absolute = g_canonicalize_filename(deck_axis_value(deck, axis, i), NULL);
        g_string_append_printf(text, "%s%s", i == 0 ? "" : "; ", absolute);
    }
}

static void append_sweep(const struct deck *deck, GString *text)
{
    if (deck->sweep->len == 0)
        return;
    g_string_append(text, "\n[sweep]\n");
    for (unsigned i = 0; i < deck->sweep->len; i++) {
        const struct deck_entry *entry = &g_array_index(deck->sweep, struct deck_entry, i);
        const struct deck_axis *axis;
        unsigned a = 0;
        while ((axis = deck_axis(deck, a)) != NULL && strcmp(axis->key, entry->key) != 0)
            a++;
        g_string_append_printf(text, "%s = ", entry->key);
        if (axis != NULL && deck_key_is_path(axis->schema_key))
            append_paths(deck, text, a);
        else
            g_string_append(text, entry->value);
        g_string_append_c(text, '\n');
    }
}

char *deck_effective(const struct deck *deck)
{
    GString *text = g_string_new(NULL);

    g_string_append_printf(text, "# The effective deck of %s: every value that holds, behind the place where it comes "
                           "from.\n", deck_path(deck));
    for (const struct deck_group *group = deck->schema->groups; group->name != NULL; group++)
        if (!group->free)
            append_group(deck, text, group);
    append_expectations(deck, text);
    append_tests(deck, text);
    append_sweep(deck, text);
    return g_string_free(text, FALSE);
}

char *deck_as_read(const struct deck *deck)
{
    GString *text = g_string_new(NULL);

    for (unsigned i = 0; i < deck->files->len; i++) {
        const struct deck_file *file = deck->files->pdata[i];
        size_t size;
        const char *data = g_bytes_get_data(file->bytes, &size);
        if (i > 0)
            g_string_append_printf(text, "\n# --- %s ---\n", file->path);
        g_string_append_len(text, data, (gssize)size);
    }
    return g_string_free(text, FALSE);
}
