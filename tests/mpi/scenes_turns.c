/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenes.h"

#define NO_STEPS NULL

/*
 * Three tasks of 5 ns arrive at 10, each brings 2 units of work; a turn takes 10 ns and does one. Strictly in turn:
 * task 10..15, turn ..25 (1 unit left), task 25..30, turn ..40 (2), task 40..45, turn ..55 (3). The inbox is empty:
 * turns alone at 55 and so on, but at 60 a message comes: it is handled at 65, when the turn is over (2), 1 ns, turn
 * 66..76 (1), and a last turn alone 76..86. The message of 500 finds no work: it still has its turn, and no more.
 */
static const struct scene_step worker[] = { on_charge(TASK, 5), on_work(TASK, 2), on_charge(NEXT, 1), SCENE_END };
static const struct scene_step source[] = {
    on_send(START, 0, TASK), on_send(START, 0, TASK), on_send(START, 0, TASK), on_timer(START, 50, GO),
    on_timer(START, 490, GO), on_send(GO, 0, NEXT), SCENE_END,
};
static const struct scene_actor in_turn_actors[] = {
    { "w", &scene_hooked, worker, .node = 0, .turn_ns = 10 }, { "source", &scene_plain, source, .node = 1 }, { NULL },
};
static const struct scene in_turn = {
    .sentence = "one message, then one turn; turns alone while nothing waits",
    .actors = in_turn_actors,
    .log = "10 10..15 w task\n"
           "15 w turn\n"
           "10 25..30 w task\n"
           "30 w turn\n"
           "10 40..45 w task\n"
           "45 w turn\n"
           "50 50..50 source go\n"
           "55 w turn\n"
           "60 65..66 w next\n"
           "66 w turn\n"
           "76 w turn\n"
           "490 490..490 source go\n"
           "500 500..501 w next\n"
           "501 w turn\n"
           "end 10000: ended, sent 7 = handled 7 + pending 0 + background 0, held 0\n",
};

/* Two units of work from the start: a turn at 0..10. What arrives at 10 comes before the next turn alone. */
static const struct scene_step ready_worker[] = { on_work(START, 2), SCENE_END };
static const struct scene_step ready_source[] = { on_send(START, 0, NEXT), SCENE_END };
static const struct scene_actor ready_actors[] = {
    { "w", &scene_hooked, ready_worker, .node = 0, .turn_ns = 10 }, { "source", &scene_plain, ready_source, .node = 1 },
    { NULL },
};
static const struct scene ready = {
    .sentence = "a turn may be due from the start, and gives way to a message of the same instant",
    .actors = ready_actors,
    .log = "0 w turn\n"
           "10 10..10 w next\n"
           "10 w turn\n"
           "end 10000: ended, sent 1 = handled 1 + pending 0 + background 0, held 0\n",
};

/* Five turns of 90 ns from 0 on, the last 360..450. No message is pending at the ticks of 100, 200 and 300, but a turn
 * is due at 180, 270 and 360; none at 400. */
static const struct scene_step alive_worker[] = { on_work(START, 5), SCENE_END };
static const struct scene_actor alive_actors[] = {
    { "w", &scene_hooked, alive_worker, .turn_ns = 90 }, { NULL },
};
static const struct scene alive = {
    .sentence = "a turn that is due keeps the run alive",
    .actors = alive_actors, .tick_ns = 100,
    .log = "0 w turn\n"
           "90 w turn\n"
           "180 w turn\n"
           "270 w turn\n"
           "360 w turn\n"
           "end 400: ended, sent 0 = handled 0 + pending 0 + background 0, held 0\n",
};

/*
 * The same when a background timer waits in the inbox: the task arrives at 90 with the timer, before it (its sender's
 * number is lower), 90..240, turn ..250. At the ticks of 100 and 200 there is only the timer, and a unit of work: so
 * the run goes on, and the timer and its turn come at 250.
 */
static const struct scene_step behind_source[] = { on_timer(START, 80, GO), on_send(GO, 1, TASK), SCENE_END };
static const struct scene_step behind_worker[] = {
    on_background(START, 90, TICK), on_charge(TASK, 150), on_work(TASK, 2), SCENE_END,
};
static const struct scene_actor behind_actors[] = {
    { "source", &scene_plain, behind_source, .node = 0 },
    { "w", &scene_hooked, behind_worker, .node = 1, .turn_ns = 10 }, { NULL },
};
static const struct scene behind = {
    .sentence = "a turn behind a background timer keeps the run alive",
    .actors = behind_actors, .tick_ns = 100,
    .log = "80 80..80 source go\n"
           "90 90..240 w task\n"
           "240 w turn\n"
           "90 250..250 w tick\n"
           "250 w turn\n"
           "end 300: ended, sent 3 = handled 3 + pending 0 + background 0, held 0\n",
};

/*
 * Work for three turns and a call in one handling at 100: no turn while blocked. The message of 105 is set aside (50
 * ns, so the reply of 120 is handled at 150), turn 150..160, the message at 160, turn 160..170, a turn alone ..180.
 */
static const struct scene_step blocked_worker[] = {
    on_timer(START, 100, GO), on_work(GO, 3), on_call(GO, 1, ASK), SCENE_END,
};
static const struct scene_step blocked_server[] = { on_reply(ASK, ANSWER), SCENE_END };
static const struct scene_step blocked_source[] = { on_timer(START, 95, GO), on_send(GO, 0, TASK), SCENE_END };
static const struct scene_actor blocked_actors[] = {
    { "w", &scene_hooked_caller, blocked_worker, .node = 0, .turn_ns = 10 },
    { "server", &scene_server, blocked_server, .node = 1 }, { "source", &scene_plain, blocked_source, .node = 2 },
    { NULL },
};
static const struct scene blocked = {
    .sentence = "no turn while blocked",
    .actors = blocked_actors, .move_ns = 50,
    .log = "95 95..95 source go\n"
           "100 100..100 w go\n"
           "110 110..110 server ask\n"
           "120 150..150 w answer\n"
           "150 w turn\n"
           "105 160..160 w task\n"
           "160 w turn\n"
           "170 w turn\n"
           "end 10000: ended, sent 5 = handled 5 + pending 0 + background 0, held 0\n",
};

/* p and q share a thread, with a plain r; a message to any of them is followed by a turn of p (10 ns) and one of q
 * (100 ns). Messages to r and p at 10: r ..12, p's turn ..22, q's ..122, p ..127, turns ..137, ..237. p has one unit
 * of work and did it in its turn; nothing is left. */
static const struct scene_step shared_p[] = { on_charge(TASK, 5), on_work(TASK, 1), SCENE_END };
static const struct scene_step shared_r[] = { on_charge(NEXT, 2), SCENE_END };
static const struct scene_step shared_source[] = { on_send(START, 2, NEXT), on_send(START, 0, TASK), SCENE_END };
static const struct scene_actor shared_actors[] = {
    { "p", &scene_hooked, shared_p, .group = 1, .turn_ns = 10 },
    { "q", &scene_hooked, NO_STEPS, .group = 1, .turn_ns = 100 },
    { "r", &scene_plain, shared_r, .group = 1 }, { "source", &scene_plain, shared_source, .node = 1 }, { NULL },
};
static const struct scene shared = {
    .sentence = "every hook of a thread group has its turn after each message of the group",
    .actors = shared_actors,
    .log = "10 10..12 r next\n"
           "12 p turn\n"
           "22 q turn\n"
           "10 122..127 p task\n"
           "127 p turn\n"
           "137 q turn\n"
           "end 10000: ended, sent 2 = handled 2 + pending 0 + background 0, held 0\n",
};

/*
 * A role without a hook, busy across ticks: 24 tasks of 37 ns in bursts, with background timers and ends of instants
 * among them, and 16 calls, some of whose replies cross a tick. Tested is that it is the same every time, with both
 * inboxes, not what it is.
 */
static const struct scene_step crossing_worker[] = {
    on_charge(TASK, 37), on_last(TASK, LAST), on_charge(LAST, 3), on_background(TASK, 41, TICK), on_charge(TICK, 2),
    on_call(NEXT, 1, ASK), on_charge(ANSWER, 11), SCENE_END,
};
static const struct scene_step crossing_server[] = { on_charge(ASK, 29), on_reply(ASK, ANSWER), SCENE_END };
static const struct scene_step crossing_source[] = {
    on_timer(START, 1, GO), on_timer(START, 230, GO), on_timer(START, 233, GO), on_timer(START, 1090, GO),
    on_send(GO, 0, TASK), on_send(GO, 0, NEXT), on_send(GO, 0, TASK), on_send(GO, 0, TASK), on_send(GO, 0, NEXT),
    SCENE_END,
};
static const struct scene_actor crossing_actors[] = {
    { "w", &scene_caller, crossing_worker, .node = 0 }, { "server", &scene_server, crossing_server, .node = 1 },
    { "source", &scene_plain, crossing_source, .node = 2 }, { "more", &scene_plain, crossing_source, .node = 3 },
    { NULL },
};
static const struct scene crossing = {
    .sentence = "the arrival shortcut and explicit inboxes agree on a busy role across ticks",
    .actors = crossing_actors, .tick_ns = 100, .move_ns = 7,
};
static const struct scene crossing_stopped = {
    .sentence = "they agree when the run is stopped in the middle",
    .actors = crossing_actors, .tick_ns = 100, .move_ns = 7, .stop_after_ns = 777,
};

unsigned scenes_of_turns(void)
{
    static const struct scene *const all[] = {
        &in_turn, &ready, &alive, &behind, &blocked, &shared, &crossing, &crossing_stopped,
    };
    unsigned failures = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        failures += scene_check(all[i]);
    return failures;
}
