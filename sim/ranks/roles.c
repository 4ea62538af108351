/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/roles.h"

#include <stddef.h>

const struct role *const roles[] = {
    &role_broker,
    &role_kvs_root,
    &role_kvs_worker,
    &role_watcher,
    &role_content,
    &role_job_info,
    &role_ingest,
    &role_job_manager,
    &role_scheduler,
    &role_job_exec,
    &role_executor,
    &role_client,
    &role_namespace_client,
    NULL
};

const struct role *roles_find(uint8_t number, uint32_t node)
{
    switch (number) {
    case ROLE_BROKER: return &role_broker;
    case ROLE_KVS: return node == 0 ? &role_kvs_root : &role_kvs_worker;
    case ROLE_WATCHER: return &role_watcher;
    case ROLE_CONTENT: return &role_content;
    case ROLE_JOB_INFO: return &role_job_info;
    case ROLE_INGEST: return &role_ingest;
    case ROLE_JOB_MANAGER: return &role_job_manager;
    case ROLE_SCHEDULER: return &role_scheduler;
    case ROLE_JOB_EXEC: return &role_job_exec;
    case ROLE_EXECUTOR: return &role_executor;
    case ROLE_CLIENT: return &role_client;
    default: return NULL;
    }
}
