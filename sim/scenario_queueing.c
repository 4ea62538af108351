/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario_queueing.h"

#include <string.h>

#include "base/nearest.h"
#include "scenario_parts.h"

enum {
    GROUPS_MOST = 200,                  /* each is a role of the engine's 256 */
    ACTORS_MOST = 100000000,
    SOURCE = -1                         /* in place of the index of a group */
};

#define CERTAIN 1000000000              /* a probability of 1: nine decimals are kept */

/* One name of `next`. */
struct queueing_target {
    int group;                          /* index, or SOURCE */
    uint32_t parts;                     /* the probability times CERTAIN; 0: not stated */
};

static struct queueing_group *group_at(const struct queueing *q, unsigned i)
{
    return &g_array_index(q->groups, struct queueing_group, i);
}

static const struct queueing_target *target_at(const GArray *targets, unsigned i)
{
    return &g_array_index(targets, struct queueing_target, i);
}

/* --- next = a 0.3, b 0.7 --- */

/* A probability above 0 and up to 1, of at most nine decimals; 0 when it is none. */
static uint32_t parse_probability(const char *text)
{
    uint32_t parts = *text == '1' ? CERTAIN : 0;
    uint32_t place = CERTAIN / 10;

    if (*text != '0' && *text != '1')
        return 0;
    if (*++text == '\0')
        return parts;
    if (*text != '.' || text[1] == '\0')
        return 0;
    for (text++; g_ascii_isdigit(*text) && place != 0; text++, place /= 10)
        parts += (uint32_t)(*text - '0') * place;
    return *text == '\0' && parts <= CERTAIN ? parts : 0;
}

static char *suggest_station(const struct queueing *q, const char *name)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    for (unsigned i = 0; i < q->groups->len; i++)
        g_ptr_array_add(names, (gpointer)group_at(q, i)->name);
    g_ptr_array_add(names, (gpointer)role_source.name);
    const char *nearest = nearest_name(name, (const char *const *)names->pdata, names->len);
    return nearest != NULL ? g_strdup_printf("did you mean %s?", nearest)
                           : g_strdup("expected the NAME of a group [station.NAME], or source");
}

static bool find_target(const struct queueing *q, const char *name, int *group)
{
    *group = SOURCE;
    if (strcmp(name, role_source.name) == 0)
        return true;
    for (unsigned i = 0; i < q->groups->len; i++)
        if (strcmp(group_at(q, i)->name, name) == 0) {
            *group = (int)i;
            return true;
        }
    return false;
}

/* One part of the list; FALSE after a complaint. */
static bool take_target(const struct queueing *q, struct deck *deck, const char *group, char *part, GArray *targets)
{
    g_auto(GStrv) words = g_strsplit_set(g_strstrip(part), " \t", 2);
    struct queueing_target target = { .parts = 0 };

    if (words[0] == NULL || !find_target(q, words[0], &target.group)) {
        g_autofree char *quoted = quantity_quote(words[0] != NULL ? words[0] : "");
        g_autofree char *suggestion = suggest_station(q, words[0] != NULL ? words[0] : "");
        deck_complain(deck, group, "next", "%s is not a station; %s", quoted, suggestion);
        return false;
    }
    for (unsigned i = 0; i < targets->len; i++)
        if (target_at(targets, i)->group == target.group) {
            deck_complain(deck, group, "next", "'%s' is named twice; expected each station once", words[0]);
            return false;
        }
    if (words[1] != NULL) {
        target.parts = parse_probability(g_strstrip(words[1]));
        if (target.parts == 0) {
            g_autofree char *quoted = quantity_quote(words[1]);
            deck_complain(deck, group, "next", "%s is not a probability; expected a number above 0 and up to 1 with at "
                          "most nine decimals, such as 0.25", quoted);
            return false;
        }
    }
    g_array_append_val(targets, target);
    return true;
}

static void check_probabilities(struct deck *deck, const char *group, const GArray *targets, bool cyclic)
{
    uint64_t sum = 0;
    unsigned stated = 0;

    for (unsigned i = 0; i < targets->len; i++) {
        sum += target_at(targets, i)->parts;
        stated += target_at(targets, i)->parts != 0;
    }
    if (stated == 0)
        return;
    if (cyclic)
        deck_complain(deck, group, "next", "has probabilities, which have no meaning with routing = cyclic; expected "
                      "names only");
    else if (stated < targets->len)
        deck_complain(deck, group, "next", "has a probability for %u of its %u stations; expected one for each, or "
                      "none", stated, targets->len);
    else if (sum != CERTAIN)
        deck_complain(deck, group, "next", "has probabilities that add up to %.9g; expected exactly 1",
                      (double)sum / CERTAIN);
}

/* Empty after a complaint. */
static GArray *parse_next(const struct queueing *q, struct deck *deck, const char *group)
{
    GArray *targets = g_array_new(FALSE, FALSE, sizeof(struct queueing_target));

    if (!deck_has(deck, group, "next") || !deck_usable(deck, group, "next"))
        return targets;
    g_auto(GStrv) parts = g_strsplit(deck_text(deck, group, "next"), ",", 0);
    for (unsigned i = 0; parts[i] != NULL; i++)
        if (!take_target(q, deck, group, parts[i], targets)) {
            g_array_set_size(targets, 0);
            return targets;
        }
    check_probabilities(deck, group, targets, deck_choice(deck, group, "routing", NULL) == QUEUEING_CYCLIC);
    return targets;
}

/* --- from names to actors --- */

/* Whether the copies of a group and of its next divide into equal groups. */
static bool divides(uint32_t from, uint32_t to)
{
    return from % to == 0 || to % from == 0;
}

/* The copies of `to` that copy `i` of `count` may send to. */
static void reach_of(const struct queueing *q, int to, uint32_t i, uint32_t count, bool own, uint32_t *first,
                     uint32_t *reached)
{
    *first = to == SOURCE ? 0 : group_at(q, (unsigned)to)->first;
    *reached = to == SOURCE ? 1 : group_at(q, (unsigned)to)->count;
    if (!own || *reached == 1)
        return;
    if (*reached >= count) {
        *reached /= count;
        *first += i * *reached;
    } else {
        *first += i / (count / *reached);
        *reached = 1;
    }
}

/* Where copy i of `count` sends its jobs. A station's probability is shared among the copies in reach. */
static struct queueing_next make_next(struct queueing *q, const GArray *targets, bool cyclic, bool own, uint32_t i,
                                      uint32_t count)
{
    GArray *actors = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    GArray *below = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    bool weighed = !cyclic && target_at(targets, 0)->parts != 0;
    uint64_t before = 0;

    for (unsigned t = 0; t < targets->len; t++) {
        const struct queueing_target *target = target_at(targets, t);
        uint32_t first;
        uint32_t reached;
        reach_of(q, target->group, i, count, own, &first, &reached);
        for (uint32_t k = 0; k < reached; k++) {
            uint32_t id = first + k;
            g_array_append_val(actors, id);
            if (!weighed && (cyclic || targets->len == 1))
                continue;
            uint64_t parts = weighed ? target->parts : CERTAIN / targets->len;
            unsigned __int128 share = ((unsigned __int128)parts << 64) / CERTAIN * (k + 1) / reached;
            unsigned __int128 sum = before + share;
            uint64_t limit = sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
            g_array_append_val(below, limit);
            if (k + 1 == reached)
                before = limit;
        }
    }
    struct queueing_next next = { .routing = cyclic ? QUEUEING_CYCLIC : QUEUEING_RANDOM, .count = actors->len };
    bool alike = below->len == 0;
    next.actors = (const uint32_t *)g_array_free(actors, FALSE);
    next.below = (const uint64_t *)g_array_free(below, alike);
    g_ptr_array_add(q->arrays, (gpointer)next.actors);
    if (!alike)
        g_ptr_array_add(q->arrays, (gpointer)next.below);
    return next;
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
            .next = make_next(q, group->targets, cyclic, group->own, i, group->count)
        };
}

/* --- what only a scenario can find wrong --- */

static void check_own(const struct queueing *q, const struct queueing_group *group, struct deck *deck)
{
    for (unsigned t = 0; group->own && t < group->targets->len; t++) {
        int to = target_at(group->targets, t)->group;
        if (to == SOURCE || divides(group->count, group_at(q, (unsigned)to)->count))
            continue;
        deck_complain(deck, group->deck_group, "reach", "'own' cannot divide %u copies of %s and %u of %s into equal "
                      "groups; expected one number to be a multiple of the other", group->count, group->name,
                      group_at(q, (unsigned)to)->count, group_at(q, (unsigned)to)->name);
    }
}

/* Marks what jobs reach from `targets` on. */
static void reach(const struct queueing *q, const GArray *targets, bool *reached)
{
    for (unsigned t = 0; t < targets->len; t++) {
        int to = target_at(targets, t)->group;
        if (to == SOURCE || reached[to])
            continue;
        reached[to] = true;
        reach(q, group_at(q, (unsigned)to)->targets, reached);
    }
}

/* Whether jobs of a group can get back to the source: found by going round until nothing new is learnt. */
static void find_returns(const struct queueing *q, bool *returns)
{
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = 0; i < q->groups->len; i++) {
            const GArray *targets = group_at(q, i)->targets;
            for (unsigned t = 0; !returns[i] && t < targets->len; t++) {
                int to = target_at(targets, t)->group;
                returns[i] = to == SOURCE || returns[to];
                again = again || returns[i];
            }
        }
    }
}

static void check_paths(const struct queueing *q, struct deck *deck)
{
    g_autofree bool *reached = g_new0(bool, q->groups->len + 1);
    g_autofree bool *returns = g_new0(bool, q->groups->len + 1);

    reach(q, q->source_targets, reached);
    find_returns(q, returns);
    for (unsigned i = 0; i < q->groups->len; i++) {
        const struct queueing_group *group = group_at(q, i);
        if (!reached[i])
            deck_complain(deck, group->deck_group, "next", "belongs to a station that no job ever reaches; expected "
                          "%s in the next of the source, or of a station on the way", group->name);
        else if (!returns[i])
            deck_complain(deck, group->deck_group, "next", "'%s' never leads back to the source; expected a way back",
                          deck_text(deck, group->deck_group, "next"));
    }
}

static void check_source(const struct queueing *q, struct deck *deck)
{
    if (q->source.warm_up >= q->source.jobs && deck_usable(deck, "source", "warm-up"))
        deck_complain(deck, "source", "warm-up", "'%" G_GUINT64_FORMAT "' leaves nothing to count; expected fewer than "
                      "the %" G_GUINT64_FORMAT " jobs", q->source.warm_up, q->source.jobs);
    for (unsigned t = 0; t < q->source_targets->len; t++)
        if (target_at(q->source_targets, t)->group == SOURCE)
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
    q->source_targets = parse_next(q, deck, "source");
    q->latency_ns = deck_integer(deck, "network", "hop-latency");
    q->by_role = deck_choice(deck, "run", "placement", NULL) == 1;
}

/* Only of a deck without problems: setups point into the groups, which do not move any more. */
static void build(struct queueing *q, struct deck *deck)
{
    q->source.next = make_next(q, q->source_targets, deck_choice(deck, "source", "routing", NULL) == QUEUEING_CYCLIC,
                               false, 0, 1);
    for (unsigned i = 0; i < q->groups->len; i++)
        make_stations(q, group_at(q, i), deck);
    q->roles = g_new0(const struct role *, q->groups->len + 2);
    q->roles[0] = &role_source;
    for (unsigned i = 0; i < q->groups->len; i++)
        q->roles[i + 1] = &group_at(q, i)->role;
}

static void *queueing_new(struct deck *deck, G_GNUC_UNUSED struct share *share)
{
    struct queueing *q = g_new0(struct queueing, 1);

    q->groups = g_array_new(FALSE, FALSE, sizeof(struct queueing_group));
    q->arrays = g_ptr_array_new_with_free_func(g_free);
    read_groups(q, deck);
    read_source(q, deck);
    for (unsigned i = 0; i < q->groups->len; i++)
        group_at(q, i)->targets = parse_next(q, deck, group_at(q, i)->deck_group);
    check_source(q, deck);
    for (unsigned i = 0; i < q->groups->len; i++)
        check_own(q, group_at(q, i), deck);
    /* Where a name is wrong, the way of jobs is not known. */
    if (deck_problem_count(deck) == 0)
        check_paths(q, deck);
    if (deck_problem_count(deck) == 0)
        build(q, deck);
    return q;
}

static void queueing_free(void *data)
{
    struct queueing *q = data;

    for (unsigned i = 0; i < q->groups->len; i++) {
        g_array_free(group_at(q, i)->targets, TRUE);
        g_free(group_at(q, i)->stations);
    }
    g_array_free(q->groups, TRUE);
    g_array_free(q->source_targets, TRUE);
    g_ptr_array_free(q->arrays, TRUE);
    g_free(q->roles);
    g_free(q);
}

/* --- actors and where they are played --- */

double *queueing_probabilities(const struct queueing *q, const struct queueing_group *group)
{
    const GArray *targets = group == NULL ? q->source_targets : group->targets;
    const struct queueing_next *next = group == NULL ? &q->source.next : &group->stations[0].next;
    double *to = g_new0(double, q->groups->len + 1);

    for (unsigned t = 0; t < targets->len; t++) {
        const struct queueing_target *target = target_at(targets, t);
        uint32_t first;
        uint32_t reached;
        reach_of(q, target->group, 0, group == NULL ? 1 : group->count, group != NULL && group->own, &first, &reached);
        /* In turn means each copy in turn; at random, each name. */
        double share = next->routing == QUEUEING_CYCLIC ? (double)reached / next->count
                       : target->parts != 0             ? (double)target->parts / CERTAIN
                                                        : 1.0 / targets->len;
        to[target->group == SOURCE ? q->groups->len : (unsigned)target->group] += share;
    }
    return to;
}

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
        if (actor < group_at(q, middle)->first)
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* By node, copies are divided so that those which reach = own joins stay together; by role, no group is divided. */
static uint32_t process_of(const struct queueing *q, unsigned g, uint32_t copy, uint32_t processes)
{
    const struct queueing_group *group = group_at(q, g);

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
    place->role = &group_at(q, g)->role;
    place->process = process_of(q, g, actor - group_at(q, g)->first, processes);
}

static const void *setup_of(const struct queueing *q, uint32_t actor)
{
    if (actor == 0)
        return &q->source;
    const struct queueing_group *group = group_at(q, group_of(q, actor));
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
