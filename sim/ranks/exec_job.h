/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One job that job-exec (job_exec.h) has taken over, and what it sends for it: transactions, the launch and the signal
 * of its shell, and word to the job manager. In which order that happens is job_exec.c.
 *
 * All functions are local to the actor of job-exec, and charge its costs. The tag of a request is exec_job_tag, so that
 * the answer finds job and step. A job without R (resources NULL) has no place yet: it is neither launched nor
 * signalled.
 */
#ifndef TIERCEL_RANKS_EXEC_JOB_H
#define TIERCEL_RANKS_EXEC_JOB_H

#include "kvs/transaction.h"
#include "ranks/jobs.h"
#include "ranks/protocol.h"
#include "ranks/route.h"
#include "sched/resource.h"

/* What a request of a job is for. */
enum exec_step {
    EXEC_R,
    EXEC_JOBSPEC,
    EXEC_CREATE,
    EXEC_INIT,
    EXEC_LINK,
    EXEC_STARTING,          /* not waited for */
    EXEC_LAUNCH,
    EXEC_COMPLETE,          /* not waited for */
    EXEC_CLEANUP_START,
    EXEC_CLEANUP_FINISH,
    EXEC_DONE,
    EXEC_REFERENCE,
    EXEC_COPY,
    EXEC_REMOVE,
    EXEC_STEPS = 16
};

enum exec_job_stage {
    EXEC_JOB_PREPARING,
    EXEC_JOB_LAUNCHING,     /* stands in the queue of launches */
    EXEC_JOB_LAUNCHED,
    EXEC_JOB_ENDED          /* its shell has ended, or will not be launched */
};

struct exec_job {
    uint64_t number;                /* job-exec's own */
    uint64_t id;
    struct envelope env;            /* of the start request */
    struct allocation *resources;   /* NULL until R was read */
    int64_t duration_ns;            /* of a simulated one */
    int64_t limit_ns;
    int64_t deadline_ns;            /* JOB_LIMITS_NONE: no limit runs */
    uint32_t waiting;               /* before the launch: bits 1 << step that are not done */
    bool killed;                    /* to end early */
    uint8_t stage;                  /* enum exec_job_stage */
    uint8_t watched;
    struct transaction *log;        /* entries collected for exec.eventlog; NULL: none */
    int64_t log_due_ns;             /* when they are committed at the latest */
    int64_t times[JOB_TIMES];
};

void exec_job_free(void *job);
void exec_job_save(const struct exec_job *job, struct bytes *sink);

/* job->number x EXEC_STEPS + step */
uint64_t exec_job_tag(const struct exec_job *job, enum exec_step step);

/* What one commit or answer costs; the other functions do it by themselves. */
void exec_job_charge(struct actor *self);

/* Commits an entry to the event log of the guest namespace; what was collected of that log; the link to the namespace;
 * and in its place its root, as a lookup of LOOKUP_OBJECT gave it. */
void exec_job_commit_event(struct actor *self, const struct exec_job *job, enum exec_step step, const char *name,
                           const char *context);
void exec_job_commit_log(struct actor *self, struct exec_job *job, enum exec_step step);
void exec_job_commit_link(struct actor *self, const struct exec_job *job);
void exec_job_commit_copy(struct actor *self, const struct exec_job *job, const char *reference, size_t size);

/* An entry that nothing waits for: committed, or collected where there are windows (instance.exec_batch_ns). */
void exec_job_log(struct actor *self, struct exec_job *job, enum exec_step step, const char *name,
                  const char *context);

/* Word to the job manager, in answer to its start request. */
void exec_job_answer(struct actor *self, const struct exec_job *job, enum job_exec_answer type, uint32_t status);

/* What was looked up, or came with the start request. Texts that cannot be used end the run. */
void exec_job_take_resources(struct actor *self, struct exec_job *job, const char *text, size_t size);
void exec_job_take_jobspec(struct actor *self, struct exec_job *job, const char *text, size_t size);

void exec_job_launch(struct actor *self, struct exec_job *job);
void exec_job_signal(struct actor *self, const struct exec_job *job, uint32_t signal);

/* The shell has ended with this wait status, or will not be launched: says so, and begins to clean up. */
void exec_job_end(struct actor *self, struct exec_job *job, uint32_t status);

#endif
