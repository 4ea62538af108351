/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/commit_queue.h"

#include <errno.h>

void commit_queue_init(struct commit_queue *q)
{
    g_queue_init(&q->commits);
    q->transactions = 0;
}

void commit_queue_release(struct commit_queue *q)
{
    g_queue_clear_full(&q->commits, (GDestroyNotify)commit_free);
    q->transactions = 0;
}

void commit_queue_push(struct commit_queue *q, struct transaction *t)
{
    struct commit *commit = commit_new(t->flags);
    g_ptr_array_add(commit->transactions, t);
    g_queue_push_tail(&q->commits, commit);
    q->transactions++;
}

struct commit *commit_queue_head(const struct commit_queue *q)
{
    return q->commits.head == NULL ? NULL : q->commits.head->data;
}

bool commit_queue_ready(const struct commit_queue *q)
{
    const struct commit *head = commit_queue_head(q);
    return head != NULL && head->outstanding == 0;
}

static bool may_merge(const struct commit *commit)
{
    return !commit->alone && (commit->flags & TRANSACTION_NO_MERGE) == 0 && commit->errnum == 0;
}

uint32_t commit_queue_merge(struct commit_queue *q)
{
    struct commit *head = commit_queue_head(q);
    if (head == NULL || head->state != COMMIT_READY || head->root_directory != NULL || !may_merge(head))
        return 0;
    uint32_t merged = 0;
    while (q->commits.head->next != NULL) {
        struct commit *next = q->commits.head->next->data;
        if (next->flags != head->flags || !may_merge(next))
            break;
        g_ptr_array_extend_and_steal(head->transactions, next->transactions);
        next->transactions = g_ptr_array_new();
        commit_free(next);
        g_queue_delete_link(&q->commits, q->commits.head->next);
        merged++;
    }
    return merged;
}

bool commit_queue_retry(struct commit_queue *q)
{
    struct commit *head = commit_queue_head(q);
    g_assert(head != NULL && head->state == COMMIT_FAILED);
    if (head->transactions->len < 2 || head->errnum == ENOMEM || head->errnum == ENOTSUP)
        return false;
    gsize count;
    struct transaction **transactions = (struct transaction **)g_ptr_array_steal(head->transactions, &count);
    g_queue_pop_head(&q->commits);
    for (gsize i = count; i-- > 0;) {
        struct commit *single = commit_new(transactions[i]->flags);
        single->alone = true;
        g_ptr_array_add(single->transactions, transactions[i]);
        g_queue_push_head(&q->commits, single);
    }
    g_free(transactions);
    commit_free(head);
    return true;
}

void commit_queue_pop(struct commit_queue *q)
{
    struct commit *head = g_queue_pop_head(&q->commits);
    g_assert(head != NULL && (head->state == COMMIT_DONE || head->state == COMMIT_FAILED));
    q->transactions -= head->transactions->len;
    commit_free(head);
}

void commit_queue_save(const struct commit_queue *q, struct bytes *sink)
{
    bytes_put_u32(sink, q->commits.length);
    for (const GList *link = q->commits.head; link != NULL; link = link->next)
        commit_save(link->data, sink);
}
