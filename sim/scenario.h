/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scenario: the actors that a deck asks for, and what their figures mean.
 *
 * The run loop knows engines, traces and summaries; a scenario knows one kind of simulated system. It is made once, and
 * can fill engines as often as needed (a run that retreats to fewer processes is built again):
 *
 *     struct scenario *scenario = scenario_new(deck, share);       complains to the deck about what cannot be built
 *     scenario_populate(scenario, engine, processes);              links and actors, alike on every process
 *     ... engine_run ...
 *     scenario_summarise(scenario, &run, summary, balances);       process 0
 *     scenario_headline(scenario, summary, stdout);                process 0
 *     scenario_details(scenario, summary, stdout);                 process 0
 *     scenario_free(scenario);
 *
 * To add a kind of system: a file scenario_KIND.c with one struct scenario_kind, its row in scenario.c, its keys in
 * deck_keys.c. What several kinds need alike is in scenario_parts.h.
 *
 * Placement. Each actor has a process; nothing that is simulated depends on which (design, law 1). placement = node
 * gives each process a block of neighbouring nodes. placement = role gives each process one class of roles: with fewer
 * processes than classes they share, with more a class is split by node. Process 0 plays the central actors always.
 * On the live clock classes do not share, so too few processes are refused.
 */
#ifndef TIERCEL_SCENARIO_H
#define TIERCEL_SCENARIO_H

#include <stdint.h>
#include <stdio.h>

#include "deck.h"
#include "engine/engine.h"
#include "share.h"
#include "trace/collector.h"
#include "trace/summary.h"
#include "trace/table.h"

struct scenario;

/* Where and what an actor is. */
struct scenario_place {
    const struct role *role;
    uint32_t node;
    uint32_t process;
};

/* A finished run, as a scenario looks at it, on process 0. */
struct scenario_run {
    const struct engine_result *result;
    const struct collector *figures;        /* merged over the processes */
    const struct role **roles;              /* that occur, and the engine's sums over the actors of each */
    const struct engine_role_totals *totals;
    unsigned role_count;
};

/* Two counts that must be equal (design, law 5). */
struct scenario_balance {
    const char *name;                       /* as in the summary: "jobs" */
    const char *left_text;                  /* what is counted, for people: "submitted" */
    const char *right_text;
    uint64_t left;
    uint64_t right;
};

/* Something that jobs hold while other parts work for them: core slots, a thread that waits for an answer. */
struct scenario_pool {
    const char *name;                       /* as in the summary's limits: "slots" */
    double capacity;                        /* how many may be held at once */
    double held_s;                          /* by one job, as it was */
    double least_s;                         /* by one job, if it never waited behind another */
    const char *role;                       /* the role that works during part of least_s, and how long; NULL: none */
    double role_s;
};

/* Counts of one metric, out of a known total: the progress lines show them. */
struct scenario_milestone {
    const struct role *role;
    unsigned metric;
    uint64_t total;                         /* UINT64_MAX: unknown */
    const char *what;                       /* "jobs done" */
};

/* What a run will need, before it begins: figures for `check`, good to a fifth or so. NAN: not known. */
struct scenario_estimate {
    double events;                          /* handled messages */
    double pending;                         /* messages under way at a time, at most */
    double actor_bytes;                     /* what roles keep besides their state structs, all actors together */
    double span_ns;                         /* virtual time */
    int64_t latency_ns;                     /* the shortest between two processes; 0: nobody sends to another */
};

/* What a kind of system implements. All but `new` and `free` may rely on a deck without problems. */
struct scenario_kind {
    const char *name;                       /* as [system] kind has it */

    /* The kind's own state. Checks what only it can, and complains to the deck. Collective. */
    void *(*new)(struct deck *deck, struct share *share);
    void (*free)(void *data);

    uint32_t (*actors)(const void *data);
    void (*place)(const void *data, uint32_t actor, uint32_t processes, struct scenario_place *place);
    void (*populate)(const void *data, struct engine *e, uint32_t processes);

    /* All roles that occur, ended by NULL. */
    const struct role *const *(*roles)(const void *data);
    const struct table *(*tables)(const void *data, unsigned *count);
    /* Rows that a run will make in each table; UINT64_MAX when that cannot be known. */
    uint64_t (*rows)(const void *data);
    /* Counted on process 0. */
    struct scenario_milestone (*milestone)(const void *data);

    /* The least number of processes that can play it on the live clock, and in `why` for people what needs them; 0:
     * none can, and why not. */
    uint32_t (*live_processes)(const void *data, const char **why);
    /* On the live clock: carries out an act of all processes (actor_perform_together); `folder` is the run's, or NULL.
     * Collective over `comm`. Optional: without it the roles ask for none. */
    gboolean (*perform)(const void *data, MPI_Comm comm, const char *folder, uint32_t act, struct bytes *result,
                        GError **error);
    /* The file that jobs write, which on the live clock is a real one; NULL when they write none. Optional. */
    const struct job_file *(*file)(const void *data);
    /* Instead of playing the deck with labels for its costs (calibrate.h): measures, and appends what is found as a
     * cost profile, behind comments. Collective over `comm`. Optional. */
    gboolean (*calibrate)(const void *data, MPI_Comm comm, GString *text, GError **error);
    /* From the deck alone, at once. Optional: without it nothing is known. */
    void (*estimate)(const void *data, struct scenario_estimate *estimate);

    /* What `check` tells besides, as lines that begin with '#'. Optional. */
    void (*describe)(const void *data, FILE *out);

    /* Adds the kind's groups to the summary, and its balances (struct scenario_balance) to the array. */
    void (*summarise)(const void *data, const struct scenario_run *run, struct summary *summary, GArray *balances);
    /* Adds the pools that may limit the rate (struct scenario_pool) to the array. Optional. */
    void (*pools)(const void *data, const struct scenario_run *run, GArray *pools);
    /* From the summary: what people want to see first, and the kind's own counts. */
    void (*headline)(const void *data, const struct summary *summary, FILE *out);
    void (*details)(const void *data, const struct summary *summary, FILE *out);
};

/* Never NULL; with a deck that has problems it can only be freed. Collective. */
struct scenario *scenario_new(struct deck *deck, struct share *share);
void scenario_free(struct scenario *scenario);

/* Ids count from 0 in the order of the actors. All local. */
uint32_t scenario_actors(const struct scenario *scenario);
void scenario_place(const struct scenario *scenario, uint32_t actor, uint32_t processes, struct scenario_place *place);
void scenario_populate(const struct scenario *scenario, struct engine *e, uint32_t processes);
const struct role *const *scenario_roles(const struct scenario *scenario);
const struct table *scenario_tables(const struct scenario *scenario, unsigned *count);
uint64_t scenario_rows(const struct scenario *scenario);
struct scenario_milestone scenario_milestone(const struct scenario *scenario);
void scenario_describe(const struct scenario *scenario, FILE *out);
uint32_t scenario_live_processes(const struct scenario *scenario, const char **why);

/* An act of all processes; FALSE with *error on those where it failed. Collective. */
gboolean scenario_perform(const struct scenario *scenario, MPI_Comm comm, const char *folder, uint32_t act,
                          struct bytes *result, GError **error);
bool scenario_performs(const struct scenario *scenario);

/* What `begin`, `write` and `end` do; nothing, and TRUE, for kinds and decks that write no file. */
gboolean scenario_begin(const struct scenario *scenario, MPI_Comm comm, const char *folder, bool *awake,
                        GError **error);
bool scenario_writes(const struct scenario *scenario);
gboolean scenario_write(const struct scenario *scenario, const void *request, size_t size, uint16_t *kind,
                        uint64_t *word, GError **error);
gboolean scenario_end(const struct scenario *scenario, bool good, GError **error);

/* Measures in its own way what `calibrate` asks for, where it has one. Collective. */
bool scenario_calibrates(const struct scenario *scenario);
gboolean scenario_calibrate(const struct scenario *scenario, MPI_Comm comm, GString *text, GError **error);

/* Complains to a deck of the live clock that so many processes cannot play. Nothing for the virtual clock. */
void scenario_check_live(const struct scenario *scenario, struct deck *deck, uint32_t processes);
void scenario_estimate(const struct scenario *scenario, struct scenario_estimate *estimate);
void scenario_summarise(const struct scenario *scenario, const struct scenario_run *run, struct summary *summary,
                        GArray *balances);
void scenario_pools(const struct scenario *scenario, const struct scenario_run *run, GArray *pools);
void scenario_headline(const struct scenario *scenario, const struct summary *summary, FILE *out);
void scenario_details(const struct scenario *scenario, const struct summary *summary, FILE *out);

#endif
