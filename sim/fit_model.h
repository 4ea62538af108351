/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a fit plan's rows come to for given factors of its free costs: the function whose least squares are sought.
 *
 *     struct fit_model model;
 *     if (!fit_model_init(&model, plan, share, progress_s)) return TIERCEL_ERROR_INPUT;       problems are printed
 *     problem.evaluate = fit_model_evaluate, problem.data = &model;
 *     ...
 *     fit_model_release(&model);
 *
 * The costs that hold beforehand are read from the rows' decks. For a fit they must be the same in all; for
 * sensitivities alone each row may have its own. Rows with the same deck and settings are played once. A factor
 * multiplies every part of a cost (fixed, per byte, per element), rounded to whole nanoseconds (picoseconds per byte),
 * and never to 0.
 */
#ifndef TIERCEL_FIT_MODEL_H
#define TIERCEL_FIT_MODEL_H

#include "fit_plan.h"
#include "share.h"

struct fit_cost {                   /* a key of a free cost */
    const char *key;                /* the plan's */
    bool is_cost;                   /* else a duration: cost.fixed_ns alone */
    struct cost cost;               /* beforehand */
};

struct fit_model {
    const struct fit_plan *plan;
    struct share *share;
    int64_t progress_s;
    bool alike;                     /* all rows must have the same costs */
    GPtrArray *costs;               /* by row, then by free cost: GPtrArray of GArray of struct fit_cost */
    unsigned *played;               /* by row: the first row with the same deck and settings */
    GArray *distinct;               /* unsigned: the rows that are such */
    GHashTable *profile;            /* char * "kvs-apply" -> char *: all costs that the rows' decks state */
    GPtrArray *profile_order;       /* its keys, in the order of the first deck that has them */
};

/* `alike`: refuse rows with different costs. Collective; FALSE on all when a deck or a key is wrong, after process 0
 * has printed all problems. */
gboolean fit_model_init(struct fit_model *model, const struct fit_plan *plan, bool alike, struct share *share,
                        int64_t progress_s);
void fit_model_release(struct fit_model *model);

/* A least_squares_fn; `data` is the model. Thetas are natural logarithms of the factors; values are logarithms of what
 * the rows' keys hold. Collective. */
gboolean fit_model_evaluate(void *data, const double *thetas, unsigned count, double *values, GError **error);

/* The costs of a free cost beforehand, as a row's deck has them: struct fit_cost, the model's. */
const GArray *fit_model_costs(const struct fit_model *model, unsigned row, unsigned free);

/* The value of a key with that factor, as a deck states it. Free with g_free. */
char *fit_cost_text(const struct fit_cost *cost, double factor);

#endif
