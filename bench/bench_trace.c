/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench_trace FOLDER ROWS: CPU time a row costs on its way into the trace, from the engine's observer to the closed
 * file, for rows of messages and for rows of jobs, compressed and not; and as their ceiling, what fwrite takes for as
 * many bytes. Files go to FOLDER and are removed.
 */
#include <stdio.h>
#include <stdlib.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "measure.h"
#include "trace/trace.h"

enum { ACTORS = 1024, FLUSH_ROWS = 262144, STEP_NS = 100 };

static const struct table_column columns[] = {
    { "id", "1", "number of the job", TABLE_U64, NULL },
    { "submitted", "ns", "when it was submitted", TABLE_I64, NULL },
    { "started", "ns", "when it started", TABLE_I64, NULL },
    { "ended", "ns", "when it ended", TABLE_I64, NULL },
    { "node", "1", "where it ran", TABLE_U32, NULL },
    { "cores", "1", "what it took", TABLE_U32, NULL },
};
static const struct table jobs = { "jobs", "one row a job", columns, G_N_ELEMENTS(columns) };
static const struct trace_role roles[] = { { "worker", "makes rows", NULL, 0 } };
static const struct trace_kind kinds[] = { { 1, "message" } };

static void record_event(struct trace *t, uint64_t i, uint64_t *random)
{
    int64_t time = (int64_t)i * STEP_NS;
    struct trace_event event = {
        .time_ns = time, .start_ns = time + 10, .end_ns = time + 60, .content = measure_random(random),
        .actor = (uint32_t)(*random >> 20) % ACTORS, .from = (uint32_t)(*random >> 40) % ACTORS,
        .sequence = (uint32_t)i, .kind = 1
    };
    trace_event(t, &event);
}

static void record_job(struct trace *t, uint64_t i, uint64_t *random, struct bytes *row)
{
    int64_t time = (int64_t)i * STEP_NS;
    bytes_clear(row);
    bytes_put_u64(row, i);
    bytes_put_u64(row, (uint64_t)time);
    bytes_put_u64(row, (uint64_t)time + measure_random(random) % 1000000);
    bytes_put_u64(row, (uint64_t)time + 1000000 + *random % 10000000);
    bytes_put_u32(row, (uint32_t)(*random >> 20) % ACTORS);
    bytes_put_u32(row, 1);
    trace_record(t, 0, time, 0, row->data, row->size);
}

static void fail(GError *error)
{
    g_error("%s", error->message);
}

/* CPU ns a row; *bytes becomes what a row takes in the file. */
static double measure(const char *folder, enum trace_level level, bool compress, uint64_t rows, double *bytes)
{
    g_autofree char *path = g_build_filename(folder, "bench_trace.h5", NULL);
    g_autofree uint16_t *actor_roles = g_new0(uint16_t, ACTORS);
    g_autofree uint32_t *actor_nodes = g_new0(uint32_t, ACTORS);
    struct trace_config config = {
        .path = path, .level = level, .compress = compress, .roles = roles, .role_count = 1, .tables = &jobs,
        .table_count = 1, .version = "bench", .command_line = "bench_trace", .deck = "", .kinds = kinds,
        .kind_count = 1, .actor_roles = actor_roles, .actor_nodes = actor_nodes, .actor_count = ACTORS
    };
    struct trace_ending ending = { .digest = "00000000000000000000000000000000", .end = "ended" };
    uint64_t random = 88172645463325252u;
    struct bytes row = { 0 };
    GError *error = NULL;
    GStatBuf before;
    GStatBuf after;
    struct trace *t = trace_new(&config, NULL, &error);

    if (t == NULL)
        fail(error);
    g_stat(path, &before);
    double cpu_s = -measure_cpu_s();
    for (uint64_t i = 0; i < rows; i++) {
        if (level == TRACE_LEVEL_EVENTS)
            record_event(t, i, &random);
        else
            record_job(t, i, &random, &row);
        if (i % FLUSH_ROWS == FLUSH_ROWS - 1 && !trace_flush(t, (int64_t)i * STEP_NS, &error))
            fail(error);
    }
    if (!trace_finish(t, &ending, &error))
        fail(error);
    cpu_s += measure_cpu_s();
    trace_free(t);
    bytes_release(&row);
    g_stat(path, &after);
    g_unlink(path);
    *bytes = (double)(after.st_size - before.st_size) / (double)rows;
    return cpu_s * 1e9 / (double)rows;
}

static double measure_fwrite(const char *folder, size_t row_bytes, uint64_t rows)
{
    g_autofree char *path = g_build_filename(folder, "bench_trace.raw", NULL);
    uint64_t random = 88172645463325252u;
    uint64_t row[8] = { 0 };
    FILE *f = fopen(path, "w");

    if (f == NULL)
        g_error("%s cannot be written", path);
    double cpu_s = -measure_cpu_s();
    for (uint64_t i = 0; i < rows; i++) {
        row[i % 5] = measure_random(&random);
        fwrite(row, row_bytes, 1, f);
    }
    fclose(f);
    cpu_s += measure_cpu_s();
    g_unlink(path);
    return cpu_s * 1e9 / (double)rows;
}

int main(int argc, char **argv)
{
    double event_bytes;
    double job_bytes;
    double packed_bytes;

    if (argc != 3) {
        fprintf(stderr, "usage: bench_trace FOLDER ROWS\n");
        return 2;
    }
    uint64_t rows = strtoull(argv[2], NULL, 10);
    double event_ns = measure(argv[1], TRACE_LEVEL_EVENTS, false, rows, &event_bytes);
    double job_ns = measure(argv[1], TRACE_LEVEL_JOBS, false, rows, &job_bytes);
    double packed_ns = measure(argv[1], TRACE_LEVEL_JOBS, true, rows, &packed_bytes);
    double raw_ns = measure_fwrite(argv[1], 48, rows);
    printf("trace rows %llu event_ns %.2f event_bytes %.2f job_ns %.2f job_bytes %.2f job_packed_ns %.2f "
           "job_packed_bytes %.2f fwrite_ns %.2f\n", (unsigned long long)rows, event_ns, event_bytes, job_ns, job_bytes,
           packed_ns, packed_bytes, raw_ns);
    return 0;
}
