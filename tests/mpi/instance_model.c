/* SPDX-License-Identifier: BSD-3-Clause */
#include "instance_model.h"

#include <CUnit/CUnit.h>
#include <stdio.h>

#include "kvs/key.h"
#include "kvs/lookup.h"
#include "kvs/transaction.h"
#include "ranks/roles.h"

enum { PROBE_STEP = KIND(ROLE_CLIENT, 0x7f) };

static struct model *current;   /* the model that runs: probes have no other way to it */

struct probe {
    uint64_t heard;
};

static void probe_write(const struct actor *self, const struct message *m)
{
    struct heard h = { .actor = actor_id(self), .kind = m->kind, .time_ns = actor_now(self), .body = BYTES_INIT };
    if (!message_has_payload(m)) {
        h.word = m->word;
    } else if (m->kind == BROKER_EVENT) {
        struct event event;
        route_event((struct actor *)self, m, &event);
        h.word = event.event_class;
        bytes_put(&h.body, event.body.at, (size_t)(event.body.end - event.body.at));
    } else {
        struct cursor c = route_open((struct actor *)self, m, &h.env);
        bytes_put(&h.body, c.at, (size_t)(c.end - c.at));
    }
    g_array_append_val(current->heard, h);
}

static void probe_step(struct actor *self, const struct step *step)
{
    if (step->is_direct && !step->is_call)
        actor_send_payload(self, step->to, step->kind, actor_payload(self, step->body.data, step->body.size));
    else if (step->is_direct)
        actor_call_payload(self, step->to, step->kind, actor_payload(self, step->body.data, step->body.size));
    else if (step->is_call)
        route_call(self, step->to, step->kind, step->tag, &step->body);
    else
        route_send(self, step->to, step->kind, step->tag, &step->body);
}

static void probe_init(struct actor *self, const void *setup)
{
    for (guint i = 0; i < current->steps->len; i++) {
        const struct step *step = &g_array_index(current->steps, struct step, i);
        if (step->actor == actor_id(self))
            actor_timer(self, step->at_ns, PROBE_STEP, i);
    }
}

static void probe_handle(struct actor *self, const struct message *m)
{
    struct probe *p = actor_state(self);
    if (m->kind == PROBE_STEP) {
        probe_step(self, &g_array_index(current->steps, struct step, m->word));
        return;
    }
    p->heard++;
    if (current->alone)
        probe_write(self, m);
}

static void probe_save(const struct actor *self, struct bytes *sink)
{
    const struct probe *p = actor_state(self);
    bytes_put_u64(sink, p->heard);
}

static const struct kind_name probe_kinds[] = { { PROBE_STEP, "step", "time for a step" }, { 0, NULL, NULL } };
static const char *const probe_calls[] = { "broker", NULL };
static const struct role role_probe = {
    .name = "probe",
    .text = "does what a test says",
    .state_size = sizeof(struct probe),
    .kinds = probe_kinds,
    .calls = probe_calls,
    .init = probe_init,
    .handle = probe_handle,
    .save = probe_save,
};

static const struct role *place_role(const struct instance_place *place)
{
    switch (place->role) {
    case ROLE_INGEST:
    case ROLE_JOB_MANAGER:
    case ROLE_SCHEDULER:
    case ROLE_JOB_EXEC:
    case ROLE_EXECUTOR:
    case ROLE_CLIENT:
        return &role_probe;
    default:
        return roles_find(place->role, place->node);
    }
}

static void count_observe(void *data, const struct actor *self, unsigned metric, uint64_t count)
{
    struct model *m = data;
    for (size_t i = 0; roles[i] != NULL; i++) {
        if (roles[i] != actor_role(self))
            continue;
        g_assert(i < G_N_ELEMENTS(m->counts) && metric < G_N_ELEMENTS(m->counts[0]));
        m->counts[i][metric] += count;
    }
}

uint64_t model_count(const struct model *m, const char *role, const char *metric)
{
    for (size_t i = 0; roles[i] != NULL; i++) {
        if (!g_str_equal(roles[i]->name, role))
            continue;
        for (unsigned j = 0; roles[i]->metrics[j].name != NULL; j++)
            if (g_str_equal(roles[i]->metrics[j].name, metric))
                return m->counts[i][j];
    }
    fprintf(stderr, "no metric %s of %s\n", metric, role);
    CU_FAIL("a metric is not there");
    return UINT64_MAX;
}

void model_init(struct model *m, uint32_t nodes, const char *scheme)
{
    memset(m, 0, sizeof *m);
    instance_init(&m->inst);
    m->inst.nodes = nodes;
    m->inst.cores_per_node = 2;
    m->inst.scheme = scheme_find(scheme);
    m->steps = g_array_new(FALSE, FALSE, sizeof(struct step));
    m->heard = g_array_new(FALSE, FALSE, sizeof(struct heard));
}

void model_release(struct model *m)
{
    if (m->engine != NULL)
        engine_free(m->engine);
    for (guint i = 0; i < m->steps->len; i++)
        bytes_release(&g_array_index(m->steps, struct step, i).body);
    for (guint i = 0; i < m->heard->len; i++)
        bytes_release(&g_array_index(m->heard, struct heard, i).body);
    g_array_free(m->steps, TRUE);
    g_array_free(m->heard, TRUE);
}

static struct engine *model_run_on(struct model *m, MPI_Comm comm, struct engine_result *result)
{
    int size;
    GError *error = NULL;
    MPI_Comm_size(comm, &size);
    struct engine_config config = {
        .comm = comm,
        .seed = 1,
        .tick_ns = 1000000000,
        .stop_after_ns = INT64_C(60000000000),
        .spread_always = true,
    };
    if (m->alone)
        config.observer = (struct engine_observer){ .data = m, .count = count_observe };
    struct engine *e = engine_new(&config, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(e);
    engine_set_link(e, 0, 0, (struct engine_link){ .latency_ns = 50000, .bytes_per_s = 1000000000 });
    engine_set_local_link(e, (struct engine_link){ .latency_ns = 10000 });
    for (uint32_t id = 0; id < instance_actors(&m->inst); id++) {
        struct instance_place place;
        instance_place(&m->inst, id, &place);
        engine_add_actor(e, &(struct engine_actor){
            .role = place_role(&place),
            .setup = &m->inst,
            .node = place.node,
            .process = place.node % (uint32_t)size,
            .thread_group = ENGINE_NO_GROUP,
            .cpu_group = ENGINE_NO_GROUP,
        });
    }
    if (!engine_start(e, &error) || !engine_run(e, result, &error)) {
        fprintf(stderr, "%s\n", error->message);
        CU_FAIL_FATAL("the run failed");
    }
    return e;
}

void model_run(struct model *m)
{
    struct engine_result spread;
    current = m;
    engine_free(model_run_on(m, MPI_COMM_WORLD, &spread));
    m->alone = true;
    m->engine = model_run_on(m, MPI_COMM_SELF, &m->result);
    current = NULL;
    CU_ASSERT_EQUAL(m->result.end, ENGINE_ENDED);
    CU_ASSERT_EQUAL(m->result.held, 0);
    CU_ASSERT_EQUAL(m->result.digest[0], spread.digest[0]);
    CU_ASSERT_EQUAL(m->result.digest[1], spread.digest[1]);
}

/* --- steps --- */

static void step_add(struct model *m, int64_t at_ms, struct step step, struct bytes *body)
{
    step.at_ns = at_ms * 1000000;
    if (body != NULL)
        step.body = *body;
    g_array_append_val(m->steps, step);
}

void model_send(struct model *m, int64_t at_ms, uint32_t from, uint32_t to, uint16_t kind, uint64_t tag,
                struct bytes *body)
{
    step_add(m, at_ms, (struct step){ .actor = from, .to = to, .kind = kind, .tag = tag }, body);
}

void model_call(struct model *m, int64_t at_ms, uint32_t from, uint32_t to, uint16_t kind, uint64_t tag,
                struct bytes *body)
{
    step_add(m, at_ms, (struct step){ .actor = from, .to = to, .kind = kind, .tag = tag, .is_call = true }, body);
}

void model_call_broker(struct model *m, int64_t at_ms, uint32_t from, uint16_t kind, const char *topic)
{
    struct bytes body = BYTES_INIT;
    uint32_t broker = instance_broker(&m->inst, instance_node(&m->inst, from));
    key_put_text(&body, topic);
    step_add(m, at_ms, (struct step){ .actor = from, .to = broker, .kind = kind, .is_call = true, .is_direct = true },
             &body);
}

void model_send_broker(struct model *m, int64_t at_ms, uint32_t from, uint16_t kind, struct bytes *payload)
{
    uint32_t broker = instance_broker(&m->inst, instance_node(&m->inst, from));
    step_add(m, at_ms, (struct step){ .actor = from, .to = broker, .kind = kind, .is_direct = true }, payload);
}

const struct heard *model_heard(const struct model *m, uint32_t actor, unsigned n)
{
    for (guint i = 0; i < m->heard->len; i++) {
        const struct heard *h = &g_array_index(m->heard, struct heard, i);
        if (h->actor == actor && n-- == 0)
            return h;
    }
    return NULL;
}

const struct heard *model_stream(const struct model *m, uint32_t actor, uint64_t tag, unsigned n)
{
    for (guint i = 0; i < m->heard->len; i++) {
        const struct heard *h = &g_array_index(m->heard, struct heard, i);
        if (h->actor == actor && (h->env.flags & ENVELOPE_REPLY) != 0 && h->env.tag == tag && n-- == 0)
            return h;
    }
    return NULL;
}

const struct heard *model_answer(const struct model *m, uint32_t actor, uint64_t tag)
{
    return model_stream(m, actor, tag, 0);
}

static void transaction_send(struct model *m, int64_t at_ms, uint32_t from, uint64_t tag, const char *ns,
                             struct transaction *t)
{
    struct bytes body = BYTES_INIT;
    key_put_text(&body, ns);
    transaction_pack(t, &body);
    transaction_free(t);
    model_send(m, at_ms, from, instance_kvs(&m->inst, instance_node(&m->inst, from)), KVS_COMMIT, tag, &body);
}

void model_commit(struct model *m, int64_t at_ms, uint32_t from, uint64_t tag, const char *ns, const char *key,
                  const char *value)
{
    struct transaction *t = transaction_new(0, 0, 0);
    transaction_put(t, key, value, strlen(value));
    transaction_send(m, at_ms, from, tag, ns, t);
}

void model_append(struct model *m, int64_t at_ms, uint32_t from, uint64_t tag, const char *ns, const char *key,
                  const char *value)
{
    struct transaction *t = transaction_new(0, 0, 0);
    transaction_append(t, key, value, strlen(value));
    transaction_send(m, at_ms, from, tag, ns, t);
}

void model_lookup(struct model *m, int64_t at_ms, uint32_t from, uint64_t tag, const char *ns, const char *key)
{
    struct bytes body = BYTES_INIT;
    key_put_text(&body, ns);
    key_put_text(&body, key);
    bytes_put_u8(&body, LOOKUP_VALUE);
    bytes_put_u8(&body, 0);
    model_send(m, at_ms, from, instance_kvs(&m->inst, instance_node(&m->inst, from)), KVS_LOOKUP, tag, &body);
}

void model_namespace(struct model *m, int64_t at_ms, uint32_t from, uint64_t tag, uint16_t kind, const char *ns)
{
    struct bytes body = BYTES_INIT;
    key_put_text(&body, ns);
    if (kind == KVS_NAMESPACE_CREATE)
        bytes_put_u32(&body, 0);
    model_send(m, at_ms, from, instance_kvs(&m->inst, 0), kind, tag, &body);
}

void model_watch(struct model *m, int64_t at_ms, uint32_t from, uint64_t tag, const char *ns, const char *key,
                 uint8_t flags)
{
    struct bytes body = BYTES_INIT;
    key_put_text(&body, ns);
    key_put_text(&body, key);
    bytes_put_u8(&body, flags);
    model_send(m, at_ms, from, instance_watcher(&m->inst, instance_node(&m->inst, from)), WATCHER_WATCH, tag, &body);
}
