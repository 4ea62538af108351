/* SPDX-License-Identifier: BSD-3-Clause */
#include "scene.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const kind_names[SCENE_KINDS] = {
    "start", "go", "task", "next", "ask", "ask2", "answer", "tick", "last", "done",
};

enum { KEPT_MOST = 16, TABLE_TURN = 1 };

struct follower {
    const struct scene_actor *script;
    uint64_t work, turns;
    struct request kept[KEPT_MOST];
    uint32_t kept_count;
};

static void keep(struct follower *f, struct request request)
{
    g_assert(f->kept_count < KEPT_MOST);
    f->kept[f->kept_count++] = request;
}

static struct request oldest(struct follower *f)
{
    g_assert(f->kept_count > 0);
    struct request request = f->kept[0];
    f->kept_count--;
    memmove(f->kept, f->kept + 1, f->kept_count * sizeof *f->kept);
    return request;
}

static void send_payload(struct actor *self, const struct scene_step *step)
{
    void *filler = g_malloc((gsize)step->value);
    memset(filler, step->kind, (size_t)step->value);
    actor_send_payload(self, step->to, step->kind, actor_payload(self, filler, (size_t)step->value));
    g_free(filler);
}

static void perform_step(struct actor *self, const struct scene_step *step, const struct message *m)
{
    struct follower *f = actor_state(self);
    switch (step->verb) {
    case VERB_NONE: break;
    case VERB_CHARGE: actor_charge(self, step->value); break;
    case VERB_SEND: actor_send(self, step->to, step->kind, 0); break;
    case VERB_SEND_SIZED: actor_send_sized(self, step->to, step->kind, 0, (uint64_t)step->value); break;
    case VERB_SEND_LATER: actor_send_later(self, step->to, step->kind, 0, step->value); break;
    case VERB_SEND_PAYLOAD: send_payload(self, step); break;
    case VERB_TIMER: actor_timer(self, step->value, step->kind, 0); break;
    case VERB_BACKGROUND: actor_timer_background(self, step->value, step->kind, 0); break;
    case VERB_LAST: actor_send_last(self, step->kind, 0); break;
    case VERB_CALL: actor_call(self, step->to, step->kind, 0); break;
    case VERB_REPLY: actor_reply(self, request_of(m), step->kind, 0); break;
    case VERB_KEEP: keep(f, request_of(m)); break;
    case VERB_ANSWER: actor_reply(self, oldest(f), step->kind, 0); break;
    case VERB_HOLD: actor_hold(self, (int)step->value); break;
    case VERB_PROMISE: actor_promise(self, step->value); break;
    case VERB_PERFORM: actor_perform(self, (struct act){ ACT_WAIT, step->value }, step->kind, 0); break;
    case VERB_WORK: f->work += (uint64_t)step->value; break;
    case VERB_FAIL: actor_fail(self, "as its table says"); break;
    }
}

static void follow(struct actor *self, uint16_t kind, const struct message *m)
{
    struct follower *f = actor_state(self);
    for (const struct scene_step *step = f->script->steps; step != NULL && step->verb != VERB_NONE; step++)
        if (step->on == kind)
            perform_step(self, step, m);
}

static void follower_init(struct actor *self, const void *setup)
{
    struct follower *f = actor_state(self);
    f->script = setup;
    follow(self, START, NULL);
}

static void follower_handle(struct actor *self, const struct message *m)
{
    follow(self, m->kind, m);
}

static bool follower_ready(const struct actor *self)
{
    const struct follower *f = actor_state(self);
    return f->work > 0;
}

static void follower_turn(struct actor *self)
{
    struct follower *f = actor_state(self);
    actor_record(self, TABLE_TURN, NULL, 0);
    f->turns++;
    actor_charge(self, f->script->turn_ns);
    if (f->work > 0)
        f->work--;
}

static void follower_save(const struct actor *self, struct bytes *sink)
{
    const struct follower *f = actor_state(self);
    bytes_put_u64(sink, f->work);
    bytes_put_u64(sink, f->turns);
    bytes_put_u32(sink, f->kept_count);
}

static const char *const call_servers[] = { "server", NULL };

#define FOLLOWER .state_size = sizeof(struct follower), .init = follower_init, .handle = follower_handle, \
                 .save = follower_save
#define HOOK .turn = follower_turn, .turn_ready = follower_ready
const struct role scene_plain = { .name = "plain", FOLLOWER };
const struct role scene_server = { .name = "server", FOLLOWER };
const struct role scene_caller = { .name = "caller", .calls = call_servers, FOLLOWER };
const struct role scene_hooked = { .name = "hooked", HOOK, FOLLOWER };
const struct role scene_hooked_caller = { .name = "hooked-caller", .calls = call_servers, HOOK, FOLLOWER };

/* --- the log --- */

struct entry {
    int64_t time_ns;
    uint32_t actor;
    uint32_t number;        /* within the process, so within the actor */
    char text[80];
};

static void log_add(GArray *entries, const struct actor *self, int64_t time_ns, const char *text)
{
    struct entry entry = { .time_ns = time_ns, .actor = actor_id(self), .number = entries->len };
    g_strlcpy(entry.text, text, sizeof entry.text);
    g_array_append_val(entries, entry);
}

static const char *name_of(const struct actor *self)
{
    return ((const struct scene_actor *)actor_setup(self))->name;
}

static void see_handled(void *data, const struct actor *self, const struct message *m, int64_t start_ns, int64_t end_ns)
{
    char *text = g_strdup_printf("%lld %lld..%lld %s %s\n", (long long)m->time_ns, (long long)start_ns,
                                 (long long)end_ns, name_of(self), kind_names[m->kind]);
    log_add(data, self, start_ns, text);
    g_free(text);
}

static void see_record(void *data, const struct actor *self, unsigned table, const void *row, size_t size)
{
    g_assert(table == TABLE_TURN && size == 0);
    char *text = g_strdup_printf("%lld %s turn\n", (long long)actor_now(self), name_of(self));
    log_add(data, self, actor_now(self), text);
    g_free(text);
}

static int entry_compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->actor != y->actor)
        return x->actor < y->actor ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* The lines of all processes, on all of them. */
static GString *log_join(MPI_Comm comm, const GArray *mine)
{
    int size, bytes = (int)(mine->len * sizeof(struct entry)), total = 0;
    MPI_Comm_size(comm, &size);
    int *counts = g_new(int, size), *at = g_new(int, size);
    MPI_Allgather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, comm);
    for (int p = 0; p < size; p++) {
        at[p] = total;
        total += counts[p];
    }
    struct entry *all = g_malloc((gsize)total + 1);
    MPI_Allgatherv(mine->data, bytes, MPI_BYTE, all, counts, at, MPI_BYTE, comm);
    size_t count = (size_t)total / sizeof *all;
    qsort(all, count, sizeof *all, entry_compare);
    GString *text = g_string_new(NULL);
    for (size_t i = 0; i < count; i++)
        g_string_append(text, all[i].text);
    g_free(all);
    g_free(counts);
    g_free(at);
    return text;
}

static void log_totals(struct engine *e, GString *text)
{
    const struct role **roles;
    unsigned count;
    struct engine_role_totals *totals = engine_role_totals(e, &roles, &count);
    for (unsigned i = 0; i < count; i++)
        g_string_append_printf(text, "%s: %llu actors, handled %llu, busy %lld, blocked %lld, wait %lld\n",
                               roles[i]->name, (unsigned long long)totals[i].actors,
                               (unsigned long long)totals[i].handled, (long long)totals[i].busy_ns,
                               (long long)totals[i].blocked_ns, (long long)totals[i].wait_ns);
    g_free(totals);
    g_free(roles);
}

static void log_end(const struct engine_result *r, GString *text)
{
    g_string_append_printf(text, "end %lld: %s, sent %llu = handled %llu + pending %llu + background %llu, held %lld\n",
                           (long long)r->end_ns, r->end == ENGINE_ENDED ? "ended" : "stopped",
                           (unsigned long long)r->sent, (unsigned long long)r->handled,
                           (unsigned long long)r->pending, (unsigned long long)r->pending_background,
                           (long long)r->held);
}

/* --- playing --- */

static struct engine_link link_or(struct engine_link link)
{
    if (link.latency_ns == 0 && link.bytes_per_s == 0)
        link.latency_ns = 10;
    return link;
}

static struct engine *build(const struct scene *scene, struct scene_play play, GArray *entries, GError **error)
{
    int size;
    MPI_Comm_size(play.comm, &size);
    struct engine_config config = {
        .comm = play.comm, .clock = ENGINE_VIRTUAL, .seed = scene->seed, .move_ns = scene->move_ns,
        .tick_ns = scene->tick_ns != 0 ? scene->tick_ns : 10000,
        .stop_after_ns = scene->stop_after_ns != 0 ? scene->stop_after_ns : ENGINE_NEVER_NS,
        .explicit_inbox = play.explicit_inbox, .spread_always = true,
        .observer = { .data = entries, .handled = see_handled, .record = see_record },
    };
    struct engine *e = engine_new(&config, error);
    if (e == NULL)
        return NULL;
    for (uint8_t a = 0; a < 2; a++)
        for (uint8_t b = 0; b < 2; b++)
            if (scene->link[a][b].latency_ns != -1)
                engine_set_link(e, a, b, link_or(scene->link[a][b]));
    engine_set_local_link(e, link_or(scene->local));
    uint32_t thread = 0;
    for (const struct scene_actor *a = scene->actors; a->name != NULL; a++) {
        uint32_t number = a->group != 0 ? 1000 + a->group : thread++;
        struct engine_actor spec = {
            .role = a->role, .setup = a, .node = a->node, .zone = a->zone, .cpu_group = ENGINE_NO_GROUP,
            .thread_group = a->group != 0 ? a->group : ENGINE_NO_GROUP,
            .process = (number * (play.placement + 1) + play.placement) % (uint32_t)size,
        };
        engine_add_actor(e, &spec);
    }
    return e;
}

struct scene_outcome scene_run(const struct scene *scene, struct scene_play play)
{
    struct scene_outcome outcome = { NULL };
    GError *error = NULL;
    GArray *entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
    struct engine *e = build(scene, play, entries, &error);
    outcome.started = e != NULL && engine_start(e, &error);
    if (outcome.started && engine_run(e, &outcome.result, &error)) {
        GString *text = log_join(play.comm, entries);
        if (scene->totals)
            log_totals(e, text);
        log_end(&outcome.result, text);
        outcome.log = g_string_free(text, FALSE);
    } else {
        outcome.error = g_strdup(error->message);
        g_clear_error(&error);
    }
    engine_free(e);
    g_array_free(entries, TRUE);
    return outcome;
}

void scene_outcome_release(struct scene_outcome *outcome)
{
    g_free(outcome->log);
    g_free(outcome->error);
    outcome->log = outcome->error = NULL;
}

/* --- checking --- */

static bool first_process(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
}

unsigned scene_expect(bool holds, const char *sentence)
{
    int missed = !holds, all = 0;
    MPI_Allreduce(&missed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (all != 0 && first_process())
        fprintf(stderr, "not so on %d processes: %s\n", all, sentence);
    return all != 0;
}

static unsigned check_outcome(const struct scene *scene, const char *how, const char *log,
                              const struct scene_outcome *o)
{
    const char *wanted = log, *got = o->log;
    bool right = true;
    if (scene->refusal != NULL || scene->failure != NULL) {
        wanted = scene->refusal != NULL ? scene->refusal : scene->failure;
        got = o->error;
        right = o->started == (scene->refusal == NULL);
    }
    right = right && g_strcmp0(wanted, got) == 0;
    int missed = !right, all = 0;
    MPI_Allreduce(&missed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (all != 0 && first_process())
        fprintf(stderr, "%s (%s), wrong on %d processes; expected\n%s\nbut came\n%s%s\n", scene->sentence, how, all,
                wanted, o->log != NULL ? o->log : "", o->error != NULL ? o->error : "");
    return all != 0;
}

unsigned scene_check(const struct scene *scene)
{
    static const struct way {
        const char *how;
        bool alone, explicit_inbox;
        uint32_t placement;
    } ways[] = {
        { "alone", true, false, 0 },
        { "alone, explicit inboxes", true, true, 0 },
        { "all processes", false, false, 0 },
        { "all processes, placed otherwise, explicit inboxes", false, true, 1 },
        { "all processes, placed otherwise", false, false, 2 },
    };
    unsigned failures = 0;
    uint64_t digest[2] = { 0 };
    char *log = g_strdup(scene->log);
    for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
        struct scene_play play = { ways[i].alone ? MPI_COMM_SELF : MPI_COMM_WORLD, ways[i].placement,
                                   ways[i].explicit_inbox };
        struct scene_outcome o = scene_run(scene, play);
        if (log == NULL)
            log = g_strdup(o.log);
        failures += check_outcome(scene, ways[i].how, log, &o);
        if (o.log != NULL && i == 0)
            memcpy(digest, o.result.digest, sizeof digest);
        if (o.log != NULL && memcmp(digest, o.result.digest, sizeof digest) != 0) {
            if (first_process())
                fprintf(stderr, "%s (%s): another digest than alone\n", scene->sentence, ways[i].how);
            failures++;
        }
        scene_outcome_release(&o);
    }
    g_free(log);
    return failures;
}
