/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tiercel compare A B`: two decks with the same seeds, and how their results differ.
 *
 * Each of N seeds runs both decks. The random numbers of the two runs are the same as far as the decks are (they belong
 * to the actors), so much of what varies between seeds cancels in the difference of a pair; the mean difference has a
 * confidence interval from Student's t over the N pairs. With costs without jitter, and no other random numbers, all
 * seeds give the same run and the interval has no width.
 *
 * A result or a stage has changed when its interval does not contain 0 even at the level at which, of all those that
 * are looked at, less than 5 % of comparisons of equal systems would name one (Bonferroni).
 */
#ifndef TIERCEL_COMPARE_H
#define TIERCEL_COMPARE_H

struct options;
struct share;

/* Seeds are shared out over the processes; process 0 prints. Collective; returns the exit status, the same on all. */
int compare_decks(const struct options *options, struct share *share);

#endif
