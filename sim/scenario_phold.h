/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * [system] kind = phold: the benchmark of parallel event simulators (ranks/phold.h). Actors are alike, each on a node
 * of its own; what is measured is the engine.
 */
#ifndef TIERCEL_SCENARIO_PHOLD_H
#define TIERCEL_SCENARIO_PHOLD_H

#include "scenario.h"

extern const struct scenario_kind scenario_phold;

#endif
