/* SPDX-License-Identifier: BSD-3-Clause */
#include "fit.h"

#include <math.h>
#include <stdio.h>

#include "fit_report.h"
#include "options.h"
#include "profile_file.h"
#include "share.h"

enum { ITERATIONS_MAX = 12 };

/* The plan's numbers by row and by free cost. */
struct numbers {
    double *measured;
    double *uncertainty;
    double *prior;
    double *low;
    double *high;
};

static struct least_squares problem_of(const struct fit_plan *plan, struct numbers *n)
{
    *n = (struct numbers){ g_new(double, plan->rows->len), g_new(double, plan->rows->len),
                           g_new(double, plan->frees->len), g_new(double, plan->frees->len),
                           g_new(double, plan->frees->len) };
    for (unsigned i = 0; i < plan->rows->len; i++) {
        n->measured[i] = log(g_array_index(plan->rows, struct fit_row, i).value);
        n->uncertainty[i] = g_array_index(plan->rows, struct fit_row, i).uncertainty;
    }
    for (unsigned j = 0; j < plan->frees->len; j++) {
        const struct fit_free *free = &g_array_index(plan->frees, struct fit_free, j);
        n->low[j] = log(free->low);
        n->high[j] = log(free->high);
        n->prior[j] = (n->high[j] - n->low[j]) / sqrt(12);
    }
    return (struct least_squares){
        .parameters = plan->frees->len, .rows = plan->rows->len, .seeds = plan->seeds, .measured = n->measured,
        .uncertainty = n->uncertainty, .prior = n->prior, .low = n->low, .high = n->high, .step = plan->step,
        .iterations_max = ITERATIONS_MAX, .evaluate = fit_model_evaluate
    };
}

static void release_numbers(struct numbers *n)
{
    g_free(n->measured);
    g_free(n->uncertainty);
    g_free(n->prior);
    g_free(n->low);
    g_free(n->high);
}

static gboolean write_profile(const struct fit_outcome *outcome, const char *path, GError **error)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *date = g_date_time_format(now, "%Y-%m-%d");
    g_autofree char *text = fit_report_profile(outcome, date);

    return profile_file_write(path, text, error);
}

/* Process 0's part. */
static gboolean tell(const struct fit_outcome *outcome, const struct options *options, enum printed_form form,
                     GError **error)
{
    fit_report_write(outcome, !options->sensitivity, form, stdout);
    return options->profile == NULL || options->sensitivity || write_profile(outcome, options->profile, error);
}

static gboolean fit(const struct fit_model *model, const struct options *options, enum printed_form form,
                    GError **error)
{
    struct numbers numbers;
    struct least_squares problem = problem_of(model->plan, &numbers);
    struct least_squares_result result;
    GError *local = NULL;
    gboolean good;

    problem.data = (void *)model;
    good = options->sensitivity ? least_squares_look(&problem, &result, error)
                                : least_squares_solve(&problem, &result, error);
    if (good) {
        struct fit_outcome outcome = { model, &problem, &result };
        if (model->share->process == 0)
            tell(&outcome, options, form, &local);
        good = share_agree(model->share, local, error);
        least_squares_release(&result);
    }
    release_numbers(&numbers);
    return good;
}

/* What could be known before hours of runs. */
static gboolean check_profile(const struct options *options, GError **error)
{
    if (options->profile == NULL || !options->sensitivity)
        return profile_file_check(options, error);
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "--profile and --sensitivity: are given both; expected "
                "one of them, since nothing is fitted for the latter");
    return FALSE;
}

static void print_problems(const struct fit_plan *plan, const struct share *share)
{
    if (share->process != 0)
        return;
    for (unsigned i = 0; i < plan->problems->len; i++)
        fprintf(stderr, "%s\n", (const char *)plan->problems->pdata[i]);
    fprintf(stderr, "tiercel: %s: %u problem%s; nothing was run\n", plan->path, plan->problems->len,
            plan->problems->len == 1 ? "" : "s");
}

int fit_file(const struct options *options, struct share *share)
{
    const struct deck_reader reader = { share_read, share };
    g_autoptr(GError) error = NULL;
    GError *local = NULL;
    enum printed_form form;
    struct fit_model model;
    int status = TIERCEL_ERROR_INPUT;

    if (share->process == 0)
        check_profile(options, &local);
    gboolean good = share_agree(share, local, &error) && printed_form(options->format, &form, &error);
    if (good) {
        struct fit_plan *plan = fit_plan_load(options->words[0], &reader);
        if (options->seeds > 0)
            plan->seeds = (unsigned)options->seeds;
        if (plan->problems->len > 0) {
            print_problems(plan, share);
        } else if (fit_model_init(&model, plan, !options->sensitivity, share,
                                  options->verbosity < 0 ? 0 : options->progress_s)) {
            status = fit(&model, options, form, &error) ? TIERCEL_OK : error->code;
            fit_model_release(&model);
        }
        fit_plan_free(plan);
    }
    if (error != NULL && share->process == 0)
        fprintf(stderr, "tiercel: %s\n", error->message);
    return status;
}
