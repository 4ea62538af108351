/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The executor of a dispatcher service: one a processor, runs one task at a time.
 *
 * TCP: it takes a task, acknowledges it, runs it and sends the result, which nobody acknowledges. WS: it is told that
 * there is work, asks for it, runs it, and delivers the result in a call whose answer may carry the next task.
 *
 * Where tasks write a shared file (task_service.file), a task writes its blocks, one after the other, before it ends.
 *
 * What can go wrong, each by a chance of its own: the task fails; the result is lost with the connection, after which
 * it connects again (and the dispatcher then knows that the task's result will never come); it dies when it is told of
 * work, and is started again later. Setup: struct task_service.
 */
#ifndef TIERCEL_RANKS_TASK_EXECUTOR_H
#define TIERCEL_RANKS_TASK_EXECUTOR_H

#include "ranks/task_service.h"

enum task_executor_metric { TASK_EXECUTOR_RUN_US, TASK_EXECUTOR_LOST_RESULTS, TASK_EXECUTOR_DEATHS,
                            TASK_EXECUTOR_WRITE_TIME };

#endif
