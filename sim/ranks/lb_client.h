/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The load-balancing client: one shared queue of tasks, and for each service a submit loop that draws from it.
 *
 * A submit loop holds at most `window` tasks outstanding at its service. It submits a bundle of whatever there is room
 * for (up to `bundle`, and to what a limit of tasks per second leaves), waits until that call returns, and goes on;
 * when there is no room at all it naps. So a faster service draws more, without any message about load. Notices tell
 * how many tasks have ended.
 *
 * With late binding a loop submits what its service asks for; with stealing it submits its share without looking at
 * what is outstanding, and the services balance among themselves.
 *
 * Everything that the client does allocates on its heap (ranks/heap.h); while that is collected nothing in the client
 * goes on. Two ways to leak: so many bytes for every task; or the record of each task whose end is told before its own
 * submit call has returned: the client then finds no record of it, makes one, and never removes that.
 *
 * A failed submit call is tried again; a loop whose bundle fails too often gives up, its bundle is rejected. When all
 * have given up, or the heap is exhausted, so is what was not submitted. Setup: struct task_service.
 */
#ifndef TIERCEL_RANKS_LB_CLIENT_H
#define TIERCEL_RANKS_LB_CLIENT_H

#include "ranks/task_service.h"

enum lb_client_metric {
    LB_CLIENT_SUBMITTED,
    LB_CLIENT_COMPLETED,
    LB_CLIENT_FAILED,
    LB_CLIENT_LOST,
    LB_CLIENT_REJECTED,
    LB_CLIENT_ENDED,
    LB_CLIENT_CALLS,
    LB_CLIENT_NAPS,
    LB_CLIENT_SUBMIT_RETRIES,
    LB_CLIENT_COLLECTIONS,
    LB_CLIENT_PAUSE,
    LB_CLIENT_HEAP_FREE,
    LB_CLIENT_PAUSED,
    LB_CLIENT_FREED,
    LB_CLIENT_LATE_ANSWERS,
    LB_CLIENT_EXHAUSTED,
    LB_CLIENT_FIRST_DONE,
    LB_CLIENT_SUBMIT_SPAN,
    LB_CLIENT_MAKESPAN,
    LB_CLIENT_FIRST_MINUTE,
    LB_CLIENT_LAST_MINUTE,
    LB_CLIENT_LAST_MINUTE_PAUSE,
    LB_CLIENT_LAST_FREE,
    LB_CLIENT_METRICS
};

extern const struct metric lb_client_metrics[];

#endif
