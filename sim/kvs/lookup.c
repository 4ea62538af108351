/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/lookup.h"

#include <errno.h>

#include "kvs/key.h"

struct lookup *lookup_new(const struct blobref *root, const char *key, enum lookup_type type)
{
    struct lookup *l = g_new0(struct lookup, 1);
    l->type = type;
    l->root = l->directory = *root;
    l->path = g_malloc(strlen(key) + 2);
    key_normalize(key, l->path);
    l->at = l->path;
    return l;
}

void lookup_free(struct lookup *l)
{
    if (l == NULL)
        return;
    if (l->missing != NULL)
        g_array_free(l->missing, TRUE);
    bytes_release(&l->value);
    bytes_release(&l->in_place);
    g_free(l->namespace_name);
    g_free(l->path);
    g_free(l);
}

static enum lookup_state fail(struct lookup *l, int errnum)
{
    l->errnum = errnum;
    return l->state = LOOKUP_FAILED;
}

static bool misses_blobs(const struct lookup *l)
{
    return l->missing != NULL && l->missing->len != 0;
}

static void note_missing(struct lookup *l, const struct blobref *ref)
{
    /* Most lookups find all in the cache. */
    if (l->missing == NULL)
        l->missing = g_array_new(FALSE, FALSE, sizeof(struct blobref));
    for (guint i = 0; i < l->missing->len; i++)
        if (blobref_equal(&g_array_index(l->missing, struct blobref, i), ref))
            return;
    g_array_append_val(l->missing, *ref);
}

static enum lookup_state wait_for_missing(struct lookup *l)
{
    l->outstanding = l->missing->len;
    l->loads += l->missing->len;
    return l->state = LOOKUP_LOADING;
}

/* The result is an object: its bytes are copied, since the directory that it stands in may leave the cache. */
static enum lookup_state finish_object(struct lookup *l, const struct treeobj *object)
{
    bytes_clear(&l->value);
    treeobj_put(&l->value, object);
    struct cursor c = cursor_init(l->value.data, l->value.size);
    treeobj_read(&c, &l->object);
    return l->state = LOOKUP_DONE;
}

/* The result is a list of blobs: gathered when all are here. */
static enum lookup_state finish_reference(struct lookup *l, const struct treeobj *object, struct content *cache,
                                          uint32_t epoch)
{
    uint32_t count = treeobj_reference_count(object);
    bytes_clear(&l->value);
    for (uint32_t i = 0; i < count; i++) {
        struct blobref ref = treeobj_reference(object, i);
        const struct blob *blob = content_use(cache, &ref, epoch);
        if (blob == NULL)
            note_missing(l, &ref);
        else if (!misses_blobs(l))
            bytes_put(&l->value, blob->bytes, blob->size);
    }
    return misses_blobs(l) ? wait_for_missing(l) : (l->state = LOOKUP_DONE);
}

static void go_to_root(struct lookup *l)
{
    l->directory = l->root;
    bytes_clear(&l->in_place);
}

/* Goes on behind a symlink: at the root, or where another namespace begins. */
static enum lookup_state follow(struct lookup *l, const struct treeobj *link)
{
    if (++l->symlinks > LOOKUP_SYMLINKS_MAX)
        return fail(l, ELOOP);
    const char *namespace_name, *target;
    size_t namespace_size, target_size;
    treeobj_symlink(link, &namespace_name, &namespace_size, &target, &target_size);
    GString *joined = g_string_new_len(target, (gssize)target_size);
    g_string_append_c(joined, '.');
    g_string_append(joined, l->at);
    char *path = g_malloc(joined->len + 2);
    key_normalize(joined->str, path);
    g_string_free(joined, TRUE);
    g_free(l->path);
    l->path = path;
    l->at = path;
    if (namespace_size != 0) {
        g_free(l->namespace_name);
        l->namespace_name = g_strndup(namespace_name, namespace_size);
        return l->state = LOOKUP_NAMESPACE;
    }
    go_to_root(l);
    return l->state;
}

/* The key ends at a directory, which is loaded. */
static enum lookup_state finish_directory(struct lookup *l, const struct treeobj *directory)
{
    switch (l->type) {
    case LOOKUP_VALUE:
        return fail(l, EISDIR);
    case LOOKUP_LINK:
        return fail(l, EINVAL);
    default:
        return finish_object(l, directory);
    }
}

/* The last name's object, which is neither to be followed nor a directory to be loaded. */
static enum lookup_state finish(struct lookup *l, const struct treeobj *object, struct content *cache, uint32_t epoch)
{
    if (l->type == LOOKUP_OBJECT)
        return finish_object(l, object);
    if (l->type == LOOKUP_LINK)
        return object->type == TREEOBJ_SYMLINK ? finish_object(l, object) : fail(l, EINVAL);
    if (l->type == LOOKUP_DIRECTORY)
        return object->type == TREEOBJ_DIRECTORY ? finish_object(l, object) : fail(l, ENOTDIR);
    switch (object->type) {
    case TREEOBJ_VALUE:
        bytes_clear(&l->value);
        bytes_put(&l->value, object->data, object->size);
        return l->state = LOOKUP_DONE;
    case TREEOBJ_VALUE_REFERENCE:
        return finish_reference(l, object, cache, epoch);
    default:
        return fail(l, EISDIR);
    }
}

/* The directory where it stands; false, with the state set, when it is not at hand. */
static bool current_directory(struct lookup *l, struct content *cache, uint32_t epoch, struct treeobj *view)
{
    if (l->in_place.size != 0) {
        struct cursor c = cursor_init(l->in_place.data, l->in_place.size);
        treeobj_read(&c, view);
        return true;
    }
    struct blob *blob = content_use(cache, &l->directory, epoch);
    if (blob == NULL) {
        note_missing(l, &l->directory);
        wait_for_missing(l);
        return false;
    }
    if (!treeobj_from_blob(blob, view)) {
        fail(l, ENOTRECOVERABLE);
        return false;
    }
    return true;
}

/* Is the whole key "." of where it began, or of where a link led? Then the root's reference is known already. */
static bool at_root(const struct lookup *l)
{
    return l->at == l->path && strcmp(l->path, ".") == 0;
}

static void step_in_place(struct lookup *l, const struct treeobj *object)
{
    /* The object may be a view into in_place itself. */
    struct bytes copy = BYTES_INIT;
    treeobj_put(&copy, object);
    bytes_release(&l->in_place);
    l->in_place = copy;
}

/* One name further down; the state stays LOOKUP_WALKING while there is more to do. */
static enum lookup_state step(struct lookup *l, struct content *cache, uint32_t epoch)
{
    if (l->type == LOOKUP_OBJECT && at_root(l)) {
        struct treeobj reference = { TREEOBJ_DIRECTORY_REFERENCE, BLOBREF_SIZE, l->root.bytes };
        return finish_object(l, &reference);
    }
    struct treeobj directory, object;
    if (!current_directory(l, cache, epoch, &directory))
        return l->state;
    const char *before = l->at;
    size_t size;
    const char *name = key_next(&l->at, &size);
    if (name == NULL)
        return finish_directory(l, &directory);
    if (!treeobj_find(&directory, name, size, &object))
        return fail(l, ENOENT);
    bool last = *l->at == '\0';
    if (object.type == TREEOBJ_SYMLINK && !(last && (l->type == LOOKUP_LINK || l->type == LOOKUP_OBJECT)))
        return follow(l, &object);
    if (object.type == TREEOBJ_DIRECTORY_REFERENCE && (!last || l->type == LOOKUP_DIRECTORY)) {
        l->directory = treeobj_reference(&object, 0);
        bytes_clear(&l->in_place);
        return l->state;
    }
    if (last) {
        enum lookup_state state = finish(l, &object, cache, epoch);
        if (state == LOOKUP_LOADING)
            l->at = before;     /* the list is looked up again when its blobs are here */
        return state;
    }
    if (object.type != TREEOBJ_DIRECTORY)
        return fail(l, ENOTDIR);
    step_in_place(l, &object);
    return l->state;
}

enum lookup_state lookup_walk(struct lookup *l, struct content *cache, uint32_t epoch)
{
    if (l->state != LOOKUP_WALKING)
        return l->state;
    if (l->errnum != 0)
        return l->state = LOOKUP_FAILED;
    if (l->missing != NULL)
        g_array_set_size(l->missing, 0);
    while (l->state == LOOKUP_WALKING)
        step(l, cache, epoch);
    return l->state;
}

bool lookup_arrived(struct lookup *l)
{
    g_assert(l->state == LOOKUP_LOADING && l->outstanding != 0);
    if (--l->outstanding != 0)
        return false;
    l->state = LOOKUP_WALKING;
    return true;
}

void lookup_enter(struct lookup *l, const struct blobref *root)
{
    g_assert(l->state == LOOKUP_NAMESPACE);
    l->root = *root;
    go_to_root(l);
    l->state = LOOKUP_WALKING;
}

void lookup_fail(struct lookup *l, int errnum)
{
    l->errnum = errnum;
    if (l->state != LOOKUP_DONE)
        l->state = LOOKUP_WALKING;
}

void lookup_save(const struct lookup *l, struct bytes *sink)
{
    bytes_put_u8(sink, (uint8_t)l->type);
    bytes_put_u8(sink, (uint8_t)l->state);
    bytes_put_u32(sink, (uint32_t)l->errnum);
    bytes_put_u32(sink, l->outstanding);
    bytes_put_u32(sink, misses_blobs(l) ? l->missing->len : 0);
    if (misses_blobs(l))
        bytes_put(sink, l->missing->data, (size_t)l->missing->len * BLOBREF_SIZE);
    bytes_put_text(sink, l->namespace_name == NULL ? "" : l->namespace_name);
    bytes_put_span(sink, l->value.data, l->value.size);
    blobref_put(sink, &l->root);
    bytes_put_text(sink, l->at);
    blobref_put(sink, &l->directory);
    bytes_put_span(sink, l->in_place.data, l->in_place.size);
    bytes_put_u32(sink, l->symlinks);
    bytes_put_u32(sink, l->loads);
}
