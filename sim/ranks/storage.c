/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/storage.h"

#include <glib.h>

#include "engine/random.h"
#include "ranks/mount.h"
#include "ranks/shared_file.h"

enum { STREAM_SERVICE, STREAMS };

struct place {                      /* of a request in service, or waiting for a channel */
    struct storage_request request;
    uint32_t mount;
    uint32_t next;                  /* free, or waiting behind */
    bool used;
};

#define NO_PLACE UINT32_MAX

struct storage {
    const struct shared_file *setup;
    GArray *sizes;                  /* uint64_t, by file */
    GArray *places;
    uint32_t free;
    uint32_t head, tail;            /* of those that wait for a channel */
    uint32_t busy;                  /* channels */
    uint32_t inflight;              /* writes */
    bool alone;                     /* the one write in service has been so from its beginning */
    int64_t pipe_ns;                /* when the bytes of all requests so far have had their turn */
};

static struct place *place_at(const struct storage *s, uint64_t i)
{
    return &g_array_index(s->places, struct place, i);
}

static uint64_t *size_of(struct storage *s, uint32_t file)
{
    uint64_t initial = shared_file_existed(s->setup) ? s->setup->file_bytes : 0;
    while (file >= s->sizes->len)
        g_array_append_val(s->sizes, initial);
    return &g_array_index(s->sizes, uint64_t, file);
}

static uint32_t place_new(struct storage *s)
{
    uint32_t i = s->free;
    if (i == NO_PLACE) {
        i = s->places->len;
        g_array_set_size(s->places, i + 1);
    } else {
        s->free = place_at(s, i)->next;
    }
    return i;
}

static bool is_data(const struct storage_request *r)
{
    return (r->flags & (MOUNT_ZEROS | MOUNT_SET_SIZE)) == 0;
}

static int64_t service_ns(struct actor *self, const struct storage *s, const struct storage_request *r)
{
    const struct shared_file *f = s->setup;
    int64_t mean_ns = cost_ns(&f->request, r->flags & MOUNT_SET_SIZE ? 0 : r->length, 0);
    if (f->jitter_ppm == 0)
        return mean_ns;
    int64_t share_ns = (int64_t)((__int128)mean_ns * f->jitter_ppm / 1000000);
    return random_uniform(actor_draw(self, STREAM_SERVICE), mean_ns - share_ns, mean_ns + share_ns);
}

/* From the request's service to its end, which its turn in the pipe may put off. */
static int64_t duration_ns(struct actor *self, struct storage *s, const struct storage_request *r)
{
    int64_t now_ns = actor_now(self);
    int64_t done_ns = now_ns + service_ns(self, s, r);
    if (s->setup->bandwidth != 0 && !(r->flags & MOUNT_SET_SIZE)) {
        __int128 bytes_ns = (__int128)r->length * 1000000000;
        s->pipe_ns = MAX(s->pipe_ns, now_ns) +
                     (int64_t)((bytes_ns + s->setup->bandwidth - 1) / s->setup->bandwidth);
        done_ns = MAX(done_ns, s->pipe_ns);
    }
    return done_ns - now_ns;
}

static void begin_write(struct actor *self, struct storage *s, const struct storage_request *r)
{
    uint64_t *size = size_of(s, r->file);
    if (r->flags & MOUNT_FRESH && !shared_file_existed(s->setup))
        *size = 0;
    if (!is_data(r))
        return;
    actor_count(self, STORAGE_WRITES, 1);
    actor_count(self, STORAGE_EXTENDING, r->end > *size);
    s->alone = s->inflight++ == 0;
    actor_sample(self, STORAGE_INFLIGHT, s->inflight);
}

static void end_write(struct actor *self, struct storage *s)
{
    s->inflight--;
    actor_count(self, STORAGE_LONE, s->inflight == 0 && s->alone);
    if (s->inflight == 0)
        s->alone = false;
}

static void begin(struct actor *self, struct storage *s, uint32_t i)
{
    const struct storage_request *r = &place_at(s, i)->request;
    s->busy++;
    if (r->first)
        begin_write(self, s, r);
    actor_count(self, STORAGE_REQUESTS, 1);
    actor_perform(self, (struct act){ .type = ACT_WORK, .duration_ns = duration_ns(self, s, r) }, STORAGE_SERVED, i);
}

static void storage_handle_write(struct actor *self, struct storage *s, const struct message *m)
{
    uint32_t i = place_new(s);
    struct place *p = place_at(s, i);
    struct storage_request *r = &p->request;
    struct cursor c = message_cursor(m);
    r->file = cursor_u32(&c);
    r->flags = cursor_u8(&c);
    r->offset = cursor_u64(&c);
    r->length = cursor_u64(&c);
    r->end = cursor_u64(&c);
    r->first = cursor_u8(&c) != 0;
    r->last = cursor_u8(&c) != 0;
    r->operation = cursor_u32(&c);
    p->mount = m->from;
    p->next = NO_PLACE;
    p->used = true;
    if (s->setup->channels == 0 || s->busy < s->setup->channels) {
        begin(self, s, i);
        return;
    }
    if (s->head == NO_PLACE)
        s->head = i;
    else
        place_at(s, s->tail)->next = i;
    s->tail = i;
}

static void storage_handle_served(struct actor *self, struct storage *s, uint32_t i)
{
    struct place *p = place_at(s, i);
    const struct storage_request *r = &p->request;
    uint64_t *size = size_of(s, r->file);
    if (r->offset + r->length > *size) {
        actor_count(self, STORAGE_GROWN, r->offset + r->length - *size);
        *size = r->offset + r->length;
    }
    if (is_data(r))
        actor_count(self, STORAGE_BYTES, r->length);
    else if (r->flags & MOUNT_ZEROS)
        actor_count(self, STORAGE_ZEROS, r->length);
    if (r->last && is_data(r))
        end_write(self, s);
    actor_send(self, p->mount, STORAGE_WRITTEN, r->operation);
    p->used = false;
    p->next = s->free;
    s->free = i;
    s->busy--;
    if (s->head != NO_PLACE) {
        uint32_t next = s->head;
        s->head = place_at(s, next)->next;
        begin(self, s, next);
    }
}

static void storage_init(struct actor *self, const void *setup)
{
    struct storage *s = actor_state(self);
    s->setup = setup;
    s->sizes = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    s->places = g_array_new(FALSE, TRUE, sizeof(struct place));
    s->free = s->head = NO_PLACE;
}

static void storage_release(struct actor *self)
{
    struct storage *s = actor_state(self);
    g_array_free(s->sizes, TRUE);
    g_array_free(s->places, TRUE);
}

static void storage_handle(struct actor *self, const struct message *m)
{
    struct storage *s = actor_state(self);
    switch (m->kind) {
    case STORAGE_WRITE:
        storage_handle_write(self, s, m);
        break;
    case STORAGE_SERVED:
        storage_handle_served(self, s, (uint32_t)m->word);
        break;
    default:
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    }
}

static void storage_save(const struct actor *self, struct bytes *sink)
{
    const struct storage *s = actor_state(self);
    for (unsigned i = 0; i < s->sizes->len; i++)
        bytes_put_u64(sink, g_array_index(s->sizes, uint64_t, i));
    bytes_put_u32(sink, s->busy);
    bytes_put_u32(sink, s->inflight);
    bytes_put_u8(sink, s->alone);
    bytes_put_i64(sink, s->pipe_ns);
    for (unsigned i = 0; i < s->places->len; i++) {
        const struct place *p = place_at(s, i);
        bytes_put_u8(sink, p->used);
        if (!p->used)
            continue;
        bytes_put_u32(sink, p->mount);
        bytes_put_u32(sink, p->request.operation);
        bytes_put_u64(sink, p->request.offset);
    }
}

void storage_send(struct actor *self, uint32_t storage, const struct storage_request *request)
{
    struct bytes body = BYTES_INIT;
    bytes_put_u32(&body, request->file);
    bytes_put_u8(&body, request->flags);
    bytes_put_u64(&body, request->offset);
    bytes_put_u64(&body, request->length);
    bytes_put_u64(&body, request->end);
    bytes_put_u8(&body, request->first);
    bytes_put_u8(&body, request->last);
    bytes_put_u32(&body, request->operation);
    actor_send_payload(self, storage, STORAGE_WRITE, actor_payload(self, body.data, body.size));
    bytes_release(&body);
}

static const struct kind_name storage_kinds[] = {
    { STORAGE_WRITE, "write", "a mount sends a request" },
    { STORAGE_WRITTEN, "written", "to a mount: its request has been served" },
    { STORAGE_SERVED, "served", "end of an act: a request's service is over" },
    { 0, NULL, NULL }
};

static const struct metric storage_metrics[] = {
    [STORAGE_WRITES] = { "writes", "1", "writes begun", METRIC_SERIES },
    [STORAGE_BYTES] = { "bytes", "bytes", "data written", METRIC_SERIES },
    [STORAGE_EXTENDING] = { "extending", "1", "writes that ended beyond the file's end when they began",
                            METRIC_COUNTER },
    [STORAGE_LONE] = { "lone", "1", "writes that no other one ever overlapped", METRIC_COUNTER },
    [STORAGE_INFLIGHT] = { "inflight", "1", "writes in service, when one begins", METRIC_SAMPLE },
    [STORAGE_GROWN] = { "grown", "bytes", "growth of the ends of files", METRIC_COUNTER },
    [STORAGE_ZEROS] = { "zeros", "bytes", "zeros written before the data", METRIC_COUNTER },
    [STORAGE_REQUESTS] = { "requests", "1", "requests served", METRIC_COUNTER },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_storage = {
    .name = "storage",
    .text = "the server of a shared file system",
    .state_size = sizeof(struct storage),
    .streams = STREAMS,
    .kinds = storage_kinds,
    .metrics = storage_metrics,
    .init = storage_init,
    .handle = storage_handle,
    .save = storage_save,
    .release = storage_release
};
