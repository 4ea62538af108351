/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tiercel sweep`: every point of a deck's [sweep], shared out over the processes of one or of several mpiruns.
 *
 * Each process takes the next point that nobody has (sweep_folder.h), the longest first (sweep_order.h), plays it alone
 * (trial.h) and takes another; who has nothing left waits asleep. A point that fails is recorded and does not stop the
 * others. One that could not be written down is no failure of the point: it stays open, and the sweep ends when the
 * disk takes nothing any more. A signal ends it too. What is finished stays, and the same command goes on.
 */
#ifndef TIERCEL_SWEEP_H
#define TIERCEL_SWEEP_H

struct options;
struct share;

/*
 * Collective; returns the exit status, the same on all: OK when every point is done; RUNTIME when one failed, or what
 * was done cannot be written; INPUT for a deck without [sweep] or a folder of something else; STOPPED when points are
 * left, by a signal or because others are at work on them.
 */
int sweep_deck(const struct options *options, const char *command_line, struct share *share);

#endif
