/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * [system] kind = io: writers of shared files; and what jobs of other systems need to write one.
 *
 * Each group [io.NAME] is an experiment of its own, with its own writers, mounts and server, so that several can be
 * compared in one run. Its roles are copies under names of their own: writer-NAME, mount-NAME, meeting-NAME,
 * storage-NAME. A job system has one file, and the roles mount and storage behind its own.
 */
#ifndef TIERCEL_SCENARIO_FILE_H
#define TIERCEL_SCENARIO_FILE_H

#include <math.h>

#include "ranks/file_program.h"
#include "ranks/mount.h"
#include "ranks/shared_file.h"
#include "scenario.h"
#include "scenario_file_live.h"

/* --- for kind = io --- */

enum {
    FILE_ROLES = 4,
    FILE_GROUPS_MOST = 60               /* four roles each, of the engine's 256 */
};

struct file_group {
    const char *deck_group;         /* "io.NAME" */
    const char *name;
    struct shared_file file;
    struct role roles[FILE_ROLES];  /* writer, mount, meeting, storage */
    char *role_names[FILE_ROLES];
    int against;                    /* index of a group, or -1 */

    /* On the live clock: one role alone, the program. */
    struct file_program program;
    struct file_live live;
};

struct file_scenario {
    struct file_group *groups;
    unsigned group_count;
    uint32_t actors;
    uint32_t nodes;                 /* mounts and servers of all groups */
    bool by_role;
    bool live;
    bool rows;                      /* the trace has a table of writes */
    struct engine_link link;
    struct engine_link local_link;
    const struct role **roles;
    const char *names[FILE_GROUPS_MOST + 1];            /* of the groups, ended by NULL */
    struct table_column columns[MOUNT_WRITE_COLUMNS];
    struct table table;                 /* a row a write */
};

extern const struct scenario_kind scenario_file;

void file_estimate(const void *data, struct scenario_estimate *estimate);
uint64_t file_rows(const void *data);
void file_summarise(const void *data, const struct scenario_run *run, struct summary *summary, GArray *balances);
void file_headline(const void *data, const struct summary *summary, FILE *out);
void file_details(const void *data, const struct summary *summary, FILE *out);

/* --- the same on the live clock, scenario_file_live.c --- */

/* Reads what only that needs, and complains of what it cannot play. */
void file_live_read_groups(struct file_scenario *s, struct deck *deck);
void file_live_populate(const struct file_scenario *s, struct engine *e);
uint32_t file_live_processes(const void *data, const char **why);
/* Rows of the trace: one each call that wrote, of the library's own collective ones as well; none of preparation. */
uint64_t file_live_rows(const struct file_group *group);
gboolean file_live_perform(const void *data, MPI_Comm comm, const char *folder, uint32_t act, struct bytes *result,
                           GError **error);
/* Measures what writing takes in the deck's folder; appends a cost profile, behind comments. Collective. */
gboolean file_live_calibrate(const void *data, MPI_Comm comm, GString *text, GError **error);

/* --- for all systems --- */

/* Reads a group [io.NAME], [lock] and [server]; complains to the deck. Actors, local_ns and, where jobs write
 * (`jobs_write`), the number of writers are the caller's, which then calls file_finish. */
void file_read(struct shared_file *f, struct deck *deck, const char *deck_group, bool jobs_write);

/* `runs`: how many jobs there are at most, each of which writes as many blocks as a writer; 1 with kind = io. */
void file_finish(struct shared_file *f, struct deck *deck, const char *deck_group, uint64_t runs);

/* The figures of the roles with these names, which are there. */
struct summary_file file_figures(const struct collector *figures, const char *mount, const char *storage);

/* The group io of the summary, from the sum over files; `span_s` is the time that the bandwidth is over. */
void file_summarise_all(struct summary *summary, const struct summary_file *sum, double span_s);

#define FILE_MIB 1048576.0

/* Below 0: not known. */
static inline double file_seconds(int64_t ns)
{
    return ns < 0 ? NAN : (double)ns / 1e9;
}

/* About how many messages all writes of one writer, or of one job, take. */
double file_run_messages(const struct shared_file *f);

/* --- for systems whose jobs write --- */

struct job_file {
    bool used;                      /* [workload] io names one */
    struct shared_file file;
    const struct role **roles;      /* the system's own, mount and storage; NULL-ended. NULL when not used */
    uint32_t mounts_per_part;
    struct job_file_live *live;     /* on the live clock, where the file is really written; else NULL */
};

/* What the system looks like. */
struct job_file_shape {
    uint32_t parts;                 /* nodes, or services */
    uint32_t slots;                 /* of a part: who may write at a time */
    uint32_t slots_per_mount;       /* of a part; the last mount may have fewer */
    uint32_t first_actor;           /* behind the system's own */
    int64_t local_ns;               /* a message from a slot to its mount */
    uint64_t jobs;                  /* at most */
    const struct role *const *roles;
};

/* Reads what [workload] io names, and complains to the deck of what cannot be. */
void job_file_init(struct job_file *j, struct deck *deck, const struct job_file_shape *shape);
void job_file_release(struct job_file *j);

/* Mounts, part by part, and the storage. */
uint32_t job_file_actors(const struct job_file *j);
/* The role of one of these actors, and the part it belongs to; the storage's is parts. */
const struct role *job_file_place(const struct job_file *j, uint32_t actor, uint32_t *part);

/* The groups io and files, and the balances; `span_s` is the time that the bandwidth is over. */
void job_file_summarise(const struct job_file *j, const struct scenario_run *run, struct summary *summary,
                        GArray *balances, double span_s);

/* --- the same on the live clock, scenario_file_jobs_live.c: begin to end are what struct scenario_kind has --- */

void job_file_live_init(struct job_file *j, struct deck *deck, const char *group);
void job_file_live_free(struct job_file_live *live);
gboolean job_file_begin(const struct job_file *j, MPI_Comm comm, const char *folder, bool *awake, GError **error);
gboolean job_file_write(const struct job_file *j, const void *request, size_t size, uint16_t *kind, uint64_t *word,
                        GError **error);
gboolean job_file_end(const struct job_file *j, bool good, GError **error);
void job_file_live_summarise(const struct job_file *j, const struct scenario_run *run, struct summary *summary,
                             GArray *balances, double span_s);

void job_file_details(const struct job_file *j, const struct summary *summary, FILE *out);

#endif
