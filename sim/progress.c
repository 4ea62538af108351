/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <glib.h>

enum { SECOND_US = 1000000, FIRST_US = 2 * SECOND_US };

void progress_begin(struct progress *p, int64_t every_s)
{
    int64_t now_us = g_get_monotonic_time();

    *p = (struct progress){ now_us, now_us + FIRST_US, every_s * SECOND_US };
}

bool progress_due(struct progress *p)
{
    int64_t now_us = p->every_us == 0 ? 0 : g_get_monotonic_time();

    if (p->every_us == 0 || now_us < p->due_us)
        return false;
    p->due_us = now_us + p->every_us;
    return true;
}

double progress_elapsed_s(const struct progress *p)
{
    return (double)(g_get_monotonic_time() - p->began_us) / SECOND_US;
}
