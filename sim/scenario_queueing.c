/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario_queueing.h"

#include <string.h>

#include "scenario_parts.h"

enum {
    GROUPS_MOST = 200,                  /* each is a role of the engine's 256 */
    ACTORS_MOST = 100000000
};

/* --- what only a scenario can find wrong --- */

static void check_source(const struct queueing *q, struct deck *deck)
{
    if (q->source.warm_up >= q->source.jobs && deck_usable(deck, "source", "warm-up"))
        deck_complain(deck, "source", "warm-up", "'%" G_GUINT64_FORMAT "' leaves nothing to count; expected fewer than "
                      "the %" G_GUINT64_FORMAT " jobs", q->source.warm_up, q->source.jobs);
    for (unsigned t = 0; t < q->source_targets->len; t++)
        if (queueing_target_at(q->source_targets, t)->group == QUEUEING_SOURCE)
            deck_complain(deck, "source", "next", "leads from the source to the source; expected stations");
}

/* --- from the deck --- */

static void read_groups(struct queueing *q, struct deck *deck)
{
    uint64_t actors = 1;
    const char *name;

    for (unsigned i = 0; (name = deck_named_group(deck, "station", i)) != NULL; i++) {
        struct queueing_group group = { .deck_group = name, .name = strchr(name, '.') + 1, .role = role_station };
        group.first = (uint32_t)actors;
        group.count = (uint32_t)deck_integer(deck, name, "count");
        group.own = deck_choice(deck, name, "reach", NULL) == 1;
        group.role.name = group.name;
        actors += group.count;
        if (strcmp(group.name, role_source.name) == 0)
            deck_complain(deck, name, "next", "belongs to a station with the name of the source; expected another "
                          "name than [station.source]");
        if (i < GROUPS_MOST && actors <= ACTORS_MOST)
            g_array_append_val(q->groups, group);
        else if (actors > ACTORS_MOST)
            deck_complain(deck, name, "count", "'%u' makes %" G_GUINT64_FORMAT " stations in all; expected at most %d",
                          group.count, actors - 1, ACTORS_MOST - 1);
        else
            deck_complain(deck, name, "next", "belongs to the %dth group of stations; expected at most %d", i + 1,
                          GROUPS_MOST);
    }
    q->actors = (uint32_t)MIN(actors, ACTORS_MOST);
}

static void read_source(struct queueing *q, struct deck *deck)
{
    q->source.jobs = (uint64_t)deck_integer(deck, "source", "jobs");
    q->source.warm_up = (uint64_t)deck_integer(deck, "source", "warm-up");
    q->source.population = (uint64_t)deck_integer(deck, "source", "population");
    q->source.interval = deck_distribution(deck, "source", "interval");
    q->source.service = deck_distribution(deck, "source", "service");
    q->source_targets = queueing_targets_read(q, deck, "source");
    q->latency_ns = deck_integer(deck, "network", "hop-latency");
    q->by_role = deck_choice(deck, "run", "placement", NULL) == 1;
}

static void make_stations(struct queueing *q, struct queueing_group *group, const struct deck *deck)
{
    bool cyclic = deck_choice(deck, group->deck_group, "routing", NULL) == QUEUEING_CYCLIC;
    uint32_t different = group->own ? group->count : 1;

    group->stations = g_new(struct queueing_station, different);
    for (uint32_t i = 0; i < different; i++)
        group->stations[i] = (struct queueing_station){
            .servers = (uint32_t)deck_integer(deck, group->deck_group, "servers"),
            .service = deck_distribution(deck, group->deck_group, "service"),
            .next = queueing_next_make(q, group->targets, cyclic, group->own, i, group->count)
        };
}

/* Only of a deck without problems: setups point into the groups, which do not move any more. */
static void build(struct queueing *q, struct deck *deck)
{
    bool cyclic = deck_choice(deck, "source", "routing", NULL) == QUEUEING_CYCLIC;

    q->source.next = queueing_next_make(q, q->source_targets, cyclic, false, 0, 1);
    for (unsigned i = 0; i < q->groups->len; i++)
        make_stations(q, queueing_group_at(q, i), deck);
    q->roles = g_new0(const struct role *, q->groups->len + 2);
    q->roles[0] = &role_source;
    for (unsigned i = 0; i < q->groups->len; i++)
        q->roles[i + 1] = &queueing_group_at(q, i)->role;
}

static void *queueing_new(struct deck *deck, G_GNUC_UNUSED struct share *share)
{
    struct queueing *q = g_new0(struct queueing, 1);

    q->groups = g_array_new(FALSE, FALSE, sizeof(struct queueing_group));
    q->arrays = g_ptr_array_new_with_free_func(g_free);
    read_groups(q, deck);
    read_source(q, deck);
    for (unsigned i = 0; i < q->groups->len; i++)
        queueing_group_at(q, i)->targets = queueing_targets_read(q, deck, queueing_group_at(q, i)->deck_group);
    check_source(q, deck);
    queueing_next_check(q, deck);
    if (deck_problem_count(deck) == 0)
        build(q, deck);
    return q;
}

static void queueing_free(void *data)
{
    struct queueing *q = data;

    for (unsigned i = 0; i < q->groups->len; i++) {
        g_array_free(queueing_group_at(q, i)->targets, TRUE);
        g_free(queueing_group_at(q, i)->stations);
    }
    g_array_free(q->groups, TRUE);
    g_array_free(q->source_targets, TRUE);
    g_ptr_array_free(q->arrays, TRUE);
    g_free(q->roles);
    g_free(q);
}

/* --- actors and where they are played --- */

static uint32_t queueing_actors(const void *data)
{
    return ((const struct queueing *)data)->actors;
}

/* Index of the actor's group; the source has none. */
static unsigned group_of(const struct queueing *q, uint32_t actor)
{
    unsigned low = 0;

    for (unsigned high = q->groups->len; high - low > 1;) {
        unsigned middle = low + (high - low) / 2;
        if (actor < queueing_group_at(q, middle)->first)
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* By node, copies are divided so that those which reach = own joins stay together; by role, no group is divided. */
static uint32_t process_of(const struct queueing *q, unsigned g, uint32_t copy, uint32_t processes)
{
    const struct queueing_group *group = queueing_group_at(q, g);

    if (q->by_role)
        return (g + 1) % processes;
    if (group->count == 1)
        return scenario_block(g, q->groups->len, processes);
    return scenario_block(copy, group->count, processes);
}

static void queueing_place(const void *data, uint32_t actor, uint32_t processes, struct scenario_place *place)
{
    const struct queueing *q = data;

    *place = (struct scenario_place){ .role = &role_source, .node = actor };
    if (actor == 0)
        return;
    unsigned g = group_of(q, actor);
    place->role = &queueing_group_at(q, g)->role;
    place->process = process_of(q, g, actor - queueing_group_at(q, g)->first, processes);
}

static const void *setup_of(const struct queueing *q, uint32_t actor)
{
    if (actor == 0)
        return &q->source;
    const struct queueing_group *group = queueing_group_at(q, group_of(q, actor));
    return &group->stations[group->own ? actor - group->first : 0];
}

static void queueing_populate(const void *data, struct engine *e, uint32_t processes)
{
    const struct queueing *q = data;
    struct engine_link link = { .latency_ns = q->latency_ns };

    engine_set_link(e, 0, 0, link);
    engine_set_local_link(e, link);     /* of a station to itself */
    for (uint32_t id = 0; id < q->actors; id++) {
        struct scenario_place place;
        queueing_place(q, id, processes, &place);
        engine_add_actor(e, &(struct engine_actor){
            .role = place.role, .setup = setup_of(q, id), .node = place.node, .process = place.process,
            .thread_group = ENGINE_NO_GROUP, .cpu_group = ENGINE_NO_GROUP
        });
    }
}

static const struct role *const *queueing_roles(const void *data)
{
    return ((const struct queueing *)data)->roles;
}

static const struct table *queueing_tables(G_GNUC_UNUSED const void *data, unsigned *count)
{
    *count = 0;
    return NULL;
}

static uint64_t queueing_rows(G_GNUC_UNUSED const void *data)
{
    return 0;
}

static struct scenario_milestone queueing_milestone(const void *data)
{
    const struct queueing *q = data;
    return (struct scenario_milestone){ &role_source, SOURCE_MADE, q->source.jobs, "jobs made" };
}

const struct scenario_kind scenario_queueing = {
    .name = "queueing",
    .new = queueing_new,
    .free = queueing_free,
    .actors = queueing_actors,
    .place = queueing_place,
    .populate = queueing_populate,
    .roles = queueing_roles,
    .tables = queueing_tables,
    .rows = queueing_rows,
    .milestone = queueing_milestone,
    .estimate = queueing_estimate,
    .summarise = queueing_summarise,
    .headline = queueing_headline,
    .details = queueing_details
};
