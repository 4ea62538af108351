/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/namespace_client.h"

#include "kvs/jobid.h"
#include "ranks/charge.h"
#include "ranks/jobs.h"
#include "ranks/kvs_request.h"
#include "ranks/protocol.h"
#include "ranks/roles.h"
#include "ranks/route.h"

/* Names have the same number of digits, so that none is the beginning of another. */
#define FIRST_ID UINT64_C(1000000000)

struct namespace_client {
    bool removing;
    uint32_t answered;      /* of the present burst */
    int64_t since_ns;       /* when that began */
};

/* Sends all requests of a burst. */
static void burst_send(struct actor *self, struct namespace_client *c)
{
    const struct instance *inst = actor_setup(self);
    char name[JOBID_NAMESPACE_SIZE];
    c->answered = 0;
    c->since_ns = actor_now(self);
    for (uint32_t i = 0; i < inst->jobs->namespaces; i++) {
        role_charge(self, cost_ns(&inst->costs.client_namespace, 0, 0));
        jobid_to_namespace(FIRST_ID + i, name);
        if (c->removing)
            kvs_request_remove(self, name, i);
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

static void burst_answered(struct actor *self, struct namespace_client *c)
{
    const struct instance *inst = actor_setup(self);
    actor_count(self, c->removing ? NAMESPACE_CLIENT_REMOVED : NAMESPACE_CLIENT_CREATED, 1);
    if (++c->answered < inst->jobs->namespaces)
        return;
    actor_sample(self, c->removing ? NAMESPACE_CLIENT_REMOVE_SPAN : NAMESPACE_CLIENT_CREATE_SPAN,
                 actor_now(self) - c->since_ns);
    if (c->removing)
        return;
    c->removing = true;
    burst_send(self, c);
}

static void namespace_client_handle(struct actor *self, const struct message *m)
{
    struct namespace_client *c = actor_state(self);
    if (m->kind == CLIENT_NEXT) {
        burst_send(self, c);
        return;
    }
    struct envelope env;
    route_open(self, m, &env);
    if (m->kind != (KVS_NAMESPACE_CREATE | KIND_REPLY) && m->kind != (KVS_NAMESPACE_REMOVE | KIND_REPLY))
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    else if (env.error != 0)
        actor_fail(self, "request %" G_GUINT64_FORMAT " failed with errno %u", env.tag, env.error);
    else
        burst_answered(self, c);
}

static void namespace_client_save(const struct actor *self, struct bytes *sink)
{
    const struct namespace_client *c = actor_state(self);
    bytes_put_u8(sink, c->removing);
    bytes_put_u32(sink, c->answered);
    bytes_put_i64(sink, c->since_ns);
}

static const struct kind_name namespace_client_kinds[] = {
    { CLIENT_NEXT, "next", "timer: the first burst" },
    { 0, NULL, NULL }
};

static const struct metric namespace_client_metrics[] = {
    [NAMESPACE_CLIENT_CREATED] = { "created", "1", "namespaces created", METRIC_SERIES },
    [NAMESPACE_CLIENT_REMOVED] = { "removed", "1", "namespaces removed", METRIC_SERIES },
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
