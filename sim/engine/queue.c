/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/queue.h"

#include <glib.h>

enum {
    CHUNK_MESSAGES = 7,             /* with the head, 232 bytes: under four cache lines */
    FIRST_BUCKETS = 256,
    MOST_BUCKETS = 1 << 20,
    FIRST_SHIFT = 12,
    TARGET_FILL = 16,               /* messages in a bucket when it is sorted, about */
    RESHAPE_LOADS = 512             /* bucket loads between two looks at the shape */
};
#define NO_CHUNK UINT32_MAX

struct queue_chunk {
    uint32_t count;
    uint32_t next;
    struct message items[CHUNK_MESSAGES];
};

/* --- heap --- */

static void heap_push(struct message_heap *h, const struct message *m)
{
    if (h->count == h->capacity) {
        h->capacity = h->capacity != 0 ? 2 * h->capacity : 64;
        h->items = g_renew(struct message, h->items, h->capacity);
    }
    size_t i = h->count++;
    while (i > 0) {
        size_t up = (i - 1) / 2;
        if (!message_before(m, &h->items[up]))
            break;
        h->items[i] = h->items[up];
        i = up;
    }
    h->items[i] = *m;
}

static struct message heap_pop(struct message_heap *h)
{
    struct message top = h->items[0];
    struct message last = h->items[--h->count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= h->count)
            break;
        if (child + 1 < h->count && message_before(&h->items[child + 1], &h->items[child]))
            child++;
        if (!message_before(&h->items[child], &last))
            break;
        h->items[i] = h->items[child];
        i = child;
    }
    h->items[i] = last;
    return top;
}

/* --- sorting a bucket --- */

static void insertion_sort(struct message *m, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct message x = m[i];
        size_t j = i;
        for (; j > 0 && message_before(&x, &m[j - 1]); j--)
            m[j] = m[j - 1];
        m[j] = x;
    }
}

static void swap(struct message *a, struct message *b)
{
    struct message x = *a;
    *a = *b;
    *b = x;
}

static void sift_down(struct message *m, size_t i, size_t n)
{
    struct message x = m[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && message_before(&m[child], &m[child + 1]))
            child++;
        if (!message_before(&x, &m[child]))
            break;
        m[i] = m[child];
    }
    m[i] = x;
}

static void heap_sort(struct message *m, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift_down(m, i, n);
    while (n > 1) {
        swap(&m[0], &m[--n]);
        sift_down(m, 0, n);
    }
}

/* Quicksort by the median of three; a depth of 2 log n falls back to heapsort, so no input makes it quadratic. */
static void sort_messages(struct message *m, size_t n, unsigned depth)
{
    while (n > 32) {
        if (depth-- == 0) {
            heap_sort(m, n);
            return;
        }
        struct message *mid = &m[n / 2], *last = &m[n - 1];
        if (message_before(mid, m))
            swap(mid, m);
        if (message_before(last, mid)) {
            swap(last, mid);
            if (message_before(mid, m))
                swap(mid, m);
        }
        struct message pivot = *mid;
        size_t i = 0, j = n - 1;
        for (;;) {
            while (message_before(&m[i], &pivot))
                i++;
            while (message_before(&pivot, &m[j]))
                j--;
            if (i >= j)
                break;
            swap(&m[i++], &m[j--]);
        }
        size_t left = j + 1;
        if (left < n - left) {
            sort_messages(m, left, depth);
            m += left;
            n -= left;
        } else {
            sort_messages(m + left, n - left, depth);
            n = left;
        }
    }
    insertion_sort(m, n);
}

/* --- the wheel --- */

static void wheel_allocate(struct queue *q, size_t buckets)
{
    q->buckets = buckets;
    q->first = g_renew(uint32_t, q->first, buckets);
    q->occupied = g_renew(uint64_t, q->occupied, buckets / 64);
    memset(q->first, 0xff, buckets * sizeof *q->first);
    memset(q->occupied, 0, buckets / 64 * sizeof *q->occupied);
    q->in_wheel = 0;
    q->chunks_used = 0;
    q->free_chunk = NO_CHUNK;
}

void queue_init(struct queue *q)
{
    *q = (struct queue){ .shift = FIRST_SHIFT, .bucket = -1 };
    wheel_allocate(q, FIRST_BUCKETS);
}

void queue_release(struct queue *q)
{
    g_free(q->items);
    g_free(q->side.items);
    g_free(q->far.items);
    g_free(q->first);
    g_free(q->occupied);
    g_free(q->chunks);
    *q = (struct queue){ 0 };
}

static uint32_t chunk_take(struct queue *q)
{
    if (q->free_chunk != NO_CHUNK) {
        uint32_t taken = q->free_chunk;
        q->free_chunk = q->chunks[taken].next;
        return taken;
    }
    if (q->chunks_used == q->chunks_capacity) {
        q->chunks_capacity = q->chunks_capacity != 0 ? q->chunks_capacity + q->chunks_capacity / 2 : 64;
        q->chunks = g_renew(struct queue_chunk, q->chunks, q->chunks_capacity);
    }
    return q->chunks_used++;
}

static void wheel_put(struct queue *q, int64_t number, const struct message *m)
{
    size_t slot = (size_t)number & (q->buckets - 1);
    uint32_t c = q->first[slot];
    if (c == NO_CHUNK || q->chunks[c].count == CHUNK_MESSAGES) {
        uint32_t fresh = chunk_take(q);
        q->chunks[fresh].count = 0;
        q->chunks[fresh].next = c;
        q->first[slot] = c = fresh;
        q->occupied[slot / 64] |= 1ull << (slot % 64);
    }
    struct queue_chunk *chunk = &q->chunks[c];
    chunk->items[chunk->count++] = *m;
    q->in_wheel++;
}

static void place(struct queue *q, const struct message *m)
{
    int64_t number = m->time_ns >> q->shift;
    if (number <= q->bucket) {
        q->side_pushes++;
        heap_push(&q->side, m);
    } else if (number - q->bucket < (int64_t)q->buckets) {
        wheel_put(q, number, m);
    } else {
        q->far_pushes++;
        heap_push(&q->far, m);
    }
}

void queue_push(struct queue *q, const struct message *m)
{
    q->pushes++;
    place(q, m);
}

/* The number of the first occupied bucket after the present one; the wheel must hold something. */
static int64_t wheel_next(const struct queue *q)
{
    size_t mask = q->buckets - 1;
    size_t slot = (size_t)(q->bucket + 1) & mask;
    size_t word = slot / 64, words = q->buckets / 64;
    uint64_t bits = q->occupied[word] & (~0ull << (slot % 64));
    for (size_t i = 0; bits == 0 && i < words; i++) {
        word = (word + 1) % words;
        bits = q->occupied[word];
    }
    size_t found = word * 64 + (size_t)__builtin_ctzll(bits);
    return q->bucket + 1 + (int64_t)((found - slot) & mask);
}

static void items_reserve(struct queue *q, size_t need)
{
    if (need > q->capacity) {
        q->capacity = need + need / 2 + 64;
        q->items = g_renew(struct message, q->items, q->capacity);
    }
}

/* Takes all messages out, then puts them back under another width and number of buckets. */
static void reshape(struct queue *q, unsigned shift, size_t buckets)
{
    size_t n = 0;
    struct message *all = g_new(struct message, q->in_wheel + q->far.count + 1);
    for (size_t slot = 0; slot < q->buckets; slot++)
        for (uint32_t c = q->first[slot]; c != NO_CHUNK; c = q->chunks[c].next) {
            memcpy(&all[n], q->chunks[c].items, q->chunks[c].count * sizeof *all);
            n += q->chunks[c].count;
        }
    if (q->far.count != 0)
        memcpy(&all[n], q->far.items, q->far.count * sizeof *all);
    n += q->far.count;
    q->far.count = 0;
    /* Called with the present bucket drained: the wheel goes on behind it, at the new width. */
    int64_t passed_ns = (q->bucket + 1) << q->shift;
    q->shift = shift;
    q->bucket = (passed_ns >> shift) - 1;
    wheel_allocate(q, buckets);
    for (size_t i = 0; i < n; i++)
        place(q, &all[i]);
    g_free(all);
}

/* Looks at what the last loads were like, and changes the shape when that is worth moving everything. */
static void consider_shape(struct queue *q)
{
    if (q->loads < RESHAPE_LOADS || q->pushes < 2 * (q->in_wheel + q->far.count))
        return;
    unsigned shift = q->shift;
    size_t buckets = q->buckets;
    uint64_t fill = (q->loaded + q->side_pushes) / q->loads;
    if (fill > 4 * TARGET_FILL && shift > 0)
        shift -= fill > 16 * TARGET_FILL && shift > 1 ? 2 : 1;
    else if (fill < TARGET_FILL / 4 && q->side_pushes * 4 < q->pushes && shift < 50)
        shift += 1;
    if (q->far_pushes * 8 > q->pushes && buckets < MOST_BUCKETS && buckets < 4 * (q->in_wheel + q->far.count) + 1024)
        buckets *= 4;
    q->loads = q->loaded = q->side_pushes = q->far_pushes = q->pushes = 0;
    if (shift != q->shift || buckets != q->buckets)
        reshape(q, shift, MIN(buckets, MOST_BUCKETS));
}

static void load(struct queue *q, int64_t number)
{
    size_t slot = (size_t)number & (q->buckets - 1);
    q->bucket = number;
    q->at = q->count = 0;
    for (uint32_t c = q->first[slot]; c != NO_CHUNK;) {
        struct queue_chunk *chunk = &q->chunks[c];
        items_reserve(q, q->count + chunk->count);
        memcpy(&q->items[q->count], chunk->items, chunk->count * sizeof *q->items);
        q->count += chunk->count;
        uint32_t next = chunk->next;
        chunk->next = q->free_chunk;
        q->free_chunk = c;
        c = next;
    }
    q->first[slot] = NO_CHUNK;
    q->occupied[slot / 64] &= ~(1ull << (slot % 64));
    q->in_wheel -= q->count;
    q->loads++;
    q->loaded += q->count;
    unsigned depth = 2;
    for (size_t n = q->count; n > 1; n /= 2)
        depth += 2;
    sort_messages(q->items, q->count, depth);
}

/* Brings what the wheel now reaches in from the far heap. */
static void far_migrate(struct queue *q)
{
    while (q->far.count != 0 && (q->far.items[0].time_ns >> q->shift) - q->bucket < (int64_t)q->buckets) {
        struct message m = heap_pop(&q->far);
        wheel_put(q, m.time_ns >> q->shift, &m);
    }
}

/* With the present bucket and the side heap drained: makes the next occupied bucket the present one. */
static bool advance(struct queue *q)
{
    consider_shape(q);
    if (q->side.count != 0)
        return true;
    if (q->in_wheel == 0) {
        if (q->far.count == 0)
            return false;
        q->bucket = (q->far.items[0].time_ns >> q->shift) - 1;
        far_migrate(q);
    }
    load(q, wheel_next(q));
    far_migrate(q);
    return true;
}

int64_t queue_next_ns(struct queue *q)
{
    if (q->at == q->count && q->side.count == 0 && !advance(q))
        return INT64_MAX;
    int64_t next = q->at < q->count ? q->items[q->at].time_ns : INT64_MAX;
    if (q->side.count != 0 && q->side.items[0].time_ns < next)
        next = q->side.items[0].time_ns;
    return next;
}

struct message queue_pop(struct queue *q)
{
    if (q->at == q->count && q->side.count == 0) {
        bool found = advance(q);
        g_assert(found);
    }
    if (q->side.count == 0)
        return q->items[q->at++];
    if (q->at < q->count && message_before(&q->items[q->at], &q->side.items[0]))
        return q->items[q->at++];
    return heap_pop(&q->side);
}

size_t queue_count(const struct queue *q)
{
    return q->count - q->at + q->side.count + q->in_wheel + q->far.count;
}

size_t queue_memory_bytes(const struct queue *q)
{
    return (q->capacity + q->side.capacity + q->far.capacity) * sizeof(struct message) +
           q->chunks_capacity * sizeof(struct queue_chunk) + q->buckets * sizeof *q->first + q->buckets / 8;
}

void queue_each(struct queue *q, void (*visit)(void *data, const struct message *m), void *data)
{
    for (size_t i = q->at; i < q->count; i++)
        visit(data, &q->items[i]);
    for (size_t i = 0; i < q->side.count; i++)
        visit(data, &q->side.items[i]);
    for (size_t slot = 0; slot < q->buckets; slot++)
        for (uint32_t c = q->first[slot]; c != NO_CHUNK; c = q->chunks[c].next)
            for (uint32_t i = 0; i < q->chunks[c].count; i++)
                visit(data, &q->chunks[c].items[i]);
    for (size_t i = 0; i < q->far.count; i++)
        visit(data, &q->far.items[i]);
}
