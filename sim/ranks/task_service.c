/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/task_service.h"

#include <glib.h>

#include "ranks/plain_tasks.h"

const struct cost_name task_service_cost_names[] = {
#define TASK_SERVICE_COST_NAME(field, key, fixed, byte, entry, text) \
    { key, text, { fixed, byte, entry }, offsetof(struct task_service_costs, field) },
    TASK_SERVICE_COSTS(TASK_SERVICE_COST_NAME)
#undef TASK_SERVICE_COST_NAME
    { NULL, NULL, { 0, 0, 0 }, 0 }
};

void task_service_init(struct task_service *t)
{
    *t = (struct task_service){
        .clients = 1, .services = 1, .executors = 1, .latency_ns = 50000, .window = 1000, .bundle = 256,
        .poll_ns = 100000000, .threads = 1, .notice_bundle = 1000, .lock_shared = true, .piggyback = true,
        .slowest_percent = 100, .steal_first_ns = 1000000, .steal_most_ns = 1000000000, .host_executors = 1
    };
    t->faults = (struct task_faults){
        .park_ns = INT64_C(300000000000), .timeout_ns = INT64_C(5000000000), .attempts_notify = 1,
        .reconnect_ns = INT64_C(10000000000), .restart_ns = INT64_C(60000000000),
        .retry_submit_ns = INT64_C(1000000000), .retries_submit = 10
    };
    cost_names_init(&t->costs, task_service_cost_names);
}

uint32_t task_service_actors(const struct task_service *t)
{
    return t->clients + t->services * task_service_stride(t) + (t->provision == PROVISION_STATIC ? 0 : t->services);
}

void task_service_place(const struct task_service *t, uint32_t id, struct task_place *place)
{
    const bool plain = t->protocol == TASK_PLAIN;
    const uint32_t first_provisioner = task_service_provisioner(t, 0);
    g_assert(id < task_service_actors(t));
    if (id < t->clients) {
        *place = (struct task_place){ plain ? &role_plain_client : &role_lb_client, id, TASK_CLASS_CLIENT };
    } else if (id >= first_provisioner) {
        *place = (struct task_place){ &role_provisioner, id - first_provisioner, TASK_CLASS_DISPATCHER };
    } else if ((id - t->clients) % task_service_stride(t) == 0) {
        *place = (struct task_place){ plain ? &role_plain_dispatcher : &role_dispatcher, task_service_of(t, id),
                                      TASK_CLASS_DISPATCHER };
    } else {
        *place = (struct task_place){ plain ? &role_plain_executor : &role_task_executor, task_service_of(t, id),
                                      TASK_CLASS_EXECUTOR };
    }
}

const struct role *const *task_service_roles(const struct task_service *t)
{
    static const struct role *const bundled[] = { &role_lb_client, &role_dispatcher, &role_task_executor,
                                                  &role_provisioner, NULL };
    static const struct role *const plain[] = { &role_plain_client, &role_plain_dispatcher, &role_plain_executor,
                                                NULL };
    return t->protocol == TASK_PLAIN ? plain : bundled;
}
