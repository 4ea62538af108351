/* SPDX-License-Identifier: BSD-3-Clause */
/* tiercel-lockfs: mounts, serves until a signal, the end of its command or an umount, unmounts, prints statistics. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/streams.h"
#include "lockfs/mount.h"
#include "lockfs/options.h"
#include "lockfs/requests.h"
#include "lockfs/server.h"

extern char **environ;

static const int handled[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD };

#define PATIENCE_MS 3000        /* of a command that was told to end */

struct program {
    struct lockfs_options options;
    struct lockfs_mount mount;
    struct lockfs_store *store;
    struct lockfs_requests requests;
    struct lockfs_server *server;
    FILE *statistics;
    int signals, ended;         /* descriptors to wait for */
    pid_t command;              /* 0: none, or it has ended */
    int status;                 /* of the program */
};

static void complain(const char *message)
{
    fprintf(stderr, "tiercel-lockfs: %s\n", message);
}

static void print_statistics(struct program *p, bool restart)
{
    GString *text = g_string_new(NULL);

    lockfs_requests_print(&p->requests, restart, text);
    fprintf(p->statistics, "%s\n", text->str);
    fflush(p->statistics);
    g_string_free(text, TRUE);
}

/* SIGTERM when the process that started this one ends, unless it has already. */
static void follow_parent(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        raise(SIGTERM);
}

static gboolean start_command(struct program *p, const sigset_t *unblocked, GError **error)
{
    posix_spawnattr_t attributes;
    sigset_t defaults;

    posix_spawnattr_init(&attributes);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, unblocked);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int code = posix_spawnp(&p->command, p->options.command[0], NULL, &attributes, p->options.command, environ);
    posix_spawnattr_destroy(&attributes);
    if (code == 0)
        return TRUE;
    p->command = 0;
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s cannot be started: %s", p->options.command[0],
                g_strerror(code));
    return FALSE;
}

/* True when the command has ended; its status becomes the program's. */
static bool command_has_ended(struct program *p)
{
    int status;

    if (p->command == 0 || waitpid(p->command, &status, WNOHANG) != p->command)
        return false;
    p->command = 0;
    p->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

/* Serves until there is a reason to end. */
static void serve(struct program *p)
{
    struct pollfd wait[2] = { { .fd = p->signals, .events = POLLIN }, { .fd = p->ended, .events = POLLIN } };
    struct signalfd_siginfo info;

    for (;;) {
        if (poll(wait, 2, -1) < 0 && errno != EINTR)
            return;
        if (wait[1].revents != 0) {
            if (p->command != 0)
                complain("unmounted by somebody else while the command was running");
            return;
        }
        if (wait[0].revents == 0 || read(p->signals, &info, sizeof info) != sizeof info)
            continue;
        switch (info.ssi_signo) {
        case SIGUSR1:
        case SIGUSR2:
            print_statistics(p, info.ssi_signo == SIGUSR2);
            break;
        case SIGCHLD:
            if (command_has_ended(p))
                return;
            break;
        default:
            return;
        }
    }
}

/* A command that still runs has lost its files: it is told to end, and made to after a while. */
static void end_command(struct program *p)
{
    if (p->command == 0)
        return;
    kill(p->command, SIGTERM);
    for (int waited_ms = 0; !command_has_ended(p); waited_ms += 20) {
        if (waited_ms >= PATIENCE_MS)
            kill(p->command, SIGKILL);
        g_usleep(20000);
    }
    p->status = TIERCEL_ERROR_STOPPED;
}

static gboolean run(struct program *p, const sigset_t *unblocked, pid_t parent, GError **error)
{
    struct lockfs_options *o = &p->options;
    struct lockfs_settings settings = {
        .request = o->request, .parallel = o->parallel, .max_write_bytes = (uint32_t)o->max_write_bytes,
        .uid = getuid(), .gid = getgid(),
    };

    p->store = lockfs_store_new(o->keep, o->keep_folder, (uint64_t)o->capacity_bytes, error);
    if (p->store == NULL)
        return FALSE;
    p->statistics = o->statistics != NULL ? fopen(o->statistics, "we") : stdout;
    if (p->statistics == NULL) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "--statistics: %s cannot be written: %s", o->statistics,
                    g_strerror(errno));
        return FALSE;
    }
    if (!lockfs_mount_make(&p->mount, o->folder, error))
        return FALSE;
    if (!o->outlive)
        follow_parent(parent);
    lockfs_requests_init(&p->requests, p->store, &settings, &lockfs_server_clock);
    p->server = lockfs_server_start(p->mount.device, &p->requests, (unsigned)o->channels, p->ended, error);
    gboolean ok = p->server != NULL;
    if (ok && o->command != NULL) {
        ok = start_command(p, unblocked, error);
    } else if (ok) {
        printf("mounted %s\n", p->mount.point);
        fflush(stdout);
    }
    if (ok)
        serve(p);
    lockfs_mount_detach(&p->mount);
    if (p->server != NULL)
        lockfs_server_stop(p->server);
    lockfs_mount_end(&p->mount);
    end_command(p);
    if (ok)
        print_statistics(p, false);
    if (ok && p->requests.refused) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME,
                    "the kernel's FUSE protocol is too old; expected 7.23 or above");
        ok = FALSE;
    }
    lockfs_requests_release(&p->requests);
    return ok;
}

int main(int argc, char **argv)
{
    struct program p = { .signals = -1, .ended = -1 };
    pid_t parent = getppid();
    sigset_t set, unblocked;
    GError *error = NULL;

    streams_open();
    if (!lockfs_options_parse(argc, argv, &p.options, &error)) {
        complain(error->message);
        p.status = error->code;
        g_error_free(error);
        return p.status;
    }
    if (p.options.help || p.options.version) {
        if (p.options.help)
            lockfs_options_print_help(stdout);
        else
            printf("tiercel-lockfs %s\n", PACKAGE_VERSION);
        return fflush(stdout) == 0 ? 0 : TIERCEL_ERROR_RUNTIME;
    }
    sigemptyset(&set);
    for (size_t i = 0; i < G_N_ELEMENTS(handled); i++)
        sigaddset(&set, handled[i]);
    sigprocmask(SIG_BLOCK, &set, &unblocked);
    signal(SIGPIPE, SIG_IGN);
    p.signals = signalfd(-1, &set, SFD_CLOEXEC);
    p.ended = eventfd(0, EFD_CLOEXEC);
    if (!run(&p, &unblocked, parent, &error)) {
        complain(error->message);
        p.status = error->code;
        g_error_free(error);
    }
    bool damaged = p.statistics != NULL && ferror(p.statistics) != 0;
    if (p.statistics != NULL && (fclose(p.statistics) != 0 || damaged)) {
        complain("the statistics could not be written whole");
        if (p.status == 0)
            p.status = TIERCEL_ERROR_RUNTIME;
    }
    lockfs_store_free(p.store);
    close(p.signals);
    close(p.ended);
    return p.status;
}
