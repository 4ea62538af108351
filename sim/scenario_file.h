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

#include "ranks/shared_file.h"
#include "scenario.h"

/* --- for kind = io --- */

enum { FILE_ROLES = 4 };

struct file_group {
    const char *deck_group;         /* "io.NAME" */
    const char *name;
    struct shared_file file;
    struct role roles[FILE_ROLES];  /* writer, mount, meeting, storage */
    char *role_names[FILE_ROLES];
    int against;                    /* index of a group, or -1 */
};

struct file_scenario {
    struct file_group *groups;
    unsigned group_count;
    uint32_t actors;
    uint32_t nodes;                 /* mounts and servers of all groups */
    bool by_role;
    struct engine_link link;
    struct engine_link local_link;
    const struct role **roles;
};

extern const struct scenario_kind scenario_file;

void file_summarise(const void *data, const struct scenario_run *run, struct summary *summary, GArray *balances);
void file_headline(const void *data, const struct summary *summary, FILE *out);
void file_details(const void *data, const struct summary *summary, FILE *out);

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

/* The group [io.NAME] that [workload] io names, or NULL; complains where there is none of that name. For systems whose
 * jobs write. */
const char *file_group_of_jobs(struct deck *deck);

#endif
