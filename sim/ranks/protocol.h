/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The message kinds of a brokered instance, and what they carry.
 *
 * A kind is the number of the role that serves it (enum role_number) in the high byte and a count in the low one. Bit
 * 7 of the low byte, KIND_REPLY, marks the answer to the kind without it. Kinds from 0x40 within a role are its own
 * messages to itself: timers, ends of acts.
 *
 * Notation: "body" is what follows the envelope of a routed message (ranks/route.h); fields stand in order, with the
 * types of base/bytes.h; a text has its terminator in it (key_put_text, key_get_text of kvs/key.h), a span is bytes.
 * "->" is the answer's body. An answer whose envelope has an error carries no body. All requests are routed, all
 * answered exactly once, unless said otherwise. A transaction is as transaction_pack writes it, a reference as
 * blobref_put does.
 */
#ifndef TIERCEL_RANKS_PROTOCOL_H
#define TIERCEL_RANKS_PROTOCOL_H

/* Part of every kind: never renumbered. */
enum role_number {
    ROLE_BROKER = 1,
    ROLE_KVS = 2,               /* kvs-root on node 0, kvs-worker elsewhere */
    ROLE_WATCHER = 3,
    ROLE_CONTENT = 4,
    ROLE_JOB_INFO = 5,
    ROLE_INGEST = 6,
    ROLE_JOB_MANAGER = 7,
    ROLE_SCHEDULER = 8,
    ROLE_JOB_EXEC = 9,
    ROLE_EXECUTOR = 10,
    ROLE_CLIENT = 11,
    ROLE_NUMBERS                /* one above the highest */
};

enum { KIND_REPLY = 0x80 };

#define KIND_ROLE(kind) ((kind) >> 8)
#define KIND(role, count) ((role) << 8 | (count))

/* --- broker --- */
enum broker_kind {
    /* Any module or client to its own broker, not routed, usually with actor_call. Payload: topic text. Answer: word, 0
     * or an errno (unsubscribe: ENOENT when no entry is equal). */
    BROKER_SUBSCRIBE = KIND(ROLE_BROKER, 1),
    BROKER_UNSUBSCRIBE = KIND(ROLE_BROKER, 2),
    /* An event on its way up, hop by hop, to broker 0; not routed, not answered. Payload: class u8, topic text, body
     * span. The kvs publishes this way. */
    BROKER_PUBLISH = KIND(ROLE_BROKER, 3),
    /* To broker 0. Body: as the payload of BROKER_PUBLISH -> sequence u64, once numbered. The job manager publishes
     * job-state this way. */
    BROKER_PUBLISH_REQUEST = KIND(ROLE_BROKER, 4),
    /* A numbered event: broker to child broker, broker to local module or client. Not routed, not answered. Payload:
     * sequence u64, class u8, topic text, body span (route_event reads it). */
    BROKER_EVENT = KIND(ROLE_BROKER, 5),
    /* A client to its own broker, not routed, with actor_call: registers or withdraws a service of its own by name, as
     * a shell does. Payload: name text. Answer: word, 0 or an errno (EEXIST; withdrawing: ENOENT). Costs the broker as
     * much as a subscription call. */
    BROKER_SERVICE_ADD = KIND(ROLE_BROKER, 6),
    BROKER_SERVICE_REMOVE = KIND(ROLE_BROKER, 7),

    BROKER_HEARTBEAT = KIND(ROLE_BROKER, 0x40)      /* background timer on broker 0 */
};

/*
 * Bodies of the events, by enum event_class:
 *
 * EVENT_SETROOT, EVENT_ERROR, EVENT_REMOVED, EVENT_CREATED     as kvs/event.h writes and reads them
 * EVENT_JOB_STATE   count u32, then for each transition: job id u64, state u8 (enum job_state). May be empty
 * EVENT_HEARTBEAT   count u64 of heartbeats, from 1
 */

/* Of RFC 21; values as in events. */
enum job_state {
    JOB_NEW = 0,
    JOB_DEPEND = 1,
    JOB_SCHED = 2,
    JOB_RUN = 3,
    JOB_CLEANUP = 4,
    JOB_INACTIVE = 5
};

/* --- kvs --- */
enum kvs_kind {
    /* Anyone to the kvs of its own node. Body: namespace text, transaction (its name is ignored: this kvs gives it one)
     * -> root sequence u64. Answered when the setroot event that names the transaction reaches this node; errors as
     * in the error event, ENOTSUP when the namespace is unknown or being removed. */
    KVS_COMMIT = KIND(ROLE_KVS, 1),
    /* A worker to the root, for a commit it took. No answer: the event is. Body: as KVS_COMMIT, the name counts. */
    KVS_RELAY = KIND(ROLE_KVS, 2),
    /* Anyone to the kvs of its own node. Body: namespace text, key text, type u8 (enum lookup_type, kvs/lookup.h),
     * at u8: 0, or 1 and then root sequence u64, root reference: read there, not at the namespace's present root ->
     * root sequence u64 (of the root it was read at), span: the value's bytes (LOOKUP_VALUE) or the tree object's.
     * Errors: those of kvs/lookup.h; ENOTSUP when the namespace is unknown or being removed. */
    KVS_LOOKUP = KIND(ROLE_KVS, 3),
    /* A worker to the kvs of its parent node. Body: namespace text -> root sequence u64, root reference, owner u32. */
    KVS_GETROOT = KIND(ROLE_KVS, 4),
    /* Anyone to the kvs of node 0. Body: namespace text, owner u32 -> nothing. EEXIST. */
    KVS_NAMESPACE_CREATE = KIND(ROLE_KVS, 5),
    /* Anyone to the kvs of node 0. Body: namespace text -> nothing. Success for an unknown one; ENOTSUP for primary. */
    KVS_NAMESPACE_REMOVE = KIND(ROLE_KVS, 6),
    /* Anyone to the kvs of node 0: a part of a fence (ranks/kvs_fence.h). Body: namespace text, user u32, name of the
     * fence text, participants u32, transaction (its name is ignored) -> root sequence u64, to all participants when
     * the event of that root reaches node 0. EINVAL, EOVERFLOW, EPERM, ENOTSUP. */
    KVS_FENCE = KIND(ROLE_KVS, 7),
    /* Anyone to the kvs of node 0: a wait for a version. Body: namespace text, user u32, sequence u64 -> root sequence
     * u64, when it has been reached. EPERM; ENOTSUP, also when the namespace is removed meanwhile. */
    KVS_SYNC = KIND(ROLE_KVS, 8)
};

/* --- watcher --- */
enum watcher_kind {
    /* Anyone to the watcher of its own node. Body: namespace text, key text, flags u8 (enum watcher_flag) -> value
     * span, once for the first value, then for every change (APPEND: what is new). The stream ends with an error:
     * ENODATA cancelled, ENOTSUP namespace removed or unknown, ENOENT no such key without WAIT_CREATE. */
    WATCHER_WATCH = KIND(ROLE_WATCHER, 1),
    /* The same requester, to end a stream of its own. Body: tag u64 of the watch. No answer of its own; nothing happens
     * when that watch has ended. */
    WATCHER_CANCEL = KIND(ROLE_WATCHER, 2)
};

enum watcher_flag {
    WATCHER_APPEND = 1 << 0,        /* send only what was appended; EINVAL when the value shrinks */
    WATCHER_WAIT_CREATE = 1 << 1    /* a key that does not exist yet is waited for */
};

/* --- content cache --- */
enum content_kind {
    /* The kvs root to node 0's cache. Body: blob span -> its reference, once it is held. */
    CONTENT_STORE = KIND(ROLE_CONTENT, 1),
    /* A kvs to the cache of its own node, a cache to its parent's. Body: reference -> blob span. ENOENT. */
    CONTENT_LOAD = KIND(ROLE_CONTENT, 2)
};

/* --- job-info --- */
enum job_info_kind {
    /* A shell to the job-info of its own node. Body: job id u64, keys u8 (enum job_info_key) -> for each key asked for,
     * in the order of the enum: value span. With FOLLOW job-info watches the job's event log from then on, for changes
     * of R (none are made), until the shell ends. */
    JOB_INFO_LOOKUP = KIND(ROLE_JOB_INFO, 1),
    /* A shell to the job-info of its own node: watch an event log of the job's guest namespace from its start, once
     * the job's "start" event is seen: once its own event log has the characters "name":"start". Body: job id u64, path
     * text ("input": job-info watches that key in namespace job-<id>) -> new text span, as often as there is any. Ends
     * with an error as WATCHER_WATCH. The path "eventlog" is the job's own event log in the primary namespace: watched
     * from now on, and ended with ENODATA after its entry "clean". */
    JOB_INFO_WATCH = KIND(ROLE_JOB_INFO, 2),
    /* The same shell, also when it ends (its disconnect). Body: tag u64 of the watch. No answer; the watch ends with
     * ENODATA, once the watcher has ended its part. Ends the shell's FOLLOW as well. */
    JOB_INFO_CANCEL = KIND(ROLE_JOB_INFO, 3)
};

enum job_info_key {
    JOB_INFO_EVENTLOG = 1 << 0,
    JOB_INFO_JOBSPEC = 1 << 1,
    JOB_INFO_R = 1 << 2,
    JOB_INFO_FOLLOW = 1 << 3
};

/* --- ingest --- */
enum ingest_kind {
    /* The client to the ingest of its own node. Body: urgency u8 (0 to 31, 16 is usual), jobspec span -> job id u64.
     * EINVAL when a validator refuses it. */
    INGEST_SUBMIT = KIND(ROLE_INGEST, 1),

    INGEST_VALIDATED = KIND(ROLE_INGEST, 0x40),     /* end of an act; word: the co-process */
    INGEST_BATCH = KIND(ROLE_INGEST, 0x41),         /* end of the window */
    INGEST_NEXT_ID = KIND(ROLE_INGEST, 0x42)        /* a new millisecond: more job ids */
};

/* --- job manager --- */
enum job_manager_kind {
    /* ingest, after its commit. Body: count u32, then for each job: id u64, urgency u8, user u32, submit time i64 (ns,
     * actor's clock), and unless the instance passes nothing on (instance.passes) its jobspec, a span -> nothing. */
    JOB_MANAGER_SUBMIT = KIND(ROLE_JOB_MANAGER, 1),
    /* The client stops or starts the queue. Body: start u8 -> nothing. */
    JOB_MANAGER_ALLOC_ADMIN = KIND(ROLE_JOB_MANAGER, 2),
    /* The client waits for a job's end. Body: job id u64, or 0 for any -> job id u64, success u8, status u32. Answered
     * at once when the job turns inactive, before those events are committed. ECHILD when there is none to wait for. */
    JOB_MANAGER_WAIT = KIND(ROLE_JOB_MANAGER, 3),
    /* Anyone withdraws a job. Body: job id u64 -> nothing. ENOENT when it is not active. A job that is already on its
     * way out goes on. */
    JOB_MANAGER_CANCEL = KIND(ROLE_JOB_MANAGER, 4),

    JOB_MANAGER_BATCH = KIND(ROLE_JOB_MANAGER, 0x40)    /* end of the window */
};

/* --- scheduler --- */
enum scheduler_kind {
    /* The job manager, one a turn. Body: job id u64, urgency u8, user u32, submit time i64, and if the instance passes
     * it on the jobspec span -> type u8 (enum scheduler_answer), job id u64, text, and with PASSES_ALL the span R
     * (empty unless ALLOCATED). NOTE may come before one of the others. */
    SCHEDULER_ALLOC = KIND(ROLE_SCHEDULER, 1),
    /* The job manager. Body: job id u64, with PASSES_ALL R span -> job id u64, once the resources are free. */
    SCHEDULER_FREE = KIND(ROLE_SCHEDULER, 2),
    /* The job manager takes an alloc back. Body: job id u64. No answer of its own: the alloc is CANCELLED. */
    SCHEDULER_CANCEL = KIND(ROLE_SCHEDULER, 3)
};

enum scheduler_answer {
    SCHEDULER_ALLOCATED = 0,
    SCHEDULER_NOTE = 1,
    SCHEDULER_DENIED = 2,
    SCHEDULER_CANCELLED = 3
};

/* --- job-exec --- */
enum job_exec_kind {
    /* The job manager, on a job's "alloc" event. Body: job id u64, user u32, and if the instance passes them on the
     * spans jobspec and R -> a stream of: type u8 (enum
     * job_exec_answer), job id u64, status u32 (FINISHED: wait status; RELEASED: 1 when final; EXCEPTION: enum
     * job_result; else 0). RELEASED ends the stream, and goes on with what the job's row in the trace needs
     * (ranks/jobs.h): node u32, cores u32, watched u8, JOB_EXEC_TIMES times i64. */
    JOB_EXEC_START = KIND(ROLE_JOB_EXEC, 1),
    /* The job manager ends a job early. Body: job id u64. No answer: the stream of JOB_EXEC_START goes to its end, with
     * status SIGTERM unless the job had ended by itself. */
    JOB_EXEC_KILL = KIND(ROLE_JOB_EXEC, 2),

    JOB_EXEC_LIMIT = KIND(ROLE_JOB_EXEC, 0x40),     /* background timer: the earliest time limit is over */
    JOB_EXEC_FINISHED_SIMULATION = KIND(ROLE_JOB_EXEC, 0x41),   /* end of an act: a simulated job; word: its number */
    JOB_EXEC_BATCH = KIND(ROLE_JOB_EXEC, 0x42)      /* end of a log's window; word: the job's number */
};

enum job_exec_answer {
    JOB_EXEC_STARTED = 0,
    JOB_EXEC_FINISHED = 1,
    JOB_EXEC_RELEASED = 2,
    JOB_EXEC_EXCEPTION = 3
};

/* --- executor --- */
enum executor_kind {
    /* job-exec, one a turn and job: remote execution of a job's shell in the slot where the job begins on that node.
     * Body: job id u64, namespace text, shell's index u32, shells u32 -> a stream of: type u8 (enum executor_answer),
     * job id u64, value u32; COMPLETE goes on with shell init, shell start and task end, times i64 (JOB_NEVER: did not
     * happen), and watched u8: 1 when the shell saw its input watch begin. */
    EXECUTOR_LAUNCH = KIND(ROLE_EXECUTOR, 1),
    /* job-exec sends the shell a signal. Body: job id u64, signal u32. No answer. */
    EXECUTOR_SIGNAL = KIND(ROLE_EXECUTOR, 2),

    EXECUTOR_LAUNCHED = KIND(ROLE_EXECUTOR, 0x40),  /* end of an act: the shell's process runs */
    EXECUTOR_STARTED = KIND(ROLE_EXECUTOR, 0x41),   /* end of an act: the task runs */
    EXECUTOR_TASK_DONE = KIND(ROLE_EXECUTOR, 0x42)  /* end of an act: the task has ended; word: count of tasks */
};

enum executor_answer {
    EXECUTOR_RUNNING = 0,           /* value: process id */
    EXECUTOR_OUTPUT = 1,            /* value: bytes, which the message stands for */
    EXECUTOR_COMPLETE = 2           /* value: wait status; the last of the stream */
};

/* --- client --- */
enum client_kind {
    CLIENT_NEXT = KIND(ROLE_CLIENT, 0x40)           /* the next submission, or the start */
};

#endif
