/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/batch_rows.h"

#include <string.h>

#define MINUTE_NS INT64_C(60000000000)
#define SECOND_NS INT64_C(1000000000)
#define MILLION 1000000

/* --- tables --- */

static const struct table_column job_row_columns[] = {
    { "job", "1", "place in the workload, from 0", TABLE_U64, NULL },
    { "number", "1", "the workload's own number of the job", TABLE_U64, NULL },
    { "submit", "ns", "when it was submitted", TABLE_I64, NULL },
    { "start", "ns", "when it started", TABLE_I64, NULL },
    { "end", "ns", "when it ended", TABLE_I64, NULL },
    { "run", "ns", "how long it would run when nothing stops it", TABLE_I64, NULL },
    { "limit", "ns", "its requested time; the largest 64-bit number: none", TABLE_I64, NULL },
    { "requested", "1", "processors that it asked for", TABLE_U32, NULL },
    { "cores", "1", "processors that it held", TABLE_U32, NULL },
    { "name", "1", "number of its name among the texts; 0: its number is its name", TABLE_U32, NULL },
    { "profile", "1", "number of its profile's name among the texts; 0: none", TABLE_U32, NULL },
    { "result", "1", "how it ended", TABLE_ENUM, job_result_names },
};

static const struct table_column machine_columns[] = {
    { "job", "1", "place in the workload, from 0", TABLE_U64, NULL },
    { "first", "1", "first machine of the span: node x cores per node + core", TABLE_U32, NULL },
    { "last", "1", "last machine of the span", TABLE_U32, NULL },
};

static const struct table_column text_columns[] = {
    { "text", "1", "number of the text, from 1", TABLE_U32, NULL },
    { "piece", "1", "number of the piece, from 0", TABLE_U32, NULL },
    { "bytes_0", "1", "eight bytes, the first in the lowest place; zeros behind the text's end", TABLE_U64, NULL },
    { "bytes_1", "1", "the next eight", TABLE_U64, NULL },
    { "bytes_2", "1", "the next eight", TABLE_U64, NULL },
    { "bytes_3", "1", "the next eight", TABLE_U64, NULL },
};
G_STATIC_ASSERT(G_N_ELEMENTS(text_columns) == 2 + BATCH_TEXT_WORDS);

const struct table batch_tables[BATCH_TABLES] = {
    [BATCH_TABLE_JOBS] = { "jobs", "one row a job that ended or was rejected; times that did not come are the smallest "
                           "64-bit number", job_row_columns, G_N_ELEMENTS(job_row_columns) },
    [BATCH_TABLE_MACHINES] = { "machines", "one row for each span of machines that a job held", machine_columns,
                               G_N_ELEMENTS(machine_columns) },
    [BATCH_TABLE_TEXTS] = { "texts", "names that the rows of jobs refer to, in pieces of 32 bytes", text_columns,
                            G_N_ELEMENTS(text_columns) },
};

/* --- classes --- */

const struct batch_class batch_classes[BATCH_CLASSES] = {
    { "width_1", "1 processor", 1 },
    { "width_2_to_8", "2 to 8 processors", 8 },
    { "width_9_to_64", "9 to 64 processors", 64 },
    { "width_65_to_512", "65 to 512 processors", 512 },
    { "width_above_512", "above 512 processors", INT64_MAX },
    { "length_to_1min", "up to 1 min", MINUTE_NS },
    { "length_to_10min", "up to 10 min", 10 * MINUTE_NS },
    { "length_to_1h", "up to 1 h", 60 * MINUTE_NS },
    { "length_to_8h", "up to 8 h", 480 * MINUTE_NS },
    { "length_above_8h", "above 8 h", INT64_MAX },
};

static unsigned class_of(unsigned first, int64_t value)
{
    unsigned class = first;
    while (value > batch_classes[class].most)
        class++;
    return class;
}

/* --- texts --- */

void batch_texts_init(struct batch_texts *texts)
{
    texts->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    texts->count = 0;
}

void batch_texts_release(struct batch_texts *texts)
{
    g_hash_table_destroy(texts->known);
}

static void text_record(struct actor *self, uint32_t number, const char *text)
{
    size_t size = strlen(text);
    for (size_t at = 0, piece = 0; at < size; at += BATCH_TEXT_WORDS * 8, piece++) {
        uint8_t bytes[BATCH_TEXT_WORDS * 8] = { 0 };
        struct bytes row = BYTES_INIT;
        memcpy(bytes, text + at, MIN(size - at, sizeof bytes));
        bytes_put_u32(&row, number);
        bytes_put_u32(&row, (uint32_t)piece);
        bytes_put(&row, bytes, sizeof bytes);
        actor_record(self, BATCH_TABLE_TEXTS, row.data, row.size);
        bytes_release(&row);
    }
}

uint32_t batch_texts_record(struct actor *self, struct batch_texts *texts, const char *text, bool shared)
{
    if (text == NULL || *text == '\0')
        return 0;
    gpointer known = shared ? g_hash_table_lookup(texts->known, text) : NULL;
    if (known != NULL)
        return GPOINTER_TO_UINT(known);
    uint32_t number = ++texts->count;
    text_record(self, number, text);
    if (shared)
        g_hash_table_insert(texts->known, g_strdup(text), GUINT_TO_POINTER(number));
    return number;
}

/* --- rows --- */

void batch_job_record(struct actor *self, const struct batch_job *job)
{
    struct bytes row = BYTES_INIT;
    bytes_put_u64(&row, job->index);
    bytes_put_u64(&row, job->number);
    bytes_put_i64(&row, job->submit_ns);
    bytes_put_i64(&row, job->start_ns);
    bytes_put_i64(&row, job->end_ns);
    bytes_put_i64(&row, job->run_ns);
    bytes_put_i64(&row, job->limit_ns);
    bytes_put_u32(&row, job->requested);
    bytes_put_u32(&row, job->cores);
    bytes_put_u32(&row, job->name);
    bytes_put_u32(&row, job->profile);
    bytes_put_u8(&row, job->result);
    actor_record(self, BATCH_TABLE_JOBS, row.data, row.size);
    bytes_release(&row);
}

static void span_record(struct actor *self, uint64_t job, uint32_t first, uint32_t last)
{
    struct bytes row = BYTES_INIT;
    bytes_put_u64(&row, job);
    bytes_put_u32(&row, first);
    bytes_put_u32(&row, last);
    actor_record(self, BATCH_TABLE_MACHINES, row.data, row.size);
    bytes_release(&row);
}

void batch_machines_record(struct actor *self, const struct batch_job *job, const struct allocation *allocation,
                           uint32_t cores_per_node)
{
    uint32_t first = 0, end = 0;        /* of the span under way; none while first == end */
    for (uint32_t s = 0; s < allocation->count; s++) {
        const struct core_span *span = &allocation->spans[s];
        uint32_t begin = span->node * cores_per_node + span->first_core;
        if (first != end && begin != end)
            span_record(self, job->index, first, end - 1);
        if (first == end || begin != end)
            first = begin;
        end = begin + span->cores;
    }
    span_record(self, job->index, first, end - 1);
}

/* --- metrics --- */

static int64_t slowdown_ppm(int64_t turnaround_ns, int64_t run_ns, int64_t bound_ns)
{
    __int128 slowdown = (__int128)turnaround_ns * MILLION / MAX(run_ns, bound_ns);
    return (int64_t)CLAMP(slowdown, MILLION, INT64_MAX);
}

void batch_job_measure(struct actor *self, const struct batch_job *job, int64_t slowdown_bound_ns)
{
    int64_t wait_ns = job->start_ns - job->submit_ns, run_ns = job->end_ns - job->start_ns;
    int64_t slowdown = slowdown_ppm(wait_ns + run_ns, run_ns, slowdown_bound_ns);
    unsigned width = class_of(0, job->requested), length = class_of(BATCH_WIDTHS, run_ns);
    __int128 area_ns = (__int128)job->cores * run_ns;
    actor_sample(self, BATCH_WAIT, wait_ns);
    actor_sample(self, BATCH_RUN, run_ns);
    actor_sample(self, BATCH_TURNAROUND, wait_ns + run_ns);
    actor_sample(self, BATCH_SLOWDOWN, slowdown);
    actor_sample(self, BATCH_SUBMIT_TIME, job->submit_ns);
    actor_sample(self, BATCH_START_TIME, job->start_ns);
    actor_sample(self, BATCH_END_TIME, job->end_ns);
    actor_count(self, BATCH_AREA_S, (uint64_t)(area_ns / SECOND_NS));
    actor_count(self, BATCH_AREA_NS, (uint64_t)(area_ns % SECOND_NS));
    actor_sample(self, BATCH_WAIT_OF_CLASS + width, wait_ns);
    actor_sample(self, BATCH_WAIT_OF_CLASS + length, wait_ns);
    actor_sample(self, BATCH_SLOWDOWN_OF_CLASS + width, slowdown);
    actor_sample(self, BATCH_SLOWDOWN_OF_CLASS + length, slowdown);
}
