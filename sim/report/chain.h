/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The critical path of a job, from the messages of a trace of level `events`.
 *
 *     struct chain *c = chain_new(reader, &names, from_ns, to_ns, latency, local_latency, &error);
 *     chain_walk(c, actor, parts);            parts: one for each role of names
 *     chain_free(c);
 *
 * Walked backwards: at time t an actor did something for the job. It had been busy since the start of that handling;
 * the handled message had waited for it since its arrival; it was on its way since its departure, a link's latency
 * before; its sender did something then. And so on, until the job was submitted. So every moment of the job's time
 * belongs to one part: a role busy, a role waited for (busy with other things, or blocked), a role's own timer or
 * act, or the way.
 *
 * A trace does not say in which handling a message was sent: it is the last one of the sender that began before the
 * departure. Of a timer, which departs when it rings, it is the one that sent the message with the next number. Links
 * of limited bandwidth take longer than their latency, so what they took beyond counts for the sender. Local.
 */
#ifndef TIERCEL_REPORT_CHAIN_H
#define TIERCEL_REPORT_CHAIN_H

#include "trace/reader.h"

enum { CHAIN_ROWS_MOST = 8000000 };     /* messages within a job's time; 40 bytes each */

struct chain;

struct chain_part {             /* of a role; nanoseconds */
    int64_t busy_ns;
    int64_t waited_ns;
    int64_t timer_ns;
    uint64_t handlings;
};

/* Reads the messages that arrived in the span. NULL without *error when there are none or too many of them. */
struct chain *chain_new(struct reader *reader, const struct reader_names *names, int64_t from_ns, int64_t to_ns,
                        int64_t latency_ns, int64_t local_latency_ns, GError **error);
void chain_free(struct chain *c);

/* From the actor at to_ns back to from_ns; what was on the way in all is returned. With the parts it adds up to the
 * span. */
int64_t chain_walk(const struct chain *c, uint32_t actor, struct chain_part *parts);

#endif
