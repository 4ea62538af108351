/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the handlings of a live run took, by role and message kind: from a handling's begin to its end on its own
 * process, sends included, what MPI does to receive not.
 *
 *     struct service_times *times = service_times_new(scenario);
 *     service_times_add(times, role, kind, end_ns - start_ns);        on the process where it happens
 *     service_times_gather(times, gather, &error)                     collective: process 0 then has all
 *     service_times_summarise(times, summary);
 *     service_times_free(times);
 */
#ifndef TIERCEL_SERVICE_TIMES_H
#define TIERCEL_SERVICE_TIMES_H

#include <stdio.h>

#include "scenario.h"
#include "trace/gather.h"

struct service_times;

struct service_times *service_times_new(const struct scenario *scenario);
void service_times_free(struct service_times *times);

/* `role` is an index into scenario_roles. */
void service_times_add(struct service_times *times, unsigned role, uint16_t kind, int64_t took_ns);

/* Collective. */
gboolean service_times_gather(struct service_times *times, struct gather *gather, GError **error);

/* The list "services" of the summary, in the order of roles and kinds. */
void service_times_summarise(const struct service_times *times, struct summary *summary);

void service_times_print(const struct service_times *times, FILE *out);

#endif
