/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run of writes of one writer, one after the other: part of the state of whoever has blocks to write, be it a writer
 * of a shared file or a job at its end.
 *
 *     write_run_begin(self, f, &run, STREAM);              the first write is on its way
 *     ... case MOUNT_NEXT: case MOUNT_WRITTEN:
 *     if (write_run_handle(self, f, &run, m, STREAM)) ...  that was the last one
 *
 * Between two writes passes what the setup says: the way back into the kernel (`back`) and the time to think.
 */
#ifndef TIERCEL_RANKS_WRITE_RUN_H
#define TIERCEL_RANKS_WRITE_RUN_H

#include "ranks/mount.h"
#include "ranks/shared_file.h"

struct write_run {
    uint64_t next;                  /* the present or next write, in the pattern's count */
    uint64_t end;                   /* the first one that is not this run's */
    uint32_t writer;                /* of the pattern; 0 where each has a file of its own */
    uint32_t mount;
    uint32_t file;                  /* of the mount */
    uint8_t flags;                  /* enum mount_flag, of the first write of the run */
    uint64_t tag;                   /* the word of this run's messages: who is told of another run's forgets it */
};

/* `stream` is the actor's stream of random numbers for `back` and `think`. */
void write_run_begin(struct actor *self, const struct shared_file *f, struct write_run *run, unsigned stream);
bool write_run_handle(struct actor *self, const struct shared_file *f, struct write_run *run, const struct message *m,
                      unsigned stream);

void write_run_save(const struct write_run *run, struct bytes *sink);

#endif
