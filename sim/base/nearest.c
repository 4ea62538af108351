/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/nearest.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 64 };  /* longer names are no misspellings of ours */

/* Optimal string alignment: three rows of the table are enough. */
static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned rows[3][NAME_MAX_LENGTH + 1];
    unsigned *before = rows[0];
    unsigned *above = rows[1];
    unsigned *row = rows[2];

    for (unsigned j = 0; j <= b_length; j++)
        above[j] = j;
    for (unsigned i = 1; i <= a_length; i++) {
        row[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            char x = g_ascii_tolower(a[i - 1]);
            char y = g_ascii_tolower(b[j - 1]);

            row[j] = MIN(MIN(above[j], row[j - 1]) + 1, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == g_ascii_tolower(b[j - 2]) && y == g_ascii_tolower(a[i - 2]))
                row[j] = MIN(row[j], before[j - 2] + 1);
        }
        unsigned *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[b_length];
}

const char *nearest_name(const char *name, const char *const *names, unsigned count)
{
    size_t length = strlen(name);
    const char *nearest = NULL;
    unsigned least = 0;

    if (length > NAME_MAX_LENGTH)
        return NULL;
    for (unsigned i = 0; i < count; i++) {
        size_t other = strlen(names[i]);
        if (other > NAME_MAX_LENGTH)
            continue;
        unsigned d = distance(name, length, names[i], other);
        bool nearer = nearest == NULL || d < least || (d == least && other > strlen(nearest));
        if (d <= MAX(1, MAX(length, other) / 3) && nearer) {
            nearest = names[i];
            least = d;
        }
    }
    return nearest;
}
