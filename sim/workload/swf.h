/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Standard Workload Format, version 2.2 (D. Feitelson's Parallel Workloads Archive,
 * https://www.cs.huji.ac.il/labs/parallel/workload/swf.html): a job a line, 18 fields, -1 for what is unknown.
 *
 * The file is read twice: once, when the workload is made, to check every line and to count, and again while jobs are
 * taken from it. A file in order of submit times is streamed: memory does not depend on its length. One out of order is
 * sorted by an index of 16 bytes a job, stably; so is one whose jobs depend on others (field 17), if dependencies are
 * honoured (while that index is made, it takes 40 bytes a job).
 *
 * Refused, with file and line: other than 18 fields; fields separated by semicolons; text or junk where a number is
 * due; a header line without `;`; numbers beyond their range (a time of more than 146 years); a line of more than
 * 64 KiB; with honoured dependencies also cycles, and waiting for a job number that was given twice. At most 20 such
 * lines are named at once.
 *
 * Everything else that is odd is handled by a rule, and counted by kind (workload_counts): see enum swf_count. The
 * order of the rules: submit time, status, processors, run time, limit.
 */
#ifndef TIERCEL_WORKLOAD_SWF_H
#define TIERCEL_WORKLOAD_SWF_H

#include "workload/workload.h"

enum swf_overrun {          /* run time above the requested time */
    SWF_OVERRUN_CLIP,       /* run time := requested time (the archive's usual cleaning) */
    SWF_OVERRUN_KILL,       /* both stay: the job system kills it at its limit */
    SWF_OVERRUN_EXTEND,     /* requested time := run time */
    SWF_OVERRUN_DROP
};

enum swf_missing_limit {    /* no requested time (field 9 is -1, in some logs throughout) */
    SWF_LIMIT_FROM_RUN,     /* requested time := run time */
    SWF_LIMIT_NONE,         /* no limit: planned to run for ever */
    SWF_LIMIT_DROP
};

enum swf_pieces {           /* checkpointed jobs stand in a log whole (status 0, 1, 5) and in pieces (2, 3, 4) */
    SWF_WHOLE,              /* the pieces are dropped */
    SWF_PIECES              /* pieces count as jobs; what has the job number of the piece before is dropped */
};

struct swf_rules {
    enum swf_overrun overrun;
    enum swf_missing_limit missing_limit;
    enum swf_pieces pieces;
    bool allocated_first;       /* field 5 counts before field 8 (default: the requested processors) */
    bool drop_zero_run;         /* run time 0: rounded down from less than half a second; legal, kept by default */
    bool ignore_dependencies;   /* fields 17 and 18 */
    bool shift_start;           /* the first submit time becomes 0 */
    uint32_t processors;        /* of the machine, for counting jobs that are too wide; 0: as the header says */
};

enum swf_count {
    SWF_LINES,                  /* job lines read */
    SWF_DROPPED_SUBMIT,         /* negative or unknown submit time */
    SWF_DROPPED_PIECES,         /* of checkpointed jobs, or the whole of which pieces count */
    SWF_DROPPED_CANCELLED,      /* status 5 with no run time: cancelled while it waited */
    SWF_DROPPED_PROCESSORS,     /* neither requested nor allocated processors are positive */
    SWF_DROPPED_RUN,            /* run time unknown (or 0, by rule) */
    SWF_DROPPED_LIMIT,          /* requested time 0, or unknown by rule */
    SWF_DROPPED_OVERRUN,        /* by rule */
    SWF_OTHER_PROCESSORS,       /* the other of requested and allocated was taken, because one is unknown */
    SWF_PROCESSORS_DIFFER,      /* both known and different */
    SWF_OVERRUNS,               /* run time above requested time: clipped, extended or to be killed */
    SWF_LIMIT_MISSING,          /* requested time unknown: set by rule */
    SWF_ZERO_RUN,               /* run time 0, kept */
    SWF_TOO_WIDE,               /* wider than the machine: yielded, for the job system to reject */
    SWF_OUT_OF_ORDER,           /* submitted before the line above */
    SWF_DEPENDENT,              /* wait for another job */
    SWF_LOST_DEPENDENCIES,      /* the job waited for does not exist or was dropped: submitted at its own time */
    SWF_COUNTS
};

/* What the file says of itself; 0 when it does not. */
struct swf_header {
    uint32_t max_procs;
    uint32_t max_nodes;
    uint32_t widest;            /* processors of the widest job that is yielded */
    int64_t unix_start_time;    /* seconds */
    uint32_t processors;        /* what counts as the machine: rules, MaxProcs, MaxNodes, else the widest job */
};

/*
 * Jobs in order of submit time. With honoured dependencies, workload_next() yields those that wait for none; the others
 * come out of workload_released(), after workload_ended() told the end of the job that they wait for: think time later.
 */
struct workload *workload_swf_new(const char *path, const struct swf_rules *rules, GError **error);

/* Of a workload that workload_swf_new made. */
const struct swf_header *workload_swf_header(const struct workload *w);

#endif
