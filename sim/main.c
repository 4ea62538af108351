/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include <mpi.h>

#include "program.h"
#include "signals.h"

int main(int argc, char **argv)
{
    int thread_level;

    signals_follow_launcher();
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &thread_level) != MPI_SUCCESS) {
        fputs("tiercel: MPI cannot be started\n", stderr);
        return 1;
    }
    int status = program_run(MPI_COMM_WORLD, argc, argv);
    MPI_Finalize();
    return status;
}
