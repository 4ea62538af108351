/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of a lockfs: one folder of plain files, each with a number, attributes, and its bytes.
 *
 *     struct lockfs_store *s = lockfs_store_new(LOCKFS_KEEP_MEMORY, NULL, 64 << 20, &error);
 *     struct lockfs_file *f;
 *     int code = lockfs_store_create(s, "shared", 0644, uid, gid, &f);     0, or an errno
 *     code = lockfs_store_put(s, f, offset, bytes, length, &aside);         the bytes are there, the end is not yet
 *     lockfs_store_grow(s, f, offset + length, aside, now_ns);              now the end has moved
 *     lockfs_store_let_go(s, f);
 *
 * Writing is in two steps because a server's reply, not the arrival of the bytes, is what moves the end of the file:
 * between the two the request is in service. lockfs_store_put sets room aside for what the write may add, and
 * lockfs_store_grow, which must follow each that succeeded, takes it back.
 *
 * Names are those of the one folder; the kernel's references to a file (lookups) keep it after it was unlinked, and so
 * do the references that the functions below hand out (each to be given back by lockfs_store_let_go). Every function
 * may be called by several threads at once; put and get copy outside the store's lock.
 */
#ifndef TIERCEL_LOCKFS_STORE_H
#define TIERCEL_LOCKFS_STORE_H

#include <stdint.h>

#include <glib.h>

#include "lockfs/write_counts.h"

enum lockfs_keep {
    LOCKFS_KEEP_MEMORY,         /* anonymous memory, sparse */
    LOCKFS_KEEP_FOLDER,         /* nameless files on the file system of a folder */
    LOCKFS_KEEP_NOTHING         /* bytes are dropped and read as zeros; ends and attributes are kept */
};

#define LOCKFS_ROOT 1           /* the folder's number; files begin at 2 */
#define LOCKFS_NAME_MAX 255

struct lockfs_attributes {
    uint64_t number;
    uint64_t size_bytes;
    int64_t modified_ns;        /* of the wall clock */
    uint32_t mode;              /* with the file type */
    uint32_t uid, gid;
    bool linked;                /* has its name still */
};

struct lockfs_store;
struct lockfs_file;

/* `folder` is for LOCKFS_KEEP_FOLDER; what is in it stays as it is. NULL with *error where it cannot be opened, or
 * takes no nameless files. All ends together stay within capacity_bytes; 0: no limit. */
struct lockfs_store *lockfs_store_new(enum lockfs_keep keep, const char *folder, uint64_t capacity_bytes,
                                      GError **error);
void lockfs_store_free(struct lockfs_store *store);

/* 0 with a reference in *file, or ENOENT. */
int lockfs_store_find(struct lockfs_store *store, const char *name, struct lockfs_file **file);
int lockfs_store_by_number(struct lockfs_store *store, uint64_t number, struct lockfs_file **file);

/* A new empty file, with a reference in *file. EEXIST, EINVAL or ENAMETOOLONG for the name, or why its bytes cannot be
 * kept. Only the permission bits of `mode` count. */
int lockfs_store_create(struct lockfs_store *store, const char *name, uint32_t mode, uint32_t uid, uint32_t gid,
                        struct lockfs_file **file);

/* Takes the name away. ENOENT. */
int lockfs_store_unlink(struct lockfs_store *store, const char *name);

void lockfs_store_let_go(struct lockfs_store *store, struct lockfs_file *file);

/* The kernel knows the file once more; or has forgotten it `times` times (an unknown number is passed over). */
void lockfs_store_remember(struct lockfs_store *store, struct lockfs_file *file);
void lockfs_store_forget(struct lockfs_store *store, uint64_t number, uint64_t times);

/* The name and number of the first file whose number is above `after`; false when there is none. */
bool lockfs_store_next(struct lockfs_store *store, uint64_t after, char name[LOCKFS_NAME_MAX + 1], uint64_t *number);

struct lockfs_attributes lockfs_store_attributes(struct lockfs_store *store, struct lockfs_file *file);
void lockfs_store_set_mode(struct lockfs_store *store, struct lockfs_file *file, uint32_t mode);
void lockfs_store_set_owner(struct lockfs_store *store, struct lockfs_file *file, uint32_t uid, uint32_t gid);
void lockfs_store_set_modified(struct lockfs_store *store, struct lockfs_file *file, int64_t modified_ns);

/* Moves the end either way. ENOSPC, EFBIG. */
int lockfs_store_set_size(struct lockfs_store *store, struct lockfs_file *file, uint64_t size_bytes);

/* See above. ENOSPC, EFBIG, or why the bytes cannot be kept. */
int lockfs_store_put(struct lockfs_store *store, struct lockfs_file *file, uint64_t offset, const void *bytes,
                     uint32_t length, uint64_t *aside_bytes);
void lockfs_store_grow(struct lockfs_store *store, struct lockfs_file *file, uint64_t end, uint64_t aside_bytes,
                       int64_t modified_ns);

/* Reads up to the end of the file; *got says how much. An errno when the bytes cannot be read. */
int lockfs_store_get(struct lockfs_store *store, struct lockfs_file *file, uint64_t offset, void *bytes,
                     uint32_t length, uint32_t *got);

/* What is in use of the capacity, how much there is (0: no limit), and how many files have names. */
struct lockfs_usage {
    uint64_t used_bytes, capacity_bytes, files;
};
struct lockfs_usage lockfs_store_usage(struct lockfs_store *store);

/* The file's place in the statistics; it lives as long as the file. */
struct lockfs_flight *lockfs_store_flight(struct lockfs_file *file);

#endif
