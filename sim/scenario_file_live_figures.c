/* SPDX-License-Identifier: BSD-3-Clause */
/* What writing real files came to: from the back end through the metrics of role "program" to the summary. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "io/mpiio.h"
#include "ranks/file_program.h"
#include "scenario_file.h"

/* --- to metrics and back --- */

/* The 64-bit integers of struct mpiio_figures that are metrics. */
static const struct integer {
    enum program_metric metric;
    bool moment;                    /* in ns; else a count */
    size_t offset;
} integers[] = {
#define COUNT(metric, field) { metric, false, offsetof(struct mpiio_figures, field) }
#define MOMENT(metric, field) { metric, true, offsetof(struct mpiio_figures, field) }
    COUNT(PROGRAM_BYTES, bytes), COUNT(PROGRAM_WRITES, writes), COUNT(PROGRAM_VERIFIED, verified),
    COUNT(PROGRAM_EXCLUSIVE, lock.exclusive), COUNT(PROGRAM_SHARED, lock.shared),
    COUNT(PROGRAM_EXTENDING, lock.extending), COUNT(PROGRAM_LONE, lock.lone),
    COUNT(PROGRAM_CONTESTED, lock.contested), COUNT(PROGRAM_RETAKES, lock.retakes),
    COUNT(PROGRAM_BROKEN, lock.broken), COUNT(PROGRAM_LOCK_WAIT, lock.wait_ns), COUNT(PROGRAM_WRITE_TIME, write_ns),
    COUNT(PROGRAM_INFLIGHT, lock.inflight_most), MOMENT(PROGRAM_OPENED, opened_ns), MOMENT(PROGRAM_READY, ready_ns),
    MOMENT(PROGRAM_WRITTEN, written_ns), MOMENT(PROGRAM_CLOSED, closed_ns), MOMENT(PROGRAM_HELD_UP, held_up_ns)
#undef COUNT
#undef MOMENT
};

/* The others: what was there counts 1, in a metric of its own. */
struct kind {
    int value;
    enum program_metric metric;
};
static const struct kind components[] = { { MPIIO_OMPIO, PROGRAM_OMPIO }, { MPIIO_ROMIO, PROGRAM_ROMIO } };
static const struct kind windows[] = {
    { MPIIO_WINDOWS_SHARED, PROGRAM_WINDOWS_SHARED }, { MPIIO_WINDOWS_MESSAGES, PROGRAM_WINDOWS_MESSAGES }
};
static const struct kind onesided[] = {
    { MPIIO_ONESIDED_SM, PROGRAM_ONESIDED_SM }, { MPIIO_ONESIDED_PT2PT, PROGRAM_ONESIDED_PT2PT },
    { MPIIO_ONESIDED_RDMA, PROGRAM_ONESIDED_RDMA }, { MPIIO_ONESIDED_UCX, PROGRAM_ONESIDED_UCX },
    { MPIIO_ONESIDED_UNKNOWN, PROGRAM_ONESIDED_UNKNOWN }
};

static void put_kind(int64_t *values, const struct kind *kinds, unsigned count, int value)
{
    for (unsigned i = 0; i < count; i++)
        values[kinds[i].metric] = kinds[i].value == value;
}

void file_live_put(struct bytes *out, const struct mpiio_figures *x)
{
    int64_t values[PROGRAM_METRICS] = { 0 };

    for (unsigned i = 0; i < G_N_ELEMENTS(integers); i++)
        memcpy(&values[integers[i].metric], (const char *)x + integers[i].offset, sizeof values[0]);
    put_kind(values, components, G_N_ELEMENTS(components), x->component);
    put_kind(values, windows, G_N_ELEMENTS(windows), x->windows);
    put_kind(values, onesided, G_N_ELEMENTS(onesided), x->onesided);
    for (unsigned i = 0; i < PROGRAM_METRICS; i++)
        bytes_put_i64(out, values[i]);
}

static int64_t collected(const struct collector *figures, const char *role, const struct metric *metric, bool moment)
{
    if (metric->type != METRIC_SAMPLE)
        return (int64_t)collector_named_total(figures, role, metric->name);
    const struct statistic *s = collector_named_statistic(figures, role, metric->name);
    return s->count != 0 ? s->largest : moment ? -1 : 0;
}

static int collect_kind(const struct collector *figures, const char *role, const struct kind *kinds, unsigned count,
                        int none)
{
    for (unsigned i = 0; i < count; i++)
        if (collector_named_total(figures, role, role_file_program.metrics[kinds[i].metric].name) != 0)
            return kinds[i].value;
    return none;
}

void file_live_collect(const struct collector *figures, const char *role, struct mpiio_figures *x)
{
    *x = (struct mpiio_figures){
        .component = (enum mpiio_component)collect_kind(figures, role, components, G_N_ELEMENTS(components),
                                                        MPIIO_UNKNOWN),
        .windows = (enum mpiio_windows)collect_kind(figures, role, windows, G_N_ELEMENTS(windows), MPIIO_WINDOWS_AUTO),
        .onesided = (enum mpiio_onesided)collect_kind(figures, role, onesided, G_N_ELEMENTS(onesided),
                                                      MPIIO_ONESIDED_NONE)
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(integers); i++) {
        int64_t value = collected(figures, role, &role_file_program.metrics[integers[i].metric], integers[i].moment);
        memcpy((char *)x + integers[i].offset, &value, sizeof value);
    }
}

/* --- to the summary --- */

struct summary_file file_live_file(const struct mpiio_figures *x, bool locked, const struct file_live_span *span)
{
    double writes = (double)x->writes;
    double bandwidth = statistic_ratio((double)x->bytes, span->ended_s);

    return (struct summary_file){
        .bytes = x->bytes, .writes = x->writes, .extending_writes = x->lock.extending,
        .exclusive_locks = x->lock.exclusive, .shared_locks = x->lock.shared, .lone_writes = x->lock.lone,
        .inflight_max = x->lock.inflight_most, .steals = x->lock.retakes,
        .lock_wait_s = locked ? statistic_ratio(file_seconds(x->lock.wait_ns), writes) : NAN,
        .prepared_s = span->prepared_s, .ended_s = span->ended_s,
        .bandwidth_bytes_per_s = bandwidth, .mib_per_s = bandwidth / FILE_MIB,
        .writes_per_s = statistic_ratio(writes, span->writing_s),
        .extending_share = locked ? statistic_ratio((double)x->lock.extending, writes) : NAN,
        .exclusive_share = locked ? statistic_ratio((double)x->lock.exclusive, writes) : NAN, .gain = NAN
    };
}

struct summary_live_file file_live_times(const struct mpiio_figures *x)
{
    return (struct summary_live_file){
        .verified_bytes = x->verified, .contested = x->lock.contested, .retakes = x->lock.retakes,
        .retake_share = statistic_ratio((double)x->lock.retakes, (double)x->lock.contested),
        .open_s = file_seconds(x->opened_ns), .write_s = file_seconds(x->written_ns) - file_seconds(x->ready_ns),
        .close_s = file_seconds(x->closed_ns) - file_seconds(x->written_ns),
        .mean_write_s = statistic_ratio(file_seconds(x->write_ns), (double)x->writes),
        .held_up_s = file_seconds(x->held_up_ns)
    };
}

/* One word for what two have said; the words for nothing are alike. */
static const char *join(const char *a, const char *b)
{
    static const char nothing[] = "none";

    if (strcmp(a, nothing) == 0)
        return b;
    return strcmp(b, nothing) == 0 || strcmp(a, b) == 0 ? a : "both";
}

void file_live_tell(struct summary *summary, const struct mpiio_figures *files, unsigned count)
{
    static const char *const component_words[] = { "none", "ompio", "romio" };
    static const char *const window_words[] = { "none", "shared", "messages" };
    static const char *const onesided_words[] = { "none", "sm", "pt2pt", "rdma", "ucx", "unknown" };
    const char *component = "none", *window = "none", *component_of_windows = "none";

    for (unsigned i = 0; i < count; i++) {
        component = join(component, component_words[files[i].component]);
        window = join(window, window_words[files[i].windows]);
        component_of_windows = join(component_of_windows, onesided_words[files[i].onesided]);
    }
    summary_text(summary, "live", "io", component);
    summary_text(summary, "live", "windows", window);
    summary_text(summary, "live", "onesided", component_of_windows);
}
