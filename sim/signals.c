/* SPDX-License-Identifier: BSD-3-Clause */
#include "signals.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A handler can reach nothing else. */
static volatile sig_atomic_t flush_wanted;
static volatile sig_atomic_t stop_signal;
static volatile int forgotten_fd = -1;
static volatile int64_t forgotten_size;
static char removed[PATH_MAX];
static volatile sig_atomic_t removes;
static unsigned watchers;

static const struct {
    int number;
    const char *name;
} watched[] = { { SIGUSR1, "SIGUSR1" }, { SIGUSR2, "SIGUSR2" }, { SIGTERM, "SIGTERM" }, { SIGINT, "SIGINT" } };

enum { WATCHED = sizeof watched / sizeof watched[0] };

static struct sigaction before[WATCHED];

static void handle(int number)
{
    int saved = errno;

    if (number == SIGUSR1) {
        flush_wanted = 1;
        return;
    }
    stop_signal = number;
    if (forgotten_fd >= 0 && ftruncate(forgotten_fd, (off_t)forgotten_size) != 0)
        forgotten_fd = -1;          /* nobody could be told */
    if (removes && (number == SIGTERM || number == SIGINT))
        unlink(removed);
    errno = saved;
}

void signals_watch(void)
{
    if (watchers++ > 0)
        return;
    flush_wanted = 0;
    stop_signal = 0;
    for (unsigned i = 0; i < WATCHED; i++) {
        struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
        sigemptyset(&action.sa_mask);
        /* Whoever asks a second time does not want to wait. */
        if (watched[i].number == SIGTERM || watched[i].number == SIGINT)
            action.sa_flags |= SA_RESETHAND;
        sigaction(watched[i].number, &action, &before[i]);
    }
}

void signals_forget(int fd, int64_t size)
{
    forgotten_fd = -1;
    forgotten_size = size;
    forgotten_fd = fd;
}

void signals_remove(const char *path)
{
    removes = 0;
    if (path == NULL || strlen(path) >= sizeof removed)
        return;
    strcpy(removed, path);
    removes = 1;
}

void signals_unwatch(void)
{
    if (--watchers > 0)
        return;
    for (unsigned i = 0; i < WATCHED; i++)
        sigaction(watched[i].number, &before[i], NULL);
}

void signals_follow_launcher(void)
{
    /* Open MPI, MPICH and Slurm, in this order, tell their processes how many there are. */
    if (getenv("OMPI_COMM_WORLD_SIZE") != NULL || getenv("PMI_SIZE") != NULL || getenv("SLURM_STEP_NUM_TASKS") != NULL)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void signals_keep_writing(void)
{
    signal(SIGXFSZ, SIG_IGN);
}

bool signals_take_flush(void)
{
    if (flush_wanted == 0)
        return false;
    flush_wanted = 0;
    return true;
}

bool signals_stop_wanted(void)
{
    return stop_signal != 0;
}

const char *signals_stop_name(void)
{
    for (unsigned i = 0; i < WATCHED; i++)
        if (watched[i].number == stop_signal)
            return watched[i].name;
    return NULL;
}
