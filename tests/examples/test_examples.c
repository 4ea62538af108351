/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worked examples of CONTRIBUTING.md do what they say: each is built with the library as it is, and played.
 * Collective: the role is played on however many processes this is started on.
 */
#include <glib/gstdio.h>
#include <unistd.h>

#include "engine/engine.h"
#include "examples.h"
#include "suite.h"

static void test_policy(void)
{
    struct policy_config config = { .nodes = 1, .cores_per_node = 4 };
    struct policy *policy = policy_new_with_rule(&policy_rule_widest, &config);
    const struct resource_request requests[] = {
        { .slots = 1, .cores_per_slot = 1 }, { .slots = 1, .cores_per_slot = 3 },
        { .nodes = 1, .slots = 2, .cores_per_slot = 2 }, { .slots = 2, .cores_per_slot = 1 },
        { .slots = 1, .cores_per_slot = 1 }
    };
    for (uint64_t id = 0; id < G_N_ELEMENTS(requests); id++) {
        struct policy_job job = { id, 0, POLICY_NO_LIMIT, 16, requests[id] };
        CU_ASSERT_TRUE(policy_submit(policy, 0, &job));
    }
    struct policy_start start;
    CU_ASSERT_TRUE(policy_next(policy, 0, &start));
    CU_ASSERT_EQUAL(start.id, 2);
    CU_ASSERT_FALSE(policy_next(policy, 0, &start));
    CU_ASSERT_FALSE(policy_ready(policy));
    policy_end(policy, 5, 2);
    const uint64_t then[] = { 1, 0 };
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_TRUE(policy_next(policy, 5, &start));
        CU_ASSERT_EQUAL(start.id, then[i]);
    }
    CU_ASSERT_FALSE(policy_next(policy, 5, &start));    /* 3 needs two, one is left, and 0 has the other */
    CU_ASSERT_EQUAL(policy_waiting(policy), 2);
    policy_free(policy);
}

static void test_rule(void)
{
    const uint64_t chunk = 64 << 20;
    struct inode inode;
    struct inode_write first = { 0, 4096, false }, second = { 4096, 4096, false };
    struct inode_write crossing = { chunk - 1, 2, false }, appending = { 0, 1, true };

    inode_init_with_rule(&inode, &inode_rule_chunks, true);
    CU_ASSERT_EQUAL(inode_mode(&inode, &first), LOCK_EXCLUSIVE);
    CU_ASSERT_EQUAL(inode_verdict(&inode, &first, LOCK_EXCLUSIVE), INODE_GO);
    inode_written(&inode, &first);
    CU_ASSERT_EQUAL(inode_mode(&inode, &second), LOCK_SHARED);
    CU_ASSERT_EQUAL(inode_verdict(&inode, &second, LOCK_SHARED), INODE_GO);
    CU_ASSERT_EQUAL(inode_mode(&inode, &crossing), LOCK_EXCLUSIVE);
    CU_ASSERT_EQUAL(inode_mode(&inode, &appending), LOCK_EXCLUSIVE);
    inode_set_size(&inode, 0);
    CU_ASSERT_EQUAL(inode_verdict(&inode, &second, LOCK_SHARED), INODE_EXCLUSIVELY);
    inode_release(&inode);
}

/* The jobs that are read from such a file, and what is said of the first that is not one. */
static unsigned read_list(const char *text, struct workload_job *jobs, char **message)
{
    g_autofree char *path = NULL;
    g_autoptr(GError) error = NULL;
    unsigned count = 0;
    int file = g_file_open_tmp("tiercel-list-XXXXXX", &path, NULL);

    *message = NULL;
    if (file < 0 || close(file) != 0 || !g_file_set_contents(path, text, -1, NULL))
        CU_FAIL_FATAL("no temporary file");
    struct workload *w = workload_list_new(path, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    while (workload_next(w, &jobs[count], &error))
        count++;
    if (error != NULL)
        *message = g_strdup(error->message);
    workload_free(w);
    g_unlink(path);
    return count;
}

static void test_source(void)
{
    struct workload_job jobs[4];
    char *message;

    CU_ASSERT_EQUAL(read_list("0 10 1\n0.5 2.25 16\n", jobs, &message), 2);
    CU_ASSERT_PTR_NULL(message);
    CU_ASSERT_EQUAL(jobs[0].duration_ns, INT64_C(10000000000));
    CU_ASSERT_EQUAL(jobs[1].submit_ns, INT64_C(500000000));
    CU_ASSERT_EQUAL(jobs[1].slots, 16);

    const char *const wrong[] = { "0 10\n", "0 10 1 2\n", "0  10 1\n", "x 10 1\n", "0 10 0\n", "0 -1 1\n",
                                  "0 1 99999999999\n" };
    for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
        CU_ASSERT_EQUAL(read_list(wrong[i], jobs, &message), 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(message);
        CU_ASSERT_PTR_NOT_NULL(strstr(message, ":1: '"));
        g_free(message);
    }
    CU_ASSERT_EQUAL(read_list("5 1 1\n4 1 1\n", jobs, &message), 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    CU_ASSERT_PTR_NOT_NULL(strstr(message, ":2: '4 1 1'"));
    g_free(message);
    CU_ASSERT_PTR_NULL(workload_list_new("/nowhere/list", NULL));
}

struct seen {
    uint64_t sent;
    uint64_t trips;
    int64_t longest_ns;
};

static void see_count(void *data, const struct actor *self, unsigned metric, uint64_t count)
{
    ((struct seen *)data)->sent += count;
}

static void see_sample(void *data, const struct actor *self, unsigned metric, int64_t value)
{
    struct seen *seen = data;
    seen->trips++;
    seen->longest_ns = MAX(seen->longest_ns, value);
}

static struct engine_result play(const struct ping_setup *setup, MPI_Comm comm, struct seen *seen)
{
    int processes;
    struct engine_result result = { 0 };
    struct engine_config config = {
        .comm = comm, .seed = 1, .tick_ns = 1000000000, .stop_after_ns = ENGINE_NEVER_NS, .spread_always = true,
        .observer = { .data = seen, .count = see_count, .sample = see_sample }
    };
    struct engine *e = engine_new(&config, NULL);

    MPI_Comm_size(comm, &processes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(e);
    engine_set_link(e, 0, 0, (struct engine_link){ .latency_ns = 1000 });
    for (uint32_t id = 0; id < setup->actors; id++)
        engine_add_actor(e, &(struct engine_actor){
            .role = &role_ping, .setup = setup, .node = id, .process = id % (uint32_t)processes,
            .thread_group = ENGINE_NO_GROUP, .cpu_group = ENGINE_NO_GROUP
        });
    CU_ASSERT_TRUE(engine_start(e, NULL) && engine_run(e, &result, NULL));
    engine_free(e);
    return result;
}

/* A question under way for 1 us, answered after 5 us of work, and 1 us back. */
static void test_role(void)
{
    const struct ping_setup setup = { .actors = 5, .questions = 100, .period_ns = 1000000, .cost_ns = 5000 };
    struct seen alone = { 0 }, together = { 0 };
    struct engine_result one = play(&setup, MPI_COMM_SELF, &alone);
    struct engine_result all = play(&setup, MPI_COMM_WORLD, &together);

    CU_ASSERT_EQUAL(one.end, ENGINE_ENDED);
    CU_ASSERT_EQUAL(alone.sent, 500);
    CU_ASSERT_EQUAL(alone.trips, 500);
    CU_ASSERT_EQUAL(alone.longest_ns, 7000);
    CU_ASSERT_EQUAL(one.handled, 1500);
    CU_ASSERT_TRUE(one.digest[0] == all.digest[0] && one.digest[1] == all.digest[1]);
}

int main(int argc, char **argv)
{
    static const struct suite_test tests[] = {
        { "a policy of one's own takes the widest job first", test_policy },
        { "a file system's rules of one's own share the lock within a chunk", test_rule },
        { "a workload format of one's own is read, or refused with its line", test_source },
        { "a role of one's own pings, with one digest on any number of processes", test_role },
        { NULL, NULL },
    };
    MPI_Init(&argc, &argv);
    int status = suite_run("examples", tests);
    MPI_Finalize();
    return status;
}
