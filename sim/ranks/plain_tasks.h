/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plainest dispatcher service: five messages a task and nothing else, to measure simulators with. It is the model
 * of inputs/bench/falkon-s4u.deck, which exists for other engines as well (see the deck).
 *
 *     plain-client      holds `window` tasks outstanding at each service; each submission takes lb-client-submit
 *     plain-dispatcher  SUBMIT into the queue; a dispatch server takes dispatcher-dispatch for each task (a timer),
 *                       then EXEC to the executor that has been idle longest; DONE back, NOTIFY on to the client
 *     plain-executor    answers at once
 *
 * So: submit, dispatched, exec, done, notify. No bundles, no acknowledgements, no naps. Setup: struct task_service.
 */
#ifndef TIERCEL_RANKS_PLAIN_TASKS_H
#define TIERCEL_RANKS_PLAIN_TASKS_H

#include "ranks/task_service.h"

enum plain_task_kind {
    PLAIN_SUBMIT = 0x1301,          /* word: the task's number */
    PLAIN_DISPATCHED,               /* timer: the dispatch server is done; word: the task's number */
    PLAIN_EXEC,
    PLAIN_DONE,
    PLAIN_NOTIFY
};

extern const struct role role_plain_client;
extern const struct role role_plain_dispatcher;
extern const struct role role_plain_executor;

#endif
