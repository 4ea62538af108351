/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lockfs/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

struct lockfs_file {
    uint64_t number;
    char *name;                 /* NULL once unlinked */
    int bytes;                  /* a descriptor, -1 where nothing is kept */
    uint64_t size_bytes;
    int64_t modified_ns;
    uint32_t mode, uid, gid;
    uint64_t lookups;           /* the kernel's references */
    uint32_t users;             /* ours */
    struct lockfs_flight flight;
};

struct lockfs_store {
    enum lockfs_keep keep;
    int folder;                 /* -1 unless LOCKFS_KEEP_FOLDER */
    uint64_t capacity_bytes;
    pthread_mutex_t mutex;               /* over all below, and all of the files but their bytes */
    GHashTable *by_name;
    GTree *by_number;           /* owns nothing; in order, for the folder's listing */
    uint64_t last_number;
    uint64_t used_bytes;        /* all ends together */
    uint64_t aside_bytes;       /* set aside for writes in service */
};

static int open_nameless(int folder)
{
    return openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/* The folder's descriptor, or -1 with *error: one in which no nameless file can be made is told at once. */
static int open_folder(const char *folder, GError **error)
{
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "the folder for the bytes, %s, cannot be opened: %s",
                    folder, g_strerror(errno));
        return -1;
    }
    int trial = open_nameless(descriptor);
    if (trial < 0) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "the folder for the bytes, %s, takes no nameless files "
                    "(O_TMPFILE): %s; expected one that may be written, on a file system such as ext4, XFS or tmpfs",
                    folder, g_strerror(errno));
        close(descriptor);
        return -1;
    }
    close(trial);
    return descriptor;
}

static gint compare_numbers(gconstpointer a, gconstpointer b, gpointer unused)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

struct lockfs_store *lockfs_store_new(enum lockfs_keep keep, const char *folder, uint64_t capacity_bytes,
                                      GError **error)
{
    int descriptor = -1;

    if (keep == LOCKFS_KEEP_FOLDER && (descriptor = open_folder(folder, error)) < 0)
        return NULL;
    struct lockfs_store *store = g_new0(struct lockfs_store, 1);
    store->keep = keep;
    store->folder = descriptor;
    store->capacity_bytes = capacity_bytes;
    pthread_mutex_init(&store->mutex, NULL);
    store->by_name = g_hash_table_new(g_str_hash, g_str_equal);
    store->by_number = g_tree_new_full(compare_numbers, NULL, NULL, NULL);
    store->last_number = LOCKFS_ROOT;
    return store;
}

static void file_free(struct lockfs_file *file)
{
    if (file->bytes >= 0)
        close(file->bytes);
    g_free(file->name);
    g_free(file);
}

static gboolean free_entry(gpointer number, gpointer file, gpointer unused)
{
    file_free(file);
    return FALSE;
}

void lockfs_store_free(struct lockfs_store *store)
{
    if (store == NULL)
        return;
    g_hash_table_destroy(store->by_name);
    g_tree_foreach(store->by_number, free_entry, NULL);
    g_tree_destroy(store->by_number);
    if (store->folder >= 0)
        close(store->folder);
    pthread_mutex_destroy(&store->mutex);
    g_free(store);
}

/* With the mutex: frees the file when nobody can reach it any more. */
static void drop_unused(struct lockfs_store *store, struct lockfs_file *file)
{
    if (file->name != NULL || file->lookups > 0 || file->users > 0)
        return;
    g_tree_remove(store->by_number, &file->number);
    store->used_bytes -= file->size_bytes;
    file_free(file);
}

static int hand_out(struct lockfs_file *found, struct lockfs_file **file)
{
    if (found == NULL)
        return ENOENT;
    found->users++;
    *file = found;
    return 0;
}

int lockfs_store_find(struct lockfs_store *store, const char *name, struct lockfs_file **file)
{
    pthread_mutex_lock(&store->mutex);
    int code = hand_out(g_hash_table_lookup(store->by_name, name), file);
    pthread_mutex_unlock(&store->mutex);
    return code;
}

int lockfs_store_by_number(struct lockfs_store *store, uint64_t number, struct lockfs_file **file)
{
    pthread_mutex_lock(&store->mutex);
    int code = hand_out(g_tree_lookup(store->by_number, &number), file);
    pthread_mutex_unlock(&store->mutex);
    return code;
}

void lockfs_store_let_go(struct lockfs_store *store, struct lockfs_file *file)
{
    pthread_mutex_lock(&store->mutex);
    g_assert(file->users > 0);
    file->users--;
    drop_unused(store, file);
    pthread_mutex_unlock(&store->mutex);
}

/* A place for the bytes of a new file: a descriptor, or -1 with errno set. */
static int open_bytes(const struct lockfs_store *store)
{
    return store->keep == LOCKFS_KEEP_MEMORY ? memfd_create("lockfs", MFD_CLOEXEC)
                                             : open_nameless(store->folder);
}

int lockfs_store_create(struct lockfs_store *store, const char *name, uint32_t mode, uint32_t uid, uint32_t gid,
                        struct lockfs_file **file)
{
    int bytes = -1;

    if (name[0] == '\0' || strchr(name, '/') != NULL || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return EINVAL;
    if (strlen(name) > LOCKFS_NAME_MAX)
        return ENAMETOOLONG;
    if (store->keep != LOCKFS_KEEP_NOTHING) {
        bytes = open_bytes(store);
        if (bytes < 0)
            return errno;
    }
    pthread_mutex_lock(&store->mutex);
    if (g_hash_table_contains(store->by_name, name)) {
        pthread_mutex_unlock(&store->mutex);
        if (bytes >= 0)
            close(bytes);
        return EEXIST;
    }
    struct lockfs_file *made = g_new0(struct lockfs_file, 1);
    made->number = ++store->last_number;
    made->name = g_strdup(name);
    made->bytes = bytes;
    made->mode = S_IFREG | (mode & 07777);
    made->uid = uid;
    made->gid = gid;
    made->modified_ns = g_get_real_time() * 1000;
    g_hash_table_insert(store->by_name, made->name, made);
    g_tree_insert(store->by_number, &made->number, made);
    hand_out(made, file);
    pthread_mutex_unlock(&store->mutex);
    return 0;
}

int lockfs_store_unlink(struct lockfs_store *store, const char *name)
{
    pthread_mutex_lock(&store->mutex);
    struct lockfs_file *file = g_hash_table_lookup(store->by_name, name);
    if (file != NULL) {
        g_hash_table_remove(store->by_name, name);
        g_clear_pointer(&file->name, g_free);
        drop_unused(store, file);
    }
    pthread_mutex_unlock(&store->mutex);
    return file != NULL ? 0 : ENOENT;
}

void lockfs_store_remember(struct lockfs_store *store, struct lockfs_file *file)
{
    pthread_mutex_lock(&store->mutex);
    file->lookups++;
    pthread_mutex_unlock(&store->mutex);
}

void lockfs_store_forget(struct lockfs_store *store, uint64_t number, uint64_t times)
{
    pthread_mutex_lock(&store->mutex);
    struct lockfs_file *file = g_tree_lookup(store->by_number, &number);
    if (file != NULL) {
        file->lookups -= MIN(file->lookups, times);
        drop_unused(store, file);
    }
    pthread_mutex_unlock(&store->mutex);
}

struct search {
    uint64_t after;
    const struct lockfs_file *found;
};

static gboolean first_after(gpointer number, gpointer value, gpointer closure)
{
    const struct lockfs_file *file = value;
    struct search *search = closure;

    if (file->number <= search->after || file->name == NULL)
        return FALSE;
    search->found = file;
    return TRUE;
}

bool lockfs_store_next(struct lockfs_store *store, uint64_t after, char name[LOCKFS_NAME_MAX + 1], uint64_t *number)
{
    struct search search = { .after = after };

    pthread_mutex_lock(&store->mutex);
    g_tree_foreach(store->by_number, first_after, &search);
    if (search.found != NULL) {
        g_strlcpy(name, search.found->name, LOCKFS_NAME_MAX + 1);
        *number = search.found->number;
    }
    pthread_mutex_unlock(&store->mutex);
    return search.found != NULL;
}

struct lockfs_attributes lockfs_store_attributes(struct lockfs_store *store, struct lockfs_file *file)
{
    pthread_mutex_lock(&store->mutex);
    struct lockfs_attributes attributes = {
        .number = file->number,
        .size_bytes = file->size_bytes,
        .modified_ns = file->modified_ns,
        .mode = file->mode,
        .uid = file->uid,
        .gid = file->gid,
        .linked = file->name != NULL,
    };
    pthread_mutex_unlock(&store->mutex);
    return attributes;
}

void lockfs_store_set_mode(struct lockfs_store *store, struct lockfs_file *file, uint32_t mode)
{
    pthread_mutex_lock(&store->mutex);
    file->mode = S_IFREG | (mode & 07777);
    pthread_mutex_unlock(&store->mutex);
}

void lockfs_store_set_owner(struct lockfs_store *store, struct lockfs_file *file, uint32_t uid, uint32_t gid)
{
    pthread_mutex_lock(&store->mutex);
    file->uid = uid;
    file->gid = gid;
    pthread_mutex_unlock(&store->mutex);
}

void lockfs_store_set_modified(struct lockfs_store *store, struct lockfs_file *file, int64_t modified_ns)
{
    pthread_mutex_lock(&store->mutex);
    file->modified_ns = modified_ns;
    pthread_mutex_unlock(&store->mutex);
}

/* With the mutex: whether `more` bytes can be added to what is used and set aside. */
static bool has_room(const struct lockfs_store *store, uint64_t more)
{
    uint64_t taken = store->used_bytes + store->aside_bytes;

    return store->capacity_bytes == 0 || (taken <= store->capacity_bytes && more <= store->capacity_bytes - taken);
}

/* With the mutex: how far the end of the file would move. */
static uint64_t growth(const struct lockfs_file *file, uint64_t end)
{
    return end > file->size_bytes ? end - file->size_bytes : 0;
}

/* Files end where off_t does. */
static bool within_range(uint64_t offset, uint64_t length)
{
    return offset <= INT64_MAX && length <= INT64_MAX - offset;
}

int lockfs_store_set_size(struct lockfs_store *store, struct lockfs_file *file, uint64_t size_bytes)
{
    int code = 0;

    if (!within_range(size_bytes, 0))
        return EFBIG;
    pthread_mutex_lock(&store->mutex);
    if (!has_room(store, growth(file, size_bytes))) {
        code = ENOSPC;
    } else if (file->bytes >= 0 && ftruncate(file->bytes, (off_t)size_bytes) != 0) {
        code = errno;
    } else {
        store->used_bytes += size_bytes - file->size_bytes;
        file->size_bytes = size_bytes;
        file->modified_ns = g_get_real_time() * 1000;
    }
    pthread_mutex_unlock(&store->mutex);
    return code;
}

static int write_all(int descriptor, const char *bytes, size_t length, uint64_t offset)
{
    while (length > 0) {
        ssize_t done = pwrite(descriptor, bytes, length, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? errno : ENOSPC;
        bytes += done;
        offset += (uint64_t)done;
        length -= (size_t)done;
    }
    return 0;
}

int lockfs_store_put(struct lockfs_store *store, struct lockfs_file *file, uint64_t offset, const void *bytes,
                     uint32_t length, uint64_t *aside_bytes)
{
    if (!within_range(offset, length))
        return EFBIG;
    pthread_mutex_lock(&store->mutex);
    uint64_t more = growth(file, offset + length);
    bool room = has_room(store, more);
    if (room)
        store->aside_bytes += more;
    pthread_mutex_unlock(&store->mutex);
    if (!room)
        return ENOSPC;
    int code = file->bytes >= 0 ? write_all(file->bytes, bytes, length, offset) : 0;
    if (code != 0) {
        pthread_mutex_lock(&store->mutex);
        store->aside_bytes -= more;
        pthread_mutex_unlock(&store->mutex);
    }
    *aside_bytes = more;
    return code;
}

void lockfs_store_grow(struct lockfs_store *store, struct lockfs_file *file, uint64_t end, uint64_t aside_bytes,
                       int64_t modified_ns)
{
    pthread_mutex_lock(&store->mutex);
    uint64_t more = growth(file, end);
    store->aside_bytes -= aside_bytes;
    store->used_bytes += more;
    file->size_bytes += more;
    file->modified_ns = modified_ns;
    pthread_mutex_unlock(&store->mutex);
}

int lockfs_store_get(struct lockfs_store *store, struct lockfs_file *file, uint64_t offset, void *bytes,
                     uint32_t length, uint32_t *got)
{
    char *to = bytes;

    pthread_mutex_lock(&store->mutex);
    uint64_t size = file->size_bytes;
    pthread_mutex_unlock(&store->mutex);
    length = offset < size ? (uint32_t)MIN(length, size - offset) : 0;
    *got = length;
    while (length > 0 && file->bytes >= 0) {
        ssize_t done = pread(file->bytes, to, length, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return errno;
        if (done == 0)
            break;
        to += done;
        offset += (uint64_t)done;
        length -= (uint32_t)done;
    }
    /* Nothing was ever written there. */
    memset(to, 0, length);
    return 0;
}

struct lockfs_usage lockfs_store_usage(struct lockfs_store *store)
{
    pthread_mutex_lock(&store->mutex);
    struct lockfs_usage usage = {
        .used_bytes = store->used_bytes,
        .capacity_bytes = store->capacity_bytes,
        .files = g_hash_table_size(store->by_name),
    };
    pthread_mutex_unlock(&store->mutex);
    return usage;
}

struct lockfs_flight *lockfs_store_flight(struct lockfs_file *file)
{
    return &file->flight;
}
