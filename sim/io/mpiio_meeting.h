/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it takes processes to meet and to hand their data to one of them: the parts of a collective write besides
 * writing (collective.h), measured by MPI alone, without a file.
 *
 *     mpiio_meeting_measure(comm, block, &m);         collective; m is valid on the first process
 *
 * Operations follow one another at once, as those of one meeting do behind the first. The process that gets the data
 * puts them into memory that is new each time, as aggregators do (those of ompi/mca/fcoll/vulcan for each call).
 */
#ifndef TIERCEL_IO_MPIIO_MEETING_H
#define TIERCEL_IO_MPIIO_MEETING_H

#include <stdint.h>

#include <mpi.h>

struct mpiio_meeting {
    double operation_ns;            /* a small one in which all wait for all */
    double share_ns_per_byte;       /* of what one process gets from all */
};

/* `block` bytes, 1 or above, of each process at a time, and four times as many. Of two processes or more; takes some
 * tenths of a second. */
void mpiio_meeting_measure(MPI_Comm comm, uint64_t block, struct mpiio_meeting *m);

#endif
