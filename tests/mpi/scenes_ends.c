/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenes.h"

/* --- the normal end --- */

/* A heartbeat every 50 ns and a timer at 120; ticks at 100, 200. At 200 only the heartbeat of 200 is left. */
static const struct scene_step heart_steps[] = {
    on_background(START, 50, TICK), on_background(TICK, 50, TICK), on_timer(START, 120, GO), SCENE_END,
};
static const struct scene_actor heart_actors[] = { { "one", &scene_plain, .steps = heart_steps }, { NULL } };
static const struct scene heart = {
    .sentence = "background timers do not keep a run alive",
    .actors = heart_actors, .tick_ns = 100,
    .log = "50 50..50 one tick\n"
           "100 100..100 one tick\n"
           "120 120..120 one go\n"
           "150 150..150 one tick\n"
           "end 200: ended, sent 5 = handled 4 + pending 0 + background 1, held 0\n",
};

/* Held until a background timer at 450 lets go: ticks 100 to 400 find it held, 500 does not. */
static const struct scene_step hold_steps[] = {
    on_hold(START, 1), on_background(START, 450, TICK), on_hold(TICK, -1), SCENE_END,
};
static const struct scene_actor hold_actors[] = {
    { "other", &scene_plain, NULL, .node = 1 }, { "one", &scene_plain, .steps = hold_steps }, { NULL },
};
static const struct scene hold = {
    .sentence = "what is held keeps a run alive",
    .actors = hold_actors, .tick_ns = 100,
    .log = "450 450..450 one tick\n"
           "end 500: ended, sent 1 = handled 1 + pending 0 + background 0, held 0\n",
};

/* A message at 100 is not handled before the tick of 100, so that tick finds it pending; the next is 200. */
static const struct scene_step on_tick_steps[] = { on_timer(START, 100, GO), SCENE_END };
static const struct scene_actor on_tick_actors[] = { { "one", &scene_plain, .steps = on_tick_steps }, { NULL } };
static const struct scene on_tick = {
    .sentence = "what happens at a tick comes after it",
    .actors = on_tick_actors, .tick_ns = 100,
    .log = "100 100..100 one go\n"
           "end 200: ended, sent 1 = handled 1 + pending 0 + background 0, held 0\n",
};

/* 123456789 s later: the end is at the next multiple of 100, ticks without anything between them cost nothing. */
static const struct scene_step far_steps[] = { on_timer(START, 123456789012345678, GO), SCENE_END };
static const struct scene_actor far_actors[] = { { "one", &scene_plain, .steps = far_steps }, { NULL } };
static const struct scene far = {
    .sentence = "a run ends at a multiple of the tick, however far",
    .actors = far_actors, .tick_ns = 100,
    .log = "123456789012345678 123456789012345678..123456789012345678 one go\n"
           "end 123456789012345700: ended, sent 1 = handled 1 + pending 0 + background 0, held 0\n",
};

static const struct scene_actor idle_actors[] = { { "one", &scene_plain, .steps = NULL }, { NULL } };
static const struct scene idle = {
    .sentence = "a run without messages ends at the first tick",
    .actors = idle_actors, .tick_ns = 100,
    .log = "end 100: ended, sent 0 = handled 0 + pending 0 + background 0, held 0\n",
};

/* --- ticks and the arrival shortcut --- */

/*
 * Two tasks of 95 ns arrive at 10: the first takes 10..105, the second may start at 105, beyond the tick of 100. So it
 * is pending then and the run goes on to 200; told to stop at 100, the run leaves it.
 */
static const struct scene_step crossing_worker[] = { on_charge(TASK, 95), SCENE_END };
static const struct scene_step crossing_source[] = { on_send(START, 0, TASK), on_send(START, 0, TASK), SCENE_END };
static const struct scene_actor crossing_actors[] = {
    { "worker", &scene_plain, crossing_worker, .node = 0 }, { "source", &scene_plain, crossing_source, .node = 1 },
    { NULL },
};
static const struct scene crossing = {
    .sentence = "a handling that starts after a tick comes after it",
    .actors = crossing_actors, .tick_ns = 100,
    .log = "10 10..105 worker task\n"
           "10 105..200 worker task\n"
           "end 200: ended, sent 2 = handled 2 + pending 0 + background 0, held 0\n",
};
static const struct scene crossing_stopped = {
    .sentence = "a handling that would start after the stop stays pending",
    .actors = crossing_actors, .tick_ns = 100, .stop_after_ns = 100,
    .log = "10 10..105 worker task\n"
           "end 100: stopped, sent 2 = handled 1 + pending 1 + background 0, held 0\n",
};

/* The same with a background timer of 50 as the second message: the run ends at 100 and never handles it. */
static const struct scene_step early_worker[] = {
    on_charge(TASK, 95), on_background(START, 50, TICK), SCENE_END,
};
static const struct scene_step early_source[] = { on_send(START, 0, TASK), SCENE_END };
static const struct scene_actor early_actors[] = {
    { "worker", &scene_plain, early_worker, .node = 0 }, { "source", &scene_plain, early_source, .node = 1 }, { NULL },
};
static const struct scene early = {
    .sentence = "a run that ends does not handle what would start after its end",
    .actors = early_actors, .tick_ns = 100,
    .log = "10 10..105 worker task\n"
           "end 100: ended, sent 2 = handled 1 + pending 0 + background 1, held 0\n",
};

/* The reply arrives at 95; setting aside the message of 85 takes 80..110, beyond the tick of 100. */
static const struct scene_step returning_caller[] = { on_timer(START, 80, GO), on_call(GO, 1, ASK), SCENE_END };
static const struct scene_step returning_server[] = { on_reply(ASK, ANSWER), SCENE_END };
static const struct scene_step returning_source[] = { on_timer(START, 75, GO), on_send(GO, 0, TASK), SCENE_END };
static const struct scene_actor returning_actors[] = {
    { "caller", &scene_caller, returning_caller, .node = 0 }, { "server", &scene_server, returning_server, .node = 1 },
    { "source", &scene_plain, returning_source, .node = 2 }, { NULL },
};
static const struct scene returning = {
    .sentence = "a reply that is handled after the stop stays pending with what it made wait",
    .actors = returning_actors, .tick_ns = 100, .stop_after_ns = 100, .move_ns = 30, .link[0][0] = { 7, 0, 0 },
    .log = "75 75..75 source go\n"
           "80 80..80 caller go\n"
           "87 87..87 server ask\n"
           "end 100: stopped, sent 5 = handled 3 + pending 2 + background 0, held 0\n",
};

/* --- other ends --- */

/* A timer of 100 ns for ever. Stopped after 250: handled at 100 and 200. Stopped after 200: only at 100. */
static const struct scene_step forever_steps[] = { on_timer(START, 100, GO), on_timer(GO, 100, GO), SCENE_END };
static const struct scene_actor forever_actors[] = {
    { "one", &scene_plain, .steps = forever_steps }, { "other", &scene_plain, .steps = NULL }, { NULL },
};
static const struct scene stopped = {
    .sentence = "a run stops when it is told to, on a tick or not",
    .actors = forever_actors, .tick_ns = 1000, .stop_after_ns = 250,
    .log = "100 100..100 one go\n"
           "200 200..200 one go\n"
           "end 250: stopped, sent 3 = handled 2 + pending 1 + background 0, held 0\n",
};
static const struct scene stopped_before = {
    .sentence = "what happens when the run is to stop does not happen",
    .actors = forever_actors, .tick_ns = 50, .stop_after_ns = 200,
    .log = "100 100..100 one go\n"
           "end 200: stopped, sent 2 = handled 1 + pending 1 + background 0, held 0\n",
};

static const struct scene_step stuck_steps[] = { on_hold(START, 1), on_timer(START, 250, GO), SCENE_END };
static const struct scene_actor stuck_actors[] = { { "one", &scene_plain, .steps = stuck_steps }, { NULL } };
static const struct scene stuck = {
    .sentence = "what is held for ever is reported when nothing is left to do",
    .actors = stuck_actors, .tick_ns = 100,
    .log = "250 250..250 one go\n"
           "end 300: ended, sent 1 = handled 1 + pending 0 + background 0, held 1\n",
};

/* The server never answers; the message of 10 stays set aside. */
static const struct scene_step waiting_caller[] = { on_timer(START, 5, GO), on_call(GO, 1, ASK), SCENE_END };
static const struct scene_step waiting_source[] = { on_send(START, 0, TASK), SCENE_END };
static const struct scene_actor waiting_actors[] = {
    { "caller", &scene_caller, waiting_caller, .node = 0 }, { "server", &scene_server, NULL, .node = 1 },
    { "source", &scene_plain, waiting_source, .node = 2 }, { NULL },
};
static const struct scene waiting = {
    .sentence = "what waits for a reply that never comes is reported as pending",
    .actors = waiting_actors, .tick_ns = 100,
    .log = "5 5..5 caller go\n"
           "15 15..15 server ask\n"
           "end 100: ended, sent 3 = handled 2 + pending 1 + background 0, held 0\n",
};

/* --- failures --- */

static const struct scene_step failing_steps[] = { on_timer(START, 55, GO), on_fail(GO), SCENE_END };
static const struct scene_step failing_in_init[] = { on_fail(START), SCENE_END };
static const struct scene_step failing_delay[] = { on_timer(START, 5, GO), on_timer(GO, -3, TASK), SCENE_END };
static const struct scene_step failing_charge[] = { on_timer(START, 5, GO), on_charge(GO, -1), SCENE_END };
static const struct scene_step failing_to[] = { on_timer(START, 5, GO), on_send(GO, 3, TASK), SCENE_END };
static const struct scene_step failing_payload[] = {
    on_timer(START, 5, GO), on_send_payload(GO, 77, TASK, 100000), SCENE_END,
};
static const struct scene_step failing_hold[] = { on_timer(START, 5, GO), on_hold(GO, 2), SCENE_END };
static const struct scene_step failing_ages[] = {
    on_timer(START, 5, GO), on_charge(GO, INT64_MAX - 10), SCENE_END,
};
static const struct scene_step failing_age_timer[] = {
    on_timer(START, 5, GO), on_timer(GO, INT64_MAX, TASK), SCENE_END,
};
static const struct scene_step failing_age_link[] = {
    on_timer(START, 5, GO), on_send_sized(GO, 0, TASK, INT64_MAX), SCENE_END,
};

/* Two more actors so that other processes have something to do, for ever. */
#define FAILING(steps) { { "a", &scene_plain, forever_steps, .node = 0 }, { "b", &scene_plain, steps, .node = 1 }, \
                         { "c", &scene_plain, forever_steps, .node = 2 }, { NULL } }
static const struct scene_actor fails[] = FAILING(failing_steps), init_fails[] = FAILING(failing_in_init),
    delay_fails[] = FAILING(failing_delay), charge_fails[] = FAILING(failing_charge), to_fails[] = FAILING(failing_to),
    payload_fails[] = FAILING(failing_payload), hold_fails[] = FAILING(failing_hold),
    ages[] = FAILING(failing_ages), age_timer[] = FAILING(failing_age_timer), age_link[] = FAILING(failing_age_link);

#define WHO "plain (actor 1 on node 1, at 0.000000005 s): "
static const struct scene failure = {
    .sentence = "a failure ends the run everywhere, by name", .actors = fails,
    .failure = "plain (actor 1 on node 1, at 0.000000055 s): as its table says",
};
static const struct scene init_failure = {
    .sentence = "a failure in init ends it everywhere", .actors = init_fails,
    .refusal = "plain (actor 1 on node 1, at 0.000000000 s): as its table says",
};
static const struct scene delay_failure = {
    .sentence = "a negative delay is a mistake", .actors = delay_fails,
    .failure = WHO "a delay of -3 ns; expected 0 or above",
};
static const struct scene charge_failure = {
    .sentence = "a negative charge is a mistake", .actors = charge_fails,
    .failure = WHO "a charge of -1 ns; expected 0 or above",
};
static const struct scene to_failure = {
    .sentence = "a message to nobody is a mistake", .actors = to_fails,
    .failure = WHO "a message of kind 0x0002 to actor 3; there are 3",
};
static const struct scene payload_failure = {
    .sentence = "so is a payload to nobody", .actors = payload_fails,
    .failure = WHO "a message of kind 0x0002 to actor 77; there are 3",
};
static const struct scene hold_failure = {
    .sentence = "a hold of more than one is a mistake", .actors = hold_fails,
    .failure = WHO "a hold of 2; expected +1 or -1",
};
static const struct scene age_failure = {
    .sentence = "a charge beyond the end of time is a mistake", .actors = ages,
    .failure = WHO "a charge of 9223372036854775797 ns; virtual time ends at 4611686018427387904 ns (146 years)",
};
static const struct scene age_timer_failure = {
    .sentence = "a timer beyond the end of time is a mistake", .actors = age_timer,
    .failure = WHO "a delay of 9223372036854775807 ns; virtual time ends at 4611686018427387904 ns (146 years)",
};
/* At 1 byte a second. */
static const struct scene age_link_failure = {
    .sentence = "a message that arrives after the end of time is a mistake", .actors = age_link,
    .link[0][0] = { 1, 1, 0 },
    .failure = WHO "9223372036854775807 bytes to actor 0 would arrive after the end of virtual time at "
               "4611686018427387904 ns (146 years)",
};

unsigned scenes_of_ends(void)
{
    static const struct scene *const all[] = {
        &heart, &hold, &on_tick, &far, &idle, &crossing, &crossing_stopped, &early, &returning, &stopped,
        &stopped_before, &stuck, &waiting, &failure, &init_failure, &delay_failure, &charge_failure, &to_failure,
        &payload_failure, &hold_failure, &age_failure, &age_timer_failure, &age_link_failure,
    };
    unsigned failures = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        failures += scene_check(all[i]);
    return failures;
}
