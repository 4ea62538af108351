/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scenes: a few actors that follow a table each, and the exact text of what happens, worked out by hand.
 *
 *     static const struct scene_step worker[] = {
 *         on_charge(TASK, 100),                   a task takes 100 ns,
 *         on_send(TASK, 1, DONE),                 then a message to actor 1
 *         SCENE_END,
 *     };
 *     static const struct scene_actor actors[] = {
 *         { "worker", &scene_plain, worker },     actor 0, alone on node 0
 *         { "source", &scene_plain, source, .node = 1 },
 *         { NULL },
 *     };
 *     static const struct scene scene = { .sentence = "...", .actors = actors, .log = "..." };
 *     failures += scene_check(&scene);
 *
 * scene_check is collective over the world. It plays the scene alone and on all processes, placed in two ways, each
 * time with the arrival shortcut and with explicit inboxes: the log must be the expected one every time, and all
 * digests the same.
 *
 * The log has a line for each handled message, in the order of (start, actor),
 *     ARRIVAL START..END ACTOR KIND
 * a line "TIME ACTOR turn" for each turn, and a last line
 *     end TIME: ended, sent N = handled N + pending N + background N, held N
 * With `totals` set, a line for each role comes before that.
 */
#ifndef TIERCEL_TESTS_SCENE_H
#define TIERCEL_TESTS_SCENE_H

#include "engine/engine.h"

/* START is the initialisation; the others are kinds of messages and mean nothing by themselves. */
enum scene_kind { START, GO, TASK, NEXT, ASK, ASK2, ANSWER, TICK, LAST, DONE, SCENE_KINDS };

enum scene_verb {
    VERB_NONE,          /* ends a table */
    VERB_CHARGE,
    VERB_SEND,
    VERB_SEND_SIZED,
    VERB_SEND_LATER,    /* leaves in `value` ns */
    VERB_SEND_PAYLOAD,  /* `value` bytes, filled with the kind */
    VERB_TIMER,
    VERB_BACKGROUND,
    VERB_LAST,
    VERB_CALL,
    VERB_REPLY,         /* to the message that is being handled */
    VERB_KEEP,          /* its request, to be answered later */
    VERB_ANSWER,        /* the oldest kept request */
    VERB_HOLD,
    VERB_PROMISE,       /* nothing new before the time `value` */
    VERB_PERFORM,
    VERB_WORK,          /* adds to the work that turns do, one unit a turn */
    VERB_FAIL
};

struct scene_step {
    uint16_t on;        /* the kind that this is done for */
    uint16_t kind;
    enum scene_verb verb;
    uint32_t to;
    int64_t value;
};

#define SCENE_END { .verb = VERB_NONE }
#define on_charge(on, ns) { (on), 0, VERB_CHARGE, 0, (ns) }
#define on_send(on, to, kind) { (on), (kind), VERB_SEND, (to), 0 }
#define on_send_sized(on, to, kind, bytes) { (on), (kind), VERB_SEND_SIZED, (to), (bytes) }
#define on_send_later(on, to, kind, ns) { (on), (kind), VERB_SEND_LATER, (to), (ns) }
#define on_send_payload(on, to, kind, bytes) { (on), (kind), VERB_SEND_PAYLOAD, (to), (bytes) }
#define on_timer(on, ns, kind) { (on), (kind), VERB_TIMER, 0, (ns) }
#define on_background(on, ns, kind) { (on), (kind), VERB_BACKGROUND, 0, (ns) }
#define on_last(on, kind) { (on), (kind), VERB_LAST, 0, 0 }
#define on_call(on, to, kind) { (on), (kind), VERB_CALL, (to), 0 }
#define on_reply(on, kind) { (on), (kind), VERB_REPLY, 0, 0 }
#define on_keep(on) { (on), 0, VERB_KEEP, 0, 0 }
#define on_answer(on, kind) { (on), (kind), VERB_ANSWER, 0, 0 }
#define on_hold(on, change) { (on), 0, VERB_HOLD, 0, (change) }
#define on_promise(on, time_ns) { (on), 0, VERB_PROMISE, 0, (time_ns) }
#define on_perform(on, ns, kind) { (on), (kind), VERB_PERFORM, 0, (ns) }
#define on_work(on, units) { (on), 0, VERB_WORK, 0, (units) }
#define on_fail(on) { (on), 0, VERB_FAIL, 0, 0 }

/* Roles that follow a table. Callers may call servers; middle ones may too, and are called by callers. */
extern const struct role scene_plain, scene_server, scene_caller, scene_hooked, scene_hooked_caller;

struct scene_actor {
    const char *name;
    const struct role *role;
    const struct scene_step *steps;
    uint32_t node;
    uint8_t zone;
    uint32_t group;     /* 0: a thread of its own; actors with the same number share one */
    int64_t turn_ns;    /* what a turn charges */
};

struct scene {
    const char *sentence;
    const struct scene_actor *actors;   /* ended by one without a name */
    /* Where bytes_per_s and latency_ns are 0: a latency of 10 ns and no limit. A latency of -1: there is no link. */
    struct engine_link link[2][2];
    struct engine_link local;
    int64_t tick_ns;                    /* 0: 10,000 ns */
    int64_t stop_after_ns;              /* 0: never */
    int64_t move_ns;
    uint64_t seed;
    bool totals;
    const char *log;                    /* what must happen; all NULL: whatever it is, every time the same */
    const char *refusal;                /* or the error that engine_start must give, */
    const char *failure;                /* or engine_run */
};

/* How one scene is played. */
struct scene_play {
    MPI_Comm comm;
    uint32_t placement;                 /* thread number t is played by process (t * (placement + 1) + placement) % n */
    bool explicit_inbox;
};

/* What came out: the same on all processes of the communicator. */
struct scene_outcome {
    char *log;                          /* NULL when it was refused or failed; g_free */
    char *error;                        /* else NULL; g_free */
    bool started;
    struct engine_result result;
};

struct scene_outcome scene_run(const struct scene *scene, struct scene_play play);
void scene_outcome_release(struct scene_outcome *outcome);

/* The number of things that were not as expected, the same on all processes; process 0 prints them. */
unsigned scene_check(const struct scene *scene);

/* Counts and prints a condition that does not hold anywhere in the world; collective. */
unsigned scene_expect(bool holds, const char *sentence);

#endif
