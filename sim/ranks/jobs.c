/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/jobs.h"

const char *const job_result_names[] = {
    [JOB_COMPLETED] = "completed",
    [JOB_FAILED] = "failed",
    [JOB_KILLED] = "killed",
    [JOB_CANCELLED] = "cancelled",
    [JOB_REJECTED] = "rejected",
    [JOB_UNFINISHED] = "unfinished",
    [JOB_RESULTS] = NULL
};

const uint8_t job_exec_times[JOB_EXEC_TIMES] = {
    JOB_TIME_EXEC, JOB_TIME_NAMESPACE, JOB_TIME_READY, JOB_TIME_LAUNCH, JOB_TIME_SHELL_INIT, JOB_TIME_SHELL_START,
    JOB_TIME_TASK_END, JOB_TIME_MOVE
};

/* In the order of struct job_row, the times in that of enum job_time; a time's text begins with the role that works in
 * the step which it ends, or which that step waits for. */
const struct job_column job_columns[] = {
    { "id", "1", "job id", JOB_COLUMN_U64 },
    { "node", "1", "node it ran on; 4294967295: none", JOB_COLUMN_U32 },
    { "cores", "1", "cores it held", JOB_COLUMN_U32 },
    { "result", "1", "how it ended", JOB_COLUMN_RESULT },
    { "watched", "1", "1 when its shell saw its input; table watches: whether a watch began", JOB_COLUMN_U8 },
    { "submit", "ns", "ingest took the submission", JOB_COLUMN_I64 },
    { "depend", "ns", "ingest: the job manager took it", JOB_COLUMN_I64 },
    { "request", "ns", "job-manager: the scheduler was asked for resources", JOB_COLUMN_I64 },
    { "alloc", "ns", "scheduler: resources were allocated", JOB_COLUMN_I64 },
    { "exec", "ns", "job-exec: job-exec took the start request", JOB_COLUMN_I64 },
    { "namespace", "ns", "kvs-root: the guest namespace existed", JOB_COLUMN_I64 },
    { "ready", "ns", "job-exec: its first commits were done", JOB_COLUMN_I64 },
    { "launch", "ns", "executor: the shell's process ran", JOB_COLUMN_I64 },
    { "shell_init", "ns", "executor: the shell had committed shell.init", JOB_COLUMN_I64 },
    { "shell_start", "ns", "executor: the shell had committed shell.start", JOB_COLUMN_I64 },
    { "start", "ns", "job-manager: the job manager posted start", JOB_COLUMN_I64 },
    { "task_end", "ns", "executor: the task ended", JOB_COLUMN_I64 },
    { "finish", "ns", "job-manager: the job manager posted finish", JOB_COLUMN_I64 },
    { "move", "ns", "job-exec: the guest namespace was copied and removed", JOB_COLUMN_I64 },
    { "release", "ns", "job-manager: the job manager posted release", JOB_COLUMN_I64 },
    { "free", "ns", "scheduler: the scheduler had the resources back", JOB_COLUMN_I64 },
    { "clean", "ns", "job-manager: the job turned inactive", JOB_COLUMN_I64 },
    { NULL, NULL, NULL, JOB_COLUMN_U8 }
};

void instance_jobs_init(struct instance_jobs *jobs)
{
    *jobs = (struct instance_jobs){
        .policy = { .name = "fcfs", .fit = RESOURCE_WORST_FIT },
        .validator_threshold = 32,
        .validator_idle_ns = 5 * INT64_C(1000000000),
        .watch_table = 1,
    };
}

void job_row_init(struct job_row *row, uint64_t id)
{
    *row = (struct job_row){ .id = id, .node = UINT32_MAX, .result = JOB_UNFINISHED };
    for (unsigned i = 0; i < JOB_TIMES; i++)
        row->times[i] = JOB_NEVER;
}

void job_row_put(const struct job_row *row, struct bytes *sink)
{
    bytes_put_u64(sink, row->id);
    bytes_put_u32(sink, row->node);
    bytes_put_u32(sink, row->cores);
    bytes_put_u8(sink, row->result);
    bytes_put_u8(sink, row->watched);
    for (unsigned i = 0; i < JOB_TIMES; i++)
        bytes_put_i64(sink, row->times[i]);
}

bool job_stage_ns(const struct job_row *row, enum job_stage stage, int64_t *length_ns)
{
    static const uint8_t bounds[JOB_STAGES + 1] = {
        JOB_TIME_SUBMIT, JOB_TIME_DEPEND, JOB_TIME_REQUEST, JOB_TIME_ALLOC, JOB_TIME_NAMESPACE, JOB_TIME_READY,
        JOB_TIME_LAUNCH, JOB_TIME_SHELL_START, JOB_TIME_TASK_END, JOB_TIME_FINISH, JOB_TIME_MOVE, JOB_TIME_CLEAN
    };
    int64_t from = row->times[bounds[stage]];
    int64_t to = row->times[bounds[stage + 1]];
    /* A short task may end while its shell still waits for "shell.start" to be committed. */
    int64_t shell_start = row->times[JOB_TIME_SHELL_START];
    if (stage == JOB_STAGE_RUN && to != JOB_NEVER)
        to = MAX(to, from);
    if (stage == JOB_STAGE_FINISH && from != JOB_NEVER)
        from = MAX(from, shell_start);
    if (from == JOB_NEVER || to == JOB_NEVER)
        return false;
    *length_ns = to - from;
    return true;
}
