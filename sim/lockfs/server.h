/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads that serve a FUSE device: each reads a request, answers it (requests.h) and writes the reply.
 *
 *     struct lockfs_server *s = lockfs_server_start(device, &requests, 32, ended, &error);
 *     ... until `ended` (an eventfd) can be read, or for any other reason ...
 *     lockfs_server_stop(s);
 *
 * A write that is in service occupies its thread, so their number is the number of channels. Requests that find none
 * free wait in the kernel, in order. Threads sleep exactly (a timer slack of 1 us).
 */
#ifndef TIERCEL_LOCKFS_SERVER_H
#define TIERCEL_LOCKFS_SERVER_H

#include <glib.h>

#include "lockfs/requests.h"

struct lockfs_server;

/* The clock of a server: the machine's monotonic one, and real waiting, which a stop cuts short. */
extern const struct lockfs_clock lockfs_server_clock;

/* All signals that the process wants to handle must be blocked already. `ended` becomes readable when the device is at
 * its end (unmounted, or the connection was ended by the kernel). Nothing is owned. NULL when a thread could not be
 * started. */
struct lockfs_server *lockfs_server_start(int device, struct lockfs_requests *requests, unsigned channels, int ended,
                                          GError **error);

/* Ends all threads, also those that wait for a request or serve a write, and frees the server. */
void lockfs_server_stop(struct lockfs_server *server);

#endif
