/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a message takes on the live clock, from actor to actor: two of them play ping-pong, with small messages and with
 * large ones. What their handlings take (sending and receiving included) is taken off, since the model charges it.
 */
#ifndef TIERCEL_CALIBRATE_LINKS_H
#define TIERCEL_CALIBRATE_LINKS_H

#include "engine/engine.h"

struct link_figures {
    int64_t latency_ns;         /* median over the round trips, 1 or above */
    int64_t spread_ns;          /* between the quartiles */
    uint64_t bytes_per_s;       /* 0: more than can be told */
    unsigned samples;
    int64_t handling_ns;        /* mean of one handling */
    enum engine_waiting waiting;
};

/* Between an actor on process 0 and one on process `with`, which may be 0. Collective; all return the same. */
gboolean link_measure(MPI_Comm comm, uint32_t with, enum engine_waiting waiting, struct link_figures *figures,
                      GError **error);

#endif
