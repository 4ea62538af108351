/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The standard streams of a program that was started without some of them.
 */
#ifndef TIERCEL_BASE_STREAMS_H
#define TIERCEL_BASE_STREAMS_H

/* A file or a connection must not get the number of a standard stream that was closed, and be printed into. Opened
 * the wrong way round, so that reading and printing fail as they did. First thing in main; before threads and MPI. */
void streams_open(void);

#endif
