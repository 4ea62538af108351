/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Networks of queues: stations that serve jobs one after another, and a source that makes them and takes them back.
 * What textbooks have formulas for, so that the engine can be held against them (inputs/theory/), and the plainest
 * model to measure the engine with.
 *
 *     source --job--> station --job--> station ... --job--> source
 *
 * A job is one message; its word is the time at which it entered the network. A station of one server is the engine's
 * own queue: the actor is busy for the service time, and the engine's totals of the role (handled, busy, wait) are its
 * figures. One of several servers keeps a queue of its own, lets each service pass as an act, and reports for itself.
 * A network gives each station a role of its own: a copy of role_station under another name.
 *
 * An open source makes a job after each interval; a closed one keeps `population` jobs in the network and sends a
 * returned one on. Both stop after `jobs` jobs in total.
 */
#ifndef TIERCEL_RANKS_QUEUEING_H
#define TIERCEL_RANKS_QUEUEING_H

#include "base/quantity.h"
#include "engine/actor.h"

enum queueing_kind {
    QUEUEING_JOB = 0xf100,          /* word: when it entered, ns */
    QUEUEING_ARRIVAL,               /* source to itself: the next job is due */
    QUEUEING_SERVED                 /* station to itself: a service has ended; word as the job's */
};

enum queueing_routing {
    QUEUEING_RANDOM,                /* by probability */
    QUEUEING_CYCLIC                 /* each target in turn */
};

/* Where a job goes next. */
struct queueing_next {
    enum queueing_routing routing;
    uint32_t count;                 /* 1 or above */
    const uint32_t *actors;
    const uint64_t *below;          /* RANDOM: draws up to below[i] and above below[i-1] go to actors[i], the last takes
                                     * the rest; NULL: all alike */
};

struct queueing_station {
    uint32_t servers;               /* 1 or above */
    struct distribution service;
    struct queueing_next next;
};

struct queueing_source {
    uint64_t jobs;                  /* made in total */
    uint64_t warm_up;               /* returned jobs that no figure counts, while the network fills; below `jobs` */
    uint64_t population;            /* closed network: jobs inside; 0: open */
    struct distribution interval;   /* open: between two arrivals */
    struct distribution service;    /* the source's own work on each job that it sends, constant(0s) for none */
    struct queueing_next next;
};

/* Setups: struct queueing_station and struct queueing_source. */
extern const struct role role_station;
extern const struct role role_source;

/* Indices of the metrics. Those of a station are reported where it has several servers. */
enum station_metric { STATION_WAIT, STATION_SERVICE };
enum source_metric { SOURCE_MADE, SOURCE_WARMED, SOURCE_SOJOURN, SOURCE_BEGAN, SOURCE_ENDED };

#endif
