/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keys of [system] kind = dispatcher: a part of the table of deck_keys.c, which joins it on.
 */
#ifndef TIERCEL_DECK_KEYS_DISPATCHER_H
#define TIERCEL_DECK_KEYS_DISPATCHER_H

#include "deck_schema.h"

/* Grouped in the order [dispatcher], [client], [heap], [provision], [faults]; ends with a NULL group. */
extern const struct deck_key deck_keys_dispatcher[];

#endif
