/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who writes what in a collective write, MPI_File_write_at_all, as two implementations of MPI-IO decide it.
 *
 * In a call each of `writers` processes has `pieces` blocks of `block` bytes, interleaved; together they are one range
 * without holes, the call's. Either each writes its own pieces, after all have met; or two-phase: the range is divided
 * among aggregators, who get the data of the others and write it in cycles of at most a buffer's size; all meet before
 * each cycle.
 *
 *   OMPIO (Open MPI 4.1): with one or two writers no collective at all. Else aggregators (component vulcan): as many as
 *   asked for, or writers / 8, at least one; it writes half of its buffer (32 MiB) at a time.
 *   ROMIO: two-phase only if the ranges of the processes interleave within the call, that is with two pieces and more;
 *   else all meet, and each writes for itself. As many aggregators as asked for (all), but per host at most as
 *   cb_config_list says (one); its buffer is 16 MiB.
 *
 * To meet, processes carry out collective operations of MPI, in which all wait for all: how many in a call is the
 * library's.
 *
 *   OMPIO, with aggregators: four (where the call's range begins and ends, how much each aggregator gets, and of how
 *   many parts), and one more for each aggregator, by which all learn the offsets of its share. Between the cycles of a
 *   call aggregators wait for the data alone.
 *   ROMIO: two (where the range of each process begins and ends); in two-phase writes three more (who has how much for
 *   whom, the number of cycles, and how it ended), and one in each cycle.
 *
 * Sources: open-mpi/ompi 4.1.4 (ompi/mca/fcoll/vulcan, common/ompio, and adio/common of io/romio321).
 */
#ifndef TIERCEL_IO_COLLECTIVE_H
#define TIERCEL_IO_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

enum collective_library {
    COLLECTIVE_NONE,            /* independent writes */
    COLLECTIVE_OMPIO,
    COLLECTIVE_ROMIO
};

struct collective {
    enum collective_library kind;
    uint32_t writers;
    uint32_t writers_per_node;
    uint64_t block;             /* bytes of one piece */
    uint32_t pieces;            /* of one writer in one call */
    uint32_t aggregators;       /* asked for; 0: the library's own choice */
    uint32_t aggregators_per_node;  /* ROMIO, cb_config_list; 1 or above */
    uint64_t buffer;            /* bytes, of one aggregator; 0: the library's own */
};

struct collective_plan {
    bool meets;                 /* all wait for one another before they write */
    uint32_t aggregators;       /* 0: each writes for itself */
    uint64_t cycles;            /* of one call; 1 where each writes for itself */
    uint64_t call_bytes;        /* of all writers */
    uint64_t domain_bytes;      /* of one aggregator; the last may have less */
    uint64_t cycle_bytes;
    uint32_t aggregators_per_node;  /* who they are, see collective_aggregator; 0: evenly spaced */
    uint32_t operations;        /* of MPI, by which all meet before the first cycle of a call, */
    uint32_t cycle_operations;  /* and before each other one; 0: they wait for data alone */
};

void collective_plan_make(const struct collective *c, struct collective_plan *plan);

/* The index of the aggregator that `writer` is, or -1. */
int64_t collective_aggregator(const struct collective *c, const struct collective_plan *plan, uint32_t writer);

/* What an aggregator writes in a cycle of a call; FALSE: nothing. */
bool collective_share(const struct collective_plan *plan, uint64_t call, uint64_t cycle, uint32_t aggregator,
                      uint64_t *offset, uint64_t *length);

#endif
