/* SPDX-License-Identifier: BSD-3-Clause */
#include "least_squares.h"

#include <math.h>
#include <string.h>

enum {
    HALVINGS_MAX = 4,
    SWEEPS_MAX = 60,                /* of Jacobi's method; ten are plenty */
    SEEDS_FOR_ERRORS = 3
};
#define SMALL_STEP 0.3              /* of an uncertainty */
#define SIGNIFICANT 3.0             /* standard errors */
#define IDENTIFIED 3.0              /* prior over posterior */

/* --- small linear algebra, row after row, n x n --- */

/* The inverse of a symmetric positive definite matrix, by Cholesky's decomposition. */
static void invert(const double *matrix, double *inverse, unsigned n)
{
    g_autofree double *l = g_new0(double, n * n);

    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j <= i; j++) {
            double sum = matrix[i * n + j];
            for (unsigned k = 0; k < j; k++)
                sum -= l[i * n + k] * l[j * n + k];
            l[i * n + j] = i == j ? sqrt(MAX(sum, 1e-300)) : sum / l[j * n + j];
        }
    for (unsigned column = 0; column < n; column++) {
        g_autofree double *x = g_new0(double, n);
        for (unsigned i = 0; i < n; i++) {
            double sum = i == column;
            for (unsigned k = 0; k < i; k++)
                sum -= l[i * n + k] * x[k];
            x[i] = sum / l[i * n + i];
        }
        for (unsigned i = n; i-- > 0;) {
            double sum = x[i];
            for (unsigned k = i + 1; k < n; k++)
                sum -= l[k * n + i] * x[k];
            x[i] = sum / l[i * n + i];
        }
        for (unsigned i = 0; i < n; i++)
            inverse[i * n + column] = x[i];
    }
}

static void rotate(double *a, double *v, unsigned n, unsigned p, unsigned q)
{
    double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1);
    double s = t * c;

    for (unsigned k = 0; k < n; k++) {
        double kp = a[k * n + p], kq = a[k * n + q];
        a[k * n + p] = c * kp - s * kq;
        a[k * n + q] = s * kp + c * kq;
    }
    for (unsigned k = 0; k < n; k++) {
        double pk = a[p * n + k], qk = a[q * n + k];
        a[p * n + k] = c * pk - s * qk;
        a[q * n + k] = s * pk + c * qk;
    }
    for (unsigned k = 0; k < n; k++) {
        double kp = v[k * n + p], kq = v[k * n + q];
        v[k * n + p] = c * kp - s * kq;
        v[k * n + q] = s * kp + c * kq;
    }
}

/* Eigenvalues of the symmetric `a`, falling, and its eigenvectors, one a row of `vectors`: Jacobi's method. */
static void diagonalise(double *a, double *values, double *vectors, unsigned n)
{
    g_autofree double *v = g_new0(double, n * n);
    g_autofree unsigned *order = g_new(unsigned, n);

    for (unsigned i = 0; i < n; i++) {
        v[i * n + i] = 1;
        order[i] = i;
    }
    for (unsigned sweep = 0; sweep < SWEEPS_MAX; sweep++)
        for (unsigned p = 0; p + 1 < n; p++)
            for (unsigned q = p + 1; q < n; q++)
                if (fabs(a[p * n + q]) > 1e-15 * sqrt(fabs(a[p * n + p] * a[q * n + q])) && a[p * n + q] != 0)
                    rotate(a, v, n, p, q);
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = i + 1; j < n; j++)
            if (a[order[j] * n + order[j]] > a[order[i] * n + order[i]]) {
                unsigned swap = order[i];
                order[i] = order[j];
                order[j] = swap;
            }
    for (unsigned i = 0; i < n; i++) {
        values[i] = a[order[i] * n + order[i]];
        for (unsigned k = 0; k < n; k++)
            vectors[i * n + k] = v[k * n + order[i]];
    }
}

/* --- points --- */

/* Means over the seeds of one point, and the variances of those means (0 for a single seed). */
static void average(const struct least_squares *p, const double *values, double *means, double *variances)
{
    for (unsigned i = 0; i < p->rows; i++) {
        double sum = 0;
        double squares = 0;
        for (unsigned s = 0; s < p->seeds; s++)
            sum += values[i * p->seeds + s];
        means[i] = sum / p->seeds;
        for (unsigned s = 0; s < p->seeds; s++)
            squares += pow(values[i * p->seeds + s] - means[i], 2);
        variances[i] = p->seeds < 2 ? 0 : squares / (p->seeds - 1) / p->seeds;
    }
}

static double objective(const struct least_squares *p, const double *theta, const double *means, const double *sigma,
                        double *misfit)
{
    double sum = 0;

    for (unsigned i = 0; i < p->rows; i++)
        sum += pow((means[i] - p->measured[i]) / sigma[i], 2);
    *misfit = sum;
    for (unsigned j = 0; j < p->parameters; j++)
        sum += pow(theta[j] / p->prior[j], 2);
    return sum;
}

static gboolean play_one(const struct least_squares *p, const double *theta, double *means, double *sigma,
                         GError **error)
{
    g_autofree double *values = g_new(double, (size_t)p->rows * p->seeds);

    if (!p->evaluate(p->data, theta, 1, values, error))
        return FALSE;
    average(p, values, means, sigma);
    for (unsigned i = 0; i < p->rows; i++)
        sigma[i] = sqrt(p->uncertainty[i] * p->uncertainty[i] + sigma[i]);
    return TRUE;
}

/* One entry of the jacobian from the values of a row at both sides. */
static double slope(const struct least_squares *p, const double *below, const double *above, double width)
{
    double sum = 0;
    double squares = 0;

    for (unsigned s = 0; s < p->seeds; s++)
        sum += (above[s] - below[s]) / width;
    double mean = sum / p->seeds;
    for (unsigned s = 0; s < p->seeds; s++)
        squares += pow((above[s] - below[s]) / width - mean, 2);
    if (p->seeds >= SEEDS_FOR_ERRORS && fabs(mean) <= SIGNIFICANT * sqrt(squares / (p->seeds - 1) / p->seeds))
        return 0;
    return mean;
}

static gboolean differentiate(const struct least_squares *p, const double *theta, double *jacobian, GError **error)
{
    unsigned n = p->parameters;
    size_t point = (size_t)p->rows * p->seeds;
    g_autofree double *thetas = g_new(double, (size_t)2 * n * n);
    g_autofree double *values = g_new(double, 2 * n * point);

    for (unsigned k = 0; k < 2 * n; k++) {
        memcpy(&thetas[k * n], theta, n * sizeof *theta);
        thetas[k * n + k / 2] += k % 2 == 0 ? -p->step : p->step;
    }
    if (!p->evaluate(p->data, thetas, 2 * n, values, error))
        return FALSE;
    for (unsigned j = 0; j < n; j++)
        for (unsigned i = 0; i < p->rows; i++)
            jacobian[i * n + j] = slope(p, &values[2 * j * point + i * p->seeds],
                                        &values[(2 * j + 1) * point + i * p->seeds], 2 * p->step);
    return TRUE;
}

/* --- the solution --- */

/* What the rows know of the parameters, J'J over sigma, and with the prior. */
static void weigh(const struct least_squares *p, struct least_squares_result *r)
{
    unsigned n = p->parameters;
    g_autofree double *information = g_new0(double, n * n);
    g_autofree double *scaled = g_new0(double, n * n);

    for (unsigned a = 0; a < n; a++)
        for (unsigned b = 0; b < n; b++) {
            for (unsigned i = 0; i < p->rows; i++)
                information[a * n + b] += r->jacobian[i * n + a] * r->jacobian[i * n + b] / (r->sigma[i] * r->sigma[i]);
            scaled[a * n + b] = information[a * n + b] * p->prior[a] * p->prior[b];
        }
    for (unsigned j = 0; j < n; j++)
        information[j * n + j] += 1 / (p->prior[j] * p->prior[j]);
    invert(information, r->covariance, n);
    for (unsigned j = 0; j < n; j++)
        r->deviation[j] = sqrt(r->covariance[j * n + j]);
    diagonalise(scaled, r->singular, r->directions, n);
    for (unsigned j = 0; j < n; j++)
        r->singular[j] = sqrt(MAX(r->singular[j], 0));
}

/* Gauss and Newton's step from theta, kept inside the range. */
static void propose(const struct least_squares *p, const struct least_squares_result *r, double *step)
{
    unsigned n = p->parameters;
    g_autofree double *gradient = g_new0(double, n);

    for (unsigned j = 0; j < n; j++) {
        gradient[j] = r->theta[j] / (p->prior[j] * p->prior[j]);
        for (unsigned i = 0; i < p->rows; i++)
            gradient[j] += r->jacobian[i * n + j] * (r->values[i] - p->measured[i]) / (r->sigma[i] * r->sigma[i]);
    }
    for (unsigned j = 0; j < n; j++) {
        step[j] = 0;
        for (unsigned k = 0; k < n; k++)
            step[j] -= r->covariance[j * n + k] * gradient[k];
        step[j] = CLAMP(r->theta[j] + step[j], p->low[j], p->high[j]) - r->theta[j];
    }
}

static bool is_small(const struct least_squares_result *r, const double *step)
{
    for (unsigned j = 0; j < r->parameters; j++)
        if (fabs(step[j]) > SMALL_STEP * r->deviation[j])
            return false;
    return true;
}

/* Goes along `step`, or a part of it after so many halvings, when that is better; otherwise nothing moves. */
static gboolean advance(const struct least_squares *p, struct least_squares_result *r, const double *step,
                        unsigned halvings, bool *moved, GError **error)
{
    unsigned n = p->parameters;
    double misfit;
    double best = objective(p, r->theta, r->values, r->sigma, &r->misfit);
    g_autofree double *theta = g_new(double, n);
    g_autofree double *means = g_new(double, p->rows);
    g_autofree double *sigma = g_new(double, p->rows);

    *moved = false;
    for (unsigned halving = 0; halving <= halvings && !*moved; halving++) {
        for (unsigned j = 0; j < n; j++)
            theta[j] = r->theta[j] + ldexp(step[j], -(int)halving);
        if (!play_one(p, theta, means, sigma, error))
            return FALSE;
        if (objective(p, theta, means, sigma, &misfit) < best) {
            memcpy(r->theta, theta, n * sizeof *theta);
            memcpy(r->values, means, p->rows * sizeof *means);
            memcpy(r->sigma, sigma, p->rows * sizeof *sigma);
            r->misfit = misfit;
            *moved = true;
        }
    }
    return TRUE;
}

static gboolean iterate(const struct least_squares *p, struct least_squares_result *r, GError **error)
{
    g_autofree double *step = g_new(double, p->parameters);
    bool moved = true;

    while (r->iterations < p->iterations_max) {
        propose(p, r, step);
        r->converged = is_small(r, step);
        if (!advance(p, r, step, r->converged ? 0 : HALVINGS_MAX, &moved, error))
            return FALSE;
        if (r->converged)
            return TRUE;
        /* Nothing better along the step: what is left is the noise of the simulation. */
        if (!moved)
            return TRUE;
        r->iterations++;
        if (!differentiate(p, r->theta, r->jacobian, error))
            return FALSE;
        weigh(p, r);
    }
    return TRUE;
}

static gboolean begin(const struct least_squares *p, struct least_squares_result *r, GError **error)
{
    unsigned n = p->parameters;

    g_assert(n >= 1 && n <= LEAST_SQUARES_PARAMETERS_MAX && p->rows >= 1 && p->seeds >= 1 && p->step > 0);
    *r = (struct least_squares_result){ .parameters = n, .rows = p->rows };
    r->theta = g_new0(double, n);
    r->deviation = g_new0(double, n);
    r->covariance = g_new0(double, n * n);
    r->jacobian = g_new0(double, p->rows * n);
    r->start_values = g_new0(double, p->rows);
    r->values = g_new0(double, p->rows);
    r->sigma = g_new0(double, p->rows);
    r->singular = g_new0(double, n);
    r->directions = g_new0(double, n * n);
    if (!play_one(p, r->theta, r->values, r->sigma, error) || !differentiate(p, r->theta, r->jacobian, error)) {
        least_squares_release(r);
        return FALSE;
    }
    memcpy(r->start_values, r->values, p->rows * sizeof *r->values);
    objective(p, r->theta, r->values, r->sigma, &r->misfit);
    weigh(p, r);
    return TRUE;
}

gboolean least_squares_look(const struct least_squares *problem, struct least_squares_result *result, GError **error)
{
    return begin(problem, result, error);
}

gboolean least_squares_solve(const struct least_squares *problem, struct least_squares_result *result, GError **error)
{
    if (!begin(problem, result, error))
        return FALSE;
    if (iterate(problem, result, error))
        return TRUE;
    least_squares_release(result);
    return FALSE;
}

void least_squares_release(struct least_squares_result *result)
{
    g_free(result->theta);
    g_free(result->deviation);
    g_free(result->covariance);
    g_free(result->jacobian);
    g_free(result->start_values);
    g_free(result->values);
    g_free(result->sigma);
    g_free(result->singular);
    g_free(result->directions);
    *result = (struct least_squares_result){ .parameters = 0 };
}

bool least_squares_identified(const struct least_squares *problem, const struct least_squares_result *result,
                              unsigned parameter)
{
    return result->deviation[parameter] * IDENTIFIED <= problem->prior[parameter];
}

double least_squares_correlation(const struct least_squares_result *result, unsigned a, unsigned b)
{
    return result->covariance[a * result->parameters + b] / (result->deviation[a] * result->deviation[b]);
}
