/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keys of the summary, in order: one table, from which it is written, read, looked up and documented
 * (tiercel-trace(5)). Internal to sim/trace/ and to that page.
 *
 * Keys are never renamed without a new SUMMARY_FORMAT.
 */
#ifndef TIERCEL_TRACE_SUMMARY_KEYS_H
#define TIERCEL_TRACE_SUMMARY_KEYS_H

enum { SUMMARY_FORMAT = 1 };

enum summary_type {
    SUMMARY_TEXT,
    SUMMARY_FLAG,
    SUMMARY_COUNT,      /* a whole number, 0 or above */
    SUMMARY_NUMBER      /* finite, or null: it has no value */
};

enum summary_group {
    SUMMARY_RUN,
    SUMMARY_LIVE,
    SUMMARY_JOBS,
    SUMMARY_KVS,
    SUMMARY_EVENT,
    SUMMARY_SUBSCRIBE,
    SUMMARY_CLIENT,
    SUMMARY_IO,
    SUMMARY_QUEUEING,
    SUMMARY_PHOLD,
    SUMMARY_SCHEDULE,
    SUMMARY_GROUPS
};
extern const char *const summary_group_names[SUMMARY_GROUPS];
extern const char *const summary_group_texts[SUMMARY_GROUPS];

struct summary_key {
    enum summary_group group;
    const char *name;           /* its end tells the unit: summary_key_unit (trace/summary.h) */
    enum summary_type type;
    const char *text;           /* for people: what it is; no full stop */
};
extern const struct summary_key summary_keys[];
extern const unsigned summary_key_count;

enum summary_list {
    SUMMARY_ROLES,
    SUMMARY_STAGES,
    SUMMARY_STATIONS,
    SUMMARY_CLASSES,
    SUMMARY_SERVICES,
    SUMMARY_FILES,
    SUMMARY_LIVE_FILES,
    SUMMARY_LIMITS,
    SUMMARY_BALANCES,
    SUMMARY_EXPECTATIONS,
    SUMMARY_LISTS
};
extern const char *const summary_list_names[SUMMARY_LISTS];
extern const char *const summary_list_texts[SUMMARY_LISTS];

enum { SUMMARY_ENTRY_KEYS_MAX = 20 };
struct summary_entry_key {
    const char *name;   /* NULL after the last */
    enum summary_type type;
    const char *text;
};
extern const struct summary_entry_key summary_entry_keys[SUMMARY_LISTS][SUMMARY_ENTRY_KEYS_MAX];

/* Indices by name, -1 when there is none. */
int summary_group_find(const char *name);
int summary_key_find(unsigned group, const char *name);
int summary_entry_key_find(enum summary_list list, const char *name);

/* The known "group.key" that it may be a misspelling of, NULL when none is near; the caller frees it. */
char *summary_key_nearest(const char *path);

#endif
