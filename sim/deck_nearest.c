/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/folder.h"
#include "base/nearest.h"
#include "deck_internal.h"

#define ENDING ".deck"
#define PROFILE_ENDING ".costs"

static char *stem_of(const char *name, const char *ending)
{
    return g_strndup(name, strlen(name) - (g_str_has_suffix(name, ending) ? strlen(ending) : 0));
}

/* Adds the names in `folder` with this ending, without it, but for those that are there. */
static void add_stems(GPtrArray *stems, const char *folder, const char *ending)
{
    g_autoptr(GPtrArray) names = folder_names(folder);

    for (unsigned i = 0; i < names->len; i++) {
        g_autofree char *stem = stem_of(names->pdata[i], ending);
        if (g_str_has_suffix(names->pdata[i], ending) &&
            !g_ptr_array_find_with_equal_func(stems, stem, g_str_equal, NULL))
            g_ptr_array_add(stems, g_steal_pointer(&stem));
    }
}

/* The deck in `folder` whose name without its ending is nearest to `stem`, without its ending; NULL when none is. */
static char *nearest_in(const char *folder, const char *stem)
{
    g_autoptr(GPtrArray) stems = g_ptr_array_new_with_free_func(g_free);

    add_stems(stems, folder, ENDING);
    return g_strdup(nearest_name(stem, (const char *const *)stems->pdata, stems->len));
}

char *deck_nearest(const char *path, const char *installed_dir)
{
    g_autofree char *parent = g_path_get_dirname(path);
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *stem = stem_of(base, ENDING);
    bool here = strcmp(parent, ".") == 0;
    const char *const roots[] = { "", "inputs", installed_dir };

    for (unsigned i = 0; i < G_N_ELEMENTS(roots); i++) {
        if (roots[i] == NULL || (i > 0 && g_path_is_absolute(path)))
            continue;
        g_autofree char *folder = i == 0 ? g_strdup(parent) : g_build_filename(roots[i], here ? "" : parent, NULL);
        g_autofree char *name = nearest_in(folder, stem);
        if (name == NULL)
            continue;
        g_autofree char *whole = g_strconcat(name, i < 2 ? ENDING : "", NULL);
        return g_build_filename(i == 1 ? "inputs" : "", here ? "" : parent, whole, NULL);
    }
    return NULL;
}

static char *list(const GPtrArray *texts)
{
    GString *text = g_string_new(NULL);

    for (unsigned i = 0; i < texts->len; i++)
        g_string_append_printf(text, "%s%s", i == 0 ? "" : ", ", (const char *)texts->pdata[i]);
    return g_string_free(text, FALSE);
}

char *deck_profile_advice(const char *name, const GPtrArray *tried)
{
    g_autoptr(GPtrArray) stems = g_ptr_array_new_with_free_func(g_free);
    guint own;

    for (unsigned i = 0; i < tried->len; i++) {
        g_autofree char *folder = g_path_get_dirname(tried->pdata[i]);
        add_stems(stems, folder, PROFILE_ENDING);
    }
    /* It is there, and cannot be read. */
    if (g_ptr_array_find_with_equal_func(stems, name, g_str_equal, &own))
        g_ptr_array_remove_index(stems, own);
    const char *near = nearest_name(name, (const char *const *)stems->pdata, stems->len);
    if (near != NULL)
        return g_strdup_printf("did you mean %s?", near);
    g_autofree char *known = list(stems->len != 0 ? stems : tried);
    if (stems->len == 0)
        return g_strdup_printf("expected one of %s", known);
    return g_strdup_printf("expected one of %s, or a file %s" PROFILE_ENDING " beside the deck", known, name);
}
