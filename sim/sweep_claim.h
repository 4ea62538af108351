/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of what a sweep's folder holds for a point. Internal to sweep_folder.c, sweep_states.c and sweep_claim.c, which
 * has the points and claims of sweep_folder.h.
 */
#ifndef TIERCEL_SWEEP_CLAIM_H
#define TIERCEL_SWEEP_CLAIM_H

struct sweep_folder;

#define SWEEP_CLAIM_POINTS "points"
#define SWEEP_CLAIM_PART ".part"
#define SWEEP_CLAIM_CLAIM ".claim"
#define SWEEP_CLAIM_FAILED ".failed"

enum { SWEEP_CLAIM_DIGITS = 5 };

/* FOLDER/points/00017ENDING. Free with g_free. */
char *sweep_claim_name(const struct sweep_folder *folder, unsigned point, const char *ending);

#endif
