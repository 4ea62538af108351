/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/job_waits.h"

struct job_waiter {
    struct envelope env;
    uint64_t id;
};

void job_waits_init(struct job_waits *w)
{
    g_queue_init(&w->ends);
    g_queue_init(&w->waiters);
}

void job_waits_release(struct job_waits *w)
{
    g_queue_clear_full(&w->ends, g_free);
    g_queue_clear_full(&w->waiters, g_free);
}

static GList *end_find(const struct job_waits *w, uint64_t id)
{
    for (GList *item = w->ends.head; item != NULL; item = item->next)
        if (id == 0 || id == ((const struct job_end *)item->data)->id)
            return item;
    return NULL;
}

bool job_waits_knows(const struct job_waits *w, uint64_t id)
{
    return end_find(w, id) != NULL;
}

bool job_waits_ask(struct job_waits *w, const struct envelope *env, uint64_t id, struct job_end *end)
{
    GList *kept = end_find(w, id);
    if (kept != NULL) {
        *end = *(const struct job_end *)kept->data;
        g_free(kept->data);
        g_queue_delete_link(&w->ends, kept);
        return true;
    }
    struct job_waiter *waiter = g_new(struct job_waiter, 1);
    *waiter = (struct job_waiter){ *env, id };
    g_queue_push_tail(&w->waiters, waiter);
    return false;
}

bool job_waits_tell(struct job_waits *w, const struct job_end *end, struct envelope *env)
{
    for (GList *item = w->waiters.head; item != NULL; item = item->next) {
        struct job_waiter *waiter = item->data;
        if (waiter->id == 0 || waiter->id == end->id) {
            *env = waiter->env;
            g_free(waiter);
            g_queue_delete_link(&w->waiters, item);
            return true;
        }
    }
    struct job_end *kept = g_new(struct job_end, 1);
    *kept = *end;
    g_queue_push_tail(&w->ends, kept);
    return false;
}

void job_waits_save(const struct job_waits *w, struct bytes *sink)
{
    bytes_put_u32(sink, w->ends.length);
    for (const GList *item = w->ends.head; item != NULL; item = item->next) {
        const struct job_end *end = item->data;
        bytes_put_u64(sink, end->id);
        bytes_put_u32(sink, end->status);
        bytes_put_u8(sink, end->success);
    }
    bytes_put_u32(sink, w->waiters.length);
    for (const GList *item = w->waiters.head; item != NULL; item = item->next) {
        const struct job_waiter *waiter = item->data;
        envelope_put(sink, &waiter->env);
        bytes_put_u64(sink, waiter->id);
    }
}
