/* SPDX-License-Identifier: BSD-3-Clause */
#include "run_folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "base/folder.h"
#include "base/quantity.h"

enum { FOLDER_MODE = 0777, FOLDERS_MAX = 1000000 };

static bool is_trace(const char *name)
{
    return strcmp(name, RUN_FOLDER_TRACE) == 0 ||
           (g_str_has_prefix(name, "trace.part-") && g_str_has_suffix(name, ".h5"));
}

static bool is_ours(const char *name)
{
    /* A file that was being written when its run was killed has a suffix. */
    return is_trace(name) || g_str_has_prefix(name, RUN_FOLDER_SUMMARY) || g_str_has_prefix(name, RUN_FOLDER_DECK);
}

/* The first name that is not of an earlier run, to be freed; NULL when there is none. */
static char *find_stranger(const char *folder)
{
    g_autoptr(GPtrArray) names = folder_names(folder);

    for (unsigned i = 0; i < names->len; i++) {
        g_autofree char *path = g_build_filename(folder, names->pdata[i], NULL);
        if (!is_ours(names->pdata[i]) || !g_file_test(path, G_FILE_TEST_IS_REGULAR))
            return g_strdup(names->pdata[i]);
    }
    return NULL;
}

static void remove_files(const char *folder, bool (*wanted)(const char *name))
{
    g_autoptr(GPtrArray) names = folder_names(folder);

    for (unsigned i = 0; i < names->len; i++) {
        g_autofree char *path = g_build_filename(folder, names->pdata[i], NULL);
        if (wanted(names->pdata[i]))
            g_unlink(path);
    }
}

char *run_folder_trace(const char *path, GError **error)
{
    if (!g_file_test(path, G_FILE_TEST_IS_DIR))
        return g_strdup(path);
    g_autofree char *trace = g_build_filename(path, RUN_FOLDER_TRACE, NULL);
    if (g_file_test(trace, G_FILE_TEST_EXISTS))
        return g_steal_pointer(&trace);
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s is not the folder of a run: it has no %s", path,
                RUN_FOLDER_TRACE);
    return NULL;
}

void run_folder_clear_trace(const char *folder)
{
    remove_files(folder, is_trace);
}

void run_folder_remove(const char *folder)
{
    remove_files(folder, is_ours);
    g_rmdir(folder);
}

static gboolean fail(GError **error, int code, const char *path, const char *text)
{
    g_autofree char *quoted = quantity_quote(path);

    g_set_error(error, TIERCEL_ERROR, code, "the output folder %s %s", quoted, text);
    return FALSE;
}

/* An existing folder whose files may be replaced. */
static gboolean take_over(const char *path, bool force, GError **error)
{
    if (!g_file_test(path, G_FILE_TEST_IS_DIR))
        return fail(error, TIERCEL_ERROR_INPUT, path, "is a file; expected a new folder");
    if (!force)
        return fail(error, TIERCEL_ERROR_INPUT, path,
                    "exists already; expected a new one (-o), or --force to replace an earlier run");
    g_autofree char *stranger = find_stranger(path);
    if (stranger != NULL) {
        g_autofree char *quoted = quantity_quote(stranger);
        g_autofree char *text = g_strdup_printf("holds %s, which is not of an earlier run; expected a folder that "
                                                "--force may empty", quoted);
        return fail(error, TIERCEL_ERROR_INPUT, path, text);
    }
    remove_files(path, is_ours);
    return TRUE;
}

static char *make_chosen(const char *chosen, bool force, GError **error)
{
    g_autofree char *parent = g_path_get_dirname(chosen);

    if (g_mkdir_with_parents(parent, FOLDER_MODE) == 0 && g_mkdir(chosen, FOLDER_MODE) == 0)
        return g_strdup(chosen);
    if (errno == EEXIST && g_file_test(chosen, G_FILE_TEST_EXISTS))
        return take_over(chosen, force, error) ? g_strdup(chosen) : NULL;
    g_autofree char *text = g_strdup_printf("cannot be made: %s", g_strerror(errno));
    fail(error, TIERCEL_ERROR_RUNTIME, chosen, text);
    return NULL;
}

static char *make_next(const char *parent, const char *name, GError **error)
{
    if (g_mkdir_with_parents(parent, FOLDER_MODE) == 0)
        for (unsigned i = 1; i < FOLDERS_MAX; i++) {
            g_autofree char *path = g_strdup_printf("%s%s%s-%03u", parent, G_DIR_SEPARATOR_S, name, i);
            if (g_mkdir(path, FOLDER_MODE) == 0)
                return g_steal_pointer(&path);
            if (errno != EEXIST)
                break;
        }
    g_autofree char *path = g_build_filename(parent, name, NULL);
    g_autofree char *text = g_strdup_printf("cannot be made: %s", g_strerror(errno));
    fail(error, TIERCEL_ERROR_RUNTIME, path, text);
    return NULL;
}

char *run_folder_make(const char *parent, const char *name, const char *chosen, bool force, GError **error)
{
    return chosen != NULL ? make_chosen(chosen, force, error) : make_next(parent, name, error);
}
