/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Role "storage": the server of a shared file system. A request takes a channel and a drawn service time (fixed and per
 * byte); all requests together share a ceiling of bandwidth: one is not done before its bytes have had their turn.
 *
 * What the server sees is counted here: writes that end beyond the file's end when they begin, writes that no other
 * one ever overlapped, and the most that were in service at a time. A write is in service from its first request to
 * its last answer.
 */
#ifndef TIERCEL_RANKS_STORAGE_H
#define TIERCEL_RANKS_STORAGE_H

#include "engine/actor.h"

enum storage_kind {
    STORAGE_WRITE = 0x2201,         /* a mount; payload: struct storage_request */
    STORAGE_WRITTEN,                /* its answer; word: the mount's operation */
    STORAGE_SERVED                  /* end of an act; word: the place of the request */
};

struct storage_request {
    uint32_t file;
    uint8_t flags;                  /* enum mount_flag */
    uint64_t offset;
    uint64_t length;
    uint64_t end;                   /* of the whole write */
    bool first, last;               /* of the write's requests */
    uint32_t operation;
};

/* Setup: struct shared_file. The metrics of role "storage", by index in its table. */
enum storage_metric {
    STORAGE_WRITES,
    STORAGE_BYTES,
    STORAGE_EXTENDING,
    STORAGE_LONE,
    STORAGE_INFLIGHT,
    STORAGE_GROWN,
    STORAGE_ZEROS,
    STORAGE_REQUESTS
};

extern const struct role role_storage;

void storage_send(struct actor *self, uint32_t storage, const struct storage_request *request);

#endif
