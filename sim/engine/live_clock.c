/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time that all processes of a live run go by, and how they may wait.
 *
 * Processes of one machine share its monotonic clock. Another machine's clock is compared with process 0's by messages
 * to and fro: the shortest of a few round trips bounds the error by half its length.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* CPU_COUNT */
#endif

#include <sched.h>
#include <time.h>

#include "engine/internal.h"

enum {
    TAG_TIME = 4,
    COMPARISONS = 16
};

#define SECOND_NS INT64_C(1000000000)

int64_t live_clock_machine_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* On another machine: what to add to process 0's clock to get this one's. */
static int64_t compare(MPI_Comm comm)
{
    int64_t best_ns = INT64_MAX, offset_ns = 0;
    for (int i = 0; i < COMPARISONS; i++) {
        int64_t there_ns, sent_ns = live_clock_machine_ns();
        MPI_Send(&sent_ns, 1, MPI_INT64_T, 0, TAG_TIME, comm);
        MPI_Recv(&there_ns, 1, MPI_INT64_T, 0, TAG_TIME, comm, MPI_STATUS_IGNORE);
        int64_t got_ns = live_clock_machine_ns();
        if (got_ns - sent_ns < best_ns) {
            best_ns = got_ns - sent_ns;
            offset_ns = sent_ns + best_ns / 2 - there_ns;
        }
    }
    return offset_ns;
}

static void be_compared(MPI_Comm comm, int with)
{
    for (int i = 0; i < COMPARISONS; i++) {
        int64_t ignored, now_ns;
        MPI_Recv(&ignored, 1, MPI_INT64_T, with, TAG_TIME, comm, MPI_STATUS_IGNORE);
        now_ns = live_clock_machine_ns();
        MPI_Send(&now_ns, 1, MPI_INT64_T, with, TAG_TIME, comm);
    }
}

/* The lowest process of this one's machine. */
static int machine_of(MPI_Comm comm)
{
    MPI_Comm machine;
    int lowest;
    MPI_Comm_rank(comm, &lowest);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, machine);
    MPI_Comm_free(&machine);
    return lowest;
}

int64_t live_clock_start(MPI_Comm comm)
{
    int rank, size, machine = machine_of(comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int *machines = g_new(int, size);
    MPI_Allgather(&machine, 1, MPI_INT, machines, 1, MPI_INT, comm);
    int64_t offset_ns = 0, start_ns;
    for (int p = 1; p < size; p++) {
        if (machines[p] == machines[0])
            continue;
        if (rank == 0)
            be_compared(comm, p);
        else if (rank == p)
            offset_ns = compare(comm);
    }
    g_free(machines);
    MPI_Barrier(comm);
    start_ns = live_clock_machine_ns();
    MPI_Bcast(&start_ns, 1, MPI_INT64_T, 0, comm);
    return start_ns + offset_ns;
}

enum engine_waiting live_clock_waiting(MPI_Comm comm)
{
    MPI_Comm machine;
    cpu_set_t mine, all;
    int processes, spin;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &processes);
    MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, machine);
    MPI_Comm_free(&machine);
    spin = CPU_COUNT(&all) >= processes;
    MPI_Allreduce(MPI_IN_PLACE, &spin, 1, MPI_INT, MPI_MIN, comm);
    return spin ? ENGINE_WAIT_SPIN : ENGINE_WAIT_YIELD;
}
