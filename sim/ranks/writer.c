/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/writer.h"

#include <glib.h>

#include "ranks/write_run.h"

enum { STREAM_BACK, STREAMS };

enum stage {
    STAGE_ALLOCATE,                 /* writer 0 writes zeros */
    STAGE_SIZE,                     /* the first writer of each node sets the size */
    STAGE_WRITE
};

struct writer {
    const struct shared_file *setup;
    struct write_run run;
    uint64_t zeros;                 /* bytes written */
    uint64_t call;                  /* of the collective calls */
    uint64_t cycle;
    int64_t aggregator;             /* its index, or -1 */
    uint8_t stage;                  /* enum stage */
};

/* Behind the first one of the meeting before the present cycle; those that take no time are not worth a word. */
static uint64_t further_operations(const struct writer *w)
{
    const struct collective_plan *plan = &w->setup->plan;
    uint32_t operations = w->cycle == 0 ? plan->operations : plan->cycle_operations;

    return w->stage != STAGE_WRITE || w->setup->operation_ns == 0 || operations == 0 ? 0 : operations - 1;
}

static void arrive(struct actor *self, const struct writer *w)
{
    actor_send(self, w->setup->meeting, MEETING_ARRIVED, further_operations(w));
}

static uint32_t number(const struct actor *self, const struct shared_file *f)
{
    return actor_id(self) - f->first_writer;
}

/* --- preparation --- */

static void write_zeros(struct actor *self, struct writer *w)
{
    uint64_t left = w->setup->file_bytes - w->zeros;
    struct mount_request request = { .file = w->run.file, .flags = MOUNT_ZEROS, .offset = w->zeros,
                                     .length = MIN(left, PREALLOCATE_PIECE_BYTES), .kind = WRITER_PREPARED };
    w->zeros += request.length;
    mount_write(self, w->run.mount, &request);
}

static void set_size(struct actor *self, struct writer *w)
{
    struct mount_request request = { .file = w->run.file, .flags = MOUNT_SET_SIZE, .length = w->setup->file_bytes,
                                     .kind = WRITER_PREPARED };
    mount_write(self, w->run.mount, &request);
}

/* A file for each writer is prepared by each. */
static void prepare(struct actor *self, struct writer *w)
{
    const struct shared_file *f = w->setup;
    if (w->stage == STAGE_ALLOCATE && (number(self, f) == 0 || f->each))
        write_zeros(self, w);
    else if (w->stage == STAGE_SIZE && (number(self, f) % f->writers_per_node == 0 || f->each))
        set_size(self, w);
    else
        arrive(self, w);
}

static void handle_prepared(struct actor *self, struct writer *w)
{
    if (w->stage == STAGE_ALLOCATE && w->zeros < w->setup->file_bytes)
        write_zeros(self, w);
    else
        arrive(self, w);
}

/* --- collective calls --- */

static uint64_t calls(const struct shared_file *f)
{
    return pattern_writes(&f->pattern) / f->collective.pieces;
}

static void end(struct actor *self)
{
    actor_sample(self, WRITER_ENDED, actor_now(self));
}

/* This writer's part in the present cycle is done. */
static void end_part(struct actor *self, struct writer *w)
{
    if (++w->cycle == w->setup->plan.cycles) {
        w->cycle = 0;
        w->call++;
    }
    if (w->call == calls(w->setup))
        end(self);
    else
        arrive(self, w);
}

static void write_share(struct actor *self, struct writer *w)
{
    struct mount_request request = { .file = w->run.file, .kind = MOUNT_WRITTEN };
    bool any = collective_share(&w->setup->plan, w->call, w->cycle, (uint32_t)w->aggregator, &request.offset,
                                &request.length);
    g_assert(any);
    mount_write(self, w->run.mount, &request);
}

/* Bytes that this writer writes for all in the present cycle; 0: it is no aggregator, or has nothing to do. */
static uint64_t share_bytes(const struct writer *w)
{
    uint64_t offset, length;
    return w->aggregator >= 0 && collective_share(&w->setup->plan, w->call, w->cycle, (uint32_t)w->aggregator, &offset,
                                                  &length) ? length : 0;
}

/* The aggregators of a node get theirs at the same time: with fewer cores each takes as much longer. */
static int64_t share_ns(const struct shared_file *f, uint64_t bytes)
{
    int64_t alone_ns = cost_ns(&f->share, bytes, 0);
    uint32_t beside = (f->plan.aggregators + f->mounts - 1) / f->mounts;

    return f->cores == 0 || beside <= f->cores ? alone_ns : (int64_t)((__int128)alone_ns * beside / f->cores);
}

static void begin_part(struct actor *self, struct writer *w)
{
    const struct shared_file *f = w->setup;
    uint64_t bytes = share_bytes(w);
    if (f->plan.aggregators == 0) {
        w->run.end = w->run.next + f->collective.pieces;
        write_run_begin(self, f, &w->run, STREAM_BACK);
    } else if (bytes != 0) {
        actor_timer(self, actor_draw_duration(self, STREAM_BACK, &f->back) + share_ns(f, bytes), MOUNT_NEXT, 0);
    } else {
        end_part(self, w);
    }
}

static void handle_write(struct actor *self, struct writer *w, const struct message *m)
{
    const struct shared_file *f = w->setup;
    if (f->plan.aggregators != 0 && m->kind == MOUNT_NEXT) {
        write_share(self, w);
        return;
    }
    if (m->kind == MOUNT_WRITTEN)
        actor_count(self, WRITER_WRITTEN, 1);
    if (f->plan.aggregators == 0 && !write_run_handle(self, f, &w->run, m, STREAM_BACK))
        return;
    if (f->plan.meets)
        end_part(self, w);
    else
        end(self);
}

/* --- the course of it --- */

static void begin_writing(struct actor *self, struct writer *w)
{
    w->stage = STAGE_WRITE;
    actor_sample(self, WRITER_READY, actor_now(self));
    if (w->setup->plan.meets)
        arrive(self, w);
    else
        write_run_begin(self, w->setup, &w->run, STREAM_BACK);
}

static void handle_start(struct actor *self, struct writer *w)
{
    enum shared_file_prepare how = w->setup->prepare;
    if (how != PREPARE_SET_SIZE && how != PREPARE_ALLOCATE) {
        begin_writing(self, w);
        return;
    }
    w->stage = how == PREPARE_ALLOCATE ? STAGE_ALLOCATE : STAGE_SIZE;
    prepare(self, w);
}

static void handle_go(struct actor *self, struct writer *w)
{
    if (w->stage == STAGE_ALLOCATE) {
        w->stage = STAGE_SIZE;
        prepare(self, w);
    } else if (w->stage == STAGE_SIZE) {
        begin_writing(self, w);
    } else {
        begin_part(self, w);
    }
}

static void writer_init(struct actor *self, const void *setup)
{
    struct writer *w = actor_state(self);
    const struct shared_file *f = setup;
    uint32_t writer = number(self, f);
    w->setup = f;
    w->run = (struct write_run){ .end = pattern_writes(&f->pattern), .writer = f->each ? 0 : writer,
                                 .mount = f->first_mount + writer / f->writers_per_node,
                                 .file = f->each ? writer % f->writers_per_node : 0 };
    w->aggregator = collective_aggregator(&f->collective, &f->plan, writer);
    actor_timer(self, 1, WRITER_START, 0);
}

static void writer_handle(struct actor *self, const struct message *m)
{
    struct writer *w = actor_state(self);
    switch (m->kind) {
    case WRITER_START:
        handle_start(self, w);
        break;
    case WRITER_PREPARED:
        handle_prepared(self, w);
        break;
    case MEETING_GO:
        handle_go(self, w);
        break;
    case MOUNT_NEXT:
    case MOUNT_WRITTEN:
        handle_write(self, w, m);
        break;
    default:
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    }
}

static void writer_save(const struct actor *self, struct bytes *sink)
{
    const struct writer *w = actor_state(self);
    write_run_save(&w->run, sink);
    bytes_put_u64(sink, w->zeros);
    bytes_put_u64(sink, w->call);
    bytes_put_u64(sink, w->cycle);
    bytes_put_u8(sink, w->stage);
}

/* --- meeting --- */

struct meeting {
    const struct shared_file *setup;
    uint32_t arrived;
};

static void meeting_init(struct actor *self, const void *setup)
{
    struct meeting *t = actor_state(self);
    t->setup = setup;
}

static void meeting_handle(struct actor *self, const struct message *m)
{
    struct meeting *t = actor_state(self);
    const struct shared_file *f = t->setup;
    if (m->kind != MEETING_ARRIVED) {
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
        return;
    }
    if (++t->arrived < f->writers)
        return;
    t->arrived = 0;
    actor_count(self, MEETING_MET, 1);
    actor_charge(self, cost_ns(&f->exchange, f->plan.call_bytes, 0) + (int64_t)m->word * f->operation_ns);
    for (uint32_t w = 0; w < f->writers; w++)
        actor_send(self, f->first_writer + w, MEETING_GO, 0);
}

static void meeting_save(const struct actor *self, struct bytes *sink)
{
    const struct meeting *t = actor_state(self);
    bytes_put_u32(sink, t->arrived);
}

/* --- tables --- */

static const struct kind_name writer_kinds[] = {
    { WRITER_START, "start", "timer: the program begins" },
    { WRITER_PREPARED, "prepared", "a part of the preparation is done" },
    { 0, NULL, NULL }
};

static const struct metric writer_metrics[] = {
    [WRITER_WRITTEN] = { "written", "1", "writes that have ended", METRIC_SERIES },
    [WRITER_READY] = { "ready", "ns", "when a writer began to write", METRIC_SAMPLE },
    [WRITER_ENDED] = { "ended", "ns", "when a writer had written all", METRIC_SAMPLE },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_writer = {
    .name = "writer",
    .text = "a process that writes its part of a shared file",
    .state_size = sizeof(struct writer),
    .streams = STREAMS,
    .kinds = writer_kinds,
    .metrics = writer_metrics,
    .init = writer_init,
    .handle = writer_handle,
    .save = writer_save
};

static const struct kind_name meeting_kinds[] = {
    { MEETING_ARRIVED, "arrived", "a writer waits for the others" },
    { MEETING_GO, "go", "to a writer: all have arrived" },
    { 0, NULL, NULL }
};

static const struct metric meeting_metrics[] = {
    [MEETING_MET] = { "met", "1", "times that all writers met", METRIC_COUNTER },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

const struct role role_meeting = {
    .name = "meeting",
    .text = "where the writers of a shared file wait for one another",
    .state_size = sizeof(struct meeting),
    .kinds = meeting_kinds,
    .metrics = meeting_metrics,
    .init = meeting_init,
    .handle = meeting_handle,
    .save = meeting_save
};
