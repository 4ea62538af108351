/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random models for the laws of the engine: a few dozen actors that use everything a role may use (links with and
 * without bandwidth, payloads, timers of both sorts, calls with immediate and late replies, turns, messages at the
 * end of an instant, thread groups, holds, random streams), wired by a seed.
 *
 *     struct random_model *model = random_model_new(seed);
 *     random_model_run(model, comm, placement, explicit_inbox, &result, &error);
 *     random_model_free(model);
 *
 * The digest of a seed must be the same for every communicator, placement and inbox.
 */
#ifndef TIERCEL_TESTS_RANDOM_MODEL_H
#define TIERCEL_TESTS_RANDOM_MODEL_H

#include "engine/engine.h"

struct random_model;

struct random_model *random_model_new(uint64_t seed);
void random_model_free(struct random_model *model);

/* Collective over comm. `placement` seeds how the thread groups are spread over the processes. */
gboolean random_model_run(const struct random_model *model, MPI_Comm comm, uint64_t placement, bool explicit_inbox,
                          struct engine_result *result, GError **error);

#endif
