/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of roles. Each is one constant, defined in the file of its name in this folder.
 */
#ifndef TIERCEL_RANKS_ROLES_H
#define TIERCEL_RANKS_ROLES_H

#include <stdint.h>

#include "engine/actor.h"
#include "ranks/protocol.h"

extern const struct role role_broker;
extern const struct role role_kvs_root;
extern const struct role role_kvs_worker;
extern const struct role role_watcher;
extern const struct role role_content;
extern const struct role role_job_info;
extern const struct role role_ingest;
extern const struct role role_job_manager;
extern const struct role role_scheduler;
extern const struct role role_job_exec;
extern const struct role role_executor;
extern const struct role role_client;
extern const struct role role_namespace_client;     /* in the client's place, instance_jobs.namespaces above 0 */

/* All roles in a fixed order, for the summary, the manual and `check`; ends with NULL. */
extern const struct role *const roles[];

/* The role that plays `number` (enum role_number) on `node`: the kvs differs between node 0 and the others. NULL when
 * there is none. */
const struct role *roles_find(uint8_t number, uint32_t node);

#endif
