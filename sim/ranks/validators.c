/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/validators.h"

void validators_init(struct validators *v, unsigned limit, unsigned threshold, int64_t idle_exit_ns, int64_t start_ns,
                     int64_t work_ns)
{
    g_assert(limit >= 1 && limit <= VALIDATORS_MAX && threshold >= 1);
    *v = (struct validators){
        .limit = limit,
        .threshold = threshold,
        .idle_exit_ns = idle_exit_ns,
        .start_ns = start_ns,
        .work_ns = work_ns,
    };
    for (unsigned i = 0; i < limit; i++)
        g_queue_init(&v->workers[i].jobs);
}

void validators_release(struct validators *v)
{
    for (unsigned i = 0; i < v->limit; i++)
        g_queue_clear(&v->workers[i].jobs);
}

static bool validator_has_exited(const struct validators *v, const struct validator *w, int64_t now_ns)
{
    return w->running && g_queue_is_empty((GQueue *)&w->jobs) && now_ns - w->idle_since_ns >= v->idle_exit_ns;
}

/* The running co-process with the fewest jobs, the lowest of equals; or the one to start. */
static unsigned validators_choose(const struct validators *v)
{
    unsigned shortest = v->limit;
    unsigned stopped = v->limit;
    for (unsigned i = 0; i < v->limit; i++) {
        const struct validator *w = &v->workers[i];
        if (!w->running) {
            if (stopped == v->limit)
                stopped = i;
        } else if (shortest == v->limit || w->jobs.length < v->workers[shortest].jobs.length) {
            shortest = i;
        }
    }
    if (shortest == v->limit || (stopped < v->limit && v->workers[shortest].jobs.length >= v->threshold))
        return stopped;
    return shortest;
}

unsigned validators_add(struct validators *v, gpointer job, int64_t now_ns)
{
    for (unsigned i = 0; i < v->limit; i++)
        if (validator_has_exited(v, &v->workers[i], now_ns))
            v->workers[i].running = false;
    unsigned worker = validators_choose(v);
    g_queue_push_tail(&v->workers[worker].jobs, job);
    return worker;
}

gpointer validators_begin(struct validators *v, unsigned worker, int64_t *work_ns)
{
    struct validator *w = &v->workers[worker];
    if (w->busy || g_queue_is_empty(&w->jobs))
        return NULL;
    *work_ns = v->work_ns + (w->running ? 0 : v->start_ns);
    w->running = true;
    w->busy = true;
    return g_queue_peek_head(&w->jobs);
}

gpointer validators_finish(struct validators *v, unsigned worker, int64_t now_ns)
{
    struct validator *w = &v->workers[worker];
    g_assert(w->busy);
    w->busy = false;
    w->idle_since_ns = now_ns;
    return g_queue_pop_head(&w->jobs);
}

void validators_save(const struct validators *v, struct bytes *sink,
                     void (*save_job)(gconstpointer job, struct bytes *sink))
{
    for (unsigned i = 0; i < v->limit; i++) {
        const struct validator *w = &v->workers[i];
        bytes_put_u8(sink, w->running);
        bytes_put_u8(sink, w->busy);
        bytes_put_i64(sink, w->idle_since_ns);
        bytes_put_u32(sink, w->jobs.length);
        for (const GList *item = w->jobs.head; item != NULL; item = item->next)
            save_job(item->data, sink);
    }
}
