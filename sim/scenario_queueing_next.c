/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where jobs of a queueing network go next: `next = a 0.3, b 0.7`, from its text to actors.
 */
#include <string.h>

#include "base/nearest.h"
#include "scenario_queueing.h"

#define CERTAIN 1000000000              /* a probability of 1: nine decimals are kept */

/* --- from text to names --- */

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
        g_ptr_array_add(names, (gpointer)queueing_group_at(q, i)->name);
    g_ptr_array_add(names, (gpointer)role_source.name);
    const char *nearest = nearest_name(name, (const char *const *)names->pdata, names->len);
    return nearest != NULL ? g_strdup_printf("did you mean %s?", nearest)
                           : g_strdup("expected the NAME of a group [station.NAME], or source");
}

static bool find_target(const struct queueing *q, const char *name, int *group)
{
    *group = QUEUEING_SOURCE;
    if (strcmp(name, role_source.name) == 0)
        return true;
    for (unsigned i = 0; i < q->groups->len; i++)
        if (strcmp(queueing_group_at(q, i)->name, name) == 0) {
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
        if (queueing_target_at(targets, i)->group == target.group) {
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
        sum += queueing_target_at(targets, i)->parts;
        stated += queueing_target_at(targets, i)->parts != 0;
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
GArray *queueing_targets_read(const struct queueing *q, struct deck *deck, const char *group)
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

/* The copies of `to` that copy `i` of `count` may send to. */
static void reach_of(const struct queueing *q, int to, uint32_t i, uint32_t count, bool own, uint32_t *first,
                     uint32_t *reached)
{
    *first = to == QUEUEING_SOURCE ? 0 : queueing_group_at(q, (unsigned)to)->first;
    *reached = to == QUEUEING_SOURCE ? 1 : queueing_group_at(q, (unsigned)to)->count;
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
struct queueing_next queueing_next_make(struct queueing *q, const GArray *targets, bool cyclic, bool own, uint32_t i,
                                        uint32_t count)
{
    GArray *actors = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    GArray *below = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    bool weighed = !cyclic && queueing_target_at(targets, 0)->parts != 0;
    uint64_t before = 0;

    for (unsigned t = 0; t < targets->len; t++) {
        const struct queueing_target *target = queueing_target_at(targets, t);
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

double *queueing_probabilities(const struct queueing *q, const struct queueing_group *group)
{
    const GArray *targets = group == NULL ? q->source_targets : group->targets;
    const struct queueing_next *next = group == NULL ? &q->source.next : &group->stations[0].next;
    double *to = g_new0(double, q->groups->len + 1);

    for (unsigned t = 0; t < targets->len; t++) {
        const struct queueing_target *target = queueing_target_at(targets, t);
        uint32_t first;
        uint32_t reached;
        reach_of(q, target->group, 0, group == NULL ? 1 : group->count, group != NULL && group->own, &first, &reached);
        /* In turn means each copy in turn; at random, each name. */
        double share = next->routing == QUEUEING_CYCLIC ? (double)reached / next->count
                       : target->parts != 0             ? (double)target->parts / CERTAIN
                                                        : 1.0 / targets->len;
        to[target->group == QUEUEING_SOURCE ? q->groups->len : (unsigned)target->group] += share;
    }
    return to;
}

/* --- ways that cannot be --- */

/* Whether the copies of a group and of its next divide into equal groups. */
static bool divides(uint32_t from, uint32_t to)
{
    return from % to == 0 || to % from == 0;
}

static void check_own(const struct queueing *q, const struct queueing_group *group, struct deck *deck)
{
    for (unsigned t = 0; group->own && t < group->targets->len; t++) {
        int to = queueing_target_at(group->targets, t)->group;
        if (to == QUEUEING_SOURCE || divides(group->count, queueing_group_at(q, (unsigned)to)->count))
            continue;
        deck_complain(deck, group->deck_group, "reach", "'own' cannot divide %u copies of %s and %u of %s into equal "
                      "groups; expected one number to be a multiple of the other", group->count, group->name,
                      queueing_group_at(q, (unsigned)to)->count, queueing_group_at(q, (unsigned)to)->name);
    }
}

/* Marks what jobs reach from `targets` on. */
static void reach(const struct queueing *q, const GArray *targets, bool *reached)
{
    for (unsigned t = 0; t < targets->len; t++) {
        int to = queueing_target_at(targets, t)->group;
        if (to == QUEUEING_SOURCE || reached[to])
            continue;
        reached[to] = true;
        reach(q, queueing_group_at(q, (unsigned)to)->targets, reached);
    }
}

/* Whether jobs of a group can get back to the source: found by going round until nothing new is learnt. */
static void find_returns(const struct queueing *q, bool *returns)
{
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = 0; i < q->groups->len; i++) {
            const GArray *targets = queueing_group_at(q, i)->targets;
            for (unsigned t = 0; !returns[i] && t < targets->len; t++) {
                int to = queueing_target_at(targets, t)->group;
                returns[i] = to == QUEUEING_SOURCE || returns[to];
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
        const struct queueing_group *group = queueing_group_at(q, i);
        if (!reached[i])
            deck_complain(deck, group->deck_group, "next", "belongs to a station that no job ever reaches; expected "
                          "%s in the next of the source, or of a station on the way", group->name);
        else if (!returns[i])
            deck_complain(deck, group->deck_group, "next", "'%s' never leads back to the source; expected a way back",
                          deck_text(deck, group->deck_group, "next"));
    }
}

void queueing_next_check(const struct queueing *q, struct deck *deck)
{
    for (unsigned i = 0; i < q->groups->len; i++)
        check_own(q, queueing_group_at(q, i), deck);
    /* Where a name is wrong, the way of jobs is not known. */
    if (deck_problem_count(deck) == 0)
        check_paths(q, deck);
}
