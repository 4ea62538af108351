/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The summary of a run: summary.json, `format` = 1.
 *
 *     struct summary *s = summary_new();
 *     summary_group(s, "jobs");                           a part that the deck has
 *     summary_count(s, "jobs", "submitted", 1024);
 *     summary_number(s, "jobs", "run_rate", 67.6);
 *     summary_role(s, "broker", &figures);  summary_stage(...);  summary_limit(...);  summary_balance(...);
 *     summary_lookup(s, "jobs.run_rate", &value);         what [expect] compares
 *     if (!summary_write(s, path, &error)) ...
 *
 * The keys are those of the design, section 6, in its order, and no others: setting a key that is not in the table, or
 * with the wrong type, is a programming mistake. A group is there when its part was in the deck (summary_group, or any
 * of its keys was set); then all its keys are. A key of such a group that was never set is an error of
 * summary_write, by name.
 *
 * Times are seconds, rates per second. A number that has no value (a mean of nothing) is given as NAN and written as
 * null; every other number is finite. All functions are local; the summary is made on process 0.
 */
#ifndef TIERCEL_TRACE_SUMMARY_H
#define TIERCEL_TRACE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct summary;

struct summary *summary_new(void);
void summary_free(struct summary *s);

/* Says that a part is in the deck: "live", "jobs", "kvs", "event", "subscribe", "client", "io", "queueing", "phold",
 * "schedule". "run" always is. */
void summary_group(struct summary *s, const char *group);

/* Each sets one key; a second call replaces the value. */
void summary_text(struct summary *s, const char *group, const char *key, const char *value);
void summary_flag(struct summary *s, const char *group, const char *key, bool value);
void summary_count(struct summary *s, const char *group, const char *key, uint64_t value);
void summary_number(struct summary *s, const char *group, const char *key, double value);

/* The lists. Each call adds one entry, in the order of the calls. */
struct summary_role {
    uint64_t handled;
    double busy_fraction;
    double mean_queue;
    double mean_wait_s;
    double blocked_fraction;
};
void summary_role(struct summary *s, const char *role, const struct summary_role *figures);
void summary_stage(struct summary *s, const char *stage, double mean_s, double p50_s, double p99_s);

struct summary_station {
    uint64_t servers;
    uint64_t jobs;
    double utilisation;
    double mean_queue;
    double mean_wait_s;
};
void summary_station(struct summary *s, const char *station, const struct summary_station *figures);

struct summary_class {              /* of jobs */
    uint64_t jobs;
    double mean_wait_s;
    double max_wait_s;
    double mean_bounded_slowdown;
};
void summary_class(struct summary *s, const char *class, const struct summary_class *figures);

/* On the live clock: how long handlings of one message kind took; `service` is "ROLE/KIND". */
struct summary_service {
    uint64_t handled;
    double mean_s;
    double p50_s;
    double p99_s;
};
void summary_service(struct summary *s, const char *service, const struct summary_service *figures);
/* A shared file, in the order of the keys. */
struct summary_file {
    uint64_t bytes;
    uint64_t writes;
    uint64_t extending_writes;
    uint64_t exclusive_locks;
    uint64_t shared_locks;
    uint64_t lone_writes;
    uint64_t inflight_max;
    uint64_t steals;
    uint64_t handoffs;
    double lock_wait_s;             /* the mean */
    double prepared_s;              /* when the last writer began to write data */
    double ended_s;                 /* and when the last one had ended; the rates are over this time */
    double bandwidth_bytes_per_s;
    double mib_per_s;               /* the same in MiB/s */
    double writes_per_s;
    double extending_share;
    double exclusive_share;
    double gain;                    /* over the file that it is compared with; NAN without one */
};
void summary_file(struct summary *s, const char *file, const struct summary_file *figures);

/* On the live clock: a file that was really written. */
struct summary_live_file {
    uint64_t verified_bytes;        /* read back */
    uint64_t contested;             /* times that a writer let go of the emulated lock while others waited, */
    uint64_t retakes;               /* and had it again before anybody else */
    double retake_share;
    double open_s;
    double write_s;                 /* from the last beginning to the last end */
    double close_s;
    double mean_write_s;            /* of one call that wrote, without the lock */
    double held_up_s;               /* how long a process did nothing else */
};
void summary_live_file(struct summary *s, const char *file, const struct summary_live_file *figures);
void summary_limit(struct summary *s, const char *what, double share, double rate_if_free);
void summary_balance(struct summary *s, const char *name, uint64_t left, uint64_t right, bool ok);

struct summary_expectation {
    double published;
    double measured;                /* NAN when there is none */
    double error;                   /* measured / published - 1 */
    bool ok;
    bool comparable;
};
void summary_expect(struct summary *s, const char *key, const struct summary_expectation *e);

/*
 * The value of "group.key" (flags: 0 or 1), of "roles.ROLE.key", "stages.STAGE.key", "stations.STATION.key",
 * "classes.CLASS.key" or "files.NAME.key". FALSE with *error
 * (TIERCEL_ERROR_INPUT) when there is no such key, when its group is not in this run, or when it has no number; the
 * text tells which, with the nearest known key. *value may be NAN.
 */
gboolean summary_lookup(const struct summary *s, const char *path, double *value, GError **error);

/* The same where any error means that there is nothing to tell: NAN then. */
double summary_value(const struct summary *s, const char *path);

/* Whether a deck may name this key at all ("jobs.run_rate"), before there is a run. Roles, stages and
 * stations are not checked beyond their form. */
bool summary_key_known(const char *path);

/* What a key is, for people: of "jobs.run_rate", or of an entry of a list, "stages.alloc.mean_s". "" for what is none.
 * Constant. */
const char *summary_key_text(const char *path);

/* The unit of a key's values: "s", "1/s", "B", "B/s", "MiB/s", and "1" for all else. Its name says it. Constant. */
const char *summary_key_unit(const char *path);

/* The document as text, ending in a newline; the caller frees it. NULL with *error when a key is missing. */
char *summary_to_text(const struct summary *s, GError **error);

/* The document under a temporary name beside `path`, then renamed: a file of that name is always whole. What exists
 * and is no regular file (/dev/stdout, a pipe) is written to as it is. */
gboolean summary_write(const struct summary *s, const char *path, GError **error);

/* Reads a summary back: for report, compare and tests. NULL with *error (TIERCEL_ERROR_RUNTIME) when the file cannot
 * be read, is not JSON, or is of another format. */
struct summary *summary_read(const char *path, GError **error);

/* The same from the document's text, such as a trace keeps it; `path` is what errors name. */
struct summary *summary_parse(const char *text, const char *path, GError **error);

/* --- looking at all of it, for reports --- */

/* Visits every key that has a value, in order: `number` is the value of anything but a text, whose `text` it is. */
typedef void summary_key_fn(void *data, const char *group, const char *key, const char *text, double number);
void summary_each(const struct summary *s, summary_key_fn *visit, void *data);

/* The same for the lists, whose group is LIST.NAME: "stages.alloc", or of the limits, which are ranked, "limits.1". Of
 * these the key "name" tells what it is. */
void summary_each_entry(const struct summary *s, summary_key_fn *visit, void *data);

/* The name of the i-th stage, which are in the order of a job's path; NULL when there are fewer. */
const char *summary_stage_name(const struct summary *s, unsigned i);

/* The same for any list by its name in the document ("classes", "files", "expect" ...), and a number (flags: 0 or 1)
 * of that entry, which must be there and its list have the key; NAN: it has no value. */
const char *summary_entry_name(const struct summary *s, const char *list, unsigned i);
double summary_entry_number(const struct summary *s, const char *list, unsigned i, const char *key);

struct summary_limit_row {
    const char *what;               /* the summary's */
    double share;
    double rate_if_free;
};
/* The i-th limit; false when there are fewer. */
bool summary_limit_get(const struct summary *s, unsigned i, struct summary_limit_row *row);

#endif
