/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout, tree, schemes and costs of a brokered instance: everything that needs no engine. */
#include "ranks/instance.h"

#include "kvs/topics.h"
#include "ranks/pending.h"
#include "ranks/protocol.h"
#include "ranks/roles.h"
#include "suite.h"

/* The way back to a place, through the function of its role where there is one here. */
static uint32_t place_id(const struct instance *inst, const struct instance_place *place, uint32_t otherwise)
{
    switch (place->role) {
    case ROLE_BROKER: return instance_broker(inst, place->node);
    case ROLE_KVS: return instance_kvs(inst, place->node);
    case ROLE_WATCHER: return instance_watcher(inst, place->node);
    case ROLE_JOB_INFO: return instance_job_info(inst, place->node);
    case ROLE_INGEST: return instance_ingest(inst, place->node);
    case ROLE_CONTENT: return instance_content(inst, place->node);
    case ROLE_EXECUTOR: return instance_executor(inst, place->node, place->slot);
    case ROLE_JOB_MANAGER: return instance_job_manager(inst);
    case ROLE_SCHEDULER: return instance_scheduler(inst);
    case ROLE_JOB_EXEC: return instance_job_exec(inst);
    case ROLE_CLIENT: return instance_client(inst);
    default: return otherwise;
    }
}

/* Every number of a role is at one place of each node, at one in all, or an executor's. */
static void test_places(void)
{
    struct instance inst;
    instance_init(&inst);
    inst.first_actor = 7;
    inst.nodes = 5;
    inst.cores_per_node = 3;
    unsigned count[ROLE_NUMBERS] = { 0 };
    uint32_t last = inst.first_actor + instance_actors(&inst) - 1;
    for (uint32_t id = inst.first_actor; id <= last; id++) {
        struct instance_place place;
        instance_place(&inst, id, &place);
        CU_ASSERT_FATAL(place.role < ROLE_NUMBERS);
        CU_ASSERT_PTR_NOT_NULL(roles_find(place.role, place.node));
        CU_ASSERT_EQUAL(place.node, instance_node(&inst, id));
        CU_ASSERT_EQUAL(place_id(&inst, &place, id), id);
        CU_ASSERT(place.is_service || place.role == ROLE_EXECUTOR || place.node == 0);
        count[place.role]++;
    }
    unsigned services = 0, central = 0;
    CU_ASSERT_EQUAL(instance_executor(&inst, 4, 2), last);
    CU_ASSERT_EQUAL(count[0], 0);
    CU_ASSERT_EQUAL(count[ROLE_EXECUTOR], 15);
    for (int role = 1; role < ROLE_NUMBERS; role++) {
        CU_ASSERT(count[role] == 1 || count[role] == 5 || role == ROLE_EXECUTOR);
        services += count[role] == 5;
        central += count[role] == 1;
    }
    CU_ASSERT_EQUAL(services, SERVICES);
    CU_ASSERT_EQUAL(central, INSTANCE_CENTRAL_ACTORS);
}

/* Depths of 16 nodes as published for a binary tree, and others by counting. */
static void test_depths(void)
{
    static const struct { uint32_t nodes, fanout, max, sum; } known[] = {
        { 16, 2, 4, 38 }, { 16, 4, 2, 26 }, { 16, 8, 2, 22 }, { 16, 16, 1, 15 }, { 5, 1, 4, 10 }, { 1, 2, 0, 0 },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
        struct instance inst;
        instance_init(&inst);
        inst.nodes = known[i].nodes;
        inst.fanout = known[i].fanout;
        uint32_t max = 0, sum = 0;
        for (uint32_t n = 0; n < inst.nodes; n++) {
            uint32_t depth = instance_depth(&inst, n);
            max = MAX(max, depth);
            sum += depth;
        }
        CU_ASSERT_EQUAL(max, known[i].max);
        CU_ASSERT_EQUAL(sum, known[i].sum);
    }
}

static void test_children(void)
{
    for (uint32_t fanout = 1; fanout <= 5; fanout++) {
        struct instance inst;
        instance_init(&inst);
        inst.nodes = 23;
        inst.fanout = fanout;
        uint32_t seen = 0;
        for (uint32_t n = 0; n < inst.nodes; n++) {
            uint32_t first;
            uint32_t count = instance_children(&inst, n, &first);
            for (uint32_t i = 0; i < count; i++) {
                CU_ASSERT_EQUAL(instance_parent(&inst, first + i), n);
                seen++;
            }
        }
        CU_ASSERT_EQUAL(seen, inst.nodes - 1);
    }
}

/* Every path is followed to its end; it is as long as the tree says and passes only neighbours. */
static void test_routes(void)
{
    for (uint32_t fanout = 1; fanout <= 3; fanout++) {
        struct instance inst;
        instance_init(&inst);
        inst.nodes = 17;
        inst.fanout = fanout;
        for (uint32_t from = 0; from < inst.nodes; from++) {
            for (uint32_t to = 0; to < inst.nodes; to++) {
                uint32_t at = from, hops = 0;
                while (at != to && hops < 40) {
                    uint32_t next = instance_next_hop(&inst, at, to);
                    CU_ASSERT((next > 0 && instance_parent(&inst, next) == at) ||
                              (at > 0 && instance_parent(&inst, at) == next));
                    at = next;
                    hops++;
                }
                uint32_t a = from, b = to, distance = 0;
                while (a != b) {
                    if (a > b)
                        a = instance_parent(&inst, a);
                    else
                        b = instance_parent(&inst, b);
                    distance++;
                }
                CU_ASSERT_EQUAL(hops, distance);
            }
        }
    }
}

static unsigned list_length(const char *const *list)
{
    unsigned length = 0;
    while (list[length] != NULL)
        length++;
    return length;
}

/* Subscription calls in a namespace's life, and what they leave behind. */
static void test_scheme_counts(void)
{
    static const struct {
        const char *name;
        unsigned root_load, create, reap, root_leak, first, use, drop, worker_leak, watch, unwatch;
    } known[] = {
        { "v0.16", 6, 3, 2, 1, 3, 3, 2, 1, 3, 3 },
        { "pr2777", 6, 0, 0, 0, 3, 3, 3, 2, 3, 3 },
        { "pr2792", 4, 0, 0, 0, 3, 1, 1, 0, 1, 1 },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
        const struct scheme *scheme = scheme_find(known[i].name);
        CU_ASSERT_PTR_NOT_NULL_FATAL(scheme);
        CU_ASSERT_STRING_EQUAL(scheme_names[i], known[i].name);
        unsigned left[SCHEME_USERS], removal[SCHEME_USERS];
        for (int user = 0; user < SCHEME_USERS; user++) {
            struct topics t = TOPICS_INIT;
            const struct scheme_subscriptions *s = &scheme->users[user];
            for (const char *const *p = s->per_namespace; *p != NULL; p++) {
                char *topic = scheme_topic(*p, "job-1");
                topics_subscribe(&t, topic);
                g_free(topic);
            }
            removal[user] = 0;
            for (const struct scheme_call *c = s->at_removal; c->topic != NULL; c++, removal[user]++) {
                char *topic = scheme_topic(c->topic, "job-1");
                if (c->subscribe)
                    topics_subscribe(&t, topic);
                else
                    CU_ASSERT_TRUE(topics_unsubscribe(&t, topic));
                g_free(topic);
            }
            left[user] = topics_length(&t);
            topics_release(&t);
        }
        const struct scheme_subscriptions *users = scheme->users;
        CU_ASSERT_EQUAL(list_length(users[SCHEME_KVS_ROOT].at_load), known[i].root_load);
        CU_ASSERT_EQUAL(list_length(users[SCHEME_KVS_ROOT].per_namespace), known[i].create);
        CU_ASSERT_EQUAL(removal[SCHEME_KVS_ROOT], known[i].reap);
        CU_ASSERT_EQUAL(left[SCHEME_KVS_ROOT], known[i].root_leak);
        CU_ASSERT_EQUAL(list_length(users[SCHEME_KVS_WORKER].at_first_use), known[i].first);
        CU_ASSERT_EQUAL(list_length(users[SCHEME_KVS_WORKER].per_namespace), known[i].use);
        CU_ASSERT_EQUAL(removal[SCHEME_KVS_WORKER], known[i].drop);
        CU_ASSERT_EQUAL(left[SCHEME_KVS_WORKER], known[i].worker_leak);
        CU_ASSERT_EQUAL(list_length(users[SCHEME_WATCHER].per_namespace), known[i].watch);
        CU_ASSERT_EQUAL(removal[SCHEME_WATCHER], known[i].unwatch);
        CU_ASSERT_EQUAL(left[SCHEME_WATCHER], 0);
    }
    CU_ASSERT_PTR_NULL(scheme_find("v0.17"));
}

/* Each module hears what it acts on, of primary and of a namespace of its own. */
static void test_scheme_hears(void)
{
    static const bool needed[SCHEME_USERS][EVENT_KVS_CLASSES] = {       /* setroot, error, removed, created */
        [SCHEME_KVS_ROOT] = { true, true, true, false },
        [SCHEME_KVS_WORKER] = { true, true, true, false },
        [SCHEME_WATCHER] = { true, false, true, true },
    };
    for (const char *const *name = scheme_names; *name != NULL; name++) {
        const struct scheme *scheme = scheme_find(*name);
        for (int user = 0; user < SCHEME_USERS; user++) {
            struct topics t = TOPICS_INIT;
            const struct scheme_subscriptions *s = &scheme->users[user];
            for (const char *const *p = s->at_load; *p != NULL; p++)
                topics_subscribe(&t, *p);
            for (const char *const *p = s->per_namespace; *p != NULL; p++) {
                char *topic = scheme_topic(*p, "job-1");
                topics_subscribe(&t, topic);
                g_free(topic);
            }
            for (int event = 0; event < EVENT_KVS_CLASSES; event++) {
                char *topic = scheme_topic(scheme->topics[event], "job-1");
                bool heard = topics_match(&t, topic).matched;
                CU_ASSERT(heard || !needed[user][event]);
                g_free(topic);
            }
            topics_release(&t);
        }
    }
}

static void test_topic(void)
{
    char *topic = scheme_topic("kvs.namespace-{ns}-setroot", "job-17");
    CU_ASSERT_STRING_EQUAL(topic, "kvs.namespace-job-17-setroot");
    g_free(topic);
    topic = scheme_topic("kvs.setroot", "job-17");
    CU_ASSERT_STRING_EQUAL(topic, "kvs.setroot");
    g_free(topic);
    topic = scheme_topic("{ns}", "");
    CU_ASSERT_STRING_EQUAL(topic, "");
    g_free(topic);
}

static void test_costs(void)
{
    const struct cost cost = { 1000, 250, 7 };
    CU_ASSERT_EQUAL(cost_ns(&cost, 0, 0), 1000);
    CU_ASSERT_EQUAL(cost_ns(&cost, 3, 0), 1000);
    CU_ASSERT_EQUAL(cost_ns(&cost, 4, 0), 1001);
    CU_ASSERT_EQUAL(cost_ns(&cost, 4000, 10), 1000 + 1000 + 70);

    struct instance inst;
    instance_init(&inst);
    GHashTable *keys = g_hash_table_new(g_str_hash, g_str_equal);
    size_t count = 0;
    for (const struct cost_name *n = instance_cost_names; n->key != NULL; n++, count++) {
        const struct cost *c = (const struct cost *)((const char *)&inst.costs + n->offset);
        CU_ASSERT_EQUAL(c->fixed_ns, n->fallback.fixed_ns);
        CU_ASSERT_TRUE(g_hash_table_add(keys, (gpointer)n->key));
        CU_ASSERT(strlen(n->text) > 0);
        CU_ASSERT_EQUAL(strspn(n->key, "abcdefghijklmnopqrstuvwxyz-"), strlen(n->key));
    }
    CU_ASSERT_EQUAL(count * sizeof(struct cost), sizeof inst.costs);
    g_hash_table_destroy(keys);
}

static void test_pending(void)
{
    struct pending p;
    pending_init(&p, g_free);
    CU_ASSERT_EQUAL(pending_add(&p, g_strdup("a")), 1);
    CU_ASSERT_EQUAL(pending_add(&p, g_strdup("b")), 2);
    CU_ASSERT_EQUAL(pending_add(&p, g_strdup("c")), 3);
    CU_ASSERT_STRING_EQUAL(pending_find(&p, 2), "b");
    pending_remove(&p, 2);
    CU_ASSERT_PTR_NULL(pending_find(&p, 2));
    CU_ASSERT_PTR_NULL(pending_take(&p, 2));
    CU_ASSERT_EQUAL(pending_add(&p, g_strdup("d")), 4);
    uint64_t *ids = pending_ids(&p);
    CU_ASSERT_EQUAL(pending_length(&p), 3);
    CU_ASSERT(ids[0] == 1 && ids[1] == 3 && ids[2] == 4);
    g_free(ids);
    char *taken = pending_take(&p, 3);
    CU_ASSERT_STRING_EQUAL(taken, "c");
    g_free(taken);
    pending_release(&p);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "every id has one place, and the way back", test_places },
        { "depths are those of the tree", test_depths },
        { "every node but the root is a child once", test_children },
        { "next hops lead along the shortest path", test_routes },
        { "schemes make the known number of calls and leak what is known", test_scheme_counts },
        { "modules hear the events that they act on", test_scheme_hears },
        { "a template takes the namespace", test_topic },
        { "costs add up, and each has its key", test_costs },
        { "pending items keep their numbers", test_pending },
        { NULL, NULL }
    };
    return suite_run("ranks", tests);
}
