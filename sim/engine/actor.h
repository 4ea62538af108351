/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a role may do: the engine as a handler sees it.
 *
 * An actor is one simulated, single-threaded server. The engine gives its role's handler one message at a time; the
 * handler reads and changes the actor's state, charges time, sends, and returns. It never waits: an actor that must
 * wait says so (actor_call) and returns, and is a state machine from then on. A handler cannot tell which clock it
 * runs on, and may not look at anything but its state, its setup and the message.
 *
 *     static void dispatcher_handle(struct actor *self, const struct message *m)
 *     {
 *         struct dispatcher *d = actor_state(self);
 *         actor_charge(self, d->setup->cost_dispatch_ns);
 *         actor_send(self, d->executor, DISPATCHER_TASK, task);
 *     }
 *
 * Time (design, section 3). actor_now() is the actor's own clock: when the handling started plus what was charged
 * since. A message that arrives while the actor is busy waits. Actors of one thread group share one thread: one busy
 * time, one order, one blocking.
 *
 * Every function here is local, and cannot fail: a call with an argument out of its range is a mistake in a role and
 * ends the run with the role's name (engine_run returns the error).
 */
#ifndef TIERCEL_ENGINE_ACTOR_H
#define TIERCEL_ENGINE_ACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/quantity.h"
#include "engine/message.h"

struct actor;
struct engine;

/* How the engine treats a figure that a role reports; the role's table of metrics says which. */
enum metric_type {
    METRIC_COUNTER,     /* actor_count: a total over the run */
    METRIC_SERIES,      /* actor_count: a total, and a curve over time in bins */
    METRIC_SAMPLE,      /* actor_sample: mean, quantiles, histogram */
    METRIC_STAGE        /* the same, one stage of a job's path; value in nanoseconds */
};

struct metric {
    const char *name;   /* [a-z0-9_]+, unique within the role; a table ends with NULL */
    const char *unit;   /* "1" for counts, "ns", "bytes" */
    const char *text;   /* one line for people */
    enum metric_type type;
};

struct kind_name {
    uint16_t kind;
    const char *name;   /* [a-z0-9_-]+; a table ends with NULL */
    const char *text;
};

/*
 * A role. One constant per file of sim/ranks/, listed in sim/ranks/roles.c. The kinds that it serves, and its metrics,
 * stand in tables that feed the summary, the trace, the report and the manual.
 */
struct role {
    const char *name;               /* as in output: "broker", "kvs-root" */
    const char *text;               /* one line for people */
    size_t state_size;              /* bytes, a multiple of 8; zeroed before init, aligned to 8 */
    unsigned streams;               /* how many random streams actor_draw may name, at most 256 */
    const struct kind_name *kinds;  /* served or sent by this role */
    const struct metric *metrics;   /* NULL, or ended by a NULL name */
    const char *const *calls;       /* names of the roles it may actor_call, ended by NULL; NULL when none */

    /* Sets up the state before the first message; `setup` is what the scenario passed, shared and constant. May send
     * and start timers (time 0), may not charge or call. Optional. */
    void (*init)(struct actor *self, const void *setup);
    void (*handle)(struct actor *self, const struct message *m);

    /* Optional hook, run strictly in turn with messages: at most one arrived message, then one turn; turns alone only
     * while no message has arrived and turn_ready says that there is work; none while blocked. */
    void (*turn)(struct actor *self);
    bool (*turn_ready)(const struct actor *self);

    /* Writes all that the actor knows in canonical form: same knowledge, same bytes. Goes into the digest. Required. */
    void (*save)(const struct actor *self, struct bytes *sink);
    /* Frees what the state owns (not the state). Optional. */
    void (*release)(struct actor *self);
};

/* --- the actor itself --- */

void *actor_state(const struct actor *self);
const void *actor_setup(const struct actor *self);
uint32_t actor_id(const struct actor *self);
uint32_t actor_node(const struct actor *self);
int64_t actor_now(const struct actor *self);

/* --- time --- */

/* Busy for `cost_ns` more, 0 or above. No span may reach beyond the end of virtual time, ENGINE_LAST_NS (146 years). */
void actor_charge(struct actor *self, int64_t cost_ns);

/* The same for a span that is no work of the role's own code, as a task's duration: the live clock, on which a charge
 * costs nothing, lets it pass. What is sent afterwards leaves at its end, and the actor is busy until then. */
void actor_spend(struct actor *self, int64_t duration_ns);

/* --- messages ---
 *
 * Departure = max(now, link free), arrival = departure + size/bandwidth + latency, at least 1 ns after now; what is
 * sent later over the same link never arrives earlier. The size is the link's fixed header plus the payload's bytes.
 * actor_send_payload takes over one reference of the payload. */

void actor_send(struct actor *self, uint32_t to, uint16_t kind, uint64_t word);
void actor_send_payload(struct actor *self, uint32_t to, uint16_t kind, struct payload *payload);

/* As actor_send, for a message that stands for `size_bytes` of data on the wire which it does not carry. */
void actor_send_sized(struct actor *self, uint32_t to, uint16_t kind, uint64_t word, uint64_t size_bytes);

/* As actor_send, for a message that leaves `delay_ns` from now (0 or above): a decision taken early. Links of limited
 * bandwidth refuse it, since what leaves between could not be known. */
void actor_send_later(struct actor *self, uint32_t to, uint16_t kind, uint64_t word, int64_t delay_ns);

/* A payload of the engine's pool, with one reference; the bytes, at most PAYLOAD_MOST_BYTES, are copied and hashed. */
struct payload *actor_payload(struct actor *self, const void *bytes, size_t size);
void actor_payload_unref(struct actor *self, struct payload *payload);

/* A message to itself after `delay_ns` (raised to 1). A background timer does not keep the run alive. */
void actor_timer(struct actor *self, int64_t delay_ns, uint16_t kind, uint64_t word);
void actor_timer_background(struct actor *self, int64_t delay_ns, uint16_t kind, uint64_t word);

/* A message to itself at the end of the present instant: handled after everything else that arrives at actor_now(). */
void actor_send_last(struct actor *self, uint16_t kind, uint64_t word);

/*
 * A blocking request: must be the handler's last act. The thread group is blocked until `to`, one of the roles that
 * this role declares in `calls`, answers with actor_reply. The reply is the next message that the handler sees. All
 * else, timers included, is set aside and handled afterwards in order; each message set aside before the reply costs
 * one move (engine_config.move_ns): the reply is handled at max(its arrival, call + moves x cost).
 */
void actor_call(struct actor *self, uint32_t to, uint16_t kind, uint64_t word);
void actor_call_payload(struct actor *self, uint32_t to, uint16_t kind, struct payload *payload);

/* Answers a request, now or later, once. Ends the requester's call if it was one. */
void actor_reply(struct actor *self, struct request request, uint16_t kind, uint64_t word);
void actor_reply_payload(struct actor *self, struct request request, uint16_t kind, struct payload *payload);

/* --- what a real system does outside messages --- */

enum act_type {
    ACT_WAIT,       /* a job runs for its duration: the virtual clock lets the time pass, the live clock waits */
    ACT_WORK        /* a helper process works for a modelled time (a validator, a launch) */
};

struct act {
    enum act_type type;
    int64_t duration_ns;    /* 0 or above */
};

/* Starts the act and returns; its completion is a message (kind, word) from the actor to itself. */
void actor_perform(struct actor *self, struct act act, uint16_t kind, uint64_t word);

/* A block of a shared file is written: on the virtual clock by asking the mount of the node, on the live one by writing
 * it, where somebody carries that out (engine_performer). Takes over one reference
 * of `write`, which says what, and which message then ends the act (ranks/mount.h). */
void actor_perform_write(struct actor *self, uint32_t mount, uint16_t request, struct payload *write);

/* What all processes do together, such as writing a file by collective I/O: on the live clock alone, and asked for on
 * process 0 alone, one at a time. Acts are begun in the order in which they are asked for, by all processes between two
 * rounds of messages, so that no two can cross; whatever else a process plays waits meanwhile. `act` is the caller's
 * number for it (engine_performer); its completion is a message to the actor with what it came to as payload. */
void actor_perform_together(struct actor *self, uint32_t act, uint16_t kind);

/* --- random numbers (law 4) --- */

/* The next 64 random bits of one of the actor's streams: the same for every process count. engine/random.h turns
 * them into distributions. */
uint64_t actor_draw(struct actor *self, unsigned stream);

/* A duration of the given distribution, 0 or above; a constant one takes nothing from the stream. */
int64_t actor_draw_duration(struct actor *self, unsigned stream, const struct distribution *d);

/* --- promises ---
 *
 * "Nothing that I receive from now on changes what my thread group sends before `time_ns`": whatever leaves before then
 * has been sent already, by actor_send_later. Lets the virtual clock's windows grow beyond the links' latency. It costs
 * nothing to keep and cannot be taken back; an earlier promise than the last changes nothing. A message that leaves
 * before the promised time ends the run with the actor's name. Timers to oneself are not sends. */
void actor_promise(struct actor *self, int64_t time_ns);

/* --- keeping the run alive --- */

/* Adds +1 or -1 to the work that keeps the run alive though no message shows it. Must be back at 0 at a normal end. */
void actor_hold(struct actor *self, int change);

/* --- reporting ---
 * Figures for the summary and the trace; they cost the simulated actor nothing and are not in the digest. `metric` is
 * the index in the role's table. */

void actor_count(struct actor *self, unsigned metric, uint64_t count);
void actor_sample(struct actor *self, unsigned metric, int64_t value);

/* A row of a table of the trace (a finished job, say): `size` canonical bytes that the table's writer knows how to
 * read. `table` is the scenario's number for it. */
void actor_record(struct actor *self, unsigned table, const void *row, size_t size);

/* A mistake in a role, or a model that cannot go on: the run ends with this text and the actor's name, exit 1. */
void actor_fail(struct actor *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
