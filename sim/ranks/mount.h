/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Role "mount": a node's side of a shared file system: for each file an inode with its lock. It decides in which mode a
 * write takes the lock, before it waits; holds the lock until the server has answered the last request of the write;
 * lets the end of the file grow, and then lets go. What sleeps takes a drawn time to wake up.
 *
 * It does no work of its own: all times are those of locks, messages and the server. The way of a message between
 * writer and mount is added to the time to wake up, so that it does not decide who gets the lock.
 */
#ifndef TIERCEL_RANKS_MOUNT_H
#define TIERCEL_RANKS_MOUNT_H

#include "engine/actor.h"
#include "trace/table.h"

enum mount_kind {
    MOUNT_WRITE = 0x2101,           /* a writer of the node; payload: struct mount_request */
    MOUNT_WRITTEN,                  /* its answer, by default; the request says which kind and word */
    MOUNT_NEXT,                     /* timer of a writer: the next write */
    MOUNT_GO,                       /* timer: who was granted the lock is awake; word: the operation */
    MOUNT_TRY                       /* timer: who sleeps at the head of the queue is awake; word: the operation */
};

enum mount_flag {
    MOUNT_APPEND = 1 << 0,
    MOUNT_FRESH = 1 << 1,           /* the file is created: it is empty */
    MOUNT_ZEROS = 1 << 2,           /* not data: part of the preparation */
    MOUNT_SET_SIZE = 1 << 3         /* ftruncate to offset + length; no data */
};

struct mount_request {
    uint32_t file;                  /* of the node, from 0 */
    uint8_t flags;                  /* enum mount_flag */
    uint64_t offset;
    uint64_t length;                /* 1 or above */
    uint16_t kind;                  /* of the answer */
    uint64_t word;
};

/* What a write's payload says. */
struct mount_request mount_request_read(struct cursor *c);

/* Setup: struct shared_file. The metrics of role "mount", by index in its table. */
enum mount_metric {
    MOUNT_WRITES,
    MOUNT_EXCLUSIVE,
    MOUNT_SHARED,
    MOUNT_LOCK_WAIT,
    MOUNT_STEALS,
    MOUNT_HANDOFFS,
    MOUNT_CHANGED
};

extern const struct role role_mount;

/* Columns of the rows of writes that have ended, where the setup asks for rows; the first one names the file, and its
 * names are those of whoever made the setup. */
enum { MOUNT_WRITE_NAME, MOUNT_WRITE_COLUMNS = 11 };
extern const struct table_column mount_write_columns[MOUNT_WRITE_COLUMNS];

/* How a write held the lock. */
enum mount_held {
    MOUNT_HELD_SHARED,
    MOUNT_HELD_EXCLUSIVE,
    MOUNT_HELD_DEMOTED,             /* exclusively, and shared at once */
    MOUNT_HELD_UNLOCKED             /* no lock that this program knows of (live clock) */
};

enum mount_purpose { MOUNT_FOR_DATA, MOUNT_FOR_ZEROS, MOUNT_FOR_SIZE };

/* One such row. */
struct mount_row {
    uint8_t name;
    uint32_t writer;
    uint32_t mount;
    uint32_t file;
    uint64_t offset;
    uint64_t length;
    int64_t asked_ns;
    int64_t locked_ns;
    int64_t ended_ns;
    uint8_t held;                   /* enum mount_held */
    uint8_t purpose;                /* enum mount_purpose */
};

/* Records it, as a row of the trace's first table. `bytes` is the caller's, to be used again. */
void mount_row_record(struct actor *self, struct bytes *bytes, const struct mount_row *row);

/* Starts a write, or the change of a file's size, of the actor `self` on the node of `mount`. */
void mount_write(struct actor *self, uint32_t mount, const struct mount_request *request);

#endif
