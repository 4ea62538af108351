/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's requests to a FUSE server, and the answers of this one (linux/fuse.h, protocol 7.23 and above).
 *
 *     struct lockfs_requests r;
 *     lockfs_requests_init(&r, store, &settings, &clock);
 *     size_t n = lockfs_requests_answer(&r, request, length, reply, room);    n bytes of reply; 0: none is due
 *     lockfs_requests_release(&r);
 *
 * One request, as read from /dev/fuse, gives one reply, to be written there as a whole. A request that is shorter than
 * it says, or than its kind needs, is answered with EINVAL, or not at all if not even its header is whole.
 *
 * Every file is opened for direct I/O, and with the flag for parallel direct writes if the settings say so: which lock
 * a write takes is then the kernel's affair. A write is in service until its cost has passed since its arrival; its end
 * counts in the statistics, and moves the end of the file, just before lockfs_requests_answer returns. Nothing else
 * takes time. The attributes' and names' lifetimes are long, since nobody else changes them.
 *
 * Passive but for the clock that it is given: no device and no threads. All functions but init and release may be
 * called by several threads at once.
 */
#ifndef TIERCEL_LOCKFS_REQUESTS_H
#define TIERCEL_LOCKFS_REQUESTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "base/cost.h"
#include "lockfs/store.h"
#include "lockfs/write_counts.h"

/* Longest request that is not a write, and what a write adds to its data; likewise for replies. */
#define LOCKFS_REQUEST_OVERHEAD 8192

/* The kernel cuts a write at 256 pages (and a server may ask for less, in whole pages). */
#define LOCKFS_PAGE 4096
#define LOCKFS_MAX_WRITE (256 * LOCKFS_PAGE)

struct lockfs_settings {
    struct cost request;        /* how long a write request is in service */
    bool parallel;              /* sets FOPEN_PARALLEL_DIRECT_WRITES */
    uint32_t max_write_bytes;   /* a multiple of LOCKFS_PAGE, up to LOCKFS_MAX_WRITE */
    uint32_t uid, gid;          /* owner of the folder */
};

/* Where the time comes from: monotonic ns, and waiting until such a time; false when the wait was cut short, and the
 * write fails. */
struct lockfs_clock {
    int64_t (*now_fn)(void *closure);
    bool (*wait_until_fn)(void *closure, int64_t until_ns);
    void *closure;
};

struct lockfs_requests {
    struct lockfs_store *store;         /* not owned */
    struct lockfs_settings settings;
    struct lockfs_clock clock;
    pthread_mutex_t mutex;                       /* over what follows */
    struct lockfs_counts counts;
    bool refused;                       /* the kernel's protocol is too old: the mount is of no use */
};

void lockfs_requests_init(struct lockfs_requests *requests, struct lockfs_store *store,
                          const struct lockfs_settings *settings, const struct lockfs_clock *clock);
void lockfs_requests_release(struct lockfs_requests *requests);

/* `request` is aligned for 64-bit numbers, as is `reply`, which has room for max_write_bytes and
 * LOCKFS_REQUEST_OVERHEAD. */
size_t lockfs_requests_answer(struct lockfs_requests *requests, const void *request, size_t length, void *reply,
                              size_t room);

/* The statistics so far (lockfs_counts_print), appended to `text`; with `restart` they begin anew. */
void lockfs_requests_print(struct lockfs_requests *requests, bool restart, GString *text);

#endif
