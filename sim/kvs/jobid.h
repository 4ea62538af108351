/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Job ids, and where a job's data stand in the store.
 *
 *     struct jobid_source s;
 *     jobid_source_init(&s, node, 600 * 1000);
 *     int64_t valid_ns = jobid_next(&s, now_ns, &id);
 *     char key[JOBID_KEY_SIZE];
 *     jobid_to_key(id, key);                          "job.0000.0927.c000.0000"
 *
 * An id is 40 bits of milliseconds since the instance began, 14 bits of the node that gave it out and 10 bits that
 * count within the millisecond (flux-core, src/common/libutil/fluid.c). All functions are local.
 */
#ifndef TIERCEL_KVS_JOBID_H
#define TIERCEL_KVS_JOBID_H

#include <stdbool.h>
#include <stdint.h>

enum {
    JOBID_NODE_BITS = 14,
    JOBID_SEQUENCE_BITS = 10,
    JOBID_KEY_SIZE = 24,            /* "job." and four groups, with the terminator */
    JOBID_NAMESPACE_SIZE = 25       /* "job-" and up to 20 digits */
};

struct jobid_source {
    uint32_t node;          /* below 2^14 */
    int64_t age_ms;         /* of the instance at virtual time 0 */
    int64_t last_ms;        /* of the last id; below 0: none yet */
    uint32_t sequence;      /* of the last id */
};

void jobid_source_init(struct jobid_source *s, uint32_t node, int64_t age_ms);

/* The next id. Returns the virtual time from which on it is valid: `now_ns`, or, when the 1024 ids of this millisecond
 * are used up, the start of the next that has one; the caller waits until then. `now_ns` never falls. */
int64_t jobid_next(struct jobid_source *s, int64_t now_ns, uint64_t *id);

/* The directory of the job's data: "job." and the id as four groups of four hex digits. */
void jobid_to_key(uint64_t id, char key[JOBID_KEY_SIZE]);

/* The same with "." and the name of an entry, say "eventlog"; truncated to `size` like snprintf. Returns its length. */
int jobid_to_entry(uint64_t id, const char *name, char *key, unsigned size);

/* The guest namespace: "job-" and the id in decimal. */
void jobid_to_namespace(uint64_t id, char name[JOBID_NAMESPACE_SIZE]);
/* False when the name is not exactly of that form. */
bool jobid_from_namespace(const char *name, uint64_t *id);

#endif
