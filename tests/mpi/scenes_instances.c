/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "random_model.h"
#include "scenes.h"

/* --- several runs in one program --- */

enum { MODELS = 4 };

struct digest {
    uint64_t word[2];
};

static bool same(struct digest a, struct digest b)
{
    return a.word[0] == b.word[0] && a.word[1] == b.word[1];
}

static struct digest play_model(uint64_t seed, MPI_Comm comm)
{
    struct random_model *model = random_model_new(seed);
    struct engine_result result = { .sent = 0 };
    GError *error = NULL;
    if (!random_model_run(model, comm, seed, false, &result, &error)) {
        fprintf(stderr, "model %llu: %s\n", (unsigned long long)seed, error->message);
        g_clear_error(&error);
    }
    random_model_free(model);
    return (struct digest){ { result.digest[0], result.digest[1] } };
}

static unsigned check_models(void)
{
    struct digest single[MODELS];
    int rank, size;
    bool distinct = true, again = true, halves = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (unsigned i = 0; i < MODELS; i++) {
        single[i] = play_model(100 + i, MPI_COMM_SELF);
        distinct = distinct && single[i].word[0] != 0 && (i == 0 || !same(single[i], single[i - 1]));
    }
    for (unsigned i = MODELS; i-- > 0;)
        again = again && same(single[i], play_model(100 + i, MPI_COMM_WORLD));

    /* The two halves play different models at the same time, and go on to the next without waiting for each other. */
    MPI_Comm half;
    unsigned color = (unsigned)(rank * 2 / size);
    MPI_Comm_split(MPI_COMM_WORLD, (int)color, rank, &half);
    for (unsigned i = 0; i < MODELS; i++)
        halves = halves && same(single[(i + color) % MODELS], play_model(100 + (i + color) % MODELS, half));
    MPI_Comm_free(&half);
    return scene_expect(distinct, "different models have different digests") +
           scene_expect(again, "runs that follow one another have the digests of single runs") +
           scene_expect(halves, "runs at once on two halves of the processes have the digests of single runs");
}

/* --- what the digest notices --- */

/* What a sender does to a receiver; nothing of it but `kept` gets into a saved state. */
struct setup {
    uint32_t receiver;
    uint8_t byte;
    uint16_t kind;
    int64_t delay_ns, charge_ns;
    uint64_t kept;
    bool draws;
};

struct small {
    uint64_t handled;
};

static void sender_init(struct actor *self, const void *data)
{
    const struct setup *setup = data;
    actor_timer(self, setup->delay_ns, setup->kind, 0);
}

static void sender_handle(struct actor *self, const struct message *m)
{
    const struct setup *setup = actor_setup(self);
    uint64_t words[3] = { setup->byte, 17, setup->draws ? actor_draw(self, 0) ^ actor_draw(self, 2) : 0 };
    for (int i = 0; i < 2; i++)
        actor_send_payload(self, setup->receiver, setup->kind, actor_payload(self, words, sizeof words));
}

static void receiver_handle(struct actor *self, const struct message *m)
{
    const struct setup *setup = actor_setup(self);
    struct small *s = actor_state(self);
    s->handled++;
    actor_charge(self, setup->charge_ns);
}

static void small_save(const struct actor *self, struct bytes *sink)
{
    const struct setup *setup = actor_setup(self);
    bytes_put_u64(sink, setup->kept);
}

static const struct role sender = {
    .name = "sender", .state_size = sizeof(struct small), .streams = 3, .init = sender_init,
    .handle = sender_handle, .save = small_save,
};
static const struct role receiver = {
    .name = "receiver", .state_size = sizeof(struct small), .streams = 1, .handle = receiver_handle,
    .save = small_save,
};

static void ignore_handled(void *data, const struct actor *self, const struct message *m, int64_t start_ns,
                           int64_t end_ns)
{
    ++*(unsigned *)data;
}

static struct digest play_setup(const struct setup *setup, uint64_t seed, bool observed)
{
    int size;
    unsigned seen = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct engine_config config = { .comm = MPI_COMM_WORLD, .seed = seed, .tick_ns = 1000,
                                    .stop_after_ns = ENGINE_NEVER_NS, .spread_always = true };
    if (observed) {
        config.observer.data = &seen;
        config.observer.handled = ignore_handled;
    }
    GError *error = NULL;
    struct engine_result result;
    struct engine *e = engine_new(&config, &error);
    engine_set_link(e, 0, 0, (struct engine_link){ .latency_ns = 1 });
    struct engine_actor spec = { .role = &receiver, .setup = setup, .thread_group = ENGINE_NO_GROUP,
                                 .cpu_group = ENGINE_NO_GROUP };
    engine_add_actor(e, &spec);
    engine_add_actor(e, &spec);
    spec.role = &sender;
    spec.node = 1;
    spec.process = (uint32_t)size - 1;
    engine_add_actor(e, &spec);
    gboolean ok = engine_start(e, &error) && engine_run(e, &result, &error);
    g_assert(ok && result.handled == 3);
    engine_free(e);
    return (struct digest){ { result.digest[0], result.digest[1] } };
}

static unsigned check_sensitivity(void)
{
    const struct setup plain = { .receiver = 0, .byte = 1, .kind = 7, .delay_ns = 5, .charge_ns = 3 };
    struct setup byte = plain, kind = plain, delay = plain, charge = plain, kept = plain, to = plain, draws = plain;
    byte.byte = 2;
    kind.kind = 8;
    delay.delay_ns = 6;
    charge.charge_ns = 4;
    kept.kept = 1;
    to.receiver = 1;
    draws.draws = true;
    struct digest d = play_setup(&plain, 1, false);
    return scene_expect(same(d, play_setup(&plain, 1, false)), "the same run has the same digest") +
           scene_expect(same(d, play_setup(&plain, 1, true)), "who looks on does not change the digest") +
           scene_expect(same(d, play_setup(&plain, 2, false)), "a seed that nobody draws from does not change it") +
           scene_expect(!same(d, play_setup(&byte, 1, false)), "one other byte of a payload changes the digest") +
           scene_expect(!same(d, play_setup(&kind, 1, false)), "another kind does") +
           scene_expect(!same(d, play_setup(&delay, 1, false)), "another arrival does") +
           scene_expect(!same(d, play_setup(&charge, 1, false)), "a charge that moves a start does") +
           scene_expect(!same(d, play_setup(&kept, 1, false)), "another saved state does") +
           scene_expect(!same(d, play_setup(&to, 1, false)), "another receiver does") +
           scene_expect(same(play_setup(&draws, 1, false), play_setup(&draws, 1, false)), "draws repeat") +
           scene_expect(!same(play_setup(&draws, 1, false), play_setup(&draws, 2, false)), "another seed does");
}

/* --- what an engine refuses --- */

static unsigned refused(struct engine_config config, const char *sentence)
{
    GError *error = NULL;
    struct engine *e = engine_new(&config, &error);
    unsigned failures = scene_expect(e == NULL && g_error_matches(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT), sentence);
    g_clear_error(&error);
    engine_free(e);
    return failures;
}

static unsigned check_refusals(void)
{
    const struct engine_config good = { .comm = MPI_COMM_WORLD, .tick_ns = 10, .stop_after_ns = 10 };
    struct engine_config no_tick = good, long_tick = good, no_stop = good, no_move = good;
    no_tick.tick_ns = 0;
    long_tick.tick_ns = INT64_MAX;
    no_stop.stop_after_ns = 0;
    no_move.move_ns = -1;
    return refused(no_tick, "a tick of 0 is refused") + refused(long_tick, "a tick beyond the end of time is refused") +
           refused(no_stop, "a stop at 0 is refused") + refused(no_move, "a negative move cost is refused");
}

/* A draw from a stream that the role does not have, and a payload too large to be sent, both in init. */
static void reckless_init(struct actor *self, const void *setup)
{
    if (setup == NULL)
        actor_draw(self, 1);
    else
        actor_payload_unref(self, actor_payload(self, setup, (size_t)1 << 40));
}

static void reckless_handle(struct actor *self, const struct message *m)
{
}

static void reckless_save(const struct actor *self, struct bytes *sink)
{
}

static unsigned check_reckless(const void *setup, const char *expected)
{
    static const struct role reckless = { .name = "reckless", .state_size = 8, .streams = 1, .init = reckless_init,
                                          .handle = reckless_handle, .save = reckless_save };
    const struct engine_config config = { .comm = MPI_COMM_WORLD, .tick_ns = 10, .stop_after_ns = 10 };
    const struct engine_actor spec = { .role = &reckless, .setup = setup, .thread_group = ENGINE_NO_GROUP,
                                       .cpu_group = ENGINE_NO_GROUP };
    GError *error = NULL;
    struct engine *e = engine_new(&config, &error);
    engine_add_actor(e, &spec);
    gboolean started = engine_start(e, &error);
    unsigned failures = scene_expect(!started && strcmp(error->message, expected) == 0, expected);
    g_clear_error(&error);
    engine_free(e);
    return failures;
}

unsigned scenes_of_instances(void)
{
    return check_models() + check_sensitivity() + check_refusals() +
           check_reckless(NULL, "reckless (actor 0 on node 0, at 0.000000000 s): a draw from random stream 1; the role "
                                "has 1") +
           check_reckless("x", "reckless (actor 0 on node 0, at 0.000000000 s): a payload of 1099511627776 bytes; "
                               "expected at most 1073741824");
}
