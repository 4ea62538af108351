/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shared file: writers, the mounts of their nodes, and the server; the constant setup that all its roles share
 * (doc/models/file.md).
 *
 *     writer  --MOUNT_WRITE-->   mount   --STORAGE_WRITE-->    storage      one request after the other,
 *                                        <--STORAGE_WRITTEN--               each of at most request_most bytes
 *             <--MOUNT_WRITTEN--
 *     writer  --MEETING_ARRIVED-->  meeting  --MEETING_GO-->  all writers   collective calls, and preparation
 *
 * A writer is one process that writes one block at a time and waits for it. Its mount decides the mode of the lock,
 * waits for the lock and holds it until the server has answered. There is one lock for each mount of a file: writers on
 * different nodes do not exclude one another. Whoever else has a block to write (a job of another system)
 * uses the same messages, through struct write_run (ranks/write_run.h).
 *
 * Actors of a group [io.NAME] in a system of its own: the writers, the mounts, the meeting, the storage. Writer w is on
 * node w / writers_per_node.
 */
#ifndef TIERCEL_RANKS_SHARED_FILE_H
#define TIERCEL_RANKS_SHARED_FILE_H

#include "base/quantity.h"
#include "engine/actor.h"
#include "io/collective.h"
#include "io/inode.h"
#include "io/pattern.h"
#include "ranks/instance.h"

/* What is done to the file before it is written. */
enum shared_file_prepare {
    PREPARE_NOTHING,
    PREPARE_SET_SIZE,               /* MPI_File_set_size: its end, without blocks; the first writer of each node */
    PREPARE_ALLOCATE,               /* MPI_File_preallocate: writer 0 writes zeros, then as set-size */
    PREPARE_SIZED,                  /* it had its end before, without blocks */
    PREPARE_FILLED                  /* it was there before, whole */
};

enum { PREALLOCATE_PIECE_BYTES = 32 << 20 };    /* of OMPIO 4.1 */

struct shared_file {
    const char *name;

    struct pattern pattern;         /* of one file */
    uint32_t writers;
    uint32_t writers_per_node;
    bool each;                      /* a file of its own for each writer, which it creates anew for each job */
    bool append;
    struct distribution think;      /* of a writer, between two writes */
    struct collective collective;
    struct collective_plan plan;
    struct cost exchange;           /* a meeting, its first operation included; byte: of the call */
    int64_t operation_ns;           /* each further collective operation of a meeting */
    struct cost share;              /* an aggregator gets what it writes in a cycle, on a core; byte: of that */
    uint32_t cores;                 /* of a node, which its aggregators share for that; 0: one for each */
    enum shared_file_prepare prepare;
    uint64_t file_bytes;            /* that each file has in the end */

    enum inode_rules rules;
    bool parallel;                  /* the server's flag */
    uint32_t cached_users;
    enum lock_queue queue;
    uint32_t hz;
    struct distribution wake;       /* from the release of a lock until a sleeper runs */
    struct distribution back;       /* from the release of a lock until its writer asks again, without thinking */
    int64_t local_ns;               /* of a message between a writer and its mount: in addition to both of these */

    struct cost request;            /* the server's time for one request; byte: of it */
    uint32_t jitter_ppm;            /* of that time */
    uint32_t channels;              /* requests served at a time; 0: any number */
    uint64_t bandwidth;             /* bytes a second, of all requests together; 0: no limit */
    uint64_t request_most;          /* bytes */

    uint32_t first_writer;          /* actors, where the writers are this system's */
    uint32_t first_mount;
    uint32_t mounts;
    uint32_t meeting;
    uint32_t storage;

    bool rows;                      /* each write is a row of the trace's first table (mount_write_columns) */
    uint8_t row_name;               /* of the file in these rows */
};

static inline bool shared_file_existed(const struct shared_file *f)
{
    return f->prepare == PREPARE_SIZED || f->prepare == PREPARE_FILLED;
}

#endif
