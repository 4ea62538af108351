/* SPDX-License-Identifier: BSD-3-Clause */
/* The infrastructure of a brokered instance at work: messages, events and counts, on one process and on all. */
#include <errno.h>

#include <CUnit/Basic.h>

#include "instance_model.h"
#include "kvs/jobid.h"
#include "kvs/key.h"
#include "kvs/transaction.h"
#include "ranks/broker.h"

static bool answer_is(const struct heard *h, const char *text)
{
    if (h == NULL || h->env.error != 0)
        return false;
    struct cursor c = cursor_init(h->body.data, h->body.size);
    if (h->kind == (KVS_LOOKUP | KIND_REPLY))
        cursor_u64(&c);
    size_t size;
    const char *data = cursor_span(&c, &size);
    return cursor_done(&c) && size == strlen(text) && memcmp(data, text, size) == 0;
}

static int error_of(const struct heard *h)
{
    return h == NULL ? -1 : h->env.error;
}

static uint64_t sequence_of(const struct heard *h)
{
    struct cursor c = cursor_init(h->body.data, h->body.size);
    return cursor_u64(&c);
}

static uint32_t list_length(const struct model *m, uint32_t node, uint32_t actor)
{
    const struct topics *t = broker_subscriptions(engine_actor(m->engine, instance_broker(&m->inst, node)), actor);
    return t == NULL ? 0 : topics_length(t);
}

static void test_commit_everywhere(void)
{
    struct model m;
    model_init(&m, 7, "pr2792");
    for (uint32_t node = 0; node < 7; node++) {
        uint32_t probe = instance_executor(&m.inst, node, 1);
        char key[16];
        g_snprintf(key, sizeof key, "k.%u", node);
        model_commit(&m, 100 + 100 * node, probe, 1, "primary", key, key);
        model_lookup(&m, 1500, probe, 2, "primary", "k.6");
        model_lookup(&m, 1510, probe, 3, "primary", "k.0");
        model_lookup(&m, 1520, probe, 4, "primary", "k.7");
        model_lookup(&m, 1530, probe, 5, "primary", "k");
        model_lookup(&m, 1540, probe, 6, "primary", "k.1.x");
    }
    model_run(&m);
    for (uint32_t node = 0; node < 7; node++) {
        uint32_t probe = instance_executor(&m.inst, node, 1);
        CU_ASSERT_EQUAL(error_of(model_answer(&m, probe, 1)), 0);
        CU_ASSERT_EQUAL(sequence_of(model_answer(&m, probe, 1)), node + 1);
        CU_ASSERT_TRUE(answer_is(model_answer(&m, probe, 2), "k.6"));
        CU_ASSERT_EQUAL(sequence_of(model_answer(&m, probe, 2)), 7);
        CU_ASSERT_TRUE(answer_is(model_answer(&m, probe, 3), "k.0"));
        CU_ASSERT_EQUAL(error_of(model_answer(&m, probe, 4)), ENOENT);
        CU_ASSERT_EQUAL(error_of(model_answer(&m, probe, 5)), EISDIR);
        CU_ASSERT_EQUAL(error_of(model_answer(&m, probe, 6)), ENOTDIR);
    }
    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "transactions"), 7);
    CU_ASSERT_EQUAL(model_count(&m, "broker", "published_setroot"), 7);
    CU_ASSERT_EQUAL(model_count(&m, "broker", "overlay_kvs"), 7 * 6);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-worker", "getroots"), 6);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-worker", "namespace_calls"), 0);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-worker", "other_calls"), 6 * (3 + 1));
    CU_ASSERT_EQUAL(model_count(&m, "broker", "duplicates"), 0);
    CU_ASSERT_EQUAL(model_count(&m, "broker", "gaps"), 0);
    model_release(&m);
}

/* A namespace that a node at depth 3 uses: one life, under each scheme. */
static void namespace_life(const char *scheme, unsigned root_calls, unsigned worker_calls, unsigned root_leak,
                           unsigned worker_leak)
{
    struct model m;
    model_init(&m, 8, scheme);
    uint32_t client = instance_client(&m.inst), user = instance_executor(&m.inst, 7, 0);
    model_namespace(&m, 10, client, 1, KVS_NAMESPACE_CREATE, "job-1");
    model_namespace(&m, 20, client, 2, KVS_NAMESPACE_CREATE, "job-1");
    model_commit(&m, 100, user, 3, "job-1", "a", "one");
    model_commit(&m, 200, user, 4, "job-1", "b", "two");
    model_namespace(&m, 300, client, 5, KVS_NAMESPACE_REMOVE, "job-1");
    model_lookup(&m, 400, user, 6, "job-1", "a");
    model_commit(&m, 410, user, 7, "job-1", "c", "three");
    model_namespace(&m, 420, client, 8, KVS_NAMESPACE_CREATE, "job-1");
    model_namespace(&m, 430, client, 9, KVS_NAMESPACE_REMOVE, "job-1");
    model_run(&m);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, client, 1)), 0);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, client, 2)), EEXIST);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 3)), 0);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 4)), 0);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, client, 5)), 0);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 6)), ENOTSUP);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 7)), ENOTSUP);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, client, 8)), EEXIST);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, client, 9)), 0);

    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "created"), 1);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "removed"), 1);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "reaped"), 1);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-worker", "reaped"), 3);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "namespace_calls"), root_calls);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-worker", "namespace_calls"), 3 * worker_calls);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-worker", "other_calls"), 3 * 3);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-worker", "getroots"), 3);
    CU_ASSERT_EQUAL(model_count(&m, "broker", "calls"), root_calls + 3 * worker_calls + 9);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "entries_added") - model_count(&m, "kvs-root", "entries_removed"),
                    root_leak);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-worker", "entries_added") - model_count(&m, "kvs-worker", "entries_removed"),
                    3 * worker_leak);

    unsigned root_load = g_str_equal(scheme, "pr2792") ? 5 : 7;    /* with the generic entry of every module */
    CU_ASSERT_EQUAL(list_length(&m, 0, instance_kvs(&m.inst, 0)), root_load + root_leak);
    static const uint32_t path[] = { 7, 3, 1 };
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(list_length(&m, path[i], instance_kvs(&m.inst, path[i])), 4 + worker_leak);
    CU_ASSERT_EQUAL(list_length(&m, 2, instance_kvs(&m.inst, 2)), 1);

    uint64_t kvs_events = model_count(&m, "broker", "published_setroot") +
                          model_count(&m, "broker", "published_created") +
                          model_count(&m, "broker", "published_removed") +
                          model_count(&m, "broker", "published_error");
    CU_ASSERT_EQUAL(kvs_events, 2 + 1 + 1);
    CU_ASSERT_EQUAL(model_count(&m, "broker", "overlay_kvs"), kvs_events * 7);
    /* node 0 hears of its own creation where it has one prefix for all */
    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "discarded"), g_str_equal(scheme, "pr2792") ? 1 : 0);
    CU_ASSERT(m.result.end_ns > 2000000000);    /* it waited for the heartbeat */
    model_release(&m);
}

static void test_namespace_v016(void)
{
    namespace_life("v0.16", 5, 5, 1, 1);
}

static void test_namespace_pr2777(void)
{
    namespace_life("pr2777", 0, 6, 0, 2);
}

static void test_namespace_pr2792(void)
{
    namespace_life("pr2792", 0, 2, 0, 0);
}

static void merge_run(bool merge, uint64_t merged)
{
    struct model m;
    model_init(&m, 3, "pr2792");
    m.inst.merge = merge;
    uint32_t a = instance_executor(&m.inst, 0, 0), b = instance_executor(&m.inst, 2, 0);
    model_commit(&m, 10, b, 1, "primary", "warm", "up");
    for (uint64_t i = 0; i < 6; i++) {
        model_commit(&m, 100, a, 10 + i, "primary", "a", "x");
        model_commit(&m, 100, b, 10 + i, "primary", "b", "y");
    }
    model_run(&m);
    for (uint64_t i = 0; i < 6; i++) {
        CU_ASSERT_EQUAL(error_of(model_answer(&m, a, 10 + i)), 0);
        CU_ASSERT_EQUAL(error_of(model_answer(&m, b, 10 + i)), 0);
    }
    uint64_t setroots = model_count(&m, "broker", "published_setroot");
    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "transactions"), 13);
    CU_ASSERT_EQUAL(setroots, 13 - model_count(&m, "kvs-root", "merged"));
    CU_ASSERT(merged == 0 ? setroots == 13 : setroots < 13);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "own_commits") + model_count(&m, "kvs-worker", "own_commits"), 13);
    model_release(&m);
}

static void test_merge(void)
{
    merge_run(true, 1);
    merge_run(false, 0);
}

/* A set in which one member cannot be applied: the others get through, one by one. */
static void test_merge_retry(void)
{
    struct model m;
    model_init(&m, 2, "pr2792");
    uint32_t user = instance_executor(&m.inst, 0, 0);
    model_commit(&m, 100, user, 1, "primary", "a", "x");
    model_commit(&m, 100, user, 2, "primary", "b", "x");
    model_commit(&m, 100, user, 3, "primary", ".", "x");
    model_commit(&m, 100, user, 4, "primary", "c", "x");
    model_lookup(&m, 500, user, 5, "primary", "c");
    model_run(&m);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 1)), 0);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 2)), 0);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 3)), EINVAL);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 4)), 0);
    CU_ASSERT_TRUE(answer_is(model_answer(&m, user, 5), "x"));
    CU_ASSERT_EQUAL(model_count(&m, "broker", "published_error"), 1);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "failed"), 1);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "setroots") + model_count(&m, "kvs-root", "merged"), 3);
    model_release(&m);
}

/* A node reads a root from its parent and subscribes afterwards: what is published in between passes it by. */
static void test_missed_root(void)
{
    struct model m;
    model_init(&m, 2, "pr2792");
    m.inst.costs.broker_subscribe = (struct cost){ 50000000, 0, 0 };
    uint32_t client = instance_client(&m.inst), user = instance_executor(&m.inst, 1, 0);
    model_lookup(&m, 100, user, 1, "primary", "a");
    model_commit(&m, 150, client, 2, "primary", "a", "x");
    model_lookup(&m, 500, user, 3, "primary", "a");
    model_commit(&m, 600, client, 4, "primary", "b", "y");
    model_lookup(&m, 700, user, 5, "primary", "a");
    model_run(&m);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 1)), ENOENT);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, client, 2)), 0);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 3)), ENOENT);
    CU_ASSERT_TRUE(answer_is(model_answer(&m, user, 5), "x"));
    CU_ASSERT_EQUAL(model_count(&m, "broker", "dropped"), 1);
    model_release(&m);
}

static void event_send(struct model *m, int64_t at_ms, uint64_t sequence)
{
    struct bytes payload = BYTES_INIT;
    bytes_put_u64(&payload, sequence);
    bytes_put_u8(&payload, EVENT_OTHER);
    key_put_text(&payload, "test");
    bytes_put_span(&payload, NULL, 0);
    model_send_broker(m, at_ms, instance_executor(&m->inst, 1, 0), BROKER_EVENT, &payload);
}

static void test_event_sequence(void)
{
    struct model m;
    model_init(&m, 4, "pr2792");
    uint32_t user = instance_executor(&m.inst, 3, 0);
    model_call_broker(&m, 10, user, BROKER_SUBSCRIBE, "");
    event_send(&m, 100, 1);
    event_send(&m, 110, 1);
    event_send(&m, 120, 0);
    event_send(&m, 130, 5);
    event_send(&m, 140, 4);
    model_run(&m);
    CU_ASSERT_EQUAL(model_count(&m, "broker", "duplicates"), 3);    /* node 1 passes on what it takes */
    CU_ASSERT_EQUAL(model_count(&m, "broker", "gaps"), 2 * 3);
    CU_ASSERT_EQUAL(model_count(&m, "broker", "delivered"), 2);
    CU_ASSERT_EQUAL(model_heard(&m, user, 1)->word, EVENT_OTHER);
    CU_ASSERT_PTR_NOT_NULL(model_heard(&m, user, 2));
    CU_ASSERT_PTR_NULL(model_heard(&m, user, 3));
    model_release(&m);
}

static void test_watch(void)
{
    struct model m;
    model_init(&m, 4, "v0.16");
    uint32_t client = instance_client(&m.inst), user = instance_executor(&m.inst, 3, 0);
    uint32_t other = instance_executor(&m.inst, 3, 1);
    model_namespace(&m, 10, client, 1, KVS_NAMESPACE_CREATE, "job-1");
    model_watch(&m, 100, user, 2, "job-1", "log", WATCHER_APPEND | WATCHER_WAIT_CREATE);
    model_watch(&m, 110, user, 3, "job-1", "log", 0);
    model_watch(&m, 120, other, 3, "job-1", "value", WATCHER_WAIT_CREATE);
    model_append(&m, 200, client, 4, "job-1", "log", "one ");
    model_append(&m, 300, user, 5, "job-1", "log", "two ");
    model_append(&m, 400, client, 6, "job-1", "log", "three");
    model_commit(&m, 410, client, 7, "job-1", "value", "v");
    struct bytes tag = BYTES_INIT;
    bytes_put_u64(&tag, 3);
    model_send(&m, 500, other, instance_watcher(&m.inst, 3), WATCHER_CANCEL, 9, &tag);
    model_namespace(&m, 600, client, 8, KVS_NAMESPACE_REMOVE, "job-1");
    model_watch(&m, 700, user, 10, "job-1", "log", 0);
    model_run(&m);
    CU_ASSERT_TRUE(answer_is(model_stream(&m, user, 2, 0), "one "));
    CU_ASSERT_TRUE(answer_is(model_stream(&m, user, 2, 1), "two "));
    CU_ASSERT_TRUE(answer_is(model_stream(&m, user, 2, 2), "three"));
    CU_ASSERT_EQUAL(error_of(model_stream(&m, user, 2, 3)), ENOTSUP);
    CU_ASSERT_PTR_NULL(model_stream(&m, user, 2, 4));
    CU_ASSERT_EQUAL(error_of(model_stream(&m, user, 3, 0)), ENOENT);
    CU_ASSERT_PTR_NULL(model_stream(&m, user, 3, 1));
    CU_ASSERT_TRUE(answer_is(model_stream(&m, other, 3, 0), "v"));
    CU_ASSERT_EQUAL(error_of(model_stream(&m, other, 3, 1)), ENODATA);
    CU_ASSERT_PTR_NULL(model_stream(&m, other, 3, 2));
    CU_ASSERT_EQUAL(error_of(model_stream(&m, user, 10, 0)), ENOTSUP);
    CU_ASSERT_EQUAL(model_count(&m, "watcher", "monitors"), 2);     /* the last found no namespace */
    CU_ASSERT_EQUAL(model_count(&m, "watcher", "namespace_calls"), 12);
    CU_ASSERT_EQUAL(list_length(&m, 3, instance_watcher(&m.inst, 3)), 1);
    CU_ASSERT(model_count(&m, "watcher", "call_blocked") > 0);
    model_release(&m);
}

/* A watcher's last watch ends by itself, by cancel, or by removal: the calls are made each time. */
static void test_watch_calls(void)
{
    static const struct { const char *scheme; unsigned calls; } known[] = { { "pr2777", 6 }, { "pr2792", 2 } };
    for (int i = 0; i < 2; i++) {
        struct model m;
        model_init(&m, 2, known[i].scheme);
        uint32_t client = instance_client(&m.inst), user = instance_executor(&m.inst, 1, 0);
        model_namespace(&m, 10, client, 1, KVS_NAMESPACE_CREATE, "job-1");
        model_watch(&m, 100, user, 2, "job-1", "log", WATCHER_WAIT_CREATE);
        struct bytes tag = BYTES_INIT;
        bytes_put_u64(&tag, 2);
        model_send(&m, 200, user, instance_watcher(&m.inst, 1), WATCHER_CANCEL, 9, &tag);
        model_watch(&m, 300, user, 3, "primary", "none", 0);
        model_namespace(&m, 400, client, 4, KVS_NAMESPACE_REMOVE, "job-1");
        model_run(&m);
        CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 2)), ENODATA);
        CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 3)), ENOENT);
        CU_ASSERT_EQUAL(model_count(&m, "watcher", "namespace_calls"), known[i].calls);
        CU_ASSERT_EQUAL(model_count(&m, "watcher", "other_calls"), known[i].calls);
        model_release(&m);
    }
}

/* ns1's subscriptions also match ns10's events. */
static void test_prefix_hazard(void)
{
    struct model m;
    model_init(&m, 2, "pr2792");
    uint32_t client = instance_client(&m.inst), user = instance_executor(&m.inst, 1, 0);
    model_namespace(&m, 10, client, 1, KVS_NAMESPACE_CREATE, "ns1");
    model_namespace(&m, 20, client, 2, KVS_NAMESPACE_CREATE, "ns10");
    model_commit(&m, 100, user, 3, "ns1", "a", "x");
    model_commit(&m, 200, client, 4, "ns10", "a", "x");
    model_namespace(&m, 300, client, 5, KVS_NAMESPACE_REMOVE, "ns1");
    model_namespace(&m, 310, client, 6, KVS_NAMESPACE_REMOVE, "ns10");
    model_run(&m);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 3)), 0);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, client, 4)), 0);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-worker", "discarded"), 2);     /* ns10's root and its removal */
    model_release(&m);
}

static void test_errors(void)
{
    struct model m;
    model_init(&m, 3, "v0.16");
    uint32_t user = instance_executor(&m.inst, 2, 0), local = instance_executor(&m.inst, 0, 0);
    model_commit(&m, 10, user, 1, "nothing", "a", "x");
    model_lookup(&m, 20, user, 2, "nothing", "a");
    model_commit(&m, 30, local, 3, "nothing", "a", "x");
    model_namespace(&m, 40, user, 4, KVS_NAMESPACE_REMOVE, "primary");
    model_namespace(&m, 50, user, 5, KVS_NAMESPACE_REMOVE, "nothing");
    model_commit(&m, 60, user, 6, "primary", ".", "x");
    model_commit(&m, 70, local, 7, "primary", ".", "x");
    model_run(&m);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 1)), ENOTSUP);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 2)), ENOTSUP);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, local, 3)), ENOTSUP);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 4)), ENOTSUP);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 5)), 0);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 6)), EINVAL);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, local, 7)), EINVAL);
    CU_ASSERT_EQUAL(model_count(&m, "broker", "published_removed"), 0);
    CU_ASSERT_EQUAL(model_count(&m, "broker", "published_error"), 2);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "failed"), 2);
    model_release(&m);
}

static void fence_send(struct model *m, int64_t at_ms, uint64_t tag, const char *ns, uint32_t user, const char *fence,
                       uint32_t participants, uint32_t flags, const char *key)
{
    struct bytes body = BYTES_INIT;
    struct transaction *t = transaction_new(0, 0, flags);
    transaction_put(t, key, "x", 1);
    key_put_text(&body, ns);
    bytes_put_u32(&body, user);
    key_put_text(&body, fence);
    bytes_put_u32(&body, participants);
    transaction_pack(t, &body);
    transaction_free(t);
    model_send(m, at_ms, instance_client(&m->inst), instance_kvs(&m->inst, 0), KVS_FENCE, tag, &body);
}

static void sync_send(struct model *m, int64_t at_ms, uint64_t tag, const char *ns, uint32_t user, uint64_t sequence)
{
    struct bytes body = BYTES_INIT;
    key_put_text(&body, ns);
    bytes_put_u32(&body, user);
    bytes_put_u64(&body, sequence);
    model_send(m, at_ms, instance_client(&m->inst), instance_kvs(&m->inst, 0), KVS_SYNC, tag, &body);
}

/* Every way in which a part of a fence, or a wait for a version, can end but well. */
static void test_fence_errors(void)
{
    static const struct { uint64_t tag; int error; } known[] = {
        { 10, 0 }, { 11, EINVAL }, { 12, EINVAL }, { 13, EINVAL }, { 14, 0 }, { 15, EOVERFLOW },
        { 20, EPERM }, { 21, ENOTSUP }, { 22, EPERM }, { 23, ENOTSUP },
        { 30, EINVAL }, { 31, EINVAL }, { 40, 0 }, { 41, ENOTSUP }, { 42, ENOTSUP }, { 43, ENOTSUP },
        { 50, ENOTSUP }, { 51, ENOTSUP }
    };
    struct model m;
    model_init(&m, 2, "pr2792");
    uint32_t client = instance_client(&m.inst);
    model_namespace(&m, 10, client, 1, KVS_NAMESPACE_CREATE, "job-1");
    /* Others than the first said: how many, with which flags, how many at all; and one too many. */
    fence_send(&m, 20, 10, "job-1", 0, "a", 2, 0, "k.10");
    fence_send(&m, 30, 11, "job-1", 0, "a", 3, 0, "k.11");
    fence_send(&m, 40, 12, "job-1", 0, "a", 2, TRANSACTION_NO_MERGE, "k.12");
    fence_send(&m, 50, 13, "job-1", 0, "b", 0, 0, "k.13");
    fence_send(&m, 60, 14, "job-1", 0, "a", 2, 0, "k.14");
    fence_send(&m, 60, 15, "job-1", 0, "a", 2, 0, "k.15");
    fence_send(&m, 100, 20, "job-1", 7, "c", 1, 0, "k.20");
    fence_send(&m, 110, 21, "nothing", 0, "c", 1, 0, "k.21");
    sync_send(&m, 120, 22, "job-1", 7, 1);
    sync_send(&m, 130, 23, "nothing", 0, 1);
    /* Its operations fail: all who took part hear of it. */
    fence_send(&m, 200, 30, "job-1", 0, "d", 2, 0, "k.30");
    fence_send(&m, 210, 31, "job-1", 0, "d", 2, 0, ".");
    /* Removed before the last has come, and before the version. */
    sync_send(&m, 300, 40, "job-1", 0, 1);
    sync_send(&m, 310, 41, "job-1", 0, 2);
    fence_send(&m, 320, 42, "job-1", 0, "e", 3, 0, "k.42");
    fence_send(&m, 330, 43, "job-1", 0, "e", 3, 0, "k.43");
    model_namespace(&m, 400, client, 2, KVS_NAMESPACE_REMOVE, "job-1");
    fence_send(&m, 410, 50, "job-1", 0, "e", 3, 0, "k.50");
    sync_send(&m, 420, 51, "job-1", 0, 1);
    model_run(&m);
    for (unsigned i = 0; i < G_N_ELEMENTS(known); i++)
        CU_ASSERT_EQUAL(error_of(model_answer(&m, client, known[i].tag)), known[i].error);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "fences"), 2);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "syncs"), 2);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "refused"), 2);
    CU_ASSERT_EQUAL(model_count(&m, "broker", "published_setroot"), 1);
    CU_ASSERT_EQUAL(model_count(&m, "broker", "published_error"), 1);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "reaped"), 1);
    model_release(&m);
}

/* Commits that are on their way when the namespace goes are all answered, and nothing keeps it from going. */
static void test_removal_in_flight(void)
{
    struct model m;
    model_init(&m, 4, "pr2777");
    uint32_t client = instance_client(&m.inst), user = instance_executor(&m.inst, 3, 0);
    model_namespace(&m, 10, client, 1, KVS_NAMESPACE_CREATE, "job-1");
    model_commit(&m, 50, user, 2, "job-1", "a", "x");
    for (uint64_t i = 0; i < 8; i++)
        model_commit(&m, 100, user, 10 + i, "job-1", "a", "x");
    model_namespace(&m, 100, client, 3, KVS_NAMESPACE_REMOVE, "job-1");
    model_run(&m);
    unsigned failed = 0;
    for (uint64_t i = 0; i < 8; i++) {
        const struct heard *h = model_answer(&m, user, 10 + i);
        CU_ASSERT(error_of(h) == 0 || error_of(h) == ENOTSUP);
        failed += error_of(h) == ENOTSUP;
    }
    CU_ASSERT(failed > 0);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "reaped"), 1);
    CU_ASSERT_EQUAL(model_count(&m, "kvs-worker", "reaped"), 2);
    model_release(&m);
}

static void test_blocking_client(void)
{
    struct model m;
    model_init(&m, 4, "pr2792");
    uint32_t user = instance_executor(&m.inst, 3, 0);
    struct bytes body = BYTES_INIT;
    key_put_text(&body, "nothing");
    model_call(&m, 10, user, instance_kvs(&m.inst, 0), KVS_NAMESPACE_REMOVE, 1, &body);
    model_call_broker(&m, 11, user, BROKER_SUBSCRIBE, "kvs.name");
    model_call_broker(&m, 12, user, BROKER_SERVICE_ADD, "shell-1");
    model_call_broker(&m, 13, user, BROKER_SERVICE_ADD, "shell-1");
    model_call_broker(&m, 14, user, BROKER_UNSUBSCRIBE, "kvs.namespace");
    model_namespace(&m, 20, instance_client(&m.inst), 2, KVS_NAMESPACE_CREATE, "job-1");
    model_call_broker(&m, 30, user, BROKER_UNSUBSCRIBE, "kvs.name");
    model_call_broker(&m, 31, user, BROKER_SERVICE_REMOVE, "shell-1");
    model_call_broker(&m, 32, user, BROKER_SERVICE_REMOVE, "shell-1");
    model_namespace(&m, 40, instance_client(&m.inst), 3, KVS_NAMESPACE_CREATE, "job-2");
    model_run(&m);
    static const struct { uint16_t kind; uint64_t word; } known[] = {
        { KVS_NAMESPACE_REMOVE | KIND_REPLY, 0 },
        { BROKER_SUBSCRIBE | KIND_REPLY, 0 },
        { BROKER_SERVICE_ADD | KIND_REPLY, 0 },
        { BROKER_SERVICE_ADD | KIND_REPLY, EEXIST },
        { BROKER_UNSUBSCRIBE | KIND_REPLY, ENOENT },
        { BROKER_EVENT, EVENT_CREATED },
        { BROKER_UNSUBSCRIBE | KIND_REPLY, 0 },
        { BROKER_SERVICE_REMOVE | KIND_REPLY, 0 },
        { BROKER_SERVICE_REMOVE | KIND_REPLY, ENOENT },
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(known); i++) {
        const struct heard *h = model_heard(&m, user, i);
        CU_ASSERT_PTR_NOT_NULL_FATAL(h);
        CU_ASSERT_EQUAL(h->kind, known[i].kind);
        CU_ASSERT_EQUAL(h->word, known[i].word);
    }
    CU_ASSERT_PTR_NULL(model_heard(&m, user, G_N_ELEMENTS(known)));
    CU_ASSERT_EQUAL(list_length(&m, 3, user), 0);
    model_release(&m);
}

static void job_state_send(struct model *m, int64_t at_ms, uint64_t tag, uint64_t job, uint8_t state)
{
    struct bytes event = BYTES_INIT, body = BYTES_INIT;
    bytes_put_u32(&event, 1);
    bytes_put_u64(&event, job);
    bytes_put_u8(&event, state);
    bytes_put_u8(&body, EVENT_JOB_STATE);
    key_put_text(&body, "job-state");
    bytes_put_span(&body, event.data, event.size);
    bytes_release(&event);
    model_send(m, at_ms, instance_job_manager(&m->inst), instance_broker(&m->inst, 0), BROKER_PUBLISH_REQUEST, tag,
               &body);
}

static void test_job_info(void)
{
    enum { JOB = 0x123456789abc };
    struct model m;
    model_init(&m, 5, "pr2792");
    m.inst.merge = false;
    uint32_t manager = instance_job_manager(&m.inst), user = instance_executor(&m.inst, 4, 0);
    char key[64], ns[JOBID_NAMESPACE_SIZE];
    jobid_to_namespace(JOB, ns);
    jobid_to_entry(JOB, "eventlog", key, sizeof key);
    model_append(&m, 10, manager, 1, "primary", key, "{\"name\":\"submit\"}\n");
    jobid_to_entry(JOB, "jobspec", key, sizeof key);
    model_commit(&m, 11, manager, 2, "primary", key, "the jobspec");
    jobid_to_entry(JOB, "R", key, sizeof key);
    model_commit(&m, 12, manager, 3, "primary", key, "the resources");
    model_namespace(&m, 13, manager, 4, KVS_NAMESPACE_CREATE, ns);
    job_state_send(&m, 100, 5, JOB, JOB_DEPEND);
    job_state_send(&m, 200, 6, JOB, JOB_SCHED);
    job_state_send(&m, 300, 7, JOB, JOB_RUN);

    struct bytes lookup = BYTES_INIT;
    bytes_put_u64(&lookup, JOB);
    bytes_put_u8(&lookup, JOB_INFO_JOBSPEC | JOB_INFO_R);
    model_call(&m, 400, user, instance_job_info(&m.inst, 4), JOB_INFO_LOOKUP, 10, &lookup);
    lookup = (struct bytes)BYTES_INIT;
    bytes_put_u64(&lookup, JOB + 1);
    bytes_put_u8(&lookup, JOB_INFO_JOBSPEC | JOB_INFO_R);
    model_call(&m, 410, user, instance_job_info(&m.inst, 4), JOB_INFO_LOOKUP, 11, &lookup);
    for (int i = 0; i < 2; i++) {       /* one watch waits for "start", one is cancelled before */
        struct bytes watch = BYTES_INIT;
        bytes_put_u64(&watch, JOB);
        key_put_text(&watch, "input");
        model_send(&m, 500, user, instance_job_info(&m.inst, 4), JOB_INFO_WATCH, 20 + (uint64_t)i, &watch);
    }
    struct bytes cancel = BYTES_INIT;
    bytes_put_u64(&cancel, 21);
    model_send(&m, 520, user, instance_job_info(&m.inst, 4), JOB_INFO_CANCEL, 0, &cancel);
    model_append(&m, 600, manager, 8, ns, "input", "header\n");
    jobid_to_entry(JOB, "eventlog", key, sizeof key);
    model_append(&m, 700, manager, 9, "primary", key, "{\"name\":\"start\"}\n");
    model_append(&m, 800, manager, 10, ns, "input", "end\n");
    cancel = (struct bytes)BYTES_INIT;
    bytes_put_u64(&cancel, 20);
    model_send(&m, 900, user, instance_job_info(&m.inst, 4), JOB_INFO_CANCEL, 0, &cancel);
    model_namespace(&m, 1000, manager, 12, KVS_NAMESPACE_REMOVE, ns);
    model_run(&m);

    CU_ASSERT_EQUAL(sequence_of(model_answer(&m, manager, 5)) + 1, sequence_of(model_answer(&m, manager, 6)));
    CU_ASSERT_EQUAL(model_count(&m, "broker", "published_job_state"), 3);
    CU_ASSERT_EQUAL(model_count(&m, "broker", "overlay_job_state"), 3 * 4);
    CU_ASSERT_EQUAL(model_count(&m, "job-info", "events"), 3 * 5);
    CU_ASSERT_EQUAL(model_count(&m, "job-info", "state_lookups"), 3 * 5);
    CU_ASSERT_EQUAL(model_count(&m, "job-info", "failed"), 2);
    CU_ASSERT(model_count(&m, "content-cache", "misses") > 0);

    const struct heard *h = model_answer(&m, user, 10);
    CU_ASSERT_EQUAL_FATAL(error_of(h), 0);
    struct cursor c = cursor_init(h->body.data, h->body.size);
    size_t size;
    const char *text = cursor_span(&c, &size);
    CU_ASSERT(size == 11 && memcmp(text, "the jobspec", size) == 0);
    text = cursor_span(&c, &size);
    CU_ASSERT(size == 13 && memcmp(text, "the resources", size) == 0);
    CU_ASSERT_TRUE(cursor_done(&c));
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 11)), ENOENT);

    CU_ASSERT_TRUE(answer_is(model_stream(&m, user, 20, 0), "header\n"));
    CU_ASSERT(model_stream(&m, user, 20, 0)->time_ns > 700000000);
    CU_ASSERT_TRUE(answer_is(model_stream(&m, user, 20, 1), "end\n"));
    CU_ASSERT_EQUAL(error_of(model_stream(&m, user, 20, 2)), ENODATA);
    CU_ASSERT_PTR_NULL(model_stream(&m, user, 20, 3));
    CU_ASSERT_EQUAL(error_of(model_stream(&m, user, 21, 0)), ENODATA);
    CU_ASSERT_PTR_NULL(model_stream(&m, user, 21, 1));
    CU_ASSERT_EQUAL(model_count(&m, "watcher", "namespace_calls"), 2);
    CU_ASSERT_EQUAL(model_count(&m, "watcher", "other_calls"), 2);
    model_release(&m);
}

/* A shell that follows its R has a watch of its log, which ends with the shell; ending it walks all watches. */
static void test_shell_follows(void)
{
    enum { JOB = 0x123456789abc, OTHERS = 5 };
    struct model m;
    model_init(&m, 1, "pr2792");
    m.inst.costs.job_info_request.per_entry_ns = 1000000;
    uint32_t manager = instance_job_manager(&m.inst), user = instance_executor(&m.inst, 0, 0);
    char key[64];
    jobid_to_entry(JOB, "eventlog", key, sizeof key);
    model_append(&m, 10, manager, 1, "primary", key, "{\"name\":\"submit\"}\n");
    jobid_to_entry(JOB, "jobspec", key, sizeof key);
    model_commit(&m, 11, manager, 2, "primary", key, "the jobspec");
    jobid_to_entry(JOB, "R", key, sizeof key);
    model_commit(&m, 12, manager, 3, "primary", key, "the resources");
    for (uint64_t i = 0; i < OTHERS; i++) {
        struct bytes watch = BYTES_INIT;
        bytes_put_u64(&watch, JOB);
        key_put_text(&watch, "eventlog");
        model_send(&m, 100, manager, instance_job_info(&m.inst, 0), JOB_INFO_WATCH, 10 + i, &watch);
    }
    struct bytes lookup = BYTES_INIT;
    bytes_put_u64(&lookup, JOB);
    bytes_put_u8(&lookup, JOB_INFO_JOBSPEC | JOB_INFO_R | JOB_INFO_FOLLOW);
    model_call(&m, 200, user, instance_job_info(&m.inst, 0), JOB_INFO_LOOKUP, 20, &lookup);
    jobid_to_entry(JOB, "eventlog", key, sizeof key);
    model_append(&m, 300, manager, 4, "primary", key, "{\"name\":\"start\"}\n");
    for (int64_t at_ms = 400; at_ms <= 500; at_ms += 100) {
        struct bytes cancel = BYTES_INIT;
        bytes_put_u64(&cancel, 99);
        model_send(&m, at_ms, user, instance_job_info(&m.inst, 0), JOB_INFO_CANCEL, 0, &cancel);
    }
    model_append(&m, 600, manager, 5, "primary", key, "{\"name\":\"clean\"}\n");
    model_run(&m);
    CU_ASSERT_EQUAL(error_of(model_answer(&m, user, 20)), 0);
    CU_ASSERT_PTR_NULL(model_heard(&m, user, 1));       /* it hears of changes of R only, and there are none */
    CU_ASSERT_EQUAL(model_count(&m, "watcher", "watches"), OTHERS + 1);
    /* The shell's end: twice the others' watches and the shell's two, the second time with a step more for its own; the
     * second shell has none. */
    CU_ASSERT_EQUAL(model_count(&m, "job-info", "walked"), 2 * (OTHERS + 2) + 1 + OTHERS);
    for (uint64_t i = 0; i < OTHERS; i++)
        CU_ASSERT_EQUAL(error_of(model_stream(&m, manager, 10 + i, 3)), ENODATA);
    model_release(&m);
}

/* Three blocking calls delay a creation by three round trips, and more behind a backlog. */
static void test_creation_blocks(void)
{
    int64_t time_ns[2];
    static const char *const schemes[] = { "v0.16", "pr2777" };
    for (int i = 0; i < 2; i++) {
        struct model m;
        model_init(&m, 1, schemes[i]);
        m.inst.costs.broker_subscribe = (struct cost){ 100000, 0, 0 };
        uint32_t client = instance_client(&m.inst);
        for (uint64_t j = 0; j < 20; j++) {
            char name[16];
            g_snprintf(name, sizeof name, "job-%02u", (unsigned)j);
            model_namespace(&m, 10, client, j, KVS_NAMESPACE_CREATE, name);
        }
        model_run(&m);
        time_ns[i] = model_answer(&m, client, 19)->time_ns;
        CU_ASSERT_EQUAL(model_count(&m, "kvs-root", "namespace_calls"), i == 0 ? 60 : 0);
        CU_ASSERT(i == 0 ? model_count(&m, "kvs-root", "call_blocked") >= 60 * 120000 : true);
        model_release(&m);
    }
    CU_ASSERT(time_ns[0] - time_ns[1] >= 60 * 120000);
}

static void test_heartbeats(void)
{
    struct model m;
    model_init(&m, 6, "pr2792");
    m.inst.heartbeat_ns = 100000000;
    for (uint32_t node = 0; node < 6; node++) {
        char key[16];
        g_snprintf(key, sizeof key, "k%u", node);
        model_commit(&m, 10, instance_executor(&m.inst, node, 0), 1, "primary", key, key);
        /* long after the caches forgot it */
        model_lookup(&m, 1850, instance_executor(&m.inst, node, 0), 2, "primary", "k3");
    }
    model_run(&m);
    uint64_t beats = model_count(&m, "broker", "published_heartbeat");
    CU_ASSERT(beats >= 18);
    CU_ASSERT_EQUAL(model_count(&m, "broker", "overlay_heartbeat"), beats * 5);
    for (uint32_t node = 0; node < 6; node++)
        CU_ASSERT_TRUE(answer_is(model_answer(&m, instance_executor(&m.inst, node, 0), 2), "k3"));
    model_release(&m);
}

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*run)(void); } tests[] = {
        { "a commit is answered and seen on every node", test_commit_everywhere },
        { "a namespace's life under v0.16", test_namespace_v016 },
        { "a namespace's life under pr2777", test_namespace_pr2777 },
        { "a namespace's life under pr2792", test_namespace_pr2792 },
        { "each new root stands for the transactions that were merged", test_merge },
        { "a set with a bad member is tried one by one", test_merge_retry },
        { "a root published before the subscription is missed", test_missed_root },
        { "events come once and in order", test_event_sequence },
        { "watches send what is new, in order, and end as they should", test_watch },
        { "monitors make their calls", test_watch_calls },
        { "a prefix also hears a longer name", test_prefix_hazard },
        { "errors come back", test_errors },
        { "fences and waits for a version end with the errors that they should", test_fence_errors },
        { "a removal answers what is on its way", test_removal_in_flight },
        { "a blocked client gets its answers in order", test_blocking_client },
        { "job-info follows on every node and serves shells", test_job_info },
        { "a shell that follows its resources costs a watch and walks", test_shell_follows },
        { "blocking calls delay a creation", test_creation_blocks },
        { "heartbeats reach every node and caches forget", test_heartbeats },
    };
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("ranks", NULL, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
        CU_add_test(suite, tests[i].name, tests[i].run);
    CU_basic_set_mode(rank == 0 ? CU_BRM_VERBOSE : CU_BRM_NORMAL);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures(), all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
    bool ran = CU_get_number_of_tests_run() == G_N_ELEMENTS(tests);
    CU_cleanup_registry();
    MPI_Finalize();
    return all != 0 || !ran;
}
