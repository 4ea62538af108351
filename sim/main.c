/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <mpi.h>

#include "program.h"
#include "signals.h"
#include "trace/hdf5_file.h"

/* A file or a connection must not get the number of a standard stream that was closed, and be printed into. Opened
 * the wrong way round, so that reading and printing fail as they did. */
static void open_streams(void)
{
    for (int stream = 0; stream <= 2; stream++)
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY) < 0)
            return;
}

int main(int argc, char **argv)
{
    int thread_level;

    open_streams();
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
