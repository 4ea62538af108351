/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/write_run.h"

void write_run_begin(struct actor *self, const struct shared_file *f, struct write_run *run, unsigned stream)
{
    actor_timer(self, actor_draw_duration(self, stream, &f->back), MOUNT_NEXT, run->tag);
}

static void write_next(struct actor *self, const struct shared_file *f, struct write_run *run)
{
    struct mount_request request = {
        .file = run->file, .flags = (uint8_t)(run->flags | (f->append ? MOUNT_APPEND : 0)),
        .offset = pattern_offset(&f->pattern, run->writer, run->next), .length = f->pattern.transfer,
        .kind = MOUNT_WRITTEN, .word = run->tag
    };
    run->flags = 0;
    mount_write(self, run->mount, &request);
}

bool write_run_handle(struct actor *self, const struct shared_file *f, struct write_run *run, const struct message *m,
                      unsigned stream)
{
    if (m->kind == MOUNT_NEXT) {
        write_next(self, f, run);
        return false;
    }
    if (++run->next == run->end)
        return true;
    int64_t back_ns = actor_draw_duration(self, stream, &f->back);
    actor_timer(self, back_ns + actor_draw_duration(self, stream, &f->think), MOUNT_NEXT, run->tag);
    return false;
}

void write_run_save(const struct write_run *run, struct bytes *sink)
{
    bytes_put_u64(sink, run->next);
    bytes_put_u64(sink, run->end);
    bytes_put_u8(sink, run->flags);
    bytes_put_u64(sink, run->tag);
}
