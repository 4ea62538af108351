/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock of an inode: a reader-writer semaphore as Linux has it (kernel/locking/rwsem.c, read in 6.12), or a strictly
 * fair one for comparison.
 *
 * Passive: who calls says what time it is, and does what the lock has decided:
 *
 *     if (inode_lock_ask(&lock, who, LOCK_EXCLUSIVE, now)) ...     it has the lock, and goes on at once
 *     else ...                                                     it sleeps in the queue
 *     inode_lock_leave(&lock, LOCK_EXCLUSIVE);
 *     while (inode_lock_take_granted(&lock, &who, &mode)) ...      has the lock, and goes on when it has woken up
 *     if (inode_lock_take_woken(&lock, &who)) ...                  wakes up, and then tries:
 *     if (inode_lock_try(&lock, who, later)) ...                   it has the lock; else it sleeps again
 *
 * Both are to be asked after every call that may change who holds the lock (ask, leave, demote).
 *
 * The kernel's rules:
 *   - Whoever runs may take a free lock, past those who sleep in the queue: it steals. So a writer that has just let go
 *     of the lock has it again if it asks before the sleeper at the head is awake.
 *   - A sleeper at the head that wakes up in vain, later than a time limit after it began to wait, sets the hand-off
 *     bit: the lock is then its own as soon as it is free. The limit is 4 ms, counted in whole ticks: above
 *     ceil(HZ / 250) ticks, that is 4 to 8 ms with HZ = 250 and 4 to 5 ms with HZ = 1000.
 *   - When the head asks for shared mode, all who wait for that mode, up to 256, get the lock at once, those behind
 *     sleepers in exclusive mode too; the hand-off bit goes.
 *   - A newcomer in shared mode steals a lock that nobody has, and shares one that is shared if nobody waits; if
 *     somebody does, it waits as well.
 *
 * Invariants: never two exclusive holders; never a shared one beside an exclusive one.
 */
#ifndef TIERCEL_IO_INODE_LOCK_H
#define TIERCEL_IO_INODE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum lock_mode {
    LOCK_SHARED,
    LOCK_EXCLUSIVE
};

enum lock_queue {
    LOCK_KERNEL,
    LOCK_FIFO                   /* nobody passes anybody; the lock is handed over by whoever lets go of it */
};

enum { LOCK_BATCH_MOST = 256 };

struct lock_waiter {
    uint64_t order;             /* the queue's count */
    int64_t since_ns;
    uint32_t who;
};

/* First in, first out; a ring that grows to what it once had to hold. */
struct lock_line {
    struct lock_waiter *waiters;
    uint32_t head;
    uint32_t count;
    uint32_t capacity;
};

struct lock_grant {
    uint32_t who;
    enum lock_mode mode;
};

struct inode_lock {
    enum lock_queue queue;
    uint32_t hz;                /* ticks a second */
    bool exclusive;             /* held so */
    uint32_t shared;            /* holders */
    bool handoff;               /* the head has set the bit */
    bool waking;                /* the head has been woken and has not tried yet */
    bool woken;                 /* and nobody has been told yet */
    uint64_t order;
    struct lock_line line[2];   /* by enum lock_mode: who waits for it */
    struct lock_grant *granted; /* not told yet */
    uint32_t granted_first, granted_count, granted_capacity;
    uint64_t steals;            /* taken past sleepers, */
    uint64_t handoffs;          /* hand-off bits set: of the lock's life */
};

/* `hz` 1 or above. */
void inode_lock_init(struct inode_lock *l, enum lock_queue queue, uint32_t hz);
void inode_lock_release(struct inode_lock *l);

/* Asks for the lock. FALSE: `who`, which must not be in the queue already, waits. */
bool inode_lock_ask(struct inode_lock *l, uint32_t who, enum lock_mode mode, int64_t now_ns);

/* A holder in that mode lets go. */
void inode_lock_leave(struct inode_lock *l, enum lock_mode mode);

/* The exclusive holder goes on in shared mode. */
void inode_lock_demote(struct inode_lock *l);

/* Whoever was woken is awake now. */
bool inode_lock_try(struct inode_lock *l, uint32_t who, int64_t now_ns);

bool inode_lock_take_granted(struct inode_lock *l, uint32_t *who, enum lock_mode *mode);
bool inode_lock_take_woken(struct inode_lock *l, uint32_t *who);

static inline uint32_t inode_lock_waiters(const struct inode_lock *l)
{
    return l->line[LOCK_SHARED].count + l->line[LOCK_EXCLUSIVE].count;
}

/* Holders and queue, in canonical order. */
void inode_lock_save(const struct inode_lock *l, struct bytes *sink);

#endif
