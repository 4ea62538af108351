/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/figures_file.h"

static const char *const flush_groups[] = { "flush_0", "flush_1" };

static bool put_counter(hid_t parent, const struct trace_metric *metric, uint64_t total)
{
    char name[HDF5_NAME_MAX];
    hdf5_name(name, metric->name);
    bool there = hdf5_has(parent, name);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t dataset = there ? H5Dopen2(parent, name, H5P_DEFAULT)
                          : H5Dcreate2(parent, name, H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Sclose(space);
    if (dataset < 0)
        return false;
    bool good = (there || hdf5_describe(dataset, metric->unit, metric->text)) &&
                H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &total) >= 0;
    return H5Dclose(dataset) >= 0 && good;
}

static bool put_series(hid_t parent, const struct trace_metric *metric, const struct series *s)
{
    char name[HDF5_NAME_MAX];
    hdf5_name(name, metric->name);
    bool counts_values = metric->type >= TRACE_SAMPLE;
    char *text = counts_values ? g_strdup_printf("values in a bin of: %s", metric->text) : g_strdup(metric->text);
    bool good = hdf5_put_array(parent, name, H5T_NATIVE_UINT64, s->bin, s->bins, true,
                               counts_values ? "1" : metric->unit, text);
    g_free(text);
    hid_t dataset = good ? H5Dopen2(parent, name, H5P_DEFAULT) : -1;
    if (dataset < 0)
        return false;
    good = hdf5_put_i64(dataset, "bin_start_ns", 0) && hdf5_put_i64(dataset, "bin_width_ns", s->width_ns) &&
           hdf5_put_u64(dataset, "total", s->total);
    return H5Dclose(dataset) >= 0 && good;
}

static bool put_buckets(hid_t group, const struct trace_metric *metric, const struct statistic *s)
{
    int64_t *lower = g_new(int64_t, s->buckets + 1);
    int64_t *upper = g_new(int64_t, s->buckets + 1);
    uint64_t *count = g_new(uint64_t, s->buckets + 1);
    uint64_t filled = 0;
    for (unsigned i = 0; i < s->buckets; i++) {
        if (s->bucket[i] == 0)
            continue;
        lower[filled] = statistic_bucket_lower(i);
        upper[filled] = statistic_bucket_upper(i);
        count[filled++] = s->bucket[i];
    }
    bool good = hdf5_put_array(group, "lower", H5T_NATIVE_INT64, lower, filled, true, metric->unit,
                               "smallest value of the bucket") &&
                hdf5_put_array(group, "upper", H5T_NATIVE_INT64, upper, filled, true, metric->unit,
                               "largest value of the bucket") &&
                hdf5_put_array(group, "count", H5T_NATIVE_UINT64, count, filled, true, "1", "values in the bucket");
    g_free(count);
    g_free(upper);
    g_free(lower);
    return good;
}

static bool put_statistic(hid_t parent, const struct trace_metric *metric, const struct statistic *s)
{
    char name[HDF5_NAME_MAX];
    hid_t group = hdf5_group(parent, hdf5_name(name, metric->name));
    if (group < 0)
        return false;
    bool good = put_buckets(group, metric, s) && hdf5_describe(group, metric->unit, metric->text) &&
                hdf5_put_u64(group, "count", s->count) && hdf5_put_u64(group, "sum_low", (uint64_t)s->sum) &&
                hdf5_put_i64(group, "sum_high", (int64_t)(s->sum >> 64)) &&
                hdf5_put_double(group, "mean", statistic_mean(s)) &&
                hdf5_put_i64(group, "smallest", s->count == 0 ? 0 : s->smallest) &&
                hdf5_put_i64(group, "largest", s->count == 0 ? 0 : s->largest) &&
                hdf5_put_double(group, "p50", statistic_quantile(s, 0.5)) &&
                hdf5_put_double(group, "p99", statistic_quantile(s, 0.99)) &&
                hdf5_put_double(group, "relative_error", STATISTIC_RELATIVE_ERROR);
    return H5Gclose(group) >= 0 && good;
}

/* /PART/ROLE, or -1. */
static hid_t role_group(hid_t file, const char *part, const struct trace_role *role)
{
    char name[HDF5_NAME_MAX];
    hid_t parent = hdf5_group(file, part);
    if (parent < 0)
        return -1;
    hid_t group = hdf5_group(parent, hdf5_name(name, role->name));
    H5Gclose(parent);
    if (group >= 0 && H5Aexists(group, "role") <= 0 &&
        !(hdf5_put_text(group, "role", role->name) && hdf5_put_text(group, "long_name", role->text))) {
        H5Gclose(group);
        return -1;
    }
    return group;
}

static bool put_metric(hid_t file, const struct collector *figures, unsigned r, unsigned m)
{
    const struct trace_role *role = collector_role(figures, r);
    const struct trace_metric *metric = &role->metrics[m];
    hid_t group = role_group(file, metric->type == TRACE_COUNTER ? "counters" : "series", role);
    if (group < 0)
        return false;
    bool good = metric->type == TRACE_COUNTER ? put_counter(group, metric, collector_total(figures, r, m))
                                              : put_series(group, metric, collector_series(figures, r, m));
    good = H5Gclose(group) >= 0 && good;
    if (!good || metric->type < TRACE_SAMPLE)
        return good;
    group = role_group(file, "histograms", role);
    if (group < 0)
        return false;
    good = put_statistic(group, metric, collector_statistic(figures, r, m));
    return H5Gclose(group) >= 0 && good;
}

enum { STAGE_COUNT, STAGE_MEAN, STAGE_P50, STAGE_P99, STAGE_SMALLEST, STAGE_LARGEST, STAGE_COLUMNS };

static bool put_stage_columns(hid_t group, const char *const *role, const char *const *name, uint64_t *count,
                              double *const *value, unsigned stages)
{
    static const char *const names[] = { "count", "mean", "p50", "p99", "smallest", "largest" };
    static const char *const texts[] = { "values", "mean", "median", "99th percentile", "smallest", "largest" };
    bool good = hdf5_put_texts(group, "role", role, stages, "role that reports the stage") &&
                hdf5_put_texts(group, "name", name, stages, "stage") &&
                hdf5_put_array(group, names[STAGE_COUNT], H5T_NATIVE_UINT64, count, stages, false, "1",
                               texts[STAGE_COUNT]);
    for (unsigned c = STAGE_MEAN; good && c < STAGE_COLUMNS; c++)
        good = hdf5_put_array(group, names[c], H5T_NATIVE_DOUBLE, value[c], stages, false, "ns", texts[c]);
    return good;
}

static bool put_stages(hid_t file, const struct collector *figures)
{
    unsigned most = 0, stages = 0;
    for (unsigned r = 0; r < collector_role_count(figures); r++)
        most += collector_role(figures, r)->metric_count;
    const char **role = g_new(const char *, most + 1);
    const char **name = g_new(const char *, most + 1);
    uint64_t *count = g_new(uint64_t, most + 1);
    double *value[STAGE_COLUMNS];
    for (unsigned c = 0; c < STAGE_COLUMNS; c++)
        value[c] = g_new(double, most + 1);
    for (unsigned r = 0; r < collector_role_count(figures); r++) {
        for (unsigned m = 0; m < collector_role(figures, r)->metric_count; m++) {
            if (collector_role(figures, r)->metrics[m].type != TRACE_STAGE)
                continue;
            const struct statistic *s = collector_statistic(figures, r, m);
            role[stages] = collector_role(figures, r)->name;
            name[stages] = collector_role(figures, r)->metrics[m].name;
            count[stages] = s->count;
            value[STAGE_MEAN][stages] = statistic_mean(s);
            value[STAGE_P50][stages] = statistic_quantile(s, 0.5);
            value[STAGE_P99][stages] = statistic_quantile(s, 0.99);
            value[STAGE_SMALLEST][stages] = statistic_quantile(s, 0);
            value[STAGE_LARGEST][stages] = statistic_quantile(s, 1);
            stages++;
        }
    }
    bool good = true;
    hid_t group = stages == 0 ? -1 : hdf5_group(file, "stages");
    if (stages != 0)
        good = group >= 0 && put_stage_columns(group, role, name, count, value, stages);
    if (group >= 0)
        H5Gclose(group);
    for (unsigned c = 0; c < STAGE_COLUMNS; c++)
        g_free(value[c]);
    g_free(count);
    g_free(name);
    g_free(role);
    return good;
}

static bool put_all(hid_t parent, const struct collector *figures)
{
    for (unsigned r = 0; r < collector_role_count(figures); r++)
        for (unsigned m = 0; m < collector_role(figures, r)->metric_count; m++)
            if (!put_metric(parent, figures, r, m))
                return false;
    return put_stages(parent, figures);
}

bool figures_put(hid_t file, enum figures_place place, const struct collector *figures)
{
    hid_t parent = place == FIGURES_ROOT ? H5Gopen2(file, "/", H5P_DEFAULT) : hdf5_group(file, flush_groups[place]);
    if (parent < 0)
        return false;
    bool good = put_all(parent, figures);
    return H5Gclose(parent) >= 0 && good;
}

bool figures_mark(hid_t file, enum figures_place place)
{
    return hdf5_put_u64(file, "figures", place);
}

bool figures_clean(hid_t file)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(flush_groups); i++)
        if (hdf5_has(file, flush_groups[i]) && H5Ldelete(file, flush_groups[i], H5P_DEFAULT) < 0)
            return false;
    return true;
}
