/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/kvs_request.h"

#include "kvs/jobid.h"
#include "kvs/key.h"
#include "ranks/instance.h"
#include "ranks/protocol.h"
#include "ranks/route.h"

static uint32_t own_kvs(const struct actor *self)
{
    return instance_kvs(actor_setup(self), actor_node(self));
}

static struct bytes commit_body(const char *namespace_name, struct transaction *t)
{
    struct bytes body = BYTES_INIT;
    key_put_text(&body, namespace_name);
    transaction_pack(t, &body);
    transaction_free(t);
    return body;
}

void kvs_request_commit(struct actor *self, const char *namespace_name, uint64_t tag, struct transaction *t)
{
    struct bytes body = commit_body(namespace_name, t);
    route_send(self, own_kvs(self), KVS_COMMIT, tag, &body);
    bytes_release(&body);
}

void kvs_request_commit_call(struct actor *self, const char *namespace_name, uint64_t tag, struct transaction *t)
{
    struct bytes body = commit_body(namespace_name, t);
    route_call(self, own_kvs(self), KVS_COMMIT, tag, &body);
    bytes_release(&body);
}

void kvs_request_lookup(struct actor *self, const char *namespace_name, const char *key, enum lookup_type type,
                        uint64_t tag)
{
    struct bytes body = BYTES_INIT;
    key_put_text(&body, namespace_name);
    key_put_text(&body, key);
    bytes_put_u8(&body, (uint8_t)type);
    bytes_put_u8(&body, 0);     /* at the present root */
    route_send(self, own_kvs(self), KVS_LOOKUP, tag, &body);
    bytes_release(&body);
}

void kvs_request_lookup_job(struct actor *self, uint64_t id, const char *entry, uint64_t tag)
{
    char key[64];
    jobid_to_entry(id, entry, key, sizeof key);
    kvs_request_lookup(self, NAMESPACES_PRIMARY, key, LOOKUP_VALUE, tag);
}

void kvs_request_create(struct actor *self, const char *namespace_name, uint32_t owner, uint64_t tag)
{
    struct bytes body = BYTES_INIT;
    key_put_text(&body, namespace_name);
    bytes_put_u32(&body, owner);
    route_send(self, instance_kvs(actor_setup(self), 0), KVS_NAMESPACE_CREATE, tag, &body);
    bytes_release(&body);
}

void kvs_request_remove(struct actor *self, const char *namespace_name, uint64_t tag)
{
    struct bytes body = BYTES_INIT;
    key_put_text(&body, namespace_name);
    route_send(self, instance_kvs(actor_setup(self), 0), KVS_NAMESPACE_REMOVE, tag, &body);
    bytes_release(&body);
}

void kvs_request_fence(struct actor *self, const char *namespace_name, uint32_t user, const char *fence,
                       uint32_t participants, uint64_t tag, struct transaction *t)
{
    struct bytes body = BYTES_INIT;
    key_put_text(&body, namespace_name);
    bytes_put_u32(&body, user);
    key_put_text(&body, fence);
    bytes_put_u32(&body, participants);
    transaction_pack(t, &body);
    transaction_free(t);
    route_send(self, instance_kvs(actor_setup(self), 0), KVS_FENCE, tag, &body);
    bytes_release(&body);
}

void kvs_request_sync(struct actor *self, const char *namespace_name, uint32_t user, uint64_t sequence, uint64_t tag)
{
    struct bytes body = BYTES_INIT;
    key_put_text(&body, namespace_name);
    bytes_put_u32(&body, user);
    bytes_put_u64(&body, sequence);
    route_send(self, instance_kvs(actor_setup(self), 0), KVS_SYNC, tag, &body);
    bytes_release(&body);
}

const char *kvs_request_value(struct cursor *c, size_t *size)
{
    cursor_u64(c);              /* sequence of the root it was read at */
    return cursor_span(c, size);
}
