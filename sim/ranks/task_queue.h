/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A first-in-first-out queue of tasks that are alike but for a small word each: kept as runs of equal words, so that a
 * million tasks of one bundle take as much room as one.
 *
 *     struct task_queue q = TASK_QUEUE_INIT;
 *     task_queue_push(&q, word, 256);
 *     while (q.tasks != 0)
 *         word = task_queue_pop(&q);
 *     task_queue_release(&q);
 *
 * Nothing is allocated once the queue has had as many runs as it ever has.
 */
#ifndef TIERCEL_RANKS_TASK_QUEUE_H
#define TIERCEL_RANKS_TASK_QUEUE_H

#include <stdint.h>

#include "base/bytes.h"

struct task_run {
    uint64_t count;                 /* 1 or above */
    uint64_t word;
};

struct task_queue {
    uint64_t tasks;                 /* in all */
    struct task_run *runs;          /* a ring */
    uint32_t head;
    uint32_t count;
    uint32_t capacity;              /* a power of two, or 0 */
};

#define TASK_QUEUE_INIT { 0, NULL, 0, 0, 0 }

/* Joins the run at the end when that has the same word. A count of 0 is nothing. */
void task_queue_push(struct task_queue *q, uint64_t word, uint64_t count);

/* The first task's word; there must be one. */
static inline uint64_t task_queue_pop(struct task_queue *q)
{
    struct task_run *run = &q->runs[q->head];
    uint64_t word = run->word;
    q->tasks--;
    if (--run->count == 0) {
        q->head = (q->head + 1) & (q->capacity - 1);
        q->count--;
    }
    return word;
}

/* Takes up to `most` tasks off the end, all of one word, which it sets; returns how many: for a thief. */
uint64_t task_queue_take_last(struct task_queue *q, uint64_t most, uint64_t *word);

/* In canonical form: equal queues, equal bytes. */
void task_queue_save(const struct task_queue *q, struct bytes *sink);
void task_queue_release(struct task_queue *q);

#endif
