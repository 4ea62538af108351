/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/mpiio_meeting.h"

#include <stdlib.h>
#include <sys/mman.h>

#include <glib.h>

#include "io/mpiio_internal.h"

enum {
    ROUNDS = 60,                    /* of each kind, of which the median counts */
    OPERATIONS = 8,                 /* in a row */
    LONGER = 4,                     /* the second length of a block, in lengths of the first */
    TAG_SHARE = 2
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof values[0], compare);
    return values[count / 2];
}

/* A small operation in which all wait for all. */
static void operate(MPI_Comm comm)
{
    int64_t mine = 1, sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
}

/* Of operations in a row. */
static double measure_operation(MPI_Comm comm)
{
    double took_ns[ROUNDS];

    operate(comm);
    for (unsigned i = 0; i < ROUNDS; i++) {
        int64_t began_ns = mpiio_clock_ns();
        for (unsigned k = 0; k < OPERATIONS; k++)
            operate(comm);
        took_ns[i] = (double)(mpiio_clock_ns() - began_ns) / OPERATIONS;
    }
    return median(took_ns, ROUNDS);
}

/* On the first process, which gets a block of each, its own one included; the others give theirs. */
static void get_blocks(MPI_Comm comm, int processes, const uint8_t *block, int bytes)
{
    g_autofree MPI_Request *requests = g_new(MPI_Request, processes + 1);
    size_t size = (size_t)bytes * (size_t)processes;
    uint8_t *all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    g_assert(all != MAP_FAILED);
    for (int p = 0; p < processes; p++)
        MPI_Irecv(all + (size_t)p * (size_t)bytes, bytes, MPI_BYTE, p, TAG_SHARE, comm, &requests[p]);
    MPI_Isend(block, bytes, MPI_BYTE, 0, TAG_SHARE, comm, &requests[processes]);
    MPI_Waitall(processes + 1, requests, MPI_STATUSES_IGNORE);
    munmap(all, size);
}

static double measure_share(MPI_Comm comm, uint64_t bytes)
{
    g_autofree uint8_t *block = g_malloc0(bytes);
    double took_ns[ROUNDS];
    int process, processes;

    MPI_Comm_rank(comm, &process);
    MPI_Comm_size(comm, &processes);
    for (unsigned i = 0; i < ROUNDS; i++) {
        operate(comm);
        int64_t began_ns = mpiio_clock_ns();
        if (process == 0)
            get_blocks(comm, processes, block, (int)bytes);
        else
            MPI_Send(block, (int)bytes, MPI_BYTE, 0, TAG_SHARE, comm);
        took_ns[i] = (double)(mpiio_clock_ns() - began_ns);
    }
    return median(took_ns, ROUNDS);
}

void mpiio_meeting_measure(MPI_Comm comm, uint64_t block, struct mpiio_meeting *m)
{
    int processes;

    MPI_Comm_size(comm, &processes);
    m->operation_ns = measure_operation(comm);
    double short_ns = measure_share(comm, block), long_ns = measure_share(comm, LONGER * block);
    m->share_ns_per_byte = MAX((long_ns - short_ns) / ((LONGER - 1) * (double)block * processes), 0);
}
