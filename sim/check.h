/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tiercel check`: the effective deck with the source of each value, and what a run will need. Writes no file.
 */
#ifndef TIERCEL_CHECK_H
#define TIERCEL_CHECK_H

#include <stdint.h>

/* What a run needs, about; NAN: not known beforehand. */
struct check_needs {
    double events;                  /* handled messages */
    double span_ns;                 /* virtual time */
    double bytes;                   /* of the largest process */
};

struct deck;
struct scenario;
struct share;

/* Prints on process 0, about a run on `processes` processes. The deck must be without problems. Collective; returns the
 * exit status, the same on all. */
int check_deck(const struct deck *deck, const struct scenario *scenario, uint32_t processes, const struct share *share);

/* The deck must be without problems. Local. */
void check_estimate(const struct scenario *scenario, uint32_t processes, struct check_needs *needs);

#endif
