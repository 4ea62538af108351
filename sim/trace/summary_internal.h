/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a summary is kept: shared by summary.c, which fills it and looks things up, and summary_write.c, which writes it.
 * Internal to these two; summary_read.c fills one by the functions of summary.h.
 */
#ifndef TIERCEL_TRACE_SUMMARY_INTERNAL_H
#define TIERCEL_TRACE_SUMMARY_INTERNAL_H

#include "trace/summary.h"
#include "trace/summary_keys.h"

/* A value of one key of the table; unset until given. Of its members that of the key's type counts. */
struct summary_value {
    bool set;
    char *text;
    bool flag;
    uint64_t count;
    double number;
};

/* An entry of a list, by name, with its numbers in the order of the list's keys. */
struct summary_entry {
    char *name;
    struct summary_value value[SUMMARY_ENTRY_KEYS_MAX];
};

struct summary {
    bool group[SUMMARY_GROUPS];         /* present */
    struct summary_value *value;        /* parallel to summary_keys */
    GPtrArray *list[SUMMARY_LISTS];     /* struct summary_entry */
};

#endif
