/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a lockfs counts of the write requests that it serves: how many, how many at a time, how many extend their file
 * and how many were alone.
 *
 *     lockfs_counts_init(&counts);
 *     struct lockfs_write w = lockfs_counts_begin(&counts, &flight_of_the_file, now_ns, extends);
 *     ... the request is in service ...
 *     lockfs_counts_end(&counts, &flight_of_the_file, &w, now_ns, bytes, ok);
 *
 * A write is in flight from its arrival at the server to just before the reply. It is alone (lone) when no other write
 * of the same file was in flight at any moment of its own: so a lock that is held over the whole write shows as all
 * writes lone. It extends when it arrives with its end beyond the end of the file. Finished writes are counted, the
 * failed ones apart.
 *
 * Passive: no clock and no lock of its own. The caller serializes all calls for one `struct lockfs_counts`, with times
 * in ns that never fall.
 */
#ifndef TIERCEL_LOCKFS_WRITE_COUNTS_H
#define TIERCEL_LOCKFS_WRITE_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* The writes of one file. Zero-initialized. */
struct lockfs_flight {
    uint64_t arrivals;
    uint32_t in_flight;
};

struct lockfs_write {
    uint64_t arrival;           /* its number among those of the file */
    bool alone;                 /* none was in flight when it arrived */
    bool extends;
};

struct lockfs_counts {
    uint64_t writes, bytes;
    uint64_t extending_writes, lone_writes, failed_writes;
    uint32_t in_flight;         /* over all files */
    uint32_t in_flight_max;
    int64_t first_ns, last_ns;  /* first arrival, last end; meaningful once a write has arrived */
    int64_t changed_ns;         /* when in_flight last changed */
    int64_t busy_ns;            /* with at least one in flight */
    int64_t write_ns;           /* sum over the writes of their time in flight */
    bool any;                   /* a write has arrived */
};

void lockfs_counts_init(struct lockfs_counts *counts);

/* Starts to count anew at now_ns; writes in flight stay in flight, and count when they end. */
void lockfs_counts_restart(struct lockfs_counts *counts, int64_t now_ns);

struct lockfs_write lockfs_counts_begin(struct lockfs_counts *counts, struct lockfs_flight *flight, int64_t now_ns,
                                        bool extends);
void lockfs_counts_end(struct lockfs_counts *counts, struct lockfs_flight *flight, const struct lockfs_write *write,
                       int64_t now_ns, uint64_t bytes, bool ok);

/*
 * Appends lines "key value" to `text`: writes, bytes, extending_writes, lone_writes, failed_writes, inflight_max,
 * inflight_mean (over the time in which at least one was in flight), busy_s (that time), span_s (from the first arrival
 * to the last end), writes_per_s (finished writes over span_s).
 */
void lockfs_counts_print(const struct lockfs_counts *counts, GString *text);

#endif
