/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "fit_report.h"

#include <math.h>
#include <string.h>

#define CLOSE 0.9               /* a correlation that is worth a word */
#define PART 0.3                /* of a direction that is worth naming */
#define AT_END 1e-6

static const struct fit_free *free_at(const struct fit_outcome *o, unsigned i)
{
    return &g_array_index(o->model->plan->frees, struct fit_free, i);
}

static const struct fit_row *row_at(const struct fit_outcome *o, unsigned i)
{
    return &g_array_index(o->model->plan->rows, struct fit_row, i);
}

static char *join_keys(const struct fit_outcome *o, unsigned i)
{
    const GPtrArray *keys = free_at(o, i)->keys;
    GString *text = g_string_new(NULL);

    for (unsigned k = 0; k < keys->len; k++)
        g_string_append_printf(text, "%s%s", k == 0 ? "" : " ", (const char *)keys->pdata[k]);
    return g_string_free(text, FALSE);
}

/* All values of a free cost with its factor. */
static char *join_values(const struct fit_outcome *o, unsigned i, double factor)
{
    const GArray *costs = fit_model_costs(o->model, 0, i);
    GString *text = g_string_new(NULL);

    for (unsigned k = 0; k < costs->len; k++) {
        g_autofree char *value = fit_cost_text(&g_array_index(costs, struct fit_cost, k), factor);
        g_string_append_printf(text, "%s%s", k == 0 ? "" : "; ", value);
    }
    return g_string_free(text, FALSE);
}

static bool is_identified(const struct fit_outcome *o, unsigned i)
{
    return least_squares_identified(o->problem, o->result, i);
}

static bool is_at_end(const struct fit_outcome *o, unsigned i)
{
    double theta = o->result->theta[i];

    return theta <= o->problem->low[i] + AT_END || theta >= o->problem->high[i] - AT_END;
}

static void add_costs(struct document *d, const struct fit_outcome *o)
{
    static const struct report_column columns[] = {
        { "cost", "cost", REPORT_TEXT }, { "keys", "keys", REPORT_TEXT }, { "factor", "factor", REPORT_NUMBER },
        { "uncertainty_percent", "+- %", REPORT_NUMBER }, { "identified", "identified", REPORT_TEXT },
        { "value", "value", REPORT_TEXT }, { "before", "before", REPORT_TEXT }
    };
    struct section *s = document_section(d, "costs", "Costs", columns, G_N_ELEMENTS(columns));
    const struct least_squares_result *r = o->result;

    for (unsigned i = 0; i < r->parameters; i++) {
        g_autofree char *keys = join_keys(o, i);
        g_autofree char *value = join_values(o, i, exp(r->theta[i]));
        g_autofree char *before = join_values(o, i, 1);
        section_text(s, free_at(o, i)->name);
        section_text(s, keys);
        section_number(s, exp(r->theta[i]));
        section_number(s, 100 * r->deviation[i]);
        section_text(s, is_identified(o, i) ? "yes" : "no");
        section_text(s, value);
        section_text(s, before);
    }
    section_note(s, "+- is the standard uncertainty (one sigma) of the factor; identified: at most a third of what its "
                 "range alone gives");
    for (unsigned i = 0; i < r->parameters; i++) {
        if (!is_identified(o, i))
            section_note(s, "the rows do not tell %s: its range alone gives +- %.0f %%", free_at(o, i)->name,
                         100 * o->problem->prior[i]);
        if (is_at_end(o, i))
            section_note(s, "%s is at the end of its range", free_at(o, i)->name);
    }
    for (unsigned a = 0; a < r->parameters; a++)
        for (unsigned b = a + 1; b < r->parameters; b++) {
            double correlation = least_squares_correlation(r, a, b);
            if (fabs(correlation) >= CLOSE)
                section_note(s, "the rows hardly tell %s and %s apart: correlation %.2f, only their %s is known well",
                             free_at(o, a)->name, free_at(o, b)->name, correlation,
                             correlation < 0 ? "product" : "ratio");
        }
}

static void add_rows(struct document *d, const struct fit_outcome *o)
{
    static const struct report_column columns[] = {
        { "row", "row", REPORT_TEXT }, { "key", "key", REPORT_TEXT }, { "measured", "measured", REPORT_NUMBER },
        { "uncertainty_percent", "+- %", REPORT_NUMBER }, { "before", "before", REPORT_NUMBER },
        { "fitted", "fitted", REPORT_NUMBER }, { "error_percent", "error %", REPORT_NUMBER },
        { "sigmas", "in sigmas", REPORT_NUMBER }
    };
    struct section *s = document_section(d, "rows", "Rows", columns, G_N_ELEMENTS(columns));
    const struct least_squares_result *r = o->result;

    for (unsigned i = 0; i < r->rows; i++) {
        section_text(s, row_at(o, i)->name);
        section_text(s, row_at(o, i)->key);
        section_number(s, row_at(o, i)->value);
        section_number(s, 100 * row_at(o, i)->uncertainty);
        section_number(s, exp(r->start_values[i]));
        section_number(s, exp(r->values[i]));
        section_number(s, 100 * expm1(r->values[i] - o->problem->measured[i]));
        section_number(s, (r->values[i] - o->problem->measured[i]) / r->sigma[i]);
    }
    section_note(s, "means over %u seed%s; sigma has the spread of that mean, too", o->problem->seeds,
                 o->problem->seeds == 1 ? "" : "s");
    section_note(s, "sum of squares %.3g over %u rows, after %u step%s; %s", r->misfit, r->rows, r->iterations,
                 r->iterations == 1 ? "" : "s",
                 r->converged ? "the last one was below a third of each uncertainty"
                              : "it stopped where no step was better, or at the last one allowed");
}

static void add_sensitivities(struct document *d, const struct fit_outcome *o, struct report_column *columns)
{
    const struct least_squares_result *r = o->result;

    columns[0] = (struct report_column){ "row", "row", REPORT_TEXT };
    columns[1] = (struct report_column){ "key", "key", REPORT_TEXT };
    for (unsigned j = 0; j < r->parameters; j++)
        columns[j + 2] = (struct report_column){ free_at(o, j)->name, free_at(o, j)->name, REPORT_NUMBER };
    struct section *s = document_section(d, "sensitivities", "Sensitivities: d ln(value) / d ln(cost)", columns,
                                         r->parameters + 2);
    for (unsigned i = 0; i < r->rows; i++) {
        section_text(s, row_at(o, i)->name);
        section_text(s, row_at(o, i)->key);
        for (unsigned j = 0; j < r->parameters; j++)
            section_number(s, round(r->jacobian[i * r->parameters + j] * 1e4) / 1e4);
    }
    section_note(s, "central differences over %.3g %%; 0 where the difference is within three of its standard errors "
                 "(3 seeds or more)", 100 * expm1(o->problem->step));
}

static void add_directions(struct document *d, const struct fit_outcome *o)
{
    static const struct report_column columns[] = {
        { "singular_value", "singular value", REPORT_NUMBER }, { "direction", "direction", REPORT_TEXT }
    };
    struct section *s = document_section(d, "directions", "What the rows tell, best first", columns,
                                         G_N_ELEMENTS(columns));
    const struct least_squares_result *r = o->result;

    for (unsigned k = 0; k < r->parameters; k++) {
        GString *text = g_string_new(NULL);
        for (unsigned j = 0; j < r->parameters; j++) {
            double part = r->directions[k * r->parameters + j];
            if (fabs(part) >= PART)
                g_string_append_printf(text, "%s%s^%.2f", text->len == 0 ? "" : " ", free_at(o, j)->name, part);
        }
        section_number(s, r->singular[k]);
        section_text(s, text->str);
        g_string_free(text, TRUE);
    }
    section_note(s, "singular values of the sensitivities over sigma, times the ranges: a direction below 3 is hardly "
                 "told, near 0 not at all");
}

void fit_report_write(const struct fit_outcome *outcome, bool fitted, enum printed_form form, FILE *out)
{
    /* One a free cost, and two. */
    struct report_column columns[LEAST_SQUARES_PARAMETERS_MAX + 2];
    const struct fit_plan *plan = outcome->model->plan;
    g_autofree char *title = g_strdup_printf("tiercel fit: %s%s%s", plan->path, *plan->title == '\0' ? "" : ": ",
                                             plan->title);
    struct document *d = document_new(title);

    if (fitted) {
        add_costs(d, outcome);
        add_rows(d, outcome);
    }
    add_sensitivities(d, outcome, columns);
    if (fitted)
        add_directions(d, outcome);
    printed_write(d, form, out);
    document_free(d);
}

/* --- the profile --- */

static void append_fitted(GString *text, const struct fit_outcome *o, unsigned i, const struct fit_cost *cost)
{
    double factor = exp(o->result->theta[i]);
    g_autofree char *value = fit_cost_text(cost, factor);
    g_autofree char *before = fit_cost_text(cost, 1);

    if (is_identified(o, i))
        g_string_append_printf(text, "# [fitted] %s: factor %.4g +- %.2g %%, was %s\n", free_at(o, i)->name, factor,
                               100 * o->result->deviation[i], before);
    else
        g_string_append_printf(text, "# [not told by the rows] %s: factor %.4g +- %.0f %%, was %s\n",
                               free_at(o, i)->name, factor, 100 * o->result->deviation[i], before);
    g_string_append_printf(text, "%s = %s\n", cost->key + strlen("costs."), value);
}

char *fit_report_profile(const struct fit_outcome *o, const char *date)
{
    const struct fit_model *model = o->model;
    g_autoptr(GHashTable) fitted = g_hash_table_new(g_str_hash, g_str_equal);
    GString *text = g_string_new(NULL);

    g_string_append_printf(text, "# Costs fitted by tiercel %s on %s from %s.\n#\n", PACKAGE_VERSION, date,
                           model->plan->path);
    for (unsigned i = 0; i < o->result->rows; i++)
        g_string_append_printf(text, "# %s: %s %s, fitted %.6g%s%s\n", row_at(o, i)->name, row_at(o, i)->key,
                               row_at(o, i)->stated, exp(o->result->values[i]),
                               *row_at(o, i)->source == '\0' ? "" : "; ", row_at(o, i)->source);
    g_string_append_printf(text, "#\n# Each fitted cost has its standard uncertainty (one sigma); all others are as "
                           "they were in the rows' decks.\n\n[deck]\nformat = 1\ntitle = %s\n\n[costs]\n",
                           *model->plan->title == '\0' ? "fitted costs" : model->plan->title);
    for (unsigned f = 0; f < o->result->parameters; f++) {
        const GArray *costs = fit_model_costs(model, 0, f);
        for (unsigned k = 0; k < costs->len; k++) {
            const struct fit_cost *cost = &g_array_index(costs, struct fit_cost, k);
            if (g_str_has_prefix(cost->key, "costs.")) {
                append_fitted(text, o, f, cost);
                g_hash_table_add(fitted, (gpointer)(cost->key + strlen("costs.")));
            } else {
                g_autofree char *value = fit_cost_text(cost, exp(o->result->theta[f]));
                g_string_append_printf(text, "# Besides, for the deck: %s = %s (+- %.2g %%)\n", cost->key, value,
                                       100 * o->result->deviation[f]);
            }
        }
    }
    g_string_append(text, "# As before:\n");
    for (unsigned i = 0; i < model->profile_order->len; i++) {
        const char *name = model->profile_order->pdata[i];
        if (!g_hash_table_contains(fitted, name))
            g_string_append_printf(text, "%s = %s\n", name, (const char *)g_hash_table_lookup(model->profile, name));
    }
    return g_string_free(text, FALSE);
}
