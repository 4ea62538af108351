/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <string.h>

#include "ranks/event_batch.h"
#include "ranks/job_limits.h"
#include "ranks/job_text.h"
#include "ranks/job_waits.h"
#include "ranks/jobs.h"
#include "ranks/validators.h"

/* --- texts --- */

static void test_event(void)
{
    GString *text = g_string_new(NULL);
    job_text_event(text, INT64_C(1583400000123456789), "init", NULL);
    CU_ASSERT_STRING_EQUAL(text->str, "{\"timestamp\":1583400000.123456,\"name\":\"init\"}\n");
    CU_ASSERT_EQUAL(text->len, 46);     /* flux-core: stays in its directory, 54 bytes at most */
    g_string_truncate(text, 0);
    job_text_event(text, INT64_C(1583400000000001000), "cleanup.start", NULL);
    CU_ASSERT_EQUAL(text->len, 55);     /* becomes a blob */
    g_string_truncate(text, 0);
    job_text_event(text, INT64_C(1583400000000001000), "finish", "{\"status\":0}");
    CU_ASSERT_STRING_EQUAL(text->str, "{\"timestamp\":1583400000.000001,\"name\":\"finish\",\"context\":"
                                      "{\"status\":0}}\n");
    g_string_free(text, TRUE);
}

static struct allocation *allocation_of(const struct core_span *spans, uint32_t count)
{
    struct allocation *a = g_malloc(sizeof *a + count * sizeof *spans);
    a->count = count;
    memcpy(a->spans, spans, count * sizeof *spans);
    return a;
}

static void test_resources(void)
{
    static const struct core_span spans[] = { { 3, 0, 2 }, { 3, 5, 1 }, { 12, 63, 1 } };
    struct allocation *a = allocation_of(spans, 3);
    GString *text = g_string_new(NULL);
    job_text_resources(text, a);
    CU_ASSERT_STRING_EQUAL(text->str, "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"3\",\"children\":"
                                      "{\"core\":\"0-1,5\"}},{\"rank\":\"12\",\"children\":{\"core\":\"63\"}}]}}");
    struct allocation *back = job_text_resources_parse(text->str, text->len);
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    CU_ASSERT_EQUAL(back->count, 3);
    CU_ASSERT_EQUAL(memcmp(back->spans, spans, sizeof spans), 0);
    /* No shorter text is one. */
    for (size_t size = 0; size < text->len; size++)
        CU_ASSERT_PTR_NULL(job_text_resources_parse(text->str, size));
    g_string_append_c(text, ' ');
    CU_ASSERT_PTR_NULL(job_text_resources_parse(text->str, text->len));
    allocation_free(a);
    allocation_free(back);
    g_string_free(text, TRUE);
}

static void test_resources_refused(void)
{
    static const char *const cores[] = { "3-3", "5-4", "4294967295", "99999999999999999999", "-1", "", "1,", "a" };
    for (size_t i = 0; i < G_N_ELEMENTS(cores); i++) {
        char *text = g_strdup_printf("{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0\",\"children\":"
                                     "{\"core\":\"%s\"}}]}}",
                                     cores[i]);
        CU_ASSERT_PTR_NULL(job_text_resources_parse(text, strlen(text)));
        g_free(text);
    }
}

static void test_signed(void)
{
    GString *text = g_string_new(NULL);
    job_text_signed(text, 1000, "{}", 2);
    char **parts = g_strsplit(text->str, ".", -1);
    CU_ASSERT_EQUAL_FATAL(g_strv_length(parts), 3);
    CU_ASSERT_STRING_EQUAL(parts[1], "e30=");
    CU_ASSERT_STRING_EQUAL(parts[2], "none");
    gsize size;
    guchar *header = g_base64_decode(parts[0], &size);
    static const char expected[] = "version\0i1\0mechanism\0snone\0userid\0i1000";
    CU_ASSERT_EQUAL_FATAL(size, sizeof expected);
    CU_ASSERT_EQUAL(memcmp(header, expected, size), 0);
    g_free(header);
    g_strfreev(parts);
    g_string_free(text, TRUE);
}

/* --- co-processes --- */

static void test_validators_fill(void)
{
    struct validators v;
    validators_init(&v, 3, 2, 5000, 100, 10);
    int token[16];
    int64_t work_ns;
    /* The first starts with the first job, and pays for it. */
    CU_ASSERT_EQUAL(validators_add(&v, &token[0], 0), 0);
    CU_ASSERT_PTR_EQUAL(validators_begin(&v, 0, &work_ns), &token[0]);
    CU_ASSERT_EQUAL(work_ns, 110);
    CU_ASSERT_PTR_NULL(validators_begin(&v, 0, &work_ns));
    /* One more only when the shortest queue holds two; then the shortest, the lowest of equals. */
    static const unsigned expected[] = { 0, 1, 1, 2, 2, 0, 1, 2, 0 };
    for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++) {
        unsigned worker = validators_add(&v, &token[i + 1], 1);
        CU_ASSERT_EQUAL(worker, expected[i]);
        validators_begin(&v, worker, &work_ns);
    }
    /* In order, one at a time, without the cost of a start. */
    CU_ASSERT_PTR_EQUAL(validators_finish(&v, 0, 110), &token[0]);
    CU_ASSERT_PTR_EQUAL(validators_begin(&v, 0, &work_ns), &token[1]);
    CU_ASSERT_EQUAL(work_ns, 10);
    validators_release(&v);
}

static void test_validators_exit(void)
{
    struct validators v;
    validators_init(&v, 4, 32, 5000, 100, 10);
    int token[3];
    int64_t work_ns;
    validators_add(&v, &token[0], 0);
    validators_begin(&v, 0, &work_ns);
    validators_finish(&v, 0, 110);
    validators_add(&v, &token[1], 5109);
    validators_begin(&v, 0, &work_ns);
    CU_ASSERT_EQUAL(work_ns, 10);           /* still there after just less than the idle time */
    validators_finish(&v, 0, 5119);
    validators_add(&v, &token[2], 10119);
    validators_begin(&v, 0, &work_ns);
    CU_ASSERT_EQUAL(work_ns, 110);          /* had gone after exactly that */
    validators_release(&v);
}

/* --- batches of events --- */

static void test_batch(void)
{
    struct event_batch *b = event_batch_new(9);
    event_batch_transition(b, 0x0000092700000000, JOB_DEPEND);
    event_batch_append(b, 0x0000092700000000, "first\n", 6);
    event_batch_append(b, 0x0000092700000001, "second\n", 7);
    event_batch_transition(b, 0x0000092700000001, JOB_SCHED);
    event_batch_append(b, 0x0000092700000000, "third\n", 6);
    CU_ASSERT_EQUAL(b->entries, 3);

    struct transaction *t = event_batch_take(b);
    struct cursor walk = transaction_walk(t);
    static const char *const keys[] = {
        "job.0000.0927.0000.0000.eventlog", "job.0000.0927.0000.0001.eventlog", "job.0000.0927.0000.0000.eventlog"
    };
    static const char *const lines[] = { "first\n", "second\n", "third\n" };
    struct operation operation;
    for (unsigned i = 0; i < 3; i++) {
        CU_ASSERT_TRUE_FATAL(transaction_next(&walk, &operation));
        CU_ASSERT_EQUAL(operation.type, OPERATION_APPEND);
        CU_ASSERT_STRING_EQUAL(operation.key, keys[i]);
        CU_ASSERT_EQUAL_FATAL(operation.object.size, strlen(lines[i]));
        CU_ASSERT_EQUAL(memcmp(operation.object.data, lines[i], strlen(lines[i])), 0);
    }
    CU_ASSERT_FALSE(transaction_next(&walk, &operation));
    transaction_free(t);

    struct bytes body = BYTES_INIT;
    event_batch_put_transitions(b, &body);
    struct cursor c = cursor_init(body.data, body.size);
    CU_ASSERT_EQUAL(cursor_u32(&c), 2);
    CU_ASSERT_EQUAL(cursor_u64(&c), 0x0000092700000000);
    CU_ASSERT_EQUAL(cursor_u8(&c), JOB_DEPEND);
    CU_ASSERT_EQUAL(cursor_u64(&c), 0x0000092700000001);
    CU_ASSERT_EQUAL(cursor_u8(&c), JOB_SCHED);
    CU_ASSERT_TRUE(cursor_done(&c));
    bytes_release(&body);
    event_batch_free(b);
}

static void test_batch_empty(void)
{
    struct event_batch *b = event_batch_new(0);
    struct bytes body = BYTES_INIT;
    event_batch_put_transitions(b, &body);
    CU_ASSERT_EQUAL(body.size, 4);
    bytes_release(&body);
    event_batch_free(b);
}

/* --- waits --- */

static void test_waits_any(void)
{
    struct job_waits w;
    struct envelope first = { .tag = 1 }, second = { .tag = 2 }, told;
    struct job_end end;
    job_waits_init(&w);
    CU_ASSERT_FALSE(job_waits_ask(&w, &first, 0, &end));
    CU_ASSERT_FALSE(job_waits_ask(&w, &second, 0, &end));
    CU_ASSERT_EQUAL(job_waits_length(&w), 2);
    CU_ASSERT_TRUE(job_waits_tell(&w, &(struct job_end){ 11, 0, true }, &told));
    CU_ASSERT_EQUAL(told.tag, 1);
    CU_ASSERT_TRUE(job_waits_tell(&w, &(struct job_end){ 12, 0, true }, &told));
    CU_ASSERT_EQUAL(told.tag, 2);
    /* An end that nobody waits for is kept, in order, and told once. */
    CU_ASSERT_FALSE(job_waits_tell(&w, &(struct job_end){ 13, 5, false }, &told));
    CU_ASSERT_FALSE(job_waits_tell(&w, &(struct job_end){ 14, 0, true }, &told));
    CU_ASSERT_TRUE(job_waits_knows(&w, 0));
    CU_ASSERT_TRUE_FATAL(job_waits_ask(&w, &first, 0, &end));
    CU_ASSERT_EQUAL(end.id, 13);
    CU_ASSERT_EQUAL(end.status, 5);
    CU_ASSERT_FALSE(end.success);
    CU_ASSERT_FALSE(job_waits_knows(&w, 13));
    job_waits_release(&w);
}

static void test_waits_one(void)
{
    struct job_waits w;
    struct envelope one = { .tag = 1 }, any = { .tag = 2 }, told;
    struct job_end end;
    job_waits_init(&w);
    CU_ASSERT_FALSE(job_waits_ask(&w, &one, 21, &end));
    CU_ASSERT_FALSE(job_waits_ask(&w, &any, 0, &end));
    CU_ASSERT_TRUE(job_waits_tell(&w, &(struct job_end){ 20, 0, true }, &told));
    CU_ASSERT_EQUAL(told.tag, 2);
    CU_ASSERT_FALSE(job_waits_tell(&w, &(struct job_end){ 22, 0, true }, &told));
    CU_ASSERT_TRUE(job_waits_tell(&w, &(struct job_end){ 21, 0, true }, &told));
    CU_ASSERT_EQUAL(told.tag, 1);
    CU_ASSERT_TRUE(job_waits_knows(&w, 22));
    CU_ASSERT_TRUE(job_waits_ask(&w, &one, 22, &end));
    job_waits_release(&w);
}

/* --- limits --- */

static void test_limits(void)
{
    struct job_limits l;
    uint64_t key;
    job_limits_init(&l);
    CU_ASSERT_TRUE(job_limits_add(&l, 500, 1));         /* the first: a timer at 500 */
    CU_ASSERT_FALSE(job_limits_add(&l, 700, 2));
    CU_ASSERT_TRUE(job_limits_add(&l, 300, 3));         /* earlier: one more at 300 */
    CU_ASSERT_FALSE(job_limits_add(&l, 300, 4));
    CU_ASSERT_TRUE(job_limits_remove(&l, 300, 3));
    CU_ASSERT_FALSE(job_limits_remove(&l, 300, 3));
    CU_ASSERT_TRUE_FATAL(job_limits_expired(&l, 300, &key));
    CU_ASSERT_EQUAL(key, 4);
    CU_ASSERT_FALSE(job_limits_expired(&l, 300, &key));
    CU_ASSERT_EQUAL(job_limits_rearm(&l, 300), 500);
    CU_ASSERT_TRUE(job_limits_expired(&l, 500, &key));
    CU_ASSERT_EQUAL(key, 1);
    CU_ASSERT_EQUAL(job_limits_rearm(&l, 500), 700);
    CU_ASSERT_TRUE(job_limits_remove(&l, 700, 2));
    CU_ASSERT_EQUAL(job_limits_rearm(&l, 700), JOB_LIMITS_NONE);
    CU_ASSERT_TRUE(job_limits_add(&l, 900, 5));
    job_limits_release(&l);
}

/* --- rows --- */

static void test_row_columns(void)
{
    struct job_row row;
    struct bytes b = BYTES_INIT;
    job_row_init(&row, 7);
    job_row_put(&row, &b);
    static const size_t sizes[] = {
        [JOB_COLUMN_U32] = 4, [JOB_COLUMN_U64] = 8, [JOB_COLUMN_I64] = 8, [JOB_COLUMN_RESULT] = 1, [JOB_COLUMN_U8] = 1
    };
    size_t size = 0;
    unsigned times = 0;
    for (const struct job_column *c = job_columns; c->name != NULL; c++) {
        size += sizes[c->type];
        times += c->type == JOB_COLUMN_I64;
    }
    CU_ASSERT_EQUAL(b.size, size);
    CU_ASSERT_EQUAL(times, JOB_TIMES);
    bytes_release(&b);
    unsigned results = 0;
    while (job_result_names[results] != NULL)
        results++;
    CU_ASSERT_EQUAL(results, JOB_RESULTS);
}

static int64_t stages_sum(const struct job_row *row)
{
    int64_t sum = 0, length;
    for (unsigned s = 0; s < JOB_STAGES; s++) {
        CU_ASSERT_TRUE_FATAL(job_stage_ns(row, s, &length));
        CU_ASSERT(length >= 0);
        sum += length;
    }
    return sum;
}

static void test_row_stages(void)
{
    struct job_row row;
    job_row_init(&row, 7);
    int64_t length;
    for (unsigned s = 0; s < JOB_STAGES; s++)
        CU_ASSERT_FALSE(job_stage_ns(&row, s, &length));
    for (unsigned i = 0; i < JOB_TIMES; i++)
        row.times[i] = 1000 + (int64_t)(i * i);
    CU_ASSERT_EQUAL(stages_sum(&row), row.times[JOB_TIME_CLEAN] - row.times[JOB_TIME_SUBMIT]);
    /* The task ended while the shell still waited. */
    row.times[JOB_TIME_TASK_END] = row.times[JOB_TIME_SHELL_INIT];
    CU_ASSERT_EQUAL(stages_sum(&row), row.times[JOB_TIME_CLEAN] - row.times[JOB_TIME_SUBMIT]);
    CU_ASSERT_TRUE(job_stage_ns(&row, JOB_STAGE_RUN, &length));
    CU_ASSERT_EQUAL(length, 0);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "an event log entry has Flux's form and length", test_event },
        { "R is written and read back", test_resources },
        { "what is not R is refused", test_resources_refused },
        { "a signed jobspec has three parts", test_signed },
        { "a co-process more is started when the shortest queue is full", test_validators_fill },
        { "an idle co-process ends and is paid for again", test_validators_exit },
        { "a batch keeps entries and transitions in order", test_batch },
        { "a batch without transitions has a body", test_batch_empty },
        { "an end is told once to whoever waits for any job", test_waits_any },
        { "a wait for one job gets only that one", test_waits_one },
        { "one timer serves all time limits", test_limits },
        { "a row's bytes are its columns", test_row_columns },
        { "the stages of a job add up", test_row_stages },
        { NULL, NULL }
    };
    return suite_run("jobs", tests);
}
