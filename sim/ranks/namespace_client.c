/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/namespace_client.h"

#include <errno.h>

#include "kvs/jobid.h"
#include "ranks/charge.h"
#include "ranks/jobs.h"
#include "ranks/kvs_request.h"
#include "ranks/protocol.h"
#include "ranks/roles.h"
#include "ranks/route.h"

/* Names have the same number of digits, so that none is the beginning of another. */
#define FIRST_ID UINT64_C(1000000000)

enum burst { BURST_CREATE, BURST_WRITE, BURST_REMOVE };

struct namespace_client {
    uint8_t burst;          /* enum burst */
    uint64_t answered;      /* of the present burst */
    int64_t since_ns;       /* when that began */
};

/* The parts of a fence, and a wait for the version that it makes. */
static void write_send(struct actor *self, const char *name, uint64_t tag)
{
    const struct instance_jobs *jobs = ((const struct instance *)actor_setup(self))->jobs;
    for (uint32_t part = 0; part < jobs->fence; part++) {
        char key[32];
        struct transaction *t = transaction_new(0, 0, 0);
        g_snprintf(key, sizeof key, "part.%u", part);
        transaction_put(t, key, "1", 1);
        kvs_request_fence(self, name, jobs->fence_user, "fence", jobs->fence, tag, t);
    }
    kvs_request_sync(self, name, jobs->fence_user, 1, tag);
}

/* Sends all requests of a burst. */
static void burst_send(struct actor *self, struct namespace_client *c)
{
    const struct instance *inst = actor_setup(self);
    char name[JOBID_NAMESPACE_SIZE];
    c->answered = 0;
    c->since_ns = actor_now(self);
    if (c->burst == BURST_CREATE)
        role_charge(self, cost_ns(&inst->costs.client_start, 0, 0));
    for (uint32_t i = 0; i < inst->jobs->namespaces; i++) {
        role_charge(self, cost_ns(&inst->costs.client_namespace, 0, 0));
        jobid_to_namespace(FIRST_ID + i, name);
        if (c->burst == BURST_REMOVE)
            kvs_request_remove(self, name, i);
        else if (c->burst == BURST_WRITE)
            write_send(self, name, i);
        else
            kvs_request_create(self, name, JOB_USER, i);
    }
}

static void namespace_client_init(struct actor *self, const void *setup)
{
    const struct instance *inst = setup;
    if (inst->jobs->namespaces > 0)
        actor_timer(self, 1, CLIENT_NEXT, 0);
}

static void burst_answered(struct actor *self, struct namespace_client *c, bool refused)
{
    static const struct { uint16_t counter, span; } metrics[] = {
        [BURST_CREATE] = { NAMESPACE_CLIENT_CREATED, NAMESPACE_CLIENT_CREATE_SPAN },
        [BURST_WRITE] = { NAMESPACE_CLIENT_WRITTEN, NAMESPACE_CLIENT_WRITE_SPAN },
        [BURST_REMOVE] = { NAMESPACE_CLIENT_REMOVED, NAMESPACE_CLIENT_REMOVE_SPAN },
    };
    const struct instance_jobs *jobs = ((const struct instance *)actor_setup(self))->jobs;
    actor_count(self, refused ? NAMESPACE_CLIENT_REFUSED : metrics[c->burst].counter, 1);
    uint64_t each = c->burst == BURST_WRITE ? jobs->fence + 1 : 1;
    if (++c->answered < jobs->namespaces * each)
        return;
    actor_sample(self, metrics[c->burst].span, actor_now(self) - c->since_ns);
    if (c->burst == BURST_REMOVE)
        return;
    c->burst = c->burst == BURST_CREATE && jobs->fence > 0 ? BURST_WRITE : BURST_REMOVE;
    burst_send(self, c);
}

static void namespace_client_handle(struct actor *self, const struct message *m)
{
    struct namespace_client *c = actor_state(self);
    if (m->kind == CLIENT_NEXT) {
        burst_send(self, c);
        return;
    }
    const struct instance *inst = actor_setup(self);
    struct envelope env;
    route_open(self, m, &env);
    role_charge(self, cost_ns(&inst->costs.client_reply, m->payload->size, 0));
    bool writes = m->kind == (KVS_FENCE | KIND_REPLY) || m->kind == (KVS_SYNC | KIND_REPLY);
    if (!writes && m->kind != (KVS_NAMESPACE_CREATE | KIND_REPLY) && m->kind != (KVS_NAMESPACE_REMOVE | KIND_REPLY))
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    else if (env.error != 0 && !(writes && env.error == EPERM))
        actor_fail(self, "request %" G_GUINT64_FORMAT " failed with errno %u", env.tag, env.error);
    else
        burst_answered(self, c, env.error != 0);
}

static void namespace_client_save(const struct actor *self, struct bytes *sink)
{
    const struct namespace_client *c = actor_state(self);
    bytes_put_u8(sink, c->burst);
    bytes_put_u64(sink, c->answered);
    bytes_put_i64(sink, c->since_ns);
}

static const struct kind_name namespace_client_kinds[] = {
    { CLIENT_NEXT, "next", "timer: the first burst" },
    { 0, NULL, NULL }
};

static const struct metric namespace_client_metrics[] = {
    [NAMESPACE_CLIENT_CREATED] = { "created", "1", "namespaces created", METRIC_SERIES },
    [NAMESPACE_CLIENT_REMOVED] = { "removed", "1", "namespaces removed", METRIC_SERIES },
    [NAMESPACE_CLIENT_WRITTEN] = { "written", "1", "parts of fences, and waits, that were answered", METRIC_COUNTER },
    [NAMESPACE_CLIENT_REFUSED] = { "refused", "1", "those that were refused", METRIC_COUNTER },
    [NAMESPACE_CLIENT_WRITE_SPAN] = { "write_span", "ns", "from the first part of a fence to the last answer",
                                      METRIC_SAMPLE },
    [NAMESPACE_CLIENT_CREATE_SPAN] = { "create_span", "ns", "from the first request to create to the last answer",
                                       METRIC_SAMPLE },
    [NAMESPACE_CLIENT_REMOVE_SPAN] = { "remove_span", "ns", "from the first request to remove to the last answer",
                                       METRIC_SAMPLE },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_namespace_client = {
    .name = "namespace-client",
    .text = "creates and removes namespaces in bursts",
    .state_size = sizeof(struct namespace_client),
    .streams = INSTANCE_STREAMS,
    .kinds = namespace_client_kinds,
    .metrics = namespace_client_metrics,
    .init = namespace_client_init,
    .handle = namespace_client_handle,
    .save = namespace_client_save,
};
