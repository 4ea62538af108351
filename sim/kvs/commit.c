/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/commit.h"

#include <errno.h>

#include "kvs/directory.h"
#include "kvs/key.h"

/* What one application of a commit's operations works with. */
struct application {
    struct commit *commit;
    struct directory *root;
    struct content *cache;
    uint32_t epoch;
};

/* --- results --- */

static void blobs_clear(struct commit *commit)
{
    for (guint i = 0; i < commit->stores->len; i++)
        blob_pool_unref(commit->pool, commit->stores->pdata[i]);
    g_ptr_array_set_size(commit->stores, 0);
}

static void note_missing(struct commit *commit, const struct blobref *ref)
{
    for (guint i = 0; i < commit->missing->len; i++)
        if (blobref_equal(&g_array_index(commit->missing, struct blobref, i), ref))
            return;
    g_array_append_val(commit->missing, *ref);
}

static void note_stored(void *data, struct blob *blob)
{
    g_ptr_array_add(((struct commit *)data)->stores, blob);
}

/* A value that is stored at once: a part of an appended one. */
static struct blobref store_value(const struct application *a, const struct treeobj *value)
{
    struct blobref ref = blobref_of(value->data, value->size);
    note_stored(a->commit, blob_pool_take(a->commit->pool, &ref, value->data, value->size));
    return ref;
}

/* --- operations --- */

static int append(const struct application *a, struct directory *d, const char *name, size_t name_size,
                  const struct treeobj *value)
{
    struct treeobj present;
    struct directory *below;
    if (!directory_get(d, name, name_size, &present, &below)) {
        directory_put(d, name, name_size, value);
        return 0;
    }
    if (below != NULL || present.type == TREEOBJ_DIRECTORY || present.type == TREEOBJ_DIRECTORY_REFERENCE)
        return EISDIR;
    if (present.type == TREEOBJ_SYMLINK)
        return EOPNOTSUPP;
    struct bytes references = BYTES_INIT;
    if (present.type == TREEOBJ_VALUE) {
        struct blobref first = store_value(a, &present);
        blobref_put(&references, &first);
    } else {
        bytes_put(&references, present.data, present.size);
    }
    struct blobref added = store_value(a, value);
    blobref_put(&references, &added);
    struct treeobj list = { TREEOBJ_VALUE_REFERENCE, (uint32_t)references.size, references.data };
    directory_put(d, name, name_size, &list);
    bytes_release(&references);
    return 0;
}

static int apply_at(const struct application *a, struct directory *d, const char *name, size_t name_size,
                    const struct operation *operation)
{
    switch (operation->type) {
    case OPERATION_PUT:
        if (operation->object.type == TREEOBJ_DIRECTORY)
            directory_put_below(d, name, name_size, directory_copy(a->commit->pool, &operation->object));
        else
            directory_put(d, name, name_size, &operation->object);
        return 0;
    case OPERATION_APPEND:
        return append(a, d, name, name_size, &operation->object);
    case OPERATION_UNLINK:
        directory_remove(d, name, name_size);
        return 0;
    }
    g_assert_not_reached();
}

/* The directory under a reference, under change; NULL with *errnum, which is 0 when it must be loaded first. */
static struct directory *open_reference(const struct application *a, const struct blobref *ref, int *errnum)
{
    struct treeobj view;
    *errnum = 0;
    struct blob *blob = content_use(a->cache, ref, a->epoch);
    if (blob == NULL) {
        note_missing(a->commit, ref);
        return NULL;
    }
    if (!treeobj_from_blob(blob, &view)) {
        *errnum = ENOTRECOVERABLE;
        return NULL;
    }
    return directory_open(a->commit->pool, blob, &view);
}

/* The rest of a key, behind a symlink's target. */
static int follow(const struct treeobj *link, const char *rest, char **path, unsigned *symlinks)
{
    const char *namespace_name, *target;
    size_t namespace_size, target_size;
    treeobj_symlink(link, &namespace_name, &namespace_size, &target, &target_size);
    if (namespace_size != 0)
        return EINVAL;
    if (++*symlinks > COMMIT_SYMLINKS_MAX)
        return ELOOP;
    GString *joined = g_string_new_len(target, (gssize)target_size);
    g_string_append_c(joined, '.');
    g_string_append(joined, rest);
    char *longer = g_malloc(joined->len + 2);
    key_normalize(joined->str, longer);
    g_string_free(joined, TRUE);
    g_free(*path);
    *path = longer;
    return 0;
}

/* Walks down to the directory that holds the last name of *path, making what is missing on the way, and applies the
 * operation there. *path may be replaced, when a symlink is met. */
static int apply_on_path(const struct application *a, const struct operation *operation, char **path)
{
    struct directory *d = a->root;
    const char *rest = *path;
    unsigned symlinks = 0;
    for (;;) {
        size_t size;
        const char *name = key_next(&rest, &size);
        if (name == NULL || size > TREEOBJ_NAME_MAX)
            return EINVAL;
        if (*rest == '\0')
            return apply_at(a, d, name, size, operation);

        struct treeobj object = { .type = TREEOBJ_VALUE };
        struct directory *below;
        bool found = directory_get(d, name, size, &object, &below);
        int errnum = 0;
        if (below != NULL) {
            d = below;
            continue;
        }
        if (found && object.type == TREEOBJ_SYMLINK) {
            errnum = follow(&object, rest, path, &symlinks);
            if (errnum != 0)
                return errnum;
            d = a->root;
            rest = *path;
            continue;
        }
        if (found && object.type == TREEOBJ_DIRECTORY_REFERENCE) {
            struct blobref ref = treeobj_reference(&object, 0);
            below = open_reference(a, &ref, &errnum);
            if (below == NULL)
                return errnum;
        } else if (found && object.type == TREEOBJ_DIRECTORY) {
            below = directory_copy(a->commit->pool, &object);
        } else {
            if (operation->type == OPERATION_UNLINK)
                return 0;
            below = directory_new(a->commit->pool);
        }
        directory_put_below(d, name, size, below);
        d = below;
    }
}

static int apply_transaction(const struct application *a, const struct transaction *t)
{
    struct cursor walk = transaction_walk(t);
    struct operation operation;
    while (transaction_next(&walk, &operation)) {
        char *path = g_strdup(operation.key);
        int errnum = apply_on_path(a, &operation, &path);
        g_free(path);
        if (errnum != 0)
            return errnum;
    }
    return 0;
}

/* --- from the applied tree to what must be stored --- */

static int compare_keys(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void collect_keys(struct commit *commit)
{
    GPtrArray *all = g_ptr_array_new();
    for (guint i = 0; i < commit->transactions->len; i++) {
        struct cursor walk = transaction_walk(commit->transactions->pdata[i]);
        struct operation operation;
        while (transaction_next(&walk, &operation))
            g_ptr_array_add(all, (gpointer)operation.key);
    }
    g_ptr_array_sort(all, compare_keys);
    for (guint i = 0; i < all->len; i++)
        if (i == 0 || strcmp(all->pdata[i - 1], all->pdata[i]) != 0)
            g_ptr_array_add(commit->keys, g_strdup(all->pdata[i]));
    g_ptr_array_free(all, TRUE);
}

static bool is_awaited(const struct commit *commit, const struct blobref *ref)
{
    for (guint i = 0; i < commit->awaited->len; i++)
        if (blobref_equal(&g_array_index(commit->awaited, struct blobref, i), ref))
            return true;
    return false;
}

/* Puts the new blobs into the cache, dirty; those that were there already need not be sent, and those that are dirty
 * for somebody else are awaited all the same. */
static void enter_stores(struct commit *commit, struct content *cache, uint32_t epoch)
{
    guint kept = 0;
    for (guint i = 0; i < commit->stores->len; i++) {
        struct blob *blob = commit->stores->pdata[i];
        bool is_new;
        content_add(cache, blob, epoch, &is_new);
        if (is_new)
            content_set_dirty(cache, &blob->ref, true);
        if (is_new || (content_is_dirty(cache, &blob->ref) && !is_awaited(commit, &blob->ref)))
            g_array_append_val(commit->awaited, blob->ref);
        if (is_new)
            commit->stores->pdata[kept++] = blob;
        else
            blob_pool_unref(commit->pool, blob);
    }
    g_ptr_array_set_size(commit->stores, (gint)kept);
    commit->outstanding = commit->awaited->len;
}

static enum commit_state fail(struct commit *commit, int errnum)
{
    commit->errnum = errnum;
    return commit->state = COMMIT_FAILED;
}

static enum commit_state apply_operations(struct application *a)
{
    struct commit *commit = a->commit;
    int errnum = 0;
    for (guint i = 0; i < commit->transactions->len && errnum == 0; i++)
        errnum = apply_transaction(a, commit->transactions->pdata[i]);
    if (commit->missing->len != 0) {
        /* All is applied anew to a fresh copy, so an error, which may come of what is missing, will show again. */
        blobs_clear(commit);
        commit->outstanding = commit->missing->len;
        return commit->state = COMMIT_LOADING;
    }
    if (errnum != 0) {
        blobs_clear(commit);
        return fail(commit, errnum);
    }
    commit->root_directory = directory_store(a->root, note_stored, commit);
    commit->root = commit->root_directory->ref;
    collect_keys(commit);
    enter_stores(commit, a->cache, a->epoch);
    return commit->state = commit->outstanding != 0 ? COMMIT_STORING : COMMIT_DONE;
}

enum commit_state commit_apply(struct commit *commit, const struct blobref *root, bool removing,
                               struct content *cache, uint32_t epoch)
{
    if (commit->state != COMMIT_READY)
        return commit->state;
    if (removing)
        return fail(commit, ENOTSUP);
    if (commit->errnum != 0)
        return fail(commit, commit->errnum);
    if (commit->root_directory != NULL)
        return commit->state = COMMIT_DONE;
    commit->pool = cache->pool;
    g_array_set_size(commit->missing, 0);
    struct application a = { .commit = commit, .cache = cache, .epoch = epoch };
    int errnum;
    a.root = open_reference(&a, root, &errnum);
    if (errnum != 0)
        return fail(commit, errnum);
    if (a.root == NULL) {
        commit->outstanding = commit->missing->len;
        return commit->state = COMMIT_LOADING;
    }
    enum commit_state state = apply_operations(&a);
    directory_free(a.root);
    return state;
}

bool commit_arrived(struct commit *commit)
{
    g_assert(commit->outstanding != 0);
    if (--commit->outstanding != 0)
        return false;
    commit->state = COMMIT_READY;
    return true;
}

bool commit_fail(struct commit *commit, int errnum)
{
    if (commit->errnum == 0)
        commit->errnum = errnum;
    return commit_arrived(commit);
}

struct commit *commit_new(uint32_t flags)
{
    struct commit *commit = g_new0(struct commit, 1);
    commit->flags = flags;
    commit->transactions = g_ptr_array_new_with_free_func((GDestroyNotify)transaction_free);
    commit->missing = g_array_new(FALSE, FALSE, sizeof(struct blobref));
    commit->awaited = g_array_new(FALSE, FALSE, sizeof(struct blobref));
    commit->stores = g_ptr_array_new();
    commit->keys = g_ptr_array_new_with_free_func(g_free);
    return commit;
}

void commit_free(struct commit *commit)
{
    if (commit == NULL)
        return;
    blobs_clear(commit);
    if (commit->root_directory != NULL)
        blob_pool_unref(commit->pool, commit->root_directory);
    g_ptr_array_free(commit->stores, TRUE);
    g_ptr_array_free(commit->keys, TRUE);
    g_ptr_array_free(commit->transactions, TRUE);
    g_array_free(commit->missing, TRUE);
    g_array_free(commit->awaited, TRUE);
    g_free(commit);
}

static void put_references(struct bytes *sink, const GArray *refs)
{
    bytes_put_u32(sink, refs->len);
    bytes_put(sink, refs->data, (size_t)refs->len * BLOBREF_SIZE);
}

void commit_save(const struct commit *commit, struct bytes *sink)
{
    bytes_put_u8(sink, (uint8_t)commit->state);
    bytes_put_u32(sink, commit->flags);
    bytes_put_u8(sink, commit->alone);
    bytes_put_u32(sink, (uint32_t)commit->errnum);
    bytes_put_u32(sink, commit->outstanding);
    put_references(sink, commit->missing);
    put_references(sink, commit->awaited);
    bytes_put_u8(sink, commit->root_directory != NULL);
    blobref_put(sink, &commit->root);
    bytes_put_u32(sink, commit->transactions->len);
    for (guint i = 0; i < commit->transactions->len; i++)
        transaction_pack(commit->transactions->pdata[i], sink);
}
