/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/summary_internal.h"

#include <math.h>
#include <string.h>

static void entry_free(void *data)
{
    struct summary_entry *e = data;
    for (unsigned i = 0; i < SUMMARY_ENTRY_KEYS_MAX; i++)
        g_free(e->value[i].text);
    g_free(e->name);
    g_free(e);
}

struct summary *summary_new(void)
{
    struct summary *s = g_new0(struct summary, 1);
    s->value = g_new0(struct summary_value, summary_key_count);
    for (unsigned l = 0; l < SUMMARY_LISTS; l++)
        s->list[l] = g_ptr_array_new_with_free_func(entry_free);
    s->group[SUMMARY_RUN] = true;
    return s;
}

void summary_free(struct summary *s)
{
    if (s == NULL)
        return;
    for (unsigned k = 0; k < summary_key_count; k++)
        g_free(s->value[k].text);
    for (unsigned l = 0; l < SUMMARY_LISTS; l++)
        g_ptr_array_free(s->list[l], TRUE);
    g_free(s->value);
    g_free(s);
}

void summary_group(struct summary *s, const char *group)
{
    int g = summary_group_find(group);
    g_assert(g >= 0);
    s->group[g] = true;
}

static struct summary_value *value_at(struct summary *s, const char *group, const char *key, enum summary_type type)
{
    int g = summary_group_find(group);
    int k = g < 0 ? -1 : summary_key_find((unsigned)g, key);
    if (k < 0 || summary_keys[k].type != type)
        g_error("summary: there is no key %s.%s of this type", group, key);
    s->group[g] = true;
    s->value[k].set = true;
    return &s->value[k];
}

void summary_text(struct summary *s, const char *group, const char *key, const char *value)
{
    struct summary_value *v = value_at(s, group, key, SUMMARY_TEXT);
    g_free(v->text);
    v->text = g_strdup(value);
}

void summary_flag(struct summary *s, const char *group, const char *key, bool value)
{
    value_at(s, group, key, SUMMARY_FLAG)->flag = value;
}

void summary_count(struct summary *s, const char *group, const char *key, uint64_t value)
{
    value_at(s, group, key, SUMMARY_COUNT)->count = value;
}

void summary_number(struct summary *s, const char *group, const char *key, double value)
{
    value_at(s, group, key, SUMMARY_NUMBER)->number = value;
}

static struct summary_entry *entry_new(struct summary *s, enum summary_list list, const char *name)
{
    struct summary_entry *e = g_new0(struct summary_entry, 1);
    e->name = g_strdup(name);
    g_ptr_array_add(s->list[list], e);
    return e;
}

void summary_role(struct summary *s, const char *role, const struct summary_role *figures)
{
    struct summary_entry *e = entry_new(s, SUMMARY_ROLES, role);
    e->value[0].count = figures->handled;
    e->value[1].number = figures->busy_fraction;
    e->value[2].number = figures->mean_queue;
    e->value[3].number = figures->mean_wait_s;
    e->value[4].number = figures->blocked_fraction;
}

void summary_stage(struct summary *s, const char *stage, double mean_s, double p50_s, double p99_s)
{
    struct summary_entry *e = entry_new(s, SUMMARY_STAGES, stage);
    e->value[0].number = mean_s;
    e->value[1].number = p50_s;
    e->value[2].number = p99_s;
}

void summary_station(struct summary *s, const char *station, const struct summary_station *figures)
{
    struct summary_entry *e = entry_new(s, SUMMARY_STATIONS, station);
    e->value[0].count = figures->servers;
    e->value[1].count = figures->jobs;
    e->value[2].number = figures->utilisation;
    e->value[3].number = figures->mean_queue;
    e->value[4].number = figures->mean_wait_s;
}

void summary_class(struct summary *s, const char *class, const struct summary_class *figures)
{
    struct summary_entry *e = entry_new(s, SUMMARY_CLASSES, class);
    e->value[0].count = figures->jobs;
    e->value[1].number = figures->mean_wait_s;
    e->value[2].number = figures->max_wait_s;
    e->value[3].number = figures->mean_bounded_slowdown;
}

void summary_service(struct summary *s, const char *service, const struct summary_service *figures)
{
    struct summary_entry *e = entry_new(s, SUMMARY_SERVICES, service);
    e->value[0].count = figures->handled;
    e->value[1].number = figures->mean_s;
    e->value[2].number = figures->p50_s;
    e->value[3].number = figures->p99_s;
}

void summary_file(struct summary *s, const char *file, const struct summary_file *x)
{
    struct summary_entry *e = entry_new(s, SUMMARY_FILES, file);
    const uint64_t counts[] = { x->bytes, x->writes, x->extending_writes, x->exclusive_locks, x->shared_locks,
                                x->lone_writes, x->inflight_max, x->steals, x->handoffs };
    const double numbers[] = { x->lock_wait_s, x->prepared_s, x->ended_s, x->bandwidth_bytes_per_s, x->mib_per_s,
                               x->writes_per_s, x->extending_share, x->exclusive_share, x->gain };
    for (unsigned i = 0; i < G_N_ELEMENTS(counts); i++)
        e->value[i].count = counts[i];
    for (unsigned i = 0; i < G_N_ELEMENTS(numbers); i++)
        e->value[G_N_ELEMENTS(counts) + i].number = numbers[i];
}

void summary_live_file(struct summary *s, const char *file, const struct summary_live_file *x)
{
    struct summary_entry *e = entry_new(s, SUMMARY_LIVE_FILES, file);
    const uint64_t counts[] = { x->verified_bytes, x->contested, x->retakes };
    const double numbers[] = { x->retake_share, x->open_s, x->write_s, x->close_s, x->mean_write_s, x->held_up_s };
    for (unsigned i = 0; i < G_N_ELEMENTS(counts); i++)
        e->value[i].count = counts[i];
    for (unsigned i = 0; i < G_N_ELEMENTS(numbers); i++)
        e->value[G_N_ELEMENTS(counts) + i].number = numbers[i];
}

void summary_limit(struct summary *s, const char *what, double share, double rate_if_free)
{
    struct summary_entry *e = entry_new(s, SUMMARY_LIMITS, what);
    e->value[0].number = share;
    e->value[1].number = rate_if_free;
}

void summary_balance(struct summary *s, const char *name, uint64_t left, uint64_t right, bool ok)
{
    struct summary_entry *e = entry_new(s, SUMMARY_BALANCES, name);
    e->value[0].count = left;
    e->value[1].count = right;
    e->value[2].flag = ok;
}

void summary_expect(struct summary *s, const char *key, const struct summary_expectation *x)
{
    struct summary_entry *e = entry_new(s, SUMMARY_EXPECTATIONS, key);
    e->value[0].number = x->published;
    e->value[1].number = x->measured;
    e->value[2].number = x->error;
    e->value[3].flag = x->ok;
    e->value[4].flag = x->comparable;
}

/* --- looking up --- */

static double value_number(const struct summary_value *v, enum summary_type type)
{
    switch (type) {
    case SUMMARY_FLAG:
        return v->flag;
    case SUMMARY_COUNT:
        return (double)v->count;
    case SUMMARY_NUMBER:
        return v->number;
    case SUMMARY_TEXT:
        break;
    }
    g_assert_not_reached();
}

static gboolean lookup_failure(GError **error, const char *path, const char *reason)
{
    g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s %s", path, reason);
    return FALSE;
}

static gboolean key_lookup(const struct summary *s, unsigned group, const char *path, const char *key, double *value,
                           GError **error)
{
    int k = summary_key_find(group, key);
    if (k < 0) {
        g_autofree char *nearest = summary_key_nearest(path);
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s is not a key of the summary; %s%s", path,
                    nearest != NULL ? "did you mean " : "expected one of those in doc/design.md, section 6",
                    nearest != NULL ? nearest : "");
        return FALSE;
    }
    if (summary_keys[k].type == SUMMARY_TEXT)
        return lookup_failure(error, path, "is a text, not a number");
    if (!s->group[group])
        return lookup_failure(error, path, "is not in this run's summary: the deck has no such part");
    if (!s->value[k].set)
        return lookup_failure(error, path, "was not set by this run");
    *value = value_number(&s->value[k], summary_keys[k].type);
    return TRUE;
}

/* "roles.NAME.key": the name may hold dots. */
static gboolean entry_lookup(const struct summary *s, enum summary_list list, const char *path, const char *rest,
                             double *value, GError **error)
{
    const char *dot = strrchr(rest, '.');
    int k = dot == NULL ? -1 : summary_entry_key_find(list, dot + 1);
    if (k < 0)
        return lookup_failure(error, path, "is not a key of the summary; expected roles.ROLE.KEY, stages.STAGE.KEY, "
                                           "stations.STATION.KEY, classes.CLASS.KEY or files.NAME.KEY, with a key "
                                           "such as busy_fraction or p99_s");
    for (guint i = 0; i < s->list[list]->len; i++) {
        const struct summary_entry *e = g_ptr_array_index(s->list[list], i);
        if (strlen(e->name) == (size_t)(dot - rest) && strncmp(e->name, rest, (size_t)(dot - rest)) == 0) {
            *value = value_number(&e->value[k], summary_entry_keys[list][k].type);
            return TRUE;
        }
    }
    return lookup_failure(error, path, "is not in this run's summary: it has no such role, stage, station, class or "
                                       "file");
}

/* The list in which "roles.", "stages.", "stations.", "classes." or "files." looks; SUMMARY_LISTS for anything else. */
static enum summary_list list_of(const char *path)
{
    static const enum summary_list lists[] = { SUMMARY_ROLES, SUMMARY_STAGES, SUMMARY_STATIONS, SUMMARY_CLASSES,
                                               SUMMARY_FILES, SUMMARY_LIVE_FILES };
    const char *dot = strchr(path, '.');
    for (unsigned i = 0; dot != NULL && i < G_N_ELEMENTS(lists); i++) {
        const char *name = summary_list_names[lists[i]];
        if (strlen(name) == (size_t)(dot - path) && strncmp(name, path, (size_t)(dot - path)) == 0)
            return lists[i];
    }
    return SUMMARY_LISTS;
}

gboolean summary_lookup(const struct summary *s, const char *path, double *value, GError **error)
{
    *value = NAN;
    const char *dot = strchr(path, '.');
    char *group = dot == NULL ? g_strdup(path) : g_strndup(path, (gsize)(dot - path));
    int g = summary_group_find(group);
    gboolean good;
    if (list_of(path) != SUMMARY_LISTS)
        good = entry_lookup(s, list_of(path), path, dot + 1, value, error);
    else
        good = key_lookup(s, g < 0 ? SUMMARY_GROUPS : (unsigned)g, path, dot == NULL ? "" : dot + 1, value, error);
    g_free(group);
    return good;
}

double summary_value(const struct summary *s, const char *path)
{
    double value;
    return summary_lookup(s, path, &value, NULL) ? value : NAN;
}

bool summary_key_known(const char *path)
{
    struct summary *s = summary_new();
    double value;
    GError *error = NULL;
    /* Every key is known to a summary in which all groups are there and set. */
    for (unsigned g = 0; g < SUMMARY_GROUPS; g++)
        s->group[g] = true;
    for (unsigned k = 0; k < summary_key_count; k++)
        s->value[k].set = true;
    bool known = summary_lookup(s, path, &value, &error);
    g_clear_error(&error);
    const char *dot = strrchr(path, '.');
    if (!known && list_of(path) != SUMMARY_LISTS) {
        enum summary_list list = list_of(path);
        const char *name = strchr(path, '.') + 1;
        known = dot > name && summary_entry_key_find(list, dot + 1) >= 0;
    }
    summary_free(s);
    return known;
}

const char *summary_key_text(const char *path)
{
    const char *last = strrchr(path, '.');
    const char *first = strchr(path, '.');
    g_autofree char *name = first == NULL ? NULL : g_strndup(path, (size_t)(first - path));
    int group = name == NULL ? -1 : summary_group_find(name);
    int key = group < 0 ? -1 : summary_key_find((unsigned)group, first + 1);

    if (key >= 0)
        return summary_keys[key].text;
    for (unsigned l = 0; name != NULL && last > first && l < SUMMARY_LISTS; l++) {
        key = strcmp(summary_list_names[l], name) == 0 ? summary_entry_key_find(l, last + 1) : -1;
        if (key >= 0)
            return summary_entry_keys[l][key].text;
    }
    return "";
}

const char *summary_key_unit(const char *path)
{
    static const char *const units[][2] = {
        { "bytes_per_s", "B/s" }, { "mib_per_s", "MiB/s" }, { "_per_s", "1/s" }, { "_rate", "1/s" },
        { "rate_if_free", "1/s" }, { "_s", "s" }, { "bytes", "B" }
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(units); i++)
        if (g_str_has_suffix(path, units[i][0]))
            return units[i][1];
    return "1";
}

/* --- looking at all of it --- */

void summary_each(const struct summary *s, summary_key_fn *visit, void *data)
{
    for (unsigned k = 0; k < summary_key_count; k++) {
        const struct summary_value *v = &s->value[k];
        bool text = summary_keys[k].type == SUMMARY_TEXT;
        if (!s->group[summary_keys[k].group] || !v->set)
            continue;
        visit(data, summary_group_names[summary_keys[k].group], summary_keys[k].name,
              text ? (v->text == NULL ? "" : v->text) : NULL, text ? NAN : value_number(v, summary_keys[k].type));
    }
}

void summary_each_entry(const struct summary *s, summary_key_fn *visit, void *data)
{
    for (unsigned l = 0; l < SUMMARY_LISTS; l++)
        for (guint i = 0; i < s->list[l]->len; i++) {
            const struct summary_entry *e = g_ptr_array_index(s->list[l], i);
            bool ranked = l == SUMMARY_LIMITS;
            g_autofree char *group = ranked ? g_strdup_printf("%s.%u", summary_list_names[l], i + 1)
                                            : g_strdup_printf("%s.%s", summary_list_names[l], e->name);
            if (ranked)
                visit(data, group, "name", e->name, NAN);
            for (unsigned k = 0; summary_entry_keys[l][k].name != NULL; k++)
                visit(data, group, summary_entry_keys[l][k].name, NULL,
                      value_number(&e->value[k], summary_entry_keys[l][k].type));
        }
}

static enum summary_list list_find(const char *name)
{
    unsigned list = 0;
    while (list < SUMMARY_LISTS && strcmp(summary_list_names[list], name) != 0)
        list++;
    g_assert(list < SUMMARY_LISTS);
    return list;
}

const char *summary_entry_name(const struct summary *s, const char *list, unsigned i)
{
    const GPtrArray *entries = s->list[list_find(list)];
    return i < entries->len ? ((const struct summary_entry *)g_ptr_array_index(entries, i))->name : NULL;
}

double summary_entry_number(const struct summary *s, const char *list, unsigned i, const char *key)
{
    enum summary_list l = list_find(list);
    int k = summary_entry_key_find(l, key);
    g_assert(k >= 0 && i < s->list[l]->len);
    return value_number(&((const struct summary_entry *)g_ptr_array_index(s->list[l], i))->value[k],
                        summary_entry_keys[l][k].type);
}

const char *summary_stage_name(const struct summary *s, unsigned i)
{
    return summary_entry_name(s, "stages", i);
}

bool summary_limit_get(const struct summary *s, unsigned i, struct summary_limit_row *row)
{
    if (i >= s->list[SUMMARY_LIMITS]->len)
        return false;
    const struct summary_entry *e = g_ptr_array_index(s->list[SUMMARY_LIMITS], i);
    *row = (struct summary_limit_row){ e->name, e->value[0].number, e->value[1].number };
    return true;
}
