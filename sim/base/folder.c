/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/folder.h"

#include <string.h>

static int compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

GPtrArray *folder_names(const char *path)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    GDir *dir = g_dir_open(path, 0, NULL);
    const char *name;

    if (dir == NULL)
        return names;
    while ((name = g_dir_read_name(dir)) != NULL)
        g_ptr_array_add(names, g_strdup(name));
    g_dir_close(dir);
    g_ptr_array_sort(names, compare_names);
    return names;
}
