/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the jobs of an SWF log stand, for one that is not in the order of submit times or whose jobs wait for others
 * (swf.c; what is in order is streamed, and has no index).
 *
 *     g_array_append_val(list, listed);                       each job, as the first reading finds it
 *     struct swf_entry *index = swf_index_new(list, &lines, &lost, &held, &error);
 *     ... index[position].place ...                           in the order of (submit time, place in the file)
 *     g_free(index);
 *
 * 16 bytes a job. All functions are local.
 */
#ifndef TIERCEL_WORKLOAD_SWF_INDEX_H
#define TIERCEL_WORKLOAD_SWF_INDEX_H

#include <glib.h>
#include <stdint.h>

#include "workload/lines.h"

/* What an index is built from. */
struct swf_listed {
    int64_t submit_ns;
    uint64_t place;             /* in the file */
    int64_t number;
    int64_t preceding;          /* 0 or below: none */
};

struct swf_entry {
    uint64_t place;             /* in the file; the highest bit: waits for another job */
    uint32_t first_child;       /* positions + 1 of the first job that waits for this one, */
    uint32_t next_sibling;      /* and of the next that waits for the same; 0: none */
};
#define SWF_ENTRY_WAITS (1ull << 63)

/*
 * Sorts the list (struct swf_listed, at least one) and makes its index; the caller frees it. Adds to *lost the jobs
 * that wait for one that is not there, and to *held those that wait for one that is. NULL with *error
 * (TIERCEL_ERROR_INPUT) where a job waits for a number that several have, or in the end for itself; finding its line
 * moves `lines`.
 */
struct swf_entry *swf_index_new(GArray *list, struct lines *lines, uint64_t *lost, uint64_t *held, GError **error);

#endif
