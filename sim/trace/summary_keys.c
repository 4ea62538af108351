/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/summary_keys.h"

#include <string.h>

#include <glib.h>

#include "base/nearest.h"

const char *const summary_group_names[SUMMARY_GROUPS] = {
    "run", "live", "jobs", "kvs", "event", "subscribe", "client", "io", "queueing", "phold", "schedule"
};
const char *const summary_group_texts[SUMMARY_GROUPS] = {
    "the run itself; always there",
    "on the live clock",
    "jobs, or tasks of a dispatcher",
    "the key-value store of a brokered instance",
    "the events of a brokered instance",
    "subscriptions of kvs and watcher",
    "the client of a dispatcher service",
    "all shared files together",
    "stations and networks of queues",
    "the PHOLD benchmark",
    "a batch scheduler",
};

const struct summary_key summary_keys[] = {
    { SUMMARY_RUN, "completed", SUMMARY_FLAG, "whether it ran to its end: false when it was stopped" },
    { SUMMARY_RUN, "digest", SUMMARY_TEXT, "hash of all that it did, 32 hexadecimal digits" },
    { SUMMARY_RUN, "clock", SUMMARY_TEXT, "virtual or live" },
    { SUMMARY_RUN, "processes", SUMMARY_COUNT, "MPI processes of the run" },
    { SUMMARY_RUN, "active_processes", SUMMARY_COUNT,
      "of them that played actors until the end; the others slept" },
    { SUMMARY_RUN, "spread", SUMMARY_TEXT, "run.spread of the deck: auto or always" },
    { SUMMARY_RUN, "windows", SUMMARY_COUNT, "windows of virtual time; on the live clock rounds of counting" },
    { SUMMARY_RUN, "events_per_window", SUMMARY_NUMBER, "handled messages a window" },
    { SUMMARY_RUN, "remote_messages", SUMMARY_COUNT, "messages between processes" },
    { SUMMARY_RUN, "wall_s", SUMMARY_NUMBER, "real time that it took" },
    { SUMMARY_RUN, "sim_end_s", SUMMARY_NUMBER, "virtual time at its end" },
    { SUMMARY_RUN, "events", SUMMARY_COUNT, "handled messages, timers included" },
    { SUMMARY_RUN, "events_per_s", SUMMARY_NUMBER, "the same a second of real time" },
    { SUMMARY_RUN, "peak_rss_bytes", SUMMARY_COUNT, "largest memory of a process" },
    { SUMMARY_RUN, "bytes_per_actor", SUMMARY_NUMBER,
      "memory of the engine, all processes together, over the actors" },
    { SUMMARY_RUN, "actors", SUMMARY_COUNT, "simulated servers" },
    { SUMMARY_RUN, "seed", SUMMARY_COUNT, "run.seed of the deck" },
    { SUMMARY_RUN, "version", SUMMARY_TEXT, "of the program" },

    { SUMMARY_LIVE, "waiting", SUMMARY_TEXT, "what idle processes did: spin or yield" },
    { SUMMARY_LIVE, "machines", SUMMARY_COUNT, "hosts that played" },
    { SUMMARY_LIVE, "io", SUMMARY_TEXT,
      "the MPI-IO that wrote files: ompio or romio; none; both when files differ" },
    { SUMMARY_LIVE, "windows", SUMMARY_TEXT,
      "one-sided windows of the emulated lock: shared or messages; none; both when files differ" },
    { SUMMARY_LIVE, "onesided", SUMMARY_TEXT,
      "the MPI library's component for these windows (Open MPI's osc): sm, pt2pt, rdma or ucx; none; both when files "
      "differ; unknown where it does not tell" },

    { SUMMARY_JOBS, "submitted", SUMMARY_COUNT, "handed to the system" },
    { SUMMARY_JOBS, "completed", SUMMARY_COUNT, "ended with success" },
    { SUMMARY_JOBS, "failed", SUMMARY_COUNT, "ended without success" },
    { SUMMARY_JOBS, "killed", SUMMARY_COUNT, "ended at their limit" },
    { SUMMARY_JOBS, "cancelled", SUMMARY_COUNT, "taken back" },
    { SUMMARY_JOBS, "rejected", SUMMARY_COUNT, "refused by the system" },
    { SUMMARY_JOBS, "unfinished", SUMMARY_COUNT, "not ended when the run was told to stop" },
    { SUMMARY_JOBS, "retried", SUMMARY_COUNT, "runs repeated after a failure (dispatcher)" },
    { SUMMARY_JOBS, "lost", SUMMARY_COUNT, "whose result never came (dispatcher)" },
    { SUMMARY_JOBS, "submit_rate", SUMMARY_NUMBER, "submitted over the time that submission took; null for batch" },
    { SUMMARY_JOBS, "run_rate", SUMMARY_NUMBER, "ended over the time from the start of the queue to the last end" },
    { SUMMARY_JOBS, "follow_rate", SUMMARY_NUMBER,
      "logs followed to their ends over the time that took; null when nobody follows" },
    { SUMMARY_JOBS, "first_done_s", SUMMARY_NUMBER, "from the start of the queue to the first end" },
    { SUMMARY_JOBS, "makespan_s", SUMMARY_NUMBER, "from the first submission to the last end" },
    { SUMMARY_JOBS, "mean_wait_s", SUMMARY_NUMBER,
      "from submission to the start, mean over jobs that ran and ended; with workload.stop-queue the time in which the "
      "queue stands still is in it. Of a dispatcher: in the queues of the services, mean over dispatches" },
    { SUMMARY_JOBS, "max_wait_s", SUMMARY_NUMBER, "the same, longest; null for a dispatcher" },
    { SUMMARY_JOBS, "mean_bounded_slowdown", SUMMARY_NUMBER,
      "(wait + run) / run, with run at least the bound and the quotient at least 1, mean; null for a "
      "dispatcher" },
    { SUMMARY_JOBS, "utilisation", SUMMARY_NUMBER,
      "share of processors times makespan that jobs held; of a dispatcher, that tasks ran" },

    { SUMMARY_KVS, "transactions", SUMMARY_COUNT, "that its root took" },
    { SUMMARY_KVS, "commits", SUMMARY_COUNT, "new roots that it published" },
    { SUMMARY_KVS, "merged", SUMMARY_COUNT, "transactions that shared the root of another" },
    { SUMMARY_KVS, "lookups", SUMMARY_COUNT, "keys looked up, on all nodes" },
    { SUMMARY_KVS, "blobs", SUMMARY_COUNT, "objects stored by the root" },
    { SUMMARY_KVS, "namespaces_created", SUMMARY_COUNT, "namespaces created" },
    { SUMMARY_KVS, "namespaces_removed", SUMMARY_COUNT, "namespaces removed" },
    { SUMMARY_KVS, "fences", SUMMARY_COUNT, "transactions of several parties, completed" },
    { SUMMARY_KVS, "syncs", SUMMARY_COUNT, "waits for a version" },
    { SUMMARY_KVS, "refused", SUMMARY_COUNT, "requests refused because of who asked" },
    { SUMMARY_KVS, "create_rate", SUMMARY_NUMBER,
      "namespaces created over the time from the first request to the last answer; null below two" },
    { SUMMARY_KVS, "remove_rate", SUMMARY_NUMBER, "the same for removing" },

    { SUMMARY_EVENT, "published", SUMMARY_COUNT, "numbered by the root broker" },
    { SUMMARY_EVENT, "delivered", SUMMARY_COUNT, "handed by brokers to their own modules and clients" },
    { SUMMARY_EVENT, "dropped", SUMMARY_COUNT, "that reached a broker where nobody had subscribed" },
    { SUMMARY_EVENT, "discarded", SUMMARY_COUNT, "delivered to a module that does not act on them" },
    { SUMMARY_EVENT, "duplicates", SUMMARY_COUNT, "that came to a broker a second time" },
    { SUMMARY_EVENT, "overlay_messages", SUMMARY_COUNT,
      "from broker to broker; an event makes one for each node but the root" },
    { SUMMARY_EVENT, "match_s", SUMMARY_NUMBER, "time of brokers that look for receivers" },
    { SUMMARY_EVENT, "deliver_s", SUMMARY_NUMBER, "time of brokers that hand events over" },
    { SUMMARY_EVENT, "discard_s", SUMMARY_NUMBER, "time of modules that discard events" },

    { SUMMARY_SUBSCRIBE, "namespace_calls", SUMMARY_COUNT,
      "subscribe and unsubscribe calls for a namespace other than primary" },
    { SUMMARY_SUBSCRIBE, "other_calls", SUMMARY_COUNT, "for primary, and in general" },
    { SUMMARY_SUBSCRIBE, "entries_left", SUMMARY_COUNT,
      "entries for such namespaces that stay in the lists of brokers at the end" },
    { SUMMARY_SUBSCRIBE, "blocked_s", SUMMARY_NUMBER, "time blocked in these calls, all modules together" },

    { SUMMARY_CLIENT, "gc_s", SUMMARY_NUMBER, "time of its collections" },
    { SUMMARY_CLIENT, "gc_s_per_minute", SUMMARY_NUMBER, "the same in the last full minute before the drain" },
    { SUMMARY_CLIENT, "heap_free_bytes", SUMMARY_COUNT, "free after the last collection" },
    { SUMMARY_CLIENT, "first_minute_rate", SUMMARY_NUMBER,
      "tasks ended a second in the first minute; null for shorter runs" },
    { SUMMARY_CLIENT, "last_minute_rate", SUMMARY_NUMBER, "the same in the last full minute before the drain" },

    { SUMMARY_IO, "bytes", SUMMARY_COUNT, "written" },
    { SUMMARY_IO, "writes", SUMMARY_COUNT, "write calls" },
    { SUMMARY_IO, "extending_writes", SUMMARY_COUNT, "that moved the end of a file" },
    { SUMMARY_IO, "exclusive_locks", SUMMARY_COUNT, "lock acquisitions that excluded others" },
    { SUMMARY_IO, "shared_locks", SUMMARY_COUNT, "that shared" },
    { SUMMARY_IO, "lone_writes", SUMMARY_COUNT, "that held a shared lock alone all the time" },
    { SUMMARY_IO, "inflight_max", SUMMARY_COUNT, "most writes under way at once" },
    { SUMMARY_IO, "lock_wait_s", SUMMARY_NUMBER, "from asking for a lock to having it, mean" },
    { SUMMARY_IO, "bandwidth_bytes_per_s", SUMMARY_NUMBER, "bytes over the time of writing" },

    { SUMMARY_QUEUEING, "made", SUMMARY_COUNT, "jobs made by the source" },
    { SUMMARY_QUEUEING, "returned", SUMMARY_COUNT, "jobs that came back to it" },
    { SUMMARY_QUEUEING, "counted", SUMMARY_COUNT, "of them after the warm-up" },
    { SUMMARY_QUEUEING, "throughput_per_s", SUMMARY_NUMBER, "jobs counted over the time of counting" },
    { SUMMARY_QUEUEING, "mean_sojourn_s", SUMMARY_NUMBER, "from leaving the source to coming back, mean" },
    { SUMMARY_QUEUEING, "p99_sojourn_s", SUMMARY_NUMBER, "the same, 99th percentile" },
    { SUMMARY_QUEUEING, "max_sojourn_s", SUMMARY_NUMBER, "the same, longest" },
    { SUMMARY_QUEUEING, "mean_population", SUMMARY_NUMBER, "jobs under way, mean over time" },

    { SUMMARY_PHOLD, "population", SUMMARY_COUNT, "events under way" },
    { SUMMARY_PHOLD, "mean_increment_s", SUMMARY_NUMBER, "from one handling of an event to the next, mean" },

    { SUMMARY_SCHEDULE, "processors", SUMMARY_COUNT, "of the machine" },
    { SUMMARY_SCHEDULE, "start_span_s", SUMMARY_NUMBER, "from the first start to the last end" },
    { SUMMARY_SCHEDULE, "start_span_utilisation", SUMMARY_NUMBER,
      "share of processors times that span that jobs held" },
    { SUMMARY_SCHEDULE, "p50_wait_s", SUMMARY_NUMBER, "median wait" },
    { SUMMARY_SCHEDULE, "p99_wait_s", SUMMARY_NUMBER, "99th percentile of the wait" },
    { SUMMARY_SCHEDULE, "mean_turnaround_s", SUMMARY_NUMBER, "from submission to the end, mean" },
    { SUMMARY_SCHEDULE, "slowdown_bound_s", SUMMARY_NUMBER,
      "the bound of the bounded slowdown, trace.slowdown-bound" },
    { SUMMARY_SCHEDULE, "max_bounded_slowdown", SUMMARY_NUMBER, "largest" },
    { SUMMARY_SCHEDULE, "passes", SUMMARY_COUNT, "times that the policy looked at its queue" },
    { SUMMARY_SCHEDULE, "max_queue", SUMMARY_COUNT, "most jobs waiting" },
};
const unsigned summary_key_count = G_N_ELEMENTS(summary_keys);

const char *const summary_list_names[SUMMARY_LISTS] = {
    "roles", "stages", "stations", "classes", "services", "files", "live_files", "limits", "balance", "expect"
};
const char *const summary_list_texts[SUMMARY_LISTS] = {
    [SUMMARY_ROLES] = "by role: all its actors together",
    [SUMMARY_STAGES] = "by stage of a job's path",
    [SUMMARY_STATIONS] = "by station of a network of queues; over the whole run, means over its copies",
    [SUMMARY_CLASSES] = "by class of width or length of jobs (batch)",
    [SUMMARY_SERVICES] = "on the live clock, by ROLE/KIND",
    [SUMMARY_FILES] = "by [io.NAME] of kind io",
    [SUMMARY_LIVE_FILES] = "by [io.NAME] that was really written, on the live clock",
    [SUMMARY_LIMITS] = "what limits the rate, ranked; in JSON each entry has its name; none of kind io",
    [SUMMARY_BALANCES] = "by balance: two counts that must be equal",
    [SUMMARY_EXPECTATIONS] = "by key of [expect]",
};

const struct summary_entry_key summary_entry_keys[SUMMARY_LISTS][SUMMARY_ENTRY_KEYS_MAX] = {
    [SUMMARY_ROLES] = {
        { "handled", SUMMARY_COUNT, "messages handled" },
        { "busy_fraction", SUMMARY_NUMBER, "share of the time busy, mean over actors" },
        { "mean_queue", SUMMARY_NUMBER, "messages waiting, mean over time and actors" },
        { "mean_wait_s", SUMMARY_NUMBER, "from a message's arrival to its handling, mean" },
        { "blocked_fraction", SUMMARY_NUMBER, "share of the time blocked in a call, mean over actors" },
    },
    [SUMMARY_STAGES] = {
        { "mean_s", SUMMARY_NUMBER, "mean" },
        { "p50_s", SUMMARY_NUMBER, "median" },
        { "p99_s", SUMMARY_NUMBER, "99th percentile" },
    },
    [SUMMARY_STATIONS] = {
        { "servers", SUMMARY_COUNT, "servers" },
        { "jobs", SUMMARY_COUNT, "jobs served" },
        { "utilisation", SUMMARY_NUMBER, "share of the time a server was busy" },
        { "mean_queue", SUMMARY_NUMBER, "jobs waiting there, mean over time" },
        { "mean_wait_s", SUMMARY_NUMBER, "from arrival to the beginning of service, mean" },
    },
    [SUMMARY_CLASSES] = {
        { "jobs", SUMMARY_COUNT, "that started" },
        { "mean_wait_s", SUMMARY_NUMBER, "mean wait" },
        { "max_wait_s", SUMMARY_NUMBER, "longest wait" },
        { "mean_bounded_slowdown", SUMMARY_NUMBER, "mean" },
    },
    [SUMMARY_SERVICES] = {
        { "handled", SUMMARY_COUNT, "messages of that kind handled" },
        { "mean_s", SUMMARY_NUMBER, "of one handling, sends included" },
        { "p50_s", SUMMARY_NUMBER, "median" },
        { "p99_s", SUMMARY_NUMBER, "99th percentile" },
    },
    [SUMMARY_FILES] = {
        { "bytes", SUMMARY_COUNT, "written" },
        { "writes", SUMMARY_COUNT, "write calls" },
        { "extending_writes", SUMMARY_COUNT, "that moved the end of a file" },
        { "exclusive_locks", SUMMARY_COUNT, "lock acquisitions that excluded others" },
        { "shared_locks", SUMMARY_COUNT, "that shared" },
        { "lone_writes", SUMMARY_COUNT, "that held a shared lock alone all the time" },
        { "inflight_max", SUMMARY_COUNT, "most writes under way at once" },
        { "steals", SUMMARY_COUNT, "locks taken by a running writer past sleepers" },
        { "handoffs", SUMMARY_COUNT, "locks kept for the first sleeper" },
        { "lock_wait_s", SUMMARY_NUMBER, "from asking for a lock to having it, mean" },
        { "prepared_s", SUMMARY_NUMBER, "when the last writer began to write data" },
        { "ended_s", SUMMARY_NUMBER, "when the last writer had ended" },
        { "bandwidth_bytes_per_s", SUMMARY_NUMBER, "bytes over the time of writing" },
        { "mib_per_s", SUMMARY_NUMBER, "the bandwidth in MiB/s" },
        { "writes_per_s", SUMMARY_NUMBER, "writes over the time of writing" },
        { "extending_share", SUMMARY_NUMBER, "of the writes" },
        { "exclusive_share", SUMMARY_NUMBER, "of the lock acquisitions" },
        { "gain", SUMMARY_NUMBER, "bandwidth over that of the file that `against` names; null without one" },
    },
    [SUMMARY_LIVE_FILES] = {
        { "verified_bytes", SUMMARY_COUNT, "read back and compared" },
        { "contested", SUMMARY_COUNT, "times that a writer let go of the emulated lock while others waited" },
        { "retakes", SUMMARY_COUNT, "of them that it had the lock again before anybody else" },
        { "retake_share", SUMMARY_NUMBER, "of the contested" },
        { "open_s", SUMMARY_NUMBER, "opening, the slowest process" },
        { "write_s", SUMMARY_NUMBER, "from the first beginning of a write to the last end" },
        { "close_s", SUMMARY_NUMBER, "closing, the slowest process" },
        { "mean_write_s", SUMMARY_NUMBER, "of one call that wrote, without the lock" },
        { "held_up_s", SUMMARY_NUMBER, "how long a process did nothing else, longest" },
    },
    [SUMMARY_LIMITS] = {
        { "share", SUMMARY_NUMBER,
          "of the steady part of the run that its busiest thread worked or was blocked, or of a pool "
          "that was held" },
        { "rate_if_free", SUMMARY_NUMBER, "jobs a second if it cost nothing, at most" },
    },
    [SUMMARY_BALANCES] = {
        { "left", SUMMARY_COUNT, "one count" },
        { "right", SUMMARY_COUNT, "the other" },
        { "ok", SUMMARY_FLAG, "whether they are equal" },
    },
    [SUMMARY_EXPECTATIONS] = {
        { "published", SUMMARY_NUMBER, "the expected value" },
        { "measured", SUMMARY_NUMBER, "that of this run; null when there is none" },
        { "error", SUMMARY_NUMBER, "measured / published - 1" },
        { "ok", SUMMARY_FLAG, "whether it is within the tolerance" },
        { "comparable", SUMMARY_FLAG, "whether no modelled key was overridden" },
    },
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
