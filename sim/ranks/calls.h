/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Subscribe and unsubscribe calls of one module, made one after the other: blocking, or not (flux-core pull request
 * 6701), when they are all sent at once and nothing waits for the answers. Links keep their order, so that what the
 * module sends next is handled by its broker after them.
 *
 *     calls_add_list(&k->calls, ns, list);
 *     ...
 *     if (!calls_next(self, &k->calls))               the handler's last act
 *         ... nothing to call: go on ...
 *
 *     in the handler, when the answer (BROKER_SUBSCRIBE or BROKER_UNSUBSCRIBE with KIND_REPLY) comes:
 *         if (!calls_done(self, &k->calls, m))
 *             ... nobody was blocked: charge for a message ...
 *         else if (!calls_next(self, &k->calls))
 *             ... all are made: go on ...
 *
 * Between the calls the module handles nothing else: the engine sets it all aside.
 *
 * A role that uses this has CALLS_METRICS as the first entries of its table of metrics, and "broker" in its calls.
 */
#ifndef TIERCEL_RANKS_CALLS_H
#define TIERCEL_RANKS_CALLS_H

#include <glib.h>

#include "engine/actor.h"
#include "ranks/instance.h"

enum calls_metric {
    CALLS_NAMESPACE,    /* for a namespace other than "primary" */
    CALLS_OTHER,
    CALLS_ADDED,        /* entries that calls for such a namespace added to the broker's list ... */
    CALLS_REMOVED,      /* ... and took out of it */
    CALLS_BLOCKED,      /* sum of the times from a call to the start of the handling of its answer */
    CALLS_TIME,         /* the same, one by one */
    CALLS_METRICS_COUNT
};

#define CALLS_METRICS \
    [CALLS_NAMESPACE] = { "namespace_calls", "1", "subscription calls for a namespace other than primary", \
                          METRIC_COUNTER }, \
    [CALLS_OTHER] = { "other_calls", "1", "subscription calls for primary and in general", METRIC_COUNTER }, \
    [CALLS_ADDED] = { "entries_added", "1", "subscriptions for such a namespace added to the broker's list", \
                      METRIC_COUNTER }, \
    [CALLS_REMOVED] = { "entries_removed", "1", "subscriptions for such a namespace removed from it", \
                        METRIC_COUNTER }, \
    [CALLS_BLOCKED] = { "call_blocked", "ns", "time blocked in subscription calls", METRIC_COUNTER }, \
    [CALLS_TIME] = { "call_time", "ns", "time blocked in one subscription call", METRIC_SAMPLE }

struct calls {
    GQueue queue;               /* of struct call; the first one is being made while `making` */
    GQueue sent;                /* the same: asynchronous ones that are not answered yet */
    bool asynchronous;
    bool making;
    int64_t since_ns;           /* when it was made */
};

void calls_init(struct calls *c, bool asynchronous);
void calls_release(struct calls *c);

/* Append calls: to subscribe to all of a list of templates (ended by NULL), or those of a scheme. `ns` replaces "{ns}"
 * in the templates; NULL: topics of no namespace. */
void calls_add_subscriptions(struct calls *c, const char *ns, const char *const *patterns);
void calls_add_list(struct calls *c, const char *ns, const struct scheme_call *list);

/* Makes the next call: true, and nothing may follow. False when there is none to wait for. */
bool calls_next(struct actor *self, struct calls *c);

/* The answer to a call has come; false when it is one that nobody waited for. */
bool calls_done(struct actor *self, struct calls *c, const struct message *answer);

void calls_save(const struct calls *c, struct bytes *sink);

#endif
