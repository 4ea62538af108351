/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario_phold.h"

#include "engine/random.h"
#include "ranks/phold.h"
#include "scenario_parts.h"

#define SECOND_NS 1e9

static const struct role *const roles[] = { &role_phold, NULL };

struct phold_scenario {
    struct phold setup;
    int64_t end_ns;
    bool by_role;                       /* placement */
};

/* --- from the deck --- */

static void check(struct phold_scenario *p, struct deck *deck)
{
    if (!deck_has(deck, "run", "stop-after") && deck_usable(deck, "run", "stop-after"))
        deck_complain(deck, "run", "stop-after", "is not stated; expected a duration such as 100s, because events of "
                      "[system] kind = phold never end");
    if (p->setup.mean_ns <= p->setup.lookahead_ns && deck_usable(deck, "phold", "mean") &&
        deck_usable(deck, "phold", "lookahead"))
        deck_complain(deck, "phold", "mean", "'%s' is not above lookahead; expected more than %s",
                      deck_text(deck, "phold", "mean"), deck_text(deck, "phold", "lookahead"));
}

static void *phold_new(struct deck *deck, G_GNUC_UNUSED struct share *share)
{
    struct phold_scenario *p = g_new0(struct phold_scenario, 1);

    p->setup.actors = (uint32_t)deck_integer(deck, "phold", "actors");
    p->setup.events_per_actor = (uint32_t)deck_integer(deck, "phold", "events-per-actor");
    p->setup.remote = random_bound(deck_integer(deck, "phold", "remote"));
    p->setup.lookahead_ns = deck_integer(deck, "phold", "lookahead");
    p->setup.mean_ns = deck_integer(deck, "phold", "mean");
    p->end_ns = deck_integer_or(deck, "run", "stop-after", 0);
    p->by_role = deck_choice(deck, "run", "placement", NULL) == 1;
    check(p, deck);
    return p;
}

/* --- actors and where they are played --- */

static uint32_t phold_actors(const void *data)
{
    return ((const struct phold_scenario *)data)->setup.actors;
}

/* By node, a block of actors for each process; by role, where there is one role only, the actors are dealt out. */
static void phold_place(const void *data, uint32_t actor, uint32_t processes, struct scenario_place *place)
{
    const struct phold_scenario *p = data;
    uint32_t block = scenario_block(actor, p->setup.actors, processes);

    *place = (struct scenario_place){ &role_phold, actor, p->by_role ? actor % processes : block };
}

static void phold_populate(const void *data, struct engine *e, uint32_t processes)
{
    const struct phold_scenario *p = data;
    struct engine_link link = { .latency_ns = p->setup.lookahead_ns };

    engine_set_link(e, 0, 0, link);
    engine_set_local_link(e, link);
    for (uint32_t id = 0; id < p->setup.actors; id++) {
        struct scenario_place place;
        phold_place(p, id, processes, &place);
        engine_add_actor(e, &(struct engine_actor){
            .role = place.role, .setup = &p->setup, .node = place.node, .process = place.process,
            .thread_group = ENGINE_NO_GROUP, .cpu_group = ENGINE_NO_GROUP
        });
    }
}

static const struct role *const *phold_roles(G_GNUC_UNUSED const void *data)
{
    return roles;
}

static const struct table *phold_tables(G_GNUC_UNUSED const void *data, unsigned *count)
{
    *count = 0;
    return NULL;
}

static uint64_t phold_rows(G_GNUC_UNUSED const void *data)
{
    return 0;
}

static struct scenario_milestone phold_milestone(G_GNUC_UNUSED const void *data)
{
    return (struct scenario_milestone){ .role = NULL };
}

/* Each of the population is handled once in each of its increments. */
static void phold_estimate(const void *data, struct scenario_estimate *estimate)
{
    const struct phold_scenario *p = data;
    double population = (double)p->setup.actors * p->setup.events_per_actor;

    estimate->events = population * (double)p->end_ns / (double)p->setup.mean_ns;
    estimate->pending = population;
    estimate->actor_bytes = 0;
    estimate->span_ns = (double)p->end_ns;
    estimate->latency_ns = p->setup.lookahead_ns;
}

/* --- results --- */

static void phold_summarise(const void *data, const struct scenario_run *run, struct summary *summary, GArray *balances)
{
    const struct phold_scenario *p = data;
    uint64_t population = (uint64_t)p->setup.actors * p->setup.events_per_actor;
    double lived_ns = (double)population * (double)run->result->end_ns;

    summary_count(summary, "phold", "population", population);
    summary_number(summary, "phold", "mean_increment_s",
                   statistic_ratio(lived_ns, (double)run->result->handled) / SECOND_NS);
    scenario_balance_add(balances, "population", "events at the beginning", population, "pending at the end",
                         run->result->pending);
}

static void phold_headline(const void *data, const struct summary *summary, FILE *out)
{
    const struct phold_scenario *p = data;

    fprintf(out, "phold: %u actors x %u events: %.0f events in %.3f s: %.4g million events/s\n", p->setup.actors,
            p->setup.events_per_actor, summary_value(summary, "run.events"), summary_value(summary, "run.wall_s"),
            summary_value(summary, "run.events_per_s") / 1e6);
}

static void phold_details(G_GNUC_UNUSED const void *data, const struct summary *summary, FILE *out)
{
    fprintf(out, "mean increment %.6g s\n", summary_value(summary, "phold.mean_increment_s"));
}

const struct scenario_kind scenario_phold = {
    .name = "phold",
    .new = phold_new,
    .free = g_free,
    .actors = phold_actors,
    .place = phold_place,
    .populate = phold_populate,
    .roles = phold_roles,
    .tables = phold_tables,
    .rows = phold_rows,
    .milestone = phold_milestone,
    .estimate = phold_estimate,
    .summarise = phold_summarise,
    .headline = phold_headline,
    .details = phold_details
};
