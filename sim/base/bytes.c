/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/bytes.h"

#include <glib.h>

enum { FIRST_CAPACITY = 64 };

uint8_t *bytes_extend(struct bytes *b, size_t more)
{
    size_t need = b->size + more;
    if (need > b->capacity) {
        size_t capacity = b->capacity != 0 ? b->capacity : FIRST_CAPACITY;
        while (capacity < need)
            capacity *= 2;
        b->data = g_realloc(b->data, capacity);
        b->capacity = capacity;
    }
    uint8_t *at = b->data + b->size;
    b->size = need;
    return at;
}

void bytes_release(struct bytes *b)
{
    g_free(b->data);
    *b = (struct bytes)BYTES_INIT;
}
