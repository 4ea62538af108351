/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/queue.h"

#include <glib.h>
#include <stdlib.h>

#include "engine/memory.h"

enum {
    CHUNK_MESSAGES = 7,             /* with the link, four cache lines */
    LEAST_BUCKETS = 256,
    DELAY_FROM = 8192,              /* messages in the wheel; fewer stay in the cache */
    MOST_BUCKETS = 1 << 22,
    ROW_MOST = QUEUE_FEW_MOST,      /* messages left in the row into which one more is sorted */
    FEW_AGAIN = QUEUE_FEW_MOST / 4,
    FEW_BUCKETS = 4096,             /* of a wheel that is worth emptying into the row */
    FEW_CAPACITY = 8 * QUEUE_FEW_MOST,
    FIRST_SHIFT = 12,
    TARGET_FILL = 16,               /* messages in a bucket when it is sorted, about */
    MANY = 1 << 19,                 /* messages from which memory counts more: */
    MANY_FILL = 48,                 /* fuller buckets waste less of their chunks */
    RESHAPE_PUSHES = 1024,          /* least pushes between two looks at the shape */
    RESHAPE_LOADS = 256,            /* bucket loads that its fill is judged by */
    FAR_MOST = 8192,                /* messages in the far heap before the first one is handled */
    NARROWEST = 12,                 /* most halvings of the width that the median gives */
    SAMPLE = 512                    /* messages looked at to choose it */
};
#define NO_CHUNK UINT32_MAX

struct queue_chunk {
    uint32_t next;
    uint32_t unused[7];
    struct message items[CHUNK_MESSAGES];
};

static inline struct queue_chunk *chunk_at(const struct queue *q, uint32_t c)
{
    return &q->slabs[c / QUEUE_SLAB_CHUNKS][c % QUEUE_SLAB_CHUNKS];
}

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

/* An empty wheel; what it was made of before must have been given back, but for its chunks. */
static void wheel_new(struct queue *q, size_t buckets)
{
    q->buckets = buckets;
    q->bucket_of = memory_new(buckets * sizeof *q->bucket_of);
    q->occupied = g_renew(uint64_t, q->occupied, buckets / 64);
    for (size_t i = 0; i < buckets; i++)
        q->bucket_of[i] = (struct queue_bucket){ NO_CHUNK, 0 };
    memset(q->occupied, 0, buckets / 64 * sizeof *q->occupied);
    q->in_wheel = 0;
}

static void items_reserve(struct queue *q, size_t need)
{
    if (need > q->capacity) {
        q->capacity = need + need / 2 + 64;
        q->items = g_renew(struct message, q->items, q->capacity);
    }
}

void queue_init(struct queue *q)
{
    *q = (struct queue){ .shift = FIRST_SHIFT, .bucket = -1, .few = true };
    q->free_chunk = NO_CHUNK;
    wheel_new(q, LEAST_BUCKETS);
    items_reserve(q, FEW_CAPACITY);
}

void queue_release(struct queue *q)
{
    g_free(q->items);
    g_free(q->side.items);
    g_free(q->far.items);
    free(q->bucket_of);
    g_free(q->occupied);
    for (uint32_t i = 0; i < q->slab_count; i++)
        free(q->slabs[i]);
    g_free(q->slabs);
    *q = (struct queue){ 0 };
}

static uint32_t chunk_take(struct queue *q)
{
    if (q->free_chunk != NO_CHUNK) {
        uint32_t taken = q->free_chunk;
        q->free_chunk = chunk_at(q, taken)->next;
        return taken;
    }
    if (q->chunks_used == q->slab_count * QUEUE_SLAB_CHUNKS) {
        q->slabs = g_renew(struct queue_chunk *, q->slabs, q->slab_count + 1);
        q->slabs[q->slab_count++] = memory_new(QUEUE_SLAB_CHUNKS * sizeof(struct queue_chunk));
    }
    return q->chunks_used++;
}

static inline void chunk_give(struct queue *q, uint32_t c)
{
    chunk_at(q, c)->next = q->free_chunk;
    q->free_chunk = c;
}

static inline void wheel_put(struct queue *q, int64_t number, const struct message *m)
{
    size_t slot = (size_t)number & (q->buckets - 1);
    struct queue_bucket *b = &q->bucket_of[slot];
    uint32_t in_chunk = b->count % CHUNK_MESSAGES;
    if (in_chunk == 0) {
        uint32_t fresh = chunk_take(q);
        chunk_at(q, fresh)->next = b->chunk;
        b->chunk = fresh;
        q->occupied[slot / 64] |= 1ull << (slot % 64);
    }
    chunk_at(q, b->chunk)->items[in_chunk] = *m;
    b->count++;
    q->in_wheel++;
}

/* Copies a bucket's messages to `to` and returns their number; the chunks stay. */
static size_t bucket_copy(const struct queue *q, size_t slot, struct message *to)
{
    const struct queue_bucket *b = &q->bucket_of[slot];
    size_t n = 0, left = b->count;
    for (uint32_t c = b->chunk; left != 0; c = chunk_at(q, c)->next) {
        size_t here = (left - 1) % CHUNK_MESSAGES + 1;
        memcpy(&to[n], chunk_at(q, c)->items, here * sizeof *to);
        n += here;
        left -= here;
    }
    return n;
}

/* --- the sorted row --- */

/* Makes room behind the row: what was popped has left some in front. */
static void row_make_room(struct queue *q)
{
    if (q->at == 0) {
        items_reserve(q, q->count + 1);
        return;
    }
    memmove(q->items, &q->items[q->at], (q->count - q->at) * sizeof *q->items);
    q->count -= q->at;
    q->at = 0;
}

/* Into the row, from the end that is nearer. */
static inline void row_put(struct queue *q, const struct message *m)
{
    struct message *first = &q->items[q->at];
    const size_t half = (q->count - q->at) / 2;
    if (q->at != 0 && half != 0 && m->time_ns < first[half].time_ns) {
        struct message *to = &q->items[--q->at];
        for (; message_before(to + 1, m); to++)
            *to = *(to + 1);
        *to = *m;
        return;
    }
    if (G_UNLIKELY(q->count == q->capacity))
        row_make_room(q);
    first = &q->items[q->at];
    struct message *to = &q->items[q->count++];
    for (; to > first && message_before(m, to - 1); to--)
        *to = *(to - 1);
    *to = *m;
}

static inline void place(struct queue *q, const struct message *m)
{
    int64_t number = m->time_ns >> q->shift;
    if (number <= q->bucket) {
        q->near_pushes++;
        if (q->count - q->at < ROW_MOST)
            row_put(q, m);
        else
            heap_push(&q->side, m);
    } else if (number - q->bucket < (int64_t)q->buckets) {
        wheel_put(q, number, m);
    } else {
        q->far_pushes++;
        heap_push(&q->far, m);
    }
}

/* Fetches what wheel_put will touch: first the bucket, later the chunk that its count says. */
static inline void fetch_bucket(const struct queue *q, const struct message *m)
{
    __builtin_prefetch(&q->bucket_of[(size_t)(m->time_ns >> q->shift) & (q->buckets - 1)], 1);
}

static inline void fetch_chunk(const struct queue *q, const struct message *m)
{
    const struct queue_bucket *b = &q->bucket_of[(size_t)(m->time_ns >> q->shift) & (q->buckets - 1)];
    uint32_t in_chunk = b->count % CHUNK_MESSAGES;
    if (in_chunk != 0)
        __builtin_prefetch(&chunk_at(q, b->chunk)->items[in_chunk], 1);
}

static void place_delayed(struct queue *q)
{
    for (; q->delayed_count != 0; q->delayed_count--)
        place(q, &q->delayed[q->delayed_first++ % QUEUE_DELAY]);
}

/* --- few messages --- */

/* More than a row is good for: they go where their times belong. The first of them is in the bucket after next. */
static void spread_few(struct queue *q)
{
    struct message all[QUEUE_FEW_MOST];
    size_t n = q->count - q->at;
    memcpy(all, &q->items[q->at], n * sizeof *all);
    q->at = q->count = 0;
    q->few = false;
    q->bucket = (all[0].time_ns >> q->shift) - 1;
    q->shaped_for = n;
    q->loads = q->loaded = q->near_pushes = q->far_pushes = q->pushes = 0;
    for (size_t i = 0; i < n; i++)
        place(q, &all[i]);
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

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Times of up to SAMPLE messages of the wheel and the far heap, evenly picked; how many. */
static size_t sample_times(const struct queue *q, size_t n, int64_t times[SAMPLE])
{
    size_t step = n > SAMPLE ? n / SAMPLE : 1, seen = 0, taken = 0;
    for (size_t slot = 0; slot < q->buckets; slot++) {
        size_t left = q->bucket_of[slot].count;
        for (uint32_t c = q->bucket_of[slot].chunk; left != 0; c = chunk_at(q, c)->next)
            for (size_t i = (left - 1) % CHUNK_MESSAGES + 1; i != 0; i--, left--)
                if (seen++ % step == 0 && taken < SAMPLE)
                    times[taken++] = chunk_at(q, c)->items[i - 1].time_ns;
    }
    for (size_t i = 0; i < q->far.count; i++)
        if (seen++ % step == 0 && taken < SAMPLE)
            times[taken++] = q->far.items[i].time_ns;
    qsort(times, taken, sizeof *times, compare_times);
    return taken;
}

/* A width and a number of buckets for the n messages pending, all behind from_ns: half of them lie within the median
 * distance, so `fill` of them in fill * 2 * median / n. Where most new messages are nearer than that, the
 * buckets are narrower by 2^narrow. */
static size_t choose_shape(struct queue *q, size_t n, int64_t from_ns)
{
    int64_t times[SAMPLE];
    size_t sampled = sample_times(q, n, times);
    int64_t median_ns = times[sampled / 2] - from_ns;
    unsigned fill = n < MANY ? TARGET_FILL : MANY_FILL;
    int64_t width = (int64_t)((unsigned __int128)median_ns * (2 * fill) / n) >> q->narrow;
    for (q->shift = 0; q->shift < 50 && (int64_t)2 << q->shift <= width; q->shift++)
        ;
    size_t buckets = LEAST_BUCKETS, most = MIN(n << MIN(q->narrow, 4u), (size_t)MOST_BUCKETS);
    int64_t reach = (times[sampled - 1] - from_ns) >> q->shift;
    while (buckets < most && (int64_t)buckets / 2 < reach)
        buckets *= 2;
    return buckets;
}

/* Puts all messages under another width and number of buckets, chunk by chunk, so that they are not held twice. Called
 * with the present bucket and the side heap drained: the wheel goes on behind it. */
static void reshape(struct queue *q)
{
    size_t n = q->in_wheel + q->far.count;
    int64_t passed_ns = (q->bucket + 1) << q->shift;
    struct queue_bucket *old = q->bucket_of;
    size_t old_buckets = q->buckets;
    struct message_heap far = q->far;

    size_t buckets = choose_shape(q, n, passed_ns);
    q->bucket = (passed_ns >> q->shift) - 1;
    q->far = (struct message_heap){ 0 };
    q->bucket_of = NULL;
    wheel_new(q, buckets);
    for (size_t slot = 0; slot < old_buckets; slot++) {
        size_t left = old[slot].count;
        for (uint32_t c = old[slot].chunk; left != 0;) {
            struct queue_chunk chunk = *chunk_at(q, c);
            chunk_give(q, c);
            for (size_t i = (left - 1) % CHUNK_MESSAGES + 1; i != 0; i--, left--)
                place(q, &chunk.items[i - 1]);
            c = chunk.next;
        }
    }
    for (size_t i = 0; i < far.count; i++)
        place(q, &far.items[i]);
    free(old);
    g_free(far.items);
    q->shaped_for = n;
    q->loads = q->loaded = q->near_pushes = q->far_pushes = q->pushes = 0;
}

/* Whether the traffic since the last look does not fit the shape; also learns how much narrower than the median says
 * the buckets should be. */
static bool traffic_unfit(struct queue *q)
{
    uint64_t fill = (q->loaded + q->near_pushes) / q->loads;
    bool near = q->near_pushes * 2 > q->pushes && fill > TARGET_FILL / 2 && q->narrow < NARROWEST;
    bool sparse = fill < TARGET_FILL / 6;
    bool far = q->far_pushes * 4 > q->pushes && q->buckets < MOST_BUCKETS && q->buckets < q->in_wheel + q->far.count;
    if (near)
        q->narrow += 2;
    else if (sparse && q->narrow > 0)
        q->narrow--;
    bool unfit = near || sparse || far || fill > 6 * TARGET_FILL;
    q->loads = q->loaded = q->near_pushes = q->far_pushes = q->pushes = 0;
    return unfit;
}

/* Changes the shape when the number of messages or the traffic has left what it was chosen for, at most once for every
 * message moved. */
static void consider_shape(struct queue *q)
{
    size_t n = q->in_wheel + q->far.count;
    if (q->pushes < MAX(n, (size_t)RESHAPE_PUSHES) || n < 4)
        return;
    bool grown = n > 2 * q->shaped_for || n < q->shaped_for / 8;
    if ((q->loads >= RESHAPE_LOADS && traffic_unfit(q)) || grown)
        reshape(q);
}

/* A model's first messages come before anything is handled, and most lie beyond the first wheel. */
static bool far_too_full(const struct queue *q)
{
    return q->far.count >= FAR_MOST && q->far.count >= 2 * q->shaped_for && q->far.count > q->in_wheel &&
           q->at == q->count && q->side.count == 0;
}

void queue_push(struct queue *q, const struct message *m)
{
    if (q->few) {
        if (G_LIKELY(q->count - q->at < QUEUE_FEW_MOST)) {
            row_put(q, m);
            return;
        }
        spread_few(q);
    }
    q->pushes++;
    if (G_UNLIKELY(far_too_full(q))) {
        place_delayed(q);
        reshape(q);
    }
    if (q->in_wheel < DELAY_FROM || m->time_ns >> q->shift <= q->bucket) {
        place(q, m);
        return;
    }
    fetch_bucket(q, m);
    unsigned end = q->delayed_first + q->delayed_count;
    if (q->delayed_count == QUEUE_DELAY)
        place(q, &q->delayed[q->delayed_first++ % QUEUE_DELAY]);
    else
        q->delayed_count++;
    q->delayed[end % QUEUE_DELAY] = *m;
    fetch_chunk(q, &q->delayed[(end - QUEUE_DELAY / 2) % QUEUE_DELAY]);
}

static void load(struct queue *q, int64_t number)
{
    size_t slot = (size_t)number & (q->buckets - 1);
    struct queue_bucket *b = &q->bucket_of[slot];
    q->bucket = number;
    q->at = 0;
    items_reserve(q, b->count);
    q->count = bucket_copy(q, slot, q->items);
    for (uint32_t c = b->chunk, left = (b->count + CHUNK_MESSAGES - 1) / CHUNK_MESSAGES; left != 0; left--) {
        uint32_t next = chunk_at(q, c)->next;
        chunk_give(q, c);
        c = next;
    }
    *b = (struct queue_bucket){ NO_CHUNK, 0 };
    q->occupied[slot / 64] &= ~(1ull << (slot % 64));
    q->in_wheel -= q->count;
    q->loads++;
    q->loaded += q->count;
    unsigned depth = 2;
    for (size_t n = q->count; n > 1; n /= 2)
        depth += 2;
    sort_messages(q->items, q->count, depth);
    const struct queue_bucket *ahead = &q->bucket_of[(size_t)(number + 1) & (q->buckets - 1)];
    if (ahead->count != 0)
        for (size_t line = 0; line < sizeof(struct queue_chunk); line += 64)
            __builtin_prefetch((const char *)chunk_at(q, ahead->chunk) + line);
}

/* Brings what the wheel now reaches in from the far heap. */
static void far_migrate(struct queue *q)
{
    while (q->far.count != 0 && (q->far.items[0].time_ns >> q->shift) - q->bucket < (int64_t)q->buckets) {
        struct message m = heap_pop(&q->far);
        wheel_put(q, m.time_ns >> q->shift, &m);
    }
}

/* With the present bucket and the side heap drained: all that is left becomes the row. */
static void gather_few(struct queue *q)
{
    size_t n = 0;
    while (q->in_wheel != 0) {
        load(q, wheel_next(q));
        memmove(&q->items[FEW_CAPACITY / 2 + n], q->items, q->count * sizeof *q->items);
        n += q->count;
    }
    while (q->far.count != 0)
        q->items[FEW_CAPACITY / 2 + n++] = heap_pop(&q->far);
    q->at = FEW_CAPACITY / 2;
    q->count = q->at + n;
    q->few = true;
}

/* With the present bucket and the side heap drained: makes the next occupied bucket the present one. */
static bool advance(struct queue *q)
{
    if (q->few)
        return false;
    place_delayed(q);
    if (q->at != q->count || q->side.count != 0)
        return true;
    if (q->in_wheel + q->far.count <= FEW_AGAIN && q->buckets <= FEW_BUCKETS) {
        gather_few(q);
        return q->count != q->at;
    }
    consider_shape(q);
    if (q->at != q->count || q->side.count != 0)
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

int64_t queue_look_further(struct queue *q)
{
    if (q->at == q->count && q->side.count == 0 && !advance(q))
        return INT64_MAX;
    int64_t next = q->at < q->count ? q->items[q->at].time_ns : INT64_MAX;
    if (q->side.count != 0 && q->side.items[0].time_ns < next)
        next = q->side.items[0].time_ns;
    return next;
}

struct message queue_pop_further(struct queue *q)
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
    return q->count - q->at + q->side.count + q->delayed_count + q->in_wheel + q->far.count;
}

size_t queue_memory_bytes(const struct queue *q)
{
    return (q->capacity + q->side.capacity + q->far.capacity) * sizeof(struct message) +
           (size_t)q->slab_count * QUEUE_SLAB_CHUNKS * sizeof(struct queue_chunk) + q->buckets * sizeof *q->bucket_of +
           q->buckets / 8;
}

void queue_each(struct queue *q, void (*visit)(void *data, const struct message *m), void *data)
{
    for (size_t i = q->at; i < q->count; i++)
        visit(data, &q->items[i]);
    place_delayed(q);
    for (size_t i = 0; i < q->side.count; i++)
        visit(data, &q->side.items[i]);
    for (size_t slot = 0; slot < q->buckets; slot++) {
        size_t left = q->bucket_of[slot].count;
        for (uint32_t c = q->bucket_of[slot].chunk; left != 0; c = chunk_at(q, c)->next)
            for (size_t i = (left - 1) % CHUNK_MESSAGES + 1; i != 0; i--, left--)
                visit(data, &chunk_at(q, c)->items[i - 1]);
    }
    for (size_t i = 0; i < q->far.count; i++)
        visit(data, &q->far.items[i]);
}
