/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/sequence.h"

void sequence_waits_release(struct sequence_waits *w)
{
    g_free(w->waiters);
    *w = (struct sequence_waits)SEQUENCE_WAITS_INIT;
}

void sequence_wait(struct sequence_waits *w, uint64_t sequence, uint64_t token)
{
    if (w->length == w->capacity) {
        w->capacity = w->capacity == 0 ? 4 : w->capacity * 2;
        w->waiters = g_renew(struct sequence_waiter, w->waiters, w->capacity);
    }
    uint32_t at = 0;
    while (at < w->length && w->waiters[at].sequence > sequence)
        at++;
    memmove(w->waiters + at + 1, w->waiters + at, (w->length - at) * sizeof *w->waiters);
    w->waiters[at] = (struct sequence_waiter){ sequence, token };
    w->length++;
}

bool sequence_woken(struct sequence_waits *w, uint64_t reached, uint64_t *token)
{
    if (w->length == 0 || w->waiters[w->length - 1].sequence > reached)
        return false;
    *token = w->waiters[--w->length].token;
    return true;
}

void sequence_waits_save(const struct sequence_waits *w, struct bytes *sink)
{
    bytes_put_u32(sink, w->length);
    for (uint32_t i = w->length; i-- > 0;) {
        bytes_put_u64(sink, w->waiters[i].sequence);
        bytes_put_u64(sink, w->waiters[i].token);
    }
}
