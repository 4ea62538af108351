/* SPDX-License-Identifier: BSD-3-Clause */
#include "compare.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "printed.h"
#include "student.h"
#include "trial.h"

#define CONFIDENCE 0.95

enum { A, B, SIDES };
enum { SEEDS_DEFAULT = 10, SEEDS_MIN = 2 };       /* of one seed no spread can be told */

struct comparison {
    struct trial_request request[SIDES];
    uint64_t first_seed;
    unsigned seeds;
    char **paths;                   /* of the results compared, ended by NULL */
    unsigned path_count;
    double *values;                 /* by side, path and seed */
};

/* What people want to see first, where a deck has it. */
static const char *const main_paths[] = {
    "jobs.run_rate", "jobs.first_done_s", "jobs.makespan_s", "jobs.submit_rate", "jobs.follow_rate", "kvs.create_rate",
    "kvs.remove_rate", "subscribe.blocked_s", "io.bandwidth_bytes_per_s", "queueing.throughput_per_s",
    "queueing.mean_sojourn_s"
};

/* --- the runs --- */

static double *values_of(const struct comparison *c, unsigned side, unsigned path)
{
    return &c->values[((size_t)side * c->path_count + path) * c->seeds];
}

static void add_path(void *data, const char *group, const char *key, const char *text, double number)
{
    GPtrArray *paths = data;

    (void)number;
    /* How a run was played is no result. */
    if (text == NULL && strcmp(group, "run") != 0)
        g_ptr_array_add(paths, g_strdup_printf("%s.%s", group, key));
}

/* The results of the first pair: what one side does not have is not compared. */
static char *list_paths(struct summary *const pair[SIDES])
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
    const char *stage;
    GString *list = g_string_new(NULL);

    summary_each(pair[A], add_path, all);
    for (unsigned i = 0; (stage = summary_stage_name(pair[A], i)) != NULL; i++)
        g_ptr_array_add(all, g_strdup_printf("stages.%s.mean_s", stage));
    for (unsigned i = 0; i < all->len; i++) {
        double value;
        if (summary_lookup(pair[B], all->pdata[i], &value, NULL))
            g_string_append_printf(list, "%s%s", list->len == 0 ? "" : "\n", (const char *)all->pdata[i]);
    }
    return g_string_free(list, FALSE);
}

/* Plays this process's pairs into `summaries`, two a seed. */
static gboolean play(const struct comparison *c, struct share *share, const struct options *options,
                     struct summary **summaries, GError **error)
{
    struct trial_round round;
    GError *local = NULL;
    unsigned i;

    trial_begin(&round, share, c->seeds, "compare", options->verbosity < 0 ? 0 : options->progress_s);
    while (local == NULL && trial_next(&round, &i))
        for (unsigned side = A; side < SIDES && local == NULL; side++) {
            struct trial_request request = c->request[side];
            request.seeded = true;
            request.seed = c->first_seed + i;
            summaries[SIDES * i + side] = trial_run(&request, &local);
        }
    return trial_end(&round, local, NULL, 0, error);
}

/* All values to all processes; those that a run does not have become NAN. */
static void collect(struct comparison *c, struct share *share, struct summary *const *summaries)
{
    size_t count = (size_t)SIDES * c->path_count * c->seeds;

    c->values = g_new0(double, count);
    for (unsigned i = 0; i < c->seeds; i++)
        for (unsigned side = A; side < SIDES && summaries[SIDES * i + side] != NULL; side++)
            for (unsigned p = 0; p < c->path_count; p++)
                summary_lookup(summaries[SIDES * i + side], c->paths[p], &values_of(c, side, p)[i], NULL);
    g_assert(count < INT_MAX);
    MPI_Allreduce(MPI_IN_PLACE, c->values, (int)count, MPI_DOUBLE, MPI_SUM, share->comm);
}

/* --- what they say --- */

struct row {
    double mean[SIDES];
    struct student_estimate difference;
    double strict_half_width;       /* of the interval by which a change is told */
};

static bool has_changed(const struct row *row)
{
    return fabs(row->difference.mean) > row->strict_half_width;
}

static void compute(const struct comparison *c, unsigned path, struct row *row)
{
    g_autofree double *differences = g_new(double, c->seeds);
    double strict = 1 - (1 - CONFIDENCE) / MAX(c->path_count, 1);

    for (unsigned i = 0; i < c->seeds; i++)
        differences[i] = values_of(c, B, path)[i] - values_of(c, A, path)[i];
    for (unsigned side = A; side < SIDES; side++)
        row->mean[side] = student_estimate(values_of(c, side, path), c->seeds, CONFIDENCE).mean;
    row->difference = student_estimate(differences, c->seeds, CONFIDENCE);
    row->strict_half_width = student_estimate(differences, c->seeds, strict).half_width;
}

static enum report_unit unit_of(const char *path)
{
    static const struct {
        const char *name;
        enum report_unit unit;
    } units[] = {
        { "s", REPORT_SECONDS }, { "1/s", REPORT_RATE }, { "MiB/s", REPORT_RATE }, { "B/s", REPORT_BYTE_RATE },
        { "B", REPORT_BYTES }
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(units); i++)
        if (strcmp(units[i].name, summary_key_unit(path)) == 0)
            return units[i].unit;
    return REPORT_NUMBER;
}

static const struct report_column columns[] = {
    { "key", "", REPORT_TEXT },
    { "a", "A", REPORT_NUMBER },
    { "b", "B", REPORT_NUMBER },
    { "difference", "B - A", REPORT_NUMBER },
    { "half_width", "+-", REPORT_NUMBER },
    { "percent", "%", REPORT_NUMBER },
    { "percent_half_width", "+- %", REPORT_NUMBER },
    { "changed", "changed", REPORT_TEXT }
};

static void add_row(struct section *s, const struct comparison *c, unsigned path, const struct row *row)
{
    enum report_unit unit = unit_of(c->paths[path]);
    double per_percent = row->mean[A] == 0 ? NAN : 100 / fabs(row->mean[A]);

    section_text(s, c->paths[path]);
    section_quantity(s, row->mean[A], unit);
    section_quantity(s, row->mean[B], unit);
    section_quantity(s, row->difference.mean, unit);
    section_quantity(s, row->difference.half_width, unit);
    section_number(s, row->difference.mean * per_percent);
    section_number(s, row->difference.half_width * per_percent);
    section_text(s, has_changed(row) ? "yes" : "no");
}

static bool is_main(const char *path)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(main_paths); i++)
        if (strcmp(path, main_paths[i]) == 0)
            return true;
    return false;
}

static bool is_stage(const char *path)
{
    return g_str_has_prefix(path, "stages.");
}

/* No seed differs from another in anything. */
static bool is_still(const struct comparison *c)
{
    for (unsigned side = A; side < SIDES; side++)
        for (unsigned p = 0; p < c->path_count; p++)
            for (unsigned i = 1; i < c->seeds; i++)
                if (values_of(c, side, p)[i] != values_of(c, side, p)[0] && isfinite(values_of(c, side, p)[0]))
                    return false;
    return true;
}

static void add_main(struct document *d, const struct comparison *c, const struct row *rows)
{
    struct section *s = document_section(d, "results", "Results", columns, G_N_ELEMENTS(columns));

    for (unsigned m = 0; m < G_N_ELEMENTS(main_paths); m++)
        for (unsigned p = 0; p < c->path_count; p++)
            if (strcmp(c->paths[p], main_paths[m]) == 0 && isfinite(rows[p].difference.mean))
                add_row(s, c, p, &rows[p]);
    section_note(s, "means of %u runs each, seeds %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT "; differences of pairs "
                 "with the same seed, +- is %g %% confidence, %% is of A", c->seeds, c->first_seed,
                 c->first_seed + c->seeds - 1, CONFIDENCE * 100);
    if (is_still(c))
        section_note(s, "all seeds give the same run: nothing in these decks is drawn (costs.jitter, durations), and "
                     "the intervals say nothing about a real system");
}

/* How many results and stages the text leaves out, as they did not change. */
static unsigned count_unchanged(const struct comparison *c, const struct row *rows)
{
    unsigned count = 0;

    for (unsigned p = 0; p < c->path_count; p++)
        count += !is_main(c->paths[p]) && isfinite(rows[p].difference.mean) && !has_changed(&rows[p]);
    return count;
}

/* Of the stages, or of the other results; those that changed, or all. */
static void add_others(struct document *d, const struct comparison *c, const struct row *rows, bool stages, bool all)
{
    static const char *const names[2][2] = { { "others_changed", "Other results that changed" },
                                             { "stages_changed", "Stages that changed" } };
    static const char *const all_names[2][2] = { { "others", "All other results" }, { "stages", "All stages" } };
    const char *const *name = all ? all_names[stages] : names[stages];
    struct section *s = document_section(d, name[0], name[1], columns, G_N_ELEMENTS(columns));

    for (unsigned p = 0; p < c->path_count; p++)
        if (is_stage(c->paths[p]) == stages && !is_main(c->paths[p]) && isfinite(rows[p].difference.mean) &&
            (all || has_changed(&rows[p])))
            add_row(s, c, p, &rows[p]);
    if (section_rows(s) == 0)
        section_note(s, "none");
    else if (!all && stages)
        section_note(s, "changed: 0 is outside the interval even when that is widened for the %u results looked at",
                     c->path_count);
    unsigned unchanged = count_unchanged(c, rows);
    if (!all && stages && unchanged != 0)
        section_note(s, "%u other results and stages did not change (--format tsv lists them)", unchanged);
}

static void print(const struct comparison *c, enum printed_form form)
{
    g_autofree struct row *rows = g_new0(struct row, MAX(c->path_count, 1));
    g_autofree char *title = g_strdup_printf("tiercel compare: A = %s, B = %s", c->request[A].deck, c->request[B].deck);
    struct document *d = document_new(title);

    for (unsigned p = 0; p < c->path_count; p++)
        compute(c, p, &rows[p]);
    add_main(d, c, rows);
    for (unsigned stages = 0; stages < 2; stages++) {
        add_others(d, c, rows, stages, false);
        if (form != PRINTED_TEXT)
            add_others(d, c, rows, stages, true);
    }
    printed_write(d, form, stdout);
    document_free(d);
}

/* --- the command --- */

static gboolean run(struct comparison *c, const struct options *options, struct share *share, GError **error)
{
    struct summary **summaries = g_new0(struct summary *, (size_t)SIDES * c->seeds);
    gboolean good = play(c, share, options, summaries, error);

    if (good) {
        /* The first pair is always process 0's. */
        g_autofree char *mine = share->process == 0 ? list_paths(summaries) : NULL;
        g_autofree char *list = share_text(share, mine);
        c->paths = g_strsplit(list, "\n", 0);
        c->path_count = g_strv_length(c->paths);
        collect(c, share, summaries);
    }
    for (unsigned i = 0; i < SIDES * c->seeds; i++)
        summary_free(summaries[i]);
    g_free(summaries);
    return good;
}

int compare_decks(const struct options *options, struct share *share)
{
    struct comparison c = { .seeds = options->seeds == 0 ? SEEDS_DEFAULT : (unsigned)options->seeds };
    g_autoptr(GError) error = NULL;
    enum printed_form form;
    int status = TIERCEL_OK;
    GArray *both = g_array_new(FALSE, FALSE, sizeof(struct deck_setting));

    g_array_append_vals(both, options->settings->data, options->settings->len);
    g_array_append_vals(both, options->settings_b->data, options->settings_b->len);
    for (unsigned side = A; side < SIDES; side++)
        c.request[side] = (struct trial_request){
            .deck = options->words[side],
            .settings = (const struct deck_setting *)both->data,
            .setting_count = side == A ? options->settings->len : both->len,
            .test = options->test
        };
    if (c.seeds < SEEDS_MIN)
        g_set_error(&error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "--seeds: 1 is too few; expected 2 or more, of which a "
                    "spread can be told");
    if (error != NULL || !printed_form(options->format, &form, &error)) {
        status = error->code;
    } else if (trial_check(&c.request[A], share, &status) && trial_check(&c.request[B], share, &status)) {
        struct deck *deck = trial_deck(&c.request[A], share);
        c.first_seed = (uint64_t)deck_integer(deck, "run", "seed");
        deck_free(deck);
        if (!run(&c, options, share, &error))
            status = error->code;
        else if (share->process == 0)
            print(&c, form);
    }
    if (error != NULL && share->process == 0)
        fprintf(stderr, "tiercel: %s\n", error->message);
    g_strfreev(c.paths);
    g_free(c.values);
    g_array_free(both, TRUE);
    return status;
}
