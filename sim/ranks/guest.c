/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/guest.h"

#include "kvs/jobid.h"
#include "ranks/instance.h"
#include "ranks/job_text.h"
#include "ranks/kvs_request.h"

void guest_create(struct actor *self, uint64_t id, uint64_t tag, uint32_t owner)
{
    char guest[JOBID_NAMESPACE_SIZE];
    jobid_to_namespace(id, guest);
    kvs_request_create(self, guest, owner, tag);
}

void guest_log(struct actor *self, struct transaction *t, const char *name, const char *context)
{
    const struct instance *inst = actor_setup(self);
    GString *line = g_string_new(NULL);
    job_text_event(line, inst->epoch_ns + actor_now(self), name, context);
    transaction_append(t, "exec.eventlog", line->str, line->len);
    g_string_free(line, TRUE);
}

void guest_commit_log(struct actor *self, uint64_t id, uint64_t tag, struct transaction *t)
{
    char guest[JOBID_NAMESPACE_SIZE];
    jobid_to_namespace(id, guest);
    kvs_request_commit(self, guest, tag, t);
}

void guest_commit_event(struct actor *self, uint64_t id, uint64_t tag, const char *name, const char *context)
{
    struct transaction *t = transaction_new(0, 0, 0);
    guest_log(self, t, name, context);
    guest_commit_log(self, id, tag, t);
}

void guest_commit_link(struct actor *self, uint64_t id, uint64_t tag)
{
    char key[64], guest[JOBID_NAMESPACE_SIZE];
    jobid_to_entry(id, "guest", key, sizeof key);
    jobid_to_namespace(id, guest);
    struct transaction *t = transaction_new(0, 0, 0);
    transaction_symlink(t, key, guest, ".");
    kvs_request_commit(self, NAMESPACES_PRIMARY, tag, t);
}

void guest_lookup_reference(struct actor *self, uint64_t id, uint64_t tag)
{
    char guest[JOBID_NAMESPACE_SIZE];
    jobid_to_namespace(id, guest);
    kvs_request_lookup(self, guest, ".", LOOKUP_OBJECT, tag);
}

bool guest_commit_copy(struct actor *self, uint64_t id, uint64_t tag, const char *reference, size_t size)
{
    char key[64];
    struct treeobj object;
    struct cursor c = cursor_init(reference, size);
    if (!treeobj_read(&c, &object))
        return false;
    jobid_to_entry(id, "guest", key, sizeof key);
    struct transaction *t = transaction_new(0, 0, 0);
    transaction_put_object(t, key, &object);
    kvs_request_commit(self, NAMESPACES_PRIMARY, tag, t);
    return true;
}

void guest_remove(struct actor *self, uint64_t id, uint64_t tag)
{
    char guest[JOBID_NAMESPACE_SIZE];
    jobid_to_namespace(id, guest);
    kvs_request_remove(self, guest, tag);
}
