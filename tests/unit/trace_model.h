/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A made-up run for the tests of the trace: five actors on any number of processes report figures, record jobs and
 * handle messages. What is reported depends on the step alone, so the trace must not depend on the processes.
 *
 * Actors record with a time ahead of the step's, as real ones do that are busy; and every third message shares its
 * instant with another one.
 */
#ifndef TIERCEL_TESTS_TRACE_MODEL_H
#define TIERCEL_TESTS_TRACE_MODEL_H

#include "trace/gather.h"
#include "trace/trace.h"

enum { MODEL_ACTORS = 5, MODEL_STEP_NS = 1000000 };

static const char *const model_states[] = { "completed", "failed", "killed", NULL };
static const struct table_column model_columns[] = {
    { "id", "1", "job id", TABLE_U64, NULL },
    { "submit", "ns", "when it was submitted", TABLE_I64, NULL },
    { "start", "ns", "when it was started", TABLE_I64, NULL },
    { "end", "ns", "when it ended", TABLE_I64, NULL },
    { "node", "1", "where it ran", TABLE_U32, NULL },
    { "cores", "1", "cores it had", TABLE_U16, NULL },
    { "tries", "1", "how often it was started", TABLE_U8, NULL },
    { "state", "1", "how it ended", TABLE_ENUM, model_states },
};
static const struct table model_tables[] = { { "jobs", "one row a job", model_columns,
                                               G_N_ELEMENTS(model_columns) } };

static const struct trace_metric model_broker_metrics[] = {
    { "published", "1", "events published", TRACE_COUNTER },
    { "forwarded", "1", "messages forwarded", TRACE_SERIES },
};
static const struct trace_metric model_manager_metrics[] = {
    { "queue_length", "1", "jobs waiting", TRACE_SAMPLE },
    { "alloc", "ns", "from submission to allocation", TRACE_STAGE },
    { "run", "ns", "from allocation to the end", TRACE_STAGE },
};
static const struct trace_role model_roles[] = {
    { "broker", "routes messages", model_broker_metrics, G_N_ELEMENTS(model_broker_metrics) },
    { "job-manager", "manages jobs", model_manager_metrics, G_N_ELEMENTS(model_manager_metrics) },
};
static const struct trace_kind model_kinds[] = { { 0x101, "publish" }, { 0x201, "submit" } };
static const uint16_t model_actor_roles[MODEL_ACTORS] = { 1, 0, 0, 0, 0 };
static const uint32_t model_actor_nodes[MODEL_ACTORS] = { 0, 0, 1, 2, 3 };

static inline struct trace_config model_config(const char *path, enum trace_level level)
{
    return (struct trace_config){
        .path = path, .level = level, .compress = true, .bin_ns = MODEL_STEP_NS,
        .roles = model_roles, .role_count = G_N_ELEMENTS(model_roles),
        .tables = model_tables, .table_count = 1,
        .version = "0.1.0-test", .command_line = "tiercel run model.deck", .seed = 17,
        .deck = "[deck]\nformat = 1\ntitle = a made-up run\n", .effective = "[deck]\nformat = 1\n[run]\nseed = 17\n",
        .kinds = model_kinds, .kind_count = G_N_ELEMENTS(model_kinds),
        .actor_roles = model_actor_roles, .actor_nodes = model_actor_nodes, .actor_count = MODEL_ACTORS
    };
}

/* The row of job `id`. */
static inline void model_row(struct bytes *row, uint64_t id)
{
    bytes_clear(row);
    bytes_put_u64(row, id);
    bytes_put_i64(row, (int64_t)id * MODEL_STEP_NS);
    bytes_put_i64(row, (int64_t)(id * MODEL_STEP_NS + id % 13 * 333333));
    bytes_put_i64(row, (int64_t)(id * MODEL_STEP_NS + id % 13 * 777777));
    bytes_put_u32(row, (uint32_t)(id % 4));
    bytes_put_u16(row, (uint16_t)(id % 64));
    bytes_put_u8(row, (uint8_t)(1 + id % 3));
    bytes_put_u8(row, (uint8_t)(id % 3));
}

static inline struct trace_event model_event(uint64_t step)
{
    int64_t time_ns = (int64_t)(step - step % 3 / 2) * MODEL_STEP_NS;
    return (struct trace_event){
        .time_ns = time_ns, .start_ns = time_ns + 5, .end_ns = time_ns + 5 + (int64_t)(step % 7),
        .content = step * step, .actor = (uint32_t)(step * 3 % MODEL_ACTORS), .from = (uint32_t)(step % MODEL_ACTORS),
        .sequence = (uint32_t)(step / MODEL_ACTORS), .kind = step % 2 ? 0x101 : 0x201, .order_class = 0
    };
}

/* Steps [first, end): what the actors of this process report. */
static inline void model_steps(struct trace *t, unsigned process, unsigned processes, uint64_t first, uint64_t end)
{
    struct bytes row = BYTES_INIT;
    for (uint64_t step = first; step < end; step++) {
        uint32_t actor = (uint32_t)(step * 3 % MODEL_ACTORS);
        int64_t time_ns = (int64_t)step * MODEL_STEP_NS;
        if (actor % processes != process)
            continue;
        if (actor != 0) {
            trace_count(t, 0, 0, time_ns, 2);
            trace_count(t, 0, 1, time_ns, 1 + step % 5);
        }
        trace_sample(t, 1, 0, time_ns, (int64_t)(step % 100));
        trace_sample(t, 1, 1, time_ns, (int64_t)(step * step));
        trace_sample(t, 1, 2, time_ns, (int64_t)(step % 13 * 777777));
        model_row(&row, step);
        trace_record(t, 0, time_ns + (int64_t)(step % 13 * 777777), actor, row.data, row.size);
        struct trace_event event = model_event(step);
        trace_event(t, &event);
    }
    bytes_release(&row);
}

static inline gboolean model_finish(struct trace *t, uint64_t steps, GError **error)
{
    const struct trace_role_figures roles[] = { { "broker", 4, steps * 4 / 5, 0.25, 0, 1.5, 0.001 },
                                                { "job-manager", 1, steps / 5, 0.75, 0.125, 2.5, 0.002 } };
    struct trace_ending ending = { .digest = "00112233445566778899aabbccddeeff", .walltime_s = 1.5,
                                   .end_ns = (int64_t)steps * MODEL_STEP_NS, .end = "ended", .roles = roles,
                                   .role_count = 2, .summary = "{ \"format\": 1 }\n" };
    return trace_finish(t, &ending, error);
}

/* The whole run, flushed every flush_steps (0: never). Collective over the gather. */
static inline gboolean model_run(const struct trace_config *config, struct gather *gather, uint64_t steps,
                                 uint64_t flush_steps, GError **error)
{
    struct trace *t = trace_new(config, gather, error);
    if (t == NULL)
        return FALSE;
    unsigned process = gather_process(gather), processes = gather_processes(gather);
    gboolean good = TRUE;
    for (uint64_t first = 0; good && first < steps;) {
        uint64_t end = flush_steps == 0 ? steps : MIN(steps, first + flush_steps);
        model_steps(t, process, processes, first, end);
        /* The first event of the next stretch may lie a step before it. */
        if (flush_steps != 0)
            good = trace_flush(t, (int64_t)(end - 1) * MODEL_STEP_NS, error);
        first = end;
    }
    good = good && model_finish(t, steps, error);
    trace_free(t);
    return good;
}

#endif
