/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace_roles.h"

#include "scenario.h"

static struct trace_role describe_role(const struct role *role, GPtrArray *keep)
{
    static const enum trace_metric_type types[] = {
        [METRIC_COUNTER] = TRACE_COUNTER, [METRIC_SERIES] = TRACE_SERIES, [METRIC_SAMPLE] = TRACE_SAMPLE,
        [METRIC_STAGE] = TRACE_STAGE
    };
    GArray *metrics = g_array_new(FALSE, FALSE, sizeof(struct trace_metric));
    struct trace_role described = { .name = role->name, .text = role->text };

    for (const struct metric *m = role->metrics; m != NULL && m->name != NULL; m++) {
        struct trace_metric metric = { m->name, m->unit, m->text, types[m->type] };
        g_array_append_val(metrics, metric);
    }
    described.metric_count = metrics->len;
    described.metrics = (const struct trace_metric *)g_array_free(metrics, FALSE);
    g_ptr_array_add(keep, (gpointer)described.metrics);
    return described;
}

static void describe_kinds(struct trace_roles *t, const struct role *role)
{
    for (const struct kind_name *k = role->kinds; k != NULL && k->name != NULL; k++) {
        struct trace_kind kind = { k->kind, k->name };
        bool known = false;
        for (unsigned i = 0; i < t->kinds->len; i++)
            known = known || g_array_index(t->kinds, struct trace_kind, i).kind == k->kind;
        if (!known)
            g_array_append_val(t->kinds, kind);
    }
}

unsigned trace_roles_find(const struct scenario *scenario, const struct role *role)
{
    const struct role *const *roles = scenario_roles(scenario);
    unsigned i = 0;

    while (roles[i] != role)
        i++;
    return i;
}

void trace_roles_init(struct trace_roles *t, const struct scenario *scenario)
{
    t->roles = g_array_new(FALSE, FALSE, sizeof(struct trace_role));
    t->metrics = g_ptr_array_new_with_free_func(g_free);
    t->kinds = g_array_new(FALSE, FALSE, sizeof(struct trace_kind));
    for (const struct role *const *role = scenario_roles(scenario); *role != NULL; role++) {
        struct trace_role described = describe_role(*role, t->metrics);
        g_array_append_val(t->roles, described);
        describe_kinds(t, *role);
    }
    t->actor_count = scenario_actors(scenario);
    t->actor_roles = g_new(uint16_t, t->actor_count);
    t->actor_nodes = g_new(uint32_t, t->actor_count);
    for (uint32_t id = 0; id < t->actor_count; id++) {
        struct scenario_place place;
        scenario_place(scenario, id, 1, &place);
        t->actor_roles[id] = (uint16_t)trace_roles_find(scenario, place.role);
        t->actor_nodes[id] = place.node;
    }
}

void trace_roles_release(struct trace_roles *t)
{
    g_array_free(t->roles, TRUE);
    g_ptr_array_free(t->metrics, TRUE);
    g_array_free(t->kinds, TRUE);
    g_free(t->actor_roles);
    g_free(t->actor_nodes);
}

void trace_roles_describe(const struct trace_roles *t, const struct scenario *scenario, struct trace_config *config)
{
    config->roles = (const struct trace_role *)t->roles->data;
    config->role_count = t->roles->len;
    config->tables = scenario_tables(scenario, &config->table_count);
    config->kinds = (const struct trace_kind *)t->kinds->data;
    config->kind_count = t->kinds->len;
    config->actor_roles = t->actor_roles;
    config->actor_nodes = t->actor_nodes;
    config->actor_count = t->actor_count;
}
