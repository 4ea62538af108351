/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Role "program": on the live clock, the parallel program of a group [io.NAME], whose processes are those of the run
 * itself. It asks for the act that they carry out together, and reports what came of it; then it tells the next one to
 * begin, so that programs run one after the other.
 */
#ifndef TIERCEL_RANKS_FILE_PROGRAM_H
#define TIERCEL_RANKS_FILE_PROGRAM_H

#include "engine/actor.h"
#include "ranks/mount.h"

enum program_kind {
    PROGRAM_BEGIN = 0x2501,         /* the one before has ended; the first tells itself */
    PROGRAM_DONE                    /* completion of the act; payload: an i64 for each metric, in order, and behind
                                     * them any number of struct program_row */
};

/* By index in the role's table of metrics. */
enum program_metric {
    PROGRAM_BYTES,
    PROGRAM_WRITES,
    PROGRAM_VERIFIED,
    PROGRAM_EXCLUSIVE,
    PROGRAM_SHARED,
    PROGRAM_EXTENDING,
    PROGRAM_LONE,
    PROGRAM_CONTESTED,
    PROGRAM_RETAKES,
    PROGRAM_BROKEN,
    PROGRAM_LOCK_WAIT,
    PROGRAM_WRITE_TIME,
    PROGRAM_OMPIO,
    PROGRAM_ROMIO,
    PROGRAM_WINDOWS_SHARED,
    PROGRAM_WINDOWS_MESSAGES,
    PROGRAM_ONESIDED_SM,
    PROGRAM_ONESIDED_PT2PT,
    PROGRAM_ONESIDED_RDMA,
    PROGRAM_ONESIDED_UCX,
    PROGRAM_ONESIDED_UNKNOWN,
    PROGRAM_INFLIGHT,
    PROGRAM_OPENED,
    PROGRAM_READY,
    PROGRAM_WRITTEN,
    PROGRAM_CLOSED,
    PROGRAM_HELD_UP,
    PROGRAM_METRICS
};

#define PROGRAM_NOBODY UINT32_MAX

/* Setup. */
struct file_program {
    uint32_t act;
    bool first;
    uint32_t next;                  /* actor that begins when this one has ended, or PROGRAM_NOBODY */
    uint8_t row_name;               /* of the file in the trace's table of writes (ranks/mount.h) */
};

/* That a payload has room for (engine/message.h). */
enum { PROGRAM_ROWS_MOST = 16000000 };

/* A write of the act, as it stands in the act's result: without what the setup says. Times count from the act's end,
 * and so are below 0. */
void program_row_put(struct bytes *out, const struct mount_row *row);

extern const struct role role_file_program;

#endif
