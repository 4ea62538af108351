/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tiercel calibrate`: what the handlings of a deck and the messages between processes take on this machine, played on
 * the live clock, as a cost profile (--profile; else on stdout). With it the virtual clock predicts live runs of
 * tiercel itself; costs of another system come from `tiercel fit`.
 */
#ifndef TIERCEL_CALIBRATE_H
#define TIERCEL_CALIBRATE_H

struct options;
struct share;

/* Collective, on at least two processes; returns the exit status, the same on all. */
int calibrate_deck(const struct options *options, struct share *share);

#endif
