/* SPDX-License-Identifier: BSD-3-Clause */
#include "job_run.h"

#include <string.h>

#include "workload/bulk.h"

static struct workload *run_open(const void *source, struct actor *client, GError **error)
{
    (void)client;
    (void)error;
    const struct job_run *run = source;
    struct workload_bulk bulk = {
        .jobs = run->jobs,
        .nodes = run->nodes_per_job,
        .slots = run->slots,
        .cores_per_slot = 1,
        .duration_ns = run->duration_ns,
        .limit_ns = run->limit_ns,
    };
    return workload_bulk_new(&bulk);
}

void job_run_init(struct job_run *run)
{
    memset(run, 0, sizeof *run);
    instance_init(&run->inst);
    instance_jobs_init(&run->setup);
    run->inst.nodes = 2;
    run->inst.cores_per_node = 2;
    run->inst.jobs = &run->setup;
    run->setup.open = run_open;
    run->setup.source = run;
    run->jobs = 4;
    run->slots = 1;
    run->limit_ns = WORKLOAD_NO_LIMIT;
    run->stop_after_ns = ENGINE_NEVER_NS;
    run->rows = g_array_new(FALSE, FALSE, sizeof(struct job_row));
}

void job_run_release(struct job_run *run)
{
    g_free(run->error);
    g_array_unref(run->rows);
}

static unsigned role_index(const struct role *role)
{
    unsigned i = 0;
    while (roles[i] != role)
        i++;
    return i;
}

static void run_count(void *data, const struct actor *self, unsigned metric, uint64_t count)
{
    struct job_run *run = data;
    run->totals[role_index(actor_role(self))][metric] += count;
}

static void run_sample(void *data, const struct actor *self, unsigned metric, int64_t value)
{
    struct job_run *run = data;
    run->totals[role_index(actor_role(self))][metric]++;
    run->sums[role_index(actor_role(self))][metric] += value;
}

static void run_record(void *data, const struct actor *self, unsigned table, const void *bytes, size_t size)
{
    (void)self;
    struct job_run *run = data;
    if (table != run->setup.table)
        return;
    struct job_row row;
    struct cursor c = cursor_init(bytes, size);
    row.id = cursor_u64(&c);
    row.node = cursor_u32(&c);
    row.cores = cursor_u32(&c);
    row.result = cursor_u8(&c);
    row.watched = cursor_u8(&c);
    for (unsigned i = 0; i < JOB_TIMES; i++)
        row.times[i] = cursor_i64(&c);
    g_assert(cursor_done(&c));
    g_array_append_val(run->rows, row);
}

static gboolean run_engine(struct job_run *run, MPI_Comm comm, GError **error)
{
    int processes;
    MPI_Comm_size(comm, &processes);
    struct engine_config config = {
        .comm = comm,
        .clock = ENGINE_VIRTUAL,
        .seed = 1,
        .tick_ns = 1000000000,
        .stop_after_ns = run->stop_after_ns,
        .move_ns = 1000,
        .explicit_inbox = run->explicit_inbox,
        .spread_always = true,
        .observer = { .data = run, .count = run_count, .sample = run_sample, .record = run_record },
    };
    struct engine *e = engine_new(&config, error);
    if (e == NULL)
        return FALSE;
    engine_set_link(e, 0, 0, (struct engine_link){ .latency_ns = 50000 });
    engine_set_local_link(e, (struct engine_link){ .latency_ns = 10000 });
    const struct instance *inst = &run->inst;
    for (uint32_t id = 0; id < instance_actors(inst); id++) {
        struct instance_place place;
        instance_place(inst, id, &place);
        bool replaced = place.role == ROLE_CLIENT && run->client != NULL;
        struct engine_actor actor = {
            .role = replaced ? run->client : roles_find(place.role, place.node),
            .setup = inst,
            .node = place.node,
            .process = place.node % (uint32_t)processes,
            .thread_group = ENGINE_NO_GROUP,
            .cpu_group = ENGINE_NO_GROUP,
        };
        engine_add_actor(e, &actor);
    }
    gboolean ok = engine_start(e, error) && engine_run(e, &run->result, error);
    engine_free(e);
    return ok;
}

void job_run_go(struct job_run *run, MPI_Comm comm)
{
    GError *error = NULL;
    run->inst.jobs = &run->setup;
    run->setup.source = run;
    if (!run_engine(run, comm, &error)) {
        run->error = g_strdup(error->message);
        g_error_free(error);
    }
    MPI_Allreduce(MPI_IN_PLACE, run->totals, JOB_RUN_ROLES * JOB_RUN_METRICS, MPI_UINT64_T, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, run->sums, JOB_RUN_ROLES * JOB_RUN_METRICS, MPI_INT64_T, MPI_SUM, comm);
}

static unsigned find_metric(const char *role, const char *metric, unsigned *index)
{
    for (unsigned r = 0; roles[r] != NULL; r++)
        for (*index = 0; roles[r]->metrics != NULL && roles[r]->metrics[*index].name != NULL; (*index)++)
            if (g_str_equal(roles[r]->name, role) && g_str_equal(roles[r]->metrics[*index].name, metric))
                return r;
    g_error("no metric %s of role %s", metric, role);
}

uint64_t job_run_total(const struct job_run *run, const char *role, const char *metric)
{
    unsigned index, r = find_metric(role, metric, &index);
    return run->totals[r][index];
}

int64_t job_run_sum(const struct job_run *run, const char *role, const char *metric)
{
    unsigned index, r = find_metric(role, metric, &index);
    return run->sums[r][index];
}
