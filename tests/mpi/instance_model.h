/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small brokered instance whose job side (ingest, job manager, scheduler, job-exec, executors, client) is played by
 * probes: actors that send what a test tells them to, when it tells them to, and write down what they get. All others
 * are the roles themselves.
 *
 *     struct model m;
 *     model_init(&m, 4, "pr2792");
 *     m.inst.merge = false;
 *     struct bytes body = BYTES_INIT;
 *     key_put_text(&body, "primary");
 *     model_send(&m, 10, instance_client(&m.inst), instance_kvs(&m.inst, 0), KVS_GETROOT, 1, &body);     at 10 ms
 *     model_run(&m);
 *     const struct heard *h = model_heard(&m, instance_client(&m.inst), 0);      the first thing it got
 *     model_release(&m);
 *
 * model_run runs it alone on this process, which is what the test then looks at, and again spread over all processes,
 * and finds the two digests equal. The bodies of the sends are used up.
 */
#ifndef TIERCEL_TESTS_INSTANCE_MODEL_H
#define TIERCEL_TESTS_INSTANCE_MODEL_H

#include "engine/engine.h"
#include "ranks/instance.h"
#include "ranks/protocol.h"
#include "ranks/route.h"

struct heard {
    uint32_t actor;
    uint16_t kind;
    int64_t time_ns;            /* the actor's clock */
    struct envelope env;        /* all 0 for what is not routed */
    uint64_t word;              /* of what is not routed and has no payload; an event's class */
    struct bytes body;
};

struct step {
    uint32_t actor;
    int64_t at_ns;
    uint32_t to;
    uint16_t kind;
    uint64_t tag;
    bool is_call;
    bool is_direct;             /* not routed: to the own broker */
    struct bytes body;
};

struct model {
    struct instance inst;
    GArray *steps;              /* of struct step */
    GArray *heard;              /* of struct heard, all actors, in the order of handling */
    bool alone;                 /* this run writes down and counts */
    struct engine *engine;      /* of the run alone, until model_release */
    struct engine_result result;
    uint64_t counts[32][64];    /* by place of the role in roles[], and metric */
};

/* 0 when it was made; nodes with two cores each, fan-out 2. */
void model_init(struct model *m, uint32_t nodes, const char *scheme);
void model_release(struct model *m);

/* At `at_ms` the probe `from` sends a routed message, makes a blocking request, or calls its own broker. */
void model_send(struct model *m, int64_t at_ms, uint32_t from, uint32_t to, uint16_t kind, uint64_t tag,
                struct bytes *body);
void model_call(struct model *m, int64_t at_ms, uint32_t from, uint32_t to, uint16_t kind, uint64_t tag,
                struct bytes *body);
void model_call_broker(struct model *m, int64_t at_ms, uint32_t from, uint16_t kind, const char *topic);
/* A payload as it is to its own broker, without waiting. */
void model_send_broker(struct model *m, int64_t at_ms, uint32_t from, uint16_t kind, struct bytes *payload);

void model_run(struct model *m);

/* The n-th thing (from 0) that the probe got; NULL when there is none. */
const struct heard *model_heard(const struct model *m, uint32_t actor, unsigned n);
/* The first answer to the request with this tag. */
const struct heard *model_answer(const struct model *m, uint32_t actor, uint64_t tag);
/* The n-th. */
const struct heard *model_stream(const struct model *m, uint32_t actor, uint64_t tag, unsigned n);

/* A metric's sum over the actors of a role, by its name. */
uint64_t model_count(const struct model *m, const char *role, const char *metric);

/* Requests that tests make often, from any probe. */
void model_commit(struct model *m, int64_t at_ms, uint32_t from, uint64_t tag, const char *ns, const char *key,
                  const char *value);
void model_append(struct model *m, int64_t at_ms, uint32_t from, uint64_t tag, const char *ns, const char *key,
                  const char *value);
void model_lookup(struct model *m, int64_t at_ms, uint32_t from, uint64_t tag, const char *ns, const char *key);
void model_namespace(struct model *m, int64_t at_ms, uint32_t from, uint64_t tag, uint16_t kind, const char *ns);
void model_watch(struct model *m, int64_t at_ms, uint32_t from, uint64_t tag, const char *ns, const char *key,
                 uint8_t flags);

#endif
