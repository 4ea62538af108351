/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/quantity.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

#define SECOND_NS INT64_C(1000000000)

struct good {
    enum quantity_type type;
    const char *text;
    int64_t integer;
};

static void test_integers(void)
{
    static const struct good table[] = {
        { QUANTITY_COUNT, "0", 0 },
        { QUANTITY_COUNT, "16", 16 },
        { QUANTITY_COUNT, "9223372036854775807", INT64_MAX },
        { QUANTITY_DURATION, "0s", 0 },
        { QUANTITY_DURATION, "1ns", 1 },
        { QUANTITY_DURATION, "150us", 150000 },
        { QUANTITY_DURATION, "1.5ms", 1500000 },
        { QUANTITY_DURATION, "0.000000001s", 1 },
        { QUANTITY_DURATION, "0.1s", 100000000 },
        { QUANTITY_DURATION, "1.000000000000s", 1000000000 },
        { QUANTITY_DURATION, "2min", 120 * SECOND_NS },
        { QUANTITY_DURATION, "1.5h", 5400 * SECOND_NS },
        { QUANTITY_DURATION, "1d", 86400 * SECOND_NS },
        { QUANTITY_DURATION, "9223372036.854775807s", INT64_MAX },
        { QUANTITY_DURATION, "106751d", SECOND_NS * 106751 * 86400 },
        { QUANTITY_SIZE, "0B", 0 },
        { QUANTITY_SIZE, "1KB", 1000 },
        { QUANTITY_SIZE, "1KiB", 1024 },
        { QUANTITY_SIZE, "1.5KiB", 1536 },
        { QUANTITY_SIZE, "8MiB", 8388608 },
        { QUANTITY_SIZE, "8MB", 8000000 },
        { QUANTITY_SIZE, "0.5GB", 500000000 },
        { QUANTITY_SIZE, "1GiB", 1073741824 },
        { QUANTITY_SIZE, "1TB", INT64_C(1000000000000) },
        { QUANTITY_SIZE, "1TiB", INT64_C(1) << 40 },
        { QUANTITY_BANDWIDTH, "1Gbit/s", 125000000 },
        { QUANTITY_BANDWIDTH, "8bit/s", 1 },
        { QUANTITY_BANDWIDTH, "10Kbit/s", 1250 },
        { QUANTITY_BANDWIDTH, "100Mbit/s", 12500000 },
        { QUANTITY_BANDWIDTH, "0.4Tbit/s", INT64_C(50000000000) },
        { QUANTITY_BANDWIDTH, "2.5GB/s", INT64_C(2500000000) },
        { QUANTITY_BANDWIDTH, "100MiB/s", 104857600 },
        { QUANTITY_BANDWIDTH, "7B/s", 7 },
        { QUANTITY_RATE, "4250/s", INT64_C(4250000000) },
        { QUANTITY_RATE, "67.6/s", 67600000 },
        { QUANTITY_RATE, "0.000001/s", 1 },
        { QUANTITY_PERCENTAGE, "2%", 20000 },
        { QUANTITY_PERCENTAGE, "0.25%", 2500 },
        { QUANTITY_PERCENTAGE, "100%", 1000000 },
        { QUANTITY_BOOLEAN, "true", 1 },
        { QUANTITY_BOOLEAN, "false", 0 },
        { QUANTITY_CLOCK_TIME, "01:30:00", 5400 },
        { QUANTITY_CLOCK_TIME, "0:00:01", 1 },
        { QUANTITY_CLOCK_TIME, "100:59:59", 100 * 3600 + 3599 }
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
        struct quantity q;
        GError *error = NULL;
        gboolean ok = quantity_parse(table[i].type, table[i].text, NULL, &q, &error);
        if (!ok || q.integer != table[i].integer)
            printf("\n%s: %s", table[i].text, ok ? "another value" : error->message);
        CU_ASSERT_TRUE(ok);
        CU_ASSERT_TRUE(ok && q.integer == table[i].integer && q.type == table[i].type);
        g_clear_error(&error);
    }
}

static void test_distributions(void)
{
    static const struct {
        const char *text;
        struct distribution value;
    } table[] = {
        { "constant(0s)", { DISTRIBUTION_CONSTANT, 0, 0 } },
        { "10ms", { DISTRIBUTION_CONSTANT, 10000000, 0 } },
        { "exponential(2s)", { DISTRIBUTION_EXPONENTIAL, INT64_C(2000000000), 0 } },
        { "uniform(0s,100ms)", { DISTRIBUTION_UNIFORM, 0, 100000000 } },
        { "uniform( 1ms , 1ms )", { DISTRIBUTION_UNIFORM, 1000000, 1000000 } },
        { "normal(10s, 2.5s)", { DISTRIBUTION_NORMAL, INT64_C(10000000000), INT64_C(2500000000) } },
        { "normal(0s,0s)", { DISTRIBUTION_NORMAL, 0, 0 } }
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
        struct quantity q;
        CU_ASSERT_TRUE_FATAL(quantity_parse(QUANTITY_DISTRIBUTION, table[i].text, NULL, &q, NULL));
        CU_ASSERT_EQUAL(q.distribution.type, table[i].value.type);
        CU_ASSERT_EQUAL(q.distribution.a_ns, table[i].value.a_ns);
        CU_ASSERT_EQUAL(q.distribution.b_ns, table[i].value.b_ns);
    }
}

static void test_costs(void)
{
    static const struct {
        const char *text;
        struct cost value;
    } table[] = {
        { "0s", { 0, 0, 0 } },
        { "20us + 3ns/B + 150ns/queued", { 20000, 3000, 150 } },
        { "20us+3ns/B", { 20000, 3000, 0 } },
        { "150ns/queued + 20us", { 20000, 0, 150 } },
        { "250ps/B", { 0, 250, 0 } },
        { "0.5ns/B", { 0, 500, 0 } },
        { "  1ms  ", { 1000000, 0, 0 } }
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
        struct quantity q;
        CU_ASSERT_TRUE_FATAL(quantity_parse(QUANTITY_COST, table[i].text, NULL, &q, NULL));
        CU_ASSERT_EQUAL(q.cost.fixed_ns, table[i].value.fixed_ns);
        CU_ASSERT_EQUAL(q.cost.per_byte_ps, table[i].value.per_byte_ps);
        CU_ASSERT_EQUAL(q.cost.per_entry_ns, table[i].value.per_entry_ns);
    }
}

static void test_cost_texts(void)
{
    static const struct {
        struct cost value;
        const char *text;
        int64_t factor_ppm;
        struct cost scaled;
    } table[] = {
        { { 0, 0, 0 }, "0ns", 410000, { 0, 0, 0 } },
        { { 42400, 5300, 999 }, "42.4us + 5.3ns/B + 999ns/queued", 410000, { 17384, 2173, 410 } },
        { { 0, 250, 0 }, "250ps/B", 1000000, { 0, 250, 0 } },
        { { 1000000000, 0, 1001 }, "1s + 1.001us/queued", 2500000, { 2500000000, 0, 2503 } },
        { { 1, 1, 1 }, "1ns + 1ps/B + 1ns/queued", 10, { 1, 1, 1 } }
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
        g_autofree char *text = cost_text(&table[i].value);
        struct cost scaled = cost_scaled(&table[i].value, table[i].factor_ppm);
        struct quantity q;
        CU_ASSERT_STRING_EQUAL(text, table[i].text);
        CU_ASSERT_TRUE_FATAL(quantity_parse(QUANTITY_COST, text, NULL, &q, NULL));
        CU_ASSERT_EQUAL(memcmp(&q.cost, &table[i].value, sizeof q.cost), 0);
        CU_ASSERT_EQUAL(memcmp(&scaled, &table[i].scaled, sizeof scaled), 0);
    }
}

/* Every malformed spelling, with the reason that is given for it. */
static void test_refused(void)
{
    static const struct {
        enum quantity_type type;
        const char *text;
        const char *reason;
    } table[] = {
        { QUANTITY_COUNT, "", "it is empty" },
        { QUANTITY_COUNT, "10 ms", "' ms' follows the number" },
        { QUANTITY_COUNT, "10ms", "'ms' follows the number" },
        { QUANTITY_COUNT, "10 20", "' 20' follows the number" },
        { QUANTITY_COUNT, "10 # nodes", "' # nodes' follows the number" },
        { QUANTITY_COUNT, "010", "it has a leading zero" },
        { QUANTITY_COUNT, "00", "it has a leading zero" },
        { QUANTITY_COUNT, "+5", "it has a sign" },
        { QUANTITY_COUNT, "-4", "it is negative" },
        { QUANTITY_COUNT, "1_000", "'_000' follows the number" },
        { QUANTITY_COUNT, "1,000", "',000' follows the number" },
        { QUANTITY_COUNT, "1e3", "'e3' follows the number" },
        { QUANTITY_COUNT, "0x10", "'x10' follows the number" },
        { QUANTITY_COUNT, "1.0", "it has decimals" },
        { QUANTITY_COUNT, "nan", "it does not begin with a digit" },
        { QUANTITY_COUNT, " 1", "it does not begin with a digit" },
        { QUANTITY_COUNT, "9223372036854775808", "it is too large" },
        { QUANTITY_COUNT, "99999999999999999999999999999999999999999999999999", "it is too large" },
        { QUANTITY_COUNT, "\xff\x01", "it does not begin with a digit" },
        { QUANTITY_DURATION, "", "it is empty" },
        { QUANTITY_DURATION, "10", "it has no unit" },
        { QUANTITY_DURATION, "0", "it has no unit" },
        { QUANTITY_DURATION, "10 ms", "a blank follows the number" },
        { QUANTITY_DURATION, "10ms ", "'ms ' is not one of its units" },
        { QUANTITY_DURATION, "10msec", "'msec' is not one of its units" },
        { QUANTITY_DURATION, "10MS", "'MS' is not one of its units" },
        { QUANTITY_DURATION, "10m", "'m' is not one of its units" },
        { QUANTITY_DURATION, "10MiB", "'MiB' is not one of its units" },
        { QUANTITY_DURATION, "-1s", "it is negative" },
        { QUANTITY_DURATION, "+1s", "it has a sign" },
        { QUANTITY_DURATION, ".5s", "it does not begin with a digit" },
        { QUANTITY_DURATION, "5.s", "no digit follows the point" },
        { QUANTITY_DURATION, "1.2.3s", "'.3s' is not one of its units" },
        { QUANTITY_DURATION, "1,5s", "',5s' is not one of its units" },
        { QUANTITY_DURATION, "01s", "it has a leading zero" },
        { QUANTITY_DURATION, "1e3s", "'e3s' is not one of its units" },
        { QUANTITY_DURATION, "nan", "it does not begin with a digit" },
        { QUANTITY_DURATION, "inf", "it does not begin with a digit" },
        { QUANTITY_DURATION, "NaNs", "it does not begin with a digit" },
        { QUANTITY_DURATION, "0.5ns", "it is not a whole number of nanoseconds" },
        { QUANTITY_DURATION, "0.0000000001s", "it is not a whole number of nanoseconds" },
        { QUANTITY_DURATION, "1.0000000000000s", "it has more than 12 decimals" },
        { QUANTITY_DURATION, "9223372036.854775808s", "it is too large" },
        { QUANTITY_DURATION, "106752d", "it is too large" },
        { QUANTITY_DURATION, "18446744073709551615d", "it is too large" },
        { QUANTITY_DURATION, "18446744073709551616ns", "it is too large" },
        { QUANTITY_DURATION, "1h30min", "'h30min' is not one of its units" },
        { QUANTITY_SIZE, "8", "it has no unit" },
        { QUANTITY_SIZE, "8M", "'M' is not one of its units" },
        { QUANTITY_SIZE, "8mb", "'mb' is not one of its units" },
        { QUANTITY_SIZE, "8kB", "'kB' is not one of its units" },
        { QUANTITY_SIZE, "8 MiB", "a blank follows the number" },
        { QUANTITY_SIZE, "0.3B", "it is not a whole number of bytes" },
        { QUANTITY_SIZE, "0.1KiB", "it is not a whole number of bytes" },
        { QUANTITY_SIZE, "8388608TiB", "it is too large" },
        { QUANTITY_BANDWIDTH, "1Gbit", "'Gbit' is not one of its units" },
        { QUANTITY_BANDWIDTH, "1GB", "'GB' is not one of its units" },
        { QUANTITY_BANDWIDTH, "1Gb/s", "'Gb/s' is not one of its units" },
        { QUANTITY_BANDWIDTH, "1Gbps", "'Gbps' is not one of its units" },
        { QUANTITY_BANDWIDTH, "1bit/s", "it is not a whole number of bytes per second" },
        { QUANTITY_RATE, "67.6", "it has no unit" },
        { QUANTITY_RATE, "67.6/min", "'/min' is not one of its units" },
        { QUANTITY_RATE, "67.6 /s", "a blank follows the number" },
        { QUANTITY_RATE, "0.0000001/s", "it is not a whole number of millionths per second" },
        { QUANTITY_PERCENTAGE, "2", "it has no unit" },
        { QUANTITY_PERCENTAGE, "2 %", "a blank follows the number" },
        { QUANTITY_PERCENTAGE, "-2%", "it is negative" },
        { QUANTITY_BOOLEAN, "", "there are only two" },
        { QUANTITY_BOOLEAN, "yes", "there are only two" },
        { QUANTITY_BOOLEAN, "1", "there are only two" },
        { QUANTITY_BOOLEAN, "True", "there are only two" },
        { QUANTITY_BOOLEAN, "true ", "there are only two" },
        { QUANTITY_CLOCK_TIME, "", "it does not begin with a digit" },
        { QUANTITY_CLOCK_TIME, "90", "minutes and seconds are two digits below 60 behind a colon" },
        { QUANTITY_CLOCK_TIME, "1:30", "minutes and seconds are two digits below 60 behind a colon" },
        { QUANTITY_CLOCK_TIME, "1:60:00", "minutes and seconds are two digits below 60 behind a colon" },
        { QUANTITY_CLOCK_TIME, "1:3:00", "minutes and seconds are two digits below 60 behind a colon" },
        { QUANTITY_CLOCK_TIME, "1:00:00s", "'s' follows the seconds" },
        { QUANTITY_CLOCK_TIME, "-1:00:00", "it does not begin with a digit" },
        { QUANTITY_CLOCK_TIME, "99999999999999999999:00:00", "it is too large" },
        { QUANTITY_DISTRIBUTION, "", "it is empty" },
        { QUANTITY_DISTRIBUTION, "5", "it has no unit" },
        { QUANTITY_DISTRIBUTION, "exponential", "it does not begin with a digit" },
        { QUANTITY_DISTRIBUTION, "exponential(2s", "it does not end with a bracket" },
        { QUANTITY_DISTRIBUTION, "exponential(", "it does not end with a bracket" },
        { QUANTITY_DISTRIBUTION, "exponential(2s) x", "it does not end with a bracket" },
        { QUANTITY_DISTRIBUTION, "exponential()", "it has 0 arguments and takes 1" },
        { QUANTITY_DISTRIBUTION, "exponential(1s,2s)", "it has 2 arguments and takes 1" },
        { QUANTITY_DISTRIBUTION, "exponential(2)", "of its argument '2': it has no unit" },
        { QUANTITY_DISTRIBUTION, "exponential(0s)", "its mean is 0s" },
        { QUANTITY_DISTRIBUTION, "exponential(-2s)", "of its argument '-2s': it is negative" },
        { QUANTITY_DISTRIBUTION, "exponential((2s))", "of its argument '(2s)': it does not begin with a digit" },
        { QUANTITY_DISTRIBUTION, "uniform(1s)", "it has 1 arguments and takes 2" },
        { QUANTITY_DISTRIBUTION, "uniform(2s,1s)", "its first end is above the second" },
        { QUANTITY_DISTRIBUTION, "uniform(0s,)", "of its argument '': it is empty" },
        { QUANTITY_DISTRIBUTION, "normal(1s,2s,3s)", "it has 3 arguments and takes 2" },
        { QUANTITY_DISTRIBUTION, "pareto(1s)", "'pareto' is not one of them" },
        { QUANTITY_DISTRIBUTION, "Constant(1s)", "'Constant' is not one of them" },
        { QUANTITY_DISTRIBUTION, "(1s)", "'' is not one of them" },
        { QUANTITY_COST, "", "it is empty" },
        { QUANTITY_COST, "20", "of its part '20': it has no unit" },
        { QUANTITY_COST, "20us +", "of its part '': it is empty" },
        { QUANTITY_COST, "20us + 3ns", "'3ns' is a second part of the same kind" },
        { QUANTITY_COST, "3ns/B + 4ns/B", "'4ns/B' is a second part of the same kind" },
        { QUANTITY_COST, "20us 3ns/B", "of its part '20us 3ns/B': 'us 3ns' is not one of its units" },
        { QUANTITY_COST, "20us + 3/B", "of its part '3/B': it has no unit" },
        { QUANTITY_COST, "20us - 3ns/B", "of its part '20us - 3ns/B': 'us - 3ns' is not one of its units" },
        { QUANTITY_COST, "-20us", "of its part '-20us': it is negative" },
        { QUANTITY_COST, "1ns/KB", "of its part '1ns/KB': 'ns/KB' is not one of its units" },
        { QUANTITY_COST, "5ps", "of its part '5ps': 'ps' is not one of its units" },
        { QUANTITY_COST, "0.5ps/B", "of its part '0.5ps/B': it is not a whole number of picoseconds" },
        { QUANTITY_COST, "5ps/queued", "of its part '5ps/queued': 'ps' is not one of its units" }
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
        struct quantity q = { .integer = -77 };
        GError *error = NULL;
        gboolean ok = quantity_parse(table[i].type, table[i].text, NULL, &q, &error);
        char *quoted = quantity_quote(table[i].text);
        char *expected = g_strdup_printf("%s is not %s: %s; expected %s", quoted, quantity_name(table[i].type),
                                         table[i].reason, quantity_expectation(table[i].type));
        CU_ASSERT_FALSE(ok);
        CU_ASSERT_EQUAL(q.integer, -77);
        CU_ASSERT_TRUE(error != NULL && error->code == TIERCEL_ERROR_INPUT);
        if (error == NULL || strcmp(error->message, expected) != 0)
            printf("\ngot      %s\nexpected %s\n", error == NULL ? "no error" : error->message, expected);
        CU_ASSERT_TRUE(error != NULL && strcmp(error->message, expected) == 0);
        g_free(expected);
        g_free(quoted);
        g_clear_error(&error);
    }
}

static void test_expected(void)
{
    struct quantity q;
    GError *error = NULL;

    CU_ASSERT_FALSE(quantity_parse(QUANTITY_COUNT, "x", "a whole number in 1..16", &q, &error));
    CU_ASSERT_STRING_EQUAL(error->message,
                           "'x' is not a count: it does not begin with a digit; expected a whole number in 1..16");
    g_clear_error(&error);
    CU_ASSERT_FALSE(quantity_parse(QUANTITY_COUNT, "x", NULL, &q, NULL));
}

static void test_quote(void)
{
    static const char *const table[][2] = {
        { "", "''" },
        { "plain", "'plain'" },
        { "a\nb\x7f", "'a\\x0ab\\x7f'" },
        { "\xff\xc3", "'\\xff\\xc3'" },
        { "gr\xc3\xbcn", "'gr\xc3\xbcn'" },
        { "123456789012345678901234567890123456789012345678901234567890", "'123456789012345678901234567890"
          "123456789012345678901234567890'" },
        { "1234567890123456789012345678901234567890123456789012345678901", "'123456789012345678901234567890"
          "123456789012345678901234567890...'" }
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
        char *quoted = quantity_quote(table[i][0]);
        CU_ASSERT_STRING_EQUAL(quoted, table[i][1]);
        g_free(quoted);
    }
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "number and unit are held exactly", test_integers },
        { "each form of distribution is read", test_distributions },
        { "a cost has up to three parts in any order", test_costs },
        { "a cost is written as it is read, and scaled by rounding", test_cost_texts },
        { "every malformed spelling is refused with its reason and the expectation", test_refused },
        { "the caller can say what was expected", test_expected },
        { "quoting makes any bytes printable and short", test_quote },
        { NULL, NULL }
    };
    return suite_run("quantity", tests);
}
