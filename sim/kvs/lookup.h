/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a key from a root, through directories that may have to be loaded first.
 *
 *     struct lookup *l = lookup_new(&root_reference, "job.0000.0927.c000.0000.R", LOOKUP_VALUE);
 *     switch (lookup_walk(l, &cache, epoch)) {
 *     case LOOKUP_LOADING:    for each of l->missing: waitlist_add, content.load; walk again when all have come
 *     case LOOKUP_NAMESPACE:  a symlink leads into l->namespace_name: lookup_enter(l, &its_root) when the caller may
 *                             use it, or lookup_fail(l, ENOTSUP); then walk again
 *     case LOOKUP_DONE:       l->value (LOOKUP_VALUE) or l->object (the others)
 *     case LOOKUP_FAILED:     l->errnum
 *     }
 *     lookup_free(l);
 *
 * A lookup is a snapshot: it stays with the root that it was given, however often it has to wait. It goes on where it
 * stood; values that consist of many blobs are gathered when all of them are in the cache.
 *
 * Errors: ENOENT (no such key), EISDIR (a directory was read as a value), ENOTDIR (a value was read as a directory, or
 * stands on the way), ELOOP (more than 10 symlinks), EINVAL (LOOKUP_LINK of "." or of what is no symlink),
 * ENOTRECOVERABLE (a directory reference whose blob is no directory). A blob that cannot be had: lookup_fail.
 * All functions are local.
 */
#ifndef TIERCEL_KVS_LOOKUP_H
#define TIERCEL_KVS_LOOKUP_H

#include "kvs/treeobj.h"

enum { LOOKUP_SYMLINKS_MAX = 10 };

enum lookup_type {
    LOOKUP_VALUE,           /* the bytes of a value */
    LOOKUP_DIRECTORY,       /* the directory object; symlinks at the end are followed */
    LOOKUP_LINK,            /* the symlink itself */
    LOOKUP_OBJECT           /* what the directory holds under the name, unresolved at the end; for ".", a directory
                             * reference to the root: what the copy of a guest namespace needs */
};

enum lookup_state {
    LOOKUP_WALKING,         /* not started, or woken */
    LOOKUP_LOADING,
    LOOKUP_NAMESPACE,
    LOOKUP_DONE,
    LOOKUP_FAILED
};

struct lookup {
    enum lookup_type type;
    enum lookup_state state;
    int errnum;
    uint32_t outstanding;       /* LOOKUP_LOADING: blobs that it waits for */
    GArray *missing;            /* LOOKUP_LOADING: struct blobref, each once; may be NULL else */
    char *namespace_name;       /* LOOKUP_NAMESPACE; afterwards the namespace it is in; NULL: where it began */
    struct bytes value;         /* LOOKUP_DONE: the value's bytes, or the canonical bytes of the object */
    struct treeobj object;      /* LOOKUP_DONE, all types but LOOKUP_VALUE: a view of them */

    struct blobref root;        /* of the namespace that it is in */
    char *path;                 /* what is left of the key, from `at` on */
    const char *at;
    struct blobref directory;   /* where it stands */
    struct bytes in_place;      /* the directory where it stands, when that is not a blob's */
    uint32_t symlinks;
    uint32_t loads;             /* directories and values that were not in the cache, for the caller's counts */
};

/* `key` need not be normalised. */
struct lookup *lookup_new(const struct blobref *root, const char *key, enum lookup_type type);
void lookup_free(struct lookup *l);

enum lookup_state lookup_walk(struct lookup *l, struct content *cache, uint32_t epoch);

/* One of the missing blobs is in the cache; true when it was the last and lookup_walk is due. */
bool lookup_arrived(struct lookup *l);

/* The root of the namespace that a symlink leads into. */
void lookup_enter(struct lookup *l, const struct blobref *root);

/* It cannot go on: the next lookup_walk gives LOOKUP_FAILED with this errno value. */
void lookup_fail(struct lookup *l, int errnum);

/* Canonical: all that a waiting lookup knows. */
void lookup_save(const struct lookup *l, struct bytes *sink);

#endif
