/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenes.h"

/* --- when the reply is handled --- */

/* The call leaves at 100 + 7, arrives 117; the server takes 30; the reply arrives 157. Nothing to set aside: blocked
 * 50 ns. A move would cost 1000. */
static const struct scene_step idle_caller[] = {
    on_timer(START, 100, GO), on_charge(GO, 7), on_call(GO, 1, ASK), on_charge(ANSWER, 2), SCENE_END,
};
static const struct scene_step idle_server[] = { on_charge(ASK, 30), on_reply(ASK, ANSWER), SCENE_END };
static const struct scene_actor idle_actors[] = {
    { "caller", &scene_caller, idle_caller, .node = 0 }, { "server", &scene_server, idle_server, .node = 1 }, { NULL },
};
static const struct scene idle = {
    .sentence = "a call blocks until its reply arrives",
    .actors = idle_actors, .move_ns = 1000, .totals = true,
    .log = "100 100..107 caller go\n"
           "117 117..147 server ask\n"
           "157 157..159 caller answer\n"
           "caller: 1 actors, handled 2, busy 9, blocked 50, wait 0\n"
           "server: 1 actors, handled 1, busy 30, blocked 0, wait 0\n"
           "end 10000: ended, sent 3 = handled 3 + pending 0 + background 0, held 0\n",
};

/* The second reply to one call comes when no call is open. */
static const struct scene_step doubled_server[] = {
    on_charge(ASK, 30), on_reply(ASK, ANSWER), on_reply(ASK, DONE), SCENE_END
};
static const struct scene_actor doubled_actors[] = {
    { "caller", &scene_caller, idle_caller, .node = 0 }, { "server", &scene_server, doubled_server, .node = 1 },
    { NULL },
};
static const struct scene doubled = {
    .sentence = "a second reply to a call is refused by name",
    .actors = doubled_actors,
    .failure = "caller (actor 0 on node 0, at 0.000000157 s): a reply of actor 1, though no call is open; expected one "
               "reply to a call",
};

/*
 * Called at 110 (100 + 10), the server takes 120..125, the reply arrives 135. Before it came messages at 105 (while the
 * caller was busy), 112 and 130 and the caller's timer at 125: four moves of 20 ns. Return = max(135, 110 + 80) = 190.
 * The message of 140 came after the reply and costs no move. Then all of them in order, 3 ns each, the timer 1.
 * Blocked 80; waits 55 + 86 + 82 + 72 + 68 + 61.
 */
static const struct scene_step backlog_caller[] = {
    on_timer(START, 100, GO), on_timer(START, 125, TICK), on_charge(GO, 10), on_call(GO, 1, ASK),
    on_charge(ANSWER, 1), on_charge(TASK, 3), on_charge(TICK, 1), SCENE_END,
};
static const struct scene_step backlog_server[] = { on_charge(ASK, 5), on_reply(ASK, ANSWER), SCENE_END };
static const struct scene_step backlog_source[] = {
    on_timer(START, 95, GO), on_timer(START, 102, GO), on_timer(START, 120, GO), on_timer(START, 130, GO),
    on_send(GO, 0, TASK), SCENE_END,
};
static const struct scene_actor backlog_actors[] = {
    { "caller", &scene_caller, backlog_caller, .node = 0 }, { "server", &scene_server, backlog_server, .node = 1 },
    { "source", &scene_plain, backlog_source, .node = 2 }, { NULL },
};
static const struct scene backlog = {
    .sentence = "a reply waits until what came before it has been set aside",
    .actors = backlog_actors, .move_ns = 20, .totals = true,
    .log = "95 95..95 source go\n"
           "100 100..110 caller go\n"
           "102 102..102 source go\n"
           "120 120..125 server ask\n"
           "120 120..120 source go\n"
           "130 130..130 source go\n"
           "135 190..191 caller answer\n"
           "105 191..194 caller task\n"
           "112 194..197 caller task\n"
           "125 197..198 caller tick\n"
           "130 198..201 caller task\n"
           "140 201..204 caller task\n"
           "caller: 1 actors, handled 7, busy 24, blocked 80, wait 424\n"
           "server: 1 actors, handled 1, busy 5, blocked 0, wait 0\n"
           "plain: 1 actors, handled 4, busy 0, blocked 0, wait 0\n"
           "end 10000: ended, sent 12 = handled 12 + pending 0 + background 0, held 0\n",
};

/* The same at 1 ns a move: 110 + 4 is over before the reply arrives, so it returns at 135. */
static const struct scene short_moves = {
    .sentence = "setting aside that is over before the reply arrives costs nothing",
    .actors = backlog_actors, .move_ns = 1,
    .log = "95 95..95 source go\n"
           "100 100..110 caller go\n"
           "102 102..102 source go\n"
           "120 120..125 server ask\n"
           "120 120..120 source go\n"
           "130 130..130 source go\n"
           "135 135..136 caller answer\n"
           "105 136..139 caller task\n"
           "112 139..142 caller task\n"
           "125 142..143 caller tick\n"
           "130 143..146 caller task\n"
           "140 146..149 caller task\n"
           "end 10000: ended, sent 12 = handled 12 + pending 0 + background 0, held 0\n",
};

/*
 * With the reply, at 130, arrive a message of a sender with a lower number than the server's and one with a higher.
 * Only the first is ordered before the reply: one move of 50 from the call at 100, so 150; two would be 200.
 */
static const struct scene_step instant_caller[] = { on_timer(START, 100, GO), on_call(GO, 2, ASK), SCENE_END };
static const struct scene_step instant_early[] = { on_timer(START, 120, GO), on_send(GO, 0, TASK), SCENE_END };
static const struct scene_step instant_server[] = { on_charge(ASK, 10), on_reply(ASK, ANSWER), SCENE_END };
static const struct scene_step instant_late[] = { on_timer(START, 120, GO), on_send(GO, 0, NEXT), SCENE_END };
static const struct scene_actor instant_actors[] = {
    { "caller", &scene_caller, instant_caller, .node = 0 }, { "early", &scene_plain, instant_early, .node = 1 },
    { "server", &scene_server, instant_server, .node = 2 }, { "late", &scene_plain, instant_late, .node = 3 }, { NULL },
};
static const struct scene instant = {
    .sentence = "of what arrives with the reply, only what is ordered before it is set aside",
    .actors = instant_actors, .move_ns = 50,
    .log = "100 100..100 caller go\n"
           "110 110..120 server ask\n"
           "120 120..120 early go\n"
           "120 120..120 late go\n"
           "130 150..150 caller answer\n"
           "130 150..150 caller task\n"
           "130 150..150 caller next\n"
           "end 10000: ended, sent 7 = handled 7 + pending 0 + background 0, held 0\n",
};

/*
 * Messages come at 105 and 106. The first call (100) sets both aside: 100 + 2 x 30 = 160, after the reply (120). The
 * handler of the reply calls again at 160; the message of 165 joins: all three are moved anew, 160 + 3 x 30 = 250.
 */
static const struct scene_step anew_caller[] = {
    on_timer(START, 100, GO), on_call(GO, 1, ASK), on_call(ANSWER, 1, ASK2), SCENE_END,
};
static const struct scene_step anew_server[] = { on_reply(ASK, ANSWER), on_reply(ASK2, DONE), SCENE_END };
static const struct scene_step anew_source[] = {
    on_timer(START, 95, GO), on_timer(START, 96, GO), on_timer(START, 155, GO), on_send(GO, 0, TASK), SCENE_END,
};
static const struct scene_actor anew_actors[] = {
    { "caller", &scene_caller, anew_caller, .node = 0 }, { "server", &scene_server, anew_server, .node = 1 },
    { "source", &scene_plain, anew_source, .node = 2 }, { NULL },
};
static const struct scene anew = {
    .sentence = "moves are counted anew at every call",
    .actors = anew_actors, .move_ns = 30,
    .log = "95 95..95 source go\n"
           "96 96..96 source go\n"
           "100 100..100 caller go\n"
           "110 110..110 server ask\n"
           "155 155..155 source go\n"
           "120 160..160 caller answer\n"
           "170 170..170 server ask2\n"
           "180 250..250 caller done\n"
           "105 250..250 caller task\n"
           "106 250..250 caller task\n"
           "165 250..250 caller task\n"
           "end 10000: ended, sent 11 = handled 11 + pending 0 + background 0, held 0\n",
};

/* --- which message is the reply --- */

/*
 * Two callers ask at 100, arriving 110 in the order of their numbers; a third actor sends a request of the same kind
 * at 0, arriving 10, and goes on. The server keeps each for 50 ns and answers the oldest: 60, then 160 twice.
 */
static const struct scene_step kept_caller[] = { on_timer(START, 100, GO), on_call(GO, 2, ASK), SCENE_END };
static const struct scene_step kept_server[] = {
    on_keep(ASK), on_timer(ASK, 50, NEXT), on_answer(NEXT, ANSWER), on_charge(NEXT, 2), SCENE_END,
};
static const struct scene_step kept_plain[] = { on_send(START, 2, ASK), on_timer(START, 65, GO), SCENE_END };
static const struct scene_actor kept_actors[] = {
    { "first", &scene_caller, kept_caller, .node = 0 }, { "second", &scene_caller, kept_caller, .node = 1 },
    { "server", &scene_server, kept_server, .node = 2 }, { "plain", &scene_plain, kept_plain, .node = 3 }, { NULL },
};
static const struct scene kept = {
    .sentence = "a server may answer later, calls and requests alike",
    .actors = kept_actors,
    .log = "10 10..10 server ask\n"
           "60 60..62 server next\n"
           "65 65..65 plain go\n"
           "70 70..70 plain answer\n"
           "100 100..100 first go\n"
           "100 100..100 second go\n"
           "110 110..110 server ask\n"
           "110 110..110 server ask\n"
           "160 160..162 server next\n"
           "160 162..164 server next\n"
           "170 170..170 first answer\n"
           "172 172..172 second answer\n"
           "end 10000: ended, sent 12 = handled 12 + pending 0 + background 0, held 0\n",
};

/*
 * While blocked on the server the caller gets from it the answer to an earlier plain request (at 120) and a notice (at
 * 125). Neither is the reply (at 165): two moves of 30 from 105 are over before that, then both in order.
 */
static const struct scene_step other_caller[] = {
    on_send(START, 1, ASK), on_timer(START, 105, GO), on_call(GO, 1, ASK2), SCENE_END,
};
static const struct scene_step other_server[] = {
    on_keep(ASK), on_timer(ASK, 100, NEXT), on_answer(NEXT, DONE), on_send(ASK2, 0, TASK), on_charge(ASK2, 40),
    on_reply(ASK2, ANSWER), SCENE_END,
};
static const struct scene_actor other_actors[] = {
    { "caller", &scene_caller, other_caller, .node = 0 }, { "server", &scene_server, other_server, .node = 1 },
    { NULL },
};
static const struct scene other = {
    .sentence = "other messages of the callee are not the reply",
    .actors = other_actors, .move_ns = 30,
    .log = "10 10..10 server ask\n"
           "105 105..105 caller go\n"
           "110 110..110 server next\n"
           "115 115..155 server ask2\n"
           "165 165..165 caller answer\n"
           "120 165..165 caller done\n"
           "125 165..165 caller task\n"
           "end 10000: ended, sent 7 = handled 7 + pending 0 + background 0, held 0\n",
};

/*
 * The caller's mate in its thread group gets a message at 105 and its timer rings at 107: set aside (two moves of 1 are
 * over at 102), handled when the caller is through with the reply (120..124).
 */
static const struct scene_step mates_caller[] = {
    on_timer(START, 100, GO), on_call(GO, 2, ASK), on_charge(ANSWER, 4), SCENE_END,
};
static const struct scene_step mates_mate[] = { on_timer(START, 107, TICK), on_charge(TASK, 3), SCENE_END };
static const struct scene_step mates_server[] = { on_reply(ASK, ANSWER), SCENE_END };
static const struct scene_step mates_source[] = { on_timer(START, 95, GO), on_send(GO, 1, TASK), SCENE_END };
static const struct scene_actor mates_actors[] = {
    { "caller", &scene_caller, mates_caller, .group = 1 }, { "mate", &scene_plain, mates_mate, .group = 1 },
    { "server", &scene_server, mates_server, .node = 1 }, { "source", &scene_plain, mates_source, .node = 2 }, { NULL },
};
static const struct scene mates = {
    .sentence = "a thread group blocks as a whole",
    .actors = mates_actors, .move_ns = 1,
    .log = "95 95..95 source go\n"
           "100 100..100 caller go\n"
           "110 110..110 server ask\n"
           "120 120..124 caller answer\n"
           "105 124..127 mate task\n"
           "107 127..127 mate tick\n"
           "end 10000: ended, sent 6 = handled 6 + pending 0 + background 0, held 0\n",
};

/* --- what a role may not do --- */

static const struct scene_step init_caller[] = { on_call(START, 1, ASK), SCENE_END };
static const struct scene_actor init_actors[] = {
    { "caller", &scene_caller, init_caller, .node = 7 }, { "server", &scene_server, idle_server, .node = 1 }, { NULL },
};
static const struct scene in_init = {
    .sentence = "init may not call", .actors = init_actors,
    .refusal = "caller (actor 0 on node 7, at 0.000000000 s): a call before the run has begun",
};

static const struct scene_step charging_steps[] = { on_charge(START, 5), SCENE_END };
static const struct scene_actor charging_actors[] = { { "one", &scene_plain, .steps = charging_steps }, { NULL } };
static const struct scene charge_in_init = {
    .sentence = "init may not charge", .actors = charging_actors,
    .refusal = "plain (actor 0 on node 0, at 0.000000000 s): a charge of 5 ns before the run has begun",
};

static const struct scene_step twice_caller[] = {
    on_timer(START, 100, GO), on_call(GO, 1, ASK), on_call(GO, 1, ASK2), SCENE_END,
};
static const struct scene_actor twice_actors[] = {
    { "caller", &scene_caller, twice_caller, .node = 0 }, { "server", &scene_server, idle_server, .node = 1 }, { NULL },
};
static const struct scene twice = {
    .sentence = "one handling may call once", .actors = twice_actors,
    .failure = "caller (actor 0 on node 0, at 0.000000100 s): a second call in one handling; expected one, as the last "
               "act",
};

static const struct scene_step itself_caller[] = { on_timer(START, 100, GO), on_call(GO, 0, ASK), SCENE_END };
static const struct scene_actor itself_actors[] = { { "caller", &scene_caller, itself_caller, .node = 0 }, { NULL } };
static const struct scene itself = {
    .sentence = "an actor may not call itself", .actors = itself_actors,
    .failure = "caller (actor 0 on node 0, at 0.000000100 s): a call to itself",
};

static const struct scene_step undeclared_caller[] = { on_timer(START, 100, GO), on_call(GO, 1, ASK), SCENE_END };
static const struct scene_actor undeclared_actors[] = {
    { "caller", &scene_caller, undeclared_caller, .node = 0 }, { "plain", &scene_plain, idle_server, .node = 1 },
    { NULL },
};
static const struct scene undeclared = {
    .sentence = "a role may call only whom it declares", .actors = undeclared_actors,
    .failure = "caller (actor 0 on node 0, at 0.000000100 s): a call to plain (actor 1), which it does not declare",
};

static const struct scene_step after_caller[] = {
    on_timer(START, 100, GO), on_call(GO, 1, ASK), on_charge(GO, 50), SCENE_END,
};
static const struct scene_actor after_actors[] = {
    { "caller", &scene_caller, after_caller, .node = 0 }, { "server", &scene_server, idle_server, .node = 1 }, { NULL },
};
static const struct scene charge_after = {
    .sentence = "a call is the last act of a handling", .actors = after_actors,
    .failure = "caller (actor 0 on node 0, at 0.000000150 s): a charge of 50 ns after a call; expected the call to be "
               "the last act",
};

/* --- what is refused before the run --- */

static const struct scene_actor grouped_actors[] = {
    { "caller", &scene_caller, idle_caller, .group = 7 }, { "server", &scene_server, idle_server, .group = 7 },
    { NULL },
};
static const struct scene grouped = {
    .sentence = "a call inside a thread group is refused", .actors = grouped_actors,
    .refusal = "caller calls server and both are in thread group 7; a call inside one thread group would wait for "
               "itself",
};

static const struct scene no_latency = {
    .sentence = "a latency of 0 is refused", .actors = idle_actors, .link[0][0] = { 0, 1, 0 },
    .refusal = "a hop latency of 0 ns; expected 1 ns or more (law 3: every message takes time)",
};
static const struct scene no_local_latency = {
    .sentence = "a local latency of 0 is refused", .actors = idle_actors, .local = { 0, 1, 0 },
    .refusal = "a local latency of 0 ns; expected 1 ns or more (law 3: every message takes time)",
};

static const struct scene long_latency = {
    .sentence = "a latency of more than 36 years is refused", .actors = idle_actors, .link[0][0] = { INT64_MAX, 1, 0 },
    .refusal = "a hop latency of 9223372036854775807 ns; expected at most 1152921504606846976 ns (36 years)",
};

static unsigned check_circle(void)
{
    static const char *const to_beta[] = { "beta", NULL }, *const to_gamma[] = { "server", "gamma", NULL },
                      *const to_alpha[] = { "alpha", NULL };
    struct role alpha = scene_plain, beta = scene_plain, gamma = scene_plain;
    alpha.name = "alpha", beta.name = "beta", gamma.name = "gamma";
    alpha.calls = to_beta, beta.calls = to_gamma, gamma.calls = to_alpha;
    const struct scene_actor circle[] = {
        { "s", .role = &scene_server }, { "a", .role = &alpha }, { "b", .role = &beta }, { "c", .role = &gamma },
        { NULL },
    };
    const struct scene refused = {
        .sentence = "a circle of calls is refused by name", .actors = circle,
        .refusal = "blocking calls go in a circle: alpha -> beta -> gamma -> alpha; they could wait for each other for "
                   "ever, so one of these roles must send a request instead of a call",
    };
    /* Without gamma in the deck there is no circle; nothing happens. */
    const struct scene_actor chain[] = {
        { "s", .role = &scene_server }, { "b", .role = &beta }, { "a", .role = &alpha }, { NULL },
    };
    const struct scene accepted = {
        .sentence = "a chain of calls is no circle", .actors = chain,
        .log = "end 10000: ended, sent 0 = handled 0 + pending 0 + background 0, held 0\n",
    };
    const struct scene_actor alone[] = { { "a", .role = &alpha }, { NULL } };
    const struct scene own = {
        .sentence = "a role that calls its own kind is refused", .actors = alone,
        .refusal = "blocking calls go in a circle: alpha -> alpha; they could wait for each other for ever, so one of "
                   "these roles must send a request instead of a call",
    };
    unsigned failures = scene_check(&refused) + scene_check(&accepted);
    alpha.calls = to_alpha;
    return failures + scene_check(&own);
}

static unsigned check_split_group(void)
{
    static const struct scene_actor nothing = { "x", &scene_plain, .steps = NULL };
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == 1)
        return 0;
    const struct engine_config config = { .comm = MPI_COMM_WORLD, .tick_ns = 1, .stop_after_ns = 1 };
    GError *error = NULL;
    struct engine *e = engine_new(&config, &error);
    struct engine_actor spec = { .role = &scene_plain, .setup = &nothing, .thread_group = 3,
                                 .cpu_group = ENGINE_NO_GROUP };
    engine_add_actor(e, &spec);
    spec.role = &scene_server;
    spec.process = 1;
    engine_add_actor(e, &spec);
    gboolean started = engine_start(e, &error);
    unsigned failures = scene_expect(!started && strcmp(error->message, "thread group 3 is split: plain is placed on "
                                                        "process 0 and server on process 1; expected one process") == 0,
                                     "a split thread group is refused by name");
    g_clear_error(&error);
    engine_free(e);
    return failures;
}

unsigned scenes_of_calls(void)
{
    static const struct scene *const all[] = {
        &idle, &doubled, &backlog, &short_moves, &instant, &anew, &kept, &other, &mates, &in_init, &charge_in_init,
        &twice, &itself, &undeclared, &charge_after, &grouped, &no_latency, &no_local_latency, &long_latency,
    };
    unsigned failures = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        failures += scene_check(all[i]);
    return failures + check_circle() + check_split_group();
}
