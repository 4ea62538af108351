/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine: actors, messages and time; nothing about jobs.
 *
 * An instance lives on a communicator of the caller's. It keeps no file-scope state, returns errors and never exits,
 * so two runs can follow one another in a process, or go on at once on two halves of a communicator.
 *
 *     struct engine *e = engine_new(&config, &error);
 *     engine_set_link(e, zone_a, zone_b, spec);              links between zones, and within a node
 *     for each actor of the deck, in the deck's order:
 *         id = engine_add_actor(e, &spec);                    on every process alike
 *     if (!engine_start(e, &error) || !engine_run(e, &result, &error)) ...
 *     engine_free(e);
 *
 * Every process adds every actor, in the same order, and gets the same ids; only an actor's own process keeps a
 * state.
 *
 * Laws that this folder keeps (design, section 2): one result for every number of processes and placement (the
 * digest); integer time; an order defined by (time, class, sender, sequence); random numbers that belong to the
 * actor.
 */
#ifndef TIERCEL_ENGINE_ENGINE_H
#define TIERCEL_ENGINE_ENGINE_H

#include <mpi.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/error.h"
#include "engine/actor.h"

enum engine_clock {
    ENGINE_VIRTUAL,
    ENGINE_LIVE
};

/* What a process of the live clock does while nothing is there for it. */
enum engine_waiting {
    ENGINE_WAIT_AUTO,               /* spins where every machine has at least as many cores as processes, else yields */
    ENGINE_WAIT_SPIN,               /* looks again and again: the least latency, and a core of its own */
    ENGINE_WAIT_YIELD               /* gives its core up, and sleeps the longer the longer nothing comes */
};

enum {
    ENGINE_ZONES_MAX = 64,
    ENGINE_NO_GROUP = UINT32_MAX
};
#define ENGINE_NEVER_NS INT64_MAX
#define ENGINE_LAST_NS (INT64_C(1) << 62)       /* virtual time ends here, after 146 years: no sum of two overflows */

/* What the engine tells the run loop while it runs. All optional; all local, on the process where it happens. */
struct engine_observer {
    void *data;
    void (*count)(void *data, const struct actor *self, unsigned metric, uint64_t count);
    void (*sample)(void *data, const struct actor *self, unsigned metric, int64_t value);
    void (*record)(void *data, const struct actor *self, unsigned table, const void *row, size_t size);
    /* Each handled message, when trace level `events` asks for it. */
    void (*handled)(void *data, const struct actor *self, const struct message *m, int64_t start_ns, int64_t end_ns);
    /* On the live clock: what a handling took, or the part of it from one actor_charge to the next, with all that the
     * process did for it before it began (receiving, waking). The cost is what was charged: it labels the span. */
    void (*charged)(void *data, int64_t cost_ns, int64_t took_ns);
    /* After a window, on all processes at the same virtual time: progress, flushing. On the live clock, after a round
     * of counting; the time is then process 0's at its beginning. May be collective. `wishes` is
     * what any process wished for. */
    void (*window)(void *data, int64_t now_ns, uint64_t handled_here, unsigned wishes);
    /* On the virtual clock, at each tick that anything happened before: everything that arrives before now_ns has been
     * handled, on every process, so what is looked at here is the same for every number of them. */
    void (*tick)(void *data, int64_t now_ns);
    /* What this process wants: 0 go on, or a bit of enum engine_wish. Polled between windows; the wishes of all
     * processes are joined, and all act in the same window. */
    unsigned (*poll)(void *data);
};

enum engine_wish {
    ENGINE_WISH_STOP = 1 << 0,      /* stop at the next window */
    ENGINE_WISH_FLUSH = 1 << 1      /* window() is called with it set */
};

/* Who carries out the acts that all processes do together (actor_perform_together). */
struct engine_performer {
    void *data;
    /* Called on every process, for the same acts in the same order, between two rounds of counting; may be collective,
     * and may block. What process 0 puts into *result is told to the actor that asked. FALSE, on one process or more,
     * ends the run with *error. NULL: there are no such acts. */
    gboolean (*together)(void *data, uint32_t act, struct bytes *result, GError **error);
    /* Carries out a write (actor_perform_write) at once, on the process of the actor, and says which message then ends
     * the act. FALSE ends the run with *error. NULL: writes are messages to the mount, as on the virtual clock. */
    gboolean (*write)(void *data, const void *request, size_t size, uint16_t *kind, uint64_t *word, GError **error);
    bool awake;                     /* this process serves others by MPI meanwhile, so it must not sleep */
};

struct engine_config {
    MPI_Comm comm;                  /* duplicated; the caller keeps its own */
    enum engine_clock clock;
    uint64_t seed;
    int64_t tick_ns;                /* the end of the run is tested at its multiples; above 0, at most half of
                                     * ENGINE_LAST_NS */
    int64_t stop_after_ns;          /* a run is told to stop then; ENGINE_NEVER_NS: never (before ENGINE_LAST_NS) */
    int64_t move_ns;                /* cost of a message set aside during a call, on the virtual clock */
    bool explicit_inbox;            /* no arrival shortcut for any actor (tests) */
    enum engine_waiting waiting;    /* of the live clock */
    bool spread_always;             /* never retreat to fewer processes */
    struct engine_observer observer;
    struct engine_performer performer;
};

struct engine_link {
    int64_t latency_ns;             /* 1 or above, at most a quarter of ENGINE_LAST_NS */
    uint64_t bytes_per_s;           /* 0: no limit */
    uint32_t header_bytes;          /* added to every message's payload */
};

struct engine_actor {
    const struct role *role;
    const void *setup;              /* handed to the role's init; outlives the engine */
    uint32_t node;                  /* simulated node */
    uint32_t process;               /* rank in the communicator that plays it */
    uint32_t thread_group;          /* actors with the same number share one thread; ENGINE_NO_GROUP: one of its own */
    uint32_t cpu_group;             /* actors with the same number share cores; ENGINE_NO_GROUP: a core of its own */
    uint32_t cpu_cores;             /* how many cores the group has (0 counts as 1); alike for all of the group */
    uint8_t zone;                   /* below ENGINE_ZONES_MAX; with the node, chooses the link */
};

enum engine_end {
    ENGINE_ENDED,                   /* nothing pending, nothing held */
    ENGINE_STOPPED,                 /* stop_after_ns reached, or a wish */
    ENGINE_RETREAT                  /* too little work per window for this many processes: build it again on fewer */
};

struct engine_result {              /* the same on all processes */
    enum engine_end end;
    int64_t end_ns;                 /* virtual time at the end */
    uint64_t digest[2];             /* low, high */
    uint64_t handled;               /* messages */
    uint64_t windows;
    uint64_t remote_messages;       /* between processes */
    uint64_t pending;               /* foreground messages not handled at the end (0 after ENGINE_ENDED) */
    uint64_t pending_background;
    uint64_t sent;                  /* sent = handled + pending + pending_background */
    int64_t held;
    uint32_t active_processes;
    enum engine_waiting waiting;    /* on the live clock: which one it was; else ENGINE_WAIT_AUTO */
};

/* Sums over the actors of one role, over all processes. */
struct engine_role_totals {
    uint64_t actors;
    uint64_t handled;
    int64_t busy_ns;
    int64_t blocked_ns;
    int64_t wait_ns;                /* from arrival to the start of handling */
};

/* Collective over config->comm. NULL and *error when the configuration cannot be used. */
struct engine *engine_new(const struct engine_config *config, GError **error);
void engine_free(struct engine *e);

/* The link from zone a to zone b between different nodes; local ones, between actors of one node. Where no link was
 * set no message may go. Local calls, alike on every process, before engine_start. */
void engine_set_link(struct engine *e, uint8_t from_zone, uint8_t to_zone, struct engine_link link);
void engine_set_local_link(struct engine *e, struct engine_link link);

/* Local, alike on every process. Ids count from 0 in the order of the calls. */
uint32_t engine_add_actor(struct engine *e, const struct engine_actor *spec);

/* Checks thread groups, links and declared calls (a cycle of calls, or a call inside one thread group, is refused by
 * name), then initialises the local actors. Collective; all processes return the same. */
gboolean engine_start(struct engine *e, GError **error);

/* Runs to the end. Collective; all processes return the same. On failure nothing in *result is valid. */
gboolean engine_run(struct engine *e, struct engine_result *result, GError **error);

/* After engine_run; collective. One entry per distinct role in the order in which roles first appeared; *count of
 * them, and *roles names them. The caller frees both arrays with g_free. */
struct engine_role_totals *engine_role_totals(struct engine *e, const struct role ***roles, unsigned *count);

/* Visits this process's thread groups, each by its first actor: how long until now_ns it was busy, and blocked in
 * calls. now_ns is that of an observer's tick, or the end of the run. Local. */
typedef void engine_thread_fn(void *data, uint32_t first_actor, int64_t busy_ns, int64_t blocked_ns);
void engine_each_thread(const struct engine *e, int64_t now_ns, engine_thread_fn *visit, void *data);

/* Bytes of engine memory that local actors and pending messages take; for check and bytes_per_actor. Local. */
size_t engine_memory_bytes(const struct engine *e);

/* Local: looking at actors after a run (tests, balances). NULL when the actor is another process's. */
struct actor *engine_actor(const struct engine *e, uint32_t id);
const struct role *actor_role(const struct actor *self);

#endif
