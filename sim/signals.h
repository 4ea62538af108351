/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals while a run goes on (design, section 6): SIGUSR1 asks for a flush, SIGUSR2, SIGTERM and SIGINT for an early
 * end. A second SIGTERM or SIGINT ends the process at once.
 *
 *     signals_watch();
 *     ... if (signals_take_flush()) ...; if (signals_stop_wanted()) ...
 *     signals_unwatch();
 *
 * A handler sets a flag and, where it was told to, cuts a file or removes one; it does nothing else. The flags belong
 * to the process: of two runs that go on at once in one process both stop. Watching may be nested. Local.
 */
#ifndef TIERCEL_SIGNALS_H
#define TIERCEL_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

void signals_watch(void);
void signals_unwatch(void);

/* When the launcher is gone, so is this process: one that waits in MPI for a neighbour which the launcher killed would
 * wait, and spin, for ever. Does nothing when the process was started by hand (without mpirun). */
void signals_follow_launcher(void);

/* A file that grows beyond the user's limit (ulimit -f) is an error like a full disk, not the end of the process. */
void signals_keep_writing(void);

/* True once for each SIGUSR1 (several that came together count as one). */
bool signals_take_flush(void);

/* True from the first SIGUSR2, SIGTERM or SIGINT on, until the watch begins anew. */
bool signals_stop_wanted(void);

/* From the first signal that asks for the end on, the open file `fd` has only `size` bytes: what was begun shall not
 * count against it when the launcher kills this process before it has come to an orderly end. -1: no file. */
void signals_forget(int fd, int64_t size);

/* The first SIGTERM or SIGINT removes the file at `path` (copied), since the launcher may kill this process before it
 * has come to an orderly end. NULL: no file. */
void signals_remove(const char *path);

/* The name of the signal that asked for the end; NULL when none did. */
const char *signals_stop_name(void);

#endif
