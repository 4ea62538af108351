/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The texts that the job side keeps in the key-value store, in the form and length that Flux gives them: whether a
 * value stays in its directory or becomes a blob depends on its length.
 *
 *     event log entries   Flux RFC 18: {"timestamp":1583400000.123456,"name":"init"}, a line each
 *     R                   the resources of a job, version 1: rank and cores of each node
 *     J                   a jobspec as its user signed it, with the mechanism "none" (Flux RFC 15)
 *
 * All functions are local. Texts are appended to a GString of the caller's.
 */
#ifndef TIERCEL_RANKS_JOB_TEXT_H
#define TIERCEL_RANKS_JOB_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "sched/resource.h"

/* One entry with its newline. `wall_ns` is the wall-clock time since 1970, 0 or above, shown to the microsecond.
 * `context` is the text of a JSON object, or NULL: none. */
void job_text_event(GString *text, int64_t wall_ns, const char *name, const char *context);

/* R of an allocation: {"version":1,"execution":{"R_lite":[{"rank":"3","children":{"core":"0-1"}}]}}. */
void job_text_resources(GString *text, const struct allocation *allocation);

/* Reads that form back; NULL when it is not such a text. The caller frees it with allocation_free. */
struct allocation *job_text_resources_parse(const char *text, size_t size);

/* J of a jobspec: base64 of header and jobspec, and the name of the mechanism. */
void job_text_signed(GString *text, uint32_t user, const char *jobspec, size_t size);

#endif
