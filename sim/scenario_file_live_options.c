/* SPDX-License-Identifier: BSD-3-Clause */
/* What a group [io.NAME] says for the live clock: keys of its own, and what of the others cannot be played there. */
#include "scenario_file_live.h"

#include <string.h>

#include "io/mpiio.h"
#include "signals.h"

/* --- hints --- */

/* "key=value, key=value" as a list of keys and values that MPI takes, which ends the run over any other; NULL when it
 * is not one. */
static char **parse_hints(const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    bool whole = true;

    for (char **part = parts; *part != NULL; part++) {
        char *equals = strchr(*part, '=');
        if (equals == NULL)
            break;
        char *key = g_strstrip(g_strndup(*part, (gsize)(equals - *part)));
        char *value = g_strstrip(g_strdup(equals + 1));
        g_ptr_array_add(list, key);
        g_ptr_array_add(list, value);
        if (*key == '\0' || *value == '\0' || strlen(key) >= MPI_MAX_INFO_KEY || strlen(value) >= MPI_MAX_INFO_VAL) {
            whole = false;
            break;
        }
    }
    if (!whole || list->len != 2 * g_strv_length(parts)) {
        g_ptr_array_free(list, TRUE);
        return NULL;
    }
    g_ptr_array_add(list, NULL);
    return (char **)g_ptr_array_free(list, FALSE);
}

static void add_hint(char ***hints, const char *key, char *value)
{
    guint count = g_strv_length(*hints);
    *hints = g_renew(char *, *hints, count + 3);
    (*hints)[count] = g_strdup(key);
    (*hints)[count + 1] = value;
    (*hints)[count + 2] = NULL;
}

static void add_stated_hints(char ***hints, struct deck *deck, const char *group)
{
    if (!deck_has(deck, group, "hints"))
        return;
    g_auto(GStrv) stated = parse_hints(deck_text(deck, group, "hints"));
    if (stated == NULL) {
        deck_complain(deck, group, "hints", "'%s' is not a list of hints; expected key=value, with commas between "
                      "them, keys of at most %d bytes and values of at most %d", deck_text(deck, group, "hints"),
                      MPI_MAX_INFO_KEY - 1, MPI_MAX_INFO_VAL - 1);
        return;
    }
    for (char **hint = stated; *hint != NULL; hint += 2)
        add_hint(hints, hint[0], g_strdup(hint[1]));
}

/* What the deck says of collective writes is a hint to the library; one that is stated as such counts more. */
static char **read_hints(const struct collective *c, struct deck *deck, const char *group)
{
    char **hints = g_new0(char *, 1);

    if (c->aggregators != 0)
        add_hint(&hints, "cb_nodes", g_strdup_printf("%u", c->aggregators));
    if (c->buffer != 0)
        add_hint(&hints, "cb_buffer_size", g_strdup_printf("%" G_GUINT64_FORMAT, c->buffer));
    if (c->kind == COLLECTIVE_ROMIO && c->aggregators_per_node > 1)
        add_hint(&hints, "cb_config_list", g_strdup_printf("*:%u", c->aggregators_per_node));
    add_stated_hints(&hints, deck, group);
    return hints;
}

/* --- what cannot be played --- */

static void check(const struct file_live *live, const struct shared_file *f, struct deck *deck, const char *group)
{
    if (f->append)
        deck_complain(deck, group, "append", "is not played on the live clock: MPI-IO does not know it; expected "
                      "false");
    if (f->cached_users != 0)
        deck_complain(deck, group, "cached-users", "'%u' are not there on the live clock; expected 0", f->cached_users);
    if (live->locked && f->rules != INODE_FUSE_62 && f->rules != INODE_FUSE_69 && f->rules != INODE_EXTENDING_SHARED)
        deck_complain(deck, group, "rules", "'%s' cannot be emulated on the live clock, which knows a file's end but "
                      "not its blocks; expected fuse-6.2, fuse-6.9 or extending-shared",
                      deck_text(deck, group, "rules"));
}

void file_live_read(struct file_live *live, const struct shared_file *f, struct deck *deck, const char *group)
{
    *live = (struct file_live){
        .locked = deck_choice(deck, group, "lock", NULL) != 2, .windows = deck_choice(deck, group, "windows", NULL),
        .verify = deck_boolean(deck, group, "verify"), .keep = deck_boolean(deck, group, "keep"),
        .hints = read_hints(&f->collective, deck, group),
        .folder = deck_has(deck, "server", "folder") ? deck_text(deck, "server", "folder") : NULL
    };
    check(live, f, deck, group);
}

void file_live_release(struct file_live *live)
{
    g_strfreev(live->hints);
}

/* --- for the back end --- */

char *file_live_path(const struct file_live *live, const char *folder, const char *name)
{
    g_autofree char *file = g_strdup_printf("%s.data", name);
    return g_build_filename(live->folder != NULL ? live->folder : folder != NULL ? folder : ".", file, NULL);
}

void file_live_describe(const struct file_live *live, const struct shared_file *f, const char *path,
                        struct mpiio_job *job)
{
    static const enum mpiio_prepare prepares[] = {
        [PREPARE_NOTHING] = MPIIO_PREPARE_NOTHING, [PREPARE_SET_SIZE] = MPIIO_PREPARE_SET_SIZE,
        [PREPARE_ALLOCATE] = MPIIO_PREPARE_ALLOCATE, [PREPARE_SIZED] = MPIIO_PREPARE_SET_SIZE,
        [PREPARE_FILLED] = MPIIO_PREPARE_FILL
    };

    *job = (struct mpiio_job){
        .name = f->name, .path = path, .pattern = f->pattern, .writers = f->writers, .each = f->each,
        .locked = live->locked, .rules = { .rules = f->rules, .parallel = f->parallel },
        .windows = (enum mpiio_windows)live->windows, .prepare = prepares[f->prepare], .collective = f->collective,
        .plan = f->plan, .hints = live->hints, .think_ns = f->think.a_ns, .verify = live->verify, .keep = live->keep,
        .stop = signals_stop_wanted, .made = signals_remove
    };
}
