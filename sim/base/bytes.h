/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Canonical bytes: a growing buffer that values are written to, and a cursor that reads them back.
 *
 *     struct bytes b = BYTES_INIT;
 *     bytes_put_u32(&b, 7);
 *     bytes_put_text(&b, "job-17");
 *     ... b.data, b.size ...
 *     bytes_release(&b);
 *
 *     struct cursor c = cursor_init(data, size);
 *     uint32_t n = cursor_u32(&c);
 *     const char *text = cursor_span(&c, &size);
 *     if (!cursor_ok(&c)) ...
 *
 * Message payloads and saved states are made of these bytes, and the digest of a run is taken over them. So the form
 * is the same on every machine: integers little-endian and unpadded, texts as a 32-bit length and the characters,
 * with no terminator. Nothing that differs between two runs of one deck (an address, a pool index, a hash table's
 * order, a floating-point sum) may be written.
 *
 * Memory that cannot be had ends the program (g_malloc's rule). All functions are local.
 */
#ifndef TIERCEL_BASE_BYTES_H
#define TIERCEL_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    uint8_t *data;      /* NULL while nothing was written */
    size_t size;        /* bytes written */
    size_t capacity;    /* bytes allocated */
};

#define BYTES_INIT { NULL, 0, 0 }

/* Makes room for `more` bytes behind the present end and returns where they start; size grows by `more`. */
uint8_t *bytes_extend(struct bytes *b, size_t more);

/* Forgets the content and keeps the memory, ready for reuse. */
static inline void bytes_clear(struct bytes *b)
{
    b->size = 0;
}

/* Frees the memory; the buffer is then as after BYTES_INIT. */
void bytes_release(struct bytes *b);

static inline void bytes_put(struct bytes *b, const void *data, size_t size)
{
    if (size != 0)
        memcpy(bytes_extend(b, size), data, size);
}

static inline void bytes_put_u8(struct bytes *b, uint8_t value)
{
    *bytes_extend(b, 1) = value;
}

/* The project runs on little-endian machines only (configure checks it), so a copy is the canonical form. */
static inline void bytes_put_u16(struct bytes *b, uint16_t value) { bytes_put(b, &value, sizeof value); }
static inline void bytes_put_u32(struct bytes *b, uint32_t value) { bytes_put(b, &value, sizeof value); }
static inline void bytes_put_u64(struct bytes *b, uint64_t value) { bytes_put(b, &value, sizeof value); }
static inline void bytes_put_i64(struct bytes *b, int64_t value) { bytes_put(b, &value, sizeof value); }

/* A 32-bit length, then the characters. `size` must be below 2^32. */
static inline void bytes_put_span(struct bytes *b, const void *data, size_t size)
{
    bytes_put_u32(b, (uint32_t)size);
    bytes_put(b, data, size);
}

static inline void bytes_put_text(struct bytes *b, const char *text)
{
    bytes_put_span(b, text, strlen(text));
}

/* Reads from the front. After a read past the end every further read gives 0 or an empty span, and cursor_ok is
 * false: check once, after the last read. */
struct cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool failed;
};

static inline struct cursor cursor_init(const void *data, size_t size)
{
    return (struct cursor){ data, (const uint8_t *)data + size, false };
}

/* The next `size` bytes, in place (they live as long as what the cursor reads), or NULL past the end. */
static inline const uint8_t *cursor_take(struct cursor *c, size_t size)
{
    if (c->failed || (size_t)(c->end - c->at) < size) {
        c->failed = true;
        return NULL;
    }
    const uint8_t *at = c->at;
    c->at += size;
    return at;
}

static inline bool cursor_get(struct cursor *c, void *value, size_t size)
{
    const uint8_t *at = cursor_take(c, size);
    if (at == NULL) {
        memset(value, 0, size);
        return false;
    }
    memcpy(value, at, size);
    return true;
}

static inline uint8_t cursor_u8(struct cursor *c) { uint8_t v; cursor_get(c, &v, sizeof v); return v; }
static inline uint16_t cursor_u16(struct cursor *c) { uint16_t v; cursor_get(c, &v, sizeof v); return v; }
static inline uint32_t cursor_u32(struct cursor *c) { uint32_t v; cursor_get(c, &v, sizeof v); return v; }
static inline uint64_t cursor_u64(struct cursor *c) { uint64_t v; cursor_get(c, &v, sizeof v); return v; }
static inline int64_t cursor_i64(struct cursor *c) { int64_t v; cursor_get(c, &v, sizeof v); return v; }

/* A span as bytes_put_span wrote it, in place and without a terminator; *size is its length. NULL, with *size 0,
 * past the end. */
static inline const char *cursor_span(struct cursor *c, size_t *size)
{
    size_t length = cursor_u32(c);
    const uint8_t *at = cursor_take(c, length);
    *size = at == NULL ? 0 : length;
    return (const char *)at;
}

/* True while no read went past the end. */
static inline bool cursor_ok(const struct cursor *c)
{
    return !c->failed;
}

/* True when everything was read and nothing more: what a complete message must satisfy. */
static inline bool cursor_done(const struct cursor *c)
{
    return !c->failed && c->at == c->end;
}

#endif
