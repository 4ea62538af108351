/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

#include "trace/collector.h"

/* A fixed sequence of numbers (splitmix64). */
static uint64_t next_number(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Values over all magnitudes: 1 to 62 bits. */
static int64_t next_value(uint64_t *state)
{
    uint64_t bits = 1 + next_number(state) % 62;
    return (int64_t)(next_number(state) >> (64 - bits));
}

/* --- buckets --- */

static void test_buckets(void)
{
    for (unsigned i = 0; i < STATISTIC_BUCKETS; i++) {
        int64_t lower = statistic_bucket_lower(i), upper = statistic_bucket_upper(i);
        CU_ASSERT(lower <= upper);
        CU_ASSERT_EQUAL(statistic_bucket(lower), i);
        CU_ASSERT_EQUAL(statistic_bucket(upper), i);
        if (i > 0)
            CU_ASSERT_EQUAL(statistic_bucket_upper(i - 1) + 1, lower);
        /* The middle is never further away than the stated error. */
        double middle = (double)(lower + (upper - lower) / 2);
        CU_ASSERT(fabs(middle - (double)lower) <= STATISTIC_RELATIVE_ERROR * (double)lower);
        CU_ASSERT(fabs(middle - (double)upper) <= STATISTIC_RELATIVE_ERROR * (double)upper);
    }
    CU_ASSERT_EQUAL(statistic_bucket_lower(0), 0);
    CU_ASSERT_EQUAL(statistic_bucket_upper(STATISTIC_BUCKETS - 1), INT64_MAX);
    CU_ASSERT_EQUAL(statistic_bucket(-1), 0);
    CU_ASSERT_EQUAL(statistic_bucket(INT64_MIN), 0);
}

/* --- statistics --- */

static void test_empty(void)
{
    struct statistic s = STATISTIC_INIT;
    CU_ASSERT(isnan(statistic_mean(&s)));
    CU_ASSERT(isnan(statistic_quantile(&s, 0.5)));
    struct statistic other = STATISTIC_INIT;
    statistic_merge(&s, &other);
    CU_ASSERT_EQUAL(s.count, 0);
    CU_ASSERT_PTR_NULL(s.bucket);
}

static void test_exact(void)
{
    struct statistic s = STATISTIC_INIT;
    for (int64_t v = 1; v <= 100; v++)
        statistic_add(&s, v);
    CU_ASSERT_EQUAL(s.count, 100);
    CU_ASSERT_DOUBLE_EQUAL(statistic_mean(&s), 50.5, 0);
    CU_ASSERT_DOUBLE_EQUAL(statistic_quantile(&s, 0), 1, 0);
    CU_ASSERT_DOUBLE_EQUAL(statistic_quantile(&s, 0.005), 1, 0);
    CU_ASSERT_DOUBLE_EQUAL(statistic_quantile(&s, 0.5), 50, 0);
    CU_ASSERT_DOUBLE_EQUAL(statistic_quantile(&s, 0.501), 51, 0);
    CU_ASSERT_DOUBLE_EQUAL(statistic_quantile(&s, 0.99), 99, 0);
    CU_ASSERT_DOUBLE_EQUAL(statistic_quantile(&s, 1), 100, 0);
    statistic_release(&s);
}

static void test_extremes(void)
{
    struct statistic s = STATISTIC_INIT;
    statistic_add(&s, INT64_MAX);
    statistic_add(&s, INT64_MAX);
    statistic_add(&s, INT64_MAX);
    statistic_add(&s, -5);
    CU_ASSERT_EQUAL(s.smallest, -5);
    CU_ASSERT_EQUAL(s.largest, INT64_MAX);
    /* Three times the largest value does not overflow. */
    CU_ASSERT(s.sum == (__int128)INT64_MAX * 3 - 5);
    CU_ASSERT_EQUAL(s.bucket[0], 1);
    statistic_release(&s);
    statistic_add(&s, 1000003);
    /* One value is its own quantile: the bucket's middle is clamped. */
    CU_ASSERT_DOUBLE_EQUAL(statistic_quantile(&s, 0.5), 1000003, 0);
    statistic_release(&s);
}

static int value_compare(const void *one, const void *other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return a < b ? -1 : a > b;
}

static void test_quantiles(void)
{
    enum { COUNT = 20000 };
    int64_t *values = g_new(int64_t, COUNT);
    uint64_t state = 1;
    struct statistic s = STATISTIC_INIT;
    for (unsigned i = 0; i < COUNT; i++) {
        values[i] = next_value(&state);
        statistic_add(&s, values[i]);
    }
    qsort(values, COUNT, sizeof values[0], value_compare);
    for (unsigned i = 1; i < 1000; i++) {
        double q = i / 1000.0;
        double exact = (double)values[(unsigned)ceil(q * COUNT) - 1];
        CU_ASSERT(fabs(statistic_quantile(&s, q) - exact) <= STATISTIC_RELATIVE_ERROR * exact);
    }
    statistic_release(&s);
    g_free(values);
}

/* The same values in parts, merged forwards and backwards, are the same bytes. */
static void test_merge(void)
{
    enum { COUNT = 5000, MOST = 7 };
    struct bytes whole = BYTES_INIT;
    for (unsigned parts = 1; parts <= MOST; parts++) {
        for (unsigned backwards = 0; backwards < 2; backwards++) {
            struct statistic part[MOST] = { 0 }, all = STATISTIC_INIT;
            uint64_t state = 42;
            for (unsigned i = 0; i < COUNT; i++)
                statistic_add(&part[i * 31 % parts], next_value(&state));
            for (unsigned p = 0; p < parts; p++)
                statistic_merge(&all, &part[backwards ? parts - 1 - p : p]);
            struct bytes bytes = BYTES_INIT;
            statistic_save(&all, &bytes);
            if (whole.size == 0)
                bytes_put(&whole, bytes.data, bytes.size);
            CU_ASSERT_EQUAL_FATAL(bytes.size, whole.size);
            CU_ASSERT_EQUAL(memcmp(bytes.data, whole.data, whole.size), 0);
            bytes_release(&bytes);
            statistic_release(&all);
            for (unsigned p = 0; p < parts; p++)
                statistic_release(&part[p]);
        }
    }
    bytes_release(&whole);
}

static void test_save(void)
{
    struct statistic s = STATISTIC_INIT, back = STATISTIC_INIT;
    uint64_t state = 7;
    for (unsigned i = 0; i < 300; i++)
        statistic_add(&s, next_value(&state) - 3);
    struct bytes bytes = BYTES_INIT, again = BYTES_INIT;
    statistic_save(&s, &bytes);
    struct cursor from = cursor_init(bytes.data, bytes.size);
    CU_ASSERT(statistic_load(&back, &from));
    CU_ASSERT(cursor_done(&from));
    statistic_save(&back, &again);
    CU_ASSERT_EQUAL_FATAL(again.size, bytes.size);
    CU_ASSERT_EQUAL(memcmp(again.data, bytes.data, bytes.size), 0);
    /* Nothing shorter is one, and no count may be changed. */
    for (size_t size = 0; size < bytes.size; size++) {
        from = cursor_init(bytes.data, size);
        CU_ASSERT_FALSE(statistic_load(&back, &from));
        CU_ASSERT_EQUAL(back.count, 0);
    }
    bytes.data[0] ^= 1;
    from = cursor_init(bytes.data, bytes.size);
    CU_ASSERT_FALSE(statistic_load(&back, &from));
    bytes_release(&bytes);
    bytes_release(&again);
    statistic_release(&s);
    statistic_release(&back);
}

/* --- series --- */

static void test_series(void)
{
    struct series s = SERIES_INIT(1000);
    series_add(&s, 0, 1);
    series_add(&s, 999, 2);
    series_add(&s, 1000, 4);
    series_add(&s, SERIES_BINS * 1000 - 1, 8);
    CU_ASSERT_EQUAL(s.width_ns, 1000);
    CU_ASSERT_EQUAL(s.bins, SERIES_BINS);
    CU_ASSERT_EQUAL(s.bin[0], 3);
    CU_ASSERT_EQUAL(s.bin[1], 4);
    CU_ASSERT_EQUAL(s.bin[SERIES_BINS - 1], 8);
    series_add(&s, SERIES_BINS * 1000, 16);
    CU_ASSERT_EQUAL(s.width_ns, 2000);
    CU_ASSERT_EQUAL(s.bin[0], 7);
    CU_ASSERT_EQUAL(s.bin[SERIES_BINS / 2 - 1], 8);
    CU_ASSERT_EQUAL(s.bin[SERIES_BINS / 2], 16);
    CU_ASSERT_EQUAL(s.bins, SERIES_BINS / 2 + 1);
    CU_ASSERT_EQUAL(s.total, 31);
    series_add(&s, INT64_MAX, 1);
    CU_ASSERT(INT64_MAX / s.width_ns < SERIES_BINS);
    CU_ASSERT_EQUAL(s.bin[0], 31);
    CU_ASSERT_EQUAL(s.total, 32);
    series_release(&s);
}

static void test_series_merge(void)
{
    enum { COUNT = 4000, MOST = 5 };
    struct bytes whole = BYTES_INIT;
    for (unsigned parts = 1; parts <= MOST; parts++) {
        for (unsigned backwards = 0; backwards < 2; backwards++) {
            struct series part[MOST], all = SERIES_INIT(3000);
            for (unsigned p = 0; p < parts; p++)
                part[p] = (struct series)SERIES_INIT(3000);
            uint64_t state = 9;
            /* Later numbers reach further, so that the parts end with different widths. */
            for (unsigned i = 0; i < COUNT; i++)
                series_add(&part[i * parts / COUNT], (int64_t)(next_number(&state) % (1000 + 40000ull * i)), i);
            for (unsigned p = 0; p < parts; p++)
                series_merge(&all, &part[backwards ? parts - 1 - p : p]);
            struct bytes bytes = BYTES_INIT;
            series_save(&all, &bytes);
            if (whole.size == 0)
                bytes_put(&whole, bytes.data, bytes.size);
            CU_ASSERT_EQUAL_FATAL(bytes.size, whole.size);
            CU_ASSERT_EQUAL(memcmp(bytes.data, whole.data, whole.size), 0);

            struct series back = SERIES_INIT(1);
            struct cursor from = cursor_init(bytes.data, bytes.size);
            CU_ASSERT(series_load(&back, &from) && cursor_done(&from));
            CU_ASSERT_EQUAL(back.total, COUNT * (COUNT - 1) / 2);
            from = cursor_init(bytes.data, bytes.size - 1);
            CU_ASSERT_FALSE(series_load(&back, &from));
            series_release(&back);
            bytes_release(&bytes);
            series_release(&all);
            for (unsigned p = 0; p < parts; p++)
                series_release(&part[p]);
        }
    }
    bytes_release(&whole);
}

/* --- the collector --- */

static const struct trace_metric broker_metrics[] = {
    { "events", "1", "events published", TRACE_COUNTER },
    { "messages", "1", "messages forwarded", TRACE_SERIES },
};
static const struct trace_metric job_metrics[] = {
    { "queue_length", "1", "jobs waiting", TRACE_SAMPLE },
    { "alloc", "ns", "from request to allocation", TRACE_STAGE },
};
static const struct trace_role roles[] = {
    { "broker", "routes", broker_metrics, 2 },
    { "idle", "reports nothing", NULL, 0 },
    { "job-manager", "manages", job_metrics, 2 },
};

static void test_collector(void)
{
    struct bytes whole = BYTES_INIT;
    for (unsigned parts = 1; parts <= 4; parts++) {
        struct collector *part[4], *all = collector_new(roles, 3, 1000000);
        for (unsigned p = 0; p < parts; p++)
            part[p] = collector_new(roles, 3, 1000000);
        uint64_t state = 3;
        for (unsigned i = 0; i < 1000; i++) {
            struct collector *c = part[i * 7 % parts];
            int64_t time_ns = (int64_t)i * 50000000;
            collector_count(c, 0, 0, time_ns, 2);
            collector_count(c, 0, 1, time_ns, 3);
            collector_sample(c, 2, 0, time_ns, (int64_t)(next_number(&state) % 10));
            collector_sample(c, 2, 1, time_ns, next_value(&state));
        }
        for (unsigned p = 0; p < parts; p++) {
            struct bytes bytes = BYTES_INIT;
            collector_save(part[p], &bytes);
            CU_ASSERT(collector_merge(all, bytes.data, bytes.size, NULL));
            bytes_release(&bytes);
            collector_free(part[p]);
        }
        CU_ASSERT_EQUAL(collector_total(all, 0, 0), 2000);
        CU_ASSERT_EQUAL(collector_total(all, 0, 1), 3000);
        CU_ASSERT_EQUAL(collector_series(all, 0, 1)->total, 3000);
        CU_ASSERT_EQUAL(collector_statistic(all, 2, 1)->count, 1000);
        CU_ASSERT_EQUAL(collector_series(all, 2, 1)->total, 1000);
        struct bytes bytes = BYTES_INIT;
        collector_save(all, &bytes);
        if (whole.size == 0)
            bytes_put(&whole, bytes.data, bytes.size);
        CU_ASSERT_EQUAL_FATAL(bytes.size, whole.size);
        CU_ASSERT_EQUAL(memcmp(bytes.data, whole.data, whole.size), 0);
        bytes_release(&bytes);
        collector_free(all);
    }
    bytes_release(&whole);
}

static void test_collector_names(void)
{
    struct collector *c = collector_new(roles, 3, 1);
    CU_ASSERT_EQUAL(collector_role_count(c), 3);
    CU_ASSERT_EQUAL(collector_find_role(c, "job-manager"), 2);
    CU_ASSERT_EQUAL(collector_find_role(c, "job"), -1);
    CU_ASSERT_EQUAL(collector_find_metric(c, 2, "alloc"), 1);
    CU_ASSERT_EQUAL(collector_find_metric(c, 1, "alloc"), -1);
    CU_ASSERT_STRING_EQUAL(collector_role(c, 2)->metrics[1].unit, "ns");
    collector_free(c);
}

static void test_collector_refused(void)
{
    struct collector *c = collector_new(roles, 3, 1000);
    struct collector *other = collector_new(roles, 1, 1000);
    struct bytes bytes = BYTES_INIT;
    GError *error = NULL;
    collector_save(other, &bytes);
    CU_ASSERT_FALSE(collector_merge(c, bytes.data, bytes.size, &error));
    CU_ASSERT(g_error_matches(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME));
    g_clear_error(&error);
    bytes_clear(&bytes);
    collector_sample(c, 2, 1, 5, 5);
    collector_save(c, &bytes);
    for (size_t size = 0; size < bytes.size; size++) {
        CU_ASSERT_FALSE(collector_merge(c, bytes.data, size, &error));
        g_clear_error(&error);
    }
    bytes_release(&bytes);
    collector_free(other);
    collector_free(c);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "buckets join without a gap and keep to the stated error", test_buckets },
        { "no values have no mean", test_empty },
        { "small values are exact", test_exact },
        { "the largest values do not overflow, one value is its own quantile", test_extremes },
        { "quantiles of values of all magnitudes keep to the stated error", test_quantiles },
        { "parts merge to the same bytes in any number and order", test_merge },
        { "a saved statistic reads back, a damaged one is refused", test_save },
        { "a series doubles its width when its bins are used up", test_series },
        { "series of different widths merge to the same bytes in any order", test_series_merge },
        { "collectors of any number of processes merge to the same bytes", test_collector },
        { "roles and metrics are found by name", test_collector_names },
        { "bytes of another table, or too few, are refused", test_collector_refused },
        { NULL, NULL }
    };
    return suite_run("statistics", tests);
}
