/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a lockfs, and what it counts of their writes. */
#include "lockfs/store.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "suite.h"

#define MS INT64_C(1000000)

static struct lockfs_store *store;

static struct lockfs_file *create(const char *name)
{
    struct lockfs_file *file = NULL;

    CU_ASSERT_EQUAL_FATAL(lockfs_store_create(store, name, 0640, 7, 8, &file), 0);
    return file;
}

/* Both steps of a write. */
static int put(struct lockfs_file *file, uint64_t offset, const char *text)
{
    uint64_t aside;
    uint32_t length = (uint32_t)strlen(text);
    int code = lockfs_store_put(store, file, offset, text, length, &aside);

    if (code == 0)
        lockfs_store_grow(store, file, offset + length, aside, 5);
    return code;
}

static bool reads(struct lockfs_file *file, uint64_t offset, uint32_t length, const char *expected,
                  uint32_t expected_length)
{
    char bytes[64] = { 0 };
    uint32_t got = 99;

    return lockfs_store_get(store, file, offset, bytes, length, &got) == 0 && got == expected_length &&
           memcmp(bytes, expected, got) == 0;
}

static void each_keep(void (*test)(void))
{
    static const enum lockfs_keep keeps[] = { LOCKFS_KEEP_MEMORY, LOCKFS_KEEP_FOLDER };

    for (size_t i = 0; i < G_N_ELEMENTS(keeps); i++) {
        store = lockfs_store_new(keeps[i], ".", 100, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(store);
        test();
        lockfs_store_free(store);
    }
}

static void check_bytes(void)
{
    struct lockfs_file *file = create("a"), *other = create("b");

    CU_ASSERT_EQUAL(put(file, 0, "hello"), 0);
    CU_ASSERT_EQUAL(put(other, 0, "other"), 0);
    CU_ASSERT_EQUAL(put(file, 10, "far"), 0);
    CU_ASSERT_EQUAL(put(file, 1, "u"), 0);
    CU_ASSERT_TRUE(reads(file, 0, 64, "hullo\0\0\0\0\0far", 13));
    CU_ASSERT_TRUE(reads(file, 3, 4, "lo\0\0", 4));
    CU_ASSERT_TRUE(reads(file, 13, 4, "", 0));
    CU_ASSERT_TRUE(reads(file, UINT64_MAX, 4, "", 0));
    CU_ASSERT_TRUE(reads(other, 0, 64, "other", 5));
    CU_ASSERT_EQUAL(lockfs_store_attributes(store, file).modified_ns, 5);
    /* What was cut off does not come back. */
    CU_ASSERT_EQUAL(lockfs_store_set_size(store, file, 2), 0);
    CU_ASSERT_EQUAL(lockfs_store_set_size(store, file, 4), 0);
    CU_ASSERT_TRUE(reads(file, 0, 64, "hu\0\0", 4));
    lockfs_store_let_go(store, file);
    lockfs_store_let_go(store, other);
}

static void test_bytes(void)
{
    each_keep(check_bytes);
}

static void test_nothing(void)
{
    store = lockfs_store_new(LOCKFS_KEEP_NOTHING, NULL, 0, NULL);
    struct lockfs_file *file = create("a");
    CU_ASSERT_EQUAL(put(file, 0, "hello"), 0);
    CU_ASSERT_TRUE(reads(file, 0, 64, "\0\0\0\0\0", 5));
    CU_ASSERT_EQUAL(lockfs_store_attributes(store, file).size_bytes, 5);
    lockfs_store_let_go(store, file);
    lockfs_store_free(store);
}

static void check_end(void)
{
    struct lockfs_file *file = create("a");
    uint64_t aside;

    CU_ASSERT_EQUAL(lockfs_store_put(store, file, 0, "hello", 5, &aside), 0);
    CU_ASSERT_EQUAL(lockfs_store_attributes(store, file).size_bytes, 0);
    CU_ASSERT_TRUE(reads(file, 0, 64, "", 0));
    lockfs_store_grow(store, file, 5, aside, 0);
    CU_ASSERT_TRUE(reads(file, 0, 64, "hello", 5));
    lockfs_store_let_go(store, file);
}

static void test_end(void)
{
    each_keep(check_end);
}

static void check_capacity(void)
{
    struct lockfs_file *file = create("a"), *other = create("b");
    uint64_t first, second;

    CU_ASSERT_EQUAL(put(file, 60, "x"), 0);
    CU_ASSERT_EQUAL(put(other, 39, "x"), ENOSPC);
    CU_ASSERT_EQUAL(lockfs_store_attributes(store, other).size_bytes, 0);
    CU_ASSERT_EQUAL(put(other, 38, "x"), 0);
    CU_ASSERT_EQUAL(put(other, 3, "within"), 0);
    CU_ASSERT_EQUAL(lockfs_store_set_size(store, other, 40), ENOSPC);
    CU_ASSERT_EQUAL(lockfs_store_set_size(store, file, 10), 0);
    CU_ASSERT_EQUAL(lockfs_store_usage(store).used_bytes, 49);
    /* Two writes in service at a time, which both set the same bytes aside. */
    CU_ASSERT_EQUAL(lockfs_store_put(store, file, 29, "x", 1, &first), 0);
    CU_ASSERT_EQUAL(lockfs_store_put(store, file, 29, "x", 1, &second), 0);
    CU_ASSERT_EQUAL(put(other, 50, "x"), ENOSPC);
    lockfs_store_grow(store, file, 30, first, 0);
    lockfs_store_grow(store, file, 30, second, 0);
    CU_ASSERT_EQUAL(put(other, 69, "x"), 0);
    CU_ASSERT_EQUAL(lockfs_store_usage(store).used_bytes, 100);
    CU_ASSERT_EQUAL(lockfs_store_unlink(store, "b"), 0);
    lockfs_store_let_go(store, other);
    CU_ASSERT_EQUAL(lockfs_store_usage(store).used_bytes, 30);
    CU_ASSERT_EQUAL(lockfs_store_usage(store).capacity_bytes, 100);
    lockfs_store_let_go(store, file);
}

static void test_capacity(void)
{
    each_keep(check_capacity);
}

static void test_range(void)
{
    uint64_t aside;

    store = lockfs_store_new(LOCKFS_KEEP_NOTHING, NULL, 0, NULL);
    struct lockfs_file *file = create("a");
    CU_ASSERT_EQUAL(lockfs_store_set_size(store, file, UINT64_MAX), EFBIG);
    CU_ASSERT_EQUAL(lockfs_store_put(store, file, INT64_MAX, "x", 1, &aside), EFBIG);
    CU_ASSERT_EQUAL(lockfs_store_put(store, file, UINT64_MAX, "x", 1, &aside), EFBIG);
    CU_ASSERT_EQUAL(lockfs_store_set_size(store, file, INT64_MAX), 0);
    lockfs_store_let_go(store, file);
    lockfs_store_free(store);
}

static void test_names(void)
{
    char name[LOCKFS_NAME_MAX + 1];
    char long_name[LOCKFS_NAME_MAX + 2];
    struct lockfs_file *file;
    uint64_t number;

    store = lockfs_store_new(LOCKFS_KEEP_NOTHING, NULL, 0, NULL);
    memset(long_name, 'n', sizeof long_name);
    long_name[LOCKFS_NAME_MAX + 1] = '\0';
    CU_ASSERT_EQUAL(lockfs_store_create(store, long_name, 0, 0, 0, &file), ENAMETOOLONG);
    CU_ASSERT_EQUAL(lockfs_store_create(store, "", 0, 0, 0, &file), EINVAL);
    CU_ASSERT_EQUAL(lockfs_store_create(store, "..", 0, 0, 0, &file), EINVAL);
    CU_ASSERT_EQUAL(lockfs_store_create(store, "a/b", 0, 0, 0, &file), EINVAL);
    CU_ASSERT_FALSE(lockfs_store_next(store, LOCKFS_ROOT, name, &number));
    CU_ASSERT_EQUAL(lockfs_store_find(store, "a", &file), ENOENT);

    lockfs_store_let_go(store, create("a"));
    lockfs_store_let_go(store, create(long_name + 1));
    CU_ASSERT_EQUAL(lockfs_store_create(store, "a", 0, 0, 0, &file), EEXIST);
    CU_ASSERT_TRUE(lockfs_store_next(store, LOCKFS_ROOT, name, &number));
    CU_ASSERT_STRING_EQUAL(name, "a");
    CU_ASSERT_EQUAL(lockfs_store_unlink(store, "a"), 0);
    CU_ASSERT_EQUAL(lockfs_store_unlink(store, "a"), ENOENT);
    CU_ASSERT_TRUE(lockfs_store_next(store, LOCKFS_ROOT, name, &number));
    CU_ASSERT_STRING_EQUAL(name, long_name + 1);
    CU_ASSERT_FALSE(lockfs_store_next(store, number, name, &number));
    CU_ASSERT_EQUAL(lockfs_store_usage(store).files, 1);
    lockfs_store_free(store);
}

static void test_unlinked(void)
{
    struct lockfs_file *again;

    store = lockfs_store_new(LOCKFS_KEEP_MEMORY, NULL, 0, NULL);
    struct lockfs_file *file = create("a");
    uint64_t number = lockfs_store_attributes(store, file).number;
    lockfs_store_remember(store, file);
    lockfs_store_remember(store, file);
    CU_ASSERT_EQUAL(put(file, 0, "kept"), 0);
    CU_ASSERT_EQUAL(lockfs_store_unlink(store, "a"), 0);
    lockfs_store_let_go(store, file);
    CU_ASSERT_EQUAL(lockfs_store_by_number(store, number, &again), 0);
    CU_ASSERT_TRUE(reads(again, 0, 64, "kept", 4));
    CU_ASSERT_FALSE(lockfs_store_attributes(store, again).linked);
    lockfs_store_let_go(store, again);
    struct lockfs_file *successor = create("a");
    CU_ASSERT_NOT_EQUAL(lockfs_store_attributes(store, successor).number, number);
    lockfs_store_let_go(store, successor);
    lockfs_store_forget(store, number, 1);
    CU_ASSERT_EQUAL(lockfs_store_usage(store).used_bytes, 4);
    lockfs_store_forget(store, number, 1);
    CU_ASSERT_EQUAL(lockfs_store_by_number(store, number, &again), ENOENT);
    CU_ASSERT_EQUAL(lockfs_store_usage(store).used_bytes, 0);
    lockfs_store_forget(store, number, 1);
    lockfs_store_free(store);
}

static void test_attributes(void)
{
    store = lockfs_store_new(LOCKFS_KEEP_NOTHING, NULL, 0, NULL);
    struct lockfs_file *file = create("a");
    struct lockfs_attributes a = lockfs_store_attributes(store, file);
    CU_ASSERT_EQUAL(a.mode, 0100640);
    CU_ASSERT_TRUE(a.uid == 7 && a.gid == 8 && a.linked);
    lockfs_store_set_mode(store, file, 0177777);
    lockfs_store_set_owner(store, file, 1, 2);
    lockfs_store_set_modified(store, file, 3);
    a = lockfs_store_attributes(store, file);
    CU_ASSERT_EQUAL(a.mode, 0107777);
    CU_ASSERT_TRUE(a.uid == 1 && a.gid == 2 && a.modified_ns == 3);
    lockfs_store_let_go(store, file);
    lockfs_store_free(store);
}

static void test_folder(void)
{
    /* The second is a folder, but no nameless file can be made in it. */
    static const char *const folders[] = { "/dev/null", "/proc" };

    for (size_t i = 0; i < G_N_ELEMENTS(folders); i++) {
        g_autoptr(GError) error = NULL;
        CU_ASSERT_PTR_NULL(lockfs_store_new(LOCKFS_KEEP_FOLDER, folders[i], 0, &error));
        CU_ASSERT_EQUAL_FATAL(error->code, TIERCEL_ERROR_INPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(error->message, folders[i]));
    }
}

/* --- what is counted --- */

static struct lockfs_counts counts;
static struct lockfs_flight one, two;

static struct lockfs_write begin(struct lockfs_flight *flight, int64_t at_ms, bool extends)
{
    return lockfs_counts_begin(&counts, flight, at_ms * MS, extends);
}

static void end(struct lockfs_flight *flight, struct lockfs_write write, int64_t at_ms)
{
    lockfs_counts_end(&counts, flight, &write, at_ms * MS, 10, true);
}

static void start(void)
{
    lockfs_counts_init(&counts);
    memset(&one, 0, sizeof one);
    memset(&two, 0, sizeof two);
}

static void test_alone(void)
{
    start();
    for (int i = 0; i < 3; i++)
        end(&one, begin(&one, 2 * i, true), 2 * i + 1);
    CU_ASSERT_EQUAL(counts.writes, 3);
    CU_ASSERT_EQUAL(counts.bytes, 30);
    CU_ASSERT_EQUAL(counts.lone_writes, 3);
    CU_ASSERT_EQUAL(counts.extending_writes, 3);
    CU_ASSERT_EQUAL(counts.in_flight_max, 1);
    CU_ASSERT_EQUAL(counts.busy_ns, 3 * MS);
    CU_ASSERT_EQUAL(counts.last_ns - counts.first_ns, 5 * MS);
}

static void test_overlap(void)
{
    start();
    struct lockfs_write a = begin(&one, 0, true), b = begin(&one, 1, false);
    end(&one, a, 2);
    end(&one, b, 3);
    end(&one, begin(&one, 3, false), 4);
    CU_ASSERT_EQUAL(counts.lone_writes, 1);
    CU_ASSERT_EQUAL(counts.extending_writes, 1);
    CU_ASSERT_EQUAL(counts.in_flight_max, 2);
    CU_ASSERT_EQUAL(counts.busy_ns, 4 * MS);
    CU_ASSERT_EQUAL(counts.write_ns, 5 * MS);
}

static void test_files(void)
{
    start();
    struct lockfs_write a = begin(&one, 0, true), b = begin(&two, 0, true);
    end(&one, a, 1);
    end(&two, b, 1);
    CU_ASSERT_EQUAL(counts.lone_writes, 2);
    CU_ASSERT_EQUAL(counts.in_flight_max, 2);
}

static void test_failed(void)
{
    start();
    struct lockfs_write a = begin(&one, 0, true);
    lockfs_counts_end(&counts, &one, &a, MS, 10, false);
    CU_ASSERT_EQUAL(counts.failed_writes, 1);
    CU_ASSERT_TRUE(counts.writes == 0 && counts.bytes == 0 && counts.lone_writes == 0 && counts.extending_writes == 0);
    CU_ASSERT_EQUAL(one.in_flight, 0);
}

static void test_restart(void)
{
    start();
    end(&one, begin(&one, 0, true), 1);
    struct lockfs_write a = begin(&one, 2, false);
    lockfs_counts_restart(&counts, 5 * MS);
    CU_ASSERT_EQUAL(counts.writes, 0);
    CU_ASSERT_EQUAL(counts.in_flight_max, 1);
    end(&one, a, 7);
    CU_ASSERT_EQUAL(counts.writes, 1);
    CU_ASSERT_EQUAL(counts.lone_writes, 1);
    CU_ASSERT_EQUAL(counts.busy_ns, 2 * MS);
}

static void test_print(void)
{
    GString *text = g_string_new(NULL);

    start();
    lockfs_counts_print(&counts, text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text->str, "writes_per_s 0\n"));
    struct lockfs_write a = begin(&one, 0, true), b = begin(&one, 1000, false);
    end(&one, a, 2000);
    end(&one, b, 4000);
    g_string_truncate(text, 0);
    lockfs_counts_print(&counts, text);
    CU_ASSERT_STRING_EQUAL(text->str,
                           "writes 2\nbytes 20\nextending_writes 1\nlone_writes 0\nfailed_writes 0\ninflight_max 2\n"
                           "inflight_mean 1.2500\nbusy_s 4.000000\nspan_s 4.000000\nwrites_per_s 0.5\n");
    g_string_free(text, TRUE);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "bytes are read as they were written, holes as zeros", test_bytes },
        { "a store that keeps nothing keeps the ends", test_nothing },
        { "the end moves when the write is over", test_end },
        { "a full store refuses, and counts what is in service", test_capacity },
        { "no file ends beyond what an offset can say", test_range },
        { "names are found, listed in order and taken away", test_names },
        { "an unlinked file lives as long as somebody knows it", test_unlinked },
        { "attributes can be set", test_attributes },
        { "a folder that is none, or takes no nameless files, is refused", test_folder },
        { "writes one after the other are alone", test_alone },
        { "writes that overlap are not alone", test_overlap },
        { "writes of two files do not disturb each other", test_files },
        { "failed writes are counted apart", test_failed },
        { "counting can begin anew", test_restart },
        { "counts are printed as keys and values", test_print },
        { NULL, NULL }
    };
    return suite_run("lockfs-store", tests);
}
