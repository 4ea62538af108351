/* SPDX-License-Identifier: BSD-3-Clause */
#include "lockfs/write_counts.h"

#include <inttypes.h>
#include <string.h>

void lockfs_counts_init(struct lockfs_counts *counts)
{
    memset(counts, 0, sizeof *counts);
}

void lockfs_counts_restart(struct lockfs_counts *counts, int64_t now_ns)
{
    uint32_t in_flight = counts->in_flight;

    lockfs_counts_init(counts);
    counts->in_flight = counts->in_flight_max = in_flight;
    counts->first_ns = counts->last_ns = counts->changed_ns = now_ns;
    counts->any = in_flight > 0;
}

/* Adds up the time since the last change. */
static void advance(struct lockfs_counts *counts, int64_t now_ns)
{
    int64_t passed_ns = now_ns - counts->changed_ns;

    if (counts->in_flight > 0) {
        counts->busy_ns += passed_ns;
        counts->write_ns += passed_ns * counts->in_flight;
    }
    counts->changed_ns = now_ns;
}

struct lockfs_write lockfs_counts_begin(struct lockfs_counts *counts, struct lockfs_flight *flight, int64_t now_ns,
                                        bool extends)
{
    struct lockfs_write write = { .arrival = ++flight->arrivals, .alone = flight->in_flight == 0, .extends = extends };

    advance(counts, now_ns);
    if (!counts->any)
        counts->first_ns = counts->last_ns = now_ns;
    counts->any = true;
    flight->in_flight++;
    counts->in_flight++;
    counts->in_flight_max = MAX(counts->in_flight_max, counts->in_flight);
    return write;
}

void lockfs_counts_end(struct lockfs_counts *counts, struct lockfs_flight *flight, const struct lockfs_write *write,
                       int64_t now_ns, uint64_t bytes, bool ok)
{
    g_assert(flight->in_flight > 0 && counts->in_flight > 0);
    advance(counts, now_ns);
    flight->in_flight--;
    counts->in_flight--;
    counts->last_ns = now_ns;
    if (!ok) {
        counts->failed_writes++;
        return;
    }
    counts->writes++;
    counts->bytes += bytes;
    counts->extending_writes += write->extends;
    counts->lone_writes += write->alone && flight->arrivals == write->arrival;
}

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

void lockfs_counts_print(const struct lockfs_counts *counts, GString *text)
{
    double span_s = seconds(counts->last_ns - counts->first_ns);
    double mean = counts->busy_ns > 0 ? (double)counts->write_ns / (double)counts->busy_ns : 0;

    g_string_append_printf(text, "writes %" PRIu64 "\nbytes %" PRIu64 "\n", counts->writes, counts->bytes);
    g_string_append_printf(text, "extending_writes %" PRIu64 "\n", counts->extending_writes);
    g_string_append_printf(text, "lone_writes %" PRIu64 "\n", counts->lone_writes);
    g_string_append_printf(text, "failed_writes %" PRIu64 "\n", counts->failed_writes);
    g_string_append_printf(text, "inflight_max %" PRIu32 "\ninflight_mean %.4f\n", counts->in_flight_max, mean);
    g_string_append_printf(text, "busy_s %.6f\nspan_s %.6f\n", seconds(counts->busy_ns), span_s);
    g_string_append_printf(text, "writes_per_s %.6g\n", span_s > 0 ? (double)counts->writes / span_s : 0);
}
