/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LIMIT_S = 10,               /* and a second more for each so many bytes of the file */
    BYTES_PER_S = 10000000,
    RETURNED = 99           /* the child's exit status; a sanitizer's is another */
};

static void probe_child(const char *path, probe_fn step, void *data)
{
    struct stat status = { .st_size = 0 };
    stat(path, &status);
    rlim_t limit_s = LIMIT_S + (rlim_t)status.st_size / BYTES_PER_S;
    struct rlimit none = { 0, 0 }, limit = { limit_s, limit_s };
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &limit);
    step(data);
    _exit(RETURNED);
}

gboolean probe_run(const char *path, probe_fn step, void *data, GError **error)
{
    pid_t child = fork();
    if (child < 0)
        return TRUE;
    if (child == 0)
        probe_child(path, step, data);
    int status = 0;
    pid_t ended;
    do
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    if (ended != child || (WIFEXITED(status) && WEXITSTATUS(status) == RETURNED))
        return TRUE;
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "%s: is damaged so badly that HDF5 fails on it", path);
    return FALSE;
}
