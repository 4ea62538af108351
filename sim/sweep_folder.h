/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folder of a sweep, and who plays which of its points (doc/design.md, section 7, "Sweeps").
 *
 *     struct sweep_folder folder;
 *     sweep_folder_open(&folder, "runs/x-sweep", identity, false, &error);         process 0: makes it, or goes on
 *     sweep_folder_join(&folder, "runs/x-sweep", &error);                          the other processes
 *     switch (sweep_folder_claim(&folder, point, retry, &claim, &error)) ...
 *     case SWEEP_CLAIMED: play into claim.part; then one of
 *         sweep_claim_finish(&folder, &claim, &error);                it is whole
 *         sweep_claim_fail(&folder, &claim, reason, &error);          it failed
 *         sweep_claim_release(&claim);                       it was stopped: as if it had never been begun
 *     sweep_folder_release(&folder);
 *
 * A point belongs to the process that holds the lock (flock) on its claim. The claim is created exclusively; one that
 * is there and not locked is of a process that died, and is taken over at most once more; unless all processes of that
 * command died at it, which no point can bring about (a launcher asks the others to end first). The system lets go of
 * locks when a process ends, however it ends, on every machine that shares the file system. Whatever a process does is
 * one rename or one unlink away from being done, so that kill -9 at any moment leaves a point open, done or failed.
 *
 * Points count from 0 here, and from 1 in names. All functions are local.
 */
#ifndef TIERCEL_SWEEP_FOLDER_H
#define TIERCEL_SWEEP_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define SWEEP_FOLDER_TSV "results.tsv"
#define SWEEP_FOLDER_HDF5 "results.h5"
#define SWEEP_FOLDER_POINTS "points.tsv"
#define SWEEP_FOLDER_MANIFEST "manifest.json"

enum { SWEEP_ATTEMPTS_MAX = 2 };    /* how often the process of a point may die before the point has failed */

struct sweep_folder {
    char *path;
    int lock;                       /* shared by all who are at work here */
    char *session;                  /* this command, among all that were given here */
    unsigned processes;             /* of it */
};

/*
 * Makes the folder, or goes on with one whose sweep has the same identity (lines that begin with '#' do not count,
 * except the first). With `force` what an earlier sweep left is removed first. FALSE with *error: it is a folder of
 * something else or of another sweep (INPUT), somebody is at work in what is to be removed (INPUT), it cannot be made,
 * or its file system has no locks (RUNTIME).
 */
gboolean sweep_folder_open(struct sweep_folder *folder, const char *path, const char *identity, bool force,
                           GError **error);
gboolean sweep_folder_join(struct sweep_folder *folder, const char *path, GError **error);
/* Who this is in claims: the same words on all processes of one command. Before the first claim. */
void sweep_folder_introduce(struct sweep_folder *folder, const char *session, unsigned processes);
void sweep_folder_release(struct sweep_folder *folder);

/* For what only one may do at a time, such as writing the table; waits. -1 with *error; unlock with
 * sweep_folder_unlock. */
int sweep_folder_lock(const struct sweep_folder *folder, GError **error);
void sweep_folder_unlock(int lock);

/* Whether the disk takes a megabyte. */
bool sweep_folder_has_room(const struct sweep_folder *folder);

/* --- points --- */

enum sweep_state {
    SWEEP_OPEN,                     /* first: what nothing is known of */
    SWEEP_DONE,
    SWEEP_FAILED
};
/* Of one point; of all at once sweep_states.h tells. */
enum sweep_state sweep_folder_state(const struct sweep_folder *folder, unsigned point);

/* A file in the folder, or of a finished point. Free with g_free. */
char *sweep_folder_file(const struct sweep_folder *folder, const char *name);
char *sweep_folder_point_file(const struct sweep_folder *folder, unsigned point, const char *name);

/* Why a point failed, one line; free with g_free. */
char *sweep_folder_reason(const struct sweep_folder *folder, unsigned point);

/* Makes a failed point open again. */
void sweep_folder_retry(const struct sweep_folder *folder, unsigned point);

/* --- claims --- */

struct sweep_claim {
    unsigned point;
    int64_t before;                 /* bytes of the claim without this attempt */
    int fd;
    char *path;
    char *part;                     /* where to write; not there yet */
};

enum sweep_outcome {
    SWEEP_CLAIMED,
    SWEEP_BUSY,                     /* a living process plays it */
    SWEEP_SETTLED,                  /* done or failed */
    SWEEP_INTERRUPTED,              /* its process died; only without `retry` */
    SWEEP_ERROR
};

/* Takes back what was counted against points when all processes of a command were killed at once. */
void sweep_folder_forgive(const struct sweep_folder *folder);

/* With `retry` also takes over the point of a process that died, or lets the point fail when that was the last
 * attempt. */
enum sweep_outcome sweep_folder_claim(const struct sweep_folder *folder, unsigned point, bool retry,
                                      struct sweep_claim *claim, GError **error);
/* Each ends the claim, also on failure: the point is then as if it had not been begun this time. */
gboolean sweep_claim_finish(const struct sweep_folder *folder, struct sweep_claim *claim, GError **error);
gboolean sweep_claim_fail(const struct sweep_folder *folder, struct sweep_claim *claim, const char *reason,
                          GError **error);
void sweep_claim_release(struct sweep_claim *claim);

#endif
