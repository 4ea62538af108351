/* SPDX-License-Identifier: BSD-3-Clause */
#include "sweep_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/folder.h"
#include "base/quantity.h"
#include "run_folder.h"
#include "sweep_claim.h"

#define DECK_NAME "sweep.deck"
#define LOCK_NAME ".lock"
#define SESSION_NAME ".session"

enum { FOLDER_MODE = 0777, FILE_MODE = 0666, ROOM_BYTES = 1 << 20 };

/* --- names --- */

char *sweep_folder_file(const struct sweep_folder *folder, const char *name)
{
    return g_build_filename(folder->path, name, NULL);
}

char *sweep_folder_point_file(const struct sweep_folder *folder, unsigned point, const char *name)
{
    g_autofree char *path = sweep_claim_name(folder, point, "");

    return g_build_filename(path, name, NULL);
}

/* Whether it is the file, or one that was being written in its place when its process was killed. */
static bool is_file(const char *name, const char *file)
{
    enum { RANDOM = 6 };            /* letters that g_file_set_contents adds */
    const char *rest = name + strlen(file);

    return g_str_has_prefix(name, file) &&
           (*rest == '\0' || strcmp(rest, ".part") == 0 ||
            (*rest == '.' && strlen(rest) == RANDOM + 1 &&
             strspn(rest + 1, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS) == RANDOM));
}

static bool is_own_file(const char *name)
{
    static const char *const names[] = { DECK_NAME, LOCK_NAME, SESSION_NAME, SWEEP_FOLDER_TSV, SWEEP_FOLDER_HDF5,
                                         SWEEP_FOLDER_POINTS, SWEEP_FOLDER_MANIFEST };

    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        if (is_file(name, names[i]))
            return true;
    return false;
}

static bool is_point(const char *name)
{
    size_t digits = strspn(name, G_CSET_DIGITS);
    const char *ending = name + digits;

    return digits >= SWEEP_CLAIM_DIGITS &&
           (*ending == '\0' || strcmp(ending, SWEEP_CLAIM_PART) == 0 || strcmp(ending, SWEEP_CLAIM_CLAIM) == 0 ||
            is_file(ending, SWEEP_CLAIM_FAILED));
}

/* --- what is there --- */

/* The first name that is not of a sweep, to be freed; NULL when there is none. */
static char *find_stranger(const char *folder, bool points)
{
    g_autoptr(GPtrArray) names = folder_names(folder);

    for (unsigned i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        if (points ? !is_point(name) : !is_own_file(name) && strcmp(name, SWEEP_CLAIM_POINTS) != 0)
            return points ? g_build_filename(SWEEP_CLAIM_POINTS, name, NULL) : g_strdup(name);
    }
    return NULL;
}

static gboolean fail(const struct sweep_folder *folder, int code, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

static gboolean fail(const struct sweep_folder *folder, int code, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *quoted = quantity_quote(folder->path);
    g_set_error(error, TIERCEL_ERROR, code, "the folder %s of the sweep %s", quoted, text);
    return FALSE;
}

static gboolean check_strangers(const struct sweep_folder *folder, GError **error)
{
    g_autofree char *points = sweep_folder_file(folder, SWEEP_CLAIM_POINTS);
    g_autofree char *stranger = find_stranger(folder->path, false);

    if (stranger == NULL)
        stranger = find_stranger(points, true);
    if (stranger == NULL)
        return TRUE;
    g_autofree char *quoted = quantity_quote(stranger);
    return fail(folder, TIERCEL_ERROR_INPUT, error, "holds %s, which is not of a sweep; expected a new folder, or that "
                "of an earlier sweep (-o)", quoted);
}

static void remove_point(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);

    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        run_folder_remove(path);
    else
        g_unlink(path);
}

/* Everything but the locks. */
static void remove_all(const struct sweep_folder *folder)
{
    g_autofree char *points = sweep_folder_file(folder, SWEEP_CLAIM_POINTS);
    g_autoptr(GPtrArray) files = folder_names(folder->path);
    g_autoptr(GPtrArray) names = folder_names(points);

    for (unsigned i = 0; i < files->len; i++) {
        const char *name = files->pdata[i];
        g_autofree char *path = sweep_folder_file(folder, name);
        if (is_own_file(name) && strcmp(name, LOCK_NAME) != 0 && strcmp(name, SESSION_NAME) != 0)
            g_unlink(path);
    }
    for (unsigned i = 0; i < names->len; i++)
        remove_point(points, names->pdata[i]);
}

/* --- locks --- */

int sweep_folder_lock(const struct sweep_folder *folder, GError **error)
{
    g_autofree char *path = sweep_folder_file(folder, LOCK_NAME);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
    int status = -1;

    if (fd >= 0)
        do
            status = flock(fd, LOCK_EX);
        while (status != 0 && errno == EINTR);
    if (status == 0)
        return fd;
    fail(folder, TIERCEL_ERROR_RUNTIME, error, "cannot be locked: %s; expected a folder that can be written, on a file "
         "system with locks (Lustre: mounted with -o flock)", g_strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

void sweep_folder_unlock(int lock)
{
    close(lock);
}

/* Everybody who is at work holds it shared; who removes holds it alone. */
static gboolean open_session(struct sweep_folder *folder, GError **error)
{
    g_autofree char *path = sweep_folder_file(folder, SESSION_NAME);

    folder->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
    if (folder->lock >= 0 && flock(folder->lock, LOCK_SH) == 0)
        return TRUE;
    return fail(folder, TIERCEL_ERROR_RUNTIME, error, "cannot be locked: %s", g_strerror(errno));
}

bool sweep_folder_has_room(const struct sweep_folder *folder)
{
    g_autofree char *path = sweep_folder_file(folder, SWEEP_FOLDER_MANIFEST ".XXXXXX");
    g_autofree char *zeros = g_malloc0(ROOM_BYTES);
    int fd = g_mkstemp(path);

    if (fd < 0)
        return false;
    g_unlink(path);                 /* whatever happens now, nothing is left */
    bool good = write(fd, zeros, ROOM_BYTES) == ROOM_BYTES && fsync(fd) == 0;
    return close(fd) == 0 && good;
}

/* --- beginning --- */

/* The lines that count: the first, and all that are no comments. Free with g_free. */
static char *essence(const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
    GString *kept = g_string_new(NULL);

    for (unsigned i = 0; lines[i] != NULL; i++)
        if (i == 0 || (lines[i][0] != '#' && lines[i][0] != '\0'))
            g_string_append_printf(kept, "%s\n", lines[i]);
    return g_string_free(kept, FALSE);
}

/* "[group] key" of each entry, in order, and its value in `values`. */
static GPtrArray *entries_of(const char *text, GHashTable *values)
{
    GPtrArray *keys = g_ptr_array_new();
    g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
    const char *group = "";

    for (unsigned i = 1; lines[0] != NULL && lines[i] != NULL; i++) {
        char *equals = strstr(lines[i], " = ");
        if (lines[i][0] == '[')
            group = lines[i];
        else if (equals != NULL) {
            *equals = '\0';
            char *key = g_strdup_printf("%s %s", group, lines[i]);
            g_hash_table_insert(values, key, g_strdup(equals + 3));
            g_ptr_array_add(keys, key);
        }
    }
    return keys;
}

/* That a deck is no longer comparable only follows from another key. */
static const char *find_difference(const GPtrArray *keys, GHashTable *values, GHashTable *others)
{
    for (unsigned i = 0; i < keys->len; i++)
        if (strcmp(keys->pdata[i], "[deck] comparable") != 0 &&
            g_strcmp0(g_hash_table_lookup(values, keys->pdata[i]), g_hash_table_lookup(others, keys->pdata[i])) != 0)
            return keys->pdata[i];
    return NULL;
}

static char *quote_value(GHashTable *values, const char *key)
{
    const char *value = g_hash_table_lookup(values, key);

    return value == NULL ? g_strdup("not stated") : quantity_quote(value);
}

/* The first key in which two essences differ, or what their first lines say. Free with g_free. */
static char *tell_difference(const char *old_text, const char *new_text)
{
    g_autoptr(GHashTable) old_values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GHashTable) new_values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GPtrArray) old_keys = entries_of(old_text, old_values);
    g_autoptr(GPtrArray) new_keys = entries_of(new_text, new_values);
    const char *key = find_difference(old_keys, old_values, new_values);
    size_t version = strcspn(old_text, ",\n");

    if (key == NULL)
        key = find_difference(new_keys, new_values, old_values);
    if (key != NULL) {
        g_autofree char *old_value = quote_value(old_values, key);
        g_autofree char *new_value = quote_value(new_values, key);
        return g_strdup_printf("%s is %s there and %s here", key, old_value, new_value);
    }
    if (version == strcspn(new_text, ",\n") && strncmp(old_text, new_text, version) == 0)
        return g_strdup("the files of its workload have other contents now");
    return g_strdup("another version of tiercel began it");
}

static gboolean compare(const struct sweep_folder *folder, const char *there, const char *identity, GError **error)
{
    g_autofree char *old_text = essence(there);
    g_autofree char *new_text = essence(identity);

    if (strcmp(old_text, new_text) == 0)
        return TRUE;
    g_autofree char *difference = tell_difference(old_text, new_text);
    return fail(folder, TIERCEL_ERROR_INPUT, error, "is of another sweep: %s; expected a new folder (-o), or --force "
                "to replace what is there", difference);
}

static gboolean write_identity(const struct sweep_folder *folder, const char *path, const char *identity,
                               GError **error)
{
    g_autoptr(GError) why = NULL;

    if (!g_file_set_contents(path, identity, -1, &why))
        return fail(folder, TIERCEL_ERROR_RUNTIME, error, "cannot be written: %s", why->message);
    return TRUE;
}

/* With the lock held. */
static gboolean begin(struct sweep_folder *folder, const char *identity, bool force, GError **error)
{
    g_autofree char *path = sweep_folder_file(folder, DECK_NAME);
    g_autofree char *points = sweep_folder_file(folder, SWEEP_CLAIM_POINTS);
    g_autofree char *there = NULL;

    if (force && flock(folder->lock, LOCK_EX | LOCK_NB) != 0)
        return fail(folder, TIERCEL_ERROR_INPUT, error, "is at work in another process; expected --force only when "
                    "nobody is");
    if (force)
        remove_all(folder);
    flock(folder->lock, LOCK_SH);
    if (g_mkdir(points, FOLDER_MODE) != 0 && errno != EEXIST)
        return fail(folder, TIERCEL_ERROR_RUNTIME, error, "cannot be made: %s", g_strerror(errno));
    if (g_file_get_contents(path, &there, NULL, NULL))
        return compare(folder, there, identity, error);
    return write_identity(folder, path, identity, error);
}

gboolean sweep_folder_open(struct sweep_folder *folder, const char *path, const char *identity, bool force,
                           GError **error)
{
    *folder = (struct sweep_folder){ .path = g_strdup(path), .lock = -1 };
    g_autofree char *deck = sweep_folder_file(folder, DECK_NAME);
    if (g_mkdir_with_parents(path, FOLDER_MODE) != 0)
        return fail(folder, TIERCEL_ERROR_RUNTIME, error, "cannot be made: %s", g_strerror(errno));
    /* What people put beside an earlier sweep's files is theirs. */
    if ((force || !g_file_test(deck, G_FILE_TEST_EXISTS)) && !check_strangers(folder, error))
        return FALSE;
    int lock = sweep_folder_lock(folder, error);
    if (lock < 0)
        return FALSE;
    gboolean good = open_session(folder, error) && begin(folder, identity, force, error);
    sweep_folder_unlock(lock);
    return good;
}

gboolean sweep_folder_join(struct sweep_folder *folder, const char *path, GError **error)
{
    *folder = (struct sweep_folder){ .path = g_strdup(path), .lock = -1 };
    return open_session(folder, error);
}

void sweep_folder_introduce(struct sweep_folder *folder, const char *session, unsigned processes)
{
    folder->session = g_strdup(session);
    folder->processes = processes;
}

void sweep_folder_release(struct sweep_folder *folder)
{
    if (folder->lock >= 0)
        close(folder->lock);
    folder->lock = -1;
    g_clear_pointer(&folder->path, g_free);
    g_clear_pointer(&folder->session, g_free);
}
