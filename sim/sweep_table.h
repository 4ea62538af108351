/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a sweep's folder comes to: the table of results (trace/results.h), the table of how its points were played, and
 * the manifest.
 *
 *     if (!sweep_table_write(&folder, deck, &states, &error)) ...
 *
 * Made anew from the finished points each time, by one process, which holds the folder's lock meanwhile. Local.
 */
#ifndef TIERCEL_SWEEP_TABLE_H
#define TIERCEL_SWEEP_TABLE_H

#include "deck.h"
#include "sweep_states.h"

/* Of the points as they are when the lock is held, so that nobody writes an older table over a newer one; *states
 * (sweep_states_release, also on failure) tells which that were. FALSE with *error (RUNTIME) when a finished point
 * cannot be read, or a file cannot be written: what was there then stays. */
gboolean sweep_table_write(const struct sweep_folder *folder, const struct deck *deck, struct sweep_states *states,
                           GError **error);

#endif
