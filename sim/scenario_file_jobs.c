/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared file of a system whose jobs write: from [workload] io to actors, and from their figures to the summary. */
#include <math.h>
#include <string.h>

#include "ranks/mount.h"
#include "ranks/storage.h"
#include "scenario_file.h"
#include "scenario_parts.h"

/* The group [io.NAME] that [workload] io names, or NULL. */
static const char *group_of_jobs(struct deck *deck)
{
    const char *wanted = deck_text(deck, "workload", "io");
    const char *group;

    for (unsigned i = 0; (group = deck_named_group(deck, "io", i)) != NULL; i++)
        if (strcmp(strchr(group, '.') + 1, wanted) == 0)
            return group;
    deck_complain(deck, "workload", "io", "'%s' is no group of this deck; expected the NAME of a group [io.NAME]",
                  wanted);
    return NULL;
}

static void read_prepare(struct shared_file *f, struct deck *deck, const char *group)
{
    if (f->prepare == PREPARE_SET_SIZE)
        f->prepare = PREPARE_SIZED;
    if (f->prepare == PREPARE_ALLOCATE)
        deck_complain(deck, group, "pre-extend", "'preallocate' has no writer to do it where jobs write; expected "
                      "none, set-size or fill");
}

static void join_roles(struct job_file *j, const struct role *const *own)
{
    unsigned count = 0;

    while (own[count] != NULL)
        count++;
    j->roles = g_new0(const struct role *, count + 3);
    memcpy(j->roles, own, count * sizeof *own);
    j->roles[count] = &role_mount;
    j->roles[count + 1] = &role_storage;
}

void job_file_init(struct job_file *j, struct deck *deck, const struct job_file_shape *shape)
{
    struct shared_file *f = &j->file;

    *j = (struct job_file){ .used = false };
    if (!deck_has(deck, "workload", "io"))
        return;
    const char *group = group_of_jobs(deck);
    if (group == NULL)
        return;
    file_read(f, deck, group, true);
    read_prepare(f, deck, group);
    j->used = true;
    j->mounts_per_part = (shape->slots + shape->slots_per_mount - 1) / shape->slots_per_mount;
    f->writers = shape->parts * shape->slots;
    f->writers_per_node = shape->slots_per_mount;
    f->mounts = shape->parts * j->mounts_per_part;
    f->first_mount = shape->first_actor;
    f->storage = f->first_mount + f->mounts;
    f->local_ns = shape->local_ns;
    file_finish(f, deck, group, MAX(shape->jobs, 2));
    if (deck_is_live(deck))
        job_file_live_init(j, deck, group);
    join_roles(j, shape->roles);
}

void job_file_release(struct job_file *j)
{
    job_file_live_free(j->live);
    g_free(j->roles);
}

uint32_t job_file_actors(const struct job_file *j)
{
    return j->used ? j->file.mounts + 1 : 0;
}

const struct role *job_file_place(const struct job_file *j, uint32_t actor, uint32_t *part)
{
    *part = (actor - j->file.first_mount) / j->mounts_per_part;
    return actor == j->file.storage ? &role_storage : &role_mount;
}

void job_file_summarise(const struct job_file *j, const struct scenario_run *run, struct summary *summary,
                        GArray *balances, double span_s)
{
    if (!j->used)
        return;
    if (j->live != NULL) {
        job_file_live_summarise(j, run, summary, balances, span_s);
        return;
    }
    struct summary_file x = file_figures(run->figures, role_mount.name, role_storage.name);
    x.prepared_s = 0;
    x.ended_s = span_s;
    x.bandwidth_bytes_per_s = statistic_ratio((double)x.bytes, span_s);
    x.mib_per_s = x.bandwidth_bytes_per_s / FILE_MIB;
    x.writes_per_s = statistic_ratio((double)x.writes, span_s);
    summary_file(summary, j->file.name, &x);
    file_summarise_all(summary, &x, span_s);
    if (run->result->end != ENGINE_ENDED)
        return;
    scenario_balance_add(balances, "writes", "bytes of the writes of jobs", x.writes * j->file.pattern.transfer,
                         "written", x.bytes);
    scenario_balance_add(balances, "locks", "writes", x.writes, "exclusive and shared",
                         x.exclusive_locks + x.shared_locks);
}

void job_file_details(const struct job_file *j, const struct summary *summary, FILE *out)
{
    double bytes, writes, exclusive, wait_s;

    if (!j->used || !summary_lookup(summary, "io.bytes", &bytes, NULL))
        return;
    summary_lookup(summary, "io.writes", &writes, NULL);
    summary_lookup(summary, "io.exclusive_locks", &exclusive, NULL);
    summary_lookup(summary, "io.lock_wait_s", &wait_s, NULL);
    if (isnan(wait_s))
        fprintf(out, "file %s: %.1f MiB in %.0f writes\n", j->file.name, bytes / (1 << 20), writes);
    else
        fprintf(out, "file %s: %.1f MiB in %.0f writes, %.0f of them exclusive, each %.3f ms for its lock on average\n",
                j->file.name, bytes / (1 << 20), writes, exclusive, wait_s * 1000);
}
