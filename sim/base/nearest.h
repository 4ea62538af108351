/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Suggestions for mistyped names: "unknown key 'node'; did you mean nodes?"
 */
#ifndef TIERCEL_BASE_NEAREST_H
#define TIERCEL_BASE_NEAREST_H

/*
 * The one of `count` names that is nearest to `name`; NULL when none is near enough. Of several equally near it is the
 * longest, as letters are more often left out than changed, and of those the first.
 * The distance is the number of letters added, left out, changed or swapped with the next one (upper and lower case are
 * the same); near enough is a third of the longer name's letters, and at least one. Local.
 */
const char *nearest_name(const char *name, const char *const *names, unsigned count);

#endif
