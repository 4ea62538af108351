/* SPDX-License-Identifier: BSD-3-Clause */
#include "rate_limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1e9
#define SHARE_LEAST 0.01            /* what is used less is not listed */

/* A role's busiest thread. */
struct demand {
    const char *role;
    uint32_t node;
    uint32_t actors;                /* of the role */
    bool others;                    /* the row stands for several actors */
    double share;                   /* of the time, busy or blocked */
    double busy;                    /* the largest share of the time busy; perhaps of another thread */
};

static void limit_clear(void *data)
{
    struct rate_limit *limit = data;
    g_free(limit->what);
    g_free(limit->next);
}

/* By role, the largest share of any of its rows. */
static GArray *list_demands(const struct steady *steady, const struct steady_span *span,
                            const struct scenario *scenario)
{
    GArray *demands = g_array_new(FALSE, TRUE, sizeof(struct demand));
    const struct role *const *roles = scenario_roles(scenario);
    double span_ns = (double)(span->to_ns - span->from_ns);

    for (unsigned i = 0; roles[i] != NULL; i++) {
        struct demand demand = { .role = roles[i]->name };
        g_array_append_val(demands, demand);
    }
    for (unsigned row = 0; row < steady_rows(steady); row++) {
        struct steady_use use;
        steady_use(steady, row, span, &use);
        struct demand *d = &g_array_index(demands, struct demand, use.role);
        double busy = (double)use.busy_ns / span_ns / use.actors;
        double share = busy + (double)use.blocked_ns / span_ns / use.actors;
        d->actors += use.actors;
        d->busy = fmax(d->busy, busy);
        if (share > d->share) {
            d->share = share;
            d->node = use.node;
            d->others = use.actors > 1;
        }
    }
    return demands;
}

static char *demand_name(const struct demand *d)
{
    if (d->others)
        return g_strdup_printf("%s on other nodes", d->role);
    return d->actors > 1 ? g_strdup_printf("%s on node %u", d->role, (unsigned)d->node) : g_strdup(d->role);
}

/* The least bound when the role `free_role`, or the pool `free_pool`, costs nothing. */
static double least_bound(const GArray *demands, const GArray *pools, double rate, const char *free_role,
                          const char *free_pool, char **what)
{
    double least = INFINITY;
    const struct demand *by = NULL;
    *what = NULL;
    for (unsigned i = 0; i < demands->len; i++) {
        const struct demand *d = &g_array_index(demands, struct demand, i);
        if (g_strcmp0(d->role, free_role) == 0 || d->busy <= 0 || rate / d->busy >= least)
            continue;
        least = rate / d->busy;
        by = d;
    }
    if (by != NULL)
        *what = demand_name(by);
    for (unsigned i = 0; i < pools->len; i++) {
        const struct scenario_pool *p = &g_array_index(pools, struct scenario_pool, i);
        double held_s = p->least_s - (g_strcmp0(p->role, free_role) == 0 && free_role != NULL ? p->role_s : 0);
        if (g_strcmp0(p->name, free_pool) == 0 || held_s <= 0 || p->capacity / held_s >= least)
            continue;
        least = p->capacity / held_s;
        g_free(*what);
        *what = g_strdup(p->name);
    }
    return least;
}

static void add(struct rate_limits *limits, const GArray *demands, const GArray *pools, char *what, double share,
                const char *role, const char *pool)
{
    struct rate_limit limit = { .what = what, .share = share };
    double least = least_bound(demands, pools, limits->rate, role, pool, &limit.next);

    limit.rate_if_free = isfinite(least) ? fmax(least, limits->rate) : NAN;
    g_array_append_val(limits->entries, limit);
}

static int by_share(const void *a, const void *b)
{
    const struct rate_limit *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return strcmp(x->what, y->what);
}

void rate_limits_init(struct rate_limits *limits, const struct steady *steady, const struct scenario *scenario,
                      const struct scenario_run *run)
{
    struct steady_span span;

    *limits = (struct rate_limits){ .entries = g_array_new(FALSE, FALSE, sizeof(struct rate_limit)), .rate = NAN };
    g_array_set_clear_func(limits->entries, limit_clear);
    if (steady == NULL || !steady_span(steady, &span))
        return;
    limits->span_s = (double)(span.to_ns - span.from_ns) / SECOND_NS;
    limits->rate = (double)span.done / limits->span_s;
    g_autoptr(GArray) demands = list_demands(steady, &span, scenario);
    g_autoptr(GArray) pools = g_array_new(FALSE, FALSE, sizeof(struct scenario_pool));
    scenario_pools(scenario, run, pools);
    for (unsigned i = 0; i < demands->len; i++) {
        const struct demand *d = &g_array_index(demands, struct demand, i);
        if (d->share >= SHARE_LEAST)
            add(limits, demands, pools, demand_name(d), d->share, d->role, NULL);
    }
    for (unsigned i = 0; i < pools->len; i++) {
        const struct scenario_pool *p = &g_array_index(pools, struct scenario_pool, i);
        double share = limits->rate * p->held_s / p->capacity;
        if (share >= SHARE_LEAST)
            add(limits, demands, pools, g_strdup(p->name), share, NULL, p->name);
    }
    if (limits->entries->len > 0)
        qsort(limits->entries->data, limits->entries->len, sizeof(struct rate_limit), by_share);
}

void rate_limits_release(struct rate_limits *limits)
{
    g_array_free(limits->entries, TRUE);
}

void rate_limits_summarise(const struct rate_limits *limits, struct summary *summary)
{
    for (unsigned i = 0; i < limits->entries->len; i++) {
        const struct rate_limit *l = &g_array_index(limits->entries, struct rate_limit, i);
        summary_limit(summary, l->what, l->share, l->rate_if_free);
    }
}

void rate_limits_print(const struct rate_limits *limits, bool all, FILE *out)
{
    if (limits->entries->len == 0)
        return;
    fprintf(out, "limits, over %.4g s in which %.6g/s were done:\n", limits->span_s, limits->rate);
    for (unsigned i = 0; i < (all ? limits->entries->len : 1); i++) {
        const struct rate_limit *l = &g_array_index(limits->entries, struct rate_limit, i);
        fprintf(out, "  %s %.1f%% used; costing nothing, ", l->what, l->share * 100);
        if (isnan(l->rate_if_free))
            fputs("nothing else is known to limit\n", out);
        else
            fprintf(out, "at most %.6g/s (%+.1f%%)%s%s\n", l->rate_if_free,
                    (l->rate_if_free / limits->rate - 1) * 100, l->next != NULL ? ", limited by " : "",
                    l->next != NULL ? l->next : "");
    }
}
