/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program behind main(): from a command line to an exit status.
 *
 * Collective over `comm`; every process must pass the same arguments, ended by NULL as those of main, and all return
 * the same status (base/error.h). Process 0 alone speaks: results on stdout, everything else on stderr. Nothing is kept
 * afterwards, so one program can run after another in a process, or two at once on halves of a communicator.
 */
#ifndef TIERCEL_PROGRAM_H
#define TIERCEL_PROGRAM_H

#include <mpi.h>

int program_run(MPI_Comm comm, int argc, char **argv);

#endif
