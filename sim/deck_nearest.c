/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/folder.h"
#include "base/nearest.h"
#include "deck_internal.h"

#define ENDING ".deck"

static char *stem_of(const char *name)
{
    return g_strndup(name, strlen(name) - (g_str_has_suffix(name, ENDING) ? strlen(ENDING) : 0));
}

/* The deck in `folder` whose name without its ending is nearest to `stem`, without its ending; NULL when none is. */
static char *nearest_in(const char *folder, const char *stem)
{
    g_autoptr(GPtrArray) names = folder_names(folder);
    g_autoptr(GPtrArray) stems = g_ptr_array_new_with_free_func(g_free);

    for (unsigned i = 0; i < names->len; i++)
        if (g_str_has_suffix(names->pdata[i], ENDING))
            g_ptr_array_add(stems, stem_of(names->pdata[i]));
    return g_strdup(nearest_name(stem, (const char *const *)stems->pdata, stems->len));
}

char *deck_nearest(const char *path, const char *installed_dir)
{
    g_autofree char *parent = g_path_get_dirname(path);
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *stem = stem_of(base);
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
