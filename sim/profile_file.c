/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile_file.h"

#include "base/text_file.h"

gboolean profile_file_check(const struct options *options, GError **error)
{
    if (options->profile == NULL)
        return TRUE;
    g_autofree char *folder = g_path_get_dirname(options->profile);

    if (!g_file_test(folder, G_FILE_TEST_IS_DIR))
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "--profile: there is no folder '%s'; expected the path "
                    "of a file in an existing one", folder);
    else if (g_file_test(options->profile, G_FILE_TEST_IS_DIR))
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "--profile: '%s' is a folder; expected the path of a "
                    "file", options->profile);
    else if (g_file_test(options->profile, G_FILE_TEST_EXISTS) && !options->force)
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "--profile: '%s' exists; expected another path, or "
                    "--force", options->profile);
    else
        return TRUE;
    return FALSE;
}

gboolean profile_file_write(const char *path, const char *text, GError **error)
{
    if (text_file_write(path, text, error))
        return TRUE;
    g_prefix_error(error, "--profile: ");
    return FALSE;
}
