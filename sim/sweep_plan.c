/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "sweep_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/folder.h"
#include "check.h"
#include "installed.h"
#include "scenario.h"

/* --- reading --- */

static GBytes *read_once(void *data, const char *path, GError **error)
{
    struct sweep_plan *plan = data;
    GBytes *bytes = g_hash_table_lookup(plan->files, path);

    if (bytes == NULL) {
        bytes = plan->share != NULL ? share_read(plan->share, path, error) : deck_file_read(NULL, path, error);
        if (bytes == NULL)
            return NULL;
        g_hash_table_insert(plan->files, g_strdup(path), bytes);
    }
    return g_bytes_ref(bytes);
}

static void free_bytes(gpointer bytes)
{
    g_bytes_unref(bytes);
}

static bool sets(const struct deck_setting *setting, const char *key)
{
    const char *equals = strchr(setting->assignment, '=');
    size_t length = equals == NULL ? strlen(setting->assignment) : (size_t)(equals - setting->assignment);
    g_autofree char *name = g_strstrip(g_strndup(setting->assignment, length));

    return strcmp(name, key) == 0;
}

/* What of the command line does not go with this sweep. */
static char *find_conflict(const struct sweep_plan *plan)
{
    const struct options *options = plan->options;
    unsigned points = deck_sweep_points(plan->deck);
    const struct deck_axis *axis;

    if (points == 0)
        return g_strdup_printf("%s has no [sweep]; expected one, such as cluster.nodes = 1; 2; 4, or `tiercel run`",
                               deck_path(plan->deck));
    if (options->point > points)
        return g_strdup_printf("--point: there is no point %" G_GINT64_FORMAT "; expected one in 1..%u", options->point,
                               points);
    for (unsigned a = 0; (axis = deck_axis(plan->deck, a)) != NULL; a++)
        for (unsigned i = 0; i < options->settings->len; i++) {
            const struct deck_setting *setting = &g_array_index(options->settings, struct deck_setting, i);
            if (sets(setting, axis->key))
                return g_strdup_printf("%s: [sweep] has values for this key; expected one of the two", setting->where);
        }
    return NULL;
}

/* The deck with each cost profile that is swept: reads these, and appends the costs that hold to `text` unless NULL. */
static void each_profile(struct sweep_plan *plan, GString *text)
{
    struct deck_request request = options_deck_request(plan->options, plan->reader);
    const struct deck_axis *axis;

    for (unsigned a = 0; (axis = deck_axis(plan->deck, a)) != NULL; a++)
        for (unsigned i = 0; strcmp(axis->key, "costs.profile") == 0 && i < deck_axis_values(plan->deck, a); i++) {
            g_autoptr(GArray) settings = deck_settings_new();
            deck_settings_copy(settings, plan->options->settings);
            deck_settings_add(settings, g_strdup("[sweep]"),
                              g_strdup_printf("%s=%s", axis->key, deck_axis_value(plan->deck, a, i)));
            request.settings = (const struct deck_setting *)settings->data;
            request.setting_count = settings->len;
            struct deck *deck = deck_load(&request);
            g_autofree char *effective = deck_effective(deck);
            if (text != NULL)
                g_string_append(text, effective);
            deck_free(deck);
        }
}

gboolean sweep_plan_init(struct sweep_plan *plan, const struct options *options, struct share *share, int *status)
{
    *plan = (struct sweep_plan){ .options = options, .share = share };
    plan->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_bytes);
    plan->reader = (struct deck_reader){ read_once, plan };
    struct deck_request request = options_deck_request(options, plan->reader);
    plan->deck = deck_load(&request);
    each_profile(plan, NULL);
    plan->share = NULL;
    unsigned count = deck_problem_count(plan->deck);
    g_autofree char *conflict = count > 0 ? NULL : find_conflict(plan);
    if (count == 0 && conflict == NULL)
        return TRUE;
    if (share->process == 0) {
        deck_print_problems(plan->deck, "nothing was run", stderr);
        if (conflict != NULL)
            fprintf(stderr, "tiercel: %s\n", conflict);
    }
    *status = TIERCEL_ERROR_INPUT;
    sweep_plan_release(plan);
    return FALSE;
}

struct deck *sweep_plan_deck(struct sweep_plan *plan, unsigned point, struct share *share)
{
    struct trial_request request;
    g_autoptr(GArray) settings = sweep_plan_request(plan, point, &request);
    struct deck_request deck_request = {
        .path = request.deck,
        .installed_dir = installed_inputs(),
        .settings = request.settings,
        .setting_count = request.setting_count,
        .test = request.test,
        .reader = plan->reader
    };
    plan->share = share;
    struct deck *deck = deck_load(&deck_request);
    plan->share = NULL;
    deck_drop_sweep(deck);
    return deck;
}

void sweep_plan_release(struct sweep_plan *plan)
{
    deck_free(plan->deck);
    g_hash_table_destroy(plan->files);
}

/* --- points --- */

uint64_t sweep_plan_seed(const struct deck *deck, unsigned point)
{
    const struct deck_axis *axis;

    for (unsigned a = 0; (axis = deck_axis(deck, a)) != NULL; a++)
        if (strcmp(axis->key, "run.seed") == 0)
            return g_ascii_strtoull(deck_point_value(deck, a, point), NULL, 10);
    return (uint64_t)deck_integer(deck, "run", "seed") + deck_point_repeat(deck, point);
}

GArray *sweep_plan_request(struct sweep_plan *plan, unsigned point, struct trial_request *request)
{
    const struct options *options = plan->options;
    GArray *settings = deck_settings_new();
    const struct deck_axis *axis;

    deck_settings_copy(settings, options->settings);
    for (unsigned a = 0; (axis = deck_axis(plan->deck, a)) != NULL; a++) {
        const char *value = deck_point_value(plan->deck, a, point);
        deck_settings_add(settings, g_strdup_printf("[sweep] %s=%s", axis->key, value),
                          g_strdup_printf("%s=%s", axis->key, value));
    }
    if (deck_sweep_repeats(plan->deck) > 1)
        deck_settings_add(settings, g_strdup_printf("[sweep] repeat %u", deck_point_repeat(plan->deck, point) + 1),
                          g_strdup_printf("run.seed=%" G_GUINT64_FORMAT, sweep_plan_seed(plan->deck, point)));
    *request = (struct trial_request){
        .deck = options->words[0],
        .settings = (const struct deck_setting *)settings->data,
        .setting_count = settings->len,
        .test = options->test,
        .swept = true,
        .reader = &plan->reader
    };
    return settings;
}

char *sweep_plan_needs(struct sweep_plan *plan, unsigned point, struct share *alone, struct check_needs *needs,
                       int64_t *seed)
{
    struct trial_request request;
    g_autoptr(GArray) settings = sweep_plan_request(plan, point, &request);
    struct deck *deck = trial_deck(&request, alone);
    struct scenario *scenario = scenario_new(deck, alone);
    char *problem = NULL;

    *seed = deck_integer(deck, "run", "seed");
    *needs = (struct check_needs){ NAN, NAN, NAN };
    if (deck_problem_count(deck) == 0) {
        check_estimate(scenario, 1, needs);
    } else {
        problem = deck_problems_text(deck);
        problem[strcspn(problem, "\n")] = '\0';
    }
    scenario_free(scenario);
    deck_free(deck);
    return problem;
}

char *sweep_plan_point_text(const struct sweep_plan *plan, unsigned point)
{
    GString *text = g_string_new(NULL);
    const struct deck_axis *axis;

    for (unsigned a = 0; (axis = deck_axis(plan->deck, a)) != NULL; a++)
        g_string_append_printf(text, "%s%s=%s", a == 0 ? "" : " ", axis->key, deck_point_value(plan->deck, a, point));
    if (deck_sweep_repeats(plan->deck) > 1)
        g_string_append_printf(text, "%srepeat %u", text->len == 0 ? "" : ", ",
                               deck_point_repeat(plan->deck, point) + 1);
    return g_string_free(text, FALSE);
}

/* --- identity --- */

static void add_file(GChecksum *sum, const char *path)
{
    GMappedFile *file = g_mapped_file_new(path, FALSE, NULL);

    if (file == NULL)
        return;                     /* its points will fail */
    g_autofree char *length = g_strdup_printf("%zu ", g_mapped_file_get_length(file));
    g_checksum_update(sum, (const guchar *)length, -1);
    /* An empty file is mapped to nothing. */
    if (g_mapped_file_get_length(file) > 0)
        g_checksum_update(sum, (const guchar *)g_mapped_file_get_contents(file),
                          (gssize)g_mapped_file_get_length(file));
    g_mapped_file_unref(file);
}

/* A file, or the files of a folder in the order of their names. */
static void add_files(GChecksum *sum, const char *path)
{
    g_autoptr(GPtrArray) names = folder_names(path);

    if (!g_file_test(path, G_FILE_TEST_IS_DIR))
        add_file(sum, path);
    for (unsigned i = 0; i < names->len; i++) {
        g_autofree char *file = g_build_filename(path, names->pdata[i], NULL);
        g_checksum_update(sum, names->pdata[i], -1);
        if (g_file_test(file, G_FILE_TEST_IS_REGULAR))
            add_file(sum, file);
    }
}

char *sweep_plan_identity(struct sweep_plan *plan)
{
    static const char *const names[] = { "file", "dir" };
    g_autofree char *effective = deck_effective(plan->deck);
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    const struct deck_axis *axis;

    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        if (deck_has(plan->deck, "workload", names[i]))
            add_files(sum, deck_text(plan->deck, "workload", names[i]));
    for (unsigned a = 0; (axis = deck_axis(plan->deck, a)) != NULL; a++)
        for (unsigned i = 0; i < deck_axis_values(plan->deck, a); i++)
            if (deck_key_is_path(axis->schema_key))
                add_files(sum, deck_axis_value(plan->deck, a, i));
    GString *identity = g_string_new(NULL);
    g_string_printf(identity, "# a sweep of tiercel " PACKAGE_VERSION ", format 1, workload files %.16s\n%s",
                    g_checksum_get_string(sum), effective);
    each_profile(plan, identity);
    g_checksum_free(sum);
    return g_string_free(identity, FALSE);
}
