/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of tiercel-lockfs: `tiercel-lockfs [OPTION...] FOLDER [COMMAND [ARGUMENT...]]`.
 */
#ifndef TIERCEL_LOCKFS_OPTIONS_H
#define TIERCEL_LOCKFS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <glib.h>

#include "base/cost.h"
#include "lockfs/store.h"

struct lockfs_options {
    bool help, version;         /* with one of these the rest may be missing */
    struct cost request;
    bool parallel;
    bool outlive;
    int64_t channels;
    int64_t max_write_bytes;
    int64_t capacity_bytes;     /* 0: no limit */
    enum lockfs_keep keep;
    const char *keep_folder;    /* LOCKFS_KEEP_FOLDER */
    const char *statistics;     /* a file; NULL: standard output */
    const char *folder;
    char **command;             /* NULL when there is none, else as for execv */
};

/* The texts point into argv, which is left alone. FALSE with *error set (TIERCEL_ERROR_INPUT). */
gboolean lockfs_options_parse(int argc, char **argv, struct lockfs_options *options, GError **error);

void lockfs_options_print_help(FILE *to);

#endif
