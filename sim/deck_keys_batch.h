/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keys of [system] kind = batch, and of the sources of jobs that are files: a part of the table of deck_keys.c,
 * which joins each group on behind its own.
 */
#ifndef TIERCEL_DECK_KEYS_BATCH_H
#define TIERCEL_DECK_KEYS_BATCH_H

#include "deck_schema.h"

/* Of the groups [cluster], [workload], [scheduler] and [trace]; ends with a NULL group. */
extern const struct deck_key deck_keys_batch[];

#endif
