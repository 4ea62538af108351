/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/memory.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE_BYTES = 64, HUGE_PAGE_BYTES = 2 << 20 };

void *memory_new(size_t size)
{
    const size_t unit = size >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : LINE_BYTES;
    size_t rounded = (size + unit) / unit * unit;
    if (size != 0 && size % unit == 0)
        rounded = size;
    void *memory = aligned_alloc(unit, rounded);
    if (memory == NULL)
        g_error("no memory for %zu bytes", rounded);
    if (unit == HUGE_PAGE_BYTES)
        madvise(memory, rounded, MADV_HUGEPAGE);
    memset(memory, 0, rounded);
    return memory;
}
