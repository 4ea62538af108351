/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The live clock: pairs of a player and its partner, on neighbouring processes, play the same game on both clocks and
 * must count the same; what is spent passes, in processes that yield without using their cores; a failure ends the run
 * everywhere, whatever is still under way between processes.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/engine.h"

enum {
    LIMIT_S = 100,              /* a run that hangs dies by SIGALRM, and mpirun with it */
    ROUNDS = 240,
    MOST_PAYLOAD = 20000        /* beyond what MPI sends without asking the receiver */
};

#define TOGETHER \
    " s): an act of all processes; expected the live clock, process 0, and somebody to carry it out"

enum kind { GO = 0x0100, PING, PING_TEXT, ASK, ASK_LATER, PONG, PONG_TEXT, ANSWER, LATER, BEAT, LAST };

/* What both clocks must agree on. */
struct counts {
    uint64_t pings, texts, asks, pongs, answers, later, lasts, bytes, out_of_order;
};

struct table {
    uint32_t partner;
    unsigned rounds;
    bool fails;                 /* the partner throws large payloads, then fails */
};

struct player {
    const struct table *table;
    unsigned round;
    unsigned waiting;           /* messages that have to come before the next round */
    unsigned expected;          /* kind of a reply, while blocked */
    struct request kept;
    int64_t asked_ns;           /* or busy until */
    struct counts counts;
};

/* Each sixth round is of another sort: a word, a text, a call, a call that is answered later, an end of an instant. */
static void play(struct actor *self)
{
    struct player *p = actor_state(self);
    uint32_t partner = p->table->partner;
    if (p->round == p->table->rounds) {
        actor_hold(self, -1);
        return;
    }
    unsigned round = p->round++;
    switch (round % 6) {
    case 0:
        actor_send(self, partner, PING, round);
        p->waiting = 1;
        break;
    case 1: {
        uint8_t *bytes = g_malloc(MOST_PAYLOAD);
        memset(bytes, (int)round, MOST_PAYLOAD);
        struct payload *text = actor_payload(self, bytes, round * MOST_PAYLOAD / ROUNDS);
        actor_send_payload(self, partner, PING_TEXT, payload_ref(text));
        actor_send_payload(self, partner, PING_TEXT, text);
        g_free(bytes);
        p->waiting = 2;
        break;
    }
    case 2:
        p->expected = ANSWER;
        actor_timer(self, 1, GO, 0);
        p->waiting = 2;
        actor_call(self, partner, ASK, round);
        break;
    case 3:
        p->expected = ANSWER;
        p->waiting = 1;
        actor_call(self, partner, ASK_LATER, round);
        break;
    case 4:
        actor_send_last(self, LAST, 0);
        actor_send(self, partner, PING, round);
        p->waiting = 2;
        break;
    default:
        actor_timer(self, 2000, GO, 0);
        p->waiting = 1;
        break;
    }
}

static void player_init(struct actor *self, const void *setup)
{
    struct player *p = actor_state(self);
    p->table = setup;
    p->waiting = 1;
    actor_hold(self, +1);
    actor_timer(self, 1, GO, 0);
    actor_timer_background(self, 100000, BEAT, 0);
}

static void player_handle(struct actor *self, const struct message *m)
{
    struct player *p = actor_state(self);
    if (m->kind == BEAT) {
        actor_timer_background(self, 100000, BEAT, 0);
        return;
    }
    /* The message behind a call is its reply, though a timer has long been due. */
    p->counts.out_of_order += p->expected != 0 && m->kind != p->expected;
    p->expected = 0;
    p->counts.pongs += m->kind == PONG;
    p->counts.answers += m->kind == ANSWER;
    p->counts.lasts += m->kind == LAST;
    if (m->kind == PONG_TEXT) {
        p->counts.texts++;
        p->counts.bytes += m->payload->size;
        for (uint32_t i = 0; i < m->payload->size; i++)
            p->counts.out_of_order += m->payload->bytes[i] != (uint8_t)(p->round - 1);
    }
    actor_charge(self, 100);
    if (--p->waiting == 0)
        play(self);
}

static void partner_handle(struct actor *self, const struct message *m)
{
    struct player *p = actor_state(self);
    switch (m->kind) {
    case PING:
        p->counts.pings++;
        actor_reply(self, request_of(m), PONG, 0);
        break;
    case PING_TEXT:
        p->counts.texts++;
        actor_reply_payload(self, request_of(m), PONG_TEXT, payload_ref(m->payload));
        break;
    case ASK:
        p->counts.asks++;
        actor_reply(self, request_of(m), ANSWER, 0);
        break;
    case ASK_LATER:
        p->counts.asks++;
        p->kept = request_of(m);
        actor_timer(self, 3000, LATER, 0);
        break;
    default:
        p->counts.later++;
        actor_reply(self, p->kept, ANSWER, 0);
        break;
    }
}

static void partner_init(struct actor *self, const void *setup)
{
    struct player *p = actor_state(self);
    p->table = setup;
    if (p->table->fails)
        actor_timer(self, 1000, LATER, 0);
}

static void thrower_handle(struct actor *self, const struct message *m)
{
    const struct player *p = actor_state(self);
    if (m->kind != LATER)
        return;
    void *bytes = g_malloc0(1 << 20);
    struct payload *large = actor_payload(self, bytes, 1 << 20);
    for (int i = 0; i < 8; i++)
        actor_send_payload(self, p->table->partner, PING_TEXT, payload_ref(large));
    actor_payload_unref(self, large);
    g_free(bytes);
    actor_fail(self, "enough");
}

static void save(const struct actor *self, struct bytes *sink)
{
    const struct player *p = actor_state(self);
    bytes_put(sink, &p->counts, sizeof p->counts);
}

/* Asks for an act of all processes where nobody carries one out. */
static void joiner_handle(struct actor *self, const struct message *m)
{
    if (m->kind == LATER)
        actor_perform_together(self, 1, ANSWER);
}

static const char *const calls[] = { "partner", NULL };
static const struct role player = { .name = "player", .state_size = sizeof(struct player), .calls = calls,
                                    .init = player_init, .handle = player_handle, .save = save };
static const struct role partner = { .name = "partner", .state_size = sizeof(struct player), .init = partner_init,
                                     .handle = partner_handle, .save = save };
static const struct role thrower = { .name = "thrower", .state_size = sizeof(struct player), .init = partner_init,
                                     .handle = thrower_handle, .save = save };
static const struct role joiner = { .name = "joiner", .state_size = sizeof(struct player), .init = partner_init,
                                    .handle = joiner_handle, .save = save };

/* --- runs --- */

/* Pairs of two roles; the table of each actor tells it its partner. */
static struct engine *build_waiting(enum engine_clock clock, enum engine_waiting waiting, const struct role *first,
                                    const struct role *second, struct table *tables, GError **error)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const struct engine_config config = { .comm = MPI_COMM_WORLD, .clock = clock, .tick_ns = 1000000,
                                          .stop_after_ns = 60000000000, .move_ns = 10, .spread_always = true,
                                          .waiting = waiting };
    struct engine *e = engine_new(&config, error);
    engine_set_link(e, 0, 0, (struct engine_link){ .latency_ns = 1000 });
    for (uint32_t i = 0; i < 2 * (uint32_t)size; i++) {
        uint32_t pair = i / 2;
        tables[i].partner = i ^ 1;
        struct engine_actor spec = {
            .role = i % 2 == 0 ? first : second, .setup = &tables[i], .node = i, .cpu_group = ENGINE_NO_GROUP,
            .process = (pair + i % 2) % (uint32_t)size, .thread_group = ENGINE_NO_GROUP,
        };
        engine_add_actor(e, &spec);
    }
    return e;
}

static struct engine *build(enum engine_clock clock, const struct role *first, const struct role *second,
                            struct table *tables, GError **error)
{
    return build_waiting(clock, ENGINE_WAIT_AUTO, first, second, tables, error);
}

static unsigned wrong(bool holds, const char *what)
{
    int missed = !holds, all = 0, rank;
    MPI_Allreduce(&missed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (all != 0 && rank == 0)
        fprintf(stderr, "not so on %d processes: %s\n", all, what);
    return all != 0;
}

/* The sums over all players and partners. */
static struct counts play_on(enum engine_clock clock, struct engine_result *result)
{
    enum { FIELDS = sizeof(struct counts) / sizeof(uint64_t) };
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    GError *error = NULL;
    struct counts mine = { 0 }, all;
    struct table *tables = g_new0(struct table, 2 * size);
    for (int i = 0; i < 2 * size; i++)
        tables[i].rounds = ROUNDS;
    struct engine *e = build(clock, &player, &partner, tables, &error);
    if (!engine_start(e, &error) || !engine_run(e, result, &error))
        g_error("%s", error->message);
    for (uint32_t i = 0; i < 2 * (uint32_t)size; i++) {
        struct actor *actor = engine_actor(e, i);
        if (actor == NULL)
            continue;
        const struct player *p = actor_state(actor);
        for (int f = 0; f < FIELDS; f++)
            ((uint64_t *)&mine)[f] += ((const uint64_t *)&p->counts)[f];
    }
    engine_free(e);
    g_free(tables);
    MPI_Allreduce(&mine, &all, FIELDS, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static unsigned check_game(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct engine_result modelled = { .sent = 0 }, live = { .sent = 0 };
    struct counts a = play_on(ENGINE_VIRTUAL, &modelled), b = play_on(ENGINE_LIVE, &live);
    /* Of 240 rounds, 40 of each sort; a text is sent twice, and counted by both. */
    uint64_t pairs = (uint64_t)size;
    bool right = a.pings == 80 * pairs && a.pongs == 80 * pairs && a.texts == 160 * pairs && a.asks == 80 * pairs &&
                 a.answers == 80 * pairs && a.later == 40 * pairs && a.lasts == 40 * pairs && a.out_of_order == 0;
    return wrong(right, "the virtual clock counts what was played") +
           wrong(memcmp(&a, &b, sizeof a) == 0, "the live clock counts the same") +
           wrong(modelled.end == ENGINE_ENDED && live.end == ENGINE_ENDED, "both games end") +
           wrong(live.held == 0 && live.pending == 0 && live.pending_background == pairs,
                 "nothing is left on the live clock but the heartbeats") +
           wrong(live.sent == live.handled + live.pending_background, "the balance holds on the live clock") +
           wrong(modelled.sent - modelled.handled == pairs, "and on the virtual clock") +
           wrong(size == 1 || live.remote_messages == modelled.remote_messages, "as many messages between processes");
}

/* --- time that passes, and how a process waits for it --- */

enum { SPENT_NS = 20000000, SPENDINGS = 10 };

/* Counted with the players' means: an answer each, and those that came too early. */
static void spender_handle(struct actor *self, const struct message *m)
{
    struct player *p = actor_state(self);
    if (m->kind != GO) {
        int64_t took_ns = actor_now(self) - p->asked_ns;
        p->counts.answers++;
        p->counts.out_of_order += took_ns < SPENT_NS || actor_now(self) < (int64_t)p->counts.answers * SPENT_NS;
    }
    if (p->round++ == SPENDINGS)
        return;
    p->asked_ns = actor_now(self);
    actor_send(self, p->table->partner, ASK, 0);
}

static void spender_init(struct actor *self, const void *setup)
{
    struct player *p = actor_state(self);
    p->table = setup;
    actor_timer(self, 1, GO, 0);
}

/* Each message finds it busy until the one before is done with. */
static void slow_handle(struct actor *self, const struct message *m)
{
    struct player *p = actor_state(self);
    if (actor_now(self) < p->asked_ns)
        actor_fail(self, "a message at %" G_GINT64_FORMAT " ns, while it was busy", actor_now(self));
    if (m->kind == ASK) {
        actor_send(self, actor_id(self) ^ 1, PONG, 0);
        actor_timer(self, 1, LATER, 0);
        actor_spend(self, SPENT_NS);
        p->asked_ns = actor_now(self);
        actor_send(self, actor_id(self) ^ 1, ANSWER, 0);
    }
}

static void asker_handle(struct actor *self, const struct message *m)
{
    if (m->kind != PONG)
        spender_handle(self, m);
}

static const struct role spender = { .name = "spender", .state_size = sizeof(struct player), .init = spender_init,
                                     .handle = asker_handle, .save = save };
static const struct role slow = { .name = "slow", .state_size = sizeof(struct player), .handle = slow_handle,
                                  .save = save };

static unsigned check_spending(enum engine_clock clock, enum engine_waiting waiting, const char *what)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    GError *error = NULL;
    struct engine_result result = { .sent = 0 };
    struct rusage before, after;
    struct table *tables = g_new0(struct table, 2 * size);
    struct engine *e = build_waiting(clock, waiting, &spender, &slow, tables, &error);
    getrusage(RUSAGE_SELF, &before);
    if (!engine_start(e, &error) || !engine_run(e, &result, &error))
        g_error("%s", error->message);
    getrusage(RUSAGE_SELF, &after);
    uint64_t answers = 0, early = 0;
    for (uint32_t i = 0; i < 2 * (uint32_t)size; i += 2) {
        struct actor *actor = engine_actor(e, i);
        const struct player *p = actor != NULL ? actor_state(actor) : NULL;
        answers += p != NULL ? p->counts.answers : 0;
        early += p != NULL ? p->counts.out_of_order : 0;
    }
    engine_free(e);
    g_free(tables);
    MPI_Allreduce(MPI_IN_PLACE, &answers, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    int64_t used_us = (after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec -
                       before.ru_stime.tv_sec) * INT64_C(1000000) + after.ru_utime.tv_usec - before.ru_utime.tv_usec +
                      after.ru_stime.tv_usec - before.ru_stime.tv_usec;
    return wrong(answers == SPENDINGS * (uint64_t)size && early == 0, what) +
           wrong(result.end_ns >= (int64_t)SPENDINGS * SPENT_NS, "all that was spent has passed") +
           wrong(clock == ENGINE_VIRTUAL || result.waiting == waiting, "a live run tells how it waited") +
           wrong(waiting != ENGINE_WAIT_YIELD || used_us * 1000 < result.end_ns / 4,
                 "a process that yields is mostly asleep");
}

/* --- what was sent before is received before, also by another way --- */

enum { WAYS = 3, TRIANGLES = 400 };

/* Of three actors the first sends A to the third, large or small, then B to the second, which sends C to the third. */
static void corner_handle(struct actor *self, const struct message *m)
{
    struct player *p = actor_state(self);
    uint32_t first = actor_id(self) - actor_id(self) % WAYS;
    switch (m->kind) {
    case GO:
    case ANSWER:
        if (p->round++ == TRIANGLES)
            break;
        for (unsigned i = 0; i < 2; i++) {
            void *bytes = g_malloc0(MOST_PAYLOAD);
            actor_send_payload(self, first + 2, PING_TEXT, actor_payload(self, bytes, p->round % 2 * MOST_PAYLOAD));
            g_free(bytes);
        }
        actor_send(self, first + 1, PING, 0);
        break;
    case PING:
        actor_send(self, first + 2, PONG, 0);
        break;
    case PING_TEXT:
        p->counts.texts++;
        break;
    default:
        p->counts.pongs++;
        p->counts.out_of_order += p->counts.texts != 2 * p->counts.pongs;
        actor_send(self, first, ANSWER, 0);
    }
}

static void corner_init(struct actor *self, const void *setup)
{
    if (actor_id(self) % WAYS == 0)
        actor_timer(self, 1, GO, 0);
}

static const struct role corner = { .name = "corner", .state_size = sizeof(struct player), .init = corner_init,
                                    .handle = corner_handle, .save = save };

static unsigned check_causes(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    GError *error = NULL;
    struct engine_result result;
    const struct engine_config config = { .comm = MPI_COMM_WORLD, .clock = ENGINE_LIVE, .tick_ns = 1000000,
                                          .stop_after_ns = 60000000000 };
    struct engine *e = engine_new(&config, &error);
    engine_set_link(e, 0, 0, (struct engine_link){ .latency_ns = 1000 });
    for (uint32_t i = 0; i < WAYS * (uint32_t)size; i++)
        engine_add_actor(e, &(struct engine_actor){ .role = &corner, .node = i, .cpu_group = ENGINE_NO_GROUP,
                                                    .process = (i + i / WAYS) % (uint32_t)size,
                                                    .thread_group = ENGINE_NO_GROUP });
    if (!engine_start(e, &error) || !engine_run(e, &result, &error))
        g_error("%s", error->message);
    uint64_t sums[2] = { 0, 0 };
    for (uint32_t i = 2; i < WAYS * (uint32_t)size; i += WAYS) {
        struct actor *actor = engine_actor(e, i);
        const struct player *p = actor != NULL ? actor_state(actor) : NULL;
        sums[0] += p != NULL ? p->counts.pongs : 0;
        sums[1] += p != NULL ? p->counts.out_of_order : 0;
    }
    engine_free(e);
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return wrong(sums[0] == (uint64_t)size * TRIANGLES, "all triangles are gone round") +
           wrong(sums[1] == 0, "the long side never comes first");
}

static unsigned check_failure(enum engine_clock clock, const struct role *failing, const char *text, const char *what)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    GError *error = NULL;
    struct engine_result result;
    struct table *tables = g_new0(struct table, 2 * size);
    tables[1].fails = true;
    struct engine *e = build(clock, &partner, failing, tables, &error);
    g_autofree char *who = g_strdup_printf("%s (actor 1 on node 1, at ", failing->name);
    gboolean ran = engine_start(e, &error) && engine_run(e, &result, &error);
    unsigned failures = wrong(!ran && g_str_has_prefix(error->message, who) && g_str_has_suffix(error->message, text),
                              what);
    g_clear_error(&error);
    engine_free(e);
    g_free(tables);
    return failures;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(LIMIT_S);
    unsigned failures = check_game();
    failures += check_spending(ENGINE_VIRTUAL, ENGINE_WAIT_AUTO, "what is spent passes on the virtual clock");
    failures += check_spending(ENGINE_LIVE, ENGINE_WAIT_YIELD, "and on the live one, in processes that yield");
    failures += check_spending(ENGINE_LIVE, ENGINE_WAIT_SPIN, "and in processes that spin");
    failures += check_causes();
    failures += check_failure(ENGINE_VIRTUAL, &thrower, " s): enough",
                              "a failure ends a run on the virtual clock everywhere");
    failures += check_failure(ENGINE_LIVE, &thrower, " s): enough",
                              "and on the live clock, with large messages under way");
    failures += check_failure(ENGINE_VIRTUAL, &joiner, TOGETHER, "an act of all is refused on the virtual clock");
    failures += check_failure(ENGINE_LIVE, &joiner, TOGETHER, "and on the live one where nobody carries it out");
    MPI_Finalize();
    return failures != 0;
}
