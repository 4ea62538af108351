/* SPDX-License-Identifier: BSD-3-Clause */
#include "random_model.h"

#include "engine/random.h"

enum { MOST_ACTORS = 40 };

enum kind {
    KIND_WALK = 0x0100,     /* word: steps left */
    KIND_TEXT,              /* payload: steps left, then filler */
    KIND_ASK,               /* a request; word: steps left */
    KIND_ANSWER,
    KIND_LATE,              /* timer of a server: now answer */
    KIND_TICK,              /* background timer */
    KIND_LAST,              /* end of an instant */
    KIND_RELEASE            /* ends a hold */
};

struct random_model {
    uint64_t seed;
    uint32_t actors, groups, nodes, servers;
    uint32_t first_server;                      /* ids from here on are servers */
    uint32_t group_of[MOST_ACTORS], node_of[MOST_ACTORS];
    uint8_t zone_of[MOST_ACTORS], kind_of[MOST_ACTORS];
    uint32_t cpu_of[2 * MOST_ACTORS];           /* by thread group */
    uint32_t cpu_cores;
    struct engine_link links[2][2], local;
    int64_t move_ns;
    uint32_t steps;
    int64_t most_charge_ns;
};

struct state {
    const struct random_model *model;
    uint64_t seen, work, sum;
    struct request waiting[64];
    uint32_t waiting_count;
    uint64_t pending_steps;
};

static uint64_t below(struct actor *self, uint64_t n)
{
    return random_below(actor_draw(self, 0), n);
}

static void send_on(struct actor *self, uint64_t steps)
{
    struct state *s = actor_state(self);
    const struct random_model *model = s->model;
    uint32_t to = (uint32_t)below(self, model->actors);
    if (steps == 0)
        return;
    switch (below(self, 6)) {
    case 0: {
        uint64_t filler[8] = { steps, s->sum, s->seen };
        struct payload *p = actor_payload(self, filler, 8 + 8 * below(self, 8));
        actor_send_payload(self, to, KIND_TEXT, payload_ref(p));
        if (below(self, 2) == 0)
            actor_send_payload(self, (uint32_t)below(self, model->actors), KIND_TEXT, payload_ref(p));
        actor_payload_unref(self, p);
        break;
    }
    case 1:
        actor_timer(self, (int64_t)below(self, 3000), KIND_WALK, steps - 1);
        break;
    case 2:
        actor_send_last(self, KIND_LAST, steps - 1);
        break;
    case 3:
        actor_send_sized(self, to, KIND_WALK, steps - 1, below(self, 5000));
        break;
    default:
        actor_send(self, to, KIND_WALK, steps - 1);
        actor_send(self, to, KIND_WALK, steps / 2);
        break;
    }
}

static void init(struct actor *self, const void *setup)
{
    struct state *s = actor_state(self);
    s->model = setup;
    if (below(self, 3) != 0)
        actor_timer(self, (int64_t)below(self, 5000), KIND_WALK, s->model->steps);
    if (below(self, 4) == 0)
        actor_timer_background(self, 700, KIND_TICK, 0);
    if (below(self, 5) == 0) {
        actor_hold(self, +1);
        actor_timer_background(self, 1000 + (int64_t)below(self, 50000), KIND_RELEASE, 0);
    }
}

static void note(struct actor *self, const struct message *m, uint64_t word)
{
    struct state *s = actor_state(self);
    s->seen++;
    s->sum = (s->sum ^ word ^ (uint64_t)m->kind << 32) * 0x9e3779b97f4a7c15ull + (uint64_t)actor_now(self);
    if (below(self, 2) == 0)
        actor_charge(self, (int64_t)below(self, (uint64_t)s->model->most_charge_ns + 1));
}

/* What walkers and hooked actors do alike; returns the steps to go on with. */
static uint64_t take_in(struct actor *self, const struct message *m)
{
    struct state *s = actor_state(self);
    uint64_t word = message_has_payload(m) ? 0 : m->word;
    if (message_has_payload(m)) {
        struct cursor c = message_cursor(m);
        word = cursor_u64(&c) - 1;
    }
    note(self, m, word);
    if (m->kind == KIND_TICK) {
        actor_timer_background(self, 1 + (int64_t)below(self, 2000), KIND_TICK, 0);
        return 0;
    }
    if (m->kind == KIND_RELEASE) {
        actor_hold(self, -1);
        return 0;
    }
    if (m->kind == KIND_ANSWER)
        return s->pending_steps;
    return word;
}

static void walk(struct actor *self, const struct message *m)
{
    struct state *s = actor_state(self);
    const struct random_model *model = s->model;
    uint64_t steps = take_in(self, m);
    if (steps == 0)
        return;
    send_on(self, steps);
    if (m->kind != KIND_ANSWER && model->servers != 0 && below(self, 3) == 0) {
        s->pending_steps = steps / 2;
        actor_call(self, model->first_server + (uint32_t)below(self, model->servers), KIND_ASK, steps);
    }
}

static void serve(struct actor *self, const struct message *m)
{
    struct state *s = actor_state(self);
    if (m->kind == KIND_LATE && s->waiting_count != 0) {
        note(self, m, m->word);
        actor_reply(self, s->waiting[--s->waiting_count], KIND_ANSWER, s->sum);
        return;
    }
    if (m->kind != KIND_ASK) {
        take_in(self, m);
        return;
    }
    note(self, m, m->word);
    if (s->waiting_count == 64 || below(self, 2) == 0) {
        actor_reply(self, request_of(m), KIND_ANSWER, s->sum);
        return;
    }
    s->waiting[s->waiting_count++] = request_of(m);
    actor_timer(self, (int64_t)below(self, 4000), KIND_LATE, 0);
}

static void queue_work(struct actor *self, const struct message *m)
{
    struct state *s = actor_state(self);
    uint64_t steps = take_in(self, m);
    s->work += steps > 3 ? 3 : steps;
}

static bool work_ready(const struct actor *self)
{
    const struct state *s = actor_state(self);
    return s->work > 1;
}

static void work_turn(struct actor *self)
{
    struct state *s = actor_state(self);
    actor_charge(self, 1 + (int64_t)below(self, 200));
    if (s->work == 0)
        return;
    s->work--;
    send_on(self, 2);
}

/* Sends what it has to send at least FORESIGHT later, and promises so. */
static void foresee(struct actor *self, const struct message *m)
{
    enum { FORESIGHT_NS = 2500 };
    struct state *s = actor_state(self);
    uint64_t steps = take_in(self, m);
    if (steps != 0)
        actor_send_later(self, (uint32_t)below(self, s->model->actors), KIND_WALK, steps - 1,
                         FORESIGHT_NS + (int64_t)below(self, 2000));
    actor_promise(self, actor_now(self) + FORESIGHT_NS);
}

static void save(const struct actor *self, struct bytes *sink)
{
    const struct state *s = actor_state(self);
    bytes_put_u64(sink, s->seen);
    bytes_put_u64(sink, s->work);
    bytes_put_u64(sink, s->sum);
    bytes_put_u32(sink, s->waiting_count);
}

static const char *const walker_calls[] = { "server", NULL };

static const struct role walker = {
    .name = "walker", .state_size = sizeof(struct state), .streams = 1, .calls = walker_calls,
    .init = init, .handle = walk, .save = save,
};
static const struct role server = {
    .name = "server", .state_size = sizeof(struct state), .streams = 1, .init = init, .handle = serve, .save = save,
};
static const struct role hooked = {
    .name = "hooked", .state_size = sizeof(struct state), .streams = 1, .init = init, .handle = queue_work,
    .turn = work_turn, .turn_ready = work_ready, .save = save,
};

static const struct role foreseer = {
    .name = "foreseer", .state_size = sizeof(struct state), .streams = 1, .init = init, .handle = foresee,
    .save = save,
};

/* The model's own choices, apart from those of its actors. */
static uint64_t choose(struct random_model *model, uint64_t *drawn, uint64_t n)
{
    return random_below(random_bits(model->seed, UINT32_MAX, 0, (*drawn)++), n);
}

static struct engine_link choose_link(struct random_model *model, uint64_t *drawn)
{
    static const int64_t latencies[] = { 1, 7, 100, 1000, 5000 };
    struct engine_link link = { .latency_ns = latencies[choose(model, drawn, 5)] };
    if (choose(model, drawn, 3) == 0) {
        link.bytes_per_s = 1000000 + choose(model, drawn, 4000000000u);
        link.header_bytes = (uint32_t)choose(model, drawn, 100);
    }
    return link;
}

struct random_model *random_model_new(uint64_t seed)
{
    struct random_model *model = g_new0(struct random_model, 1);
    uint64_t d = 0;
    model->seed = seed;
    model->actors = 3 + (uint32_t)choose(model, &d, MOST_ACTORS - 3);
    model->servers = (uint32_t)choose(model, &d, model->actors / 2 + 1);
    model->first_server = model->actors - model->servers;
    model->nodes = 1 + (uint32_t)choose(model, &d, model->actors);
    model->groups = 0;
    for (uint32_t i = 0; i < model->actors; i++) {
        model->node_of[i] = (uint32_t)choose(model, &d, model->nodes);
        model->zone_of[i] = (uint8_t)choose(model, &d, 2);
        model->kind_of[i] = i >= model->first_server ? 1 : choose(model, &d, 3) == 0 ? 2 : 0;
        /* Walkers and hooked actors may share a thread; a server may not be in the group of one that calls it. */
        bool join = i > 0 && i < model->first_server && choose(model, &d, 3) == 0;
        model->group_of[i] = join ? model->group_of[choose(model, &d, i)] : model->groups++;
    }
    for (unsigned a = 0; a < 2; a++)
        for (unsigned b = 0; b < 2; b++)
            model->links[a][b] = choose_link(model, &d);
    model->local = choose_link(model, &d);
    /* Nobody is a foreseer where links have bandwidths; everybody is in some models, so that windows grow. */
    bool limited = model->local.bytes_per_s != 0;
    for (unsigned i = 0; i < 4; i++)
        limited |= model->links[i / 2][i % 2].bytes_per_s != 0;
    bool all_foresee = choose(model, &d, 3) == 0;
    for (uint32_t i = 0; i < model->first_server && !limited; i++)
        if (all_foresee || choose(model, &d, 5) == 0) {
            model->kind_of[i] = 3;
            model->group_of[i] = model->groups++;
        }
    if (all_foresee && !limited)
        for (uint32_t i = model->first_server; i < model->actors; i++)
            model->kind_of[i] = 3;
    model->cpu_cores = 1 + (uint32_t)choose(model, &d, 3);
    for (uint32_t i = 0; i < model->groups; i++)
        model->cpu_of[i] = choose(model, &d, 3) == 0 ? (uint32_t)choose(model, &d, 4) : ENGINE_NO_GROUP;
    model->move_ns = (int64_t)choose(model, &d, 300);
    model->steps = 4 + (uint32_t)choose(model, &d, 6);
    model->most_charge_ns = (int64_t)choose(model, &d, 5000);
    return model;
}

void random_model_free(struct random_model *model)
{
    g_free(model);
}

/* What decides an actor's process: its cpu group, else its thread group. */
static uint32_t placed_with(const struct random_model *model, uint32_t actor)
{
    uint32_t group = model->group_of[actor];
    return model->cpu_of[group] != ENGINE_NO_GROUP ? MOST_ACTORS + model->cpu_of[group] : group;
}

gboolean random_model_run(const struct random_model *model, MPI_Comm comm, uint64_t placement, bool explicit_inbox,
                          struct engine_result *result, GError **error)
{
    static const struct role *const roles[] = { &walker, &server, &hooked, &foreseer };
    int size;
    MPI_Comm_size(comm, &size);
    struct engine_config config = { .comm = comm, .clock = ENGINE_VIRTUAL, .seed = model->seed, .tick_ns = 10000,
                                    .stop_after_ns = 400000, .move_ns = model->move_ns, .spread_always = true,
                                    .explicit_inbox = explicit_inbox };
    struct engine *e = engine_new(&config, error);
    if (e == NULL)
        return FALSE;
    for (uint8_t a = 0; a < 2; a++)
        for (uint8_t b = 0; b < 2; b++)
            engine_set_link(e, a, b, model->links[a][b]);
    engine_set_local_link(e, model->local);
    for (uint32_t i = 0; i < model->actors; i++) {
        struct engine_actor spec = {
            .role = roles[model->kind_of[i]], .setup = model, .node = model->node_of[i],
            .process = (uint32_t)(random_bits(placement, placed_with(model, i), 0, 0) % (uint64_t)size),
            .thread_group = model->group_of[i], .cpu_group = model->cpu_of[model->group_of[i]],
            .cpu_cores = model->cpu_cores, .zone = model->zone_of[i],
        };
        engine_add_actor(e, &spec);
    }
    gboolean ok = engine_start(e, error) && engine_run(e, result, error);
    engine_free(e);
    return ok;
}
