/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "deck_internal.h"

/* Of cost profiles that build on one another, taken together: as of one (deck_keys.c). */
enum { SCALE_LEAST_PPM = 10, SCALE_MOST_PPM = 1000000000 };

static void complain_file(void *data, const char *path, unsigned line, const char *text)
{
    deck_complain_at(data, path, line, "%s", text);
}

/* --- one file --- */

static bool known_path(const struct deck *deck, const char *path)
{
    g_autofree char *canonical = g_canonicalize_filename(path, NULL);

    for (unsigned i = 0; i < deck->files->len; i++) {
        g_autofree char *other = g_canonicalize_filename(((struct deck_file *)deck->files->pdata[i])->path, NULL);
        if (strcmp(canonical, other) == 0)
            return true;
    }
    return false;
}

static struct deck_file *add_file(struct deck *deck, const char *path, GBytes *bytes)
{
    g_ptr_array_add(deck->place_order, g_strdup(path));
    struct deck_file *file = deck_file_scan(path, bytes, complain_file, deck);
    g_ptr_array_add(deck->files, file);
    g_bytes_unref(bytes);
    return file;
}

/* A deck of a newer form is not looked at any further: every other complaint about it might be wrong. */
static void check_format(struct deck *deck, struct deck_file *file)
{
    const struct deck_entry *first = file->entries->len > 0 ? deck_file_entry(file, 0) : NULL;
    struct quantity format;

    if (file->broken && first == NULL)
        return;
    if (first == NULL || strcmp(first->group, "deck") != 0 || strcmp(first->key, "format") != 0) {
        deck_complain_at(deck, file->path, first == NULL ? 0 : first->line,
                         "[deck] format: is not the first entry; expected [deck] and format = 1 before anything else");
        return;
    }
    if (quantity_parse(QUANTITY_COUNT, first->value, NULL, &format, NULL) && format.count > 1) {
        g_autofree char *quoted = quantity_quote(first->value);
        deck_complain_at(deck, file->path, first->line,
                         "[deck] format: %s is newer than this program reads; expected 1 (or a newer tiercel)", quoted);
        file->broken = true;
        g_array_set_size(file->entries, 0);
        g_array_set_size(file->groups, 0);
    }
}

static void check_groups(struct deck *deck, const struct deck_file *file)
{
    for (unsigned i = 0; i < file->groups->len; i++) {
        const struct deck_entry *group = &g_array_index(file->groups, struct deck_entry, i);
        if (deck_schema_find_group(deck->schema, group->group) >= 0)
            continue;
        g_autofree char *suggestion = deck_schema_suggest_group(deck->schema, group->group);
        deck_complain_at(deck, file->path, group->line, "[%s]: unknown group; %s", group->group, suggestion);
    }
}

static void take_test(struct deck *deck, const struct deck_file *file, const struct deck_entry *entry, int layer)
{
    g_autofree char *prefix = g_strdup_printf("[test] %s", entry->key);
    int index = deck_find_dotted(deck, entry->key, file->path, entry->line, prefix);
    struct deck_origin origin = { file->path, entry->line, layer, true, 0 };

    if (index < 0 || !deck_take_value(deck, (unsigned)index, entry->value, &origin, prefix, !deck->test_applied))
        return;
    for (unsigned i = 0; i < deck->tests->len; i++)
        if (g_array_index(deck->tests, struct deck_test, i).key == (unsigned)index)
            return;
    struct deck_test test = { .key = (unsigned)index };
    test.text = deck_value_text(&deck->schema->keys[index], file->path, entry->value);
    g_array_append_val(deck->tests, test);
}

static bool is_scale(const struct deck_entry *entry)
{
    return strcmp(entry->group, "deck") == 0 && strcmp(entry->key, "scale") == 0;
}

static void take_entry(struct deck *deck, const struct deck_file *file, const struct deck_entry *entry,
                       unsigned distance)
{
    int group = deck_schema_find_group(deck->schema, entry->group);
    struct deck_origin origin = { file->path, entry->line, LAYER_DECK - 2 * (int)distance, true, 0 };
    g_autofree char *prefix = g_strdup_printf("[%s] %s", entry->group, entry->key);

    if (group < 0 || entry->repeated)
        return;
    if (strcmp(entry->group, "test") == 0) {
        take_test(deck, file, entry, LAYER_TEST - 2 * (int)distance);
    } else if (strcmp(entry->group, "expect") == 0) {
        if (distance == 0)
            deck_read_expectation(deck, file, entry);
    } else if (strcmp(entry->group, "sweep") == 0) {
        if (distance == 0)
            deck_read_sweep(deck, file, entry);
    } else {
        int index = deck_find_key(deck, entry->group, entry->key, file->path, entry->line, prefix);
        if (is_scale(entry))
            deck_complain_at(deck, file->path, entry->line,
                             "%s: has no meaning in a deck; expected it in a cost profile that has a base", prefix);
        else if (index >= 0)
            deck_take_value(deck, (unsigned)index, entry->value, &origin, prefix,
                            distance > 0 && (deck->schema->keys[index].flags & DECK_OWN) != 0);
    }
}

/* --- the deck and its bases --- */

/* Whether it may also be the name of an installed deck, "flux-bulksubmit" or "sweeps/flux-fanout". */
static bool is_name(const struct deck_request *request, const char *path)
{
    return request->installed_dir != NULL && *path != '/' && *path != '.';
}

/* With the ending .deck, and as it is. */
static GBytes *read_installed(const struct deck_request *request, const char *name, char **found)
{
    static const char *const endings[] = { ".deck", "" };
    GBytes *bytes = NULL;

    for (unsigned i = 0; bytes == NULL && i < G_N_ELEMENTS(endings); i++) {
        g_autofree char *whole = g_strconcat(name, endings[i], NULL);
        g_free(*found);
        *found = g_build_filename(request->installed_dir, whole, NULL);
        bytes = request->reader.read(request->reader.data, *found, NULL);
    }
    return bytes;
}

/* A path first; a name then is also that of an installed deck. */
static void read_deck(struct deck *deck, const struct deck_request *request)
{
    g_autofree char *found = g_strdup(request->path);
    g_autoptr(GError) error = NULL;
    bool named = is_name(request, request->path);
    GBytes *bytes = request->reader.read(request->reader.data, request->path, &error);

    if (bytes == NULL && named && error->code == DECK_READ_ABSENT)
        bytes = read_installed(request, request->path, &found);
    if (bytes != NULL) {
        check_format(deck, add_file(deck, found, bytes));
        return;
    }
    struct deck_file *nothing = add_file(deck, request->path, g_bytes_new_static("#", 1));
    nothing->broken = true;
    bool absent = error->code == DECK_READ_ABSENT;
    g_autofree char *near = absent ? deck_nearest(request->path, named ? request->installed_dir : NULL) : NULL;
    g_autofree char *absence = !named || !absent ? g_strdup("")
        : g_strdup_printf(", and no deck in %s has this name", request->installed_dir);
    g_autofree char *advice = near != NULL ? g_strdup_printf("did you mean %s?", near)
        : g_strdup("expected the path of a deck, or the name of an installed one");
    deck_complain_at(deck, request->path, 0, "%s%s; %s", error->message, absence, advice);
}

static const struct deck_entry *find_entry(const struct deck_file *file, const char *group, const char *key)
{
    for (unsigned i = 0; i < file->entries->len; i++) {
        const struct deck_entry *entry = deck_file_entry(file, i);
        if (strcmp(entry->group, group) == 0 && strcmp(entry->key, key) == 0)
            return entry;
    }
    return NULL;
}

/* Reads what `file`, a `kind` of file, builds on. NULL when there is none, or it cannot be used. */
static struct deck_file *read_base(struct deck *deck, const struct deck_request *request, struct deck_file *file,
                                   const char *kind)
{
    const struct deck_entry *entry = find_entry(file, "deck", "base");
    g_autoptr(GError) error = NULL;

    if (entry == NULL)
        return NULL;
    g_autofree char *path = deck_join_path(file->path, entry->value);
    g_autofree char *quoted = quantity_quote(entry->value);
    if (deck->files->len > DECK_BASES_MAX) {
        deck_complain_at(deck, file->path, entry->line, "[deck] base: %s is more than %d bases away; expected fewer",
                         quoted, DECK_BASES_MAX);
        return NULL;
    }
    g_autofree char *found = g_strdup(path);
    bool circle = known_path(deck, path);
    GBytes *bytes = circle ? NULL : request->reader.read(request->reader.data, path, &error);
    if (error != NULL && error->code == DECK_READ_ABSENT && is_name(request, entry->value)) {
        g_autofree char *name = g_strconcat(strcmp(kind, "deck") == 0 ? "" : "costs/", entry->value, NULL);
        bytes = read_installed(request, name, &found);
        circle = known_path(deck, found);
    }
    if (circle) {
        deck_complain_at(deck, file->path, entry->line,
                         "[deck] base: %s builds on this %s in turn; expected %ss without a circle", quoted, kind,
                         kind);
        if (bytes != NULL)
            g_bytes_unref(bytes);
        return NULL;
    }
    if (bytes == NULL) {
        file->broken = true;        /* what it lacks may stand in its base */
        deck_complain_at(deck, file->path, entry->line, "[deck] base: %s (%s) %s; expected the path of a %s, "
                         "relative to this one, or the name of an installed one", quoted, path, error->message, kind);
        return NULL;
    }
    struct deck_file *base = add_file(deck, found, bytes);
    check_format(deck, base);
    return base;
}

static void take_files(struct deck *deck)
{
    for (unsigned distance = 0; distance < deck->files->len; distance++) {
        const struct deck_file *file = deck->files->pdata[distance];
        check_groups(deck, file);
        for (unsigned i = 0; i < file->entries->len; i++)
            take_entry(deck, file, deck_file_entry(file, i), distance);
    }
}

/* --- settings --- */

static void take_setting(struct deck *deck, const struct deck_setting *setting)
{
    const char *where = g_string_chunk_insert(deck->places, setting->where);
    const char *equals = strchr(setting->assignment, '=');
    struct deck_origin origin = { where, 0, LAYER_SETTING, false, 0 };

    g_ptr_array_add(deck->place_order, g_strdup(where));
    if (equals == NULL) {
        deck_complain_at(deck, where, 0, "has no value; expected group.key=value, such as cluster.nodes=4");
        return;
    }
    g_autofree char *dotted = g_strndup(setting->assignment, (size_t)(equals - setting->assignment));
    g_strstrip(dotted);
    int index = deck_find_dotted(deck, dotted, where, 0, dotted);
    if (index < 0)
        return;
    g_autofree char *value = g_strstrip(g_strdup(equals + 1));
    g_autofree char *prefix = g_strdup_printf("[%s] %s", deck->schema->keys[index].group,
                                              deck->schema->keys[index].name);
    deck_take_value(deck, (unsigned)index, value, &origin, prefix, false);
}

/* --- the cost profile --- */

static GBytes *read_profile(const struct deck_request *request, const char *folder, const char *name, GPtrArray *tried,
                            char **path)
{
    static const char *const subfolders[] = { ".", "costs" };
    g_autofree char *file_name = g_strdup_printf("%s.costs", name);

    for (unsigned i = 0; i < G_N_ELEMENTS(subfolders); i++) {
        g_autoptr(GError) error = NULL;
        *path = i == 0 ? g_build_filename(folder, file_name, NULL)
                       : g_build_filename(folder, subfolders[i], file_name, NULL);
        if (g_str_has_prefix(*path, "./"))
            memmove(*path, *path + 2, strlen(*path) - 1);
        GBytes *bytes = request->reader.read(request->reader.data, *path, &error);
        if (bytes != NULL)
            return bytes;
        g_ptr_array_add(tried, g_steal_pointer(path));
    }
    return NULL;
}

static bool holds_costs(const char *group)
{
    static const char *const groups[] = { "costs", "network", "collective", "lock", "server", NULL };

    return g_strv_contains(groups, group);
}

/* One entry of a profile. `scale_ppm`: of a base, else 0. */
static void take_profile_entry(struct deck *deck, const struct deck_file *file, const struct deck_entry *entry,
                               int layer, int64_t scale_ppm)
{
    static const char *const own[] = { "format", "title", "base", "scale", NULL };
    struct deck_origin origin = { file->path, entry->line, layer, true, 0 };
    g_autofree char *prefix = g_strdup_printf("[%s] %s", entry->group, entry->key);
    bool is_cost = holds_costs(entry->group);

    if (entry->repeated || (!is_cost && strcmp(entry->group, "deck") != 0))
        return;
    int index = deck_find_key(deck, entry->group, entry->key, file->path, entry->line, prefix);
    if (index < 0)
        return;
    unsigned type = deck->schema->keys[index].type;
    if (strcmp(entry->group, "costs") == 0 && (type == QUANTITY_COST || type == QUANTITY_DURATION))
        origin.scale_ppm = scale_ppm;
    if (is_cost && strcmp(entry->key, "profile") == 0)
        deck_complain_at(deck, file->path, entry->line, "%s: a cost profile has no profile; expected costs only, or "
                         "[deck] base", prefix);
    else if (!is_cost && !g_strv_contains(own, entry->key))
        deck_complain_at(deck, file->path, entry->line, "%s: has no meaning in a cost profile; expected format, title, "
                         "base and scale only", prefix);
    else if (is_scale(entry) && find_entry(file, "deck", "base") == NULL)
        deck_complain_at(deck, file->path, entry->line, "%s: there is no base to be scaled; expected a base, too",
                         prefix);
    else
        deck_take_value(deck, (unsigned)index, entry->value, &origin, prefix, !is_cost);
}

static void take_profile_entries(struct deck *deck, const struct deck_file *file, int layer, int64_t scale_ppm)
{
    for (unsigned i = 0; i < file->groups->len; i++) {
        const struct deck_entry *group = &g_array_index(file->groups, struct deck_entry, i);
        if (strcmp(group->group, "deck") != 0 && !holds_costs(group->group))
            deck_complain_at(deck, file->path, group->line,
                             "[%s]: a cost profile holds costs only; expected [deck], [network], [collective], [lock], "
                             "[server] and [costs]", group->group);
    }
    for (unsigned i = 0; i < file->entries->len; i++)
        take_profile_entry(deck, file, deck_file_entry(file, i), layer, scale_ppm);
}

/* What a profile multiplies its base's costs with, besides what it is multiplied with itself; 0: nothing. */
static int64_t base_scale(struct deck *deck, const struct deck_file *file, int64_t scale_ppm)
{
    const struct deck_entry *entry = find_entry(file, "deck", "scale");
    int index = deck_schema_find(deck->schema, "deck", "scale");
    struct deck_value value;

    if (entry == NULL || index < 0 || !deck_key_parse(&deck->schema->keys[index], entry->value, &value, NULL))
        return scale_ppm;
    g_free(value.text);
    __int128 all = scale_ppm == 0 ? value.quantity.percentage_ppm
                                  : (__int128)scale_ppm * value.quantity.percentage_ppm / 1000000;
    if (all < SCALE_LEAST_PPM || all > SCALE_MOST_PPM)
        deck_complain_at(deck, file->path, entry->line, "[deck] scale: with those of the profiles that build on this "
                         "one it is out of range; expected 0.001%%..100000%% in all");
    return (int64_t)CLAMP(all, SCALE_LEAST_PPM, SCALE_MOST_PPM);
}

/* The profile and those that it builds on, in one layer: what is nearer replaces what is farther. */
static void take_profile_files(struct deck *deck, const struct deck_request *request, struct deck_file *file, int layer,
                               int64_t scale_ppm)
{
    struct deck_file *base = read_base(deck, request, file, "cost profile");

    if (base != NULL)
        take_profile_files(deck, request, base, layer, base_scale(deck, file, scale_ppm));
    take_profile_entries(deck, file, layer, scale_ppm);
}

static void take_profile(struct deck *deck, const struct deck_request *request)
{
    int index = deck_schema_find(deck->schema, "costs", "profile");
    const struct deck_held *held = index < 0 ? NULL : &deck->held[index];

    if (held == NULL || !held->has)
        return;
    int layer = MIN(held->layer, LAYER_DECK) - 1;
    const char *stated_in = held->layer <= LAYER_DECK ? held->path : deck_path(deck);
    g_autofree char *folder = g_path_get_dirname(stated_in);
    g_autofree char *own_folder = g_path_get_dirname(deck_path(deck));
    g_autofree char *name = g_strdup(held->value.text);
    g_autofree char *path = NULL;
    g_autoptr(GPtrArray) tried = g_ptr_array_new_with_free_func(g_free);
    GBytes *bytes = read_profile(request, folder, name, tried, &path);

    if (bytes == NULL && strcmp(folder, own_folder) != 0)
        bytes = read_profile(request, own_folder, name, tried, &path);
    if (bytes == NULL && request->installed_dir != NULL)
        bytes = read_profile(request, request->installed_dir, name, tried, &path);
    if (bytes == NULL) {
        g_autofree char *advice = deck_profile_advice(name, tried);
        deck_complain(deck, "costs", "profile", "'%s' is not a cost profile that can be read; %s", name, advice);
    } else {
        struct deck_file *file = add_file(deck, path, bytes);
        check_format(deck, file);
        take_profile_files(deck, request, file, layer, 0);
    }
}

/* --- all of it --- */

static char *name_of(const char *path)
{
    char *name = g_path_get_basename(path);

    if (g_str_has_suffix(name, ".deck") && strlen(name) > 5)
        name[strlen(name) - 5] = '\0';
    for (char *at = name; *at != '\0'; at++)
        if (!g_ascii_isalnum(*at) && strchr("._-", *at) == NULL)
            *at = '-';
    return name;
}

static void free_file(gpointer file)
{
    deck_file_free(file);
}

struct deck *deck_load(const struct deck_request *request)
{
    struct deck *deck = g_new0(struct deck, 1);

    deck->schema = request->schema != NULL ? request->schema : deck_schema_tiercel();
    deck->files = g_ptr_array_new_with_free_func(free_file);
    deck->places = g_string_chunk_new(256);
    deck->place_order = g_ptr_array_new_with_free_func(g_free);
    deck->tests = g_array_new(FALSE, FALSE, sizeof(struct deck_test));
    deck->expectations = g_array_new(FALSE, FALSE, sizeof(struct deck_expectation));
    deck_sweep_init(deck);
    deck->problems = g_array_new(FALSE, FALSE, sizeof(struct deck_problem));
    deck->test_applied = request->test;
    deck->comparable = true;

    read_deck(deck, request);
    for (struct deck_file *file = deck->files->pdata[0]; file != NULL;)
        file = read_base(deck, request, file, "deck");
    deck->bases = deck->files->len;
    deck->name = name_of(deck_path(deck));
    deck_name_groups(deck);
    deck->held = g_new0(struct deck_held, deck->schema->key_count);
    take_files(deck);
    for (unsigned i = 0; i < request->setting_count; i++)
        take_setting(deck, &request->settings[i]);
    take_profile(deck, request);
    deck_check(deck);
    deck_check_sweep(deck);
    return deck;
}
