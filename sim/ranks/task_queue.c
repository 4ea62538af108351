/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/task_queue.h"

#include <glib.h>

static void grow(struct task_queue *q)
{
    uint32_t capacity = q->capacity != 0 ? 2 * q->capacity : 4;
    struct task_run *runs = g_new(struct task_run, capacity);
    for (uint32_t i = 0; i < q->count; i++)
        runs[i] = q->runs[(q->head + i) & (q->capacity - 1)];
    g_free(q->runs);
    q->runs = runs;
    q->head = 0;
    q->capacity = capacity;
}

static struct task_run *last_run(const struct task_queue *q)
{
    return &q->runs[(q->head + q->count - 1) & (q->capacity - 1)];
}

void task_queue_push(struct task_queue *q, uint64_t word, uint64_t count)
{
    if (count == 0)
        return;
    q->tasks += count;
    if (q->count != 0 && last_run(q)->word == word) {
        last_run(q)->count += count;
        return;
    }
    if (q->count == q->capacity)
        grow(q);
    q->count++;
    *last_run(q) = (struct task_run){ count, word };
}

uint64_t task_queue_take_last(struct task_queue *q, uint64_t most, uint64_t *word)
{
    if (q->count == 0 || most == 0)
        return 0;
    struct task_run *run = last_run(q);
    uint64_t taken = MIN(most, run->count);
    *word = run->word;
    run->count -= taken;
    q->tasks -= taken;
    if (run->count == 0)
        q->count--;
    return taken;
}

void task_queue_save(const struct task_queue *q, struct bytes *sink)
{
    bytes_put_u32(sink, q->count);
    for (uint32_t i = 0; i < q->count; i++) {
        const struct task_run *run = &q->runs[(q->head + i) & (q->capacity - 1)];
        bytes_put_u64(sink, run->count);
        bytes_put_u64(sink, run->word);
    }
}

void task_queue_release(struct task_queue *q)
{
    g_free(q->runs);
    *q = (struct task_queue)TASK_QUEUE_INIT;
}
