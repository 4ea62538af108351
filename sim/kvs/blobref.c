/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/blobref.h"

struct blobref blobref_of(const void *data, size_t size)
{
    struct blobref ref;
    gsize length = BLOBREF_SIZE;
    GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA1);
    if (size != 0)
        g_checksum_update(checksum, data, (gssize)size);
    g_checksum_get_digest(checksum, ref.bytes, &length);
    g_checksum_free(checksum);
    return ref;
}

guint blobref_hash(gconstpointer ref)
{
    return (guint)blobref_key(ref);
}

gboolean blobref_same(gconstpointer a, gconstpointer b)
{
    return blobref_equal(a, b);
}

void blobref_to_text(const struct blobref *ref, char text[BLOBREF_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    memcpy(text, "sha1-", 5);
    char *at = text + 5;
    for (unsigned i = 0; i < BLOBREF_SIZE; i++) {
        *at++ = digits[ref->bytes[i] >> 4];
        *at++ = digits[ref->bytes[i] & 15];
    }
    *at = '\0';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

bool blobref_from_text(struct blobref *ref, const char *text)
{
    struct blobref parsed;
    if (strlen(text) != BLOBREF_TEXT_SIZE - 1 || memcmp(text, "sha1-", 5) != 0)
        return false;
    text += 5;
    for (unsigned i = 0; i < BLOBREF_SIZE; i++) {
        int high = hex_digit(text[2 * i]);
        int low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        parsed.bytes[i] = (uint8_t)(high << 4 | low);
    }
    *ref = parsed;
    return true;
}
