/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/summary_keys.h"

#include <string.h>

#include <glib.h>

#include "base/nearest.h"

const char *const summary_group_names[SUMMARY_GROUPS] = {
    "run", "live", "jobs", "kvs", "event", "subscribe", "client", "io", "queueing", "phold", "schedule"
};

const struct summary_key summary_keys[] = {
    { SUMMARY_RUN, "completed", SUMMARY_FLAG },
    { SUMMARY_RUN, "digest", SUMMARY_TEXT },
    { SUMMARY_RUN, "clock", SUMMARY_TEXT },
    { SUMMARY_RUN, "processes", SUMMARY_COUNT },
    { SUMMARY_RUN, "active_processes", SUMMARY_COUNT },
    { SUMMARY_RUN, "spread", SUMMARY_TEXT },
    { SUMMARY_RUN, "windows", SUMMARY_COUNT },
    { SUMMARY_RUN, "events_per_window", SUMMARY_NUMBER },
    { SUMMARY_RUN, "remote_messages", SUMMARY_COUNT },
    { SUMMARY_RUN, "wall_s", SUMMARY_NUMBER },
    { SUMMARY_RUN, "sim_end_s", SUMMARY_NUMBER },
    { SUMMARY_RUN, "events", SUMMARY_COUNT },
    { SUMMARY_RUN, "events_per_s", SUMMARY_NUMBER },
    { SUMMARY_RUN, "peak_rss_bytes", SUMMARY_COUNT },
    { SUMMARY_RUN, "bytes_per_actor", SUMMARY_NUMBER },
    { SUMMARY_RUN, "actors", SUMMARY_COUNT },
    { SUMMARY_RUN, "seed", SUMMARY_COUNT },
    { SUMMARY_RUN, "version", SUMMARY_TEXT },

    { SUMMARY_LIVE, "waiting", SUMMARY_TEXT },
    { SUMMARY_LIVE, "machines", SUMMARY_COUNT },
    { SUMMARY_LIVE, "io", SUMMARY_TEXT },
    { SUMMARY_LIVE, "windows", SUMMARY_TEXT },

    { SUMMARY_JOBS, "submitted", SUMMARY_COUNT },
    { SUMMARY_JOBS, "completed", SUMMARY_COUNT },
    { SUMMARY_JOBS, "failed", SUMMARY_COUNT },
    { SUMMARY_JOBS, "killed", SUMMARY_COUNT },
    { SUMMARY_JOBS, "cancelled", SUMMARY_COUNT },
    { SUMMARY_JOBS, "rejected", SUMMARY_COUNT },
    { SUMMARY_JOBS, "unfinished", SUMMARY_COUNT },
    { SUMMARY_JOBS, "retried", SUMMARY_COUNT },
    { SUMMARY_JOBS, "lost", SUMMARY_COUNT },
    { SUMMARY_JOBS, "submit_rate", SUMMARY_NUMBER },
    { SUMMARY_JOBS, "run_rate", SUMMARY_NUMBER },
    { SUMMARY_JOBS, "follow_rate", SUMMARY_NUMBER },
    { SUMMARY_JOBS, "first_done_s", SUMMARY_NUMBER },
    { SUMMARY_JOBS, "makespan_s", SUMMARY_NUMBER },
    { SUMMARY_JOBS, "mean_wait_s", SUMMARY_NUMBER },
    { SUMMARY_JOBS, "max_wait_s", SUMMARY_NUMBER },
    { SUMMARY_JOBS, "mean_bounded_slowdown", SUMMARY_NUMBER },
    { SUMMARY_JOBS, "utilisation", SUMMARY_NUMBER },

    { SUMMARY_KVS, "transactions", SUMMARY_COUNT },
    { SUMMARY_KVS, "commits", SUMMARY_COUNT },
    { SUMMARY_KVS, "merged", SUMMARY_COUNT },
    { SUMMARY_KVS, "lookups", SUMMARY_COUNT },
    { SUMMARY_KVS, "blobs", SUMMARY_COUNT },
    { SUMMARY_KVS, "namespaces_created", SUMMARY_COUNT },
    { SUMMARY_KVS, "namespaces_removed", SUMMARY_COUNT },
    { SUMMARY_KVS, "fences", SUMMARY_COUNT },
    { SUMMARY_KVS, "syncs", SUMMARY_COUNT },
    { SUMMARY_KVS, "refused", SUMMARY_COUNT },
    { SUMMARY_KVS, "create_rate", SUMMARY_NUMBER },
    { SUMMARY_KVS, "remove_rate", SUMMARY_NUMBER },

    { SUMMARY_EVENT, "published", SUMMARY_COUNT },
    { SUMMARY_EVENT, "delivered", SUMMARY_COUNT },
    { SUMMARY_EVENT, "dropped", SUMMARY_COUNT },
    { SUMMARY_EVENT, "discarded", SUMMARY_COUNT },
    { SUMMARY_EVENT, "duplicates", SUMMARY_COUNT },
    { SUMMARY_EVENT, "overlay_messages", SUMMARY_COUNT },
    { SUMMARY_EVENT, "match_s", SUMMARY_NUMBER },
    { SUMMARY_EVENT, "deliver_s", SUMMARY_NUMBER },
    { SUMMARY_EVENT, "discard_s", SUMMARY_NUMBER },

    { SUMMARY_SUBSCRIBE, "namespace_calls", SUMMARY_COUNT },
    { SUMMARY_SUBSCRIBE, "other_calls", SUMMARY_COUNT },
    { SUMMARY_SUBSCRIBE, "entries_left", SUMMARY_COUNT },
    { SUMMARY_SUBSCRIBE, "blocked_s", SUMMARY_NUMBER },

    { SUMMARY_CLIENT, "gc_s", SUMMARY_NUMBER },
    { SUMMARY_CLIENT, "gc_s_per_minute", SUMMARY_NUMBER },
    { SUMMARY_CLIENT, "heap_free_bytes", SUMMARY_COUNT },
    { SUMMARY_CLIENT, "first_minute_rate", SUMMARY_NUMBER },
    { SUMMARY_CLIENT, "last_minute_rate", SUMMARY_NUMBER },

    { SUMMARY_IO, "bytes", SUMMARY_COUNT },
    { SUMMARY_IO, "writes", SUMMARY_COUNT },
    { SUMMARY_IO, "extending_writes", SUMMARY_COUNT },
    { SUMMARY_IO, "exclusive_locks", SUMMARY_COUNT },
    { SUMMARY_IO, "shared_locks", SUMMARY_COUNT },
    { SUMMARY_IO, "lone_writes", SUMMARY_COUNT },
    { SUMMARY_IO, "inflight_max", SUMMARY_COUNT },
    { SUMMARY_IO, "lock_wait_s", SUMMARY_NUMBER },
    { SUMMARY_IO, "bandwidth_bytes_per_s", SUMMARY_NUMBER },

    { SUMMARY_QUEUEING, "made", SUMMARY_COUNT },
    { SUMMARY_QUEUEING, "returned", SUMMARY_COUNT },
    { SUMMARY_QUEUEING, "counted", SUMMARY_COUNT },
    { SUMMARY_QUEUEING, "throughput_per_s", SUMMARY_NUMBER },
    { SUMMARY_QUEUEING, "mean_sojourn_s", SUMMARY_NUMBER },
    { SUMMARY_QUEUEING, "p99_sojourn_s", SUMMARY_NUMBER },
    { SUMMARY_QUEUEING, "max_sojourn_s", SUMMARY_NUMBER },
    { SUMMARY_QUEUEING, "mean_population", SUMMARY_NUMBER },

    { SUMMARY_PHOLD, "population", SUMMARY_COUNT },
    { SUMMARY_PHOLD, "mean_increment_s", SUMMARY_NUMBER },

    { SUMMARY_SCHEDULE, "processors", SUMMARY_COUNT },
    { SUMMARY_SCHEDULE, "start_span_s", SUMMARY_NUMBER },
    { SUMMARY_SCHEDULE, "start_span_utilisation", SUMMARY_NUMBER },
    { SUMMARY_SCHEDULE, "p50_wait_s", SUMMARY_NUMBER },
    { SUMMARY_SCHEDULE, "p99_wait_s", SUMMARY_NUMBER },
    { SUMMARY_SCHEDULE, "mean_turnaround_s", SUMMARY_NUMBER },
    { SUMMARY_SCHEDULE, "slowdown_bound_s", SUMMARY_NUMBER },
    { SUMMARY_SCHEDULE, "max_bounded_slowdown", SUMMARY_NUMBER },
    { SUMMARY_SCHEDULE, "passes", SUMMARY_COUNT },
    { SUMMARY_SCHEDULE, "max_queue", SUMMARY_COUNT },
};
const unsigned summary_key_count = G_N_ELEMENTS(summary_keys);

const char *const summary_list_names[SUMMARY_LISTS] = {
    "roles", "stages", "stations", "classes", "services", "files", "live_files", "limits", "balance", "expect"
};

const struct summary_entry_key summary_entry_keys[SUMMARY_LISTS][SUMMARY_ENTRY_KEYS_MAX] = {
    [SUMMARY_ROLES] = { { "handled", SUMMARY_COUNT },
                        { "busy_fraction", SUMMARY_NUMBER },
                        { "mean_queue", SUMMARY_NUMBER },
                        { "mean_wait_s", SUMMARY_NUMBER },
                        { "blocked_fraction", SUMMARY_NUMBER } },
    [SUMMARY_STAGES] = { { "mean_s", SUMMARY_NUMBER }, { "p50_s", SUMMARY_NUMBER }, { "p99_s", SUMMARY_NUMBER } },
    [SUMMARY_STATIONS] = { { "servers", SUMMARY_COUNT },
                           { "jobs", SUMMARY_COUNT },
                           { "utilisation", SUMMARY_NUMBER },
                           { "mean_queue", SUMMARY_NUMBER },
                           { "mean_wait_s", SUMMARY_NUMBER } },
    [SUMMARY_CLASSES] = { { "jobs", SUMMARY_COUNT },
                          { "mean_wait_s", SUMMARY_NUMBER },
                          { "max_wait_s", SUMMARY_NUMBER },
                          { "mean_bounded_slowdown", SUMMARY_NUMBER } },
    [SUMMARY_SERVICES] = { { "handled", SUMMARY_COUNT },
                           { "mean_s", SUMMARY_NUMBER },
                           { "p50_s", SUMMARY_NUMBER },
                           { "p99_s", SUMMARY_NUMBER } },
    [SUMMARY_FILES] = { { "bytes", SUMMARY_COUNT },
                        { "writes", SUMMARY_COUNT },
                        { "extending_writes", SUMMARY_COUNT },
                        { "exclusive_locks", SUMMARY_COUNT },
                        { "shared_locks", SUMMARY_COUNT },
                        { "lone_writes", SUMMARY_COUNT },
                        { "inflight_max", SUMMARY_COUNT },
                        { "steals", SUMMARY_COUNT },
                        { "handoffs", SUMMARY_COUNT },
                        { "lock_wait_s", SUMMARY_NUMBER },
                        { "prepared_s", SUMMARY_NUMBER },
                        { "ended_s", SUMMARY_NUMBER },
                        { "bandwidth_bytes_per_s", SUMMARY_NUMBER },
                        { "mib_per_s", SUMMARY_NUMBER },
                        { "writes_per_s", SUMMARY_NUMBER },
                        { "extending_share", SUMMARY_NUMBER },
                        { "exclusive_share", SUMMARY_NUMBER },
                        { "gain", SUMMARY_NUMBER } },
    [SUMMARY_LIVE_FILES] = { { "verified_bytes", SUMMARY_COUNT },
                             { "contested", SUMMARY_COUNT },
                             { "retakes", SUMMARY_COUNT },
                             { "retake_share", SUMMARY_NUMBER },
                             { "open_s", SUMMARY_NUMBER },
                             { "write_s", SUMMARY_NUMBER },
                             { "close_s", SUMMARY_NUMBER },
                             { "mean_write_s", SUMMARY_NUMBER },
                             { "held_up_s", SUMMARY_NUMBER } },
    [SUMMARY_LIMITS] = { { "share", SUMMARY_NUMBER }, { "rate_if_free", SUMMARY_NUMBER } },
    [SUMMARY_BALANCES] = { { "left", SUMMARY_COUNT }, { "right", SUMMARY_COUNT }, { "ok", SUMMARY_FLAG } },
    [SUMMARY_EXPECTATIONS] = { { "published", SUMMARY_NUMBER },
                               { "measured", SUMMARY_NUMBER },
                               { "error", SUMMARY_NUMBER },
                               { "ok", SUMMARY_FLAG },
                               { "comparable", SUMMARY_FLAG } },
};

int summary_group_find(const char *name)
{
    for (int g = 0; g < SUMMARY_GROUPS; g++)
        if (strcmp(summary_group_names[g], name) == 0)
            return g;
    return -1;
}

int summary_key_find(unsigned group, const char *name)
{
    for (unsigned k = 0; k < summary_key_count; k++)
        if (summary_keys[k].group == group && strcmp(summary_keys[k].name, name) == 0)
            return (int)k;
    return -1;
}

int summary_entry_key_find(enum summary_list list, const char *name)
{
    for (int k = 0; summary_entry_keys[list][k].name != NULL; k++)
        if (strcmp(summary_entry_keys[list][k].name, name) == 0)
            return k;
    return -1;
}

char *summary_key_nearest(const char *path)
{
    g_autoptr(GPtrArray) known = g_ptr_array_new_with_free_func(g_free);

    for (unsigned k = 0; k < summary_key_count; k++)
        g_ptr_array_add(known, g_strdup_printf("%s.%s", summary_group_names[summary_keys[k].group],
                                               summary_keys[k].name));
    return g_strdup(nearest_name(path, (const char *const *)known->pdata, known->len));
}
