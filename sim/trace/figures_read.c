/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading figures back; the writing half is figures_file.c. */
#include "trace/figures_file.h"

#include <string.h>

/* What is read of one role until all its metrics are known. */
struct role_read {
    char *name;
    char *text;
    GArray *metrics;            /* struct trace_metric, owning its texts */
    GArray *values;             /* struct value_read, parallel */
};

struct value_read {
    uint64_t total;
    struct series series;
    struct statistic statistic;
};

static herr_t name_keep(hid_t group, const char *name, const H5L_info_t *info, void *names)
{
    g_ptr_array_add(names, g_strdup(name));
    return 0;
}

/* The names in a group, alphabetically; none when it is not there. */
static GPtrArray *names_in(hid_t parent, const char *name)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    hid_t group = hdf5_has(parent, name) ? H5Gopen2(parent, name, H5P_DEFAULT) : -1;
    if (group >= 0) {
        H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, name_keep, names);
        H5Gclose(group);
    }
    return names;
}

static bool counter_read(hid_t group, const char *name, struct trace_metric *metric, struct value_read *value)
{
    hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
    if (dataset < 0)
        return false;
    hid_t space = H5Dget_space(dataset);
    bool good = H5Sget_simple_extent_npoints(space) == 1 &&
                H5Dread(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value->total) >= 0 &&
                hdf5_get_text(dataset, "units", (char **)&metric->unit) &&
                hdf5_get_text(dataset, "long_name", (char **)&metric->text);
    H5Sclose(space);
    H5Dclose(dataset);
    metric->type = TRACE_COUNTER;
    return good;
}

static bool series_read(hid_t group, const char *name, struct trace_metric *metric, struct value_read *value)
{
    hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
    if (dataset < 0)
        return false;
    struct series *s = &value->series;
    uint64_t bins = 0, sum = 0;
    bool good = hdf5_array_size(group, name, &bins) && bins <= SERIES_BINS &&
                hdf5_get_text(dataset, "units", (char **)&metric->unit) &&
                hdf5_get_text(dataset, "long_name", (char **)&metric->text) &&
                hdf5_get_i64(dataset, "bin_width_ns", &s->width_ns) && s->width_ns > 0 &&
                hdf5_get_u64(dataset, "total", &s->total);
    H5Dclose(dataset);
    if (good && bins != 0) {
        s->bin = g_new0(uint64_t, SERIES_BINS);
        good = hdf5_get_array(group, name, H5T_NATIVE_UINT64, s->bin, bins);
        s->bins = (unsigned)bins;
    }
    for (uint64_t i = 0; good && i < bins; i++)
        sum += s->bin[i];
    metric->type = TRACE_SERIES;
    return good && sum == s->total;
}

/* The filled buckets of a statistic, as its saved bytes: their reader checks that all fits together. */
static bool buckets_read(hid_t group, const char *const names[2], struct bytes *saved, uint64_t filled)
{
    int64_t *lower = g_new(int64_t, filled + 1);
    uint64_t *count = g_new(uint64_t, filled + 1);
    bool good = hdf5_get_array(group, names[0], H5T_NATIVE_INT64, lower, filled) &&
                hdf5_get_array(group, names[1], H5T_NATIVE_UINT64, count, filled);
    bytes_put_u32(saved, (uint32_t)filled);
    for (uint64_t i = 0; good && i < filled; i++) {
        unsigned bucket = statistic_bucket(lower[i]);
        good = statistic_bucket_lower(bucket) == lower[i];
        bytes_put_u16(saved, (uint16_t)bucket);
        bytes_put_u64(saved, count[i]);
    }
    g_free(count);
    g_free(lower);
    return good;
}

static bool statistic_read(hid_t group, struct statistic *s)
{
    static const char *const names[2] = { "lower", "count" };
    uint64_t count = 0, sum_low = 0, filled = 0;
    int64_t sum_high = 0, smallest = 0, largest = 0;
    bool good = hdf5_get_u64(group, "count", &count) && hdf5_get_u64(group, "sum_low", &sum_low) &&
                hdf5_get_i64(group, "sum_high", &sum_high) && hdf5_get_i64(group, "smallest", &smallest) &&
                hdf5_get_i64(group, "largest", &largest) && hdf5_array_size(group, names[0], &filled) &&
                filled <= STATISTIC_BUCKETS;
    if (!good)
        return false;
    struct bytes saved = BYTES_INIT;
    bytes_put_u64(&saved, count);
    bytes_put_u64(&saved, sum_low);
    bytes_put_i64(&saved, sum_high);
    bytes_put_i64(&saved, smallest);
    bytes_put_i64(&saved, largest);
    good = buckets_read(group, names, &saved, filled);
    struct cursor from = cursor_init(saved.data, saved.size);
    good = good && statistic_load(s, &from) && cursor_done(&from);
    bytes_release(&saved);
    return good;
}

/* Whether /stages lists the metric. */
static bool is_stage(hid_t file, const char *role, const char *metric)
{
    uint64_t count = 0;
    hid_t group = hdf5_has(file, "stages") ? H5Gopen2(file, "stages", H5P_DEFAULT) : -1;
    if (group < 0)
        return false;
    char **roles = NULL, **names = NULL;
    bool found = false;
    if (hdf5_get_texts(group, "role", &roles, &count) && hdf5_get_texts(group, "name", &names, &count))
        for (unsigned i = 0; i < g_strv_length(roles) && i < g_strv_length(names); i++)
            found = found || (strcmp(roles[i], role) == 0 && strcmp(names[i], metric) == 0);
    g_strfreev(roles);
    g_strfreev(names);
    H5Gclose(group);
    return found;
}

/* What is behind /histograms/ROLE/METRIC belongs to the curve that was read before. */
static bool histogram_read(hid_t file, hid_t histograms, const char *name, struct role_read *role)
{
    for (guint m = 0; m < role->metrics->len; m++) {
        struct trace_metric *metric = &g_array_index(role->metrics, struct trace_metric, m);
        if (strcmp(metric->name, name) != 0)
            continue;
        hid_t group = H5Gopen2(histograms, name, H5P_DEFAULT);
        if (group < 0)
            return false;
        g_free((char *)metric->unit);
        g_free((char *)metric->text);
        metric->unit = metric->text = NULL;
        bool good = hdf5_get_text(group, "units", (char **)&metric->unit) &&
                    hdf5_get_text(group, "long_name", (char **)&metric->text) &&
                    statistic_read(group, &g_array_index(role->values, struct value_read, m).statistic);
        H5Gclose(group);
        metric->type = is_stage(file, role->name, name) ? TRACE_STAGE : TRACE_SAMPLE;
        return good;
    }
    return false;
}

/* One role in one of /counters, /series, /histograms. */
static bool role_part_read(hid_t file, const char *part, const char *name, GPtrArray *roles)
{
    char *path = g_strdup_printf("%s/%s", part, name);
    hid_t group = H5Gopen2(file, path, H5P_DEFAULT);
    GPtrArray *names = names_in(file, path);
    g_free(path);
    char *role_name = NULL, *text = NULL;
    bool good = group >= 0 && hdf5_get_text(group, "role", &role_name) && hdf5_get_text(group, "long_name", &text);
    struct role_read *role = NULL;
    for (guint r = 0; good && r < roles->len; r++)
        if (strcmp(((struct role_read *)roles->pdata[r])->name, role_name) == 0)
            role = roles->pdata[r];
    if (good && role == NULL) {
        role = g_new0(struct role_read, 1);
        role->name = g_steal_pointer(&role_name);
        role->text = g_steal_pointer(&text);
        role->metrics = g_array_new(FALSE, TRUE, sizeof(struct trace_metric));
        role->values = g_array_new(FALSE, TRUE, sizeof(struct value_read));
        g_ptr_array_add(roles, role);
    }
    for (guint m = 0; good && m < names->len; m++) {
        if (part[0] == 'h') {
            good = histogram_read(file, group, names->pdata[m], role);
            continue;
        }
        struct trace_metric metric = { .name = g_strdup(names->pdata[m]) };
        struct value_read value = { .series = SERIES_INIT(1) };
        good = part[0] == 'c' ? counter_read(group, metric.name, &metric, &value)
                              : series_read(group, metric.name, &metric, &value);
        g_array_append_val(role->metrics, metric);
        g_array_append_val(role->values, value);
    }
    g_free(role_name);
    g_free(text);
    g_ptr_array_free(names, TRUE);
    if (group >= 0)
        H5Gclose(group);
    return good;
}

static int role_compare(const void *one, const void *other)
{
    return strcmp((*(struct role_read *const *)one)->name, (*(struct role_read *const *)other)->name);
}

static struct collector *collector_of(GPtrArray *roles)
{
    g_ptr_array_sort(roles, role_compare);
    struct trace_role *table = g_new0(struct trace_role, roles->len + 1);
    for (guint r = 0; r < roles->len; r++) {
        const struct role_read *role = roles->pdata[r];
        table[r] = (struct trace_role){ role->name, role->text, (const struct trace_metric *)role->metrics->data,
                                        role->metrics->len };
    }
    struct collector *c = collector_new(table, roles->len, 1);
    for (guint r = 0; r < roles->len; r++) {
        const struct role_read *role = roles->pdata[r];
        for (guint m = 0; m < role->values->len; m++) {
            const struct value_read *v = &g_array_index(role->values, struct value_read, m);
            collector_add(c, r, m, v->total, &v->series, &v->statistic);
        }
    }
    g_free(table);
    return c;
}

static void role_free(void *data)
{
    struct role_read *role = data;
    for (guint m = 0; m < role->metrics->len; m++) {
        struct trace_metric *metric = &g_array_index(role->metrics, struct trace_metric, m);
        g_free((char *)metric->name);
        g_free((char *)metric->unit);
        g_free((char *)metric->text);
        series_release(&g_array_index(role->values, struct value_read, m).series);
        statistic_release(&g_array_index(role->values, struct value_read, m).statistic);
    }
    g_array_free(role->metrics, TRUE);
    g_array_free(role->values, TRUE);
    g_free(role->name);
    g_free(role->text);
    g_free(role);
}

static struct collector *figures_below(hid_t file, char **reason)
{
    static const char *const parts[] = { "counters", "series", "histograms" };
    GPtrArray *roles = g_ptr_array_new_with_free_func(role_free);
    struct collector *c = NULL;
    *reason = NULL;
    for (unsigned p = 0; *reason == NULL && p < G_N_ELEMENTS(parts); p++) {
        GPtrArray *names = names_in(file, parts[p]);
        for (guint i = 0; *reason == NULL && i < names->len; i++)
            if (!role_part_read(file, parts[p], names->pdata[i], roles))
                *reason = g_strdup_printf("its figures in /%s/%s do not fit together", parts[p],
                                          (const char *)names->pdata[i]);
        g_ptr_array_free(names, TRUE);
    }
    if (*reason == NULL)
        c = collector_of(roles);
    g_ptr_array_free(roles, TRUE);
    return c;
}

struct collector *figures_get(hid_t file, char **reason)
{
    static const char *const places[] = { "/flush_0", "/flush_1", "/" };
    uint64_t place = 0;
    *reason = NULL;
    if (!hdf5_get_u64(file, "figures", &place) || place > FIGURES_ROOT ||
        (place != FIGURES_ROOT && !hdf5_has(file, places[place]))) {
        *reason = g_strdup("it does not say where its figures are; it is damaged");
        return NULL;
    }
    hid_t parent = H5Gopen2(file, places[place], H5P_DEFAULT);
    struct collector *figures = parent < 0 ? NULL : figures_below(parent, reason);
    if (parent < 0)
        *reason = g_strdup("its figures cannot be read; it is damaged");
    else
        H5Gclose(parent);
    return figures;
}
