/* SPDX-License-Identifier: BSD-3-Clause */
/* [system] kind = io on the live clock: from the groups [io.NAME] to files that are really written (io/mpiio.h). */
#include "io/mpiio.h"
#include "ranks/file_program.h"
#include "scenario_file.h"
#include "trace/trace.h"

/* --- from the deck --- */

static void check_sizes(const struct file_group *group, struct deck *deck)
{
    const struct shared_file *f = &group->file;
    uint64_t length = f->pattern.transfer;

    if (f->collective.kind != COLLECTIVE_NONE)
        length = group->live.locked && f->plan.aggregators != 0
                     ? MAX(MIN(f->plan.cycle_bytes, f->plan.domain_bytes), f->collective.block * f->collective.pieces)
                     : f->collective.block * f->collective.pieces;
    if (length > MPIIO_WRITE_MOST_BYTES)
        deck_complain(deck, group->deck_group, "transfer", "makes calls of %" G_GUINT64_FORMAT " bytes; expected at "
                      "most %d on the live clock", length, MPIIO_WRITE_MOST_BYTES);
}

static void check_group(const struct file_group *group, struct deck *deck)
{
    const struct shared_file *f = &group->file;
    const char *name = group->deck_group;

    if (f->think.type != DISTRIBUTION_CONSTANT)
        deck_complain(deck, name, "think", "'%s' is drawn; expected a constant on the live clock",
                      deck_text(deck, name, "think"));
    if (group->live.locked && f->each)
        deck_complain(deck, name, "files", "'each' has nothing to lock on the live clock; expected lock = none, or "
                      "files = one");
    check_sizes(group, deck);
}

/* They come with the end of the act, all at once. */
static void check_rows(const struct file_group *group, struct deck *deck)
{
    uint64_t rows = file_live_rows(group);

    if (rows > PROGRAM_ROWS_MOST)
        deck_complain(deck, group->deck_group, "segments", "makes %" G_GUINT64_FORMAT " writes, of which the trace "
                      "tells on the live clock; expected at most %d, or [trace] level = stats", rows,
                      PROGRAM_ROWS_MOST);
}

void file_live_read_groups(struct file_scenario *s, struct deck *deck)
{
    s->rows = deck_choice(deck, "trace", "level", NULL) >= TRACE_LEVEL_JOBS;
    for (unsigned i = 0; i < s->group_count; i++) {
        struct file_group *group = &s->groups[i];
        file_live_read(&group->live, &group->file, deck, group->deck_group);
        group->program = (struct file_program){ .act = i, .first = i == 0, .row_name = (uint8_t)i,
                                                .next = i + 1 == s->group_count ? PROGRAM_NOBODY : i + 1 };
        check_group(group, deck);
        if (s->rows)
            check_rows(group, deck);
    }
}

/* --- actors --- */

void file_live_populate(const struct file_scenario *s, struct engine *e)
{
    engine_set_link(e, 0, 0, s->link);
    engine_set_local_link(e, s->local_link);
    for (unsigned i = 0; i < s->group_count; i++)
        engine_add_actor(e, &(struct engine_actor){
            .role = &s->groups[i].roles[0], .setup = &s->groups[i].program, .node = 0, .process = 0,
            .thread_group = ENGINE_NO_GROUP, .cpu_group = ENGINE_NO_GROUP
        });
}

uint32_t file_live_processes(const void *data, const char **why)
{
    const struct file_scenario *s = data;
    uint32_t most = 1;

    for (unsigned i = 0; i < s->group_count; i++)
        most = MAX(most, s->groups[i].file.writers);
    *why = "one for each writer";
    return most;
}

/* --- the act --- */

enum { ROWS_RESERVED = 1 << 16 };       /* of a process: until then writing waits for no memory */

/* As the role reads them: in time from the end of the act, which it knows. */
static void put_rows(struct bytes *out, const GArray *rows, int64_t end_ns, bool each)
{
    for (unsigned i = 0; i < rows->len; i++) {
        const struct mpiio_row *row = &g_array_index(rows, struct mpiio_row, i);
        program_row_put(out, &(struct mount_row){
            .writer = row->writer, .file = each ? row->writer : 0, .offset = row->offset, .length = row->length,
            .asked_ns = row->asked_ns - end_ns, .locked_ns = row->locked_ns - end_ns,
            .ended_ns = row->ended_ns - end_ns,
            .held = row->how == MPIIO_ROW_EXCLUSIVE ? MOUNT_HELD_EXCLUSIVE
                    : row->how == MPIIO_ROW_SHARED  ? MOUNT_HELD_SHARED
                                                    : MOUNT_HELD_UNLOCKED
        });
    }
}

gboolean file_live_perform(const void *data, MPI_Comm comm, const char *folder, uint32_t act, struct bytes *result,
                           GError **error)
{
    const struct file_scenario *s = data;
    const struct file_group *group = &s->groups[act];
    g_autofree char *path = file_live_path(&group->live, folder, group->name);
    /* A run without a folder has no trace. */
    guint writes = (guint)MIN(pattern_writes(&group->file.pattern), ROWS_RESERVED);
    g_autoptr(GArray) rows = s->rows && folder != NULL
                                 ? g_array_sized_new(FALSE, FALSE, sizeof(struct mpiio_row), writes) : NULL;
    struct mpiio_figures figures;
    struct mpiio_job job;

    file_live_describe(&group->live, &group->file, path, &job);
    job.rows = rows;
    if (!mpiio_job_run(comm, act, &job, &figures, error))
        return FALSE;
    file_live_put(result, &figures);
    if (rows != NULL)
        put_rows(result, rows, figures.end_ns, group->file.each);
    return TRUE;
}
