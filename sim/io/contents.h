/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands in a file that is written for measurement: bytes that anybody can tell from the seed and the offset, so
 * that what another process wrote can be verified.
 *
 *     struct contents c;
 *     contents_init(&c, 1 << 20, seed);
 *     contents_set(&c, offset, length);        c.bytes is what belongs there
 *     wrong = contents_compare(&c, bytes, offset, length);
 *     contents_release(&c);
 *
 * Each sector of 512 bytes begins with a word of its own, made of seed and offset; the words behind it are the same in
 * every sector. So a block in the wrong place, a missing one and a torn one all show, and yet a buffer that has been
 * set once needs a new word a sector only: setting it costs next to nothing beside writing it.
 */
#ifndef TIERCEL_IO_CONTENTS_H
#define TIERCEL_IO_CONTENTS_H

#include <stdint.h>

struct contents {
    uint8_t *bytes;                 /* aligned to a page */
    uint64_t capacity;
    uint64_t seed;
    uint64_t set;                   /* bytes that are right but for the words of sectors, */
    uint64_t phase;                 /* of an offset that lies so far within its sector */
};

/* `capacity` 1 or above. */
void contents_init(struct contents *c, uint64_t capacity, uint64_t seed);
void contents_release(struct contents *c);

/* `length` at most the capacity. */
void contents_set(struct contents *c, uint64_t offset, uint64_t length);

/* How many of `length` bytes, read at `offset`, are right before the first wrong one; `length`: all. The bytes are not
 * c->bytes, which are set. */
uint64_t contents_compare(struct contents *c, const uint8_t *bytes, uint64_t offset, uint64_t length);

#endif
