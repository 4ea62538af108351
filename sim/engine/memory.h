/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large arrays that are read at random places. On pages of 4 KiB nearly every access to a large model would miss the
 * processor's table of pages as well as its caches, so these ask the kernel for huge ones (madvise; a kernel that has
 * none gives ordinary pages).
 */
#ifndef TIERCEL_ENGINE_MEMORY_H
#define TIERCEL_ENGINE_MEMORY_H

#include <stddef.h>

/* `size` bytes, zeroed, aligned to a cache line, or to a huge page when they fill one. Memory that cannot be had ends
 * the program. Freed with free(). */
void *memory_new(size_t size);

#endif
