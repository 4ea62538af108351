/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/inode_lock.h"

#include <glib.h>

/* --- the queue: one line for each mode, since a batch of shared grants passes all others --- */

static struct lock_waiter *line_at(const struct lock_line *line, uint32_t i)
{
    return &line->waiters[(line->head + i) & (line->capacity - 1)];
}

static void line_append(struct lock_line *line, struct lock_waiter waiter)
{
    if (line->count == line->capacity) {
        struct lock_line wider = { .capacity = MAX(line->capacity * 2, 8), .count = line->count };
        wider.waiters = g_new(struct lock_waiter, wider.capacity);
        for (uint32_t i = 0; i < line->count; i++)
            wider.waiters[i] = *line_at(line, i);
        g_free(line->waiters);
        *line = wider;
    }
    *line_at(line, line->count++) = waiter;
}

static struct lock_waiter line_take(struct lock_line *line)
{
    struct lock_waiter waiter = *line_at(line, 0);
    line->head++;
    line->count--;
    return waiter;
}

/* The mode that the head of the whole queue waits for; somebody must wait. */
static enum lock_mode head_mode(const struct inode_lock *l)
{
    const struct lock_line *shared = &l->line[LOCK_SHARED], *exclusive = &l->line[LOCK_EXCLUSIVE];
    if (shared->count == 0)
        return LOCK_EXCLUSIVE;
    if (exclusive->count == 0)
        return LOCK_SHARED;
    return line_at(shared, 0)->order < line_at(exclusive, 0)->order ? LOCK_SHARED : LOCK_EXCLUSIVE;
}

static bool waits(const struct inode_lock *l)
{
    return inode_lock_waiters(l) != 0;
}

static void enqueue(struct inode_lock *l, uint32_t who, enum lock_mode mode, int64_t now_ns)
{
    line_append(&l->line[mode], (struct lock_waiter){ l->order++, now_ns, who });
}

/* --- grants --- */

static void take(struct inode_lock *l, enum lock_mode mode)
{
    g_assert(!l->exclusive && (mode == LOCK_SHARED || l->shared == 0));
    if (mode == LOCK_EXCLUSIVE)
        l->exclusive = true;
    else
        l->shared++;
}

static void grant_head(struct inode_lock *l, enum lock_mode mode)
{
    if (l->granted_count == l->granted_capacity) {
        l->granted_capacity = MAX(l->granted_capacity * 2, 8);
        l->granted = g_renew(struct lock_grant, l->granted, l->granted_capacity);
    }
    l->granted[l->granted_count++] = (struct lock_grant){ line_take(&l->line[mode]).who, mode };
    take(l, mode);
}

static void grant_batch(struct inode_lock *l)
{
    for (unsigned i = 0; i < LOCK_BATCH_MOST && l->line[LOCK_SHARED].count != 0; i++)
        grant_head(l, LOCK_SHARED);
    l->handoff = false;
}

/* Fair: the head goes in as long as it fits. */
static void grant_in_order(struct inode_lock *l)
{
    while (waits(l) && !l->exclusive && (head_mode(l) == LOCK_SHARED || l->shared == 0))
        grant_head(l, head_mode(l));
}

/* The kernel's rwsem_mark_wake. `free`: nobody holds the lock, so that a sleeper in exclusive mode may try. */
static void wake(struct inode_lock *l, bool free)
{
    if (!waits(l))
        return;
    if (head_mode(l) == LOCK_SHARED) {
        grant_batch(l);
    } else if (free && !l->waking) {
        l->waking = true;
        l->woken = true;
    }
}

bool inode_lock_take_granted(struct inode_lock *l, uint32_t *who, enum lock_mode *mode)
{
    if (l->granted_first == l->granted_count) {
        l->granted_first = l->granted_count = 0;
        return false;
    }
    *who = l->granted[l->granted_first].who;
    *mode = l->granted[l->granted_first++].mode;
    return true;
}

bool inode_lock_take_woken(struct inode_lock *l, uint32_t *who)
{
    if (!l->woken)
        return false;
    l->woken = false;
    *who = line_at(&l->line[LOCK_EXCLUSIVE], 0)->who;
    return true;
}

/* --- asking and leaving --- */

void inode_lock_init(struct inode_lock *l, enum lock_queue queue, uint32_t hz)
{
    g_assert(hz > 0);
    *l = (struct inode_lock){ .queue = queue, .hz = hz };
}

void inode_lock_release(struct inode_lock *l)
{
    g_free(l->line[LOCK_SHARED].waiters);
    g_free(l->line[LOCK_EXCLUSIVE].waiters);
    g_free(l->granted);
}

static bool ask_fair(struct inode_lock *l, uint32_t who, enum lock_mode mode, int64_t now_ns)
{
    if (waits(l) || l->exclusive || (mode == LOCK_EXCLUSIVE && l->shared != 0)) {
        enqueue(l, who, mode, now_ns);
        return false;
    }
    take(l, mode);
    return true;
}

static bool ask_kernel(struct inode_lock *l, uint32_t who, enum lock_mode mode, int64_t now_ns)
{
    bool free = !l->exclusive && l->shared == 0;
    bool first_shared = mode == LOCK_SHARED && free;

    if (!l->handoff && (free || (mode == LOCK_SHARED && !l->exclusive && !waits(l)))) {
        l->steals += waits(l);
        take(l, mode);
        if (first_shared)
            wake(l, false);
        return true;
    }
    enqueue(l, who, mode, now_ns);
    if (!l->exclusive)
        wake(l, free);
    return false;
}

bool inode_lock_ask(struct inode_lock *l, uint32_t who, enum lock_mode mode, int64_t now_ns)
{
    return l->queue == LOCK_FIFO ? ask_fair(l, who, mode, now_ns) : ask_kernel(l, who, mode, now_ns);
}

void inode_lock_leave(struct inode_lock *l, enum lock_mode mode)
{
    g_assert(mode == LOCK_EXCLUSIVE ? l->exclusive : l->shared > 0);
    if (mode == LOCK_EXCLUSIVE)
        l->exclusive = false;
    else
        l->shared--;
    if (l->queue == LOCK_FIFO)
        grant_in_order(l);
    else if (l->shared == 0)
        wake(l, true);
}

void inode_lock_demote(struct inode_lock *l)
{
    g_assert(l->exclusive);
    l->exclusive = false;
    l->shared = 1;
    if (l->queue == LOCK_FIFO)
        grant_in_order(l);
    else
        wake(l, false);
}

/* Whole ticks since the beginning: what the kernel calls jiffies. */
static int64_t ticks(const struct inode_lock *l, int64_t time_ns)
{
    return (int64_t)((__int128)time_ns * l->hz / 1000000000);
}

static bool waited_too_long(const struct inode_lock *l, const struct lock_waiter *waiter, int64_t now_ns)
{
    return ticks(l, now_ns) > ticks(l, waiter->since_ns) + (l->hz + 249) / 250;
}

bool inode_lock_try(struct inode_lock *l, uint32_t who, int64_t now_ns)
{
    struct lock_line *line = &l->line[LOCK_EXCLUSIVE];
    g_assert(l->waking && line->count > 0 && line_at(line, 0)->who == who);
    l->waking = false;
    if (!l->exclusive && l->shared == 0) {
        line_take(line);
        take(l, LOCK_EXCLUSIVE);
        l->handoff = false;
        return true;
    }
    if (!l->handoff && waited_too_long(l, line_at(line, 0), now_ns)) {
        l->handoff = true;
        l->handoffs++;
    }
    return false;
}

void inode_lock_save(const struct inode_lock *l, struct bytes *sink)
{
    bytes_put_u8(sink, l->exclusive);
    bytes_put_u32(sink, l->shared);
    bytes_put_u8(sink, (uint8_t)(l->handoff | l->waking << 1));
    for (unsigned mode = LOCK_SHARED; mode <= LOCK_EXCLUSIVE; mode++) {
        bytes_put_u32(sink, l->line[mode].count);
        for (uint32_t i = 0; i < l->line[mode].count; i++) {
            const struct lock_waiter *waiter = line_at(&l->line[mode], i);
            bytes_put_u64(sink, waiter->order);
            bytes_put_i64(sink, waiter->since_ns);
            bytes_put_u32(sink, waiter->who);
        }
    }
}
