/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/file_program.h"

struct program {
    const struct file_program *setup;
    bool done;
};

static const struct metric metrics[] = {
    [PROGRAM_BYTES] = { "bytes", "bytes", "written", METRIC_COUNTER },
    [PROGRAM_WRITES] = { "writes", "1", "calls that wrote", METRIC_COUNTER },
    [PROGRAM_VERIFIED] = { "verified", "bytes", "read back, and right", METRIC_COUNTER },
    [PROGRAM_EXCLUSIVE] = { "exclusive", "1", "writes that had the emulated lock exclusively", METRIC_COUNTER },
    [PROGRAM_SHARED] = { "shared", "1", "writes that had it shared", METRIC_COUNTER },
    [PROGRAM_EXTENDING] = { "extending", "1", "writes that ended beyond the end, with the lock in hand",
                            METRIC_COUNTER },
    [PROGRAM_LONE] = { "lone", "1", "writes that had the lock when nobody else did", METRIC_COUNTER },
    [PROGRAM_CONTESTED] = { "contested", "1", "times that a writer let go of the lock while others waited, and asked "
                            "again", METRIC_COUNTER },
    [PROGRAM_RETAKES] = { "retakes", "1", "of these: had the lock before anybody else", METRIC_COUNTER },
    [PROGRAM_BROKEN] = { "broken", "1", "locks that were held beside one that excludes them", METRIC_COUNTER },
    [PROGRAM_LOCK_WAIT] = { "lock_wait", "ns", "waited for the lock, all writes together", METRIC_COUNTER },
    [PROGRAM_WRITE_TIME] = { "write_time", "ns", "in calls that wrote, all together", METRIC_COUNTER },
    [PROGRAM_OMPIO] = { "ompio", "1", "files that OMPIO wrote", METRIC_COUNTER },
    [PROGRAM_ROMIO] = { "romio", "1", "files that ROMIO wrote", METRIC_COUNTER },
    [PROGRAM_WINDOWS_SHARED] = { "windows_shared", "1", "locks in windows of shared memory", METRIC_COUNTER },
    [PROGRAM_WINDOWS_MESSAGES] = { "windows_messages", "1", "locks in windows of messages", METRIC_COUNTER },
    [PROGRAM_ONESIDED_SM] = { "onesided_sm", "1", "of these windows: of the MPI library's component sm",
                              METRIC_COUNTER },
    [PROGRAM_ONESIDED_PT2PT] = { "onesided_pt2pt", "1", "of its component pt2pt", METRIC_COUNTER },
    [PROGRAM_ONESIDED_RDMA] = { "onesided_rdma", "1", "of its component rdma", METRIC_COUNTER },
    [PROGRAM_ONESIDED_UCX] = { "onesided_ucx", "1", "of its component ucx", METRIC_COUNTER },
    [PROGRAM_ONESIDED_UNKNOWN] = { "onesided_unknown", "1", "of one that it does not tell", METRIC_COUNTER },
    [PROGRAM_INFLIGHT] = { "inflight", "1", "most holders of the lock at a time", METRIC_SAMPLE },
    [PROGRAM_OPENED] = { "opened", "ns", "when the last writer had opened the file", METRIC_SAMPLE },
    [PROGRAM_READY] = { "ready", "ns", "when the last writer began to write", METRIC_SAMPLE },
    [PROGRAM_WRITTEN] = { "written", "ns", "when the last writer had written all", METRIC_SAMPLE },
    [PROGRAM_CLOSED] = { "closed", "ns", "when the last writer had closed the file", METRIC_SAMPLE },
    [PROGRAM_HELD_UP] = { "held_up", "ns", "how long a process did nothing else, at most", METRIC_SAMPLE },
    [PROGRAM_METRICS] = { NULL, NULL, NULL, METRIC_COUNTER }
};

static void begin(struct actor *self)
{
    const struct program *p = actor_state(self);
    actor_perform_together(self, p->setup->act, PROGRAM_DONE);
}

void program_row_put(struct bytes *out, const struct mount_row *row)
{
    bytes_put_u32(out, row->writer);
    bytes_put_u32(out, row->file);
    bytes_put_u64(out, row->offset);
    bytes_put_u64(out, row->length);
    bytes_put_i64(out, row->asked_ns);
    bytes_put_i64(out, row->locked_ns);
    bytes_put_i64(out, row->ended_ns);
    bytes_put_u8(out, row->held);
}

static void record(struct actor *self, const struct program *p, struct cursor *c)
{
    int64_t end_ns = actor_now(self);
    struct bytes bytes = BYTES_INIT;

    while (cursor_ok(c) && !cursor_done(c)) {
        struct mount_row row = { .name = p->setup->row_name, .mount = actor_id(self), .purpose = MOUNT_FOR_DATA };
        row.writer = cursor_u32(c);
        row.file = cursor_u32(c);
        row.offset = cursor_u64(c);
        row.length = cursor_u64(c);
        row.asked_ns = end_ns + cursor_i64(c);
        row.locked_ns = end_ns + cursor_i64(c);
        row.ended_ns = end_ns + cursor_i64(c);
        row.held = cursor_u8(c);
        mount_row_record(self, &bytes, &row);
    }
    bytes_release(&bytes);
}

static void report(struct actor *self, const struct message *m)
{
    struct program *p = actor_state(self);
    struct cursor c = message_cursor(m);
    for (unsigned i = 0; i < PROGRAM_METRICS; i++) {
        int64_t value = cursor_i64(&c);
        if (metrics[i].type == METRIC_SAMPLE)
            actor_sample(self, i, value);
        else
            actor_count(self, i, (uint64_t)value);
    }
    record(self, p, &c);
    p->done = true;
    if (p->setup->next != PROGRAM_NOBODY)
        actor_send(self, p->setup->next, PROGRAM_BEGIN, 0);
}

static void program_init(struct actor *self, const void *setup)
{
    struct program *p = actor_state(self);
    p->setup = setup;
    if (p->setup->first)
        actor_timer(self, 1, PROGRAM_BEGIN, 0);
}

static void program_handle(struct actor *self, const struct message *m)
{
    switch (m->kind) {
    case PROGRAM_BEGIN:
        begin(self);
        break;
    case PROGRAM_DONE:
        report(self, m);
        break;
    default:
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    }
}

static void program_save(const struct actor *self, struct bytes *sink)
{
    const struct program *p = actor_state(self);
    bytes_put_u8(sink, p->done);
}

static const struct kind_name kinds[] = {
    { PROGRAM_BEGIN, "begin", "the program before has ended" },
    { PROGRAM_DONE, "done", "the processes have carried out the act, with what it came to" },
    { 0, NULL, NULL }
};

const struct role role_file_program = {
    .name = "program",
    .text = "a parallel program that writes a real file",
    .state_size = sizeof(struct program),
    .kinds = kinds,
    .metrics = metrics,
    .init = program_init,
    .handle = program_handle,
    .save = program_save
};
