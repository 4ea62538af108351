/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/provisioner.h"

#include <glib.h>

#include "engine/random.h"

enum { STREAM_GRANT, STREAMS };

struct provisioner {
    uint32_t service;
    uint32_t started;               /* executors */
};

uint32_t provisioner_request_size(enum provision_policy policy, uint32_t request, uint32_t left)
{
    switch (policy) {
    case PROVISION_ONE:
        return MIN(1, left);
    case PROVISION_ADDITIVE:
        return MIN(request + 1, left);
    case PROVISION_EXPONENTIAL:
        return request < 31 ? MIN(UINT32_C(1) << request, left) : left;
    case PROVISION_ALL:
        return left;
    case PROVISION_STATIC:
        break;
    }
    return 0;
}

static void provisioner_init(struct actor *self, const void *setup)
{
    const struct task_service *t = setup;
    struct provisioner *p = actor_state(self);
    p->service = actor_id(self) - task_service_provisioner(t, 0);
    actor_timer_background(self, t->provision_poll_ns, PROVISIONER_POLL, 0);
}

static void request_hosts(struct actor *self, struct provisioner *p)
{
    const struct task_service *t = actor_setup(self);
    uint32_t left = (t->executors + t->host_executors - 1) / t->host_executors;
    for (uint32_t i = 0; left != 0; i++) {
        uint32_t hosts = provisioner_request_size(t->provision, i, left);
        left -= hosts;
        actor_count(self, PROVISIONER_REQUESTS, 1);
        actor_timer(self, random_duration(&t->grant, actor_draw(self, STREAM_GRANT)), PROVISIONER_GRANTED, hosts);
    }
}

static void provisioner_handle(struct actor *self, const struct message *m)
{
    const struct task_service *t = actor_setup(self);
    struct provisioner *p = actor_state(self);
    uint32_t dispatcher = task_service_dispatcher(t, p->service);
    switch (m->kind) {
    case PROVISIONER_POLL:
        actor_send(self, dispatcher, PROVISIONER_STATUS, 0);
        break;
    case PROVISIONER_STATUS:
        if (m->word != 0)
            request_hosts(self, p);
        else
            actor_timer_background(self, t->provision_poll_ns, PROVISIONER_POLL, 0);
        break;
    case PROVISIONER_GRANTED:
        for (uint64_t i = 0; i < m->word * t->host_executors && p->started < t->executors; i++) {
            actor_count(self, PROVISIONER_STARTED, 1);
            actor_send(self, dispatcher + 1 + p->started++, TASK_EXECUTOR_START, 0);
        }
        break;
    default:
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    }
}

static void provisioner_save(const struct actor *self, struct bytes *sink)
{
    const struct provisioner *p = actor_state(self);
    bytes_put_u32(sink, p->started);
}

static const struct kind_name provisioner_kinds[] = {
    { PROVISIONER_POLL, "poll", "timer: look at the service's state" },
    { PROVISIONER_STATUS, "status", "the answer: tasks in the queue" },
    { PROVISIONER_GRANTED, "granted", "timer: hosts have been granted" },
    { 0, NULL, NULL }
};

static const struct metric provisioner_metrics[] = {
    [PROVISIONER_REQUESTS] = { "requests", "1", "requests for hosts", METRIC_COUNTER },
    [PROVISIONER_STARTED] = { "started", "1", "executors started", METRIC_SERIES },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_provisioner = {
    .name = "provisioner",
    .text = "gets hosts for a service's executors",
    .state_size = sizeof(struct provisioner),
    .streams = STREAMS,
    .kinds = provisioner_kinds,
    .metrics = provisioner_metrics,
    .init = provisioner_init,
    .handle = provisioner_handle,
    .save = provisioner_save,
};
