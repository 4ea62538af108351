/* SPDX-License-Identifier: BSD-3-Clause */
#include "calibrate_labels.h"

#include <math.h>
#include <string.h>

#include "ranks/instance.h"
#include "ranks/task_service.h"

/*
 * A label, from its lowest bit: bytes, entries, and a number of 12 bits. The broker pays for an event in sums: what it
 * took so far, several matches, one sending. So its costs have digits of their own in the number, above a plain one:
 * five bits count matches, one tells the event's beginning.
 */
enum {
    LABELS_MAX = 64,
    PLAIN = LABELS_MAX - 1,
    MATCH_NUMBER = LABELS_MAX,
    EVENT_NUMBER = 2048,
    NUMBER_BIT = 50,
    ENTRY_BIT = 26,
    INTERRUPTED_NS = 1000000            /* no handling takes so long: something else had the core */
};

/* Sums over the spans of one label; bytes and entries are the fit's x and y. */
enum sum { SUM_N, SUM_T, SUM_TT, SUM_X, SUM_Y, SUM_XX, SUM_XY, SUM_YY, SUM_XT, SUM_YT, SUMS };

struct label {
    char *key;
    bool of_entries;                    /* the part per entry, where it is charged by itself */
};

/* What a span of an event at a broker may hold, and is explained by. */
enum part { PART_EVENT, PART_BYTE, PART_MATCH, PART_SCANNED, PART_SENDING, PARTS };

struct labels {
    struct label label[LABELS_MAX];     /* number 0 is none */
    unsigned count;
    unsigned sending;                   /* number of broker-event's part per entry; 0: none */
    double sum[LABELS_MAX][SUMS];
    double product[PARTS][PARTS];       /* of the parts of events, over their spans */
    double part_time[PARTS];
    double sums_of_parts[PARTS];
    double events[SUMS];                /* N and T of those spans */
    double part_ns[PARTS];              /* what comes of it */
    uint64_t interrupted;
};

static const char *const part_keys[2] = { "broker-event", "broker-match" };

/* Not charged: the live clock waits for them, or they are added to others. */
static const char *const kept[] = {
    "ingest-validate", "ingest-validator", "executor-launch", "executor-task", "dispatcher-notice", "lb-client-copy",
    "heap-pause", NULL
};

/* Charged without its fixed part, once an entry, and never with both. */
static const char *const by_entry[] = { "broker-event", "job-manager-request", NULL };

struct labels *labels_new(void)
{
    struct labels *labels = g_new0(struct labels, 1);
    labels->count = 1;
    return labels;
}

void labels_free(struct labels *labels)
{
    for (unsigned i = 0; i < labels->count; i++)
        g_free(labels->label[i].key);
    g_free(labels);
}

static const struct cost_name *names_of(const struct deck *deck)
{
    return strcmp(deck_text(deck, "system", "kind"), "brokered") == 0 ? instance_cost_names : task_service_cost_names;
}

static int64_t add_label(struct labels *labels, const char *key, bool of_entries)
{
    g_assert(labels->count < LABELS_MAX);
    labels->label[labels->count] = (struct label){ g_strdup(key), of_entries };
    return (int64_t)labels->count++ << NUMBER_BIT;
}

char **labels_settings(struct labels *labels, const struct deck *deck)
{
    GPtrArray *settings = g_ptr_array_new();

    for (const struct cost_name *name = names_of(deck); name->key != NULL; name++) {
        if (g_strv_contains(kept, name->key))
            continue;
        bool is_event = strcmp(name->key, part_keys[0]) == 0, is_match = strcmp(name->key, part_keys[1]) == 0;
        int64_t fixed = is_event   ? (int64_t)EVENT_NUMBER << NUMBER_BIT
                        : is_match ? (int64_t)MATCH_NUMBER << NUMBER_BIT
                                   : add_label(labels, name->key, false);
        if (is_event)
            labels->sending = labels->count;
        int64_t entry = g_strv_contains(by_entry, name->key) ? add_label(labels, name->key, true)
                                                            : INT64_C(1) << ENTRY_BIT;
        g_ptr_array_add(settings, g_strdup_printf("costs.%s=%" G_GINT64_FORMAT "ns + 1ns/B + %" G_GINT64_FORMAT
                                                  "ns/queued", name->key, fixed, entry));
    }
    if (deck_has(deck, "costs", "jitter"))
        g_ptr_array_add(settings, g_strdup("costs.jitter=0%"));
    g_ptr_array_add(settings, NULL);
    return (char **)g_ptr_array_free(settings, FALSE);
}

static void add_event(struct labels *labels, const double parts[PARTS], double t)
{
    for (unsigned i = 0; i < PARTS; i++) {
        for (unsigned j = 0; j < PARTS; j++)
            labels->product[i][j] += parts[i] * parts[j];
        labels->part_time[i] += parts[i] * t;
        labels->sums_of_parts[i] += parts[i];
    }
    labels->events[SUM_N] += parts[PART_EVENT];
    labels->events[SUM_T] += t;
}

void labels_add(struct labels *labels, int64_t label_ns, int64_t took_ns)
{
    uint64_t number = (uint64_t)label_ns >> NUMBER_BIT;
    double t = (double)took_ns;
    double x = (double)((uint64_t)label_ns & ((UINT64_C(1) << ENTRY_BIT) - 1));
    double y = (double)((uint64_t)label_ns >> ENTRY_BIT & ((UINT64_C(1) << (NUMBER_BIT - ENTRY_BIT)) - 1));

    if (took_ns > INTERRUPTED_NS) {
        labels->interrupted++;
        return;
    }
    if (labels->sending != 0 && (number > PLAIN || number == labels->sending)) {
        const double parts[PARTS] = { number >= EVENT_NUMBER, x, (double)(number % EVENT_NUMBER / MATCH_NUMBER), y,
                                      (number & PLAIN) == labels->sending };
        add_event(labels, parts, t);
        return;
    }
    if (number >= labels->count)
        number = 0;
    double *sum = labels->sum[number];
    sum[SUM_N] += 1;
    sum[SUM_T] += t;
    sum[SUM_TT] += t * t;
    sum[SUM_X] += x;
    sum[SUM_Y] += y;
    sum[SUM_XX] += x * x;
    sum[SUM_XY] += x * y;
    sum[SUM_YY] += y * y;
    sum[SUM_XT] += x * t;
    sum[SUM_YT] += y * t;
}

/* Solves product x = time for the parts that are in use; those that the others already explain get nothing. */
static void solve_events(const struct labels *labels, const bool used[PARTS], double x[PARTS])
{
    double a[PARTS][PARTS + 1];

    for (unsigned i = 0; i < PARTS; i++) {
        for (unsigned j = 0; j < PARTS; j++)
            a[i][j] = used[i] && used[j] ? labels->product[i][j] : 0;
        a[i][PARTS] = used[i] ? labels->part_time[i] : 0;
    }
    for (unsigned i = 0; i < PARTS; i++) {
        bool pivot = used[i] && a[i][i] > 1e-9 * labels->product[i][i];
        for (unsigned j = 0; j <= PARTS; j++)
            a[i][j] = pivot ? a[i][j] : 0;
        for (unsigned k = 0; pivot && k < PARTS; k++) {
            double factor = k == i ? 0 : a[k][i] / a[i][i];
            for (unsigned j = i; j <= PARTS; j++)
                a[k][j] -= factor * a[i][j];
        }
    }
    for (unsigned i = 0; i < PARTS; i++)
        x[i] = a[i][i] != 0 ? a[i][PARTS] / a[i][i] : 0;
}

/* By least squares, without parts that would come out negative; then all scaled so that the whole time is kept. */
static void fit_events(struct labels *labels)
{
    bool used[PARTS], again = true;
    double *x = labels->part_ns, explained = 0;

    for (unsigned i = 0; i < PARTS; i++)
        used[i] = labels->product[i][i] > 0;
    while (again) {
        again = false;
        solve_events(labels, used, x);
        for (unsigned i = 0; i < PARTS; i++)
            if (x[i] < 0) {
                used[i] = false;
                again = true;
            }
    }
    for (unsigned i = 0; i < PARTS; i++)
        explained += x[i] * labels->sums_of_parts[i];
    for (unsigned i = 0; i < PARTS && explained > 0; i++)
        x[i] *= labels->events[SUM_T] / explained;
}

void labels_gather(struct labels *labels, MPI_Comm comm)
{
    MPI_Allreduce(MPI_IN_PLACE, labels->sum, LABELS_MAX * SUMS, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, labels->product, PARTS * PARTS, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, labels->part_time, PARTS, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, labels->sums_of_parts, PARTS, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, labels->events, SUMS, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, &labels->interrupted, 1, MPI_UINT64_T, MPI_SUM, comm);
    fit_events(labels);
}

/* --- the fit --- */

struct fitted {
    double fixed_ns;
    double per_byte_ns;
    double per_entry_ns;
};

/* Variances and covariances that are nothing but rounding. */
static bool varies(double variance, double square)
{
    return variance > 1e-9 * square;
}

/* One slope, or none when it would be negative or make the fixed part negative. */
static struct fitted fit_one(const double *sum, bool by_bytes)
{
    double n = sum[SUM_N];
    double mean_t = sum[SUM_T] / n;
    double mean = sum[by_bytes ? SUM_X : SUM_Y] / n;
    double square = sum[by_bytes ? SUM_XX : SUM_YY] / n;
    double product = sum[by_bytes ? SUM_XT : SUM_YT] / n;
    double variance = square - mean * mean;
    double slope = varies(variance, square) ? (product - mean * mean_t) / variance : 0;

    slope = CLAMP(slope, 0, mean > 0 ? mean_t / mean : 0);
    struct fitted f = { .fixed_ns = mean_t - slope * mean };
    *(by_bytes ? &f.per_byte_ns : &f.per_entry_ns) = slope;
    return f;
}

/* What one slope leaves unexplained, as a mean square. */
static double residual(const double *sum, const struct fitted *f)
{
    double a = f->fixed_ns, b = f->per_byte_ns, c = f->per_entry_ns, n = sum[SUM_N];

    return (sum[SUM_TT] + a * a * n + b * b * sum[SUM_XX] + c * c * sum[SUM_YY] +
            2 * (a * b * sum[SUM_X] + a * c * sum[SUM_Y] + b * c * sum[SUM_XY] - a * sum[SUM_T] - b * sum[SUM_XT] -
                 c * sum[SUM_YT])) / n;
}

/* The plane, where both slopes are of use and nothing comes out negative; else the better of the two lines. All pass
 * through the means, so that the whole time is kept. */
static struct fitted fit(const double *sum)
{
    double n = sum[SUM_N], mx = sum[SUM_X] / n, my = sum[SUM_Y] / n, mt = sum[SUM_T] / n;
    double vx = sum[SUM_XX] / n - mx * mx, vy = sum[SUM_YY] / n - my * my, vxy = sum[SUM_XY] / n - mx * my;
    double cx = sum[SUM_XT] / n - mx * mt, cy = sum[SUM_YT] / n - my * mt;
    double determinant = vx * vy - vxy * vxy;
    struct fitted bytes = fit_one(sum, true), entries = fit_one(sum, false);

    if (varies(vx, sum[SUM_XX] / n) && varies(vy, sum[SUM_YY] / n) && determinant > 1e-6 * vx * vy) {
        struct fitted both = { .per_byte_ns = (cx * vy - cy * vxy) / determinant,
                               .per_entry_ns = (cy * vx - cx * vxy) / determinant };
        both.fixed_ns = mt - both.per_byte_ns * mx - both.per_entry_ns * my;
        if (both.fixed_ns >= 0 && both.per_byte_ns >= 0 && both.per_entry_ns >= 0)
            return both;
    }
    return residual(sum, &bytes) < residual(sum, &entries) ? bytes : entries;
}

/* --- the profile --- */

static const double *sums_of(const struct labels *labels, const char *key, bool of_entries)
{
    for (unsigned i = 1; i < labels->count; i++)
        if (labels->label[i].of_entries == of_entries && strcmp(labels->label[i].key, key) == 0)
            return labels->sum[i];
    return NULL;
}

static void write_cost(GString *text, const char *key, const struct fitted *f)
{
    g_string_append_printf(text, "%s = %.0fns", key, fabs(f->fixed_ns));   /* no -0 */
    if (f->per_byte_ns * 1000 >= 0.5)
        g_string_append_printf(text, " + %.0fps/B", f->per_byte_ns * 1000);
    if (f->per_entry_ns >= 0.5)
        g_string_append_printf(text, " + %.0fns/queued", f->per_entry_ns);
    g_string_append(text, "\n");
}

/* FALSE when the key is none of an event's. */
static bool write_event(const struct labels *labels, GString *text, const struct cost_name *name)
{
    const double *ns = labels->part_ns, *count = labels->sums_of_parts;

    if (strcmp(name->key, part_keys[0]) == 0) {
        g_string_append_printf(text, "# %s\n# %.0f events, %.0f sendings; with their matches %.0f ns an event\n",
                               name->text, count[PART_EVENT], count[PART_SENDING], labels_mean_ns(labels, name->key));
        write_cost(text, name->key, &(struct fitted){ ns[PART_EVENT], ns[PART_BYTE], ns[PART_SENDING] });
        return true;
    }
    if (strcmp(name->key, part_keys[1]) == 0) {
        g_string_append_printf(text, "# %s\n# %.0f matches\n", name->text, count[PART_MATCH]);
        write_cost(text, name->key, &(struct fitted){ ns[PART_MATCH], 0, ns[PART_SCANNED] });
        return true;
    }
    return false;
}

static void write_measured(const struct labels *labels, GString *text, const struct cost_name *name)
{
    if (write_event(labels, text, name))
        return;
    const double *sum = sums_of(labels, name->key, false);
    const double *entries = sums_of(labels, name->key, true);
    double n = sum[SUM_N], mean = n > 0 ? sum[SUM_T] / n : 0;
    struct fitted f = { 0, 0, 0 };

    g_string_append_printf(text, "# %s\n", name->text);
    if (n > 0) {
        f = fit(sum);
        g_string_append_printf(text, "# %.0f spans, mean %.0f ns, standard deviation %.0f ns\n", n, mean,
                               sqrt(MAX(sum[SUM_TT] / n - mean * mean, 0)));
    }
    if (entries != NULL && entries[SUM_N] > 0) {
        f.per_entry_ns = entries[SUM_T] / entries[SUM_N];
        g_string_append_printf(text, "# %.0f entries, mean %.0f ns\n", entries[SUM_N], f.per_entry_ns);
    }
    if (n == 0 && f.per_entry_ns == 0)
        g_string_append(text, "# did not occur\n");
    write_cost(text, name->key, &f);
}

void labels_write(const struct labels *labels, const struct deck *deck, GString *text)
{
    for (const struct cost_name *name = names_of(deck); name->key != NULL; name++)
        if (!g_strv_contains(kept, name->key))
            write_measured(labels, text, name);
    g_string_append(text, "\n# Not measured: lengths of acts and paces, as the deck states them.\n");
    for (const struct cost_name *name = names_of(deck); name->key != NULL; name++) {
        if (!g_strv_contains(kept, name->key))
            continue;
        struct cost cost = deck_cost(deck, "costs", name->key);
        struct fitted f = { (double)cost.fixed_ns, (double)cost.per_byte_ps / 1000, (double)cost.per_entry_ns };
        write_cost(text, name->key, &f);
    }
}

uint64_t labels_count(const struct labels *labels, const char *key)
{
    const double *sum = sums_of(labels, key, false);
    return sum == NULL ? 0 : (uint64_t)sum[SUM_N];
}

double labels_mean_ns(const struct labels *labels, const char *key)
{
    if (strcmp(key, part_keys[0]) == 0)
        return labels->events[SUM_N] > 0 ? labels->events[SUM_T] / labels->events[SUM_N] : 0;
    const double *sum = sums_of(labels, key, false);
    return sum == NULL || sum[SUM_N] == 0 ? 0 : sum[SUM_T] / sum[SUM_N];
}

uint64_t labels_interrupted(const struct labels *labels)
{
    return labels->interrupted;
}
