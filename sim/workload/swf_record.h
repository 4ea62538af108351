/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One line of an SWF file, read strictly. Only the fields that a simulation uses are kept, but all 18 are checked. For
 * the files of this folder. All functions are local.
 */
#ifndef TIERCEL_WORKLOAD_SWF_RECORD_H
#define TIERCEL_WORKLOAD_SWF_RECORD_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workload/swf.h"

/* Status, field 11. */
enum { SWF_FAILED = 0, SWF_COMPLETED = 1, SWF_PIECE = 2, SWF_LAST_PIECE = 3, SWF_LAST_PIECE_FAILED = 4,
       SWF_CANCELLED = 5 };

/* Negative values: unknown. */
struct swf_record {
    int64_t number;
    int64_t submit_ns;
    int64_t run_ns;
    int64_t allocated;      /* processors */
    int64_t requested;      /* processors */
    int64_t limit_ns;       /* requested time */
    int64_t status;
    int64_t preceding;      /* job number */
    int64_t think_ns;
};

enum swf_line { SWF_LINE_JOB, SWF_LINE_COMMENT, SWF_LINE_EMPTY, SWF_LINE_BAD };

/* Reads a line; of a bad one *problem (the caller's, g_free) says what is wrong, without file and line. */
enum swf_line swf_record_read(const char *text, size_t size, struct swf_record *record, char **problem);

/* Reads a header comment `; Key: value` into the header; others change nothing. */
void swf_header_read(const char *text, size_t size, struct swf_header *header);

#endif
