/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much a queueing network will have to do: the traffic equations tell how often a job comes to each group of
 * stations; each time is a message, and two where a station has several servers.
 */
#include "scenario_queueing.h"

#include <math.h>

/* Visits of a job to each group, from v = e + P^T v by elimination: no pivoting is needed, since from everywhere a way
 * leads out. The caller frees the array. */
static double *find_visits(const struct queueing *q)
{
    unsigned n = q->groups->len;
    g_autofree double *rows = g_new0(double, (gsize)n * (n + 1));
    double *visits = queueing_probabilities(q, NULL);

#define AT(i, j) rows[(gsize)(i) * (n + 1) + (j)]
    for (unsigned i = 0; i < n; i++) {
        g_autofree double *to = queueing_probabilities(q, queueing_group_at(q, i));
        for (unsigned j = 0; j < n; j++)
            AT(j, i) -= to[j];
        AT(i, i) += 1;
        AT(i, n) = visits[i];
    }
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = i + 1; j < n; j++) {
            double factor = AT(j, i) / AT(i, i);
            for (unsigned k = i; k <= n && factor != 0; k++)
                AT(j, k) -= factor * AT(i, k);
        }
    for (unsigned i = n; i-- > 0;) {
        visits[i] = AT(i, n);
        for (unsigned k = i + 1; k < n; k++)
            visits[i] -= AT(i, k) * visits[k];
        visits[i] /= AT(i, i);
    }
#undef AT
    return visits;
}

/* Of a closed network no more jobs a second can pass than its busiest station serves, nor than its jobs make rounds
 * without waiting; nearly as many do. */
void queueing_estimate(const void *data, struct scenario_estimate *estimate)
{
    const struct queueing *q = data;
    g_autofree double *visits = find_visits(q);
    double jobs = (double)q->source.jobs;
    double messages = q->source.population == 0 ? 2 : 1;
    double round_ns = (double)q->latency_ns + distribution_mean_ns(&q->source.service);
    double busiest_ns = distribution_mean_ns(&q->source.service);

    for (unsigned i = 0; i < q->groups->len; i++) {
        const struct queueing_group *group = queueing_group_at(q, i);
        double service_ns = visits[i] * distribution_mean_ns(&group->stations[0].service);
        messages += visits[i] * (group->stations[0].servers > 1 ? 2 : 1);
        round_ns += service_ns + visits[i] * (double)q->latency_ns;
        busiest_ns = MAX(busiest_ns, service_ns / ((double)group->stations[0].servers * group->count));
    }
    if (q->source.population == 0) {
        estimate->span_ns = jobs * MAX(distribution_mean_ns(&q->source.interval), busiest_ns);
        estimate->pending = 1 + round_ns / MAX(distribution_mean_ns(&q->source.interval), 1);
    } else {
        estimate->span_ns = jobs * MAX(busiest_ns, round_ns / (double)q->source.population);
        estimate->pending = (double)MIN(q->source.population, q->source.jobs);
    }
    estimate->events = jobs * messages;
    estimate->actor_bytes = 0;
    estimate->latency_ns = q->latency_ns;
}
