/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The broker: one a node. Its role passes routed messages along the tree, serves subscriptions, and numbers and
 * distributes events. What a client's connector does is folded in: executors and the client subscribe and are called
 * back like modules.
 *
 * An event (flux-core 0.15 to 0.17, src/broker/broker.c, publisher.c): it travels up to broker 0, gets the next value
 * of one global counter there, and goes to every broker, N - 1 messages; nothing is filtered on the way. Each broker
 * sends to its children first, then to what is inside it (the content cache, heartbeats only), then to the modules in
 * a fixed order and to the clients, as far as one of their prefixes matches. A number that is not above the last one
 * is a duplicate and dropped; a gap is counted, the event taken.
 *
 * Subscriptions that modules make when they are loaded are in place at the start: the instance is up when a run begins.
 */
#ifndef TIERCEL_RANKS_BROKER_H
#define TIERCEL_RANKS_BROKER_H

#include "engine/actor.h"
#include "kvs/topics.h"

/* The metrics of role "broker", by index in its table. Overlay messages: an event sent from a broker to a child. */
enum broker_metric {
    BROKER_PUBLISHED_SETROOT,       /* events numbered, in the order of enum event_class */
    BROKER_PUBLISHED_ERROR,
    BROKER_PUBLISHED_REMOVED,
    BROKER_PUBLISHED_CREATED,
    BROKER_PUBLISHED_JOB_STATE,
    BROKER_PUBLISHED_HEARTBEAT,
    BROKER_PUBLISHED_OTHER,
    BROKER_OVERLAY_KVS,             /* overlay messages of kvs events, of job-state ... */
    BROKER_OVERLAY_JOB_STATE,
    BROKER_OVERLAY_HEARTBEAT,
    BROKER_OVERLAY_OTHER,
    BROKER_DELIVERED,               /* to a module or client */
    BROKER_DROPPED,                 /* events that came to a broker where nobody wants them */
    BROKER_DUPLICATES,
    BROKER_GAPS,                    /* numbers that were skipped */
    BROKER_SCANNED,                 /* list entries compared */
    BROKER_MATCH_TIME,              /* what that cost, in ns */
    BROKER_DELIVER_TIME,            /* what handing events to modules and clients cost, in ns */
    BROKER_CALLS,                   /* subscribe and unsubscribe calls served */
    BROKER_ROUTED                   /* routed messages passed on */
};

/* What `actor` (a module or client of the node) has subscribed; NULL when nothing. Local, for tests and balances. */
const struct topics *broker_subscriptions(const struct actor *self, uint32_t actor);

#endif
