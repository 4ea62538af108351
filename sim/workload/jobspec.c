/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/jobspec.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "workload/decimal.h"
#include "workload/file.h"
#include "workload/json.h"
#include "workload/source.h"

#define SECOND_NS G_GINT64_CONSTANT(1000000000)
#define COUNT_MAX (1 << 24)
#define SPEC_BYTES_MAX ((size_t)16 << 20)

/* --- small readers; each refuses by itself --- */

static const struct json *member_of(const struct json_document *d, const struct json *object, const char *key,
                                    enum json_type type, const char *expected, GError **error)
{
    const struct json *value = json_member(object, key);
    if (value == NULL)
        json_refuse_missing(d, object, key, expected, error);
    else if (value->type != type)
        json_refuse(d, value, expected, error);
    else
        return value;
    return NULL;
}

static bool count_read(const struct json_document *d, const struct json *value, uint32_t *count, GError **error)
{
    int64_t number;
    if (!json_integer(value, 1, COUNT_MAX, &number))
        return json_refuse(d, value, "a whole number from 1 to 16777216", error);
    *count = (uint32_t)number;
    return true;
}

/* Refuses the first member whose key is not in the list (ended by NULL). */
static bool keys_check(const struct json_document *d, const struct json *object, const char *const *known,
                       GError **error)
{
    for (const struct json *member = object->first; member != NULL; member = member->next) {
        if (g_strv_contains(known, member->key))
            continue;
        g_autofree char *list = g_strjoinv(", ", (char **)known);
        g_autofree char *expected = g_strdup_printf("no such key: this object may have %s", list);
        return json_refuse(d, member, expected, error);
    }
    return true;
}

/* --- resources --- */

static const char *const vertex_keys[] = { "type", "count", "with", "label", "exclusive", "unit", NULL };

/* Reads type and count of a resource, and its single member of `with`, if it has one. */
static bool vertex_read(const struct json_document *d, const struct json *vertex, const char **type, uint32_t *count,
                        const struct json **below, GError **error)
{
    if (vertex->type != JSON_OBJECT)
        return json_refuse(d, vertex, "a resource: an object with type and count", error);
    if (!keys_check(d, vertex, vertex_keys, error))
        return false;
    const struct json *name = member_of(d, vertex, "type", JSON_TEXT, "\"node\", \"slot\" or \"core\"", error);
    const struct json *number = name == NULL ? NULL : member_of(d, vertex, "count", JSON_NUMBER,
        "a whole number from 1 (ranges of version 2 are not understood)", error);
    if (number == NULL || !count_read(d, number, count, error))
        return false;
    *type = name->text;
    const struct json *with = json_member(vertex, "with");
    *below = NULL;
    if (with == NULL)
        return true;
    if (with->type != JSON_ARRAY || with->count != 1)
        return json_refuse(d, with, "an array of exactly one resource (node > slot > core is understood; gpus, memory "
                           "and several kinds side by side are not)", error);
    *below = with->first;
    return true;
}

static bool slot_read(const struct json_document *d, const struct json *slot, const struct json *below,
                      const char **label, uint32_t *cores, GError **error)
{
    const struct json *name = member_of(d, slot, "label", JSON_TEXT, "a text that tasks name as their slot", error);
    if (name == NULL)
        return false;
    *label = name->text;
    if (below == NULL)
        return json_refuse_missing(d, slot, "with", "the slot's cores", error);
    const char *type;
    const struct json *further;
    if (!vertex_read(d, below, &type, cores, &further, error))
        return false;
    if (strcmp(type, "core") != 0)
        return json_refuse(d, json_member(below, "type"), "\"core\" inside a slot", error);
    if (further != NULL)
        return json_refuse(d, json_member(below, "with"), "nothing inside a core", error);
    return true;
}

static bool resources_read(const struct json_document *d, const struct json *resources, struct workload_job *job,
                           const char **label, GError **error)
{
    if (resources->count != 1)
        return json_refuse(d, resources, "exactly one resource: a node or a slot", error);
    const struct json *vertex = resources->first, *below;
    const char *type;
    uint32_t count;
    if (!vertex_read(d, vertex, &type, &count, &below, error))
        return false;
    if (strcmp(type, "node") == 0) {
        const struct json *exclusive = json_member(vertex, "exclusive");
        if (exclusive != NULL && exclusive->type != JSON_BOOLEAN)
            return json_refuse(d, exclusive, "true or false", error);
        job->nodes = count;
        job->exclusive = exclusive != NULL && exclusive->boolean;
        if (below == NULL)
            return json_refuse_missing(d, vertex, "with", "the node's slot", error);
        vertex = below;
        if (!vertex_read(d, vertex, &type, &count, &below, error))
            return false;
    }
    if (strcmp(type, "slot") != 0)
        return json_refuse(d, json_member(vertex, "type"), job->nodes > 0 ? "\"slot\" inside a node" :
                           "\"node\" or \"slot\" at the top", error);
    job->slots = count;
    return slot_read(d, vertex, below, label, &job->cores_per_slot, error);
}

/* --- tasks --- */

/* "90", "1.5m" as sleep(1) reads it. */
static bool sleep_read(const char *text, int64_t *duration_ns)
{
    static const struct { char suffix; int64_t unit_ns; } units[] = {
        { 's', SECOND_NS }, { 'm', 60 * SECOND_NS }, { 'h', 3600 * SECOND_NS }, { 'd', 86400 * SECOND_NS },
    };
    size_t size = strlen(text);
    int64_t unit_ns = SECOND_NS;
    for (size_t i = 0; size > 0 && i < G_N_ELEMENTS(units); i++)
        if (text[size - 1] == units[i].suffix) {
            unit_ns = units[i].unit_ns;
            size--;
            break;
        }
    return decimal_read_ns(text, size, unit_ns, duration_ns) == DECIMAL_OK && *duration_ns >= 0;
}

enum command { COMMAND_SLEEPS, COMMAND_OTHER };

/* What the command does with its time. Checks all of its words. */
static bool command_read(const struct json_document *d, const struct json *command, enum command *kind,
                         int64_t *duration_ns, GError **error)
{
    const struct json *word = command;
    if (command->type == JSON_ARRAY) {
        if (command->count == 0)
            return json_refuse(d, command, "a command of at least one word", error);
        for (word = command->first; word != NULL; word = word->next)
            if (word->type != JSON_TEXT)
                return json_refuse(d, word, "a text", error);
        word = command->first;
    } else if (command->type != JSON_TEXT) {
        return json_refuse(d, command, "an array of texts, or one text", error);
    }
    g_autofree char *program = g_path_get_basename(word->text);
    *kind = COMMAND_SLEEPS;
    *duration_ns = 0;
    if (strcmp(program, "sleep") == 0) {
        if (command->type != JSON_ARRAY || command->count != 2)
            return json_refuse(d, command, "[\"sleep\", \"N\"]: one duration", error);
        if (!sleep_read(word->next->text, duration_ns))
            return json_refuse(d, word->next, "seconds that sleep(1) understands: 0, 1.5, 10m", error);
    } else if (strcmp(program, "true") != 0 && strcmp(program, "hostname") != 0) {
        *kind = COMMAND_OTHER;
    }
    return true;
}

static bool task_count_check(const struct json_document *d, const struct json *count, GError **error)
{
    static const char *const keys[] = { "per_slot", "total", NULL };
    uint32_t number;
    if (count->count != 1)
        return json_refuse(d, count, "either per_slot or total", error);
    return keys_check(d, count, keys, error) && count_read(d, count->first, &number, error);
}

static bool tasks_read(const struct json_document *d, const struct json *tasks, const char *label,
                       const struct json **command, GError **error)
{
    static const char *const keys[] = { "command", "slot", "count", "attributes", NULL };
    if (tasks->count != 1)
        return json_refuse(d, tasks, "exactly one task", error);
    const struct json *task = tasks->first;
    if (task->type != JSON_OBJECT)
        return json_refuse(d, task, "a task: an object with command, slot and count", error);
    if (!keys_check(d, task, keys, error))
        return false;
    *command = json_member(task, "command");
    if (*command == NULL)
        return json_refuse_missing(d, task, "command", "an array of texts", error);
    const struct json *slot = member_of(d, task, "slot", JSON_TEXT, "the label of the slot", error);
    if (slot == NULL)
        return false;
    if (strcmp(slot->text, label) != 0) {
        g_autofree char *expected = g_strdup_printf("\"%.80s\", the label of the slot", label);
        return json_refuse(d, slot, expected, error);
    }
    const struct json *count = member_of(d, task, "count", JSON_OBJECT, "{\"per_slot\": n} or {\"total\": n}", error);
    return count != NULL && task_count_check(d, count, error);
}

/* --- attributes --- */

/* A Flux standard duration: a number with an optional suffix ms, s, m, h or d. */
static bool standard_duration_read(const struct json *value, int64_t *duration_ns)
{
    if (value->type != JSON_TEXT && value->type != JSON_NUMBER)
        return false;
    if (!g_str_has_suffix(value->text, "ms"))
        return sleep_read(value->text, duration_ns);
    return decimal_read_ns(value->text, strlen(value->text) - 2, 1000000, duration_ns) == DECIMAL_OK &&
           *duration_ns >= 0;
}

/* attributes.system.exec.test.run_duration, or NULL. */
static const struct json *test_duration(const struct json *system)
{
    return json_member(json_member(json_member(system, "exec"), "test"), "run_duration");
}

static bool attributes_read(const struct json_document *d, const struct json *attributes, struct workload_job *job,
                            const struct json **run_duration, GError **error)
{
    static const char *const keys[] = { "system", "user", NULL };
    if (!keys_check(d, attributes, keys, error))
        return false;
    const struct json *system = member_of(d, attributes, "system", JSON_OBJECT, "an object with duration", error);
    const struct json *duration = system == NULL ? NULL :
        member_of(d, system, "duration", JSON_NUMBER, "seconds, 0 for no limit", error);
    if (duration == NULL)
        return false;
    int64_t limit_ns;
    if (decimal_read_ns(duration->text, strlen(duration->text), SECOND_NS, &limit_ns) != DECIMAL_OK || limit_ns < 0)
        return json_refuse(d, duration, "seconds from 0 to 4611686018", error);
    job->limit_ns = limit_ns == 0 ? WORKLOAD_NO_LIMIT : limit_ns;
    const struct json *cwd = json_member(system, "cwd");
    if (cwd != NULL && cwd->type != JSON_TEXT)
        return json_refuse(d, cwd, "a path", error);
    const struct json *environment = json_member(system, "environment");
    if (environment != NULL && environment->type != JSON_OBJECT)
        return json_refuse(d, environment, "an object of texts", error);
    for (const struct json *e = environment == NULL ? NULL : environment->first; e != NULL; e = e->next)
        if (e->type != JSON_TEXT)
            return json_refuse(d, e, "a text", error);
    *run_duration = test_duration(system);
    return true;
}

/* --- the whole --- */

static bool document_read(const struct json_document *d, struct workload_job *job, GError **error)
{
    static const char *const keys[] = { "version", "resources", "tasks", "attributes", NULL };
    if (d->root->type != JSON_OBJECT)
        return json_refuse(d, d->root, "a jobspec: an object with version, resources, tasks and attributes", error);
    if (!keys_check(d, d->root, keys, error))
        return false;
    const struct json *version = member_of(d, d->root, "version", JSON_NUMBER, "1", error);
    if (version == NULL)
        return false;
    int64_t number;
    if (!json_integer(version, 1, 1, &number))
        return json_refuse(d, version, "1, the only version understood", error);

    const struct json *resources = member_of(d, d->root, "resources", JSON_ARRAY, "an array of one resource", error);
    const char *label = NULL;
    if (resources == NULL || !resources_read(d, resources, job, &label, error))
        return false;
    const struct json *tasks = member_of(d, d->root, "tasks", JSON_ARRAY, "an array of one task", error);
    const struct json *command = NULL;
    if (tasks == NULL || !tasks_read(d, tasks, label, &command, error))
        return false;
    enum command kind = COMMAND_OTHER;
    int64_t sleeps_ns = 0;
    if (!command_read(d, command, &kind, &sleeps_ns, error))
        return false;
    const struct json *attributes = member_of(d, d->root, "attributes", JSON_OBJECT, "an object with system", error);
    const struct json *run_duration = NULL;
    if (attributes == NULL || !attributes_read(d, attributes, job, &run_duration, error))
        return false;

    if (run_duration != NULL) {
        if (!standard_duration_read(run_duration, &job->duration_ns))
            return json_refuse(d, run_duration, "a duration: 2.5s, 100ms, 1m", error);
    } else if (kind == COMMAND_SLEEPS) {
        job->duration_ns = sleeps_ns;
    } else if (job->limit_ns != WORKLOAD_NO_LIMIT) {
        job->duration_ns = job->limit_ns;
    } else {
        return json_refuse(d, command, "sleep N, true or hostname, because attributes.system.duration is 0: how long "
                           "this command runs is not known (give it a duration)", error);
    }
    return true;
}

bool jobspec_parse(const char *name, const char *text, size_t size, struct workload_job *job, GError **error)
{
    struct json_document *d = json_parse(name, text, size, error);
    if (d == NULL)
        return false;
    struct workload_job read = { 0 };
    bool ok = document_read(d, &read, error);
    if (ok) {
        job->nodes = read.nodes;
        job->slots = read.slots;
        job->cores_per_slot = read.cores_per_slot;
        job->exclusive = read.exclusive;
        job->duration_ns = read.duration_ns;
        job->limit_ns = read.limit_ns;
    }
    json_document_free(d);
    return ok;
}

/* Seconds with as many digits as they need. */
static void seconds_append(GString *out, int64_t ns)
{
    g_string_append_printf(out, "%" G_GINT64_FORMAT, ns / SECOND_NS);
    if (ns % SECOND_NS == 0)
        return;
    g_string_append_printf(out, ".%09" G_GINT64_FORMAT, ns % SECOND_NS);
    while (out->str[out->len - 1] == '0')
        g_string_truncate(out, out->len - 1);
}

GString *jobspec_write(const struct workload_job *job)
{
    GString *out = g_string_new("{\"resources\": [");
    if (job->nodes > 0)
        g_string_append_printf(out, "{\"type\": \"node\", \"count\": %u, %s\"with\": [", job->nodes,
                               job->exclusive ? "\"exclusive\": true, " : "");
    g_string_append_printf(out, "{\"type\": \"slot\", \"count\": %u, \"with\": [{\"type\": \"core\", \"count\": %u}], "
                           "\"label\": \"task\"}%s], ", job->slots, job->cores_per_slot, job->nodes > 0 ? "]}" : "");
    g_string_append(out, "\"tasks\": [{\"command\": [\"sleep\", \"");
    seconds_append(out, job->duration_ns);
    g_string_append(out, "\"], \"slot\": \"task\", \"count\": {\"per_slot\": 1}}], "
                    "\"attributes\": {\"system\": {\"duration\": ");
    seconds_append(out, job->limit_ns == WORKLOAD_NO_LIMIT ? 0 : job->limit_ns);
    g_string_append(out, ", \"cwd\": \"/tmp\", \"environment\": {}}}, \"version\": 1}");
    return out;
}

/* --- a directory of them --- */

struct spec {
    char *text;
    struct workload_job job;    /* what jobspec_parse read */
};

struct jobspecs {
    struct workload base;
    GArray *specs;              /* struct spec, in the order of their file names */
};

static bool jobspecs_next(struct workload *w, struct workload_job *job, GError **error)
{
    struct jobspecs *from = (struct jobspecs *)w;
    if (job->index == w->jobs)
        return false;
    const struct spec *spec = &g_array_index(from->specs, struct spec, job->index % from->specs->len);
    uint64_t index = job->index;
    *job = spec->job;
    job->index = job->number = index;
    return true;
}

static void spec_clear(gpointer data)
{
    g_free(((struct spec *)data)->text);
}

static void jobspecs_free(struct workload *w)
{
    struct jobspecs *from = (struct jobspecs *)w;
    g_array_free(from->specs, TRUE);
    g_free(from);
}

static const struct workload_type jobspecs_type = { .next = jobspecs_next, .free = jobspecs_free };

static int name_compare(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of the .json files, sorted by their bytes; NULL with an error when there are none. */
static GPtrArray *names_list(const char *directory, GError **error)
{
    DIR *dir = opendir(directory);
    if (dir == NULL) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, "%s: cannot be read: %s: expected a directory of Flux "
                    "jobspec files", directory, g_strerror(errno));
        return NULL;
    }
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        if (g_str_has_suffix(entry->d_name, ".json"))
            g_ptr_array_add(names, g_strdup(entry->d_name));
    closedir(dir);
    g_ptr_array_sort(names, name_compare);
    if (names->len == 0) {
        g_set_error(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT,
                    "%s: holds no file whose name ends in .json: expected Flux jobspec files (version 1)", directory);
        g_ptr_array_free(names, TRUE);
        return NULL;
    }
    return names;
}

static bool spec_load(const char *path, struct spec *spec, GError **error)
{
    size_t size;
    if (!file_load(path, SPEC_BYTES_MAX, &spec->text, &size, error))
        return false;
    spec->job = (struct workload_job){ .priority = WORKLOAD_PRIORITY, .spec = spec->text, .spec_size = size };
    return jobspec_parse(path, spec->text, size, &spec->job, error);
}

struct workload *workload_jobspec_new(const char *directory, uint64_t repeat, GError **error)
{
    g_assert(repeat >= 1);
    GPtrArray *names = names_list(directory, error);
    if (names == NULL)
        return NULL;
    struct jobspecs *from = g_new0(struct jobspecs, 1);
    from->base.type = &jobspecs_type;
    from->specs = g_array_new(FALSE, TRUE, sizeof(struct spec));
    g_array_set_clear_func(from->specs, spec_clear);

    g_autoptr(GString) problems = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *path = g_build_filename(directory, names->pdata[i], NULL);
        struct spec spec = { 0 };
        GError *problem = NULL;
        if (!spec_load(path, &spec, &problem)) {
            g_string_append_printf(problems, "%s%s", problems->len == 0 ? "" : "\n", problem->message);
            g_error_free(problem);
        }
        g_array_append_val(from->specs, spec);
    }
    g_ptr_array_free(names, TRUE);
    if (repeat > (WORKLOAD_UNKNOWN - 1) / from->specs->len && problems->len == 0)
        g_string_append_printf(problems, "%s: repeat = %" G_GUINT64_FORMAT " times %u files are more jobs than can be "
                               "counted: expected a smaller repeat", directory, repeat, from->specs->len);
    from->base.jobs = repeat * from->specs->len;
    if (problems->len == 0)
        return &from->base;
    g_set_error_literal(error, TIERCEL_ERROR, TIERCEL_ERROR_INPUT, problems->str);
    jobspecs_free(&from->base);
    return NULL;
}
