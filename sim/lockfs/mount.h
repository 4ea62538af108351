/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A FUSE mount that does not outlive its server.
 *
 *     struct lockfs_mount m;
 *     if (!lockfs_mount_make(&m, "/tmp/shared", &error)) ...      before the first thread: it forks
 *     ... read requests from m.device ...
 *     lockfs_mount_end(&m);
 *
 * Mounts by mount(2); where that is not permitted, by fusermount3 (or fusermount), which lets a user mount on a folder
 * of his own. A child, the watchdog, waits for the server's end however it comes, and then unmounts what is still
 * mounted: when the descriptor of the device closes the kernel fails all requests, but leaves the dead mount where it
 * is. The watchdog is in a session of its own and passes over the signals that end programs. Only a SIGKILL of both
 * leaves a dead mount (`umount -l`).
 */
#ifndef TIERCEL_LOCKFS_MOUNT_H
#define TIERCEL_LOCKFS_MOUNT_H

#include <stdbool.h>
#include <sys/types.h>

#include <glib.h>

struct lockfs_mount {
    char *point;                /* absolute, without links */
    char *source;               /* what /proc/mounts shows as the device, of this server alone */
    char *helper;               /* fusermount3 or fusermount; NULL where there is none */
    int proc;                   /* /proc as it was before; who mounts on it hides it */
    int device;                 /* requests are read from it, replies written to it; closed on exec */
    int watch;                  /* the watchdog sees when this closes */
    pid_t watchdog;
};

/* `folder` is an existing folder. FALSE with nothing mounted and *error set (TIERCEL_ERROR_INPUT where the folder is
 * the reason, else TIERCEL_ERROR_RUNTIME). */
gboolean lockfs_mount_make(struct lockfs_mount *m, const char *folder, GError **error);

/* Takes the mount out of the file tree, also while files of it are open. The device stays open. */
void lockfs_mount_detach(const struct lockfs_mount *m);

/* Detaches what is still mounted, closes the device, which ends all requests, and waits for the watchdog. */
void lockfs_mount_end(struct lockfs_mount *m);

#endif
