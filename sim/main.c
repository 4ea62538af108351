/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <unistd.h>

#include <mpi.h>

#include "base/streams.h"
#include "program.h"
#include "signals.h"
#include "trace/hdf5_file.h"

int main(int argc, char **argv)
{
    int thread_level;

    streams_open();
    signals_follow_launcher();
    signals_keep_writing();
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &thread_level) != MPI_SUCCESS) {
        fputs("tiercel: MPI cannot be started\n", stderr);
        return 1;
    }
    int status = program_run(MPI_COMM_WORLD, argc, argv);
    if (hdf5_is_stuck()) {
        fflush(NULL);
        _exit(status);
    }
    MPI_Finalize();
    return status;
}
