/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scenes by subject. Each function is collective over the world and returns how many things were not as expected.
 */
#ifndef TIERCEL_TESTS_SCENES_H
#define TIERCEL_TESTS_SCENES_H

#include "scene.h"

unsigned scenes_of_time(void);          /* charges, links, the order of handling */
unsigned scenes_of_calls(void);         /* blocking requests, and what is refused */
unsigned scenes_of_turns(void);
unsigned scenes_of_ends(void);          /* when a run ends and what is counted then; failures */
unsigned scenes_of_instances(void);     /* several runs in one program; what the digest notices */

#endif
