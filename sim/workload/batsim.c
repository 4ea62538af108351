/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/batsim.h"

#include <string.h>

#include "workload/decimal.h"
#include "workload/file.h"
#include "workload/json.h"
#include "workload/source.h"

#define SECOND_NS G_GINT64_CONSTANT(1000000000)
#define FILE_BYTES_MAX ((size_t)4 << 30)

struct batsim_job {
    int64_t submit_ns;
    int64_t limit_ns;
    int64_t duration_ns;
    uint64_t number;            /* the id, when it is a whole number; else the place in the file */
    const char *name;
    const char *profile;
    uint32_t processors;
};

struct batsim {
    struct workload base;
    uint32_t processors;
    GArray *jobs;               /* struct batsim_job, by submit time */
    GStringChunk *texts;
};

/* A number of seconds; `lowest_ns` is the least allowed. */
static bool seconds_read(const struct json *value, int64_t lowest_ns, int64_t *ns)
{
    return value->type == JSON_NUMBER &&
           decimal_read_ns(value->text, strlen(value->text), SECOND_NS, ns) == DECIMAL_OK && *ns >= lowest_ns;
}

static const struct json *member_need(const struct json_document *d, const struct json *object, const char *key,
                                      const char *expected, GError **error)
{
    const struct json *value = json_member(object, key);
    if (value == NULL)
        json_refuse_missing(d, object, key, expected, error);
    return value;
}

static bool profile_read(const struct json_document *d, const struct json *profile, struct batsim_job *job,
                         GError **error)
{
    if (profile->type != JSON_OBJECT)
        return json_refuse(d, profile, "a profile: an object with type and delay", error);
    const struct json *type = member_need(d, profile, "type", "\"delay\"", error);
    if (type == NULL)
        return false;
    if (type->type != JSON_TEXT || strcmp(type->text, "delay") != 0)
        return json_refuse(d, type, "\"delay\", the only type of profile that is understood (jobs that run for a time)",
                           error);
    const struct json *delay = member_need(d, profile, "delay", "seconds, 0 or above", error);
    if (delay == NULL)
        return false;
    return seconds_read(delay, 0, &job->duration_ns) || json_refuse(d, delay, "seconds from 0 to 4611686018", error);
}

static bool id_read(struct batsim *batsim, const struct json_document *d, const struct json *id, GHashTable *ids,
                    struct batsim_job *job, GError **error)
{
    int64_t number;
    bool whole = json_integer(id, 0, INT64_MAX, &number);
    if (!whole && (id->type != JSON_TEXT || id->text[0] == '\0'))
        return json_refuse(d, id, "a text or a whole number", error);
    job->name = g_string_chunk_insert_const(batsim->texts, id->text);
    if (!g_hash_table_add(ids, (gpointer)job->name))
        return json_refuse(d, id, "an id that no job before has", error);
    gint64 parsed;
    job->number = batsim->jobs->len;
    if (whole || g_ascii_string_to_signed(id->text, 10, 0, INT64_MAX, &parsed, NULL))
        job->number = (uint64_t)(whole ? number : parsed);
    return true;
}

static bool limit_read(const struct json_document *d, const struct json *walltime, struct batsim_job *job,
                       GError **error)
{
    int64_t minus_one;
    job->limit_ns = WORKLOAD_NO_LIMIT;
    if (walltime == NULL || (seconds_read(walltime, -SECOND_NS, &minus_one) && minus_one == -SECOND_NS))
        return true;
    return seconds_read(walltime, 1, &job->limit_ns) ||
           json_refuse(d, walltime, "seconds above 0 and to 4611686018, or -1 for no limit", error);
}

static bool job_read(struct batsim *batsim, const struct json_document *d, const struct json *value,
                     GHashTable *profiles, GHashTable *ids, GError **error)
{
    struct batsim_job job = { 0 };
    if (value->type != JSON_OBJECT)
        return json_refuse(d, value, "a job: an object with id, subtime, res and profile", error);
    const struct json *id = member_need(d, value, "id", "a text or a whole number", error);
    if (id == NULL || !id_read(batsim, d, id, ids, &job, error))
        return false;
    const struct json *submit = member_need(d, value, "subtime", "seconds, 0 or above", error);
    if (submit == NULL)
        return false;
    if (!seconds_read(submit, 0, &job.submit_ns))
        return json_refuse(d, submit, "seconds from 0 to 4611686018", error);
    const struct json *res = member_need(d, value, "res", "a number of processors", error);
    int64_t processors;
    if (res == NULL)
        return false;
    if (!json_integer(res, 1, UINT32_MAX, &processors))
        return json_refuse(d, res, "a whole number of processors, at least 1", error);
    job.processors = (uint32_t)processors;
    if (!limit_read(d, json_member(value, "walltime"), &job, error))
        return false;
    const struct json *name = member_need(d, value, "profile", "a key of profiles", error);
    if (name == NULL)
        return false;
    const struct json *profile = name->type == JSON_TEXT ? g_hash_table_lookup(profiles, name->text) : NULL;
    if (profile == NULL)
        return json_refuse(d, name, "a key of profiles", error);
    if (!profile_read(d, profile, &job, error))
        return false;
    job.profile = g_string_chunk_insert_const(batsim->texts, name->text);
    g_array_append_val(batsim->jobs, job);
    return true;
}

static bool document_read(struct batsim *batsim, const struct json_document *d, GError **error)
{
    if (d->root->type != JSON_OBJECT)
        return json_refuse(d, d->root, "a workload: an object with jobs and profiles", error);
    const struct json *jobs = member_need(d, d->root, "jobs", "an array of jobs", error);
    const struct json *profiles = jobs == NULL ? NULL :
        member_need(d, d->root, "profiles", "an object of profiles", error);
    if (profiles == NULL)
        return false;
    if (jobs->type != JSON_ARRAY)
        return json_refuse(d, jobs, "an array of jobs", error);
    if (profiles->type != JSON_OBJECT)
        return json_refuse(d, profiles, "an object of profiles", error);
    const struct json *size = json_member(d->root, "nb_res");
    int64_t processors = 0;
    if (size != NULL && !json_integer(size, 1, UINT32_MAX, &processors))
        return json_refuse(d, size, "a whole number of processors, at least 1", error);
    batsim->processors = (uint32_t)processors;

    g_autoptr(GHashTable) by_name = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
    for (const struct json *profile = profiles->first; profile != NULL; profile = profile->next)
        g_hash_table_insert(by_name, (gpointer)profile->key, (gpointer)profile);
    for (const struct json *job = jobs->first; job != NULL; job = job->next)
        if (!job_read(batsim, d, job, by_name, ids, error))
            return false;
    return true;
}

/* Stable: jobs of one time keep the order of the file, in which they stand in memory. */
static int submit_compare(gconstpointer a, gconstpointer b, gpointer unused)
{
    int64_t x = ((const struct batsim_job *)a)->submit_ns, y = ((const struct batsim_job *)b)->submit_ns;
    return (x > y) - (x < y);
}

static bool batsim_next(struct workload *w, struct workload_job *job, GError **error)
{
    const struct batsim *batsim = (const struct batsim *)w;
    if (job->index == w->jobs)
        return false;
    const struct batsim_job *from = &g_array_index(batsim->jobs, struct batsim_job, job->index);
    job->number = from->number;
    job->name = from->name;
    job->profile = from->profile;
    job->submit_ns = from->submit_ns;
    job->duration_ns = from->duration_ns;
    job->limit_ns = from->limit_ns;
    job->slots = from->processors;
    job->cores_per_slot = 1;
    return true;
}

static void batsim_free(struct workload *w)
{
    struct batsim *batsim = (struct batsim *)w;
    g_array_free(batsim->jobs, TRUE);
    g_string_chunk_free(batsim->texts);
    g_free(batsim);
}

static const struct workload_type batsim_type = { .next = batsim_next, .free = batsim_free };

struct workload *workload_batsim_new(const char *path, GError **error)
{
    char *text;
    size_t size;
    if (!file_load(path, FILE_BYTES_MAX, &text, &size, error))
        return NULL;
    struct json_document *d = json_parse(path, text, size, error);
    g_free(text);
    if (d == NULL)
        return NULL;
    struct batsim *batsim = g_new0(struct batsim, 1);
    batsim->base.type = &batsim_type;
    batsim->jobs = g_array_new(FALSE, FALSE, sizeof(struct batsim_job));
    batsim->texts = g_string_chunk_new(4096);
    bool ok = document_read(batsim, d, error);
    json_document_free(d);
    if (!ok) {
        batsim_free(&batsim->base);
        return NULL;
    }
    g_array_sort_with_data(batsim->jobs, submit_compare, NULL);
    batsim->base.jobs = batsim->jobs->len;
    for (guint i = 0; i < batsim->jobs->len; i++) {
        const struct batsim_job *job = &g_array_index(batsim->jobs, struct batsim_job, i);
        batsim->base.extent.last_submit_ns = (double)job->submit_ns;
        batsim->base.extent.core_ns += (double)job->duration_ns * job->processors;
    }
    return &batsim->base;
}

uint32_t workload_batsim_processors(const struct workload *w)
{
    g_assert(w->type == &batsim_type);
    return ((const struct batsim *)w)->processors;
}
