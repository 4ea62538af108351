/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it takes processes to meet and to hand their data to one of them: the parts of a collective write besides
 * writing (collective.h), measured by MPI alone, without a file.
 *
 *     mpiio_meeting_measure(comm, block, &m);         collective; m is valid on the first process
 *
 * As in a round of collective writes the processes come from sleep, where a write has kept them; so a first operation
 * takes longer than those which follow it at once. The one that gets the data puts them into memory that is new each
 * time, as aggregators do (ompi/mca/fcoll/vulcan has buffers of each call's own).
 */
#ifndef TIERCEL_IO_MPIIO_MEETING_H
#define TIERCEL_IO_MPIIO_MEETING_H

#include <stdint.h>

#include <mpi.h>

struct mpiio_meeting {
    double exchange_ns;             /* a first operation, from the last arrival on */
    double operation_ns;            /* one that follows another */
    double share_ns_per_byte;       /* of what one process gets from all */
};

/* `block` bytes, 1 or above, of each process at a time, and four times as many. Of two processes or more; takes about
 * a third of a second. */
void mpiio_meeting_measure(MPI_Comm comm, uint64_t block, struct mpiio_meeting *m);

#endif
