/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a sweep's folder says of all points, by one look at it.
 *
 *     struct sweep_states states;
 *     sweep_states_init(&states, &folder, points);
 *     if (states.open > 0 && states.state[point] == SWEEP_OPEN) ...
 *     sweep_states_release(&states);
 *
 * Others may settle points meanwhile: what is settled stays so, what is open may not be any more. Local.
 */
#ifndef TIERCEL_SWEEP_STATES_H
#define TIERCEL_SWEEP_STATES_H

#include "sweep_folder.h"

struct sweep_states {
    unsigned points;                /* of the deck */
    unsigned done;                  /* done + failed + open = points */
    unsigned failed;
    unsigned open;
    enum sweep_state *state;        /* by point, from 0 */
    bool *claimed;                  /* a claim is there; that of a settled point is a leftover */
};

void sweep_states_init(struct sweep_states *states, const struct sweep_folder *folder, unsigned points);
/* Also of one that is all zero. */
void sweep_states_release(struct sweep_states *states);

#endif
