/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario_source.h"

#include <string.h>

#include "workload/batsim.h"
#include "workload/bulk.h"
#include "workload/jobspec.h"

/* --- from the deck --- */

static void read_rules(struct swf_rules *rules, const struct deck *deck)
{
    rules->overrun = (enum swf_overrun)deck_choice(deck, "workload", "overrun", NULL);
    rules->missing_limit = (enum swf_missing_limit)deck_choice(deck, "workload", "missing-limit", NULL);
    rules->pieces = (enum swf_pieces)deck_choice(deck, "workload", "checkpointed", NULL);
    rules->allocated_first = deck_choice(deck, "workload", "processors", NULL) == 1;
    rules->drop_zero_run = deck_choice(deck, "workload", "zero-run", NULL) == 1;
    rules->ignore_dependencies =
        !deck_has(deck, "workload", "dependencies") || deck_choice(deck, "workload", "dependencies", NULL) == 1;
    rules->shift_start = deck_boolean(deck, "workload", "shift-start");
}

static void read_made(struct job_source *source, const struct deck *deck)
{
    source->jobs = (uint64_t)deck_integer(deck, "workload", "jobs");
    source->cores = (uint32_t)deck_integer_or(deck, "workload", "cores", 1);
    source->duration = deck_distribution(deck, "workload", "duration");
    if (deck_has(deck, "workload", "interval"))
        source->interval = deck_distribution(deck, "workload", "interval");
    source->limit_ns = deck_integer_or(deck, "workload", "limit", source->limit_ns);
    if (source->type == JOB_SOURCE_POISSON)
        source->extent.last_submit_ns = (double)source->jobs * distribution_mean_ns(&source->interval);
    source->extent.core_ns = (double)source->jobs * distribution_mean_ns(&source->duration) * source->cores;
}

static const char *path_key(const struct job_source *source)
{
    return source->type == JOB_SOURCE_JOBSPEC ? "dir" : "file";
}

bool job_source_read(struct job_source *source, const struct deck *deck)
{
    *source = (struct job_source){ .limit_ns = WORKLOAD_NO_LIMIT, .cores = 1,
                                   .counts = g_array_new(FALSE, FALSE, sizeof(struct workload_count)) };
    if (!deck_has(deck, "workload", "source") || !deck_usable(deck, "workload", "source"))
        return false;
    source->type = (enum job_source_type)deck_choice(deck, "workload", "source", NULL);
    switch (source->type) {
    case JOB_SOURCE_BULK:
    case JOB_SOURCE_POISSON:
        read_made(source, deck);
        return true;
    case JOB_SOURCE_JOBSPEC:
        source->repeat = (uint64_t)deck_integer(deck, "workload", "repeat");
        break;
    case JOB_SOURCE_SWF:
        read_rules(&source->rules, deck);
        break;
    case JOB_SOURCE_BATSIM:
        break;
    default:
        return false;
    }
    if (deck_has(deck, "workload", path_key(source)) && deck_usable(deck, "workload", path_key(source)))
        source->path = g_strdup(deck_text(deck, "workload", path_key(source)));
    return true;
}

void job_source_release(struct job_source *source)
{
    if (source->looked_at != NULL)
        workload_free(source->looked_at);
    if (source->counts != NULL)
        g_array_free(source->counts, TRUE);
    g_free(source->path);
    memset(source, 0, sizeof *source);
}

/* --- opening --- */

static int64_t draw_duration(void *context, uint64_t index)
{
    const struct job_source *source = context;
    return actor_draw_duration(source->actor, source->stream_duration, &source->duration);
}

static int64_t draw_gap(void *context, uint64_t index)
{
    const struct job_source *source = context;
    return actor_draw_duration(source->actor, source->stream_gap, &source->interval);
}

static struct workload *open_made(struct job_source *source, struct actor *actor)
{
    struct workload_bulk bulk = {
        .jobs = source->jobs, .slots = source->with_text ? 1 : source->cores,
        .cores_per_slot = source->with_text ? source->cores : 1, .duration_ns = source->duration.a_ns,
        .limit_ns = source->limit_ns, .without_text = !source->with_text
    };
    source->actor = actor;
    bulk.draw_context = bulk.gap_context = source;
    if (source->duration.type != DISTRIBUTION_CONSTANT)
        bulk.draw = draw_duration;
    if (source->type == JOB_SOURCE_POISSON)
        bulk.gap = draw_gap;
    return workload_bulk_new(&bulk);
}

static struct workload *open_files(const struct job_source *source, GError **error)
{
    switch (source->type) {
    case JOB_SOURCE_JOBSPEC:
        return workload_jobspec_new(source->path, source->repeat, error);
    case JOB_SOURCE_SWF:
        return workload_swf_new(source->path, &source->rules, error);
    default:
        return workload_batsim_new(source->path, error);
    }
}

static bool has_files(const struct job_source *source)
{
    return source->type != JOB_SOURCE_BULK && source->type != JOB_SOURCE_POISSON &&
           source->type != JOB_SOURCE_NAMESPACES;
}

struct workload *job_source_open(const void *data, struct actor *actor, GError **error)
{
    struct job_source *source = (struct job_source *)data;

    if (!has_files(source))
        return open_made(source, actor);
    return source->looked_at != NULL ? g_steal_pointer(&source->looked_at) : open_files(source, error);
}

/* --- a look at the files --- */

static void note(struct job_source *source)
{
    const struct workload *w = source->looked_at;
    size_t number;
    const struct workload_count *counts = workload_counts(w, &number);
    source->jobs = workload_jobs(w);
    source->extent = workload_extent(w);
    for (size_t i = 0; i < number; i++)
        g_array_append_val(source->counts, counts[i]);
    if (source->type == JOB_SOURCE_BATSIM) {
        source->processors = workload_batsim_processors(w);
        source->processors_stated = source->processors > 0;
    } else if (source->type == JOB_SOURCE_SWF) {
        const struct swf_header *header = workload_swf_header(w);
        source->processors_stated = header->max_procs > 0 || header->max_nodes > 0;
        source->processors = header->max_procs > 0 ? header->max_procs
                             : header->max_nodes > 0 ? header->max_nodes : header->widest;
    }
}

void job_source_check(struct job_source *source, struct deck *deck, struct share *share, uint32_t machine)
{
    GError *local = NULL;
    g_autoptr(GError) error = NULL;
    const char *key = path_key(source);
    if (!has_files(source))
        return;
    if (source->path == NULL) {
        if (deck_usable(deck, "workload", key))
            deck_complain(deck, "workload", key, "is not stated; expected the path of a %s",
                          source->type == JOB_SOURCE_JOBSPEC ? "directory of jobspec files" : "file of jobs");
        return;
    }
    source->rules.processors = machine;
    if (share->process == 0) {
        source->looked_at = open_files(source, &local);
        if (source->looked_at != NULL)
            note(source);
    }
    if (!share_agree(share, local, &error)) {
        g_auto(GStrv) lines = g_strsplit(error->message, "\n", 0);
        for (unsigned i = 0; lines[i] != NULL; i++)
            if (*lines[i] != '\0')
                deck_complain(deck, "workload", key, "%s", lines[i]);
    }
    MPI_Bcast(&source->jobs, 1, MPI_UINT64_T, 0, share->comm);
    MPI_Bcast(&source->processors, 1, MPI_UINT32_T, 0, share->comm);
    MPI_Bcast(&source->extent.last_submit_ns, 1, MPI_DOUBLE, 0, share->comm);
    MPI_Bcast(&source->extent.core_ns, 1, MPI_DOUBLE, 0, share->comm);
}
