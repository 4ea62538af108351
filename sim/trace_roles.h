/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a trace is told of the roles, kinds and actors of a scenario before it is made.
 *
 *     struct trace_roles roles;
 *     trace_roles_init(&roles, scenario);
 *     trace_roles_describe(&roles, &config);       points into roles, which must live as long as config does
 *     trace_roles_release(&roles);
 *
 * All local.
 */
#ifndef TIERCEL_TRACE_ROLES_H
#define TIERCEL_TRACE_ROLES_H

#include <glib.h>
#include <stdint.h>

#include "trace/trace.h"

struct role;
struct scenario;

struct trace_roles {
    GArray *roles;                      /* struct trace_role */
    GPtrArray *metrics;                 /* arrays of struct trace_metric, one a role */
    GArray *kinds;                      /* struct trace_kind */
    uint16_t *actor_roles;              /* by actor id: index into roles */
    uint32_t *actor_nodes;
    uint32_t actor_count;
};

void trace_roles_init(struct trace_roles *t, const struct scenario *scenario);
void trace_roles_release(struct trace_roles *t);

/* Sets roles, kinds, actors and tables of the configuration. */
void trace_roles_describe(const struct trace_roles *t, const struct scenario *scenario, struct trace_config *config);

/* The index of one of the scenario's roles. */
unsigned trace_roles_find(const struct scenario *scenario, const struct role *role);

#endif
