/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client that makes namespaces instead of jobs, for [workload] source = namespaces: it sends all requests to create
 * one at once, and when all are answered all requests to remove them. One, on node 0, in place of the client.
 *
 * With a fence (instance_jobs.fence) it writes to each in between: the parts of one fence, in place of as many
 * participants, and a wait for the version that it makes, all at once. A user who may not is refused, and counted.
 *
 * Its samples have one value a run each.
 */
#ifndef TIERCEL_RANKS_NAMESPACE_CLIENT_H
#define TIERCEL_RANKS_NAMESPACE_CLIENT_H

#include "engine/actor.h"

/* The metrics of role "namespace-client", by index in its table. */
enum namespace_client_metric {
    NAMESPACE_CLIENT_CREATED,
    NAMESPACE_CLIENT_REMOVED,
    NAMESPACE_CLIENT_WRITTEN,       /* parts of fences, and waits, that were answered without an error */
    NAMESPACE_CLIENT_REFUSED,       /* those that were refused */
    NAMESPACE_CLIENT_CREATE_SPAN,   /* ns from the first request to the last answer */
    NAMESPACE_CLIENT_WRITE_SPAN,    /* the same */
    NAMESPACE_CLIENT_REMOVE_SPAN    /* the same */
};

#endif
