/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lockfs/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

#define DEVICE "/dev/fuse"
#define TYPE "tiercel-lockfs"

/* Whether it is mounted still; somebody else may have unmounted it. */
static bool mount_is_there(const struct lockfs_mount *m)
{
    int descriptor = openat(m->proc, "self/mounts", O_RDONLY | O_CLOEXEC);
    FILE *table = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    bool found = false;

    if (table == NULL) {
        if (descriptor >= 0)
            close(descriptor);
        return false;
    }
    for (const struct mntent *entry; !found && (entry = getmntent(table)) != NULL;)
        found = strcmp(entry->mnt_fsname, m->source) == 0 && strcmp(entry->mnt_dir, m->point) == 0;
    endmntent(table);
    return found;
}

/* Runs the helper to its end; `channel` is its side of the socket by which it hands over the device, or -1. */
static bool run_helper(const char *const *arguments, int channel)
{
    pid_t child = fork();

    if (child == 0) {
        if (channel >= 0) {
            char number[16];
            snprintf(number, sizeof number, "%d", channel);
            fcntl(channel, F_SETFD, 0);
            setenv("_FUSE_COMMFD", number, 1);
        }
        execv(arguments[0], (char *const *)arguments);
        _exit(127);
    }
    if (child < 0)
        return false;
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void lockfs_mount_detach(const struct lockfs_mount *m)
{
    /* What was mounted on top of it comes off first. */
    while (mount_is_there(m)) {
        const char *const arguments[] = { m->helper, "-u", "-z", "-q", "--", m->point, NULL };
        if (umount2(m->point, MNT_DETACH | UMOUNT_NOFOLLOW) != 0 &&
            (m->helper == NULL || !run_helper(arguments, -1)))
            return;
    }
}

/* The watchdog: returns never. */
static void watch(const struct lockfs_mount *m, int end)
{
    static const int passed_over[] = { SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE };
    char byte;

    setsid();
    for (size_t i = 0; i < G_N_ELEMENTS(passed_over); i++)
        signal(passed_over[i], SIG_IGN);
    /* Whoever reads what the server prints must not have to wait for the watchdog. */
    int nothing = open("/dev/null", O_RDWR);
    for (int stream = 0; stream <= 2 && nothing >= 0; stream++)
        dup2(nothing, stream);
    if (chdir("/") != 0)
        _exit(1);
    while (read(end, &byte, 1) < 0 && errno == EINTR) {
    }
    lockfs_mount_detach(m);
    _exit(0);
}

static gboolean start_watchdog(struct lockfs_mount *m, GError **error)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0 || (m->watchdog = fork()) < 0) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "the process that unmounts cannot be started: %s",
                    g_strerror(errno));
        return FALSE;
    }
    if (m->watchdog == 0) {
        close(ends[1]);
        watch(m, ends[0]);
    }
    close(ends[0]);
    m->watch = ends[1];
    return TRUE;
}

/* 0, or why mount(2) did not do it. */
static int mount_directly(struct lockfs_mount *m)
{
    m->device = open(DEVICE, O_RDWR | O_CLOEXEC);
    if (m->device < 0)
        return errno;
    char *data = g_strdup_printf("fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other,default_permissions",
                                 m->device, (unsigned)getuid(), (unsigned)getgid());
    int code = mount(m->source, m->point, "fuse." TYPE, MS_NOSUID | MS_NODEV, data) == 0 ? 0 : errno;
    g_free(data);
    if (code != 0) {
        close(m->device);
        m->device = -1;
    }
    return code;
}

/* The descriptor that the helper sent; -1 when there is none. */
static int receive_device(int channel)
{
    char byte, space[CMSG_SPACE(sizeof(int))] = { 0 };
    struct iovec data = { .iov_base = &byte, .iov_len = 1 };
    struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = space,
                              .msg_controllen = sizeof space };
    int device = -1;

    if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) <= 0)
        return -1;
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);
    if (part != NULL && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS)
        memcpy(&device, CMSG_DATA(part), sizeof device);
    return device;
}

static bool mount_by_helper(struct lockfs_mount *m)
{
    char *options = g_strdup_printf("fsname=%s,subtype=%s,nosuid,nodev,default_permissions", m->source, TYPE);
    const char *const arguments[] = { m->helper, "-o", options, "--", m->point, NULL };
    int channel[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) == 0) {
        bool mounted = run_helper(arguments, channel[1]);
        close(channel[1]);
        m->device = mounted ? receive_device(channel[0]) : -1;
        close(channel[0]);
    }
    g_free(options);
    return m->device >= 0;
}

/* The helper's path; NULL when it is not installed. */
static char *find_helper(void)
{
    char *path = g_find_program_in_path("fusermount3");

    return path != NULL ? path : g_find_program_in_path("fusermount");
}

static gboolean make(struct lockfs_mount *m, GError **error)
{
    int code = mount_directly(m);

    if (code == 0)
        return TRUE;
    if (code == EPERM && m->helper != NULL) {
        if (mount_by_helper(m))
            return TRUE;
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s did not mount %s", m->helper, m->point);
        return FALSE;
    }
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s cannot be mounted: %s%s", m->point,
                g_strerror(code), code == EPERM ? "; be root, or install fusermount3 (Debian: fuse3)"
                : code == ENOENT || code == ENODEV || code == ENXIO
                    ? "; " DEVICE " is missing: load the kernel's module fuse" : "");
    return FALSE;
}

gboolean lockfs_mount_make(struct lockfs_mount *m, const char *folder, GError **error)
{
    struct stat status;

    *m = (struct lockfs_mount){ .device = -1, .watch = -1 };
    m->point = realpath(folder, NULL);
    if (m->point == NULL || stat(m->point, &status) != 0) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s cannot be mounted on: %s", folder,
                    g_strerror(errno));
        free(m->point);
        return FALSE;
    }
    if (!S_ISDIR(status.st_mode)) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s is not a folder; expected one to mount on",
                    folder);
        free(m->point);
        return FALSE;
    }
    m->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (m->proc < 0 || faccessat(m->proc, "self/mounts", R_OK, 0) != 0) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "/proc/self/mounts cannot be read: %s",
                    g_strerror(errno));
        if (m->proc >= 0)
            close(m->proc);
        free(m->point);
        return FALSE;
    }
    m->source = g_strdup_printf("lockfs:%ld", (long)getpid());
    m->helper = find_helper();
    if (start_watchdog(m, error) && make(m, error))
        return TRUE;
    lockfs_mount_end(m);
    return FALSE;
}

void lockfs_mount_end(struct lockfs_mount *m)
{
    lockfs_mount_detach(m);
    if (m->device >= 0)
        close(m->device);
    if (m->watch >= 0) {
        close(m->watch);
        while (waitpid(m->watchdog, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    close(m->proc);
    g_free(m->source);
    g_free(m->helper);
    free(m->point);
}
