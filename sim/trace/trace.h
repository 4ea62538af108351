/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trace of a run while it is made: what the run loop hands its observations to.
 *
 *     struct trace *t = trace_new(&config, gather, &error);           all processes; process 0 creates the file
 *     trace_count(t, role, metric, time_ns, 1);                       from the engine's observer, local and cheap
 *     trace_sample(t, role, metric, time_ns, value);
 *     trace_record(t, table, time_ns, actor, row, size);
 *     trace_event(t, &event);                                         level `events`
 *     if (trace_flush_due(t)) ...                                     local; the poll turns it into a wish
 *     trace_flush(t, now_ns, &error);                                 all processes, in the window that has the wish
 *     trace_finish(t, &ending, &error);                               all processes; then the file is whole
 *     trace_collector(t)                                              process 0: the merged figures, for the summary
 *     trace_free(t);
 *
 * Levels (design, section 8). `stats`: curves, histograms, roles and stages, deck and versions. `jobs`: in addition
 * the tables, a row a job. `events`: in addition a row a message; each process writes a file of its own beside the
 * trace (trace.part-0000.h5 for trace.h5), and trace_finish joins them in the trace and removes them.
 *
 * The file is a plain HDF5 file (README.md lists the layout), written with the serial interface by process 0 alone.
 * Until trace_finish its attribute `complete` is 0. Killed at any moment it opens, and is right up to the last flush:
 * a table's attribute `rows` says how many of its rows are. A whole file carries its size and a checksum of all its
 * bytes in front (in HDF5's user block), which the reader checks.
 *
 * Nothing here changes a result or enters the digest.
 */
#ifndef TIERCEL_TRACE_TRACE_H
#define TIERCEL_TRACE_TRACE_H

#include "base/error.h"
#include "trace/collector.h"
#include "trace/table.h"

struct gather;
struct trace;

enum trace_level {
    TRACE_LEVEL_STATS,
    TRACE_LEVEL_JOBS,
    TRACE_LEVEL_EVENTS
};

/* A message kind's name, for level `events`. */
struct trace_kind {
    uint16_t kind;
    const char *name;
};

/* All pointers need to live only during trace_new, except that the tables must outlive the trace. What is said to be
 * in the file is needed on process 0 only. */
struct trace_config {
    const char *path;               /* of the file; NULL: no file, statistics only */
    enum trace_level level;
    bool compress;                  /* the tables' columns (shuffle and deflate 1); level `events` never is */
    int64_t bin_ns;                 /* first width of the curves' bins; 0: 1 ms */
    double flush_every_s;           /* wall time between flushes; 0: only when a buffer is full */

    const struct trace_role *roles;
    unsigned role_count;
    const struct table *tables;     /* written at levels `jobs` and `events`; [0] is the jobs */
    unsigned table_count;

    /* In the file. */
    const char *version;            /* of the program */
    const char *command_line;
    const char *deck;               /* as read; its SHA-256 is computed here */
    const char *effective;          /* the effective deck, NULL: none */
    uint64_t seed;

    /* Level `events`: what actors and kinds are. */
    const struct trace_kind *kinds;
    unsigned kind_count;
    const uint16_t *actor_roles;    /* index into roles, by actor id */
    const uint32_t *actor_nodes;
    uint32_t actor_count;
};

/* Collective. NULL and *error, the same on all processes, when the file cannot be made. `gather` may be NULL for a
 * process that is alone, and must outlive the trace. */
struct trace *trace_new(const struct trace_config *config, struct gather *gather, GError **error);

/* Local. A trace that was not finished leaves its file (and parts) as of the last flush. */
void trace_free(struct trace *t);

/* --- observations: local --- */

void trace_count(struct trace *t, unsigned role, unsigned metric, int64_t time_ns, uint64_t count);
void trace_sample(struct trace *t, unsigned role, unsigned metric, int64_t time_ns, int64_t value);

/* A row (table.h). `time_ns` is the recording actor's time; an actor's times do not fall. Dropped at level `stats`. */
void trace_record(struct trace *t, unsigned table, int64_t time_ns, uint32_t actor, const void *row, size_t size);

/* A handled message. */
struct trace_event {
    int64_t time_ns;                /* arrival */
    int64_t start_ns;               /* of the handling */
    int64_t end_ns;
    uint64_t content;               /* the message's word, or its payload's hash */
    uint32_t actor;
    uint32_t from;
    uint32_t sequence;              /* the sender's */
    uint16_t kind;
    uint8_t order_class;
};

/* Ignored below level `events`. A failing write (a full disk) is kept, and returned by the next trace_flush. */
void trace_event(struct trace *t, const struct trace_event *event);

/* --- flushing --- */

/* True when the time since the last flush is over (asked on process 0), or this process holds many rows. */
bool trace_flush_due(const struct trace *t);

/* Collective. Every handling that begins before now_ns must have happened, on every process: then what is recorded
 * later has a later time. All return the same. */
gboolean trace_flush(struct trace *t, int64_t now_ns, GError **error);

/* --- the end --- */

struct trace_role_figures {
    const char *name;
    uint64_t actors;
    uint64_t handled;
    double busy_fraction;
    double blocked_fraction;
    double mean_queue;
    double mean_wait_s;
};

struct trace_ending {
    const char *digest;             /* 32 hexadecimal digits */
    double walltime_s;
    int64_t end_ns;                 /* virtual time at the end */
    const char *end;                /* "ended", "stopped" ... */
    const struct trace_role_figures *roles;
    unsigned role_count;
    const char *summary;            /* the summary's text, NULL: none; goes to /config/summary */
};

/* Collective. Writes what is left, joins the parts, sets `complete`. The ending counts on process 0. */
gboolean trace_finish(struct trace *t, const struct trace_ending *ending, GError **error);

/* Collective: brings the figures to process 0 without touching the file, so that the summary can be made before
 * trace_finish. Then, on process 0, the merged figures; NULL on others. Owned by the trace. */
gboolean trace_merge(struct trace *t, GError **error);
const struct collector *trace_collector(const struct trace *t);

#endif
