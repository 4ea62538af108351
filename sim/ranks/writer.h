/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Roles "writer" and "meeting": the processes of a parallel program that writes a shared file, and the place where they
 * wait for one another.
 *
 * A writer prepares the file if it is its turn (the first of each node sets the size, the first of all writes zeros),
 * meets the others if there was anything to prepare, and writes: independently, or in collective calls, as the
 * setup's plan has it. In a collective call all meet, before each cycle, and then either each writes its own blocks or
 * the aggregators write for all; the others go on to the next meeting.
 *
 * A meeting takes the setup's `exchange` from the last arrival on, and `operation_ns` for each collective operation
 * behind the first one by which the library has all meet there; then everybody goes on at once. An aggregator takes
 * `share` to get what the others have for it before it writes, on a core that it may share with other aggregators.
 */
#ifndef TIERCEL_RANKS_WRITER_H
#define TIERCEL_RANKS_WRITER_H

#include "engine/actor.h"

enum writer_kind {
    WRITER_START = 0x2301,          /* timer: the program begins */
    WRITER_PREPARED                 /* answer of the mount: a part of the preparation is done */
};

enum meeting_kind {
    MEETING_ARRIVED = 0x2401,       /* a writer waits for the others; word: operations behind the first, if they take
                                     * time */
    MEETING_GO                      /* to all writers */
};

/* Setup of both: struct shared_file. The metrics of role "writer", by index in its table. */
enum writer_metric {
    WRITER_WRITTEN,
    WRITER_READY,
    WRITER_ENDED
};

enum meeting_metric { MEETING_MET };

extern const struct role role_writer;
extern const struct role role_meeting;

#endif
