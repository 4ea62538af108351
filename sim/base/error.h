/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors of the whole library.
 *
 * A function that can fail takes a `GError **` last and returns FALSE or NULL. The code says what kind of failure it
 * is, and is at the same time the exit status of the program; the message is complete, written for the person who
 * typed the deck: what, where, which value, what was expected, what to change. No capital at the start, no full stop.
 * Library code never exits.
 */
#ifndef TIERCEL_BASE_ERROR_H
#define TIERCEL_BASE_ERROR_H

#include <glib.h>

#define TIERCEL_ERROR tiercel_error_quark()
GQuark tiercel_error_quark(void);

enum tiercel_error {
    TIERCEL_OK = 0,
    TIERCEL_ERROR_RUNTIME = 1,  /* a file, MPI, memory or HDF5 failed while running */
    TIERCEL_ERROR_INPUT = 2,    /* the command line, the deck or a file that it names is wrong */
    TIERCEL_ERROR_BALANCE = 3,  /* the run ended, but a balance (with --strict: an expectation) does not hold */
    TIERCEL_ERROR_STOPPED = 4   /* stopped early by a limit or a signal; what was done is saved */
};

/* Sets an error of INPUT; always FALSE, to be returned. */
gboolean error_refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
