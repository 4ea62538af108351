/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keys of shared files, a part of the table in deck_keys.c: of systems of their own, and of the jobs of others.
 */
#ifndef TIERCEL_DECK_KEYS_FILE_H
#define TIERCEL_DECK_KEYS_FILE_H

#include "deck_schema.h"

/* In the order of the groups; ends with NULL. */
extern const struct deck_key deck_keys_file[];

#endif
