/* SPDX-License-Identifier: BSD-3-Clause */
#include "lockfs/server.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

#define SLACK_NS 1000UL

struct channel {
    struct lockfs_server *server;
    pthread_t thread;
    atomic_bool done;
};

struct lockfs_server {
    int device, ended;
    struct lockfs_requests *requests;
    unsigned channels;          /* started */
    struct channel *channel;
};

/* Of this process: a signal that only interrupts is all that gets a thread out of the device. */
static atomic_bool stopping;

static void interrupt(int number)
{
}

static int64_t monotonic_now(void *unused)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool monotonic_wait(void *unused, int64_t until_ns)
{
    struct timespec t = { .tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000 };

    while (!atomic_load(&stopping))
        if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != EINTR)
            return true;
    return false;
}

const struct lockfs_clock lockfs_server_clock = { .now_fn = monotonic_now, .wait_until_fn = monotonic_wait };

/* Whether the thread goes on after its read failed so. */
static bool goes_on(int code)
{
    /* ENOENT: the request was taken back before it was read. */
    return code == EINTR || code == EAGAIN || code == ENOENT;
}

static void *serve(void *closure)
{
    struct channel *channel = closure;
    struct lockfs_server *server = channel->server;
    size_t room = server->requests->settings.max_write_bytes + LOCKFS_REQUEST_OVERHEAD;
    char *request = g_malloc(room), *reply = g_malloc(room);

    prctl(PR_SET_TIMERSLACK, SLACK_NS);
    while (!atomic_load(&stopping)) {
        ssize_t length = read(server->device, request, room);
        if (length < 0 && goes_on(errno))
            continue;
        if (length <= 0)
            break;
        size_t answer = lockfs_requests_answer(server->requests, request, (size_t)length, reply, room);
        /* A reply that nobody waits for any more is refused, which is no concern of ours. */
        if (answer > 0 && write(server->device, reply, answer) < 0 && errno == ENODEV)
            break;
    }
    g_free(reply);
    g_free(request);
    atomic_store(&channel->done, true);
    uint64_t one = 1;
    /* Only a counter at its limit could fail, and then it can be read. */
    if (write(server->ended, &one, sizeof one) < 0)
        return NULL;
    return NULL;
}

struct lockfs_server *lockfs_server_start(int device, struct lockfs_requests *requests, unsigned channels, int ended,
                                          GError **error)
{
    struct sigaction action = { .sa_handler = interrupt };
    struct lockfs_server *server = g_new0(struct lockfs_server, 1);

    atomic_store(&stopping, false);
    sigemptyset(&action.sa_mask);
    sigaction(SIGRTMIN, &action, NULL);
    server->device = device;
    server->ended = ended;
    server->requests = requests;
    server->channel = g_new0(struct channel, channels);
    for (; server->channels < channels; server->channels++) {
        struct channel *channel = &server->channel[server->channels];
        channel->server = server;
        int code = pthread_create(&channel->thread, NULL, serve, channel);
        if (code != 0) {
            g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "channel %u of %u cannot be started: %s",
                        server->channels + 1, channels, g_strerror(code));
            lockfs_server_stop(server);
            return NULL;
        }
    }
    return server;
}

void lockfs_server_stop(struct lockfs_server *server)
{
    atomic_store(&stopping, true);
    for (unsigned i = 0; i < server->channels; i++) {
        struct channel *channel = &server->channel[i];
        /* One that was about to wait when the signal came gets the next. */
        while (!atomic_load(&channel->done)) {
            pthread_kill(channel->thread, SIGRTMIN);
            g_usleep(1000);
        }
        pthread_join(channel->thread, NULL);
    }
    g_free(server->channel);
    g_free(server);
}
