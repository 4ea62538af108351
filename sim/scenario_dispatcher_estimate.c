/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much a dispatcher service will have to do. A task takes the messages of its protocol; how many tasks share a
 * notice to the client follows from how fast a service is against how long a notice takes.
 */
#include "scenario_dispatcher.h"

#include <math.h>

#define SECOND_NS 1e9
#define CERTAIN 0x1p64

/* From one task of a service to its next: what the dispatcher does for it, and with few threads the round trip to the
 * executor that it waits for; or the executors are what limits. */
static double task_ns(const struct task_service *t)
{
    const struct task_service_costs *c = &t->costs;
    double round_ns = 2.0 * (double)t->latency_ns + (double)c->executor_ack.fixed_ns;
    double busy_ns = (double)c->dispatcher_dispatch.fixed_ns;

    if (t->protocol == TASK_TCP)
        busy_ns += (double)c->dispatcher_ack.fixed_ns + (double)c->dispatcher_result.fixed_ns;
    else if (t->protocol == TASK_WS)
        busy_ns += (t->piggyback ? 1 : 2) * (double)c->dispatcher_call.fixed_ns;
    double dispatch_ns = t->protocol == TASK_PLAIN ? busy_ns : MAX(busy_ns, (busy_ns + round_ns) / MAX(t->threads, 1));
    double run_ns = distribution_mean_ns(&t->duration) + (double)c->executor_run.fixed_ns + round_ns;
    double limit_ns = t->protocol == TASK_TCP ? (double)t->notify_interval_ns : 0;
    return MAX(MAX(dispatch_ns, limit_ns), run_ns / t->executors);
}

/* Messages of a task between dispatcher and executor, and of executors that begin. */
static double task_messages(const struct task_service *t, double tasks)
{
    double first = MIN((double)t->services * t->executors, tasks / 2);

    if (t->protocol == TASK_PLAIN)
        return 5 * tasks;
    if (t->protocol == TASK_TCP)
        return 3 * tasks;
    /* Word of a task, the question for it, the task, its result, the thanks; in steady state two. */
    return t->piggyback ? 2 * tasks + 2.5 * first : 5 * tasks;
}

void dispatcher_estimate(const void *data, struct scenario_estimate *estimate)
{
    const struct dispatcher_scenario *s = data;
    const struct task_service *t = &s->service;
    double tries = (double)t->tasks * (1 + (double)t->faults.task_failure / CERTAIN * MIN(t->faults.retries_task, 1));
    double executors = (double)t->services * t->executors;
    double each_ns = task_ns(t);
    double notice_ns = MAX((double)t->costs.dispatcher_notice.fixed_ns, (double)t->notice_interval_ns);

    estimate->span_ns = (double)t->tasks * each_ns / t->services;
    estimate->events = task_messages(t, tries);
    if (t->protocol != TASK_PLAIN) {
        /* A notice, and the timer that ends the wait for it. */
        double shared = MIN(each_ns / MAX(notice_ns, 1), 1);
        estimate->events += (double)t->tasks * (shared < 1 ? 2 * shared : 1);
        double calls = (double)t->tasks / MAX(t->bundle, 1);
        if (t->balance == TASK_CREDIT && (double)t->window * t->services < (double)t->tasks)
            calls += estimate->span_ns / (double)t->poll_ns * t->services;
        estimate->events += 2 * calls;
    }
    if (t->provision != PROVISION_STATIC)
        estimate->events += 2.5 * MIN(executors, (double)t->tasks) +
                            3 * estimate->span_ns / (double)t->provision_poll_ns * t->services;
    if (s->file.used) {
        estimate->events += tries * file_run_messages(&s->file.file);
        estimate->span_ns = NAN;
    }
    estimate->pending = executors + t->services + t->clients;
    estimate->actor_bytes = 40 * executors;
    estimate->latency_ns = t->latency_ns;
}
