/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a fit came to, as a document and as a cost profile. Process 0; local.
 */
#ifndef TIERCEL_FIT_REPORT_H
#define TIERCEL_FIT_REPORT_H

#include "fit_model.h"
#include "least_squares.h"
#include "printed.h"

struct fit_outcome {
    const struct fit_model *model;
    const struct least_squares *problem;
    const struct least_squares_result *result;
};

/* `fitted`: all sections; else only what each row's value does when a cost changes. */
void fit_report_write(const struct fit_outcome *outcome, bool fitted, enum printed_form form, FILE *out);

/* The profile's text: all costs of the rows' decks, the free ones as fitted. `date` is an ISO date. Free with
 * g_free. */
char *fit_report_profile(const struct fit_outcome *outcome, const char *date);

#endif
