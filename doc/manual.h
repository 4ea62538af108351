/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text of the program's tables as mdoc, for the manual pages that are made from them. To standard output.
 */
#ifndef TIERCEL_DOC_MANUAL_H
#define TIERCEL_DOC_MANUAL_H

/* Text on lines of its own, each sentence ending its line. */
void manual_text(const char *text);

/* The same for a sentence without a full stop, as the tables have them. */
void manual_sentence(const char *text);

#endif
