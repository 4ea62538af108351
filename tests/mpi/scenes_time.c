/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenes.h"

#define NO_STEPS NULL

/* --- busy time --- */

/*
 * Three tasks of 100 ns arrive at 10, a short message (3 + 4 ns) at 15, another at 510. The worker is busy 10..310, so
 * the tasks wait 0, 100 and 200 ns and the short message 295; the last one finds the worker free. Busy 3 x 100 + 2 x 7.
 */
static const struct scene_step busy_worker[] = {
    on_charge(TASK, 100), on_charge(NEXT, 3), on_charge(NEXT, 4), SCENE_END,
};
static const struct scene_step busy_source[] = {
    on_send(START, 0, TASK), on_send(START, 0, TASK), on_send(START, 0, TASK), on_timer(START, 5, GO),
    on_timer(START, 500, GO), on_send(GO, 0, NEXT), SCENE_END,
};
static const struct scene_actor busy_actors[] = {
    { "worker", &scene_server, busy_worker, .node = 0 }, { "source", &scene_plain, busy_source, .node = 1 }, { NULL },
};
static const struct scene busy = {
    .sentence = "a message that arrives while its actor is busy is handled when it is free",
    .actors = busy_actors, .totals = true,
    .log = "5 5..5 source go\n"
           "10 10..110 worker task\n"
           "10 110..210 worker task\n"
           "10 210..310 worker task\n"
           "15 310..317 worker next\n"
           "500 500..500 source go\n"
           "510 510..517 worker next\n"
           "server: 1 actors, handled 5, busy 314, blocked 0, wait 595\n"
           "plain: 1 actors, handled 2, busy 0, blocked 0, wait 0\n"
           "end 10000: ended, sent 7 = handled 7 + pending 0 + background 0, held 0\n",
};

/*
 * Each task: 40 ns, an answer and a timer of 5 ns, 60 ns more, another answer. The tasks run 10..110 and 110..210, so
 * the answers leave at 50, 110, 150, 210 and the timers ring at 55 and 155, while the worker is busy until 210.
 */
static const struct scene_step clock_worker[] = {
    on_charge(TASK, 40), on_send(TASK, 1, DONE), on_timer(TASK, 5, TICK), on_charge(TASK, 60),
    on_send(TASK, 1, DONE), SCENE_END,
};
static const struct scene_step clock_source[] = { on_send(START, 0, TASK), on_send(START, 0, TASK), SCENE_END };
static const struct scene_actor clock_actors[] = {
    { "worker", &scene_plain, clock_worker, .node = 0 }, { "source", &scene_plain, clock_source, .node = 1 }, { NULL },
};
static const struct scene own_clock = {
    .sentence = "what an actor sends leaves at its own clock, charges included",
    .actors = clock_actors,
    .log = "10 10..110 worker task\n"
           "60 60..60 source done\n"
           "10 110..210 worker task\n"
           "120 120..120 source done\n"
           "160 160..160 source done\n"
           "55 210..210 worker tick\n"
           "155 210..210 worker tick\n"
           "220 220..220 source done\n"
           "end 10000: ended, sent 8 = handled 8 + pending 0 + background 0, held 0\n",
};

/* A timer and an act of 0 ns take 1; an act of 50 takes 50: 1, 1 + 1, 2 + 50. */
static const struct scene_step soon_steps[] = {
    on_timer(START, 0, GO), on_perform(GO, 0, TASK), on_perform(TASK, 50, NEXT), on_background(NEXT, 0, TICK),
    SCENE_END,
};
static const struct scene_actor soon_actors[] = { { "one", &scene_plain, .steps = soon_steps }, { NULL } };
static const struct scene soon = {
    .sentence = "every message takes at least 1 ns",
    .actors = soon_actors,
    .log = "1 1..1 one go\n"
           "2 2..2 one task\n"
           "52 52..52 one next\n"
           "53 53..53 one tick\n"
           "end 10000: ended, sent 4 = handled 4 + pending 0 + background 0, held 0\n",
};

/*
 * Two actors of one thread group, two of their own threads, all on one node; a task of 100 ns for each arrives at 10.
 * The group's second one waits for its first: 10..110, 110..210; the others run 10..110.
 */
static const struct scene_step group_worker[] = { on_charge(TASK, 100), SCENE_END };
static const struct scene_step group_source[] = {
    on_send(START, 0, TASK), on_send(START, 1, TASK), on_send(START, 2, TASK), on_send(START, 3, TASK), SCENE_END,
};
static const struct scene_actor group_actors[] = {
    { "a", &scene_plain, group_worker, .group = 4 }, { "b", &scene_plain, .steps = group_worker },
    { "c", &scene_plain, group_worker, .group = 4 }, { "d", &scene_plain, .steps = group_worker },
    { "source", &scene_plain, group_source, .node = 1 }, { NULL },
};
static const struct scene group = {
    .sentence = "a thread group has one busy time",
    .actors = group_actors,
    .log = "10 10..110 a task\n"
           "10 10..110 b task\n"
           "10 10..110 d task\n"
           "10 110..210 c task\n"
           "end 10000: ended, sent 4 = handled 4 + pending 0 + background 0, held 0\n",
};

/* --- links --- */

/*
 * 1 byte a nanosecond, 20 bytes of header, 100 ns of latency. At 0: 80 bytes (100 on the wire) to b: departs 0,
 * arrives 200; 30 bytes (50) to b: the link is free at 100, arrives 100 + 50 + 100; 80 bytes to c: a link of its own,
 * arrives 200. At 1000 the link has long been free: a word (20) arrives 1120; a payload of 64 bytes (84) departs 1020
 * and arrives 1204.
 */
static const struct scene_step link_sender[] = {
    on_send_sized(START, 1, NEXT, 80), on_send_sized(START, 1, TASK, 30), on_send_sized(START, 2, NEXT, 80),
    on_timer(START, 1000, GO), on_send(GO, 1, ASK), on_send_payload(GO, 1, DONE, 64), SCENE_END,
};
static const struct scene_actor link_actors[] = {
    { "a", &scene_plain, link_sender, .node = 0 }, { "b", &scene_plain, NO_STEPS, .node = 1 },
    { "c", &scene_plain, NO_STEPS, .node = 2 }, { NULL },
};
static const struct scene links = {
    .sentence = "a link sends one message after the other at its bandwidth",
    .actors = link_actors, .link[0][0] = { 100, 1000000000, 20 },
    .log = "200 200..200 b next\n"
           "200 200..200 c next\n"
           "250 250..250 b task\n"
           "1000 1000..1000 a go\n"
           "1120 1120..1120 b ask\n"
           "1204 1204..1204 b done\n"
           "end 10000: ended, sent 6 = handled 6 + pending 0 + background 0, held 0\n",
};

/*
 * 0.3 bytes a nanosecond: 1 byte takes 3 1/3, so 4 ns; 3 bytes take 10. Departures 0, 4, 8, 18 and 18; the empty
 * message takes nothing and arrives with the one before it, after it.
 */
static const struct scene_step odd_sender[] = {
    on_send_sized(START, 1, NEXT, 1), on_send_sized(START, 1, NEXT, 1), on_send_sized(START, 1, TASK, 3),
    on_send(START, 1, DONE), SCENE_END,
};
static const struct scene_actor odd_actors[] = {
    { "a", &scene_plain, odd_sender, .node = 0 }, { "b", &scene_plain, NO_STEPS, .node = 1 }, { NULL },
};
static const struct scene odd_rate = {
    .sentence = "a byte that does not fit into whole nanoseconds takes the next one",
    .actors = odd_actors, .link[0][0] = { 1, 300000000, 0 },
    .log = "5 5..5 b next\n"
           "9 9..9 b next\n"
           "19 19..19 b task\n"
           "19 19..19 b done\n"
           "end 10000: ended, sent 4 = handled 4 + pending 0 + background 0, held 0\n",
};

/* 5,000,000,000 bytes at 1 byte a nanosecond and a latency of 1. The next one waits for them. */
static const struct scene_step large_sender[] = {
    on_send_sized(START, 1, TASK, 5000000000), on_send_sized(START, 1, NEXT, 1), SCENE_END,
};
static const struct scene_actor large_actors[] = {
    { "a", &scene_plain, large_sender, .node = 0 }, { "b", &scene_plain, NO_STEPS, .node = 1 }, { NULL },
};
static const struct scene large = {
    .sentence = "a message may stand for more than 4 GiB",
    .actors = large_actors, .link[0][0] = { 1, 1000000000, 0 },
    .log = "5000000001 5000000001..5000000001 b task\n"
           "5000000002 5000000002..5000000002 b next\n"
           "end 5000010000: ended, sent 2 = handled 2 + pending 0 + background 0, held 0\n",
};

/*
 * Within a node 3 ns, whatever the zones; between nodes by the pair of zones, in this direction: 0 to 0 takes 10, 0 to
 * 1 takes 50, 1 to 0 takes 70, 1 to 1 takes 20. All is sent at 0.
 */
static const struct scene_step zone_a[] = {
    on_send(START, 0, DONE), on_send(START, 1, TASK), on_send(START, 2, TASK), on_send(START, 3, TASK), SCENE_END,
};
static const struct scene_step zone_d[] = { on_send(START, 0, NEXT), on_send(START, 4, NEXT), SCENE_END };
static const struct scene_actor zone_actors[] = {
    { "a", &scene_plain, zone_a, .node = 0, .zone = 0 }, { "b", &scene_plain, NO_STEPS, .node = 0, .zone = 1 },
    { "c", &scene_plain, NO_STEPS, .node = 1, .zone = 0 }, { "d", &scene_plain, zone_d, .node = 2, .zone = 1 },
    { "e", &scene_plain, NO_STEPS, .node = 3, .zone = 1 }, { NULL },
};
static const struct scene zones = {
    .sentence = "latency depends on the node and on both zones",
    .actors = zone_actors, .local = { 3, 0, 0 },
    .link = { { { 10, 0, 0 }, { 50, 0, 0 } }, { { 70, 0, 0 }, { 20, 0, 0 } } },
    .log = "3 3..3 a done\n"
           "3 3..3 b task\n"
           "10 10..10 c task\n"
           "20 20..20 e next\n"
           "50 50..50 d task\n"
           "70 70..70 a next\n"
           "end 10000: ended, sent 6 = handled 6 + pending 0 + background 0, held 0\n",
};

/*
 * What leaves later arrives later: sent at 0, leaving at 30 and at 0 (10 ns each), and to itself, leaving at 5. What is
 * sent at 25 in the ordinary way overtakes the first: it leaves earlier. At 40, two that arrive at 60 by different ways
 * are handled as they were sent.
 */
static const struct scene_step later_a[] = {
    on_send_later(START, 1, TASK, 30), on_send_later(START, 1, NEXT, 0), on_send_later(START, 0, DONE, 5),
    on_timer(START, 25, GO), on_send(GO, 1, ASK), on_timer(START, 40, TICK), on_send_later(TICK, 1, LAST, 10),
    on_charge(TICK, 10), on_send(TICK, 1, ANSWER), SCENE_END,
};
static const struct scene_actor later_actors[] = {
    { "a", &scene_plain, later_a, .node = 0 }, { "b", &scene_plain, NO_STEPS, .node = 1 }, { NULL },
};
static const struct scene later = {
    .sentence = "a message may be sent to leave later",
    .actors = later_actors,
    .log = "10 10..10 b next\n"
           "15 15..15 a done\n"
           "25 25..25 a go\n"
           "35 35..35 b ask\n"
           "40 40..50 a tick\n"
           "40 40..40 b task\n"
           "60 60..60 b last\n"
           "60 60..60 b answer\n"
           "end 10000: ended, sent 8 = handled 8 + pending 0 + background 0, held 0\n",
};
static const struct scene later_limited = {
    .sentence = "but not where links have a bandwidth",
    .actors = later_actors, .local = { 1, 1000, 0 },
    .refusal = "plain (actor 0 on node 0, at 0.000000000 s): a message that leaves later, while links of limited "
               "bandwidth are in use",
};

/* --- promises --- */

/*
 * a has sent all that leaves before 500 and says so; it goes on at 100 with a timer that sends what leaves at 500, and
 * at 500 it is free to send at once. b answers the first (40 ns there and back), which a takes before 500.
 */
static const struct scene_step promise_a[] = {
    on_send_later(START, 1, ASK, 20), on_promise(START, 500), on_timer(START, 100, GO),
    on_send_later(GO, 1, TASK, 400), on_timer(START, 500, TICK), on_send(TICK, 1, NEXT), SCENE_END,
};
static const struct scene_step promise_b[] = { on_charge(ASK, 20), on_reply(ASK, ANSWER), SCENE_END };
static const struct scene_actor promise_actors[] = {
    { "a", &scene_plain, promise_a, .node = 0 }, { "b", &scene_plain, promise_b, .node = 1 }, { NULL },
};
static const struct scene promise = {
    .sentence = "what was promised to leave late leaves late, and nothing else changes",
    .actors = promise_actors,
    .log = "30 30..50 b ask\n"
           "60 60..60 a answer\n"
           "100 100..100 a go\n"
           "500 500..500 a tick\n"
           "510 510..510 b task\n"
           "510 510..510 b next\n"
           "end 10000: ended, sent 6 = handled 6 + pending 0 + background 0, held 0\n",
};

static const struct scene_step broken_a[] = {
    on_promise(START, 500), on_promise(START, 300), on_timer(START, 499, GO), on_send(GO, 1, TASK), SCENE_END,
};
static const struct scene_actor broken_actors[] = {
    { "a", &scene_plain, broken_a, .node = 0 }, { "b", &scene_plain, NO_STEPS, .node = 1 }, { NULL },
};
static const struct scene broken = {
    .sentence = "a broken promise ends the run", .actors = broken_actors,
    .failure = "plain (actor 0 on node 0, at 0.000000499 s): a message that leaves at 499 ns, though nothing new was "
               "promised to leave before 500 ns",
};

/*
 * c has no link to other nodes, so its promise says nothing about a, on its process: a's message reaches b at 20, long
 * before b's own timer.
 */
static const struct scene_step lonely_a[] = { on_timer(START, 10, GO), on_send(GO, 1, NEXT), SCENE_END };
static const struct scene_step lonely_b[] = { on_timer(START, 1000, TICK), SCENE_END };
static const struct scene_step lonely_c[] = { on_promise(START, 5000), SCENE_END };
static const struct scene_actor lonely_actors[] = {
    { "a", &scene_plain, lonely_a, .node = 0 }, { "b", &scene_plain, lonely_b, .node = 1 },
    { "c", &scene_plain, lonely_c, .node = 2, .zone = 1 }, { "d", &scene_plain, lonely_c, .node = 3, .zone = 1 },
    { "e", &scene_plain, lonely_c, .node = 4, .zone = 1 }, { "f", &scene_plain, lonely_c, .node = 5, .zone = 1 },
    { NULL },
};
static const struct scene lonely = {
    .sentence = "a promise binds only who made it",
    .actors = lonely_actors, .link = { { { 10, 0, 0 }, { -1, 0, 0 } }, { { -1, 0, 0 }, { -1, 0, 0 } } },
    .log = "10 10..10 a go\n"
           "20 20..20 b next\n"
           "1000 1000..1000 b tick\n"
           "end 10000: ended, sent 3 = handled 3 + pending 0 + background 0, held 0\n",
};

static const struct scene no_link = {
    .sentence = "where there is no link no message may go", .actors = zone_actors,
    .local = { 3, 0, 0 }, .link[0][1] = { -1, 0, 0 },
    .refusal = "plain (actor 0 on node 0, at 0.000000000 s): a message to actor 3 on node 2; there is no link from "
               "zone 0 to zone 1",
};

/* --- one instant --- */

/*
 * At 100 arrive: the receiver's own timer (sender 0), a message of x (1), two of y (2). That is their order; within y,
 * as they were sent. Each takes 1 ns, so the starts show it.
 */
static const struct scene_step tie_receiver[] = {
    on_timer(START, 100, TICK), on_charge(TICK, 1), on_charge(TASK, 1), on_charge(NEXT, 1), on_charge(DONE, 1),
    SCENE_END,
};
static const struct scene_step tie_x[] = { on_timer(START, 90, GO), on_send(GO, 0, TASK), SCENE_END };
static const struct scene_step tie_y[] = {
    on_timer(START, 90, GO), on_send(GO, 0, NEXT), on_send(GO, 0, DONE), SCENE_END,
};
static const struct scene_actor tie_actors[] = {
    { "r", &scene_plain, tie_receiver, .node = 0 }, { "x", &scene_plain, tie_x, .node = 1 },
    { "y", &scene_plain, tie_y, .node = 2 }, { NULL },
};
static const struct scene tie = {
    .sentence = "messages of one instant are handled by sender, then as sent",
    .actors = tie_actors,
    .log = "90 90..90 x go\n"
           "90 90..90 y go\n"
           "100 100..101 r tick\n"
           "100 101..102 r task\n"
           "100 102..103 r next\n"
           "100 103..104 r done\n"
           "end 10000: ended, sent 6 = handled 6 + pending 0 + background 0, held 0\n",
};

/*
 * As before, but without charges, and the timer sends itself a message at the end of the instant, which sends another:
 * they come after all that arrives at 100, from whichever process, and before what arrives at 101.
 */
static const struct scene_step last_receiver[] = {
    on_timer(START, 100, TICK), on_timer(START, 101, GO), on_last(TICK, LAST), on_last(LAST, ASK), SCENE_END,
};
static const struct scene_actor last_actors[] = {
    { "r", &scene_plain, last_receiver, .node = 0 }, { "x", &scene_plain, tie_x, .node = 1 },
    { "y", &scene_plain, tie_y, .node = 2 }, { NULL },
};
static const struct scene last = {
    .sentence = "the end of an instant comes after everything else that arrives then",
    .actors = last_actors,
    .log = "90 90..90 x go\n"
           "90 90..90 y go\n"
           "100 100..100 r tick\n"
           "100 100..100 r task\n"
           "100 100..100 r next\n"
           "100 100..100 r done\n"
           "100 100..100 r last\n"
           "100 100..100 r ask\n"
           "101 101..101 r go\n"
           "end 10000: ended, sent 9 = handled 9 + pending 0 + background 0, held 0\n",
};

/*
 * The instant is that of the actor's own clock: x's message comes at 100, takes 5 ns and asks for the end of 105. Then
 * the timer of 105 (2 ns) and y's message of 105 go first, y's message of 106 after.
 */
static const struct scene_step late_receiver[] = {
    on_timer(START, 105, TICK), on_charge(ASK, 5), on_last(ASK, LAST), on_charge(TICK, 2), on_charge(LAST, 1),
    SCENE_END,
};
static const struct scene_step late_x[] = { on_timer(START, 90, GO), on_send(GO, 0, ASK), SCENE_END };
static const struct scene_step late_y[] = {
    on_timer(START, 95, GO), on_send(GO, 0, NEXT), on_timer(START, 96, TICK), on_send(TICK, 0, DONE), SCENE_END,
};
static const struct scene_actor late_actors[] = {
    { "r", &scene_plain, late_receiver, .node = 0 }, { "x", &scene_plain, late_x, .node = 1 },
    { "y", &scene_plain, late_y, .node = 2 }, { NULL },
};
static const struct scene late = {
    .sentence = "the end of an instant is that of the actor's own clock",
    .actors = late_actors,
    .log = "90 90..90 x go\n"
           "95 95..95 y go\n"
           "96 96..96 y tick\n"
           "100 100..105 r ask\n"
           "105 105..107 r tick\n"
           "105 107..107 r next\n"
           "105 107..108 r last\n"
           "106 108..108 r done\n"
           "end 10000: ended, sent 8 = handled 8 + pending 0 + background 0, held 0\n",
};

/*
 * Two actors of a thread group ask for the end of one instant, the one with the lower id later: q's task and p's come
 * at 100 in this order and take nothing. The ends are ordered by sender: p's (1 ns), then q's.
 */
static const struct scene_step pair_p[] = { on_last(NEXT, LAST), on_charge(LAST, 1), SCENE_END };
static const struct scene_step pair_q[] = { on_last(TASK, LAST), on_charge(LAST, 1), SCENE_END };
static const struct scene_step pair_source[] = {
    on_timer(START, 90, GO), on_send(GO, 1, TASK), on_send(GO, 0, NEXT), SCENE_END,
};
static const struct scene_actor pair_actors[] = {
    { "p", &scene_plain, pair_p, .group = 1 }, { "q", &scene_plain, pair_q, .group = 1 },
    { "source", &scene_plain, pair_source, .node = 1 }, { NULL },
};
static const struct scene pair = {
    .sentence = "ends of one instant in a thread group are ordered by sender",
    .actors = pair_actors,
    .log = "90 90..90 source go\n"
           "100 100..100 p next\n"
           "100 100..101 p last\n"
           "100 100..100 q task\n"
           "100 101..102 q last\n"
           "end 10000: ended, sent 5 = handled 5 + pending 0 + background 0, held 0\n",
};

unsigned scenes_of_time(void)
{
    static const struct scene *const all[] = {
        &busy, &own_clock, &soon, &group, &links, &odd_rate, &large, &zones, &later,
        &later_limited, &promise, &broken, &lonely, &no_link, &tie, &last, &late, &pair,
    };
    unsigned failures = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        failures += scene_check(all[i]);
    return failures;
}
