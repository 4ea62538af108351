/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job-info of a node (flux-core 0.15 to 0.17, src/modules/job-info). On every node it follows the job-state events and
 * looks up each job's event log and jobspec when it is in DEPEND, and R when it is in RUN, whether anybody asks or not.
 * It serves shells: lookups of a job's data, and the watch of an event log in the job's guest namespace, which begins
 * when the job's "start" event is seen: in its event log, or by a watch of that.
 */
#include <errno.h>

#include "kvs/jobid.h"
#include "kvs/key.h"
#include "kvs/lookup.h"
#include "kvs/namespaces.h"
#include "ranks/charge.h"
#include "ranks/instance.h"
#include "ranks/pending.h"
#include "ranks/roles.h"
#include "ranks/route.h"

enum job_info_metric {
    JOB_INFO_EVENTS,
    JOB_INFO_STATE_LOOKUPS,
    JOB_INFO_REQUESTS,
    JOB_INFO_WATCHES,
    JOB_INFO_WALKED,
    JOB_INFO_FAILED
};

enum { KEYS = 3 };
static const char *const key_entries[KEYS] = { "eventlog", "jobspec", "R" };     /* in the order of enum job_info_key */

enum reader {               /* what a lookup is for */
    READER_STATE,           /* a transition */
    READER_REQUEST,
    READER_WATCH
};

struct job_read {
    enum reader reader;
    uint64_t id;            /* of the request or watch */
    unsigned part;          /* which key of a request */
};

struct request_state {
    struct envelope env;
    uint64_t job;
    bool follow;            /* the log is watched when it is answered */
    unsigned keys;          /* enum job_info_key */
    unsigned missing;       /* of them: not there yet */
    uint16_t error;         /* the first one */
    struct bytes values[KEYS];
};

enum watch_stage {
    WATCH_READS_LOG,        /* looks for "start" in the job's event log */
    WATCH_AWAITS_START,     /* watches that log */
    WATCH_GUEST,            /* watches in the guest namespace */
    WATCH_LOG,              /* watches that log for whoever asked, to its end */
    WATCH_UPDATES           /* the same for a shell, which hears of changes of R only */
};

struct job_watch {
    struct envelope env;
    uint64_t job;
    char *path;
    enum watch_stage stage;
    bool cancelled;             /* stays until the watcher has ended its part */
};

struct job_info {
    const struct instance *inst;
    uint32_t node;
    struct pending reads;       /* struct job_read */
    struct pending requests;    /* struct request_state */
    struct pending watches;     /* struct job_watch; tag of its stream: number << 1, | 1 when in the guest namespace */
    GHashTable *by_origin;      /* who asked -> GArray of the numbers of its watches, rising */
    uint64_t own;               /* watches that stand twice in the lists: job-info asks itself for the watch of a log */
};

static void request_free(void *item)
{
    struct request_state *r = item;
    for (int i = 0; i < KEYS; i++)
        bytes_release(&r->values[i]);
    g_free(r);
}

static void watch_free(void *item)
{
    g_free(((struct job_watch *)item)->path);
    g_free(item);
}

static void job_info_init(struct actor *self, const void *setup)
{
    struct job_info *s = actor_state(self);
    s->inst = setup;
    s->node = actor_node(self);
    pending_init(&s->reads, g_free);
    pending_init(&s->requests, request_free);
    pending_init(&s->watches, watch_free);
    s->by_origin = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
}

static void job_info_release(struct actor *self)
{
    struct job_info *s = actor_state(self);
    g_hash_table_destroy(s->by_origin);
    pending_release(&s->watches);
    pending_release(&s->requests);
    pending_release(&s->reads);
}

static void job_info_save(const struct actor *self, struct bytes *sink)
{
    const struct job_info *s = actor_state(self);
    uint64_t *ids = pending_ids(&s->reads);
    bytes_put_u32(sink, pending_length(&s->reads));
    for (guint i = 0; i < pending_length(&s->reads); i++) {
        const struct job_read *read = pending_find(&s->reads, ids[i]);
        bytes_put_u64(sink, ids[i]);
        bytes_put_u8(sink, (uint8_t)read->reader);
        bytes_put_u64(sink, read->id);
        bytes_put_u8(sink, (uint8_t)read->part);
    }
    g_free(ids);
    ids = pending_ids(&s->requests);
    bytes_put_u32(sink, pending_length(&s->requests));
    for (guint i = 0; i < pending_length(&s->requests); i++) {
        const struct request_state *r = pending_find(&s->requests, ids[i]);
        bytes_put_u64(sink, ids[i]);
        envelope_put(sink, &r->env);
        bytes_put_u64(sink, r->job);
        bytes_put_u8(sink, r->follow);
        bytes_put_u8(sink, (uint8_t)r->keys);
        bytes_put_u8(sink, (uint8_t)r->missing);
        bytes_put_u16(sink, r->error);
        for (int j = 0; j < KEYS; j++)
            bytes_put_span(sink, r->values[j].data, r->values[j].size);
    }
    g_free(ids);
    ids = pending_ids(&s->watches);
    bytes_put_u32(sink, pending_length(&s->watches));
    for (guint i = 0; i < pending_length(&s->watches); i++) {
        const struct job_watch *w = pending_find(&s->watches, ids[i]);
        bytes_put_u64(sink, ids[i]);
        envelope_put(sink, &w->env);
        bytes_put_u64(sink, w->job);
        key_put_text(sink, w->path);
        bytes_put_u8(sink, (uint8_t)w->stage);
        bytes_put_u8(sink, w->cancelled);
    }
    g_free(ids);
}

/* --- lookups --- */

static void read_send(struct actor *self, struct job_info *s, uint64_t job, const char *entry, enum reader reader,
                      uint64_t id, unsigned part)
{
    char key[64];
    struct job_read *read = g_new(struct job_read, 1);
    *read = (struct job_read){ reader, id, part };
    jobid_to_entry(job, entry, key, sizeof key);
    struct bytes body = BYTES_INIT;
    key_put_text(&body, NAMESPACES_PRIMARY);
    key_put_text(&body, key);
    bytes_put_u8(&body, LOOKUP_VALUE);
    bytes_put_u8(&body, 0);
    route_send(self, instance_kvs(s->inst, s->node), KVS_LOOKUP, pending_add(&s->reads, read), &body);
    bytes_release(&body);
}

static void transitions_handle(struct actor *self, struct job_info *s, const struct message *m)
{
    struct event event;
    if (!route_event(self, m, &event))
        return;
    uint32_t count = cursor_u32(&event.body);
    role_charge(self, cost_ns(&s->inst->costs.job_info_event, m->payload->size, count));
    actor_count(self, JOB_INFO_EVENTS, 1);
    for (uint32_t i = 0; i < count && cursor_ok(&event.body); i++) {
        uint64_t job = cursor_u64(&event.body);
        uint8_t state = cursor_u8(&event.body);
        if (state == JOB_DEPEND) {
            bool has_log = s->inst->job_info_news == NEWS_JOURNAL;
            if (!has_log)
                read_send(self, s, job, "eventlog", READER_STATE, 0, 0);
            read_send(self, s, job, "jobspec", READER_STATE, 0, 0);
            actor_count(self, JOB_INFO_STATE_LOOKUPS, has_log ? 1 : 2);
        } else if (state == JOB_RUN) {
            read_send(self, s, job, "R", READER_STATE, 0, 0);
            actor_count(self, JOB_INFO_STATE_LOOKUPS, 1);
        }
    }
    if (!cursor_done(&event.body))
        actor_fail(self, "event %s has a malformed body", event.topic);
}

static void lookup_serve(struct actor *self, struct job_info *s, const struct envelope *env, struct cursor *c)
{
    uint64_t job = cursor_u64(c);
    uint8_t keys = cursor_u8(c);
    bool follow = (keys & JOB_INFO_FOLLOW) != 0;
    keys &= (uint8_t)~JOB_INFO_FOLLOW;
    if (!cursor_done(c) || keys == 0 || keys >= 1 << KEYS) {
        actor_fail(self, "lookup of actor %u is malformed", env->origin);
        return;
    }
    struct request_state *r = g_new0(struct request_state, 1);
    r->env = *env;
    r->job = job;
    r->follow = follow;
    r->keys = r->missing = keys;
    uint64_t id = pending_add(&s->requests, r);
    actor_count(self, JOB_INFO_REQUESTS, 1);
    for (unsigned part = 0; part < KEYS; part++)
        if ((keys & 1u << part) != 0)
            read_send(self, s, job, key_entries[part], READER_REQUEST, id, part);
}

static uint64_t watch_add(struct actor *self, struct job_info *s, const struct envelope *env, uint64_t job,
                          const char *path, enum watch_stage stage);

static void request_part(struct actor *self, struct job_info *s, const struct job_read *read, uint16_t error,
                         const char *data, size_t size)
{
    struct request_state *r = pending_find(&s->requests, read->id);
    if (r->error == 0)
        r->error = error;
    bytes_put(&r->values[read->part], data, size);
    r->missing &= ~(1u << read->part);
    if (r->missing != 0)
        return;
    struct bytes body = BYTES_INIT;
    for (unsigned part = 0; part < KEYS; part++)
        if ((r->keys & 1u << part) != 0)
            bytes_put_span(&body, r->values[part].data, r->values[part].size);
    route_reply(self, &r->env, JOB_INFO_LOOKUP, r->error, &body);
    bytes_release(&body);
    if (r->follow && r->error == 0)
        watch_add(self, s, &r->env, r->job, "eventlog", WATCH_UPDATES);
    pending_remove(&s->requests, read->id);
}

/* --- watches --- */

static uint64_t stream_tag(uint64_t id, enum watch_stage stage)
{
    return id << 1 | (stage == WATCH_GUEST);
}

static void stream_begin(struct actor *self, struct job_info *s, uint64_t id, const struct job_watch *w)
{
    struct bytes body = BYTES_INIT;
    if (w->stage == WATCH_GUEST) {
        char ns[JOBID_NAMESPACE_SIZE];
        jobid_to_namespace(w->job, ns);
        key_put_text(&body, ns);
        key_put_text(&body, w->path);
        bytes_put_u8(&body, WATCHER_APPEND | WATCHER_WAIT_CREATE);
    } else {
        char key[64];
        jobid_to_entry(w->job, "eventlog", key, sizeof key);
        key_put_text(&body, NAMESPACES_PRIMARY);
        key_put_text(&body, key);
        bytes_put_u8(&body, WATCHER_APPEND);
    }
    route_send(self, instance_watcher(s->inst, s->node), WATCHER_WATCH, stream_tag(id, w->stage), &body);
    bytes_release(&body);
}

static void stream_cancel(struct actor *self, struct job_info *s, uint64_t id, const struct job_watch *w)
{
    struct bytes body = BYTES_INIT;
    bytes_put_u64(&body, stream_tag(id, w->stage));
    route_send(self, instance_watcher(s->inst, s->node), WATCHER_CANCEL, 0, &body);
    bytes_release(&body);
}

/* A watch for a shell is two to job-info: the shell's, and one of the log, for which job-info asks itself. */
static bool stands_twice(const struct job_watch *w)
{
    return w->stage != WATCH_LOG;
}

static uint64_t watch_add(struct actor *self, struct job_info *s, const struct envelope *env, uint64_t job,
                          const char *path, enum watch_stage stage)
{
    struct job_watch *w = g_new0(struct job_watch, 1);
    w->env = *env;
    w->job = job;
    w->path = g_strdup(path);
    w->stage = stage;
    uint64_t id = pending_add(&s->watches, w);
    GArray *same = g_hash_table_lookup(s->by_origin, GUINT_TO_POINTER(env->origin));
    if (same == NULL) {
        same = g_array_new(FALSE, FALSE, sizeof id);
        g_hash_table_insert(s->by_origin, GUINT_TO_POINTER(env->origin), same);
    }
    g_array_append_val(same, id);
    s->own += stands_twice(w);
    actor_count(self, JOB_INFO_WATCHES, 1);
    if (stage != WATCH_READS_LOG)
        stream_begin(self, s, id, w);
    return id;
}

/* Nobody is told of the end of WATCH_UPDATES: the shell has gone. */
static void watch_end(struct actor *self, struct job_info *s, uint64_t id, uint16_t error)
{
    struct job_watch *w = pending_find(&s->watches, id);
    if (w->stage != WATCH_UPDATES)
        route_reply(self, &w->env, JOB_INFO_WATCH, error, NULL);
    GArray *same = g_hash_table_lookup(s->by_origin, GUINT_TO_POINTER(w->env.origin));
    for (guint i = 0; i < same->len; i++) {
        if (g_array_index(same, uint64_t, i) == id) {
            g_array_remove_index(same, i);
            break;
        }
    }
    s->own -= stands_twice(w);
    pending_remove(&s->watches, id);
}

static void watch_serve(struct actor *self, struct job_info *s, const struct envelope *env, struct cursor *c)
{
    uint64_t job = cursor_u64(c);
    const char *path = key_get_text(c);
    if (!cursor_done(c)) {
        actor_fail(self, "watch of actor %u is malformed", env->origin);
        return;
    }
    if (g_str_equal(path, "eventlog")) {
        watch_add(self, s, env, job, path, WATCH_LOG);
        return;
    }
    uint64_t id = watch_add(self, s, env, job, path, WATCH_READS_LOG);
    read_send(self, s, job, "eventlog", READER_WATCH, id, 0);
}

static bool log_has(const char *text, size_t size, const char *entry)
{
    return size > 0 && g_strstr_len(text, (gssize)size, entry) != NULL;
}

/* The event log as it stands, or what was appended to it. */
static void log_seen(struct actor *self, struct job_info *s, uint64_t id, struct job_watch *w, const char *text,
                     size_t size)
{
    bool started = log_has(text, size, "\"name\":\"start\"");
    if (w->stage == WATCH_AWAITS_START) {
        if (!started)
            return;
        stream_cancel(self, s, id, w);
    }
    w->stage = started ? WATCH_GUEST : WATCH_AWAITS_START;
    stream_begin(self, s, id, w);
}

static void stream_answered(struct actor *self, struct job_info *s, const struct envelope *env, struct cursor *c)
{
    uint64_t id = env->tag >> 1;
    struct job_watch *w = pending_find(&s->watches, id);
    if (w == NULL || env->tag != stream_tag(id, w->stage))
        return;         /* the end of a stream that was cancelled */
    if (env->error != 0) {
        watch_end(self, s, id, env->error);
        return;
    }
    if (w->cancelled)
        return;
    size_t size;
    const char *text = cursor_span(c, &size);
    if (w->stage == WATCH_AWAITS_START) {
        log_seen(self, s, id, w, text, size);
        return;
    }
    if (w->stage == WATCH_UPDATES)
        return;
    struct bytes body = BYTES_INIT;
    bytes_put_span(&body, text, size);
    route_reply(self, &w->env, JOB_INFO_WATCH, 0, &body);
    bytes_release(&body);
    if (w->stage == WATCH_LOG && log_has(text, size, "\"name\":\"clean\"")) {
        stream_cancel(self, s, id, w);
        watch_end(self, s, id, ENODATA);
    }
}

/* Each list is walked from end to end, whatever is found. Where job-info asks itself, all that it asked itself for is
 * compared to the end, message and tag, a second step; of the rest the sender suffices. */
static void lists_walk(struct actor *self, const struct job_info *s, bool own)
{
    const struct cost *cost = &s->inst->costs.job_info_request;
    uint64_t entries = pending_length(&s->watches) + s->own + (own ? s->own : 0);
    role_charge(self, (own ? cost->fixed_ns : 0) + (int64_t)entries * cost->per_entry_ns);
    actor_count(self, JOB_INFO_WALKED, entries);
}

static void cancel_serve(struct actor *self, struct job_info *s, const struct envelope *env, struct cursor *c)
{
    uint64_t tag = cursor_u64(c);
    const GArray *same = g_hash_table_lookup(s->by_origin, GUINT_TO_POINTER(env->origin));
    lists_walk(self, s, false);
    for (guint i = same == NULL ? 0 : same->len; i > 0; i--) {
        uint64_t id = g_array_index(same, uint64_t, i - 1);
        struct job_watch *w = pending_find(&s->watches, id);
        if (w->cancelled || (w->env.tag != tag && w->stage != WATCH_UPDATES))
            continue;
        if (w->stage == WATCH_READS_LOG) {
            watch_end(self, s, id, ENODATA);
            continue;
        }
        /* A request to itself ends the watch of the log that it asked itself for. */
        lists_walk(self, s, true);
        stream_cancel(self, s, id, w);
        w->cancelled = true;
    }
}

static void read_answered(struct actor *self, struct job_info *s, const struct envelope *env, struct cursor *c)
{
    size_t size = 0;
    const char *data = NULL;
    if (env->error == 0) {
        cursor_u64(c);      /* the root's sequence */
        data = cursor_span(c, &size);
    } else {
        actor_count(self, JOB_INFO_FAILED, 1);
    }
    struct job_read *read = pending_take(&s->reads, env->tag);
    if (read == NULL || !cursor_done(c)) {
        g_free(read);
        actor_fail(self, "answer to a lookup from actor %u is malformed", env->origin);
        return;
    }
    struct job_watch *w;
    switch (read->reader) {
    case READER_STATE:
        break;
    case READER_REQUEST:
        request_part(self, s, read, env->error, data, size);
        break;
    case READER_WATCH:
        w = pending_find(&s->watches, read->id);
        if (w != NULL && env->error != 0)
            watch_end(self, s, read->id, env->error);
        else if (w != NULL)
            log_seen(self, s, read->id, w, data, size);
        break;
    }
    g_free(read);
}

static void job_info_handle(struct actor *self, const struct message *m)
{
    struct job_info *s = actor_state(self);
    if (m->kind == BROKER_EVENT) {
        transitions_handle(self, s, m);
        return;
    }
    struct envelope env;
    struct cursor c = route_open(self, m, &env);
    role_charge(self, cost_ns(&s->inst->costs.job_info_request, m->payload->size, 0));
    switch (m->kind) {
    case JOB_INFO_LOOKUP:
        lookup_serve(self, s, &env, &c);
        break;
    case JOB_INFO_WATCH:
        watch_serve(self, s, &env, &c);
        break;
    case JOB_INFO_CANCEL:
        cancel_serve(self, s, &env, &c);
        break;
    case KVS_LOOKUP | KIND_REPLY:
        read_answered(self, s, &env, &c);
        break;
    case WATCHER_WATCH | KIND_REPLY:
        stream_answered(self, s, &env, &c);
        break;
    default:
        actor_fail(self, "job-info got a message of kind 0x%04x, which it does not serve", m->kind);
        break;
    }
}

static const struct kind_name job_info_kinds[] = {
    { JOB_INFO_LOOKUP, "lookup", "a job's data are wanted" },
    { JOB_INFO_LOOKUP | KIND_REPLY, "lookup-reply", "a job's data" },
    { JOB_INFO_WATCH, "watch", "an event log of a job's guest namespace to be watched" },
    { JOB_INFO_WATCH | KIND_REPLY, "watch-reply", "new text of a watched log, or the end of the watch" },
    { JOB_INFO_CANCEL, "cancel", "a watch to be ended" },
    { 0, NULL, NULL }
};

static const struct metric job_info_metrics[] = {
    [JOB_INFO_EVENTS] = { "events", "1", "job-state events", METRIC_COUNTER },
    [JOB_INFO_STATE_LOOKUPS] = { "state_lookups", "1", "lookups for transitions", METRIC_COUNTER },
    [JOB_INFO_REQUESTS] = { "requests", "1", "lookups for shells", METRIC_COUNTER },
    [JOB_INFO_WATCHES] = { "watches", "1", "watches for shells", METRIC_COUNTER },
    [JOB_INFO_WALKED] = { "walked", "1", "steps through watches to end one", METRIC_COUNTER },
    [JOB_INFO_FAILED] = { "failed", "1", "lookups that found nothing", METRIC_COUNTER },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_job_info = {
    .name = "job-info",
    .text = "follows the jobs on every node; serves shells with their data",
    .state_size = sizeof(struct job_info),
    .streams = INSTANCE_STREAMS,
    .kinds = job_info_kinds,
    .metrics = job_info_metrics,
    .init = job_info_init,
    .handle = job_info_handle,
    .save = job_info_save,
    .release = job_info_release,
};
