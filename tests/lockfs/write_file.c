/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_file FILE WRITERS WRITES TRANSFER [within] [append] [verify]: that many processes, each with a descriptor of
 * its own and O_DIRECT, write one file, interleaved as IOR does, from a common start on. Prints keys and values.
 *
 *     within   the file gets its full size first (ftruncate)
 *     append   O_APPEND: the kernel says where
 *     verify   reads all back afterwards, and fails unless every byte is as written
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <glib.h>

#include "base/quantity.h"
#include "io/contents.h"
#include "io/pattern.h"

#define ALIGNMENT 4096
#define SEED 1

struct plan {
    const char *file;
    struct pattern pattern;
    bool within, append, verify;
};

/* Shared by the processes. */
struct shared {
    pthread_barrier_t start;
    struct {
        int64_t start_ns, end_ns;
    } times[];
};

static int fail(const char *what)
{
    fprintf(stderr, "write_file: %s: %s\n", what, strerror(errno));
    return 1;
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int open_file(const struct plan *plan, int flags)
{
    return open(plan->file, flags | O_DIRECT | O_CLOEXEC, 0644);
}

/* One process; its exit status. */
static int write_all(const struct plan *plan, struct shared *shared, uint32_t writer)
{
    const struct pattern *p = &plan->pattern;
    int descriptor = open_file(plan, O_WRONLY | (plan->append ? O_APPEND : 0));
    struct contents contents;
    int status = 0;

    /* Once set, they cost a word a sector: were a writer busy between two writes for longer than a sleeper takes to
     * wake up, it would never take the lock past one. */
    contents_init(&contents, p->transfer, SEED);
    contents_set(&contents, 0, p->transfer);
    pthread_barrier_wait(&shared->start);
    if (descriptor < 0)
        return fail(plan->file);
    shared->times[writer].start_ns = now_ns();
    for (uint64_t i = 0; i < pattern_writes(p) && status == 0; i++) {
        uint64_t offset = pattern_offset(p, writer, i);
        contents_set(&contents, offset, p->transfer);
        if (pwrite(descriptor, contents.bytes, p->transfer, (off_t)offset) != (ssize_t)p->transfer)
            status = fail("pwrite");
    }
    shared->times[writer].end_ns = now_ns();
    close(descriptor);
    contents_release(&contents);
    return status;
}

static int verify(const struct plan *plan)
{
    const struct pattern *p = &plan->pattern;
    int descriptor = open_file(plan, O_RDONLY);
    uint8_t *bytes = g_aligned_alloc(1, p->transfer, ALIGNMENT);
    struct contents contents;
    struct stat status;
    int result = 0;

    contents_init(&contents, p->transfer, SEED);
    if (descriptor < 0 || fstat(descriptor, &status) != 0)
        result = fail(plan->file);
    else if ((uint64_t)status.st_size != pattern_bytes(p))
        result = fprintf(stderr, "write_file: the file has %lld bytes\n", (long long)status.st_size) > 0;
    for (uint64_t offset = 0; result == 0 && !plan->append && offset < pattern_bytes(p); offset += p->transfer) {
        if (pread(descriptor, bytes, p->transfer, (off_t)offset) != (ssize_t)p->transfer)
            result = fail("pread");
        else if (contents_compare(&contents, bytes, offset, p->transfer) != p->transfer)
            result = fprintf(stderr, "write_file: other bytes at %llu\n", (unsigned long long)offset) > 0;
    }
    if (descriptor >= 0)
        close(descriptor);
    g_aligned_free(bytes);
    contents_release(&contents);
    return result;
}

static int create(const struct plan *plan)
{
    int descriptor = open_file(plan, O_WRONLY | O_CREAT | O_TRUNC);

    if (descriptor < 0 || (plan->within && ftruncate(descriptor, (off_t)pattern_bytes(&plan->pattern)) != 0))
        return fail(plan->file);
    return close(descriptor) == 0 ? 0 : fail("close");
}

static int run_writers(const struct plan *plan, struct shared *shared)
{
    uint32_t writers = plan->pattern.writers;
    pthread_barrierattr_t attributes;
    int status = 0, child;

    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->start, &attributes, writers);
    for (uint32_t i = 0; i < writers; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(write_all(plan, shared, i));
        if (pid < 0) {
            /* Those that are there wait for the others for ever. */
            fail("fork");
            kill(0, SIGKILL);
        }
    }
    while (wait(&child) > 0)
        status |= !WIFEXITED(child) || WEXITSTATUS(child) != 0;
    return status;
}

static void print_times(const struct plan *plan, const struct shared *shared)
{
    int64_t start_ns = INT64_MAX, end_ns = 0;
    uint64_t writes = pattern_writes(&plan->pattern) * plan->pattern.writers;

    for (uint32_t i = 0; i < plan->pattern.writers; i++) {
        start_ns = shared->times[i].start_ns < start_ns ? shared->times[i].start_ns : start_ns;
        end_ns = shared->times[i].end_ns > end_ns ? shared->times[i].end_ns : end_ns;
    }
    double seconds = (double)(end_ns - start_ns) / 1e9;
    printf("wall_writes %llu\nwall_s %.6f\nwall_writes_per_s %.6g\n", (unsigned long long)writes, seconds,
           (double)writes / seconds);
}

/* A count or a size from the command line; 0 when it is none. */
static uint64_t number(enum quantity_type type, const char *text)
{
    struct quantity q = { 0 };

    return quantity_parse(type, text, NULL, &q, NULL) ? (uint64_t)q.integer : 0;
}

int main(int argc, char **argv)
{
    struct plan plan = { .file = argc > 1 ? argv[1] : NULL };

    if (argc >= 5) {
        plan.pattern.writers = (uint32_t)number(QUANTITY_COUNT, argv[2]);
        plan.pattern.segments = number(QUANTITY_COUNT, argv[3]);
        plan.pattern.transfer = plan.pattern.block = number(QUANTITY_SIZE, argv[4]);
    }
    if (plan.pattern.writers == 0 || plan.pattern.segments == 0 || plan.pattern.transfer == 0 ||
        plan.pattern.transfer % ALIGNMENT != 0) {
        fputs("usage: write_file FILE WRITERS WRITES TRANSFER [within] [append] [verify]\n", stderr);
        return 2;
    }
    for (int i = 5; i < argc; i++) {
        plan.within |= strcmp(argv[i], "within") == 0;
        plan.append |= strcmp(argv[i], "append") == 0;
        plan.verify |= strcmp(argv[i], "verify") == 0;
    }
    struct shared *shared = mmap(NULL, sizeof *shared + plan.pattern.writers * sizeof shared->times[0],
                                 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return fail("mmap");
    int status = create(&plan);
    if (status == 0)
        status = run_writers(&plan, shared);
    if (status == 0 && plan.verify)
        status = verify(&plan);
    if (status == 0)
        print_times(&plan, shared);
    return status;
}
