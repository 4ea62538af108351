/* SPDX-License-Identifier: BSD-3-Clause */
#include "service_times.h"

#include "trace/statistics.h"

struct service_times {
    const struct role *const *roles;
    GHashTable *by_key;             /* struct statistic, by role and kind */
};

static gpointer key_of(unsigned role, unsigned kind)
{
    return GUINT_TO_POINTER(role << 16 | kind);
}

static void free_statistic(gpointer statistic)
{
    statistic_release(statistic);
    g_free(statistic);
}

struct service_times *service_times_new(const struct scenario *scenario)
{
    struct service_times *times = g_new0(struct service_times, 1);

    times->roles = scenario_roles(scenario);
    times->by_key = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_statistic);
    return times;
}

void service_times_free(struct service_times *times)
{
    if (times == NULL)
        return;
    g_hash_table_destroy(times->by_key);
    g_free(times);
}

static struct statistic *statistic_for(struct service_times *times, gpointer key)
{
    struct statistic *statistic = g_hash_table_lookup(times->by_key, key);

    if (statistic == NULL) {
        statistic = g_new0(struct statistic, 1);
        g_hash_table_insert(times->by_key, key, statistic);
    }
    return statistic;
}

void service_times_add(struct service_times *times, unsigned role, uint16_t kind, int64_t took_ns)
{
    statistic_add(statistic_for(times, key_of(role, kind)), took_ns);
}

static int compare_keys(gconstpointer a, gconstpointer b)
{
    guint x = GPOINTER_TO_UINT(a);
    guint y = GPOINTER_TO_UINT(b);
    return (x > y) - (x < y);
}

static GList *sorted_keys(const struct service_times *times)
{
    return g_list_sort(g_hash_table_get_keys(times->by_key), compare_keys);
}

static gboolean take_part(void *data, unsigned process, const void *bytes, size_t size, GError **error)
{
    struct service_times *times = data;
    struct cursor from = cursor_init(bytes, size);

    while (process != 0 && !cursor_done(&from)) {
        struct statistic part = STATISTIC_INIT;
        gpointer key = GUINT_TO_POINTER(cursor_u32(&from));
        bool good = statistic_load(&part, &from);
        if (good)
            statistic_merge(statistic_for(times, key), &part);
        statistic_release(&part);
        if (!good) {
            g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_RUNTIME,
                        "the service times of process %u cannot be read", process);
            return FALSE;
        }
    }
    return TRUE;
}

gboolean service_times_gather(struct service_times *times, struct gather *gather, GError **error)
{
    struct bytes mine = BYTES_INIT;
    GList *keys = sorted_keys(times);

    for (const GList *at = keys; at != NULL; at = at->next) {
        bytes_put_u32(&mine, GPOINTER_TO_UINT(at->data));
        statistic_save(g_hash_table_lookup(times->by_key, at->data), &mine);
    }
    g_list_free(keys);
    gboolean good = gather_parts(gather, &mine, take_part, times, error);
    bytes_release(&mine);
    return good;
}

/* "kvs-root/event". Any role's table may name a kind. */
static char *name_of(const struct service_times *times, guint key)
{
    for (const struct role *const *role = times->roles; *role != NULL; role++)
        for (const struct kind_name *kind = (*role)->kinds; kind != NULL && kind->name != NULL; kind++)
            if (kind->kind == (key & UINT16_MAX))
                return g_strdup_printf("%s/%s", times->roles[key >> 16]->name, kind->name);
    return g_strdup_printf("%s/0x%04x", times->roles[key >> 16]->name, key & UINT16_MAX);
}

void service_times_summarise(const struct service_times *times, struct summary *summary)
{
    GList *keys = sorted_keys(times);

    for (const GList *at = keys; at != NULL; at = at->next) {
        const struct statistic *s = g_hash_table_lookup(times->by_key, at->data);
        g_autofree char *name = name_of(times, GPOINTER_TO_UINT(at->data));
        struct summary_service row = { s->count, statistic_mean(s) / 1e9, statistic_quantile(s, 0.5) / 1e9,
                                       statistic_quantile(s, 0.99) / 1e9 };
        summary_service(summary, name, &row);
    }
    g_list_free(keys);
}

void service_times_print(const struct service_times *times, FILE *out)
{
    GList *keys = sorted_keys(times);

    fprintf(out, "%-36s %10s %12s %12s %12s\n", "handling of", "handled", "mean", "median", "99 percent");
    for (const GList *at = keys; at != NULL; at = at->next) {
        const struct statistic *s = g_hash_table_lookup(times->by_key, at->data);
        g_autofree char *name = name_of(times, GPOINTER_TO_UINT(at->data));
        fprintf(out, "%-36s %10" G_GUINT64_FORMAT " %9.2f us %9.2f us %9.2f us\n", name, s->count,
                statistic_mean(s) / 1e3, statistic_quantile(s, 0.5) / 1e3, statistic_quantile(s, 0.99) / 1e3);
    }
    g_list_free(keys);
}
