/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/statistics.h"

#include <math.h>

#include <glib.h>

/* The first bucket of the octave of 2^7 .. 2^8-1. */
enum { FIRST_OCTAVE = 7 };

int64_t statistic_bucket_lower(unsigned bucket)
{
    g_assert(bucket < STATISTIC_BUCKETS);
    if (bucket < STATISTIC_EXACT)
        return bucket;
    unsigned octave = (bucket - STATISTIC_EXACT) / STATISTIC_PER_OCTAVE;
    unsigned part = (bucket - STATISTIC_EXACT) % STATISTIC_PER_OCTAVE;
    return (int64_t)(STATISTIC_PER_OCTAVE + part) << (octave + 1);
}

int64_t statistic_bucket_upper(unsigned bucket)
{
    return bucket + 1 == STATISTIC_BUCKETS ? INT64_MAX : statistic_bucket_lower(bucket + 1) - 1;
}

/* Makes room for buckets 0..bucket. */
static void statistic_grow(struct statistic *s, unsigned bucket)
{
    unsigned buckets = MIN((bucket / STATISTIC_PER_OCTAVE + 1) * STATISTIC_PER_OCTAVE, (unsigned)STATISTIC_BUCKETS);
    s->bucket = g_renew(uint64_t, s->bucket, buckets);
    memset(s->bucket + s->buckets, 0, (buckets - s->buckets) * sizeof s->bucket[0]);
    s->buckets = buckets;
}

void statistic_add(struct statistic *s, int64_t value)
{
    unsigned bucket = statistic_bucket(value);
    if (G_UNLIKELY(bucket >= s->buckets))
        statistic_grow(s, bucket);
    s->bucket[bucket]++;
    if (s->count == 0 || value < s->smallest)
        s->smallest = value;
    if (s->count == 0 || value > s->largest)
        s->largest = value;
    s->count++;
    s->sum += value;
}

void statistic_merge(struct statistic *s, const struct statistic *from)
{
    if (from->count == 0)
        return;
    if (from->buckets > s->buckets)
        statistic_grow(s, from->buckets - 1);
    for (unsigned i = 0; i < from->buckets; i++)
        s->bucket[i] += from->bucket[i];
    if (s->count == 0 || from->smallest < s->smallest)
        s->smallest = from->smallest;
    if (s->count == 0 || from->largest > s->largest)
        s->largest = from->largest;
    s->count += from->count;
    s->sum += from->sum;
}

double statistic_mean(const struct statistic *s)
{
    return s->count == 0 ? NAN : (double)s->sum / (double)s->count;
}

double statistic_quantile(const struct statistic *s, double q)
{
    if (s->count == 0)
        return NAN;
    if (!(q > 0))
        return (double)s->smallest;
    if (q >= 1)
        return (double)s->largest;
    double place = ceil(q * (double)s->count);
    uint64_t below = 0;
    for (unsigned i = 0; i < s->buckets; i++) {
        below += s->bucket[i];
        if (below != 0 && (double)below >= place) {
            int64_t lower = statistic_bucket_lower(i);
            int64_t middle = lower + (statistic_bucket_upper(i) - lower) / 2;
            return (double)CLAMP(middle, s->smallest, s->largest);
        }
    }
    return (double)s->largest;
}

void statistic_save(const struct statistic *s, struct bytes *sink)
{
    uint32_t filled = 0;
    for (unsigned i = 0; i < s->buckets; i++)
        filled += s->bucket[i] != 0;
    bytes_put_u64(sink, s->count);
    bytes_put_u64(sink, (uint64_t)s->sum);
    bytes_put_u64(sink, (uint64_t)(s->sum >> 64));
    bytes_put_i64(sink, s->count == 0 ? 0 : s->smallest);
    bytes_put_i64(sink, s->count == 0 ? 0 : s->largest);
    bytes_put_u32(sink, filled);
    for (unsigned i = 0; i < s->buckets; i++) {
        if (s->bucket[i] == 0)
            continue;
        bytes_put_u16(sink, (uint16_t)i);
        bytes_put_u64(sink, s->bucket[i]);
    }
}

bool statistic_load(struct statistic *s, struct cursor *from)
{
    statistic_release(s);
    s->count = cursor_u64(from);
    unsigned __int128 sum = cursor_u64(from);
    sum |= (unsigned __int128)cursor_u64(from) << 64;
    s->sum = (__int128)sum;
    s->smallest = cursor_i64(from);
    s->largest = cursor_i64(from);
    uint32_t filled = cursor_u32(from);
    uint64_t counted = 0;
    int64_t last = -1;
    for (uint32_t n = 0; n < filled && cursor_ok(from); n++) {
        uint16_t i = cursor_u16(from);
        uint64_t count = cursor_u64(from);
        if (i >= STATISTIC_BUCKETS || (int64_t)i <= last || count == 0 || !cursor_ok(from)) {
            from->failed = true;
            break;
        }
        if (i >= s->buckets)
            statistic_grow(s, i);
        s->bucket[i] = count;
        counted += count;
        last = i;
    }
    if (!cursor_ok(from) || counted != s->count || s->smallest > s->largest) {
        from->failed = true;
        statistic_release(s);
        return false;
    }
    return true;
}

void statistic_release(struct statistic *s)
{
    g_free(s->bucket);
    *s = (struct statistic)STATISTIC_INIT;
}

/* Doubles the width: each new bin is the sum of two. */
static void series_fold(struct series *s)
{
    s->width_ns *= 2;
    if (s->bin == NULL)
        return;
    for (unsigned i = 0; i < SERIES_BINS / 2; i++)
        s->bin[i] = s->bin[2 * i] + s->bin[2 * i + 1];
    memset(s->bin + SERIES_BINS / 2, 0, SERIES_BINS / 2 * sizeof s->bin[0]);
    s->bins = (s->bins + 1) / 2;
}

void series_add(struct series *s, int64_t time_ns, uint64_t count)
{
    if (G_UNLIKELY(s->bin == NULL))
        s->bin = g_new0(uint64_t, SERIES_BINS);
    time_ns = MAX(time_ns, 0);
    while (G_UNLIKELY(time_ns / s->width_ns >= SERIES_BINS))
        series_fold(s);
    unsigned i = (unsigned)(time_ns / s->width_ns);
    s->bin[i] += count;
    s->total += count;
    if (i >= s->bins)
        s->bins = i + 1;
}

void series_merge(struct series *s, const struct series *from)
{
    if (from->bin == NULL)
        return;
    while (s->width_ns < from->width_ns)
        series_fold(s);
    unsigned times = (unsigned)(s->width_ns / from->width_ns);
    g_assert(s->width_ns == from->width_ns * times && (times & (times - 1)) == 0);
    if (s->bin == NULL)
        s->bin = g_new0(uint64_t, SERIES_BINS);
    for (unsigned i = 0; i < from->bins; i++)
        s->bin[i / times] += from->bin[i];
    s->bins = MAX(s->bins, (from->bins + times - 1) / times);
    s->total += from->total;
}

void series_save(const struct series *s, struct bytes *sink)
{
    bytes_put_i64(sink, s->width_ns);
    bytes_put_u64(sink, s->total);
    bytes_put_u32(sink, s->bins);
    for (unsigned i = 0; i < s->bins; i++)
        bytes_put_u64(sink, s->bin[i]);
}

bool series_load(struct series *s, struct cursor *from)
{
    series_release(s);
    s->width_ns = cursor_i64(from);
    s->total = cursor_u64(from);
    uint32_t bins = cursor_u32(from);
    if (s->width_ns <= 0 || bins > SERIES_BINS)
        from->failed = true;
    if (cursor_ok(from) && bins != 0)
        s->bin = g_new0(uint64_t, SERIES_BINS);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < bins && cursor_ok(from); i++)
        sum += s->bin[i] = cursor_u64(from);
    if (!cursor_ok(from) || sum != s->total) {
        from->failed = true;
        g_free(s->bin);
        *s = (struct series)SERIES_INIT(1);
        return false;
    }
    s->bins = bins;
    return true;
}

void series_release(struct series *s)
{
    g_free(s->bin);
    *s = (struct series)SERIES_INIT(s->width_ns);
}
