/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys and other texts of the store.
 *
 * A key is names joined by '.'; "." is the root. A normalised key has no empty name and no leading or trailing '.'.
 *
 * Inside canonical bytes of this folder a text is a span with its terminator, so that whoever reads it can use it in
 * place as a C string. All functions are local.
 */
#ifndef TIERCEL_KVS_KEY_H
#define TIERCEL_KVS_KEY_H

#include "base/bytes.h"

/* Writes the normalised form of `key` to `out`, which has room for strlen(key) + 2 characters; may be `key` itself
 * when that holds one character at least. "" becomes ".". Returns its length. */
size_t key_normalize(const char *key, char *out);

/* The next name of a normalised key: its start, with *size, and *key moved behind it and its '.'; NULL at the end and
 * for ".". */
const char *key_next(const char **key, size_t *size);

/* A text with its terminator. */
static inline void key_put_text(struct bytes *b, const char *text)
{
    bytes_put_span(b, text, strlen(text) + 1);
}

/* NULL, and a failed cursor, unless it is a span that ends with its only NUL. */
const char *key_get_text(struct cursor *c);

#endif
