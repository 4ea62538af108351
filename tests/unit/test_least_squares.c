/* SPDX-License-Identifier: BSD-3-Clause */
#include "least_squares.h"

#include <math.h>
#include <string.h>

#include "suite.h"

/*
 * A model whose answer is known: f = a + J theta + curvature x (sum of theta)^2, and a seed's own offset, the same at
 * every point but for `noise`, which is not.
 */
enum { PARAMETERS = 3, ROWS = 4, SEEDS = 4 };

struct model {
    double jacobian[ROWS][PARAMETERS];
    double curvature;
    double offset;                  /* between seeds */
    double noise;
    unsigned calls;
};

static gboolean evaluate(void *data, const double *thetas, unsigned count, double *values, GError **error)
{
    struct model *m = data;

    (void)error;
    for (unsigned k = 0; k < count; k++)
        for (unsigned i = 0; i < ROWS; i++)
            for (unsigned s = 0; s < SEEDS; s++) {
                const double *theta = &thetas[k * PARAMETERS];
                double sum = theta[0] + theta[1] + theta[2];
                double f = 1 + i + m->curvature * sum * sum + m->offset * ((double)s - 1.5);
                for (unsigned j = 0; j < PARAMETERS; j++)
                    f += m->jacobian[i][j] * theta[j];
                f += m->noise * sin(1e4 * (sum + s) + i * (s + 1) + 7 * m->calls);
                values[(k * ROWS + i) * SEEDS + s] = f;
            }
    m->calls++;
    return TRUE;
}

static const double prior[PARAMETERS] = { 0.8, 0.8, 0.8 };
static const double low[PARAMETERS] = { -1.4, -1.4, -1.4 };
static const double high[PARAMETERS] = { 1.4, 1.4, 1.4 };
static const double uncertainty[ROWS] = { 0.01, 0.01, 0.01, 0.01 };

static struct least_squares problem_of(struct model *m, double *measured, const double *truth)
{
    g_autofree double *values = g_new(double, ROWS * SEEDS);

    evaluate(m, truth, 1, values, NULL);
    for (unsigned i = 0; i < ROWS; i++) {
        measured[i] = 0;
        for (unsigned s = 0; s < SEEDS; s++)
            measured[i] += values[i * SEEDS + s] / SEEDS;
    }
    return (struct least_squares){
        .parameters = PARAMETERS, .rows = ROWS, .seeds = SEEDS, .measured = measured, .uncertainty = uncertainty,
        .prior = prior, .low = low, .high = high, .step = 0.1, .iterations_max = 20, .evaluate = evaluate, .data = m
    };
}

static void test_known(void)
{
    struct model m = { .jacobian = { { -1, 0, 0 }, { -0.5, -0.5, 0 }, { 0, 0, 1 }, { 0, 1, 0.5 } }, .curvature = 0.1 };
    const double truth[PARAMETERS] = { 0.5, -0.3, 0.7 };
    double measured[ROWS];
    struct least_squares problem = problem_of(&m, measured, truth);
    struct least_squares_result r;

    CU_ASSERT_TRUE_FATAL(least_squares_solve(&problem, &r, NULL));
    CU_ASSERT_TRUE(r.converged);
    for (unsigned j = 0; j < PARAMETERS; j++) {
        CU_ASSERT_DOUBLE_EQUAL(r.theta[j], truth[j], 0.3 * r.deviation[j]);
        CU_ASSERT_TRUE(r.deviation[j] < 0.03 && r.deviation[j] > 0.003);
        CU_ASSERT_TRUE(least_squares_identified(&problem, &r, j));
    }
    CU_ASSERT_TRUE(r.misfit < 1);
    CU_ASSERT_DOUBLE_EQUAL(r.start_values[0], 1, 1e-12);
    least_squares_release(&r);
}

/* Two parameters that only occur as a sum, and one that does not occur: neither can be told. */
static void test_unknown(void)
{
    struct model m = { .jacobian = { { -1, -1, 0 }, { -0.5, -0.5, 0 }, { 0.2, 0.2, 0 }, { 0.9, 0.9, 0 } } };
    const double truth[PARAMETERS] = { 0.4, 0.2, 0.5 };
    double measured[ROWS];
    struct least_squares problem = problem_of(&m, measured, truth);
    struct least_squares_result r;

    CU_ASSERT_TRUE_FATAL(least_squares_solve(&problem, &r, NULL));
    for (unsigned j = 0; j < PARAMETERS; j++)
        CU_ASSERT_FALSE(least_squares_identified(&problem, &r, j));
    CU_ASSERT_DOUBLE_EQUAL(r.theta[0] + r.theta[1], 0.6, 0.01);
    CU_ASSERT_DOUBLE_EQUAL(r.theta[2], 0, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(r.deviation[2], prior[2], 1e-9);
    CU_ASSERT_TRUE(least_squares_correlation(&r, 0, 1) < -0.99);
    CU_ASSERT_TRUE(r.singular[0] > 50 && r.singular[1] < 1e-6 && r.singular[2] < 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(fabs(r.directions[0]), sqrt(0.5), 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(r.directions[0], r.directions[1], 1e-6);
    least_squares_release(&r);
}

static void test_noise(void)
{
    struct model m = { .jacobian = { { -1, 0, 0 }, { 0, 1, 0 }, { -1, 1, 0 }, { 0, 0.5, 0 } }, .offset = 0.01,
                       .noise = 0.01 };
    const double truth[PARAMETERS] = { 0.3, -0.3, 1 };
    double measured[ROWS];
    struct least_squares problem = problem_of(&m, measured, truth);
    struct least_squares_result r;

    CU_ASSERT_TRUE_FATAL(least_squares_solve(&problem, &r, NULL));
    for (unsigned j = 0; j < 2; j++)
        CU_ASSERT_DOUBLE_EQUAL(r.theta[j], truth[j], 3 * r.deviation[j]);
    /* What noise alone makes of the third is not taken for a derivative. */
    CU_ASSERT_FALSE(least_squares_identified(&problem, &r, 2));
    /* The spread of the seeds is part of what a row is uncertain by. */
    CU_ASSERT_TRUE(r.sigma[0] > 1.1 * uncertainty[0]);
    least_squares_release(&r);
}

static void test_range(void)
{
    struct model m = { .jacobian = { { 1, 0, 0 }, { 1, 0, 0 }, { 1, 0, 0 }, { 1, 0, 0 } } };
    const double truth[PARAMETERS] = { 3, 0, 0 };
    double measured[ROWS];
    struct least_squares problem = problem_of(&m, measured, truth);
    struct least_squares_result r;

    CU_ASSERT_TRUE_FATAL(least_squares_solve(&problem, &r, NULL));
    CU_ASSERT_DOUBLE_EQUAL(r.theta[0], high[0], 1e-9);
    CU_ASSERT_TRUE(r.misfit > 100);
    least_squares_release(&r);
}

static gboolean refuse(void *data, const double *thetas, unsigned count, double *values, GError **error)
{
    (void)data, (void)thetas, (void)values;
    if (count == 1)
        return evaluate(data, thetas, count, values, error);
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME, "no more");
    return FALSE;
}

static void test_error(void)
{
    struct model m = { .jacobian = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 0, 0, 0 } } };
    const double truth[PARAMETERS] = { 0.1, 0.1, 0.1 };
    double measured[ROWS];
    struct least_squares problem = problem_of(&m, measured, truth);
    struct least_squares_result r;
    g_autoptr(GError) error = NULL;

    problem.evaluate = refuse;
    CU_ASSERT_FALSE_FATAL(least_squares_solve(&problem, &r, &error));
    CU_ASSERT_STRING_EQUAL(error->message, "no more");
}

static void test_look(void)
{
    struct model m = { .jacobian = { { -1, 0, 0.25 }, { 0, 1, 0 }, { -1, 1, 0 }, { 0, 0.5, 0 } } };
    const double truth[PARAMETERS] = { 0.3, -0.3, 1 };
    double measured[ROWS];
    struct least_squares problem = problem_of(&m, measured, truth);
    struct least_squares_result r;

    CU_ASSERT_TRUE_FATAL(least_squares_look(&problem, &r, NULL));
    for (unsigned i = 0; i < ROWS; i++)
        for (unsigned j = 0; j < PARAMETERS; j++)
            CU_ASSERT_DOUBLE_EQUAL(r.jacobian[i * PARAMETERS + j], m.jacobian[i][j], 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(r.theta[0], 0, 0);
    least_squares_release(&r);
}

int main(void)
{
    static const struct suite_test tests[] = {
        { "known parameters are found, with an uncertainty", test_known },
        { "what the rows do not tell is named and stays where it was", test_unknown },
        { "noise is not taken for knowledge", test_noise },
        { "a parameter stays in its range", test_range },
        { "an error of the function ends it", test_error },
        { "looking gives derivatives and moves nothing", test_look },
        { NULL, NULL }
    };
    return suite_run("least_squares", tests);
}
