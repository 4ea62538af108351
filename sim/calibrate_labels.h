/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which cost a span of a live run belongs to, and what a cost takes.
 *
 * Roles say what they do by what they charge: cost_ns(&costs.kvs_store, bytes, entries). On the live clock nothing is
 * charged, so a deck that is calibrated gets costs that are labels: the number of the cost, the bytes and the entries
 * stand in the digits of what is charged. The live clock hands each back with the time of the handling, or of the part
 * of it up to the next charge, receiving and waking included (engine_observer.charged). So all that a process did is
 * somebody's, and cost = fixed + bytes x per-byte + entries x per-entry is a fit by least squares over all such spans.
 *
 *     struct labels *labels = labels_new();
 *     settings += labels_settings(labels, deck);          overrides "costs.x=...", for deck_load
 *     labels_add(labels, label_ns, took_ns);              as often as it happens
 *     labels_gather(labels, comm);                        collective: sums of all processes
 *     labels_write(labels, text);                         lines of a cost profile
 */
#ifndef TIERCEL_CALIBRATE_LABELS_H
#define TIERCEL_CALIBRATE_LABELS_H

#include <mpi.h>

#include "deck.h"

struct labels;

struct labels *labels_new(void);
void labels_free(struct labels *labels);

/* "costs.kvs-store=281474976710656ns + ...", for each cost of the deck's kind of system that is charged; NULL-ended,
 * g_strfreev. Lengths of acts keep what the deck states: the live clock waits for them. */
char **labels_settings(struct labels *labels, const struct deck *deck);

void labels_add(struct labels *labels, int64_t label_ns, int64_t took_ns);

void labels_gather(struct labels *labels, MPI_Comm comm);

/* What was measured, as lines "key = cost" with the number of spans and their spread before each; then the lengths of
 * acts and other costs as the deck has them, so that the profile is complete. */
void labels_write(const struct labels *labels, const struct deck *deck, GString *text);

/* Spans of a cost, and their mean in ns; 0 when there were none. */
uint64_t labels_count(const struct labels *labels, const char *key);
double labels_mean_ns(const struct labels *labels, const char *key);

/* Spans left out because something else ran meanwhile. */
uint64_t labels_interrupted(const struct labels *labels);

#endif
