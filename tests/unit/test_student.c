/* SPDX-License-Identifier: BSD-3-Clause */
#include "student.h"

#include <glib.h>
#include <math.h>

#include "suite.h"

/* To the digits of published tables (NIST/SEMATECH e-Handbook, 1.3.6.7.2), and where there is a closed form. */
static void test_tables(void)
{
    CU_ASSERT_DOUBLE_EQUAL(student_quantile(0.975, 1), 12.706, 0.0005);
    CU_ASSERT_DOUBLE_EQUAL(student_quantile(0.975, 4), 2.776, 0.0005);
    CU_ASSERT_DOUBLE_EQUAL(student_quantile(0.975, 19), 2.093, 0.0005);
    CU_ASSERT_DOUBLE_EQUAL(student_quantile(0.9, 10), 1.372, 0.0005);
    CU_ASSERT_DOUBLE_EQUAL(student_quantile(0.999, 100), 3.174, 0.0005);
    CU_ASSERT_DOUBLE_EQUAL(student_quantile(0.975, 1e6), 1.960, 0.0005);
    CU_ASSERT_DOUBLE_EQUAL(student_quantile(0.025, 19), -student_quantile(0.975, 19), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(student_quantile(0.5, 7), 0, 1e-9);
    for (double p = 0.55; p < 1; p += 0.05) {
        double one = tan(G_PI * (p - 0.5));
        double two = (2 * p - 1) / sqrt(2 * p * (1 - p));
        CU_ASSERT_DOUBLE_EQUAL(student_quantile(p, 1), one, 1e-9 * (1 + one));
        CU_ASSERT_DOUBLE_EQUAL(student_quantile(p, 2), two, 1e-9 * (1 + two));
    }
}

static void test_estimate(void)
{
    static const double values[] = { 1, 2, 3, 4, 5 };
    struct student_estimate e = student_estimate(values, 5, 0.95);

    CU_ASSERT_DOUBLE_EQUAL(e.mean, 3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(e.deviation, sqrt(2.5), 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(e.half_width, 2.776 * sqrt(2.5 / 5), 1e-3);
    e = student_estimate(values, 1, 0.95);
    CU_ASSERT_DOUBLE_EQUAL(e.mean, 1, 0);
    CU_ASSERT_TRUE(isnan(e.half_width));
    e = student_estimate(values, 0, 0.95);
    CU_ASSERT_TRUE(isnan(e.mean));
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "quantiles are those of the tables", test_tables },
        { "an interval needs two values", test_estimate },
        { NULL, NULL }
    };
    return suite_run("student", tests);
}
