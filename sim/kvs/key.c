/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvs/key.h"

size_t key_normalize(const char *key, char *out)
{
    char *at = out;
    while (*key == '.')
        key++;
    while (*key != '\0') {
        char c = *key++;
        if (c == '.') {
            while (*key == '.')
                key++;
            if (*key == '\0')
                break;
        }
        *at++ = c;
    }
    if (at == out)
        *at++ = '.';
    *at = '\0';
    return (size_t)(at - out);
}

const char *key_next(const char **key, size_t *size)
{
    const char *name = *key;
    if (name[0] == '\0' || (name[0] == '.' && name[1] == '\0')) {
        *size = 0;
        return NULL;
    }
    const char *end = name + strcspn(name, ".");
    *size = (size_t)(end - name);
    *key = *end == '.' ? end + 1 : end;
    return name;
}

const char *key_get_text(struct cursor *c)
{
    size_t size;
    const char *text = cursor_span(c, &size);
    if (text == NULL || size == 0 || memchr(text, '\0', size) != text + size - 1) {
        c->failed = true;
        return NULL;
    }
    return text;
}
