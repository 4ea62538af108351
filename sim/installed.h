/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the installed decks and cost profiles are.
 */
#ifndef TIERCEL_INSTALLED_H
#define TIERCEL_INSTALLED_H

/* The folder that configure was told; when there is none, the one that stands to the program as that one would
 * (share/tiercel/inputs beside bin), as after an installation with DESTDIR or one that was moved. Never NULL; there may
 * be nothing. Constant for the process; local. */
const char *installed_inputs(void);

#endif
