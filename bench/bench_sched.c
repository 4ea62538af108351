/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench_sched POLICY WAITING PASSES: the cost of a scheduling pass with so many waiting jobs. All are submitted at once
 * on 256 processors; then jobs end before their limits, and after each end a pass starts what can start. Each end is
 * made up for by a new job, so that the queue keeps its length.
 */
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "sched/policy.h"

enum { PROCESSORS = 256, WIDEST = 64, LONGEST_S = 36000 };

static uint64_t state = UINT64_C(88172645463325252);

struct job {
    uint64_t id;
    int64_t end_ns;
};

static void submit(struct policy *policy, int64_t now_ns, uint64_t id)
{
    int64_t limit_s = 60 + (int64_t)(measure_random(&state) % LONGEST_S);
    uint32_t width = 1 + (uint32_t)(measure_random(&state) % WIDEST);
    policy_submit(policy, now_ns, &(struct policy_job){
        .id = id, .submit_ns = now_ns, .limit_ns = limit_s * 1000000000, .priority = 16,
        .request = { .slots = width, .cores_per_slot = 1 } });
}

static void pass(struct policy *policy, int64_t now_ns, GArray *running)
{
    struct policy_start start;
    while (policy_next(policy, now_ns, &start)) {
        int64_t length_ns = (int64_t)(measure_random(&state) % (LONGEST_S * UINT64_C(500000000)));
        struct job job = { start.id, now_ns + 1 + length_ns };
        g_array_append_val(running, job);
    }
}

static struct job first_end(GArray *running)
{
    guint first = 0;
    for (guint i = 1; i < running->len; i++)
        if (g_array_index(running, struct job, i).end_ns < g_array_index(running, struct job, first).end_ns)
            first = i;
    struct job job = g_array_index(running, struct job, first);
    g_array_remove_index_fast(running, first);
    return job;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: bench_sched POLICY WAITING PASSES\n");
        return 2;
    }
    uint64_t waiting = strtoull(argv[2], NULL, 10), passes = strtoull(argv[3], NULL, 10), id = 0;
    struct policy_config config = { .name = argv[1], .nodes = 1, .cores_per_node = PROCESSORS };
    g_autoptr(GError) error = NULL;
    struct policy *policy = policy_new(&config, &error);
    if (policy == NULL) {
        fprintf(stderr, "bench_sched: %s\n", error->message);
        return 2;
    }
    GArray *running = g_array_new(FALSE, FALSE, sizeof(struct job));
    double begin_s = measure_cpu_s();
    while (id < waiting)
        submit(policy, 0, id++);
    pass(policy, 0, running);
    double planned_s = measure_cpu_s();
    for (uint64_t i = 0; i < passes && running->len > 0; i++) {
        struct job job = first_end(running);
        policy_end(policy, job.end_ns, job.id);
        submit(policy, job.end_ns, id++);
        pass(policy, job.end_ns, running);
    }
    double done_s = measure_cpu_s();
    printf("sched_%s waiting %llu first_s %.3f pass_ms %.3f peak_bytes %.0f\n", argv[1], (unsigned long long)waiting,
           planned_s - begin_s, (done_s - planned_s) * 1000 / (double)passes, measure_peak_bytes());
    g_array_free(running, TRUE);
    policy_free(policy);
    return 0;
}
