/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario_file.h"

#include <string.h>

#include "ranks/file_program.h"
#include "ranks/mount.h"
#include "ranks/storage.h"
#include "ranks/writer.h"

enum { ACTORS_MOST = 100000000 };

/* --- from the deck --- */

static void check_against(struct file_scenario *s, struct deck *deck)
{
    for (unsigned i = 0; i < s->group_count; i++) {
        struct file_group *group = &s->groups[i];
        group->against = -1;
        if (!deck_has(deck, group->deck_group, "against"))
            continue;
        const char *name = deck_text(deck, group->deck_group, "against");
        for (unsigned k = 0; k < s->group_count; k++)
            if (strcmp(s->groups[k].name, name) == 0)
                group->against = (int)k;
        if (group->against < 0)
            deck_complain(deck, group->deck_group, "against", "'%s' is no group of this deck; expected the NAME of a "
                          "group [io.NAME]", name);
    }
}

/* Gives the group its actors: writers, mounts, meeting, storage. */
static uint64_t lay_out(struct shared_file *f, uint64_t first)
{
    f->mounts = (f->writers + f->writers_per_node - 1) / f->writers_per_node;
    f->first_writer = (uint32_t)first;
    f->first_mount = f->first_writer + f->writers;
    f->meeting = f->first_mount + f->mounts;
    f->storage = f->meeting + 1;
    return first + f->writers + f->mounts + 2;
}

static unsigned roles_each(const struct file_scenario *s)
{
    return s->live ? 1 : FILE_ROLES;
}

static void name_roles(const struct file_scenario *s, struct file_group *group)
{
    static const struct role *const simulated[FILE_ROLES] = { &role_writer, &role_mount, &role_meeting,
                                                              &role_storage };
    static const struct role *const live[] = { &role_file_program };
    const struct role *const *originals = s->live ? live : simulated;

    for (unsigned i = 0; i < roles_each(s); i++) {
        group->role_names[i] = g_strdup_printf("%s-%s", originals[i]->name, group->name);
        group->roles[i] = *originals[i];
        group->roles[i].name = group->role_names[i];
    }
}

static void read_groups(struct file_scenario *s, struct deck *deck)
{
    const char *name;
    uint64_t actors = 0;

    for (unsigned i = 0; (name = deck_named_group(deck, "io", i)) != NULL && actors <= ACTORS_MOST; i++) {
        if (i == FILE_GROUPS_MOST) {
            deck_complain(deck, name, "writers", "belongs to the %uth group [io.NAME]; expected at most %d", i + 1,
                          FILE_GROUPS_MOST);
            break;
        }
        struct file_group *group = &s->groups[s->group_count++];
        group->deck_group = name;
        group->name = strchr(name, '.') + 1;
        file_read(&group->file, deck, name, false);
        group->file.local_ns = s->local_link.latency_ns;
        group->file.rows = true;
        group->file.row_name = (uint8_t)i;
        actors = lay_out(&group->file, actors);
        s->nodes += group->file.mounts + 1;
        file_finish(&group->file, deck, name, 1);
        name_roles(s, group);
        if (actors > ACTORS_MOST)
            deck_complain(deck, name, "writers", "makes %" G_GUINT64_FORMAT " actors in all; expected at most %d",
                          actors, ACTORS_MOST);
    }
    s->actors = s->live ? s->group_count : (uint32_t)MIN(actors, ACTORS_MOST);
}

static void describe_rows(struct file_scenario *s)
{
    for (unsigned i = 0; i < s->group_count; i++)
        s->names[i] = s->groups[i].name;
    memcpy(s->columns, mount_write_columns, sizeof s->columns);
    s->columns[MOUNT_WRITE_NAME].names = s->names;
    s->table = (struct table){ "writes", "one row a write that ended", s->columns, MOUNT_WRITE_COLUMNS };
}

static void *file_new(struct deck *deck, G_GNUC_UNUSED struct share *share)
{
    struct file_scenario *s = g_new0(struct file_scenario, 1);

    s->groups = g_new0(struct file_group, FILE_GROUPS_MOST);
    s->live = deck_is_live(deck);
    s->by_role = deck_choice(deck, "run", "placement", NULL) == 1;
    s->link.latency_ns = deck_integer(deck, "network", "hop-latency");
    s->local_link.latency_ns = deck_integer(deck, "network", "local-latency");
    read_groups(s, deck);
    describe_rows(s);
    check_against(s, deck);
    if (s->live)
        file_live_read_groups(s, deck);
    if (s->group_count == 0)
        deck_complain(deck, "system", "kind", "'io' has no group [io.NAME]; expected at least one, with a name of your "
                      "own");
    unsigned each = roles_each(s);
    s->roles = g_new0(const struct role *, s->group_count * each + 1);
    for (unsigned i = 0; i < s->group_count * each; i++)
        s->roles[i] = &s->groups[i / each].roles[i % each];
    return s;
}

static void file_free(void *data)
{
    struct file_scenario *s = data;

    for (unsigned i = 0; i < s->group_count; i++) {
        for (unsigned role = 0; role < FILE_ROLES; role++)
            g_free(s->groups[i].role_names[role]);
        file_live_release(&s->groups[i].live);
    }
    g_free(s->groups);
    g_free(s->roles);
    g_free(s);
}

/* --- actors and where they are played --- */

static uint32_t file_actors(const void *data)
{
    return ((const struct file_scenario *)data)->actors;
}

/* The group of an actor, and how many nodes stand before the group's. */
static unsigned group_of(const struct file_scenario *s, uint32_t actor, uint32_t *first_node)
{
    unsigned g = 0;

    *first_node = 0;
    for (; g + 1 < s->group_count && actor > s->groups[g].file.storage; g++)
        *first_node += s->groups[g].file.mounts + 1;
    return g;
}

static void file_place(const void *data, uint32_t actor, uint32_t processes, struct scenario_place *place)
{
    const struct file_scenario *s = data;
    uint32_t first_node;
    if (s->live) {
        *place = (struct scenario_place){ &s->groups[actor].roles[0], 0, 0 };
        return;
    }
    unsigned g = group_of(s, actor, &first_node);
    const struct shared_file *f = &s->groups[g].file;
    unsigned role;
    uint32_t node;

    if (actor < f->first_mount) {
        role = 0;
        node = (actor - f->first_writer) / f->writers_per_node;
    } else if (actor < f->meeting) {
        role = 1;
        node = actor - f->first_mount;
    } else {
        role = actor == f->meeting ? 2 : 3;
        node = actor == f->meeting ? 0 : f->mounts;
    }
    place->role = &s->groups[g].roles[role];
    place->node = first_node + node;
    place->process = s->by_role ? (g + role) % processes : (uint32_t)((uint64_t)place->node * processes / s->nodes);
}

static void file_populate(const void *data, struct engine *e, uint32_t processes)
{
    const struct file_scenario *s = data;

    if (s->live) {
        file_live_populate(s, e);
        return;
    }
    engine_set_link(e, 0, 0, s->link);
    engine_set_local_link(e, s->local_link);
    for (uint32_t id = 0; id < s->actors; id++) {
        struct scenario_place place;
        uint32_t first_node;
        file_place(s, id, processes, &place);
        engine_add_actor(e, &(struct engine_actor){
            .role = place.role, .setup = &s->groups[group_of(s, id, &first_node)].file, .node = place.node,
            .process = place.process, .thread_group = ENGINE_NO_GROUP, .cpu_group = ENGINE_NO_GROUP
        });
    }
}

static const struct role *const *file_roles(const void *data)
{
    return ((const struct file_scenario *)data)->roles;
}

static const struct table *file_tables(const void *data, unsigned *count)
{
    *count = 1;
    return &((const struct file_scenario *)data)->table;
}

/* Of the last group, which is as good as any. */
static struct scenario_milestone file_milestone(const void *data)
{
    const struct file_scenario *s = data;
    const struct file_group *last = &s->groups[s->group_count - 1];
    if (s->live)
        return (struct scenario_milestone){ &last->roles[0], PROGRAM_WRITES, UINT64_MAX, "writes of programs done" };
    bool aggregates = last->file.plan.aggregators != 0;
    return (struct scenario_milestone){ &last->roles[0], WRITER_WRITTEN,
                                        aggregates ? UINT64_MAX
                                                   : pattern_writes(&last->file.pattern) * last->file.writers,
                                        "writes of the last group done" };
}

const struct scenario_kind scenario_file = {
    .name = "io",
    .new = file_new,
    .free = file_free,
    .actors = file_actors,
    .place = file_place,
    .populate = file_populate,
    .roles = file_roles,
    .tables = file_tables,
    .rows = file_rows,
    .milestone = file_milestone,
    .live_processes = file_live_processes,
    .perform = file_live_perform,
    .calibrate = file_live_calibrate,
    .estimate = file_estimate,
    .summarise = file_summarise,
    .headline = file_headline,
    .details = file_details
};
