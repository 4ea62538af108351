/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/mount.h"

#include <glib.h>

#include "ranks/shared_file.h"
#include "ranks/storage.h"

enum { STREAM_WAKE, STREAMS };

#define NO_OPERATION UINT32_MAX

/* A file of the node. */
struct file {
    struct inode inode;
    struct inode_lock lock;
};

/* A write that is under way, from its request to its answer. */
struct operation {
    uint32_t from;
    struct mount_request request;
    struct inode_write write;
    uint64_t sent;                  /* bytes, to the server */
    enum lock_mode mode;
    bool demoted;                   /* from exclusive, with the lock in hand */
    int64_t asked_ns;
    int64_t locked_ns;
    uint32_t next_free;
    bool used;
};

struct mount {
    const struct shared_file *setup;
    uint32_t index;                 /* among the mounts */
    GPtrArray *files;               /* struct file, by number; NULL where there was none yet */
    GArray *operations;             /* struct operation */
    uint32_t free;                  /* the first unused one, or NO_OPERATION */
    struct bytes row;               /* of the trace, while it is made */
};

/* --- operations and files --- */

static struct operation *operation_at(const struct mount *t, uint64_t i)
{
    return &g_array_index(t->operations, struct operation, i);
}

static uint32_t operation_new(struct mount *t)
{
    uint32_t i = t->free;
    if (i == NO_OPERATION) {
        i = t->operations->len;
        g_array_set_size(t->operations, i + 1);
    } else {
        t->free = operation_at(t, i)->next_free;
    }
    *operation_at(t, i) = (struct operation){ .used = true };
    return i;
}

static void operation_end(struct mount *t, uint32_t i)
{
    operation_at(t, i)->used = false;
    operation_at(t, i)->next_free = t->free;
    t->free = i;
}

static void file_free(gpointer data)
{
    struct file *file = data;
    if (file == NULL)
        return;
    inode_release(&file->inode);
    inode_lock_release(&file->lock);
    g_free(file);
}

static struct file *file_new(const struct shared_file *f)
{
    struct file *file = g_new(struct file, 1);
    inode_init(&file->inode, f->rules, f->parallel);
    inode_lock_init(&file->lock, f->queue, f->hz);
    file->inode.cached_users = f->cached_users;
    if (f->prepare == PREPARE_FILLED)
        inode_written(&file->inode, &(struct inode_write){ 0, f->file_bytes, false });
    else if (f->prepare == PREPARE_SIZED)
        inode_set_size(&file->inode, f->file_bytes);
    return file;
}

static struct file *file_of(struct mount *t, uint32_t number)
{
    if (number >= t->files->len)
        g_ptr_array_set_size(t->files, (int)number + 1);
    if (t->files->pdata[number] == NULL)
        t->files->pdata[number] = file_new(t->setup);
    return t->files->pdata[number];
}

static struct file *file_at(struct mount *t, const struct operation *op)
{
    return t->files->pdata[op->request.file];
}

/* --- the lock --- */

static int64_t draw_wake(struct actor *self, const struct mount *t)
{
    return actor_draw_duration(self, STREAM_WAKE, &t->setup->wake) + 2 * t->setup->local_ns;
}

/* Does what the lock has decided. */
static void hear(struct actor *self, struct mount *t, struct file *file)
{
    uint32_t who;
    enum lock_mode mode;
    while (inode_lock_take_granted(&file->lock, &who, &mode))
        actor_timer(self, draw_wake(self, t), MOUNT_GO, who);
    if (inode_lock_take_woken(&file->lock, &who))
        actor_timer(self, draw_wake(self, t), MOUNT_TRY, who);
}

static void go(struct actor *self, struct mount *t, uint32_t i);

static void ask(struct actor *self, struct mount *t, uint32_t i)
{
    struct operation *op = operation_at(t, i);
    struct file *file = file_at(t, op);
    uint64_t steals = file->lock.steals;
    bool taken = inode_lock_ask(&file->lock, i, op->mode, actor_now(self));
    actor_count(self, MOUNT_STEALS, file->lock.steals - steals);
    hear(self, t, file);
    if (taken)
        go(self, t, i);
}

static void leave(struct actor *self, struct mount *t, struct operation *op)
{
    struct file *file = file_at(t, op);
    inode_lock_leave(&file->lock, op->mode);
    hear(self, t, file);
}

/* --- a write --- */

static void send_request(struct actor *self, struct mount *t, uint32_t i)
{
    const struct shared_file *f = t->setup;
    struct operation *op = operation_at(t, i);
    bool resizes = (op->request.flags & MOUNT_SET_SIZE) != 0;
    struct storage_request request = {
        .file = f->each ? t->index * f->writers_per_node + op->request.file : 0,
        .flags = op->request.flags,
        .offset = op->write.offset + op->sent,
        .length = resizes ? op->write.length : MIN(op->write.length - op->sent, f->request_most),
        .end = op->write.offset + op->write.length,
        .first = op->sent == 0,
        .operation = i
    };
    op->sent += request.length;
    request.last = op->sent == op->write.length;
    storage_send(self, f->storage, &request);
}

void mount_row_record(struct actor *self, struct bytes *bytes, const struct mount_row *row)
{
    bytes_clear(bytes);
    bytes_put_u8(bytes, row->name);
    bytes_put_u32(bytes, row->writer);
    bytes_put_u32(bytes, row->mount);
    bytes_put_u32(bytes, row->file);
    bytes_put_u64(bytes, row->offset);
    bytes_put_u64(bytes, row->length);
    bytes_put_i64(bytes, row->asked_ns);
    bytes_put_i64(bytes, row->locked_ns);
    bytes_put_i64(bytes, row->ended_ns);
    bytes_put_u8(bytes, row->held);
    bytes_put_u8(bytes, row->purpose);
    actor_record(self, 0, bytes->data, bytes->size);
}

static void record(struct actor *self, struct mount *t, const struct operation *op)
{
    unsigned flags = op->request.flags;
    enum mount_held held = op->mode == LOCK_EXCLUSIVE ? MOUNT_HELD_EXCLUSIVE : MOUNT_HELD_SHARED;

    if (!t->setup->rows)
        return;
    mount_row_record(self, &t->row, &(struct mount_row){
        .name = t->setup->row_name, .writer = op->from, .mount = actor_id(self), .file = op->request.file,
        .offset = op->write.offset, .length = op->write.length, .asked_ns = op->asked_ns,
        .locked_ns = op->locked_ns, .ended_ns = actor_now(self), .held = op->demoted ? MOUNT_HELD_DEMOTED : held,
        .purpose = flags & MOUNT_SET_SIZE ? MOUNT_FOR_SIZE : flags & MOUNT_ZEROS ? MOUNT_FOR_ZEROS : MOUNT_FOR_DATA
    });
}

static void count_lock(struct actor *self, const struct operation *op)
{
    if (op->request.flags & (MOUNT_ZEROS | MOUNT_SET_SIZE))
        return;
    actor_count(self, op->mode == LOCK_EXCLUSIVE ? MOUNT_EXCLUSIVE : MOUNT_SHARED, 1);
    actor_sample(self, MOUNT_LOCK_WAIT, actor_now(self) - op->asked_ns);
}

/* With the lock in hand. */
static void go(struct actor *self, struct mount *t, uint32_t i)
{
    struct operation *op = operation_at(t, i);
    struct file *file = file_at(t, op);
    if (op->write.append)
        op->write.offset = file->inode.size_bytes;
    enum inode_verdict verdict = op->request.flags & MOUNT_SET_SIZE ? INODE_GO
                                                                    : inode_verdict(&file->inode, &op->write, op->mode);
    if (verdict == INODE_EXCLUSIVELY) {
        actor_count(self, MOUNT_CHANGED, 1);
        leave(self, t, op);
        op->mode = LOCK_EXCLUSIVE;
        ask(self, t, i);
        return;
    }
    count_lock(self, op);
    op->locked_ns = actor_now(self);
    if (verdict == INODE_DEMOTE) {
        inode_lock_demote(&file->lock);
        op->mode = LOCK_SHARED;
        op->demoted = true;
        hear(self, t, file);
    }
    send_request(self, t, i);
}

struct mount_request mount_request_read(struct cursor *c)
{
    struct mount_request r = { .file = cursor_u32(c) };
    r.flags = cursor_u8(c);
    r.offset = cursor_u64(c);
    r.length = cursor_u64(c);
    r.kind = cursor_u16(c);
    r.word = cursor_u64(c);
    return r;
}

static void mount_handle_write(struct actor *self, struct mount *t, const struct message *m)
{
    uint32_t i = operation_new(t);
    struct operation *op = operation_at(t, i);
    struct mount_request *r = &op->request;
    struct cursor c = message_cursor(m);
    *r = mount_request_read(&c);
    op->from = m->from;
    op->write = (struct inode_write){ r->offset, r->length, (r->flags & MOUNT_APPEND) != 0 };
    op->asked_ns = actor_now(self);
    struct file *file = file_of(t, r->file);
    if (r->flags & MOUNT_FRESH && !shared_file_existed(t->setup))
        inode_set_size(&file->inode, 0);
    if (!(r->flags & (MOUNT_ZEROS | MOUNT_SET_SIZE)))
        actor_count(self, MOUNT_WRITES, 1);
    op->mode = r->flags & MOUNT_SET_SIZE ? LOCK_EXCLUSIVE : inode_mode(&file->inode, &op->write);
    ask(self, t, i);
}

static void mount_handle_answer(struct actor *self, struct mount *t, uint32_t i)
{
    struct operation *op = operation_at(t, i);
    struct file *file = file_at(t, op);
    if (op->sent < op->write.length) {
        send_request(self, t, i);
        return;
    }
    if (op->request.flags & MOUNT_SET_SIZE)
        inode_set_size(&file->inode, MAX(file->inode.size_bytes, op->write.offset + op->write.length));
    else
        inode_written(&file->inode, &op->write);
    record(self, t, op);
    leave(self, t, op);
    actor_send(self, op->from, op->request.kind, op->request.word);
    operation_end(t, i);
}

static void mount_handle_try(struct actor *self, struct mount *t, uint32_t i)
{
    struct file *file = file_at(t, operation_at(t, i));
    uint64_t handoffs = file->lock.handoffs;
    bool taken = inode_lock_try(&file->lock, i, actor_now(self));
    actor_count(self, MOUNT_HANDOFFS, file->lock.handoffs - handoffs);
    if (taken)
        go(self, t, i);
}

/* --- the role --- */

static void mount_init(struct actor *self, const void *setup)
{
    struct mount *t = actor_state(self);
    t->setup = setup;
    t->index = actor_id(self) - t->setup->first_mount;
    t->files = g_ptr_array_new_with_free_func(file_free);
    t->operations = g_array_new(FALSE, TRUE, sizeof(struct operation));
    t->free = NO_OPERATION;
    t->row = (struct bytes)BYTES_INIT;
}

static void mount_release(struct actor *self)
{
    struct mount *t = actor_state(self);
    g_ptr_array_free(t->files, TRUE);
    g_array_free(t->operations, TRUE);
    bytes_release(&t->row);
}

static void mount_handle(struct actor *self, const struct message *m)
{
    struct mount *t = actor_state(self);
    switch (m->kind) {
    case MOUNT_WRITE:
        mount_handle_write(self, t, m);
        break;
    case MOUNT_GO:
        go(self, t, (uint32_t)m->word);
        break;
    case MOUNT_TRY:
        mount_handle_try(self, t, (uint32_t)m->word);
        break;
    case STORAGE_WRITTEN:
        mount_handle_answer(self, t, (uint32_t)m->word);
        break;
    default:
        actor_fail(self, "unexpected message of kind 0x%04x", m->kind);
    }
}

static void mount_save(const struct actor *self, struct bytes *sink)
{
    const struct mount *t = actor_state(self);
    for (unsigned i = 0; i < t->files->len; i++) {
        const struct file *file = t->files->pdata[i];
        bytes_put_u8(sink, file != NULL);
        if (file == NULL)
            continue;
        inode_save(&file->inode, sink);
        inode_lock_save(&file->lock, sink);
    }
    for (unsigned i = 0; i < t->operations->len; i++) {
        const struct operation *op = operation_at(t, i);
        bytes_put_u8(sink, op->used);
        if (!op->used)
            continue;
        bytes_put_u32(sink, op->from);
        bytes_put_u64(sink, op->write.offset);
        bytes_put_u64(sink, op->sent);
        bytes_put_u8(sink, (uint8_t)op->mode);
    }
}

void mount_write(struct actor *self, uint32_t mount, const struct mount_request *request)
{
    struct bytes body = BYTES_INIT;
    bytes_put_u32(&body, request->file);
    bytes_put_u8(&body, request->flags);
    bytes_put_u64(&body, request->offset);
    bytes_put_u64(&body, request->length);
    bytes_put_u16(&body, request->kind);
    bytes_put_u64(&body, request->word);
    struct payload *payload = actor_payload(self, body.data, body.size);
    bytes_release(&body);
    actor_perform_write(self, mount, MOUNT_WRITE, payload);
}

static const struct kind_name mount_kinds[] = {
    { MOUNT_WRITE, "write", "a writer of the node writes a block, or sets a file's size" },
    { MOUNT_WRITTEN, "written", "to a writer: its block is written" },
    { MOUNT_NEXT, "next", "timer of a writer: the next block" },
    { MOUNT_GO, "go", "timer: a sleeper that has the lock is awake; word: its operation" },
    { MOUNT_TRY, "try", "timer: the sleeper at the head of the queue is awake; word: its operation" },
    { 0, NULL, NULL }
};

static const struct metric mount_metrics[] = {
    [MOUNT_WRITES] = { "writes", "1", "writes asked for", METRIC_SERIES },
    [MOUNT_EXCLUSIVE] = { "exclusive", "1", "writes that had the lock exclusively", METRIC_COUNTER },
    [MOUNT_SHARED] = { "shared", "1", "writes that had it shared", METRIC_COUNTER },
    [MOUNT_LOCK_WAIT] = { "lock_wait", "ns", "from the request of a write to its lock", METRIC_SAMPLE },
    [MOUNT_STEALS] = { "steals", "1", "locks taken past sleepers", METRIC_COUNTER },
    [MOUNT_HANDOFFS] = { "handoffs", "1", "hand-off bits set by sleepers that waited too long", METRIC_COUNTER },
    [MOUNT_CHANGED] = { "changed", "1", "shared choices that became exclusive with the lock in hand", METRIC_COUNTER },
    { NULL, NULL, NULL, METRIC_COUNTER }
};

static const char *const held_names[] = { [MOUNT_HELD_SHARED] = "shared", [MOUNT_HELD_EXCLUSIVE] = "exclusive",
                                          [MOUNT_HELD_DEMOTED] = "demoted", [MOUNT_HELD_UNLOCKED] = "unlocked", NULL };
static const char *const purpose_names[] = { [MOUNT_FOR_DATA] = "data", [MOUNT_FOR_ZEROS] = "zeros",
                                             [MOUNT_FOR_SIZE] = "size", NULL };

const struct table_column mount_write_columns[MOUNT_WRITE_COLUMNS] = {
    [MOUNT_WRITE_NAME] = { "io", "1", "group [io.NAME] of the deck", TABLE_ENUM, NULL },
    { "writer", "1", "actor that wrote; on the live clock the writer's number, from 0", TABLE_U32, NULL },
    { "mount", "1", "actor of its node's mount, which has the lock; on the live clock the program", TABLE_U32, NULL },
    { "file", "1", "file of that mount, from 0", TABLE_U32, NULL },
    { "offset", "bytes", "where in the file", TABLE_U64, NULL },
    { "length", "bytes", "how much", TABLE_U64, NULL },
    { "asked", "ns", "when it was asked for", TABLE_I64, NULL },
    { "locked", "ns", "when it had the lock and was awake", TABLE_I64, NULL },
    { "ended", "ns", "when it was written and let go of the lock", TABLE_I64, NULL },
    { "held", "1", "how it held the lock; demoted: exclusive, and shared at once; unlocked: the file system locked as "
      "it does", TABLE_ENUM, held_names },
    { "purpose", "1", "data, or of the preparation: zeros, or the file's size", TABLE_ENUM, purpose_names },
};

const struct role role_mount = {
    .name = "mount",
    .text = "a node's side of a shared file system: inodes and their locks",
    .state_size = sizeof(struct mount),
    .streams = STREAMS,
    .kinds = mount_kinds,
    .metrics = mount_metrics,
    .init = mount_init,
    .handle = mount_handle,
    .save = mount_save,
    .release = mount_release
};
