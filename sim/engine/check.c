/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is refused before a run begins: calls that could wait for each other for ever, groups that cannot be played.
 */
#include "engine/internal.h"

static guint role_index(const struct engine *e, const struct role *role)
{
    guint index = 0;
    g_ptr_array_find(e->roles, role, &index);
    return index;
}

static const struct role *role_at(const struct engine *e, guint index)
{
    return g_ptr_array_index(e->roles, index);
}

/* The index of the role with that name; e->roles->len when no actor has it. */
static guint role_named(const struct engine *e, const char *name)
{
    guint i = 0;
    while (i < e->roles->len && strcmp(role_at(e, i)->name, name) != 0)
        i++;
    return i;
}

/* --- circles of calls ---
 *
 * Roles that share a thread block together, so a circle may lead from one to another of them: they count as one. */

struct circle_search {
    const struct engine *e;
    guint *leader;                  /* per role: the first of those that it shares threads with, directly or not */
    GArray *path;                   /* guint: roles, each called by one before it or by a role of that one's threads */
};

static guint *find_leaders(const struct engine *e)
{
    GHashTable *first = g_hash_table_new(g_direct_hash, g_direct_equal);
    guint *leader = g_new(guint, e->roles->len);
    for (guint i = 0; i < e->roles->len; i++)
        leader[i] = i;
    for (uint32_t id = 0; id < e->specs->len; id++) {
        const struct engine_actor *spec = engine_spec(e, id);
        if (spec->thread_group == ENGINE_NO_GROUP)
            continue;
        gpointer key = GUINT_TO_POINTER(spec->thread_group), known;
        guint mine = leader[role_index(e, spec->role)];
        if (!g_hash_table_lookup_extended(first, key, NULL, &known)) {
            g_hash_table_insert(first, key, GUINT_TO_POINTER(role_index(e, spec->role)));
            continue;
        }
        guint theirs = leader[GPOINTER_TO_UINT(known)];
        for (guint i = 0; i < e->roles->len; i++)
            if (leader[i] == MAX(mine, theirs))
                leader[i] = MIN(mine, theirs);
    }
    g_hash_table_destroy(first);
    return leader;
}

static char *circle_text(const struct circle_search *s, guint from, guint to)
{
    GString *text = g_string_new(NULL);
    for (guint i = from; i < s->path->len; i++)
        g_string_append_printf(text, "%s -> ", role_at(s->e, g_array_index(s->path, guint, i))->name);
    g_string_append(text, role_at(s->e, to)->name);
    return g_string_free(text, FALSE);
}

/* Follows calls from `role`; the text of the circle that it leads into, or NULL. */
static char *find_circle(struct circle_search *s, guint role)
{
    for (guint i = 0; i < s->path->len; i++)
        if (s->leader[g_array_index(s->path, guint, i)] == s->leader[role])
            return circle_text(s, i, role);
    g_array_append_val(s->path, role);
    char *text = NULL;
    for (guint kin = 0; text == NULL && kin < s->e->roles->len; kin++) {
        if (s->leader[kin] != s->leader[role])
            continue;
        const char *const *name = role_at(s->e, kin)->calls;
        for (; text == NULL && name != NULL && *name != NULL; name++) {
            guint callee = role_named(s->e, *name);
            if (callee < s->e->roles->len)
                text = find_circle(s, callee);
        }
    }
    g_array_set_size(s->path, s->path->len - 1);
    return text;
}

static gboolean check_calls(const struct engine *e, GError **error)
{
    struct circle_search s = { e, find_leaders(e), g_array_new(FALSE, FALSE, sizeof(guint)) };
    char *text = NULL;
    for (guint i = 0; text == NULL && i < e->roles->len; i++)
        text = find_circle(&s, i);
    g_array_free(s.path, TRUE);
    g_free(s.leader);
    if (text == NULL)
        return TRUE;
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT,
                "blocking calls go in a circle: %s; they could wait for each other for ever, so one of these roles "
                "must send a request instead of a call", text);
    g_free(text);
    return FALSE;
}

bool role_declares_call(const struct role *caller, const struct role *callee)
{
    for (const char *const *name = caller->calls; name != NULL && *name != NULL; name++)
        if (strcmp(*name, callee->name) == 0)
            return true;
    return false;
}

static gboolean check_pair(const struct engine_actor *a, const struct engine_actor *b, GError **error)
{
    if (a->process != b->process) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT,
                    "thread group %u is split: %s is placed on process %u and %s on process %u; expected one process",
                    a->thread_group, a->role->name, a->process, b->role->name, b->process);
        return FALSE;
    }
    if (role_declares_call(a->role, b->role) || role_declares_call(b->role, a->role)) {
        bool forward = role_declares_call(a->role, b->role);
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT,
                    "%s calls %s and both are in thread group %u; a call inside one thread group would wait for itself",
                    forward ? a->role->name : b->role->name, forward ? b->role->name : a->role->name,
                    a->thread_group);
        return FALSE;
    }
    return TRUE;
}

/* Every pair of roles inside a group; a group's actors of one role and process count once. */
static gboolean check_groups(const struct engine *e, GError **error)
{
    GHashTable *members = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, (GDestroyNotify)g_array_unref);
    gboolean ok = TRUE;
    for (uint32_t id = 0; ok && id < e->specs->len; id++) {
        const struct engine_actor *spec = engine_spec(e, id);
        if (spec->thread_group == ENGINE_NO_GROUP)
            continue;
        gpointer key = GUINT_TO_POINTER(spec->thread_group);
        GArray *known = g_hash_table_lookup(members, key);
        if (known == NULL) {
            known = g_array_new(FALSE, FALSE, sizeof(uint32_t));
            g_hash_table_insert(members, key, known);
        }
        bool same = false;
        for (guint i = 0; ok && i < known->len; i++) {
            const struct engine_actor *other = engine_spec(e, g_array_index(known, uint32_t, i));
            same |= other->role == spec->role && other->process == spec->process;
            ok = check_pair(other, spec, error);
        }
        if (!same)
            g_array_append_val(known, id);
    }
    g_hash_table_destroy(members);
    return ok;
}

/* A group of actors that share cores is played by one process, and says one number of cores. */
static gboolean check_cpu_groups(const struct engine *e, GError **error)
{
    GHashTable *first = g_hash_table_new(g_direct_hash, g_direct_equal);
    gboolean ok = TRUE;
    for (uint32_t id = 0; ok && id < e->specs->len; id++) {
        const struct engine_actor *spec = engine_spec(e, id);
        gpointer key = GUINT_TO_POINTER(spec->cpu_group), known;
        if (spec->cpu_group == ENGINE_NO_GROUP)
            continue;
        if (!g_hash_table_lookup_extended(first, key, NULL, &known)) {
            g_hash_table_insert(first, key, GUINT_TO_POINTER(id));
            continue;
        }
        const struct engine_actor *other = engine_spec(e, GPOINTER_TO_UINT(known));
        ok = other->process == spec->process && other->cpu_cores == spec->cpu_cores;
        if (!ok)
            g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT,
                        "cpu group %u is split: %s is placed on process %u with %u cores and %s on process %u with %u; "
                        "expected one process and one number of cores", spec->cpu_group, other->role->name,
                        other->process, other->cpu_cores, spec->role->name, spec->process, spec->cpu_cores);
    }
    g_hash_table_destroy(first);
    return ok;
}

gboolean engine_check(const struct engine *e, GError **error)
{
    /* Groups first: a call inside one is a circle too, but has a plainer name. */
    return check_groups(e, error) && check_calls(e, error) && check_cpu_groups(e, error);
}
