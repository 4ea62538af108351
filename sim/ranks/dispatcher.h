/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dispatcher of a service: one queue of tasks, executors, and the tasks that these run.
 *
 * One actor is the lock that submission, dispatch and results share: each takes its time while it holds it. Where the
 * lock is not shared, bundles are taken in by a thread of their own, one task after the other, and may be dispatched
 * meanwhile. Beside the lock there is the thread that notifies the client: it sends what has ended since its last
 * notice, at most so many tasks at a time, and is then busy for as long as a notice takes.
 *
 * An executor is notified (TCP: of its task; WS: that there is work), and counts as notified until it has acknowledged
 * (TCP) or asked for work (WS). At most `threads` executors are in that state, and notifications may be held at a
 * distance from one another. Which executor: the one that has been idle longest, or shortest.
 *
 * What goes wrong. A failed task goes back to the end of the queue, up to its number of retries. An executor with too
 * many errors is parked; a timer lets those go on that have been parked long enough. One that does not acknowledge in
 * time is notified again, in the end dropped, and its task goes back to the queue. One that registers or asks for work
 * while it has a task has lost the result of that: the task ends as lost.
 *
 *     dispatcher.c            queue, dispatch, results, the role
 *     dispatcher_faults.c     retries, parking, time-outs
 *     dispatcher_steal.c      stealing
 *
 * Setup: struct task_service.
 */
#ifndef TIERCEL_RANKS_DISPATCHER_H
#define TIERCEL_RANKS_DISPATCHER_H

#include "ranks/task_queue.h"
#include "ranks/task_service.h"

enum dispatcher_metric {
    DISPATCHER_ACCEPTED,
    DISPATCHER_DISPATCHED,
    DISPATCHER_COMPLETED,
    DISPATCHER_FAILED,
    DISPATCHER_LOST,
    DISPATCHER_RETRIED,
    DISPATCHER_RETURNED,
    DISPATCHER_NOTICES,
    DISPATCHER_QUEUED_US,
    DISPATCHER_LATE,
    DISPATCHER_DROPPED,
    DISPATCHER_PARKED,
    DISPATCHER_STOLEN_TASKS,
    DISPATCHER_METRICS
};

/* --- what the files of the role share --- */

enum slot_flag {
    SLOT_BUSY = 1 << 0,             /* has a task */
    SLOT_NOTIFIED = 1 << 1,         /* and has not acknowledged yet */
    SLOT_PARKED = 1 << 2,
    SLOT_ABSENT = 1 << 3            /* not registered, or dropped */
};

struct executor_slot {
    uint16_t task;                  /* the word of the task that it runs */
    uint8_t errors;
    uint8_t flags;                  /* enum slot_flag; none: idle */
};

struct pending_ack {                /* only where executors can die */
    int64_t deadline_ns;
    uint32_t executor;
    uint32_t serial;                /* of the notification: an entry whose executor has a newer one is stale */
};

struct parked {
    int64_t since_ns;
    uint32_t executor;
};

struct dispatcher {
    struct task_queue queue;
    struct executor_slot *slots;
    uint32_t *idle;                 /* a ring */
    uint32_t idle_mask;
    uint32_t idle_head, idle_count;
    uint32_t first;                 /* actor id of the first executor */
    uint32_t client;
    uint32_t service;
    uint32_t notified;              /* executors that have not acknowledged */
    bool dispatch_timer;            /* pending timers */
    bool notify_timer;
    bool steal_timer;
    bool stealing;                  /* a probe or a theft is under way */

    int64_t next_dispatch_ns;       /* earliest next notification */
    int64_t next_notice_ns;         /* when the notification thread is free */
    struct notice_counts ended;     /* not told to the client yet */

    int64_t dispatch_ns, dispatch_queued_ns, ack_ns, result_ns, call_ns;    /* costs of this service */

    /* Taking a bundle in, where the lock is not shared. */
    int64_t intake_begin_ns;
    int64_t intake_free_ns;         /* when the thread is done with all bundles */
    int64_t intake_task_ns;         /* one task */
    uint32_t intake_tasks;          /* of the bundle; 0: none */
    uint32_t intake_taken;
    uint64_t newest;                /* TASK_ODD_BUNDLE or 0: of the bundle that came last */

    uint64_t asked;                 /* late binding: tasks that were asked for and have not come */

    /* Figures on their way to the observer, told with each notice. */
    uint64_t accepted, dispatched;
    uint64_t queued_ns;             /* tasks x time in the queue */
    int64_t queued_since_ns;        /* until when that was counted */

    /* Faults. */
    uint32_t *serials;              /* by executor */
    uint8_t *attempts;              /* by executor: notifications without an answer */
    GArray *acks;                   /* struct pending_ack, by deadline */
    guint acks_done;                /* entries at its beginning that are dealt with */
    GArray *parked;                 /* struct parked, by time */
    bool timeout_timer;
    bool park_timer;
    bool may_hold;                  /* executors may be parked, or come later: the run must wait for them */
    bool held;

    /* Stealing. */
    int64_t steal_wait_ns;
    uint64_t best_load;             /* of the neighbours that have answered */
    uint32_t best;                  /* that neighbour */
    uint32_t probes;                /* answers to come */
};

void dispatcher_queue_count(struct actor *self, struct dispatcher *d);
void dispatcher_put_back(struct actor *self, struct dispatcher *d, uint64_t task, uint64_t count);
void dispatcher_idle_add(struct dispatcher *d, uint32_t executor);

/* Notifies executors while there are tasks, idle executors and room. */
void dispatcher_dispatch(struct actor *self, struct dispatcher *d);

/* Sends a notice if one is due and the thread is free, else sees to it that it goes later. */
void dispatcher_notice(struct actor *self, struct dispatcher *d);

/* dispatcher_faults.c */
void dispatcher_faults_init(struct dispatcher *d, const struct task_service *t);
void dispatcher_faults_release(struct dispatcher *d);
void dispatcher_faults_save(const struct dispatcher *d, const struct task_service *t, struct bytes *sink);
/* The executor was notified. */
void dispatcher_expect_ack(struct actor *self, struct dispatcher *d, uint32_t executor);
void dispatcher_timeout(struct actor *self, struct dispatcher *d);
/* An error of an executor: TRUE when that parks it. */
bool dispatcher_blame(struct actor *self, struct dispatcher *d, uint32_t executor);
void dispatcher_unpark(struct actor *self, struct dispatcher *d);
/* The executor begins anew: what it had is lost, or goes back if it never acknowledged. */
void dispatcher_close(struct actor *self, struct dispatcher *d, uint32_t executor);
/* Keeps the run alive while tasks wait for executors that are parked or have not come yet. */
void dispatcher_hold(struct actor *self, struct dispatcher *d);

/* dispatcher_steal.c */
void dispatcher_look_for_work(struct actor *self, struct dispatcher *d);
void dispatcher_steal_handle(struct actor *self, struct dispatcher *d, const struct message *m);

#endif
