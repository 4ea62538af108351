/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An executor: one core slot of a node. A job's shell lives in the executor of its first slot; the others that it holds
 * stay idle (flux-core 0.15 to 0.17, src/shell).
 *
 * The shell is a client of its node's broker, and waits for each of its requests in turn: it connects; subscribes
 * shell-<id>.; has job-info look up jobspec and R; registers its service; commits the headers of the input and output
 * logs and "shell.init"; starts the task; asks for its input to be watched; commits "shell.start". When the task has
 * ended it cancels the watch, commits the two end-of-file records at once, takes its service and subscription back, and
 * ends. So it waits for five commits. There is one shell a job, so no barrier.
 *
 * Where jobs write a shared file (instance.file), a task that has run writes its blocks, one after the other, before it
 * ends.
 *
 * The watch begins once the job's "start" event is seen, and may be cancelled before; with instance.watch_forced the
 * shell waits at its task's end until the watch has begun.
 */
#ifndef TIERCEL_RANKS_EXECUTOR_H
#define TIERCEL_RANKS_EXECUTOR_H

#include "engine/actor.h"

/* The metrics of role "executor", by index in its table. */
enum executor_metric {
    EXECUTOR_SHELLS,        /* launched */
    EXECUTOR_COMMITS,       /* waited for: five a shell */
    EXECUTOR_TASKS,         /* started */
    EXECUTOR_WATCHES,       /* input watches asked for */
    EXECUTOR_WATCHED,       /* of these, seen to begin */
    EXECUTOR_SIGNALLED,     /* tasks ended by a signal */
    EXECUTOR_WRITE_TIME     /* of a job that writes a shared file */
};

#endif
