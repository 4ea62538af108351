/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When to print a line about how far one has come: after two seconds, then every so many.
 *
 *     struct progress progress;
 *     progress_begin(&progress, options->progress_s);
 *     ... if (progress_due(&progress)) fprintf(stderr, "... after %.0f s\n", progress_elapsed_s(&progress));
 *
 * By the machine's clock; nothing that is simulated depends on it. Local: one process of several speaks.
 */
#ifndef TIERCEL_PROGRESS_H
#define TIERCEL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    int64_t began_us;
    int64_t due_us;
    int64_t every_us;               /* 0: never */
};

/* From now on; `every_s` 0: no lines. */
void progress_begin(struct progress *p, int64_t every_s);

/* TRUE once each time that a line is due. */
bool progress_due(struct progress *p);

double progress_elapsed_s(const struct progress *p);

#endif
