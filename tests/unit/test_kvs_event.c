/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "kvs/event.h"
#include "kvs/jobid.h"

#include "test_kvs_store.h"
#include "suite.h"

/* --- events --- */

/* A commit of three transactions, merged and done. */
static void commit_three(struct store *s)
{
    store_init(s);
    static const char *const keys[] = { "b", "a.x", "b" };
    for (unsigned i = 0; i < 3; i++) {
        struct transaction *t = transaction_new(i, 100 + i, 0);
        transaction_put(t, keys[i], "v", 1);
        commit_queue_push(&s->queue, t);
    }
    commit_queue_merge(&s->queue);
    CU_ASSERT_EQUAL_FATAL(store_run_head(s), COMMIT_DONE);
}

static void test_setroot(void)
{
    struct store s;
    commit_three(&s);
    struct bytes b = BYTES_INIT;
    event_setroot_pack(&b, "job-17", 7, 12, commit_queue_head(&s.queue));
    struct cursor c = cursor_init(b.data, b.size);
    struct event_setroot e;
    CU_ASSERT_TRUE_FATAL(event_setroot_read(&c, &e));
    CU_ASSERT_STRING_EQUAL(e.namespace_name, "job-17");
    CU_ASSERT_EQUAL(e.owner, 7);
    CU_ASSERT_EQUAL(e.sequence, 12);
    CU_ASSERT_TRUE(blobref_equal(&e.root, &s.root));
    CU_ASSERT_EQUAL(e.names.count, 3);
    struct transaction_name name = event_name(&e.names, 2);
    CU_ASSERT_EQUAL(name.node, 2);
    CU_ASSERT_EQUAL(name.counter, 102);
    CU_ASSERT_EQUAL(e.keys.count, 2);
    const uint8_t *at = NULL;
    CU_ASSERT_STRING_EQUAL(event_next_key(&e.keys, &at), "a.x");
    CU_ASSERT_STRING_EQUAL(event_next_key(&e.keys, &at), "b");
    CU_ASSERT_PTR_NULL(event_next_key(&e.keys, &at));
    /* The root directory primes a follower's cache. */
    struct content follower;
    content_init(&follower, NULL);
    struct blob *blob = content_put(&follower, e.directory, e.directory_size, 0, NULL);
    CU_ASSERT_TRUE(blobref_equal(&blob->ref, &e.root));
    content_release(&follower);
    bytes_release(&b);
    store_release(&s);
}

static void test_empty_setroot(void)
{
    struct store s;
    store_init(&s);
    commit_queue_push(&s.queue, transaction_new(1, 2, 0));
    CU_ASSERT_EQUAL_FATAL(store_run_head(&s), COMMIT_DONE);
    struct bytes b = BYTES_INIT;
    event_setroot_pack(&b, "primary", 0, 1, commit_queue_head(&s.queue));
    struct cursor c = cursor_init(b.data, b.size);
    struct event_setroot e;
    CU_ASSERT_TRUE_FATAL(event_setroot_read(&c, &e));
    CU_ASSERT_EQUAL(e.keys.count, 0);
    const uint8_t *at = NULL;
    CU_ASSERT_PTR_NULL(event_next_key(&e.keys, &at));
    bytes_release(&b);
    store_release(&s);
}

static void test_others(void)
{
    struct store s;
    store_init(&s);
    struct transaction *t = transaction_new(5, 6, 0);
    transaction_put(t, ".", "v", 1);
    commit_queue_push(&s.queue, t);
    CU_ASSERT_EQUAL_FATAL(store_run_head(&s), COMMIT_FAILED);
    struct bytes b = BYTES_INIT;
    event_error_pack(&b, "job-1", commit_queue_head(&s.queue));
    struct cursor c = cursor_init(b.data, b.size);
    struct event_error error;
    CU_ASSERT_TRUE_FATAL(event_error_read(&c, &error));
    CU_ASSERT_STRING_EQUAL(error.namespace_name, "job-1");
    CU_ASSERT_EQUAL(error.errnum, EINVAL);
    CU_ASSERT_EQUAL(error.names.count, 1);
    CU_ASSERT_EQUAL(event_name(&error.names, 0).node, 5);
    bytes_clear(&b);

    struct event_created created;
    event_created_pack(&b, "job-2", 7, 0, &s.root);
    c = cursor_init(b.data, b.size);
    CU_ASSERT_TRUE_FATAL(event_created_read(&c, &created));
    CU_ASSERT_STRING_EQUAL(created.namespace_name, "job-2");
    CU_ASSERT_EQUAL(created.owner, 7);
    CU_ASSERT_EQUAL(created.sequence, 0);
    CU_ASSERT_TRUE(blobref_equal(&created.root, &s.root));
    bytes_clear(&b);

    event_removed_pack(&b, "job-3");
    c = cursor_init(b.data, b.size);
    CU_ASSERT_STRING_EQUAL(event_removed_read(&c), "job-3");
    bytes_put_u8(&b, 0);
    c = cursor_init(b.data, b.size);
    CU_ASSERT_PTR_NULL(event_removed_read(&c));
    bytes_release(&b);
    store_release(&s);
}

static void test_bad_bytes(void)
{
    struct store s;
    commit_three(&s);
    struct bytes b = BYTES_INIT;
    event_setroot_pack(&b, "job-17", 7, 12, commit_queue_head(&s.queue));
    struct event_setroot e;
    struct event_error error;
    struct event_created created;
    for (size_t size = 0; size < b.size; size++) {
        uint8_t *copy = g_memdup2(b.data, size);
        struct cursor c = cursor_init(copy, size);
        CU_ASSERT_FALSE(event_setroot_read(&c, &e));
        c = cursor_init(copy, size);
        event_error_read(&c, &error);
        c = cursor_init(copy, size);
        event_created_read(&c, &created);
        c = cursor_init(copy, size);
        event_removed_read(&c);
        g_free(copy);
    }
    /* Keys out of order: "b" before "a.x" would be found or not, depending on who looks. */
    uint8_t *key = memmem(b.data, b.size, "a.x", 3);
    CU_ASSERT_PTR_NOT_NULL_FATAL(key);
    *key = 'c';
    struct cursor c = cursor_init(b.data, b.size);
    CU_ASSERT_FALSE(event_setroot_read(&c, &e));
    bytes_release(&b);
    store_release(&s);
}

/* --- job ids --- */

static void test_jobid(void)
{
    struct jobid_source s;
    uint64_t id;
    jobid_source_init(&s, 5, 600000);
    CU_ASSERT_EQUAL(jobid_next(&s, 1500000, &id), 1500000);
    CU_ASSERT_EQUAL(id, (uint64_t)600001 << 24 | 5 << 10);
    CU_ASSERT_EQUAL(jobid_next(&s, 1999999, &id), 1999999);
    CU_ASSERT_EQUAL(id, (uint64_t)600001 << 24 | 5 << 10 | 1);
    CU_ASSERT_EQUAL(jobid_next(&s, 2000000, &id), 2000000);
    CU_ASSERT_EQUAL(id, (uint64_t)600002 << 24 | 5 << 10);
}

static void test_jobid_overflow(void)
{
    struct jobid_source s;
    uint64_t id = 0, before = 0;
    int wrong = 0;
    jobid_source_init(&s, (1 << JOBID_NODE_BITS) - 1, 0);
    for (unsigned i = 0; i < 2500; i++) {
        int64_t valid_ns = jobid_next(&s, 7500000, &id);
        wrong += valid_ns != (i < 1024 ? 7500000 : i < 2048 ? 8000000 : 9000000);
        wrong += i != 0 && id <= before;
        wrong += id >> 24 != 7 + i / 1024 || (id & 1023) != i % 1024;
        before = id;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    /* The clock catches up with what was given out ahead. */
    CU_ASSERT_EQUAL(jobid_next(&s, 9100000, &id), 9100000);
    CU_ASSERT_EQUAL(id & 1023, 2500 % 1024);
    CU_ASSERT_EQUAL(jobid_next(&s, 10000000, &id), 10000000);
    CU_ASSERT_EQUAL(id & 1023, 0);
}

static void test_jobkey(void)
{
    char key[JOBID_KEY_SIZE], name[JOBID_NAMESPACE_SIZE], entry[64];
    uint64_t id = (uint64_t)600000 << 24 | 0xabc;
    jobid_to_key(id, key);
    CU_ASSERT_STRING_EQUAL(key, "job.0000.0927.c000.0abc");
    jobid_to_key(UINT64_MAX, key);
    CU_ASSERT_STRING_EQUAL(key, "job.ffff.ffff.ffff.ffff");
    CU_ASSERT_EQUAL(jobid_to_entry(id, "eventlog", entry, sizeof entry), 32);
    CU_ASSERT_STRING_EQUAL(entry, "job.0000.0927.c000.0abc.eventlog");
    jobid_to_namespace(id, name);
    CU_ASSERT_STRING_EQUAL(name, "job-10066329602748");
    uint64_t back = 0;
    CU_ASSERT_TRUE(jobid_from_namespace(name, &back));
    CU_ASSERT_EQUAL(back, id);
    jobid_to_namespace(UINT64_MAX, name);
    CU_ASSERT_TRUE(jobid_from_namespace(name, &back));
    CU_ASSERT_EQUAL(back, UINT64_MAX);
    CU_ASSERT_TRUE(jobid_from_namespace("job-0", &back));
    static const char *const bad[] = { "", "job", "job-", "job-01", "job-1x", "job--1", "job- 1", "xjob-1", "primary",
                                       "job-18446744073709551616" };
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++)
        CU_ASSERT_FALSE(jobid_from_namespace(bad[i], &back));
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "setroot carries all that followers need", test_setroot },
        { "an empty transaction's setroot has no keys", test_empty_setroot },
        { "error, created and removed are read back", test_others },
        { "bytes that are no event body are refused", test_bad_bytes },
        { "a job id is time, node and count", test_jobid },
        { "the 1025th id of a millisecond waits for the next", test_jobid_overflow },
        { "keys and namespaces of a job are as published", test_jobkey },
        { NULL, NULL },
    };
    return suite_run("kvs event", tests);
}
