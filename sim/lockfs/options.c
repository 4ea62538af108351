/* SPDX-License-Identifier: BSD-3-Clause */
#include "lockfs/options.h"

#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/quantity.h"
#include "lockfs/requests.h"

#define MEMORY_DEFAULT (INT64_C(1) << 30)
#define CHANNELS_MAX 1024

static const struct option_text {
    const char *name;
    char letter;                /* '\0': none */
    const char *value;          /* NULL: none */
    const char *text;
} texts[] = {
    { "request", '\0', "COST", "how long a write request is in service, such as 100us + 14ns/B (default: 1ms)" },
    { "parallel", '\0', NULL, "allow parallel direct writes (FOPEN_PARALLEL_DIRECT_WRITES)" },
    { "channels", '\0', "N", "requests that are served at a time (default: 32)" },
    { "max-write", '\0', "SIZE", "bytes of one request, whole pages; a longer write is cut (default: 1MiB)" },
    { "store", '\0', "DIR", "keep the bytes in nameless files of DIR (default: in memory)" },
    { "discard", '\0', NULL, "keep no bytes; they read as zeros" },
    { "capacity", '\0', "SIZE", "sum of the files' sizes, beyond which the disk is full (default: in memory 1GiB)" },
    { "statistics", '\0', "FILE", "write the statistics to FILE (default: to standard output)" },
    { "outlive", '\0', NULL, "go on when the process that started this one has ended" },
    { "help", 'h', NULL, "print this and exit" },
    { "version", '\0', NULL, "print the version and exit" },
};

void lockfs_options_print_help(FILE *to)
{
    fputs("A file system for measuring the lock of a shared file: a FUSE server whose writes take a stated time.\n\n"
          "  tiercel-lockfs [OPTION...] FOLDER                       serve until a signal, or umount\n"
          "  tiercel-lockfs [OPTION...] FOLDER COMMAND [ARGUMENT...]  serve while the command runs\n\n"
          "Unmounts at its end, however that comes, and prints what it counted. SIGUSR1 prints it at any time,\n"
          "SIGUSR2 does and begins anew.\n\n", to);
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        const struct option_text *o = &texts[i];
        g_autofree char *name = g_strdup_printf("--%s%s%s", o->name, o->value != NULL ? " " : "",
                                                o->value != NULL ? o->value : "");
        if (o->letter != '\0')
            fprintf(to, "  -%c, %-18s  %s\n", o->letter, name, o->text);
        else
            fprintf(to, "      %-18s  %s\n", name, o->text);
    }
}

static gboolean store_integer(enum quantity_type type, const char *name, const char *value, int64_t low, int64_t high,
                              const char *expected, int64_t *stored, GError **error)
{
    g_autoptr(GError) why = NULL;
    struct quantity q;

    if (!quantity_parse(type, value, expected, &q, &why))
        return error_refuse(error, "--%s: %s", name, why->message);
    if (q.integer < low || q.integer > high) {
        g_autofree char *quoted = quantity_quote(value);
        return error_refuse(error, "--%s: %s is not in its range; expected %s", name, quoted, expected);
    }
    *stored = q.integer;
    return TRUE;
}

static gboolean store_request(const char *value, struct cost *request, GError **error)
{
    static const char expected[] = "at most 1min for 1 MiB, without a part per queued element, such as 100us + 14ns/B";
    g_autofree char *quoted = quantity_quote(value);
    g_autoptr(GError) why = NULL;
    struct quantity q;

    if (!quantity_parse(QUANTITY_COST, value, expected, &q, &why))
        return error_refuse(error, "--request: %s", why->message);
    if (q.cost.per_entry_ns != 0 || q.cost.fixed_ns > INT64_C(60000000000) ||
        q.cost.per_byte_ps > INT64_C(60000000000000) / LOCKFS_MAX_WRITE ||
        cost_ns(&q.cost, LOCKFS_MAX_WRITE, 0) > INT64_C(60000000000))
        return error_refuse(error, "--request: %s is not in its range; expected %s", quoted, expected);
    *request = q.cost;
    return TRUE;
}

static gboolean store_path(const char *name, const char *value, const char **stored, GError **error)
{
    if (*value == '\0')
        return error_refuse(error, "--%s: '' names nothing; expected a path", name);
    *stored = value;
    return TRUE;
}

static gboolean store(struct lockfs_options *o, const char *name, const char *value, GError **error)
{
    if (strcmp(name, "request") == 0)
        return store_request(value, &o->request, error);
    if (strcmp(name, "channels") == 0)
        return store_integer(QUANTITY_COUNT, name, value, 1, CHANNELS_MAX, "a whole number from 1 to 1024",
                             &o->channels, error);
    if (strcmp(name, "max-write") == 0) {
        static const char expected[] = "whole pages of 4KiB up to 1MiB";
        int64_t bytes;
        if (!store_integer(QUANTITY_SIZE, name, value, LOCKFS_PAGE, LOCKFS_MAX_WRITE, expected, &bytes, error))
            return FALSE;
        if (bytes % LOCKFS_PAGE != 0)
            return error_refuse(error, "--max-write: '%s' is not a number of pages; expected %s", value, expected);
        o->max_write_bytes = bytes;
        return TRUE;
    }
    if (strcmp(name, "capacity") == 0)
        return store_integer(QUANTITY_SIZE, name, value, 1, INT64_MAX, "a size of 1B or more, such as 10MiB",
                             &o->capacity_bytes, error);
    if (strcmp(name, "store") == 0) {
        if (o->keep == LOCKFS_KEEP_NOTHING)
            return error_refuse(error, "--store: bytes are kept or not; expected it without --discard");
        o->keep = LOCKFS_KEEP_FOLDER;
        return store_path(name, value, &o->keep_folder, error);
    }
    if (strcmp(name, "statistics") == 0)
        return store_path(name, value, &o->statistics, error);
    if (strcmp(name, "discard") == 0) {
        if (o->keep == LOCKFS_KEEP_FOLDER)
            return error_refuse(error, "--discard: bytes are kept or not; expected it without --store");
        o->keep = LOCKFS_KEEP_NOTHING;
    }
    o->parallel |= strcmp(name, "parallel") == 0;
    o->outlive |= strcmp(name, "outlive") == 0;
    o->help |= strcmp(name, "help") == 0;
    o->version |= strcmp(name, "version") == 0;
    return TRUE;
}

/* The option that `argument` names, up to its '='; NULL with *error set. */
static const struct option_text *find(const char *argument, GError **error)
{
    const char *names[G_N_ELEMENTS(texts)];
    bool is_long = argument[1] == '-';
    g_autofree char *name = g_strndup(argument + (is_long ? 2 : 1), strcspn(argument + (is_long ? 2 : 1), "="));

    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        names[i] = texts[i].name;
        if (is_long ? strcmp(name, texts[i].name) == 0 : texts[i].letter != '\0' && argument[1] == texts[i].letter &&
            argument[2] == '\0')
            return &texts[i];
    }
    g_autofree char *quoted = quantity_quote(argument);
    const char *nearest = nearest_name(name, names, G_N_ELEMENTS(names));
    if (nearest != NULL)
        error_refuse(error, "%s is not an option; did you mean --%s?", quoted, nearest);
    else
        error_refuse(error, "%s is not an option; expected one that --help lists", quoted);
    return NULL;
}

/* Reads the option at argv[*at], and moves *at behind it. */
static gboolean parse_option(int argc, char **argv, int *at, struct lockfs_options *options, GError **error)
{
    const char *argument = argv[(*at)++];
    const struct option_text *o = find(argument, error);

    if (o == NULL)
        return FALSE;
    const char *value = argument[1] == '-' ? strchr(argument, '=') : NULL;
    if (o->value == NULL) {
        if (value != NULL)
            return error_refuse(error, "--%s: takes no value", o->name);
        return store(options, o->name, NULL, error);
    }
    if (value == NULL && *at == argc)
        return error_refuse(error, "--%s: its value is missing; expected %s", o->name, o->value);
    return store(options, o->name, value != NULL ? value + 1 : argv[(*at)++], error);
}

gboolean lockfs_options_parse(int argc, char **argv, struct lockfs_options *options, GError **error)
{
    int at = 1;

    *options = (struct lockfs_options){
        .request = { .fixed_ns = 1000000 }, .channels = 32, .max_write_bytes = LOCKFS_MAX_WRITE,
        .keep = LOCKFS_KEEP_MEMORY, .capacity_bytes = -1,
    };
    while (at < argc && argv[at][0] == '-' && argv[at][1] != '\0') {
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (!parse_option(argc, argv, &at, options, error))
            return FALSE;
    }
    if (options->help || options->version)
        return TRUE;
    if (at == argc)
        return error_refuse(error, "the folder is missing; expected tiercel-lockfs [OPTION...] FOLDER [COMMAND...]");
    options->folder = argv[at++];
    if (*options->folder == '\0')
        return error_refuse(error, "the folder '' names nothing; expected a path");
    if (at < argc && strcmp(argv[at], "--") == 0)
        at++;
    else if (at < argc && argv[at][0] == '-')
        return error_refuse(error, "'%s' stands behind the folder; expected options before it", argv[at]);
    options->command = at < argc ? argv + at : NULL;
    if (at < argc && *argv[at] == '\0')
        return error_refuse(error, "the command '' names nothing; expected a program");
    if (options->capacity_bytes < 0)
        options->capacity_bytes = options->keep == LOCKFS_KEEP_MEMORY ? MEMORY_DEFAULT : 0;
    return TRUE;
}
